package view

import (
	"testing"
	"time"
)

// busy is a domain at work with a queue.
func busy(name string, queue int64) DomainInput {
	return DomainInput{Domain: name, State: StateRun, InFlight: 1, Queue: queue}
}

func TestETAOfTheRun(t *testing.T) {
	pass := func(d *drive, span time.Duration, host string, perSecond int) {
		d.pass(span, func() {
			if perSecond > 0 {
				d.work(host, perSecond)
			}
		})
	}
	tests := []struct {
		name string
		play func(*drive)
		want ETA
	}{
		{"under a minute of data", func(d *drive) {
			d.put(busy("a.example", 100))
			d.delta.Counts.Pending = 100
			pass(d, 50*time.Second, "a.example", 1)
		}, ETA{Why: "measuring"}},
		{"queue at the pace of the last five minutes", func(d *drive) {
			d.put(busy("a.example", 1200))
			d.delta.Counts.Pending = 1200
			pass(d, 10*time.Minute, "a.example", 9) // an average would see this
			pass(d, 5*time.Minute+trendBin, "a.example", 1)
		}, ETA{Known: true, Left: 20 * time.Minute, PlusMinus: time.Minute}},
		{"the slowest domain decides", func(d *drive) {
			d.put(busy("slow.example", 600), busy("fast.example", 600))
			d.delta.Counts.Pending = 1200
			d.pass(6*time.Minute, func() { d.work("slow.example", 1); d.work("fast.example", 10) })
		}, ETA{Known: true, Left: 10 * time.Minute, PlusMinus: time.Minute}},
		{"never less than all tasks at the run's own pace", func(d *drive) {
			d.delta.Counts.Pending = 3600
			for _, in := range many(1000) {
				in.Queue, in.InFlight = 3, 0
				d.delta.Domains = append(d.delta.Domains, in)
			}
			d.pass(6*time.Minute, func() { d.work("", 2) })
		}, ETA{Known: true, Left: 30 * time.Minute, PlusMinus: time.Minute}},
		{"the run is paused", func(d *drive) {
			d.put(busy("a.example", 100))
			d.delta.Counts.Pending = 100
			pass(d, 2*time.Minute, "a.example", 1)
			d.delta.Run.PausedAt = d.at
		}, ETA{Why: "paused"}},
		{"all that is left is paused", func(d *drive) {
			in := busy("a.example", 100)
			in.State, in.Paused = StatePause, t0
			d.put(in)
			d.delta.Counts.Pending = 100
			pass(d, 2*time.Minute, "", 0)
		}, ETA{Why: "paused", LeftOut: 100, LeftOutDomains: 1}},
		{"all that is left is blocked", func(d *drive) {
			in, more := busy("bank.example", 77), busy("post.example", 3)
			in.State, more.State = StateBlock, StateBlock
			d.put(in, more)
			d.delta.Counts.Pending = 80
			pass(d, 2*time.Minute, "", 0)
		}, ETA{Why: "blocked: bank.example", LeftOut: 80, LeftOutDomains: 2}},
		{"blocked and paused are left out of what is known", func(d *drive) {
			held, blocked := busy("held.example", 640), busy("bank.example", 77)
			held.State, blocked.State = StatePause, StateBlock
			d.put(held, blocked, busy("a.example", 600))
			d.delta.Counts.Pending = 640 + 77 + 600
			pass(d, 6*time.Minute, "a.example", 1)
		}, ETA{Known: true, Left: 10 * time.Minute, PlusMinus: time.Minute, LeftOut: 717, LeftOutDomains: 2}},
		{"discovery adds more than is done", func(d *drive) {
			d.put(busy("a.example", 600))
			d.delta.Counts.Pending = 600
			d.pass(2*time.Minute, func() { d.work("a.example", 1); d.delta.Counts.Tasks += 3 })
		}, ETA{Why: "growing +120/min"}},
		{"discovery adds less than is done", func(d *drive) {
			d.put(busy("a.example", 600))
			d.delta.Counts.Pending = 600
			d.pass(6*time.Minute, func() { d.work("a.example", 2); d.delta.Counts.Tasks++ })
		}, ETA{Known: true, Left: 5 * time.Minute, PlusMinus: time.Minute}},
		{"nothing was done for five minutes", func(d *drive) {
			d.put(busy("a.example", 600))
			d.delta.Counts.Pending = 600
			pass(d, 2*time.Minute, "a.example", 1)
			pass(d, 6*time.Minute, "", 0)
		}, ETA{Why: "no progress"}},
		{"a domain that cools keeps its pace", func(d *drive) {
			d.put(busy("a.example", 600))
			d.delta.Counts.Pending = 600
			pass(d, 6*time.Minute, "a.example", 1)
			in := busy("a.example", 600)
			in.State, in.Until = StateCool, d.at.Add(30*time.Minute)
			d.put(in)
			pass(d, 10*time.Minute, "", 0)
		}, ETA{Known: true, Left: 30 * time.Minute, PlusMinus: time.Minute}},
		{"input is being read and nothing is left", func(d *drive) {
			d.delta.Run.Loading = true
			pass(d, 2*time.Minute, "", 0)
		}, ETA{Why: "measuring"}},
		{"nothing is left", func(d *drive) { pass(d, 2*time.Minute, "", 0) }, ETA{Known: true, PlusMinus: time.Minute}},
		{"draining", func(d *drive) {
			d.put(busy("a.example", 600))
			d.delta.Counts.Pending = 600
			pass(d, 2*time.Minute, "a.example", 1)
			d.delta.Run.State = "draining"
		}, ETA{Why: "draining"}},
		{"every key is stopped", func(d *drive) {
			d.put(busy("a.example", 600))
			d.delta.Counts.Pending, d.delta.Run.State = 600, "locked out"
			pass(d, 2*time.Minute, "", 0)
		}, ETA{Why: "locked out"}},
		{"over", func(d *drive) { d.delta.Run.State, d.delta.Live = "finished", false }, ETA{Why: "finished"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := newDrive()
			test.play(d)
			d.send()
			d.at = d.at.Add(time.Second)
			d.send()
			if got := d.Frame(Query{}).ETA; got != test.want {
				t.Errorf("ETA is %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestETAOfADomain(t *testing.T) {
	tests := []struct {
		name   string
		change func(*DomainInput, time.Time)
		work   time.Duration
		want   ETA
	}{
		{"at its pace", nil, 6 * time.Minute, ETA{Known: true, Left: 10 * time.Minute}},
		{"after its cooldown", func(in *DomainInput, now time.Time) { in.State, in.Until = StateCool, now.Add(90*time.Second) }, 6 * time.Minute,
			ETA{Known: true, Left: 12 * time.Minute}}, // 11:30, in steps of a minute
		{"its cooldown is over and its probe out", func(in *DomainInput, now time.Time) { in.State, in.Until = StateCool, now.Add(-time.Minute) }, 6 * time.Minute,
			ETA{Known: true, Left: 10 * time.Minute}},
		{"a cooldown of a year saturates", func(in *DomainInput, now time.Time) { in.State, in.Until = StateCool, now.Add(400*24*time.Hour) }, 6 * time.Minute,
			ETA{Known: true, Left: maxLeft + 10*time.Minute}},
		{"a queue beyond all counting saturates", func(in *DomainInput, _ time.Time) { in.Queue = 1 << 62 }, 6 * time.Minute, ETA{Known: true, Left: maxLeft}},
		{"paused", func(in *DomainInput, now time.Time) { in.State, in.Paused = StatePause, now }, 6 * time.Minute, ETA{Why: "paused"}},
		{"blocked", func(in *DomainInput, _ time.Time) { in.State = StateBlock }, 6 * time.Minute, ETA{Why: "blocked"}},
		{"under a minute of data", nil, 30 * time.Second, ETA{Why: "measuring"}},
		{"never at work", nil, 0, ETA{Why: "measuring"}},
		{"nothing waits", func(in *DomainInput, _ time.Time) { in.Queue = 0 }, 6 * time.Minute, ETA{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := newDrive()
			in := DomainInput{Domain: "a.example", State: StateRun, Queue: 600}
			if test.work > 0 {
				in.InFlight = 1
			}
			d.put(in)
			d.pass(test.work, func() { d.work("a.example", 1) })
			if test.change != nil {
				test.change(&in, d.at)
				d.put(in)
			}
			if got := d.Frame(Query{}).Domains.Rows[0].ETA; got != test.want {
				t.Errorf("ETA is %+v, want %+v", got, test.want)
			}
		})
	}
}

func TestSteps(t *testing.T) {
	for in, want := range map[time.Duration]time.Duration{
		time.Millisecond:        10 * time.Second,
		14 * time.Second:        10 * time.Second,
		95 * time.Second:        100 * time.Second,
		150*time.Second - 1:     2 * time.Minute,
		37*time.Minute + 20*1e9: 37 * time.Minute,
		81*time.Minute + 10*1e9: 80 * time.Minute,
		30 * time.Hour:          30 * time.Hour,
		0:                       0,
	} {
		if got := (ETA{Left: in}).shown().Left; got != want {
			t.Errorf("%v is shown as %v, want %v", in, got, want)
		}
	}
}

func TestForecastMovesAreForgottenAfterFiveMinutes(t *testing.T) {
	d := newDrive()
	d.put(busy("a.example", 6000))
	d.delta.Counts.Pending = 6000
	d.pass(3*time.Minute, func() { d.work("a.example", 10); d.Frame(Query{}) })
	d.pass(time.Minute, func() { d.work("a.example", 1); d.Frame(Query{}) })
	if got := d.Frame(Query{}).ETA; !got.Known || got.PlusMinus <= time.Minute {
		t.Errorf("the pace fell to a tenth and the forecast is %+v", got)
	}
	d.pass(12*time.Minute, func() {
		d.delta.Counts.Pending -= 1
		d.delta.Domains = append(d.delta.Domains, busy("a.example", d.delta.Counts.Pending))
		d.work("a.example", 1)
		d.Frame(Query{})
	})
	if got := d.Frame(Query{}).ETA; !got.Known || got.PlusMinus != time.Minute {
		t.Errorf("the pace is steady for 12 minutes and the forecast is %+v", got)
	}
}
