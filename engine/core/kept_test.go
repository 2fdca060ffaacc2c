package core

import (
	"testing"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/provider"
)

// TestCooldownsOfEveryScopeAreRestored: also of budgets that appear with the first submit, and a hold for refused access
// looks like one again.
func TestCooldownsOfEveryScopeAreRestored(t *testing.T) {
	m := New(batches())
	until := labStart.Add(time.Minute)
	for scope, key := range map[budget.Scope]string{
		budget.Domain: "a.test", budget.Credential: "k", budget.Account: "k", budget.IP: "p", budget.Provider: "p", budget.Pending: "k/batch",
	} {
		m.Step(labStart, CooldownKept{Scope: scope, Key: key, Until: until, Cause: accessRefused + " 5 times in a row", Layer: "target"})
		for _, b := range m.named(scope, key) {
			if g, c := b.Gate(labStart), b.Cooldown(); g.Why != budget.Cooldown || !g.At.Equal(until) || !c.Hold || c.Layer != "target" {
				t.Errorf("%s: %+v, %+v", scope, g, c)
			}
		}
		if len(m.named(scope, key)) != 1 {
			t.Errorf("%s %s is not known", scope, key)
		}
	}
}

// TestEndedCooldownIsForgotten: one that a person ended does not come back with a restart.
func TestEndedCooldownIsForgotten(t *testing.T) {
	m := New(Config{Direct: true})
	m.Step(labStart, CooldownKept{Scope: budget.Domain, Key: "a.test", Until: labStart.Add(time.Hour), Cause: "retry-after: 3600 s"})
	cleared := 0
	for _, a := range m.Step(labStart, Asked{Verb: "end cooldown", Scope: budget.Domain, Key: "a.test"}) {
		if a.Do == Cooled && a.Cool.Key == "a.test" && a.Cool.Until.IsZero() {
			cleared++
		}
	}
	if cleared != 1 {
		t.Errorf("cleared %d times", cleared)
	}
}

// TestForgottenJobOfAMissingKeyIsLost: a remote job whose key is not configured any more cannot be polled; once its platform
// has forgotten it, it is lost and the run can end.
func TestForgottenJobOfAMissingKeyIsLost(t *testing.T) {
	cfg := batches()
	cfg.ResubmitLost, cfg.Unattended = false, true
	for _, c := range []struct {
		name    string
		expires time.Duration
		end     string
	}{{"forgotten", -time.Minute, "finished"}, {"still there", time.Hour, "failed"}} {
		t.Run(c.name, func(t *testing.T) {
			m := New(cfg)
			var reason, end string
			for _, ev := range []Event{
				JobKept{Job: "scrape/1", Credential: "gone", Tasks: []frontier.Task{{ID: 1, Domain: "a.test", Home: "a.test"}}, Submitted: labStart.Add(-2 * time.Hour), Expires: labStart.Add(c.expires)},
				InputEnded{}, nil,
			} {
				var store *Call
				for _, a := range m.Step(labStart, ev) {
					switch a.Do {
					case Store:
						store, reason = a.Call, a.Settled[0].Reason
					case Ended:
						end = a.End.State
					}
				}
				if store != nil {
					m.Step(labStart, Stored{Call: store})
				}
			}
			if end != c.end || (reason == "lost") != (c.end == "finished") {
				t.Fatalf("reason %q, end %q, counts %+v", reason, end, m.Counts())
			}
		})
	}
}

// TestFailedBatchesCoolTheProvider: a batch has no domain of its own; those of its tasks count.
func TestFailedBatchesCoolTheProvider(t *testing.T) {
	m := New(batches())
	for range budget.InARow {
		c := m.newCall()
		c.Tasks = []*frontier.Task{{Domain: "a.test"}, {Domain: "b.test"}, {Domain: "c.test"}}
		m.failures(labStart, c, &provider.Reply{Outcome: provider.Transport})
	}
	if m.provider.State(labStart) != budget.Cooling {
		t.Errorf("the provider is %v", m.provider.State(labStart))
	}
}

// TestKeptJobsHaveALeader: where polls cost, a job is left alone for minutes while an older one leads. When that one ended
// just before a restart, the oldest of the rest leads: it is asked soon, and the others are not.
func TestKeptJobsHaveALeader(t *testing.T) {
	cfg := batches()
	cfg.Facts.RateLimit, cfg.Facts.RateWindow, cfg.Facts.PollsCount = 300, 15*time.Minute, true
	m := New(cfg)
	for i := range 3 {
		at := labStart.Add(time.Duration(i-10) * time.Second)
		m.Step(labStart, JobKept{Job: "scrape/" + string(rune('a'+i)), Credential: "k", Tasks: []frontier.Task{{ID: int64(1 + i), Domain: "a.test", Home: "a.test"}},
			Submitted: at, Expires: at.Add(time.Hour), Next: at.Add(leadWait)})
	}
	for id, j := range m.jobs {
		if soon := j.Next.Before(labStart.Add(30 * time.Second)); soon != (id == "scrape/a") {
			t.Errorf("%s is asked in %v", id, j.Next.Sub(labStart))
		}
	}
	if len(m.jobs) != 3 {
		t.Fatalf("%d jobs are kept", len(m.jobs))
	}
}
