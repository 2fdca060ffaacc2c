package view

import (
	"slices"
	"testing"
	"time"
)

func TestCapsAreForecastFromUseForEachTask(t *testing.T) {
	d := newDrive()
	d.put(busy("a.example", 600))
	d.delta.Counts.Pending = 600
	d.pass(6*time.Minute, func() { d.work("a.example", 1) }) // 360 done, 600 to go: 10 minutes
	d.delta.Caps = []CapRow{
		{Name: "requests", Used: 720, Limit: 1000},
		{Name: "credits", Used: 36, Limit: 192},
		{Name: "time", Used: 360.4, Limit: 1920},
		{Name: "bytes", Used: 10},
	}
	d.at = d.at.Add(time.Second)
	d.send()
	want := map[string]float64{"requests": 1.92, "credits": 0.5, "time": 0.5, "bytes": 0}
	for _, c := range d.Frame(Query{}).Caps {
		if c.Forecast != want[c.Name] {
			t.Errorf("%s is forecast to reach %v of its cap, want %v", c.Name, c.Forecast, want[c.Name])
		}
	}
}

func TestCapsAreNotForecastFromNothing(t *testing.T) {
	d := newDrive()
	d.delta.Counts.Pending = 600
	d.delta.Caps = []CapRow{{Name: "requests", Used: 5, Limit: 10}, {Name: "time", Used: 1, Limit: 10}}
	d.send()
	for _, c := range d.Frame(Query{}).Caps {
		if c.Forecast != 0 {
			t.Errorf("%s is forecast to reach %v of its cap before anything was done", c.Name, c.Forecast)
		}
	}
}

// TestACapThatWillBeMetIsToldOnce, when that held for a while, with when and what helps; again only after it was well below.
func TestACapThatWillBeMetIsToldOnce(t *testing.T) {
	d := newDrive()
	d.put(busy("a.example", 600))
	d.delta.Counts.Pending = 600
	d.pass(6*time.Minute, func() { d.work("a.example", 1) }) // 360 done, 600 to go: 10 minutes
	told := func(used float64, after time.Duration) []string {
		d.delta.Caps = []CapRow{{Name: "requests", Used: used, Limit: 1000}, {Name: "credits", Used: 10, Limit: 1000}}
		d.at = d.at.Add(after)
		d.send()
		var texts []string
		for _, a := range d.Frame(Query{}).Alerts {
			texts = append(texts, a.Text+" / "+a.Do)
		}
		return texts
	}
	const first = "requests: 192% of the cap at the end of the run, reached in about 2 min / the run drains there; resume it with a higher --max-requests"
	const again = "requests: 192% of the cap at the end of the run, reached in about 3 min / the run drains there; resume it with a higher --max-requests"
	for i, step := range []struct {
		used  float64
		after time.Duration
		want  []string
	}{
		{720, time.Second, nil},
		{720, 9 * time.Second, nil},
		{720, 2 * time.Second, []string{first}},
		{730, time.Minute, []string{first}},
		{370, time.Second, []string{first}}, // 98 %: neither past nor well below
		{720, 20 * time.Second, []string{first}},
		{300, time.Second, []string{first}}, // 80 %
		{720, time.Second, []string{first}},
		{720, 11 * time.Second, []string{again, first}},
	} {
		if got := told(step.used, step.after); !slices.Equal(got, step.want) {
			t.Errorf("step %d: %q, want %q", i, got, step.want)
		}
	}
	for d, want := range map[time.Duration]string{time.Second: "10 s", 94 * time.Second: "90 s", 3 * time.Minute: "3 min", 100 * time.Minute: "100 min", 30 * time.Hour: "30 h"} {
		if got := about(d); got != want {
			t.Errorf("%v is about %s, want %s", d, got, want)
		}
	}
}
