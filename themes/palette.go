package themes

// Palette is a theme made ready for one kind of terminal: the bytes around a text of each role. It is a comparable
// value, so it may be part of a key that decides whether to draw again.
type Palette struct {
	Profile Profile
	plain   [roleCount]string
	strong  [roleCount]string
	suffix  string
}

// Prefix is written before a text of role r; empty with NoColor and for the terminal's own colour.
func (p *Palette) Prefix(r Role) string {
	if r >= roleCount {
		r = Text
	}
	return p.plain[r]
}

// Strong is the prefix of role r on the selected row and in headings: the same colour, bold; empty with NoColor.
func (p *Palette) Strong(r Role) string {
	if r >= roleCount {
		r = Text
	}
	return p.strong[r]
}

// Suffix ends what any prefix began; empty with NoColor. Segments stand side by side and never inside each other,
// because it resets everything.
func (p *Palette) Suffix() string { return p.suffix }

// Palette prepares the theme for a terminal of the given profile.
func (t Theme) Palette(profile Profile) Palette {
	p := Palette{Profile: profile}
	if profile == NoColor {
		return p
	}
	p.suffix = "\x1b[0m"
	for r := range t.roles {
		v := t.roles[r].value(profile)
		p.plain[r] = v.prefix(false)
		p.strong[r] = v.prefix(true)
	}
	return p
}
