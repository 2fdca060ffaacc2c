package screen

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/uax29/v2/graphemes"

	"dev.scrapetop/storage"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// BodyLine is a line of a body as it is shown: where in the body it begins, and what it says, printable and at most as wide as was
// asked for.
type BodyLine struct {
	At   int64
	Text string
}

// bodyWindow is the most of a body that is read on either side of the line that is looked at.
const bodyWindow = 128 << 10

// bodyLines cuts a window of a body into lines. It is the gate for bodies: what is no text is shown as bytes. A line begins where
// the question looked, so that moving by a line shows the same lines again.
func bodyLines(p *storage.PageRow, ask Ask) []BodyLine {
	width := max(ask.Width, 1)
	if !p.Text {
		return byteLines(p.Body, p.From, width)
	}
	before, after := []byte(nil), p.Body
	if at := ask.Around - p.From; at > 0 && at < int64(len(p.Body)) {
		before, after = p.Body[:at], p.Body[at:]
	}
	from := p.From
	if from > 0 { // the rest of a line whose start was not read
		part := &after
		if len(before) > 0 {
			part = &before
		}
		if i := bytes.IndexByte(*part, '\n'); i >= 0 {
			*part, from = (*part)[i+1:], from+int64(i)+1
		}
	}
	lines := textLines(nil, before, from, width)
	if len(before) > 0 {
		from = ask.Around
	}
	return textLines(lines, after, from, width)
}

// textLines appends the lines of a text that begins at from.
func textLines(lines []BodyLine, body []byte, from int64, width int) []BodyLine {
	for len(body) > 0 {
		line, rest, _ := bytes.Cut(body, []byte("\n"))
		next := from + int64(len(body)-len(rest))
		line = bytes.TrimSuffix(line, []byte("\r"))
		if len(line) == 0 {
			lines = append(lines, BodyLine{At: from})
		}
		for len(line) > 0 {
			n := fits(line, width)
			lines = append(lines, BodyLine{from, widget.Clean(string(line[:n]), width)})
			line, from = line[n:], from+int64(n)
		}
		body, from = rest, next
	}
	return lines
}

// fits is how many bytes of a line fit into width cells; at least one character.
func fits(line []byte, width int) int {
	if len(line) <= width { // no byte takes more than a cell
		return len(line)
	}
	plain := 0
	for plain < width && line[plain] >= 0x20 && line[plain] < 0x7f {
		plain++
	}
	if plain == width && line[width] < 0x80 { // a mark may stand behind
		return width
	}
	cells := 0
	for it := graphemes.FromBytes(line); it.Next(); {
		if cells += widget.Width(widget.Clean(string(it.Value()), 4)); cells > width && it.Start() > 0 {
			return it.Start()
		}
		if it.End() > bodyWindow {
			return it.End()
		}
	}
	return len(line)
}

// byteLines shows bytes as numbers and, where they print, as characters.
func byteLines(body []byte, from int64, width int) []BodyLine {
	const address = 10 // cells, with the space behind it
	each := int64(4)
	for _, n := range []int{16, 8} {
		if address+4*n+1 <= width {
			each = int64(n)
			break
		}
	}
	if skip := (each - from%each) % each; skip > 0 {
		body, from = body[min(skip, int64(len(body))):], from+skip
	}
	var lines []BodyLine
	for len(body) > 0 {
		row := body[:min(each, int64(len(body)))]
		var b strings.Builder
		fmt.Fprintf(&b, "%08x  ", from)
		for _, c := range row {
			fmt.Fprintf(&b, "%02x ", c)
		}
		b.WriteString(strings.Repeat("   ", int(each)-len(row)) + " ")
		for _, c := range row {
			if c < 0x20 || c > 0x7e {
				c = '.'
			}
			b.WriteByte(c)
		}
		lines = append(lines, BodyLine{from, widget.Clean(b.String(), width)})
		body, from = body[len(row):], from+int64(len(row))
	}
	return lines
}

// scrollBody moves through a body, which has no cursor: its Pick is the first line in sight. A move beyond every body goes to its
// end; while the lines there have not come, a move from it is let go.
func (b *Browse) scrollBody(r *Rows, by, h int) {
	pick, ids, ends := &b.Picks[Page], r.ids(Page), r.ends(Page)
	switch {
	case by >= math.MaxInt32:
		pick.ID = math.MaxInt64
	case by <= -math.MaxInt32:
		pick.ID = 0
	case len(ids) == 0, pick.ID == 0 && !ends[0], pick.ID == math.MaxInt64 && !ends[1]:
	default:
		pick.ID = ids[min(max(bodyTop(*pick, ids, h)+by, 0), max(len(ids)-h, 0))]
	}
}

// bodyTop is the index of the first line in sight: the last page is a full one.
func bodyTop(pick Pick, ids []int64, h int) int {
	return max(min(pick.at(ids), len(ids)-h), 0)
}

// TurnPage shows another page of the result that is open; false: there is none on that side.
func (b *Browse) TurnPage(r *Rows, by int64) bool {
	if r == nil || r.Page == nil || r.Page.Page+by < 0 || r.Page.Page+by >= r.Page.Pages {
		return false
	}
	b.Page, b.Picks[Page] = r.Page.Page+by, Pick{}
	return true
}

// BodyWidth is the cells of a line of a body.
func (p *Picture) BodyWidth() int {
	if ClassOf(p.W, p.H) == Compact {
		return max(p.W, 1)
	}
	return max(widget.Inner(p.W), 1)
}

func (p *Picture) pageShare(class Class, body int) rowsShare {
	var s rowsShare
	detail := !p.List.NoDetail
	switch class {
	case Full, Standard:
		if detail {
			s.detail = len(p.pageFacts(widget.Inner(p.W), body/3)) + 2
		}
		s.table = body - s.detail - 2
	default:
		s.head = 1
		s.table = body - s.head
	}
	return s
}

// page is one result: its facts and headers, and its body.
func (p *Picture) page(class Class, w, h int) []string {
	s := p.pageShare(class, h)
	title := "Body"
	var rows []string
	r := p.Shown
	if r == nil || r.Page == nil {
		rows = []string{p.Look.Text(themes.Dim, p.noRows("the task has no result"), p.BodyWidth())}
	} else {
		rows = p.bodyRows(s.table)
		if title = "Body of task " + widget.Thousands(r.Page.Task); r.Page.Pages > 1 {
			title += ", page " + widget.Thousands(r.Page.Page+1) + " of " + widget.Thousands(r.Page.Pages) + " (h l)"
		}
	}
	if class == Compact {
		if title = "Body"; r != nil && r.Page != nil && r.Page.Pages > 1 {
			title = "Page " + widget.Thousands(r.Page.Page+1) + " of " + widget.Thousands(r.Page.Pages)
		}
		head := p.Look.Line(w).Strong(true).Text(themes.Focus, title).Strong(false).Right(themes.Dim, p.bodyNote(s.table)).String()
		for len(rows) < s.table {
			rows = append(rows, widget.Blank(w))
		}
		return append([]string{head}, rows...)
	}
	var lines []string
	if s.detail > 0 {
		about := widget.Pane{Title: "Result"}
		if r != nil && r.Page != nil {
			about.Title, about.Right = "Result of task "+widget.Thousands(r.Page.Task), "Esc: back"
		}
		lines = about.Draw(p.Look, w, s.detail, p.pageFacts(widget.Inner(w), h/3))
	}
	return append(lines, widget.Pane{Title: title, Right: p.bodyNote(s.table), Focused: true}.Draw(p.Look, w, h-len(lines), rows)...)
}

// bodyRows are the lines of the body in sight.
func (p *Picture) bodyRows(h int) []string {
	lines := p.Shown.Lines
	if len(lines) == 0 {
		return []string{p.Look.Text(themes.Dim, "the body is empty", p.BodyWidth())}
	}
	top := bodyTop(p.Browse.Picks[Page], p.Shown.ids(Page), h)
	rows := make([]string, 0, h)
	for _, l := range lines[top:min(top+h, len(lines))] {
		rows = append(rows, p.Look.Text(themes.Text, l.Text, p.BodyWidth()))
	}
	return rows
}

// bodyNote tells which part of the body is in sight.
func (p *Picture) bodyNote(h int) string {
	if p.Shown == nil || p.Shown.Page == nil {
		return ""
	}
	page := p.Shown.Page
	kind := ""
	if !page.Text {
		kind = "bytes, "
	}
	lines := p.Shown.Lines
	if len(lines) > h || page.From > 0 {
		seen := page.From + int64(len(page.Body))
		if next := bodyTop(p.Browse.Picks[Page], p.Shown.ids(Page), h) + h; next < len(lines) {
			seen = lines[next].At
		}
		return kind + "to " + percent(share(float64(seen), float64(page.Bytes))) + " of " + widget.Bytes(page.Bytes)
	}
	return kind + widget.Bytes(page.Bytes)
}

// pageFacts are the facts of the result that is open, with its headers, in at most rows lines.
func (p *Picture) pageFacts(inner, rows int) []string {
	if p.Shown == nil || p.Shown.Page == nil {
		return nil
	}
	page := p.Shown.Page
	lines := p.resultFacts(&page.ResultRow, inner, rows)
	if page.PageName != "" {
		lines = append(lines, p.Look.Line(inner).Text(themes.Dim, "page ").Text(themes.Text, page.PageName).String())
	}
	var headers []string
	for _, k := range slices.Sorted(maps.Keys(page.Headers)) {
		headers = append(headers, k+": "+page.Headers[k])
	}
	told := strings.Join(headers, "   ")
	if told == "" {
		told = "no headers are kept"
	}
	for i, s := range strings.Split(ansi.Wrap(told, max(inner-10, 1), ""), "\n") {
		label := ""
		if i == 0 {
			label = "headers"
		}
		lines = append(lines, p.Look.Line(inner).Fit(themes.Dim, label, 10, widget.Left).Text(themes.Text, s).String())
	}
	return lines[:min(len(lines), max(rows, 1))]
}
