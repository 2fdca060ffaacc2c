package screen

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// The grid of a picture. DejaVu Sans Mono advances 0.602 em and is 1.164 em high from ascent to descent: with these
// numbers box lines and block glyphs of neighbouring cells touch without a gap. textLength pins every run to the grid
// when another monospace font stands in.
const (
	svgFont   = 15.0
	svgCell   = 9.03
	svgLine   = 17.46
	svgBase   = 13.92 // ascent: where the baseline is within a line
	svgMargin = 12.0
)

// paper is a terminal's own colours.
type paper struct{ back, fore string }

var (
	darkPaper  = paper{back: "#14181f", fore: "#d8dee6"}
	lightPaper = paper{back: "#ffffff", fore: "#1f2328"}
)

// pen is the SGR state of a cell. The zero pen is the terminal's default; colours are "#rrggbb", empty for default.
type pen struct {
	fg, bg                               string
	bold, faint, italic, under, rev, hid bool
}

// SVG draws lines, as a screen returns them (text and SGR sequences only), as a picture of w by h cells on a dark
// background, or on a light one. Lines beyond h and cells beyond w are cut; other escape sequences are dropped.
func SVG(lines []string, w, h int, light bool) string {
	sheet := darkPaper
	if light {
		sheet = lightPaper
	}
	w, h = max(w, 1), max(h, 1)
	var b strings.Builder
	width, height := float64(w)*svgCell+2*svgMargin, float64(h)*svgLine+2*svgMargin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%s" height="%s" viewBox="0 0 %s %s">`+"\n",
		num(width), num(height), num(width), num(height))
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="6" fill="%s"/>`+"\n", sheet.back)
	fmt.Fprintf(&b, `<g font-family="'DejaVu Sans Mono',monospace" font-size="%s" fill="%s" xml:space="preserve">`+"\n",
		num(svgFont), sheet.fore)
	for y, line := range lines {
		if y == h {
			break
		}
		svgRow(&b, sheet, line, y, w)
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}

// svgRow writes one line as runs of equal style.
func svgRow(b *strings.Builder, sheet paper, line string, y, w int) {
	var (
		p, run pen
		text   strings.Builder
		x, at  int
	)
	flush := func() {
		if x > at {
			svgRun(b, sheet, run, text.String(), at, x-at, y)
		}
		text.Reset()
		at = x
	}
	state := byte(0)
	for line != "" && x < w {
		seq, width, n, next := ansi.DecodeSequence(line, state, nil)
		state, line = next, line[n:]
		if width == 0 {
			if params, ok := sgr(seq); ok {
				p = p.apply(params)
			} else if len(seq) > 0 && seq[0] >= 0x20 && seq[0] != 0x7f {
				text.WriteString(seq)
			}
			continue
		}
		if x+width > w {
			break
		}
		if p != run {
			flush()
			run = p
		}
		text.WriteString(seq)
		x += width
		// Wide clusters stand alone, so that the run after them starts on its own cell.
		if width > 1 {
			flush()
		}
	}
	flush()
}

func svgRun(b *strings.Builder, sheet paper, p pen, text string, x, cells, y int) {
	fg, bg := p.fg, p.bg
	if p.rev {
		if fg == "" {
			fg = sheet.fore
		}
		if bg == "" {
			bg = sheet.back
		}
		fg, bg = bg, fg
	}
	left, top, wide := svgMargin+float64(x)*svgCell, svgMargin+float64(y)*svgLine, float64(cells)*svgCell
	if bg != "" {
		fmt.Fprintf(b, `<rect x="%s" y="%s" width="%s" height="%s" fill="%s"/>`+"\n",
			num(left), num(top), num(wide), num(svgLine), bg)
	}
	if p.hid || strings.Trim(text, " ") == "" && !p.under {
		return
	}
	fmt.Fprintf(b, `<text x="%s" y="%s" textLength="%s"`, num(left), num(top+svgBase), num(wide))
	if fg != "" {
		fmt.Fprintf(b, ` fill="%s"`, fg)
	}
	if p.bold {
		b.WriteString(` font-weight="bold"`)
	}
	if p.italic {
		b.WriteString(` font-style="italic"`)
	}
	if p.under {
		b.WriteString(` text-decoration="underline"`)
	}
	if p.faint {
		b.WriteString(` opacity="0.65"`)
	}
	// A no-break space keeps its width in every renderer; plain runs of spaces collapse in some.
	b.WriteString(">" + svgText.Replace(strings.Map(inXML, text)) + "</text>\n")
}

var svgText = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", " ", "\u00a0")

// inXML keeps what an XML document may hold.
func inXML(r rune) rune {
	if r < 0x20 || 0xd800 <= r && r <= 0xdfff || r == 0xfffe || r == 0xffff {
		return unicode.ReplacementChar
	}
	return r
}

func num(f float64) string { return strconv.FormatFloat(f, 'f', -1, 32) }

// sgr returns the parameters of an SGR sequence; false for anything else.
func sgr(seq string) ([]int, bool) {
	body, ok := strings.CutPrefix(seq, "\x1b[")
	if !ok || !strings.HasSuffix(body, "m") {
		return nil, false
	}
	var out []int
	for f := range strings.FieldsFuncSeq(strings.TrimSuffix(body, "m")+";", func(r rune) bool { return r == ':' || r == ';' }) {
		n, err := strconv.Atoi(f)
		if err != nil {
			return nil, false
		}
		out = append(out, n)
	}
	if len(out) == 0 {
		out = []int{0}
	}
	return out, true
}

// apply returns the pen after the parameters of one SGR sequence.
func (p pen) apply(params []int) pen {
	for i := 0; i < len(params); i++ {
		switch n := params[i]; {
		case n == 0:
			p = pen{}
		case n == 1:
			p.bold = true
		case n == 2:
			p.faint = true
		case n == 3:
			p.italic = true
		case n == 4:
			p.under = true
		case n == 7:
			p.rev = true
		case n == 8:
			p.hid = true
		case n == 22:
			p.bold, p.faint = false, false
		case n == 23:
			p.italic = false
		case n == 24:
			p.under = false
		case n == 27:
			p.rev = false
		case n == 28:
			p.hid = false
		case n == 38 || n == 48:
			c, used := extended(params[i+1:])
			i += used
			if n == 38 {
				p.fg = c
			} else {
				p.bg = c
			}
		case n == 39:
			p.fg = ""
		case n == 49:
			p.bg = ""
		case 30 <= n && n <= 37:
			p.fg = indexed(n - 30)
		case 40 <= n && n <= 47:
			p.bg = indexed(n - 40)
		case 90 <= n && n <= 97:
			p.fg = indexed(n - 90 + 8)
		case 100 <= n && n <= 107:
			p.bg = indexed(n - 100 + 8)
		}
	}
	return p
}

// extended reads the colour after 38 or 48 and says how many parameters it took.
func extended(params []int) (string, int) {
	switch {
	case len(params) >= 2 && params[0] == 5:
		return indexed(params[1]), 2
	case len(params) >= 4 && params[0] == 2:
		return rgb(params[1], params[2], params[3]), 4
	}
	return "", len(params)
}

// basic are the sixteen named colours, as a dark terminal commonly shows them.
var basic = [16]string{
	"#2b303b", "#e06c75", "#7ad3a8", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#c8ccd4",
	"#5c6370", "#ff7a85", "#98e6c0", "#f5d08b", "#7cc0ff", "#d89af0", "#70d0dd", "#ffffff",
}

// indexed is a colour of the 256-colour palette; one outside it is the default.
func indexed(n int) string {
	switch {
	case n < 0 || n > 255:
		return ""
	case n < 16:
		return basic[n]
	case n < 232:
		n -= 16
		step := func(v int) int {
			if v == 0 {
				return 0
			}
			return 55 + 40*v
		}
		return rgb(step(n/36), step(n/6%6), step(n%6))
	}
	return rgb(8+10*(n-232), 8+10*(n-232), 8+10*(n-232))
}

func rgb(r, g, b int) string {
	return fmt.Sprintf("#%02x%02x%02x", min(max(r, 0), 255), min(max(g, 0), 255), min(max(b, 0), 255))
}
