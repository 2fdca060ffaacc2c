package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	database = "crash.db"
	trace    = "trace.txt"
	// migrationKills is how many kills at most are spent on bringing a file of an earlier version up to date.
	migrationKills = 3
	// migrationBytes is about what the log grows by meanwhile.
	migrationBytes = 24_000
)

// run is one run of the program over one world, with its kills.
type run struct {
	s       subject
	o       options
	dir     string
	rng     *rand.Rand
	journal *journal
	base    string
	good    []string
	bad     []string
	never   bool     // an unanswered submit is not to be made again
	listens []string // where the world is reached
	over    bool     // it finished
	book    *book
	row     row
}

// run kills the program some times, lets it finish and judges. Its worlds and instants depend on the seed, the provider and
// its number alone.
func (s subject) run(ctx context.Context, o options, n, kills int) (sum row, err error) {
	ctx, cancel := context.WithTimeout(ctx, o.within)
	defer cancel()
	dir, err := os.MkdirTemp("", "crash")
	if err != nil {
		return row{}, err
	}
	defer func() {
		if o.keep || err != nil {
			fmt.Fprintf(os.Stderr, "%s run %d: its database is in %s\n", s.name, n, dir)
			return
		}
		err = os.RemoveAll(dir)
	}()
	seed := o.seed<<32 + uint64(n)
	for _, c := range s.name {
		seed = seed*31 + uint64(c)
	}
	world := s.world(seed)
	r := &run{s: s, o: o, dir: dir, rng: rand.New(rand.NewPCG(seed, 0)), never: n%2 == 0,
		journal: &journal{world: world, direct: s.base == "", conns: map[net.Conn]bool{}}}
	ports, stop, err := r.serve()
	if err != nil {
		return row{}, err
	}
	defer stop()
	r.good, r.bad = s.list(ports)
	if err := os.WriteFile(filepath.Join(dir, "scrapetop.toml"), []byte(s.config), 0o600); err != nil {
		return row{}, err
	}
	list := strings.Join(slices.Concat(r.good, r.bad), "\n") + "\n"
	if err := os.WriteFile(filepath.Join(dir, "list.txt"), []byte(list), 0o600); err != nil {
		return row{}, err
	}
	r.book = newBook(r)
	for i := range kills {
		if i == kills/2 && r.book.disk.runs > 0 {
			if err := r.age(ctx); err != nil {
				return r.row, err
			}
			r.book.disk.version = 0
		}
		migration := i >= kills/2 && i < kills/2+migrationKills && r.book.disk.runs > 0 && r.book.disk.version < len(o.schema)
		l := r.draw(float64(i)/float64(kills), migration)
		if err := r.live(ctx, l); err != nil {
			return r.row, fmt.Errorf("kill %d, %s: %w", i+1, l, err)
		}
		if r.over {
			break
		}
		if r.rng.IntN(5) == 0 && r.book.disk.version == len(o.schema) { // an export brings no file up to date
			if err := r.killExport(ctx); err != nil {
				return r.row, fmt.Errorf("the export after kill %d: %w", i+1, err)
			}
		}
	}
	if err := r.finish(ctx); err != nil {
		return r.row, err
	}
	return r.row, r.book.end(world.Counters())
}

// serve listens for the platform, and for each site on an address of its own.
func (r *run) serve() (ports []string, stop func(), err error) {
	server := &http.Server{Handler: r.journal, ConnState: r.journal.track, ReadHeaderTimeout: 10 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	stop = func() { _ = server.Close() } // nobody needs its listeners any more
	for i := range hosts + 1 {
		at := "127.0.0.1"
		if i < hosts {
			at = site(i)
		}
		l, err := net.Listen("tcp4", net.JoinHostPort(at, "0"))
		if err != nil {
			stop()
			return nil, nil, err
		}
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			stop()
			return nil, nil, err
		}
		ports = append(ports, port)
		r.listens = append(r.listens, l.Addr().String())
		go func() { _ = server.Serve(l) }() // it ends by stop
	}
	r.base = "http://127.0.0.1:" + ports[hosts] + r.s.base
	return ports[:hosts], stop, nil
}

// life is the part of a run up to a kill.
type life struct {
	point     point
	then      time.Duration
	migration int64 // bytes by which the log grows first, instead of the point; 0: none
	cut       bool  // the power fails at that instant
}

func (l life) String() string {
	text := fmt.Sprintf("%v after its %s %d came", l.then, l.point.kind, l.point.nth)
	switch {
	case l.migration > 0:
		text = fmt.Sprintf("%v after its migration had written %d bytes", l.then, l.migration)
	case l.point.nth == 0:
		text = fmt.Sprintf("%v after its start", l.then)
	case l.point.answered:
		text = fmt.Sprintf("%v after the answer to its %s %d began", l.then, l.point.kind, l.point.nth)
	}
	if l.cut {
		text = "the power failed " + text
	}
	return text
}

// draw chooses the next instant, by the share of the run's kills that came before: where there are polls they come last,
// when little is left to submit.
func (r *run) draw(gone float64, migration bool) life {
	millis := func(most float64) time.Duration {
		return time.Duration(r.rng.Float64() * most * float64(time.Millisecond)).Round(10 * time.Microsecond)
	}
	cut := r.rng.Float64() < 0.25
	if migration {
		return life{then: millis(1), migration: 1 + r.rng.Int64N(migrationBytes), cut: r.rng.IntN(2) == 0}
	}
	p := point{kind: submit, nth: 1 + r.rng.IntN(max(2, 6/r.s.size))}
	if r.s.polls > 0 && gone >= 0.6 {
		p = point{kind: poll, nth: 1 + r.rng.IntN(r.s.polls)}
	}
	switch what := r.rng.Float64(); {
	case what < 0.12:
		return life{then: millis(150), cut: cut}
	case what < 0.35:
		return life{point: p, then: millis(60), cut: cut} // somewhere in it
	case what < 0.55:
		return life{point: p, then: millis(5), cut: cut}
	}
	p.answered = true // between an answer and its commit
	return life{point: p, then: millis(2), cut: cut}
}

// command is the program in the run's folder, so that no config of the caller is found.
func (r *run) command(ctx context.Context, cut bool, args ...string) *exec.Cmd {
	command := append([]string{r.o.binary}, append(args, "--db", database)...)
	if cut {
		command = traced(filepath.Join(r.dir, trace), filepath.Join(r.dir, database), command)
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Dir = r.dir
	cmd.Env = append(os.Environ(), "XDG_CONFIG_HOME="+r.dir, "XDG_STATE_HOME="+r.dir)
	if r.s.key != "" {
		cmd.Env = append(cmd.Env, r.s.key)
	}
	return cmd
}

// start begins or resumes the run.
func (r *run) start(ctx context.Context, cut bool, stderr io.Writer) (*exec.Cmd, <-chan error, error) {
	args := []string{"resume"}
	if r.book.disk.runs == 0 {
		args = append([]string{"run", "list.txt", "--max-attempts", fmt.Sprint(maxAttempts)}, r.s.args...)
		if r.s.base != "" {
			args = append(args, "--base-url", r.base)
		}
		if r.never {
			args = append(args, "--resubmit-unknown", "never")
		}
	}
	cmd := r.command(ctx, cut, append(args, "--headless", "--summary", "json")...)
	cmd.Stderr = stderr
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	return cmd, ended, nil
}

// live starts the program and kills it at an instant, unless the run finishes before.
func (r *run) live(ctx context.Context, l life) error {
	path := filepath.Join(r.dir, database)
	before, err := readDisks(path)
	if err != nil {
		return err
	}
	if err := gone(filepath.Join(r.dir, trace)); err != nil {
		return err
	}
	met := r.journal.begin(l.point)
	var said strings.Builder
	cmd, ended, err := r.start(ctx, l.cut, &said)
	if err != nil {
		return err
	}
	if l.migration > 0 {
		met = logGrows(path, int64(len(before["-wal"].kept))+l.migration, r.s.patience)
	}
	patience := time.After(r.s.patience)
	select {
	case <-met:
		select {
		case <-time.After(l.then):
		case err := <-ended:
			return r.ended(err, said.String())
		}
	case <-patience: // it waits for something: that is an instant too
	case err := <-ended:
		return r.ended(err, said.String())
	}
	killed := time.Now()
	if err := cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	if err = <-ended; cmd.ProcessState.Exited() {
		return r.ended(err, said.String())
	}
	if err := r.settle(ctx); err != nil {
		return err
	}
	if l.cut {
		if err := r.cutPower(before); err != nil {
			return err
		}
	}
	d, err := readDisk(path)
	if err != nil {
		return err
	}
	r.row.kills++
	r.over = d.finished // all was on disk, and the program had only to end
	return r.book.killed(d, killed)
}

// logGrows is closed when the log of a database is of a size, or after a while.
func logGrows(path string, size int64, most time.Duration) <-chan struct{} {
	grown := make(chan struct{})
	go func() {
		defer close(grown)
		for end := time.Now().Add(most); time.Now().Before(end); <-time.After(100 * time.Microsecond) {
			if info, err := os.Stat(path + "-wal"); err == nil && info.Size() >= size {
				return
			}
		}
	}()
	return grown
}

// cutPower leaves of what the program wrote since before what a disk would have kept.
func (r *run) cutPower(before disks) error {
	text, err := os.ReadFile(filepath.Join(r.dir, trace))
	if err != nil && !errors.Is(err, os.ErrNotExist) { // killed before strace had begun
		return err
	}
	if err := before.replay(text); err != nil {
		return err
	}
	r.row.cuts++
	var dropped, torn bool
	for _, end := range parts {
		d, t := before[end].lose(r.rng)
		dropped, torn = dropped || d, torn || t
	}
	if dropped {
		r.row.dropped++
	}
	if torn {
		r.row.torn++
	}
	return before.put(filepath.Join(r.dir, database))
}

// ended takes the end of a program that was not killed: it is an error, unless its run finished.
func (r *run) ended(err error, said string) error {
	const someDead = 3
	var exit *exec.ExitError
	if err == nil || errors.As(err, &exit) && exit.ExitCode() == someDead {
		r.over = true
		return nil
	}
	return fmt.Errorf("it ended by itself: %w: %s", err, strings.TrimSpace(said))
}

// settle waits until the world has taken notice of the kill: what the program had sent still comes. Connections are taken in
// the order in which they were made, so when one of ours is taken no earlier one is left.
func (r *run) settle(ctx context.Context) error {
	for _, at := range r.listens {
		c, err := net.Dial("tcp4", at)
		if err != nil {
			return err
		}
		err = until(ctx, func() bool { return r.journal.taken(c.LocalAddr()) })
		if err := errors.Join(err, c.Close()); err != nil {
			return fmt.Errorf("the world takes no connections: %w", err)
		}
	}
	if err := until(ctx, r.journal.quiet); err != nil {
		return fmt.Errorf("its connections do not end: %w", err)
	}
	return nil
}

// until waits for a fact of the world's.
func until(ctx context.Context, fact func() bool) error {
	for !fact() {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Millisecond):
		}
	}
	return nil
}

// finish lets the run come to its end.
func (r *run) finish(ctx context.Context) error {
	if !r.over {
		r.journal.begin(point{})
		var said strings.Builder
		_, ended, err := r.start(ctx, false, &said)
		if err != nil {
			return err
		}
		if err := r.ended(<-ended, said.String()); err != nil {
			return err
		}
	}
	if err := r.settle(ctx); err != nil {
		return err
	}
	d, err := readDisk(filepath.Join(r.dir, database))
	if err != nil {
		return err
	}
	r.book.disk = d
	return r.killExport(ctx)
}
