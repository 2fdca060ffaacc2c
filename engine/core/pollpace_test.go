package core

import (
	"testing"
	"time"

	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/provider"
)

// TestALeaderIsAskedByItsProgress: a batch whose answers tell how many of its targets have ended is asked at about the time
// when the last is likely to end; one that tells nothing by its age. Neither is found out much after its end.
func TestALeaderIsAskedByItsProgress(t *testing.T) {
	for name, c := range map[string]struct {
		done        func(age, length time.Duration) int
		polls, late float64 // at most: requests, and the last one's delay as a share of the length
	}{
		"steadily":           {func(age, length time.Duration) int { return int(50 * age / length) }, 14, 0.1},
		"the last ones slow": {func(age, length time.Duration) int { return min(int(100*age/length), 49) }, 24, 0.1},
		"all at the end":     {func(_, _ time.Duration) int { return 0 }, 50, 0.1},
	} {
		t.Run(name, func(t *testing.T) {
			for _, length := range []time.Duration{20 * time.Second, 100 * time.Second, 10 * time.Minute} {
				cfg := batches()
				cfg.Facts.RateLimit, cfg.Facts.RateWindow, cfg.Facts.PollsCount = 300, 15*time.Minute, true
				cfg.Facts.PollFirst, cfg.Facts.PollMax = 5*time.Second, 15*time.Second
				m := New(cfg)
				now := labStart
				polls, asked := 0, false
				took := func(actions []Action) (call *Call) {
					for _, a := range actions {
						if a.Do == Send && a.Call.Kind == provider.Poll {
							call = a.Call
						}
					}
					return call
				}
				tasks := make([]frontier.Task, 50)
				for i := range tasks {
					tasks[i] = frontier.Task{ID: int64(1 + i), Domain: "a.test", Home: "a.test"}
				}
				call := took(m.Step(now, JobKept{Job: "batch/b", Credential: "k", Tasks: tasks, Submitted: now, Expires: now.Add(time.Hour)}))
				for !asked {
					for call == nil {
						at, ok := m.WakeAt()
						if !ok {
							t.Fatal("nothing will ask about the job")
						}
						now = at
						call = took(m.Step(now, nil))
					}
					polls++
					if asked = now.Sub(labStart) >= length; asked {
						break
					}
					reply := provider.Reply{Outcome: provider.StillRunning, Started: true, Done: c.done(now.Sub(labStart), length)}
					call = took(m.Step(now, &Replied{Call: call, Reply: reply}))
					if got := m.Counts().RemoteDone; got != int64(reply.Done) {
						t.Fatalf("%d are told to be done, counted %d", reply.Done, got)
					}
				}
				late := now.Sub(labStart) - length
				t.Logf("%v: %d polls, %v late", length, polls, late)
				if float64(polls) > c.polls || late > time.Duration(c.late*float64(length))+3*time.Second {
					t.Errorf("%v: %d polls, the last %v late", length, polls, late)
				}
			}
		})
	}
}
