package widget

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"dev.scrapetop/themes"
)

// Dialog is a question in a box over the screen.
type Dialog struct {
	Title   string
	Lines   []string // printable text; wrapped at words
	Brief   []string // said instead of Lines where there is no room for them; none: Lines are cut
	Buttons []string // the safe one first
	Focus   int      // index of the button that Enter presses
	Hint    string   // after the buttons or below them: "Esc: keep waiting"
}

// Draw returns the dialog as lines of exactly width cells, as many as it needs and at most height; one of under 12 cells is
// nil. Buttons stand side by side where they fit, else one below the other. The one in focus is bold and marked by the
// cursor's glyph. What there is no room for goes in this order: Lines for Brief, the blank line, the text's end, the hint;
// the buttons go last.
func (d Dialog) Draw(look *Look, width, height int) []string {
	inner := Inner(width)
	if inner < 8 {
		return nil
	}
	buttons := d.buttons(look, inner)
	room := max(height-2-len(buttons), 0)
	text := Wrap(d.Lines, inner)
	if len(text)+1 > room && len(d.Brief) > 0 {
		text = Wrap(d.Brief, inner)
	}
	body := make([]string, 0, len(text)+1+len(buttons))
	for _, line := range text[:min(len(text), room)] {
		body = append(body, look.Text(themes.Text, line, inner))
	}
	if len(body) < room {
		body = append(body, spaces(inner))
	}
	body = append(body, buttons...)
	return Pane{Title: d.Title, Focused: true}.Draw(look, width, min(len(body)+2, max(height, 0)), body)
}

// Wrap breaks texts between words into lines of at most inner cells.
func Wrap(texts []string, inner int) []string {
	var lines []string
	for _, text := range texts {
		lines = slices.AppendSeq(lines, strings.SplitSeq(ansi.Wrap(text, inner, ""), "\n"))
	}
	return lines
}

// buttons are the lines of the buttons and the hint. In a narrow box the buttons stand closer.
func (d Dialog) buttons(look *Look, inner int) []string {
	between, after := 2, 2
	need := -between
	for _, b := range d.Buttons {
		need += Width(b) + 6 + between
	}
	if need > inner {
		need -= 2*len(d.Buttons) + len(d.Buttons) - 1
		between, after = 1, 0
	}
	if len(d.Buttons) > 0 && need <= inner {
		l := look.Line(inner).Gap((inner - need) / 2)
		for i, b := range d.Buttons {
			if i > 0 {
				l.Gap(between)
			}
			d.button(l, i, b)
			l.Gap(after)
		}
		if d.Hint != "" && l.Room() >= Width(d.Hint)+between {
			return []string{l.Right(themes.Dim, d.Hint).String()}
		}
		return d.hint(look, inner, []string{l.String()})
	}
	var out []string
	for i, b := range d.Buttons {
		l := look.Line(inner)
		d.button(l, i, b)
		out = append(out, l.String())
	}
	return d.hint(look, inner, out)
}

func (d Dialog) hint(look *Look, inner int, lines []string) []string {
	if d.Hint == "" {
		return lines
	}
	return append(lines, look.Line(inner).Fit(themes.Dim, d.Hint, inner, Centre).String())
}

func (d Dialog) button(l *Line, i int, text string) {
	if i == d.Focus {
		l.Strong(true).Repeat(themes.Focus, l.look.Glyphs.Cursor, 1).Gap(1).Text(themes.Focus, "["+text+"]").Strong(false)
		return
	}
	l.Gap(2).Text(themes.Text, "["+text+"]")
}

// Overlay lays a box over a drawn screen with its top left corner at column x and line y; what lies outside the screen is
// left out. All lines of base are width cells wide and stay so. Base is not changed.
func Overlay(base, box []string, x, y, width int) []string {
	out := append([]string(nil), base...)
	for i, line := range box {
		if y+i < 0 || y+i >= len(out) {
			continue
		}
		out[y+i] = over(out[y+i], line, x, width)
	}
	return out
}

// over replaces the cells of base from x on by line. A wide character that would be halved becomes spaces.
func over(base, line string, x, width int) string {
	cells := Width(line)
	if x < 0 {
		line = after(line, -x, cells)
		cells, x = max(cells+x, 0), 0
	}
	if x >= width || cells == 0 {
		return base
	}
	if cells > width-x {
		cells = width - x
		line = Fit(ansi.Truncate(line, cells, ""), cells, Left)
	}
	left := ansi.Truncate(base, x, "")
	left += spaces(x - Width(left))
	return left + line + after(base, x+cells, width)
}

// after returns what stands after the first n cells of s, which has cells in all; half of a wide character is a space.
func after(s string, n, cells int) string {
	rest := ansi.TruncateLeft(s, n, "")
	if Width(rest) > cells-n {
		rest = ansi.TruncateLeft(s, n+1, "")
	}
	return spaces(cells-n-Width(rest)) + rest
}

// Middle is where a thing of size cells begins to stand in the middle of a whole.
func Middle(whole, size int) int { return max((whole-size)/2, 0) }

// Toast is one line of news with what to press at its right; the hint gives way when there is no room for both.
func Toast(look *Look, width int, role themes.Role, text, hint string) string {
	l := look.Line(width).Gap(1)
	if role == themes.Bad || role == themes.Warn {
		l.Repeat(role, look.Glyphs.Look, 1).Gap(1)
	}
	if room := l.Room() - Width(hint) - 3; hint != "" && Width(text) <= room {
		return l.Text(role, text).Gap(3).Text(themes.Dim, hint).String()
	}
	return l.Text(role, text).String()
}

// Undo is the toast of an act that can be taken back, with the seconds that are left as a number and as a bar.
func Undo(look *Look, width int, text, key string, left, of int) string {
	bar := 10
	if width < 80 {
		bar = 0
	}
	note := key + ": undo, " + Thousands(int64(max(left, 0))) + " s left"
	l := look.Line(width).Gap(1)
	room := l.Room() - Width(note) - 3
	if bar > 0 {
		room -= bar + 1
	}
	l.Text(themes.Text, look.cutTo(text, max(room, 0))).Gap(3).Text(themes.Focus, note)
	if bar > 0 {
		l.Gap(1).Gauge(themes.Focus, left, of, 0, bar)
	}
	return l.String()
}
