package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"dev.scrapetop/storage"
)

// summarise prints the closing summary of a run on stdout. failed is why a run could not go on that may not
// have been able to say so in the database. One whose end is in the database is finished, whatever failed after that.
func (a *app) summarise(ctx context.Context, d drive, failed error) (storage.Summary, error) {
	sum, err := d.store.Summary(ctx, d.run.ID)
	if err != nil {
		return sum, broken("sum up run %d: %w", d.run.ID, err)
	}
	if failed != nil && sum.State != storage.RunFinished {
		why := printable(failed.Error())
		sum.State, sum.Reason = storage.RunFailed, &why
	}
	return sum, a.printSummary(d, sum)
}

func (a *app) printSummary(d drive, sum storage.Summary) error {
	if d.flags.summary == "json" {
		line, err := json.Marshal(sum)
		if err != nil {
			return broken("sum up run %d: %w", d.run.ID, err)
		}
		_, err = fmt.Fprintf(a.std.Out, "%s\n", line)
		return err
	}
	return summaryText(a.std.Out, sum, a.next(d, sum))
}

// next is the command that most people run after this one; empty where the database goes away with the run.
func (a *app) next(d drive, s storage.Summary) string {
	if d.passing {
		return ""
	}
	if s.Pending > 0 || s.State != storage.RunFinished {
		return a.resumeWith(d)
	}
	return fmt.Sprintf("scrapetop export --run %d -o results.jsonl%s", s.Run, a.dbFlag())
}

// resumeWith is the command that goes on with a run; empty where the database goes away with it.
func (a *app) resumeWith(d drive) string {
	if d.passing {
		return ""
	}
	return fmt.Sprintf("scrapetop resume %d%s", d.run.ID, a.dbFlag())
}

// dbFlag is what a command needs to find the database; empty where it is the default one.
func (a *app) dbFlag() string {
	if a.globals.db == defaultDB {
		return ""
	}
	return " --db " + printable(a.globals.db)
}

func summaryText(w io.Writer, s storage.Summary, next string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	line := func(label, format string, args ...any) {
		fmt.Fprintf(t, "%s\t%s\n", label, printable(fmt.Sprintf(format, args...)))
	}
	line("run", "%d %s (%s)", s.Run, s.State, s.Provider)
	if s.Reason != nil {
		line("reason", "%s", *s.Reason)
	}
	line("tasks", "%s", counts("%d", s.Tasks, []count{{"accepted", s.Accepted}, {"cached", s.Cached}, {"dead", s.Dead}, {"pending", s.Pending}, {"remote", s.Remote}}))
	if s.Skipped+s.Duplicates > 0 {
		line("input", "%s", strings.TrimPrefix(counts("", 0, []count{{"skipped", s.Skipped}, {"duplicates", s.Duplicates}}), ", "))
	}
	line("requests", "%s", counts("%d", s.Requests, []count{{"attempts", s.Attempts}, {"retries", s.Retries}, {"probes", s.Probes}}))
	line("429", "account %d, rate %d, pending %d, target %d; busy %d; cooldowns %d",
		s.Limited.Account, s.Limited.Rate, s.Limited.Pending, s.Limited.Target, s.Busy, s.Cooldowns)
	elapsed := time.Duration(s.ElapsedSeconds * float64(time.Second)).Round(100 * time.Millisecond)
	line("time", "%s, %.1f accepted/min, at most %d in flight", elapsed, s.AcceptedPerMinute, s.MaxInFlight)
	line("cost", "%s credits, %d bytes", strconv.FormatFloat(s.Credits, 'f', -1, 64), s.Bytes)
	for _, reason := range slices.Sorted(maps.Keys(s.DeadReasons)) {
		line("dead", "%s %d", reason, s.DeadReasons[reason])
	}
	if next != "" {
		line("next", "%s", next)
	}
	return t.Flush()
}

type count struct {
	name string
	n    int64
}

// counts is a number followed by those that are not zero.
func counts(format string, n int64, more []count) string {
	var b strings.Builder
	if format != "" {
		fmt.Fprintf(&b, format, n)
	}
	for _, c := range more {
		if c.n != 0 {
			fmt.Fprintf(&b, ", %s %d", c.name, c.n)
		}
	}
	return b.String()
}
