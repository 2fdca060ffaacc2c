package budget

import "time"

// Left is how many more starts the budget's rate and its announced window allow now, and when that grows; a large number
// and no time where neither is known.
func (b *Budget) Left(now time.Time) (n int, at time.Time) {
	n = 1 << 30
	if s := b.starts; s != nil {
		n = s.rate.N
		for _, t := range s.at {
			if end := t.Add(s.rate.Per + s.rate.Per/slack); end.After(now) {
				n--
				if at.IsZero() || end.Before(at) {
					at = end
				}
			}
		}
	}
	if w := &b.quota; w.known && now.Before(w.reset) {
		if left := max(w.left(b.inFlight), 0); left < int64(n) {
			n, at = int(left), w.reset
		}
	}
	return n, at
}
