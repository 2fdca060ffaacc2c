package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

const exported = `{"url":"http://a.test/1","domain":"a.test","status":200,"fetched_at":"2026-07-01T12:00:08.000Z"}
{"url":"http://b.test/1","domain":"b.test","status":200,"fetched_at":"2026-07-01T12:00:10.000Z"}
{"url":"http://slow.test/1","domain":"slow.test","status":429,"fetched_at":"2026-07-01T12:00:30.000Z"}
`

func sample(t *testing.T) measured {
	t.Helper()
	records, err := readRecords(strings.NewReader(exported))
	if err != nil {
		t.Fatal(err)
	}
	m := measured{began: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC), records: records,
		seen: seen{requests: 5, pages: 3, target: 2, charges: 0.1 + 0.2}}
	m.sum = summary{State: "finished", Accepted: 3, Records: 3, Requests: 5, Credits: 0.3}
	m.sum.Limited.Target = 2
	return m
}

func TestWorstShareIsOfTheDomainThatEndsLast(t *testing.T) {
	m := sample(t)
	if domain, share := worstShare(m, "slow.test", 9*time.Second); domain != "b.test" || share != 0.9 {
		t.Errorf("%s at %v", domain, share)
	}
	if _, share := worstShare(measured{}, "slow.test", time.Second); share != 0 {
		t.Errorf("without a record the share is %v", share)
	}
	if n := refusalPages(m.records); n != 1 {
		t.Errorf("%d records refuse", n)
	}
	if late := lateness(63*time.Second, time.Minute); math.Abs(late-0.05) > 1e-9 {
		t.Errorf("late by %v", late)
	}
}

func TestAgree(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*measured)
		want   string // in the error; empty: none
	}{
		"both sides the same":        {func(*measured) {}, ""},
		"a refusal stored as a page": {func(m *measured) { m.seen.pages-- }, "records 3, the simulator 2"},
		"a request more":             {func(m *measured) { m.seen.requests++ }, "requests 5, the simulator 6"},
		"an account's 429":           {func(m *measured) { m.seen.account++ }, "account 0, the simulator 1"},
		"a rate's 429":               {func(m *measured) { m.sum.Limited.Rate++ }, "rate 1, the simulator 0"},
		"pending jobs' 429":          {func(m *measured) { m.seen.pending++ }, "pending jobs 0, the simulator 1"},
		"a target's 429":             {func(m *measured) { m.seen.target-- }, "targets 2, the simulator 1"},
		"a busy platform":            {func(m *measured) { m.seen.busy++ }, "busy 0, the simulator 1"},
		"charged more than told":     {func(m *measured) { m.seen.charges += 0.004 }, "credits 0.3"},
		"a URL stored twice":         {func(m *measured) { m.records[1] = m.records[0] }, "3 exported of 2 URLs"},
		"a task is left":             {func(m *measured) { m.sum.Accepted-- }, "2 are accepted"},
		"the run was interrupted":    {func(m *measured) { m.sum.State = "stopped" }, "the run is stopped"},
	} {
		t.Run(name, func(t *testing.T) {
			m := sample(t)
			c.change(&m)
			err := m.agree(3)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("agree says %v, want %q", err, c.want)
			}
		})
	}
}

func TestUnrefused(t *testing.T) {
	m := sample(t)
	if err := m.unrefused(); err == nil || !strings.Contains(err.Error(), "target 2") {
		t.Errorf("two refusals are told as %v", err)
	}
	m.seen.target = 0
	if err := m.unrefused(); err != nil {
		t.Errorf("no refusal is told as %v", err)
	}
}

func TestBrokenExportIsToldAs(t *testing.T) {
	if _, err := readRecords(strings.NewReader(exported + "{")); err == nil || !strings.Contains(err.Error(), "result 4") {
		t.Errorf("half a line is told as %v", err)
	}
}
