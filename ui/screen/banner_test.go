package screen

import (
	"strings"
	"testing"
	"time"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/screen/sample"
)

// TestARunThatWaitsForAKeySaysWhatHelps: the state, the key, its cure and the way out are in sight at every size.
func TestARunThatWaitsForAKeySaysWhatHelps(t *testing.T) {
	stopped := func(why string) func() *view.Frame {
		return func() *view.Frame {
			f := sample.Keys()
			f.Run.State, f.Run.Reason, f.InFlight = "locked out", "credential main is stopped by the platform: "+why, 0
			return f
		}
	}
	ended := func(state, reason string) func() *view.Frame {
		return func() *view.Frame {
			f := sample.Stopped()
			f.Run.State, f.Run.Reason = state, reason
			return f
		}
	}
	long := "credential main is stopped by the platform: auth: 401, the platform does not know this key any more and says so at length"
	for _, c := range []struct {
		name      string
		frame     func() *view.Frame
		w, h      int
		want, not []string
	}{
		{"quota, full", stopped("quota: 402"), 120, 36, []string{
			"× LOCKED OUT", "credential main is stopped by the platform: quota: 402: top up, then B and r send one probe; q ends the run",
		}, []string{"RUNNING"}},
		{"quota, standard", stopped("quota: 402"), 80, 24, []string{"× LOCKED OUT", "× credential main is stopped: quo", ": top up, then B, r: one probe; q: end"}, []string{"RUNNING"}},
		{"quota, compact", stopped("quota: 402"), 40, 10, []string{"× LOCKED OUT", "× main: quota", "top up, B r: probe, q"}, []string{"RUNNING"}},
		{"auth", stopped("auth: 401"), 120, 36, []string{"once it works, then B and r send one probe; q ends the run"}, []string{"top up"}},
		{"a long reason, full", stopped(long), 120, 36, []string{"q: end"}, nil},
		{"failed, full", ended("failed", "credential main is stopped by the platform: quota: 402"), 120, 36, []string{"× FAILED: credential main is stopped", ". scrapetop resume 184 --db jobs.db"}, nil},
		{"failed for long, standard", ended("failed", long), 80, 24, []string{"× FAILED: credential", "scrapetop resume 184 --db jobs.db"}, nil},
		{"stopped, compact", ended("stopped", "stop requested"), 40, 10, []string{"scrapetop resume 184 --db"}, nil},
		{"stopped without a reason", ended("stopped", ""), 80, 24, []string{"‖ STOPPED. scrapetop resume 184 --db jobs.db"}, nil},
		{"finished", ended("finished", ""), 120, 36, nil, []string{"scrapetop resume"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPicture(looks(t)["mono"], Overview, c.w, c.h)
			p.Data, p.Resume = Take(c.frame()), "scrapetop resume 184 --db jobs.db"
			lines := p.Draw()
			law(t, lines, c.w, c.h)
			all := strings.Join(lines, "\n")
			for _, s := range c.want {
				if !strings.Contains(all, s) {
					t.Errorf("%q is missing:\n%s", s, all)
				}
			}
			for _, s := range c.not {
				if strings.Contains(all, s) {
					t.Errorf("%q is wrong here:\n%s", s, all)
				}
			}
			p.Resume = ""
			if all := strings.Join(p.Draw(), "\n"); strings.Contains(all, "scrapetop resume") {
				t.Errorf("nothing of it is kept, and still:\n%s", all)
			}
		})
	}
}

// TestWhatIsLeftTellsItsReset: how long what is left must last stands beside it, not only once nothing is.
func TestWhatIsLeftTellsItsReset(t *testing.T) {
	report := func(r view.Remaining) func(*view.Frame) {
		return func(f *view.Frame) {
			f.Budgets = []view.BudgetRow{{Scope: "credential", Key: "main", State: view.StateRun, Remaining: r}}
		}
	}
	window := view.Remaining{Known: true, Remaining: 264, HasLimit: true, Limit: 300, Kind: "window", At: sample.Now.Add(-3 * time.Second), ResetAt: sample.Now.Add(41 * time.Second)}
	old := window
	old.At = sample.Now.Add(-3 * time.Minute)
	silent := window
	silent.ResetAt = time.Time{}
	jobs := func(in, limit int, until time.Time) func(*view.Frame) {
		return func(f *view.Frame) {
			f.Budgets = []view.BudgetRow{{Scope: "pending", Key: "main/batch", State: view.StateRun, InFlight: in, Limit: limit, Until: until}}
		}
	}
	for _, c := range []struct {
		name   string
		change func(*view.Frame)
		zoomed bool
		w, h   int
		want   string
	}{
		{"full", report(window), false, 120, 36, "264/300 left <10s, resets 00:41"},
		{"zoomed", report(window), true, 120, 36, "264/300 left <10s, resets 00:41"},
		{"standard", report(window), false, 80, 24, "main 264/300 left resets 00:41"},
		{"compact", report(window), false, 40, 10, "main 264/300 for 00:41"},
		{"an old report", report(old), true, 120, 36, "264/300 left ~3m old, resets 00:41"},
		{"an old report, standard", report(old), false, 80, 24, "main 264/300 left ~3m old"},
		{"no reset told", report(silent), false, 120, 36, "264/300 left <10s ago"},
		{"jobs that wait at the platform", jobs(3, 50, time.Time{}), false, 120, 36, "3/50 batches pending"},
		{"jobs, standard", jobs(3, 50, time.Time{}), false, 80, 24, "main 3/50 batches pending"},
		{"jobs that cool", jobs(50, 50, sample.Now.Add(9*time.Second)), true, 120, 36, "50/50 batches pending, cools 00:09"},
		{"how far a batch is", func(f *view.Frame) { f.Counts.Remote, f.Counts.RemoteDone = 48, 31 }, false, 120, 36, "48 remote (31 done)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := sample.Normal()
			f.Domains.Rows, f.Caps = nil, nil
			c.change(f)
			p := newPicture(looks(t)["mono"], Overview, c.w, c.h)
			p.Data = Take(f)
			if c.zoomed {
				p.List.Zoomed, p.List.Pane = true, paneCapacity
			}
			all := strings.Join(p.Draw(), "\n")
			if !strings.Contains(all, c.want) {
				t.Errorf("%q is missing:\n%s", c.want, all)
			}
		})
	}
}
