package report

import (
	"cmp"
	"slices"
	"time"

	"dev.scrapetop/storage"
)

const (
	maxAskers   = 50 // keys, and
	maxOutcomes = 30 // outcomes, that are told apart: far more than there are
	others      = "others"
)

// layers are the layers that refuse, from what all share to what a site decides, with what each stands for.
var layers = []struct{ name, what string }{
	{"account", "the platform's limit on work at once"},
	{"rate", "the platform's limit on requests of one address"},
	{"pending", "the platform's limit on jobs that wait"},
	{"capacity", "the platform has no room, for anybody"},
	{"quota", "the account's credits or plan"},
	{"auth", "the key"},
	{"target", "the sites themselves"},
}

// layer is what was refused at one layer.
type layer struct {
	Name, What string
	Limited    int64
	Busy       int64
	Refused    int64 // access refused: blocked by a site, denied by a platform
	Waits      int64 // refusals that asked for a wait
	Longest    time.Duration
	During     int64 // requests that began inside such a wait
}

func (l *layer) any() bool { return l.Limited+l.Busy+l.Refused+l.During > 0 }

// asker is what a key asked of a provider; without a key, what we asked ourselves.
type asker struct {
	Provider, Credential string
	Requests             int64
	Polls                int64 // among them
	Refused              int64 // limited or busy
	Second, Minute       int64
	Credits              float64

	rates            rates
	account, pending waits
}

// provider is what all keys of a provider share.
type provider struct{ rate, capacity waits }

// outcome is how often an answer came, and what it cost.
type outcome struct {
	Name    string
	Times   int64
	Credits float64
}

// shared gathers the exchanges of a run in the order in which they began: everything but what each domain needs of its own.
type shared struct {
	line      *timeline
	requests  int64
	rates     rates
	layers    []layer
	askers    []asker
	providers map[string]*provider
	outcomes  []outcome

	last      string // exchange
	lastLayer string
}

func newShared(first, last time.Time) *shared {
	s := &shared{line: newTimeline(first, last), rates: newRates(), providers: map[string]*provider{}}
	for _, l := range layers {
		s.layers = append(s.layers, layer{Name: l.name, What: l.what})
	}
	return s
}

// add takes the next exchange. The tasks of a batch share what is the whole's: its request, and a refusal by the platform.
func (s *shared) add(x *storage.Exchange) {
	fresh := x.ID != s.last || s.requests == 0
	a := s.asker(x)
	if fresh {
		s.requests++
		s.rates.add(x.StartedAt)
		s.line.request(x)
		s.ask(a, x)
	}
	if fresh || x.Layer != s.lastLayer || x.Layer == "target" {
		s.refusal(a, x)
	}
	s.last, s.lastLayer = x.ID, x.Layer
	a.Credits += x.Credits
	o := s.outcome(x.Outcome)
	o.Times++
	o.Credits += x.Credits
}

// ask counts a request of a key, and whether it began while something shared was closed.
func (s *shared) ask(a *asker, x *storage.Exchange) {
	a.Requests++
	a.rates.add(x.StartedAt)
	p := s.provider(x.Provider)
	inside := func(name string, w *waits) {
		if w.covers(x.StartedAt) {
			s.layer(name).During++
		}
	}
	inside("rate", &p.rate)
	if x.Kind == "poll" {
		a.Polls++
		return
	}
	inside("capacity", &p.capacity)
	inside("account", &a.account)
	inside("pending", &a.pending)
}

// refusal counts a refusal at its layer.
func (s *shared) refusal(a *asker, x *storage.Exchange) {
	l := s.layer(x.Layer)
	if l == nil {
		return
	}
	switch x.Outcome {
	case "limited":
		l.Limited++
	case "busy":
		l.Busy++
	case "blocked", "denied":
		l.Refused++
	default:
		return
	}
	s.line.refusal(x)
	if !waitsAfter(x) {
		return
	}
	a.Refused++
	if x.RetryAfter != nil {
		l.Waits++
		l.Longest = max(l.Longest, *x.RetryAfter)
	}
	switch x.Layer {
	case "rate":
		s.provider(x.Provider).rate.ask(x)
	case "capacity":
		s.provider(x.Provider).capacity.ask(x)
	case "account":
		a.account.ask(x)
	case "pending":
		a.pending.ask(x)
	}
}

func (s *shared) layer(name string) *layer {
	i := slices.IndexFunc(s.layers, func(l layer) bool { return l.Name == name })
	if i < 0 {
		return nil
	}
	return &s.layers[i]
}

func (s *shared) asker(x *storage.Exchange) *asker {
	name, key := x.Provider, x.Credential
	find := func() int {
		return slices.IndexFunc(s.askers, func(a asker) bool { return a.Provider == name && a.Credential == key })
	}
	i := find()
	if i < 0 && len(s.askers) >= maxAskers {
		name, key = others, ""
		i = find()
	}
	if i < 0 {
		i = len(s.askers)
		s.askers = append(s.askers, asker{Provider: name, Credential: key, rates: newRates()})
	}
	return &s.askers[i]
}

func (s *shared) provider(name string) *provider {
	p := s.providers[name]
	if p == nil {
		if len(s.providers) >= maxAskers {
			name = others
		}
		if p = s.providers[name]; p == nil {
			p = &provider{}
			s.providers[name] = p
		}
	}
	return p
}

func (s *shared) outcome(name string) *outcome {
	find := func() int { return slices.IndexFunc(s.outcomes, func(o outcome) bool { return o.Name == name }) }
	i := find()
	if i < 0 && len(s.outcomes) >= maxOutcomes {
		name = others
		i = find()
	}
	if i < 0 {
		i = len(s.outcomes)
		s.outcomes = append(s.outcomes, outcome{Name: name})
	}
	return &s.outcomes[i]
}

// finish closes what was gathered: the askers with the most requests first, the dearest outcomes first.
func (s *shared) finish() {
	for i := range s.askers {
		a := &s.askers[i]
		a.Second, a.Minute = a.rates.second.most, a.rates.minute.most
	}
	slices.SortStableFunc(s.askers, func(a, b asker) int { return cmp.Compare(b.Requests, a.Requests) })
	slices.SortStableFunc(s.outcomes, func(a, b outcome) int {
		return cmp.Or(cmp.Compare(b.Credits, a.Credits), cmp.Compare(b.Times, a.Times))
	})
}
