package core

import (
	"strings"
	"testing"
	"time"

	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/engine/provider"
)

// TestSearchForALostSubmit: what a search for a submit of before a restart comes to, by the answers to its lookups. Failed
// lookups count in a row, and only a list that was read and holds no such job says "not there".
func TestSearchForALostSubmit(t *testing.T) {
	flaky := provider.Reply{Outcome: provider.Failed, Error: "bad gateway"}
	nothing := provider.Reply{Outcome: provider.Accepted}
	there := provider.Reply{Outcome: provider.Accepted, Found: []provider.Found{{Job: "log/u-1", URLs: []string{"http://a.test/1"}}}}
	unnamed := provider.Reply{Outcome: provider.Accepted, Found: []provider.Found{{Job: "batch/b-1"}}}
	inside := provider.Reply{Outcome: provider.Accepted, Found: []provider.Found{{Job: "batch/b-1", URLs: []string{"http://a.test/1"}}}}
	for name, c := range map[string]struct {
		answers []provider.Reply // the last one stands for all that follow
		never   bool             // resubmit_unknown
		job     string
		state   State // of the task, where no job was found
		says    string
	}{
		"found at once":                      {answers: []provider.Reply{there}, job: "log/u-1"},
		"found between failures":             {answers: []provider.Reply{flaky, flaky, nothing, flaky, flaky, nothing, flaky, flaky, there}, job: "log/u-1"},
		"a failed look into a job is redone": {answers: []provider.Reply{unnamed, flaky, inside}, job: "batch/b-1"},
		"not there":                          {answers: []provider.Reply{nothing}, state: Delayed, says: "the submit was not found at the platform"},
		"not there, never again":             {answers: []provider.Reply{nothing}, never: true, state: Dead, says: "the submit was not found at the platform"},
		"nobody answers":                     {answers: []provider.Reply{flaky}, state: Delayed, says: "the platform could not be asked"},
		"nobody answers, never again":        {answers: []provider.Reply{flaky}, never: true, state: Dead, says: "the platform could not be asked"},
		"the list is refused":                {answers: []provider.Reply{{Outcome: provider.Refused, Error: "404"}}, state: Delayed, says: "the platform could not be asked"},
		"nobody answers any more":            {answers: []provider.Reply{nothing, flaky}, never: true, state: Dead, says: "the platform could not be asked"},
	} {
		t.Run(name, func(t *testing.T) {
			m := New(Config{Provider: "p", MaxAttempts: 3, ResubmitUnknown: !c.never, Credentials: []CredentialLimits{{Name: "k"}},
				Facts: provider.Facts{Paid: true, Polls: true, FindsLost: true, PollFirst: time.Second, PollMax: time.Second}})
			now, sent := labStart, labStart
			var job string
			var ended *Settled
			var told []string
			answer := func(a Action) provider.Reply {
				if a.Call.Kind != provider.Lookup {
					t.Fatalf("sent %s", a.Call.Kind)
				}
				r := c.answers[0]
				if len(r.Found) > 0 && r.Found[0].Job == "batch/b-1" && (len(r.Found[0].URLs) > 0) != (a.Call.Call.Job != "") {
					t.Fatalf("asked for %q", a.Call.Call.Job)
				}
				if len(c.answers) > 1 {
					c.answers = c.answers[1:]
				}
				return r
			}
			queue := []Event{LostSubmit{Exchange: "x", Credential: "k", Sent: sent, Tasks: []frontier.Task{{ID: 1, URL: "http://a.test/1", Home: "a.test", Domain: "a.test", FirstTry: sent}}}}
			for job == "" && ended == nil {
				if len(queue) == 0 {
					at, ok := m.WakeAt()
					if !ok || at.Sub(sent) > time.Hour {
						t.Fatalf("it hangs at %v", at)
					}
					now = at
					queue = append(queue, Tick{})
				}
				ev := queue[0]
				queue = queue[1:]
				for _, a := range m.Step(now, ev) {
					switch a.Do {
					case Send:
						queue = append(queue, &Replied{Call: a.Call, Reply: answer(a)})
					case Keep:
						job = a.Job.ID
					case Store:
						for i := range a.Settled {
							if s := a.Settled[i]; s.State == Delayed || s.State == Dead {
								ended = &s
							}
						}
					case Tell:
						told = append(told, a.Event.Text)
					}
				}
			}
			if job != c.job || job == "" && (ended.State != c.state || !strings.Contains(ended.Error, c.says)) {
				t.Fatalf("job %q, ended %+v", job, ended)
			}
			if job == "" && !strings.Contains(strings.Join(told, "\n"), c.says) {
				t.Errorf("told %q", told)
			}
		})
	}
}
