package themes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// value is a role's look on one profile: a colour and attributes. As text it is the colour followed by attributes,
// "#56b4e9", "74 bold", "cyan bold", "default faint". The names of the terminal's own colours are taken on every profile:
// a theme may leave all colours to the terminal.
type value struct {
	set                  bool
	colour               string // SGR parameters of the colour; empty: the terminal's text colour
	own                  string // name of the colour when it is one of the terminal's own 16, which look as the user chose
	rgb                  [3]uint8
	bold, faint, reverse bool
}

// prefix is the SGR sequence of v, empty for the terminal's own colour; bold is added when strong, and faint then left
// out because the two exclude each other on most terminals.
func (v value) prefix(strong bool) string {
	var params []string
	if v.bold || strong {
		params = append(params, "1")
	}
	if v.faint && !strong {
		params = append(params, "2")
	}
	if v.reverse {
		params = append(params, "7")
	}
	if v.colour != "" {
		params = append(params, v.colour)
	}
	if len(params) == 0 {
		return ""
	}
	return "\x1b[" + strings.Join(params, ";") + "m"
}

// attributes reads what follows the colour.
func (v *value) attributes(words []string) error {
	for _, w := range words {
		switch w {
		case "bold":
			v.bold = true
		case "faint":
			v.faint = true
		case "reverse":
			v.reverse = true
		default:
			return fmt.Errorf("unknown attribute %q: use bold, faint or reverse", w)
		}
	}
	v.set = true
	return nil
}

func split(text []byte) (colour string, attributes []string) {
	words := strings.Fields(string(text))
	if len(words) == 0 {
		return "", nil
	}
	return words[0], words[1:]
}

// read reads a value: default, one of the terminal's own colours, or what the profile's own notation says.
func (v *value) read(text []byte, want string, notation func(colour string) bool) error {
	c, rest := split(text)
	if c != "default" && !v.name(c) && !notation(c) {
		return fmt.Errorf("bad colour %q: use %s", c, want)
	}
	return v.attributes(rest)
}

// trueColor is a value written #rrggbb.
type trueColor struct{ value }

// UnmarshalText implements encoding.TextUnmarshaler.
func (v *trueColor) UnmarshalText(text []byte) error {
	return v.read(text, "#rrggbb, a name like green or bright-green, or default", func(c string) bool {
		n, err := strconv.ParseUint(strings.TrimPrefix(c, "#"), 16, 32)
		if err != nil || len(c) != 7 || c[0] != '#' {
			return false
		}
		v.rgb = [3]uint8{uint8(n >> 16), uint8(n >> 8), uint8(n)}
		v.colour = fmt.Sprintf("38;2;%d;%d;%d", v.rgb[0], v.rgb[1], v.rgb[2])
		return true
	})
}

// indexed is a value of the xterm palette, written 0 to 255.
type indexed struct{ value }

// UnmarshalText implements encoding.TextUnmarshaler.
func (v *indexed) UnmarshalText(text []byte) error {
	return v.read(text, "0 to 255, a name like green or bright-green, or default", func(c string) bool {
		n, err := strconv.ParseUint(c, 10, 8)
		if err != nil {
			return false
		}
		v.rgb = xterm(uint8(n))
		v.colour = fmt.Sprintf("38;5;%d", n)
		return true
	})
}

// named is one of the terminal's own 16 colours, written by name.
type named struct{ value }

// UnmarshalText implements encoding.TextUnmarshaler.
func (v *named) UnmarshalText(text []byte) error {
	want := strings.Join(names16[:], ", ") + ", bright- before one of them, or default"
	return v.read(text, want, func(string) bool { return false })
}

var names16 = [8]string{"black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"}

// name takes one of the terminal's own colours by its name.
func (v *value) name(c string) bool {
	base, name := 30, c
	if n, bright := strings.CutPrefix(c, "bright-"); bright {
		base, name = 90, n
	}
	i := slices.Index(names16[:], name)
	if i < 0 {
		return false
	}
	v.colour, v.own = strconv.Itoa(base+i), c
	return true
}

// xterm is the colour of an index of the xterm palette; the first 16 are the terminal's own and unknown here, so they
// read as black.
func xterm(n uint8) [3]uint8 {
	switch {
	case n < 16:
		return [3]uint8{}
	case n >= 232:
		g := 8 + 10*(n-232)
		return [3]uint8{g, g, g}
	}
	level := func(i uint8) uint8 {
		if i == 0 {
			return 0
		}
		return 55 + 40*i
	}
	n -= 16
	return [3]uint8{level(n / 36), level(n / 6 % 6), level(n % 6)}
}
