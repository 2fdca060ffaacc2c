package widget

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/uax29/v2/graphemes"
)

const (
	// maxMarks is how many combining marks one character keeps: more is a way to paint over the neighbours, not writing.
	maxMarks = 4
	// bytesPerCell bounds the work and the memory a cell can cost: a family of four is 25 bytes on two cells.
	bytesPerCell = 32
)

// Clean is the gate for foreign text: it makes s one printable line of at most width cells. Everything that strangers
// wrote goes through it once, where it enters the data of the screens; the window's title, the clipboard, notifications
// and the plain mode take its result too.
//
// Escape sequences, unfinished ones too, are removed; tab and line ends become a space; other control characters (C0,
// DEL, C1 as a byte or as UTF-8) a visible dot; direction overrides, zero-width and other invisible format characters
// are removed, but a joiner between two emoji stays; invalid UTF-8 becomes U+FFFD. Marks that would combine with what
// stands before the text are removed. A text that is too long is cut at a grapheme cluster with "…".
//
// The result holds no byte under 0x20, no 0x7f and no C1, and Clean of it changes nothing.
func Clean(s string, width int) string {
	if width <= 0 {
		return ""
	}
	if printable(s) {
		if len(s) <= width {
			return s
		}
		return s[:width-1] + "…"
	}
	g := gate{limit: bytesPerCell * (width + 1)}
	g.b.Grow(min(len(s), g.limit))
	g.read(s)
	return g.result(width)
}

// gate collects the cleaned text.
type gate struct {
	b      strings.Builder
	limit  int  // bytes after which the rest cannot matter
	over   bool // something was left out at the limit
	last   rune // last rune written; zero at the start
	marks  int  // combining marks written since the last base
	joiner bool // a joiner waits for the emoji after it
}

func (g *gate) read(s string) {
	for i := 0; i < len(s); {
		if g.b.Len() >= g.limit {
			g.over = true
			return
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			if s[i] >= 0x80 && s[i] <= 0x9f {
				r = '·'
			}
			g.write(r)
		case r == 0x1b:
			i += escape(s[i:])
			continue
		case r == '\r' && strings.HasPrefix(s[i:], "\r\n"):
			// one line end, one space
		case r == '\t', r == '\n', r == '\r', r == '\u2028', r == '\u2029':
			g.write(' ')
		case r < 0x20, r >= 0x7f && r < 0xa0:
			g.write('·')
		case r == '\u200d':
			g.joiner = emoji(g.last)
		case invisible(r):
		case combining(r):
			g.mark(r)
		default:
			g.write(r)
		}
		i += size
	}
}

// mark writes a combining mark, unless nothing of ours stands before it or there are too many.
func (g *gate) mark(r rune) {
	selector := r >= '\ufe00' && r <= '\ufe0f' // changes the width of what it follows
	if g.last == 0 || g.marks >= maxMarks || selector && !emoji(g.last) {
		return
	}
	g.joiner = false
	g.marks++
	g.b.WriteRune(r)
	if !selector { // an emoji with its selector is still an emoji
		g.last = r
	}
}

func (g *gate) write(r rune) {
	if g.joiner && emoji(r) {
		g.b.WriteRune('\u200d')
	}
	g.joiner, g.marks, g.last = false, 0, r
	g.b.WriteRune(r)
}

// result cuts what was collected to width cells and keeps its ends from joining with what stands around it.
func (g *gate) result(width int) string {
	s := g.b.String()
	if g.over {
		s = clip(s, g.limit-len("…"))
	}
	s = seal(s)
	cells := ansi.StringWidth(s)
	if !g.over && cells <= width {
		return s
	}
	s, _ = clusters(s, width-1)
	return seal(s) + "…"
}

// clip returns the whole runes of the first n bytes of s, without a joiner that has lost its second half.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return strings.TrimRight(s[:n], "\u200d")
}

// seal takes characters off the ends of s that would form one cluster with a neighbour and so change its width.
func seal(s string) string {
	for s != "" && ansi.StringWidth("x"+s+"x") != 2+ansi.StringWidth(s) {
		if ansi.StringWidth("x"+s) != 1+ansi.StringWidth(s) {
			_, n := utf8.DecodeRuneInString(s)
			s = s[n:]
			continue
		}
		_, n := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-n]
	}
	return s
}

// escape is the length of the escape sequence at the start of s, as ECMA-48 section 5.3 and 5.4 delimit them. One that
// breaks off ends before the byte that does not belong to it; a string (OSC, DCS, SOS, PM, APC) without an end reaches
// to the end of the line.
func escape(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
		i := 2
		for i < len(s) && s[i] >= 0x20 && s[i] <= 0x3f {
			i++
		}
		if i < len(s) && s[i] >= 0x40 && s[i] <= 0x7e {
			i++
		}
		return i
	case ']', 'P', 'X', '^', '_':
		for i := 2; i < len(s); i++ {
			switch s[i] {
			case 0x07, 0x18, 0x1a:
				return i + 1
			case 0x1b:
				if i+1 < len(s) && s[i+1] == '\\' {
					return i + 2
				}
				return i
			case 0xc2: // the string terminator as UTF-8
				if i+1 < len(s) && s[i+1] == 0x9c {
					return i + 2
				}
			case '\n', '\r':
				return i
			}
		}
		return len(s)
	}
	i := 1
	for i < len(s) && s[i] >= 0x20 && s[i] <= 0x2f {
		i++
	}
	if i < len(s) && s[i] >= 0x30 && s[i] <= 0x7e {
		i++
	}
	return i
}

// invisible tells format characters, which show nothing and change how the rest is shown: bidi controls, zero-width
// characters, tags, the byte order mark, the soft hyphen.
func invisible(r rune) bool {
	return r >= 0xad && (unicode.Is(unicode.Cf, r) || r == '\u034f' || r == '\u115f' || r == '\u1160' || r == '\u3164' ||
		r == '\uffa0' || r >= 0xe0000 && r <= 0xe0fff)
}

// combining tells characters that are drawn over the one before them.
func combining(r rune) bool {
	return r >= 0x300 && (unicode.In(r, unicode.Mn, unicode.Me) || r >= 0x1f3fb && r <= 0x1f3ff)
}

// emoji tells the blocks whose characters are joined to pictures; arrows, hearts and signs among them.
func emoji(r rune) bool {
	return r >= 0x1f000 && r <= 0x1faff || r >= 0x2600 && r <= 0x27bf || r >= 0x2190 && r <= 0x23ff || r >= 0x2b00 && r <= 0x2bff
}

// plainSigns are what our own signs become where only ASCII may be written.
var plainSigns = map[rune]byte{
	'…': '~', '·': '.', '±': '+', '↑': '^', '↓': 'v', '←': '<', '→': '>', '×': 'x', '‖': '=', '–': '-', '—': '-',
	'“': '"', '”': '"', '‘': '\'', '’': '\'', '\u00a0': ' ',
}

// ASCII returns a drawn line with nothing in it but ASCII and colour codes, in the same cells: our own signs by their
// counterparts, anything else by one "?" a cell. It is the last step of the ASCII mode, since foreign text passes the
// gate in its own script.
func ASCII(line string) string {
	if isASCII(line) {
		return line
	}
	var b strings.Builder
	b.Grow(len(line))
	for rest := line; rest != ""; {
		text := rest
		if i := strings.IndexByte(rest, 0x1b); i >= 0 {
			text = rest[:i]
		}
		for it := graphemes.FromString(text); it.Next(); {
			plain(&b, it.Value())
		}
		rest = rest[len(text):]
		if rest != "" {
			n := escape(rest)
			b.WriteString(rest[:n])
			rest = rest[n:]
		}
	}
	return b.String()
}

// plain writes one character in ASCII, in the cells it takes.
func plain(b *strings.Builder, cluster string) {
	if isASCII(cluster) {
		b.WriteString(cluster)
		return
	}
	if r, size := utf8.DecodeRuneInString(cluster); size == len(cluster) {
		if sign, ok := plainSigns[r]; ok {
			b.WriteByte(sign)
			return
		}
	}
	for range ansi.StringWidth(cluster) {
		b.WriteByte('?')
	}
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
