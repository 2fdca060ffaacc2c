package lease

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"dev.scrapetop/engine/budget"
)

var t0 = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const term = 6 * time.Second

var key = Key{Provider: "evomi", Scope: budget.Credential, Name: "main"}

func TestDivide(t *testing.T) {
	for _, c := range []struct {
		name  string
		total int
		wants []int
		first int
		want  []int
	}{
		{"evenly", 6, []int{9, 9}, 0, []int{3, 3}},
		{"the first gets what is over", 5, []int{9, 9}, 0, []int{3, 2}},
		{"turns", 5, []int{9, 9}, 1, []int{2, 3}},
		{"nobody gets what another wants for", 6, []int{1, 9, 9}, 0, []int{1, 3, 2}},
		{"slack is divided among those that want", 10, []int{1, 0, 2}, 0, []int{5, 0, 5}},
		{"fewer than members", 1, []int{1, 1, 1}, 2, []int{0, 0, 1}},
		{"nothing", 0, []int{1, 1}, 0, []int{0, 0}},
		{"overdrawn", -3, []int{1, 1}, 0, []int{0, 0}},
		{"no ceiling", Unlimited, []int{1, 0}, 0, []int{Unlimited, 0}},
		{"nobody", 4, nil, 0, nil},
	} {
		if got := divide(c.total, c.wants, c.first); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// peer is a member as it behaves: it goes by the last grants that reached it.
type peer struct {
	id, inFlight, slots, want int
	started, starts           int64
	done                      int64
	test                      Test
	joined                    bool
}

func (p *peer) demand(ceiling int, rates ...budget.Rate) Demand {
	return Demand{Key: key, Want: max(p.want, p.inFlight), InFlight: p.inFlight, Ceiling: ceiling, Rates: rates, Started: p.started, Test: p.test, Holds: p.slots}
}

func (p *peer) take(number int64, grants []Grant) {
	for _, g := range grants {
		p.slots, p.starts = g.Slots, g.Starts
	}
	p.done = number
}

func (p *peer) start() bool {
	if p.inFlight >= p.slots || p.started >= p.starts || p.inFlight >= p.want {
		return false
	}
	p.inFlight++
	p.started++
	return true
}

// settle lets members report and the book deal until nothing changes.
func settle(b *Book, now time.Time, ceiling int, rates []budget.Rate, peers ...*peer) {
	for range 12 {
		for _, p := range peers {
			b.Report(now, p.id, &Report{Done: p.done, Whole: !p.joined, Demands: []Demand{p.demand(ceiling, rates...)}})
			p.joined = true
		}
		number, grants := b.Deal(now)
		for _, p := range peers {
			p.take(number, grants[p.id])
		}
	}
}

func TestShares(t *testing.T) {
	b := NewBook(t0, term, false)
	a, c := &peer{id: 1, inFlight: 5, slots: 5, want: 20}, &peer{id: 2, want: 20}
	b.Join(t0, 1)
	b.Free(1)
	b.Join(t0, 2)
	b.Report(t0, 2, &Report{Whole: true, Demands: []Demand{c.demand(5)}})
	if _, g := b.Deal(t0); len(g) > 0 {
		t.Fatalf("something was handed out before the one that was alone had said what it uses: %v", g)
	}
	settle(b, t0, 5, nil, a, c)
	if a.slots != 3 || c.slots != 0 {
		t.Fatalf("with five in flight: %d and %d, want 3 and 0", a.slots, c.slots)
	}
	a.inFlight = 4
	settle(b, t0, 5, nil, a, c)
	if c.slots != 1 {
		t.Fatalf("one came back: the other has %d, want 1", c.slots)
	}
	a.inFlight = 1
	settle(b, t0, 5, nil, a, c)
	if a.slots != 3 || c.slots != 2 {
		t.Fatalf("%d and %d, want 3 and 2", a.slots, c.slots)
	}
	a.want, a.inFlight = 0, 0
	settle(b, t0, 5, nil, a, c)
	if a.slots != 0 || c.slots != 5 {
		t.Fatalf("one wants nothing: %d and %d, want 0 and 5", a.slots, c.slots)
	}
}

func TestGoneMemberCountsUntilItsLeaseEnds(t *testing.T) {
	b := NewBook(t0, term, false)
	a, c := &peer{id: 1, want: 9}, &peer{id: 2, want: 9}
	b.Join(t0, 1)
	b.Join(t0, 2)
	settle(b, t0, 5, nil, a, c)
	c.inFlight = 2
	settle(b, t0, 5, nil, a, c)
	b.Lose(2)
	now := t0.Add(term - time.Millisecond)
	settle(b, now, 5, nil, a)
	if a.slots != 3 {
		t.Errorf("before its lease ends the other has %d, want 3", a.slots)
	}
	settle(b, t0.Add(term), 5, nil, a)
	if a.slots != 5 || b.Members() != 1 {
		t.Errorf("after it %d of 5, %d members", a.slots, b.Members())
	}
}

func TestLearnsFirst(t *testing.T) {
	b := NewBook(t0, term, true)
	a, c := &peer{id: 1, inFlight: 2, slots: 2, want: 9}, &peer{id: 2, want: 9}
	b.Join(t0, 1)
	b.Join(t0, 2)
	settle(b, t0, 5, nil, a, c)
	if a.slots+c.slots > 2 {
		t.Errorf("%d and %d of the 2 that were reported", a.slots, c.slots)
	}
	for now := t0; now.Before(t0.Add(term)); now = now.Add(time.Second) {
		settle(b, now, 5, nil, a, c)
		a.inFlight = min(a.inFlight, a.slots)
	}
	settle(b, t0.Add(term), 5, nil, a, c)
	if a.slots+c.slots != 5 {
		t.Errorf("%d and %d of 5 when a lease has passed", a.slots, c.slots)
	}
}

func TestOneTestsAtATime(t *testing.T) {
	b := NewBook(t0, term, false)
	a, c := &peer{id: 1, want: 9}, &peer{id: 2, want: 9}
	b.Join(t0, 1)
	b.Join(t0, 2)
	settle(b, t0, 5, nil, a, c)
	a.test, c.test = Waiting, Waiting
	settle(b, t0, 5, nil, a, c)
	if a.slots+c.slots != 1 {
		t.Fatalf("%d and %d may go to test it", a.slots, c.slots)
	}
	first, second := a, c
	if c.slots == 1 {
		first, second = c, a
	}
	first.start()
	first.test = Out
	settle(b, t0, 5, nil, a, c)
	if second.slots != 0 {
		t.Fatal("a second test while the first is out")
	}
	first.inFlight, first.test = 0, Open
	settle(b, t0, 5, nil, a, c)
	if second.slots != 1 || first.slots != 0 {
		t.Fatalf("then the other: %d, and the first has %d", second.slots, first.slots)
	}
	second.test = Open
	settle(b, t0, 5, nil, a, c)
	if a.slots+c.slots != 5 {
		t.Errorf("tested by both: %d and %d of 5", a.slots, c.slots)
	}
}

func TestTurnsWhereThereAreFewerThanMembers(t *testing.T) {
	b := NewBook(t0, term, false)
	peers := []*peer{{id: 1, want: 2}, {id: 2, want: 2}, {id: 3, want: 2}}
	for _, p := range peers {
		b.Join(t0, p.id)
	}
	had := map[int]int{}
	for now := t0; now.Before(t0.Add(9 * turn)); now = now.Add(turn) {
		settle(b, now, 1, nil, peers...)
		for _, p := range peers {
			had[p.id] += p.slots
		}
	}
	for _, p := range peers {
		if had[p.id] != 3 {
			t.Errorf("member %d had %d of 9 turns", p.id, had[p.id])
		}
	}
}

// TestLeasesNeverPassTheCeiling plays members that join, leave, are killed and change what they want, with messages that are
// under way for a while. What all of them may use and do use stays within the ceiling, and so do starts within each window.
func TestLeasesNeverPassTheCeiling(t *testing.T) {
	for seed := range uint64(60) {
		rng := rand.New(rand.NewPCG(seed, 7))
		ceiling := 1 + rng.IntN(9)
		var rates []budget.Rate
		if seed%2 == 1 {
			rates = []budget.Rate{{N: 1 + rng.IntN(60), Per: time.Duration(1+rng.IntN(4)) * time.Second}}
		}
		b := NewBook(t0, term, false)
		type mail struct {
			to     *peer
			number int64
			grants []Grant
		}
		var post []mail
		up := map[*peer][]Report{}
		alive := map[*peer]bool{}
		type ghost struct {
			n   int
			end time.Time
		}
		var ghosts []ghost
		var sent []time.Time
		last := map[*peer]time.Time{}
		next, now := 0, t0
		for range 6000 {
			now = now.Add(time.Duration(rng.IntN(int(20 * time.Millisecond))))
			switch x := rng.IntN(400); {
			case x == 0 && len(alive) < 5:
				next++
				p := &peer{id: next, want: rng.IntN(12)}
				alive[p] = true
				last[p] = now
				b.Join(now, p.id)
			case x == 1 && len(alive) > 1:
				p := anyOf(rng, alive)
				delete(alive, p)
				b.Lose(p.id)
				ghosts = append(ghosts, ghost{max(p.inFlight, 0), last[p].Add(term)})
			case x == 2 && len(alive) > 1:
				p := anyOf(rng, alive)
				if p.inFlight == 0 && len(up[p]) == 0 {
					b.Report(now, p.id, &Report{Done: p.done, Demands: []Demand{p.demand(ceiling, rates...)}})
					delete(alive, p)
					b.Leave(now, p.id)
				}
			}
			for p := range alive {
				switch rng.IntN(5) {
				case 0:
					if p.start() {
						sent = append(sent, now)
					}
				case 1:
					p.inFlight = max(p.inFlight-1, 0)
				case 2:
					if rng.IntN(50) == 0 {
						p.want = rng.IntN(12)
					}
				case 3:
					up[p] = append(up[p], Report{Done: p.done, Whole: !p.joined, Demands: []Demand{p.demand(ceiling, rates...)}})
					p.joined = true
				case 4:
					if len(up[p]) > 0 {
						r := up[p][0]
						up[p] = up[p][1:]
						last[p] = now
						b.Report(now, p.id, &r)
					}
				}
			}
			if rng.IntN(3) == 0 {
				number, grants := b.Deal(now)
				for p := range alive {
					if len(grants[p.id]) > 0 {
						post = append(post, mail{p, number, grants[p.id]})
					}
				}
			}
			for len(post) > 0 && rng.IntN(2) == 0 {
				if m := post[0]; alive[m.to] {
					m.to.take(m.number, m.grants)
				}
				post = post[1:]
			}
			total := 0
			for p := range alive {
				total += max(p.inFlight, p.slots)
			}
			for _, g := range ghosts {
				if now.Before(g.end) {
					total += g.n
				}
			}
			if total > ceiling {
				t.Fatalf("seed %d: %d may be in flight of %d", seed, total, ceiling)
			}
			for _, r := range rates {
				n := 0
				for i := len(sent) - 1; i >= 0 && now.Sub(sent[i]) < r.Per; i-- {
					n++
				}
				if n > r.N {
					t.Fatalf("seed %d: %d starts in %v, allowed %d", seed, n, r.Per, r.N)
				}
			}
		}
		if len(sent) == 0 && rates != nil {
			t.Errorf("seed %d: nothing was started", seed)
		}
	}
}

func anyOf(rng *rand.Rand, all map[*peer]bool) *peer {
	list := make([]*peer, 0, len(all))
	for p := range all {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *peer) int { return a.id - b.id })
	return list[rng.IntN(len(list))]
}
