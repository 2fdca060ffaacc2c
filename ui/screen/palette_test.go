package screen

import "strconv"

// samplePalette is a palette in which something was typed, with more lines than fit.
func samplePalette() *Palette {
	p := &Palette{Before: "pau", Behind: "e", Cursor: 1, Of: 58, Lines: []PaletteLine{
		{Command: "pause <domain>", Keys: "p", Help: "stop sending to it, what is in flight finishes"},
		{Command: "pause run", Keys: "P", Help: "pause or resume the whole run"},
		{Command: "undo", Keys: "u", Help: "undo the last act", Off: "nothing to undo"},
		{Command: "end cooldown", Keys: "c", Help: "end the cooldown", Asks: true},
		{Command: "theme colour-blind"},
	}}
	for i := range 30 {
		p.Lines = append(p.Lines, PaletteLine{Command: "pause site-" + strconv.Itoa(i) + ".example"})
	}
	return p
}
