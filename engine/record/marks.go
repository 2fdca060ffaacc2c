package record

import "bytes"

// mark is one text that tells of a bot defence.
type mark struct {
	text []byte
	bit  uint64
}

// marked finds all marks in one pass: a bitmap of their first two bytes rules out nearly every position.
var marked struct {
	pairs [1 << 16 / 64]uint64
	by    map[uint16][]mark
	count int
}

// marks registers texts and returns their bits. There is room for 64.
func marks(list ...string) (all uint64) {
	if marked.by == nil {
		marked.by = map[uint16][]mark{}
	}
	for _, text := range list {
		if marked.count == 64 {
			panic("record: more than 64 marks")
		}
		m := mark{text: []byte(text), bit: 1 << marked.count}
		marked.count++
		pair := uint16(text[0])<<8 | uint16(text[1])
		marked.pairs[pair/64] |= 1 << (pair % 64)
		marked.by[pair] = append(marked.by[pair], m)
		all |= m.bit
	}
	return all
}

// scan returns the bits of the marks that stand in body.
func scan(body []byte) (seen uint64) {
	for i := 0; i+1 < len(body); i++ {
		pair := uint16(body[i])<<8 | uint16(body[i+1])
		if marked.pairs[pair/64]&(1<<(pair%64)) == 0 {
			continue
		}
		for _, m := range marked.by[pair] {
			if seen&m.bit == 0 && bytes.HasPrefix(body[i:], m.text) {
				seen |= m.bit
			}
		}
	}
	return seen
}
