package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"dev.scrapetop/engine/view"
)

const (
	lookEvery     = 500 * time.Millisecond // for events: somebody may be reading along
	progressEvery = 5 * time.Second
	eventsAtOnce  = 10 // lines of one look; a burst is counted, not printed
	// largeLog is a write-ahead log that only grows like this while some reader keeps a query open: the store empties it
	// at half of that.
	largeLog = 256 << 20
)

// watch prints progress on stderr until the run ends.
func (a *app) watch(s *sitting, logBytes func() int64) {
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	w := watcher{tell: a.tell, printed: a.world.now()}
	for {
		select {
		case <-s.done:
			w.look(s.eng.Frame(view.Query{Limit: 1}), a.world.now(), true)
			return
		case <-look.C:
			w.look(s.eng.Frame(view.Query{Limit: 1}), a.world.now(), false)
			w.logSize(logBytes())
		}
	}
}

// watcher remembers what was printed.
type watcher struct {
	tell    func(string)
	printed time.Time // the last progress line
	line    string
	event   uint64
	log     int64 // the size of the write-ahead log that was last told, doubled each time
}

// logSize tells of a log that fills the disk, again whenever it has doubled.
func (w *watcher) logSize(n int64) {
	if n < max(largeLog, 2*w.log) {
		return
	}
	w.log = n
	w.tell(fmt.Sprintf("scrapetop: the database's write-ahead log has grown to %d MiB: another program keeps a query open on it, end that one", n>>20))
}

func (w *watcher) look(f *view.Frame, now time.Time, last bool) {
	if f == nil {
		return
	}
	w.notable(f)
	if !last && now.Sub(w.printed) < progressEvery {
		return
	}
	// Nothing moved: saying it again every minute is enough to show that the run is alive.
	if line := progress(f); line != w.line && !last || now.Sub(w.printed) >= time.Minute {
		w.tell(stamp(f.At) + " " + line)
		w.line, w.printed = line, now
	}
}

// notable prints events of warning or worse, each once, oldest first. Alerts are among them.
func (w *watcher) notable(f *view.Frame) {
	var fresh []view.EventRow
	newest := w.event
	for _, e := range f.Events { // newest first
		if e.Seq <= w.event {
			break
		}
		newest = max(newest, e.Seq)
		if e.Level != "info" {
			fresh = append(fresh, e)
		}
	}
	w.event = newest
	if more := len(fresh) - eventsAtOnce; more > 0 {
		w.tell(fmt.Sprintf("%s %d earlier events are left out, export --what events has them all", stamp(f.At), more))
		fresh = fresh[:eventsAtOnce]
	}
	for _, e := range slices.Backward(fresh) {
		w.tell(strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s %s", stamp(e.At), e.Level, e.Scope, e.Key, e.Text)), " "))
	}
}

func stamp(t time.Time) string { return t.Format("15:04:05") }

// progress is one line about the run.
func progress(f *view.Frame) string {
	c := f.Counts
	var b strings.Builder
	fmt.Fprintf(&b, "accepted %d/%d", c.Accepted, c.Tasks)
	if f.Run.Loading {
		b.WriteString("+")
	}
	for _, part := range []struct {
		name string
		n    int64
	}{{"in flight", int64(f.InFlight)}, {"remote", c.Remote}, {"of them done", c.RemoteDone}, {"waiting", c.Pending + c.Delayed}, {"dead", c.Dead}, {"429", limited(f)}} {
		if part.n > 0 {
			fmt.Fprintf(&b, " · %s %d", part.name, part.n)
		}
	}
	fmt.Fprintf(&b, " · %.0f/min", f.AcceptedPerMin)
	if len(f.Cooldowns) > 0 && f.InFlight == 0 && f.States[view.StateRun] == 0 {
		next := f.Cooldowns[0]
		fmt.Fprintf(&b, " · next %s %s in %s", next.Scope, next.Key, max(0, next.Until.Sub(f.At)).Round(time.Second))
		if next.Cause != "" {
			b.WriteString(" (" + next.Cause + ")")
		}
	} else if f.ETA.Known {
		fmt.Fprintf(&b, " · about %s left", f.ETA.Left.Round(time.Second))
	}
	return b.String()
}

func limited(f *view.Frame) int64 {
	var n int64
	for _, l := range f.Layers {
		if l.Layer != "busy" {
			n += l.Total
		}
	}
	return n
}
