package core

import (
	"testing"
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/provider"
)

// TestLookupWithoutRobotsEnds: a sitemap whose host's robots.txt cannot be read is given up, and its asker told, instead of
// keeping the run alive for ever; the counts of tasks never see it.
func TestLookupWithoutRobotsEnds(t *testing.T) {
	l := newLab(t, Config{Direct: true, Robots: true})
	l.servers["a.test"] = func(time.Time, int) answer {
		if c := l.m.Counts(); c.Pending != 0 || c.Delayed != 0 || c.InFlight != 0 {
			t.Errorf("counts %+v", c)
		}
		return answer{outcome: provider.Failed, wait: -1, took: ms}
	}
	l.step(LookupAsked{ID: 7, URL: "http://a.test/sitemap.xml", Domain: "a.test"})
	l.run(24 * time.Hour)
	if len(l.looked) != 1 || l.looked[0].Call.LookupID != 7 || l.looked[0].Event.Text == "" || l.end == nil || l.end.State != "finished" {
		t.Fatalf("told %+v, end %+v, sent %d", l.looked, l.end, l.sent)
	}
}

// TestHeldLookupEndsAnUnattendedRun: nobody resumes the paused host that the input is to be read from.
func TestHeldLookupEndsAnUnattendedRun(t *testing.T) {
	m := New(Config{Direct: true, Unattended: true})
	m.Step(labStart, Asked{Verb: "pause", Scope: budget.Domain, Key: "a.test"})
	ended := false
	for _, a := range m.Step(labStart, LookupAsked{ID: 1, URL: "http://a.test/sitemap.xml", Domain: "a.test"}) {
		ended = ended || a.Do == Ended && a.End.Reason == "only paused work is left"
	}
	if !ended {
		t.Fatal("it goes on")
	}
}

// TestDrainAfterACapEndsInTime: a run that drains because its cap is reached waits for its remote jobs, but not when a
// person stops it.
func TestDrainAfterACapEndsInTime(t *testing.T) {
	l := newLab(t, Config{Direct: true, MaxRequests: 1})
	l.list("a.test", 2, func(time.Time, int) answer { return pass(time.Hour) })
	l.at(time.Minute, func() { l.step(Draining{Reason: "stopped by you", By: l.now.Add(time.Second)}) })
	l.run(30 * time.Minute)
	if l.end == nil || l.end.State != "stopped" || l.elapsed() > 2*time.Minute {
		t.Fatalf("end %+v after %v", l.end, l.elapsed())
	}
}
