package record

import "bytes"

// mark is one text that tells of a bot defence.
type mark struct {
	text []byte
	bit  uint64
}

const (
	// shortest is the length of the shortest mark.
	shortest = 8
	slots    = 1 << 12
)

// marked finds all marks in one pass that leaps (Wu and Manber): what the last two bytes of a window are in the first
// bytes of any mark tells how far the window may move.
var marked struct {
	at    [slots]uint8  // the last place of two such bytes in the first bytes of a mark, as the index of the second; zero: none
	by    [slots][]mark // those whose first bytes end with them
	count int
}

// slot is where two neighbouring bytes are looked up.
func slot(a, b byte) int { return (int(a)<<5 ^ int(b)) % slots }

// marks registers texts and returns their bits. There is room for 64.
func marks(list ...string) (all uint64) {
	for _, text := range list {
		if marked.count == 64 || len(text) < shortest {
			panic("record: more than 64 marks, or too short a one: " + text)
		}
		m := mark{text: []byte(text), bit: 1 << marked.count}
		marked.count++
		for i := 1; i < shortest; i++ {
			s := slot(text[i-1], text[i])
			marked.at[s] = max(marked.at[s], uint8(i))
		}
		s := slot(text[shortest-2], text[shortest-1])
		marked.by[s] = append(marked.by[s], m)
		all |= m.bit
	}
	return all
}

// scan returns the bits of the marks that stand in body.
func scan(body []byte) (seen uint64) {
	for end := shortest - 1; end < len(body); {
		s := slot(body[end-1], body[end])
		if leap := shortest - 1 - int(marked.at[s]); leap > 0 {
			end += leap
			continue
		}
		window := body[end+1-shortest:]
		for _, m := range marked.by[s] {
			if seen&m.bit == 0 && bytes.HasPrefix(window, m.text) {
				seen |= m.bit
			}
		}
		end++
	}
	return seen
}
