package widget

import "dev.scrapetop/themes"

// Look is how everything is drawn: the colours of a theme on this terminal and the set of glyphs. It is made when the
// theme is chosen, handed down by pointer and not changed while something draws with it.
type Look struct {
	Palette themes.Palette
	Glyphs  *Glyphs
}

// NewLook joins a palette with a set of glyphs.
func NewLook(palette themes.Palette, ascii bool) *Look {
	if ascii {
		return &Look{Palette: palette, Glyphs: &asciiGlyphs}
	}
	return &Look{Palette: palette, Glyphs: &unicodeGlyphs}
}

// Mono tells whether colour is absent, so that focus must be told by capitals.
func (k *Look) Mono() bool { return k.Palette.Profile == themes.NoColor }
