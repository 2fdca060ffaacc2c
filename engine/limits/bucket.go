package limits

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// bucket is one counter that a response speaks of.
type bucket struct {
	generation string // the spelling it came in: two generations of names often tell the same limit twice
	name       string // of the policy, when it has one
	alone      bool   // the only counter of its generation, so it may stand for the same limit as another generation's

	limit     Opt[int64]
	remaining Opt[int64]
	reset     Opt[span]
	window    Opt[time.Duration]
	unit      string // empty: requests
	slots     bool   // counts simultaneous work
}

func (b bucket) exhausted() bool { return b.remaining.OK && b.remaining.V == 0 }

// buckets collects every counter of a response, in a fixed order.
func buckets(f fields, p Profile, now time.Time, note func(string, ...any)) []bucket {
	policies := readPolicies(f["ratelimit-policy"], note)
	all := readStructured(f["ratelimit"], policies, note)
	all = append(all, readScalars(f, policies, p, now, note)...)
	all = append(all, readPairs(f, note)...)
	if len(all) == 0 {
		for _, q := range policies {
			all = append(all, bucket{generation: "policy"}.under(q))
		}
	}
	if p.MaxReset > 0 {
		for i, b := range all {
			if b.reset.OK && b.reset.V.d > p.MaxReset {
				note("a reset in %s is clamped to %s", b.reset.V.d, p.MaxReset)
				all[i].reset = Some(span{d: p.MaxReset})
			}
		}
	}
	size := map[string]int{}
	for _, b := range all {
		size[b.generation]++
	}
	for i := range all {
		b := &all[i]
		b.alone = size[b.generation] == 1
		if b.unit == "" && b.limit.OK && b.remaining.OK && b.remaining.V > b.limit.V {
			note("%d left of %d: read as all of them", b.remaining.V, b.limit.V)
			b.remaining = b.limit
		}
	}
	return all
}

// binding picks the counter that decides, and fills what it does not say from another generation of the same limit.
func binding(all []bucket) (bucket, bool) {
	if len(all) == 0 {
		return bucket{}, false
	}
	b := slices.MinFunc(all, tighter)
	for _, o := range all {
		if !b.alone || !o.alone || b.slots != o.slots || b.unit != o.unit {
			continue
		}
		if !b.limit.OK && o.limit.OK && (!b.remaining.OK || o.limit.V >= b.remaining.V) {
			b.limit = o.limit
		}
		if !b.reset.OK {
			b.reset = o.reset
		}
		if !b.window.OK {
			b.window = o.window
		}
	}
	return b, true
}

// tighter orders buckets, the one that binds first: exhausted before roomy, among exhausted the latest reset, among
// roomy the one that counts requests with least left.
func tighter(a, b bucket) int {
	if a.exhausted() != b.exhausted() {
		return before(a.exhausted())
	}
	if !a.exhausted() {
		if a.remaining.OK != b.remaining.OK {
			return before(a.remaining.OK)
		}
		if (a.unit == "") != (b.unit == "") {
			return before(a.unit == "")
		}
		if c := cmp.Compare(a.remaining.V, b.remaining.V); c != 0 {
			return c
		}
	}
	if a.reset.OK != b.reset.OK {
		return before(a.reset.OK)
	}
	return cmp.Compare(b.reset.V.d, a.reset.V.d)
}

func before(first bool) int {
	if first {
		return -1
	}
	return 1
}

// policy is one quota of RateLimit-Policy, or of RateLimit-Limit in the early drafts.
type policy struct {
	name   string
	quota  int64
	window Opt[time.Duration]
	unit   string
	slots  bool
}

// under is the bucket with its policy's numbers.
func (b bucket) under(q policy) bucket {
	if !b.limit.OK {
		b.limit = Some(q.quota)
	}
	if b.name == "" {
		b.name = q.name
	}
	b.window, b.unit, b.slots = q.window, q.unit, b.slots || q.slots
	return b
}

// governed attaches the policy a bucket without a matching name is under: the only one, or the first with its quota.
func (b bucket) governed(policies []policy) bucket {
	for _, q := range policies {
		if b.limit.OK && b.limit.V == q.quota {
			return b.under(q)
		}
	}
	if len(policies) == 1 && !b.limit.OK {
		return b.under(policies[0])
	}
	return b
}

// readScalars reads the families of one-number fields.
func readScalars(f fields, policies []policy, p Profile, now time.Time, note func(string, ...any)) []bucket {
	type key struct{ generation, name string }
	family := map[key]*scalars{}
	for _, name := range slices.Sorted(maps.Keys(f)) {
		part, ok := classify(name)
		if !ok {
			continue
		}
		k := key{part.generation, part.name}
		if family[k] == nil {
			family[k] = &scalars{}
		}
		family[k].read(part, name, f[name], p, now, note)
	}
	keys := slices.SortedFunc(maps.Keys(family), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.generation, b.generation), cmp.Compare(a.name, b.name))
	})
	var all []bucket
	for _, k := range keys {
		b, ok := family[k].bucket()
		if !ok {
			continue
		}
		b.generation, b.name = k.generation, k.name
		b.unit = unitOf(k.name)
		b.slots = strings.Contains(k.generation+k.name, "concurren") || p.FreeSlots && k.generation == "x-ratelimit" && k.name == ""
		inline := family[k].policies
		if k.generation == "ratelimit" && k.name == "" {
			inline = append(inline, policies...)
		}
		unit := b.unit
		b = b.governed(inline)
		b.unit = cmp.Or(b.unit, unit)
		b.window = orElse(orElse(family[k].window, b.window), windowOf(k.name))
		all = append(all, b)
	}
	return all
}

func orElse[T any](a, b Opt[T]) Opt[T] {
	if a.OK {
		return a
	}
	return b
}

// unitOf tells counters of something else than requests by their name.
func unitOf(name string) string {
	for _, unit := range []string{"tokens", "token", "bytes"} {
		if strings.Contains(name, unit) {
			return strings.TrimSuffix(unit, "s") + "s"
		}
	}
	return ""
}

// windowOf tells a window by a bucket's name, as in X-RateLimit-Limit-Minute.
func windowOf(name string) Opt[time.Duration] {
	last := name[strings.LastIndexByte(name, '-')+1:]
	switch strings.TrimSuffix(last, "s") {
	case "second":
		return Some(time.Second)
	case "minute":
		return Some(time.Minute)
	case "hour":
		return Some(time.Hour)
	case "day":
		return Some(day)
	case "month":
		return Some(30 * day)
	}
	return Opt[time.Duration]{}
}
