package widget

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/uax29/v2/graphemes"
)

// Align is the side a text keeps to in its cells.
type Align uint8

// Text stands left, numbers right, buttons in the middle.
const (
	Left Align = iota
	Right
	Centre
)

// Width is the number of cells s takes on a terminal; colour codes take none. It is the one measure of the program.
func Width(s string) int {
	if cells, ok := quickWidth(s); ok {
		return cells
	}
	return ansi.StringWidth(s)
}

// quickWidth measures what most lines are made of: printable ASCII, colour codes, and our own signs, each of one cell. It
// gives up on anything else.
func quickWidth(s string) (int, bool) {
	cells := 0
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c >= 0x20 && c <= 0x7e:
			cells++
			i++
		case c == 0x1b:
			end := i + 2
			for end < len(s) && (s[end] >= '0' && s[end] <= '9' || s[end] == ';') {
				end++
			}
			if end >= len(s) || s[i+1] != '[' || s[end] != 'm' {
				return 0, false
			}
			i = end + 1
		case c >= 0x80:
			r, size := utf8.DecodeRuneInString(s[i:])
			if (r < 0x2500 || r > 0x25fc) && r != '·' && r != '…' && r != '‖' && r != '×' && r != '✓' {
				return 0, false
			}
			cells++ // lines, blocks, circles, triangles
			i += size
		default:
			return 0, false
		}
	}
	return cells, true
}

// Fit returns s in exactly width cells: cut at a grapheme cluster with "…", or filled with spaces on the side away from
// align. Colour codes in s stay whole. A width below one gives the empty string.
func Fit(s string, width int, align Align) string {
	s, cells := cut(s, width, "…")
	if cells >= width {
		return s
	}
	gap := width - cells
	switch align {
	case Right:
		return spaces(gap) + s
	case Centre:
		return spaces(gap/2) + s + spaces(gap-gap/2)
	}
	return s + spaces(gap)
}

// Truncate returns s in at most width cells, cut as Fit does.
func Truncate(s string, width int) string {
	s, _ = cut(s, width, "…")
	return s
}

// cut returns s in at most width cells, with mark (one cell) at its end if something was left out, and its cells.
func cut(s string, width int, mark string) (string, int) {
	if width <= 0 {
		return "", 0
	}
	if printable(s) {
		if len(s) <= width {
			return s, len(s)
		}
		return s[:width-1] + mark, width
	}
	cells := Width(s)
	if cells <= width {
		return s, cells
	}
	if strings.IndexByte(s, 0x1b) >= 0 {
		s = ansi.Truncate(s, width, mark)
		return s, ansi.StringWidth(s)
	}
	s, cells = clusters(s, width-1)
	return s + mark, cells + 1
}

// clusters returns as many whole grapheme clusters of s, which holds no colour codes, as fit into width cells.
func clusters(s string, width int) (string, int) {
	cells := 0
	for it := graphemes.FromString(s); it.Next(); {
		n := ansi.StringWidth(it.Value())
		if cells+n > width {
			return s[:it.Start()], cells
		}
		cells += n
	}
	return s, cells
}

// printable tells whether s is printable ASCII only, so that bytes are cells.
func printable(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i]-0x20 > 0x7e-0x20 {
			return false
		}
	}
	return true
}

const blank = "                                                                                                                                "

func spaces(n int) string {
	if n <= 0 {
		return ""
	}
	if n <= len(blank) {
		return blank[:n]
	}
	return strings.Repeat(" ", n)
}
