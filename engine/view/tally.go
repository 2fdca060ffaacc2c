package view

import "time"

// Answer is one answer of a call as the tally counts it: one Count for each task the call settled or put back, or one in
// all when it settled none.
type Answer struct {
	Domain  string        // empty: of no single domain
	Outcome string        // CONTRACT section 7
	Layer   string        // who refused; with outcome limited
	Latency time.Duration // of the exchange; zero or less: not counted among the latencies (a poll, a second task of a batch)
	Retry   bool          // the task goes back to the queue and will be tried again
}

// Tally counts answers and settled tasks between two deltas, so that a loop at thousands of answers a second hands over a
// few numbers instead. Counting is O(1) and allocates only when a domain is first touched. The zero Tally is empty and
// ready. It is not safe for concurrent use: one loop counts, then gives it away in a Delta.
type Tally struct {
	verdicts int64 // answers that decided something about a task: all but the hand-overs and polls that go on
	ok       int64
	retries  int64
	dead     int64
	accepted int64
	records  int64
	limited  [layers]int64
	faults   [faults]int64
	latency  histogram

	cells []cell
	index map[string]int32 // position in cells
}

// cell is one touched domain.
type cell struct {
	domain   string
	accepted int64
	dead     int64
	limited  [layers]int64
}

// Count counts one answer.
func (t *Tally) Count(a Answer) {
	if a.Latency > 0 {
		t.latency.add(a.Latency)
	}
	switch a.Outcome {
	case "accepted_remote", "still_running", "redirected":
		return
	case "accepted":
		t.ok++
	case "limited":
		t.refused(a.Domain, layerIndex(a.Layer))
	case "busy":
		t.refused(a.Domain, indexBusy)
	case "blocked":
		t.faults[faultBlocked]++
	case "failed":
		t.faults[faultFailed]++
	case "transport":
		t.faults[faultTransport]++
	case "invalid":
		t.faults[faultInvalid]++
	}
	t.verdicts++
	if a.Retry {
		t.retries++
	}
}

func (t *Tally) refused(domain string, layer int) {
	t.limited[layer]++
	if c := t.cell(domain); c != nil {
		c.limited[layer]++
	}
}

// Accept counts one task whose result was committed, with the records it brought.
func (t *Tally) Accept(domain string, records int) {
	t.accepted++
	t.records += int64(records)
	if c := t.cell(domain); c != nil {
		c.accepted++
	}
}

// Bury counts one task that was dead-lettered.
func (t *Tally) Bury(domain string) {
	t.dead++
	if c := t.cell(domain); c != nil {
		c.dead++
	}
}

// cell returns the domain's cell, valid until the next call; nil for no domain.
func (t *Tally) cell(domain string) *cell {
	if domain == "" {
		return nil
	}
	i, ok := t.index[domain]
	if !ok {
		if t.index == nil {
			t.index = make(map[string]int32)
		}
		i = int32(len(t.cells))
		t.index[domain] = i
		t.cells = append(t.cells, cell{domain: domain})
	}
	return &t.cells[i]
}

// clear empties the tally and keeps its memory.
func (t *Tally) clear() {
	clear(t.index)
	*t = Tally{cells: t.cells[:0], index: t.index}
}

// layerIndex is the row a layer's 429 is counted in.
func layerIndex(layer string) int {
	for i, name := range layerNames[:indexBusy] {
		if name == layer {
			return i
		}
	}
	return indexUnknown
}
