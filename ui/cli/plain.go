package cli

import (
	"bufio"
	"fmt"
	"slices"
	"time"

	"dev.scrapetop/ui/plain"
)

// maxTyped is the longest line of a command, in bytes.
const maxTyped = 4096

// speak tells a run on stdout in lines of words and takes commands from stdin, until it ends.
func (a *app) speak(s *sitting, d drive) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	speaker := plain.New(s.eng, adder{a, s.eng, d}, a.world.now())
	say := func(lines []string) {
		for _, l := range lines {
			fmt.Fprintln(a.std.Out, printable(l))
		}
	}
	var typed <-chan string
	if d.feed == nil || !slices.ContainsFunc(d.feed.inputs, func(in input) bool { return in.name == "-" }) {
		typed = a.typed(s)
	}
	disk := watcher{tell: a.tell}
	for {
		select {
		case <-s.done:
			say(speaker.End(a.world.now()))
			return
		case line, open := <-typed:
			if !open {
				typed = nil // the run goes on without commands
				continue
			}
			say(speaker.Obey(line, a.world.now()))
		case <-look.C:
			say(speaker.Look(a.world.now()))
			disk.logSize(d.store.WALBytes())
		}
	}
}

// typed are the lines of stdin, closed at its end. The goroutine that reads them stays in its read when the run is over: nothing but
// a line or the end of the program takes it out of there.
func (a *app) typed(s *sitting) <-chan string {
	lines := make(chan string)
	go func() {
		defer s.crash.Guard()
		defer close(lines)
		in := bufio.NewScanner(a.std.In)
		in.Buffer(nil, maxTyped)
		for in.Scan() {
			select {
			case lines <- in.Text():
			case <-s.done:
				return
			}
		}
	}()
	return lines
}
