package cli

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/source"
)

// adder adds what a person names to a run that is going. Its methods may be called from any goroutine.
type adder struct {
	app *app
	eng *engine.Engine
	d   drive
}

// Add takes URLs with blanks between them, or the path of a file, in any form that a run takes. why is the reason for the first line
// that was refused.
func (x adder) Add(ctx context.Context, typed string) (added engine.Added, why string, err error) {
	inputs, refused, why, err := x.app.named(typed)
	if err != nil {
		return added, "", err
	}
	defer closeInputs(inputs)
	feed := x.app.newFeeder(inputs, nil, x.d.flags)
	// What the input is was said about the run's own.
	feed.format = source.Detect
	var mu sync.Mutex
	feed.report = func(line string) {
		mu.Lock()
		defer mu.Unlock()
		why = first(why, line)
	}
	added, err = x.eng.Add(ctx, func(ctx context.Context, a *engine.Addition) error {
		a.Skip(refused)
		feed.start(ctx)
		return feed.run(ctx, a)
	})
	mu.Lock()
	defer mu.Unlock()
	if err == nil && added.Tasks+added.Duplicates == 0 && !added.Cut {
		err = errors.New(first(why, "there is no URL in it"))
	}
	return added, why, err
}

// wordsOf are the inputs that were typed: the file of that name if there is one, else each word.
func wordsOf(typed string) []string {
	if _, err := os.Stat(typed); err == nil {
		return []string{typed}
	}
	return strings.Fields(typed)
}

// opens tells why no run can be started of what was typed; nil: one can.
func (a *app) opens(typed string) error {
	inputs, refused, why, err := a.named(typed)
	closeInputs(inputs)
	if err == nil && refused > 0 {
		err = errors.New(why)
	}
	return err
}

// named opens what was typed: the file of that name if there is one, else each word as a URL or a file. Of several words those that
// are neither are refused, of a single one that is the error.
func (a *app) named(typed string) (list []input, refused int64, why string, err error) {
	words := wordsOf(typed)
	regular := func(word string) bool {
		info, err := os.Stat(word)
		return err != nil || info.Mode().IsRegular() || info.IsDir()
	}
	for _, word := range words {
		in, err := input{}, error(nil)
		switch {
		case word == "-":
			err = errors.New("-: stdin cannot be read beside the run, name a file")
		case !regular(word): // opening a pipe waits for whoever writes to it
			err = errors.New(shorten(word, 80) + ": is a pipe or a device, name a file")
		default:
			in, err = a.openInput(word)
		}
		if err == nil {
			list = append(list, in)
			continue
		}
		refused++
		why = first(why, err.Error())
	}
	if len(list) == 0 {
		return nil, 0, "", errors.New(first(why, "nothing was named"))
	}
	return list, refused, why, nil
}
