package source

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// separators are what cells may be separated by, in order of preference.
var separators = []int{'\t', ',', ';'}

// noSeparator makes each line one cell: a list of one column, whose URLs may hold commas.
const noSeparator = -1

// table is what is known of a CSV input's columns.
type table struct {
	known    bool // a header or a row with a URL was seen
	header   bool
	sep      int
	fixedSep bool // by a "sep=" line
	names    []string
	url      int
	tenant   int // -1: no such column, likewise below
	priority int
	id       int
}

// readCSV reads rows (RFC 4180, with the leniency of rowReader). The columns are those of the first row that has a
// cell "url"; when a row with a URL comes first, that URL's column is the one and the row is data. Rows before are
// Problems.
func (rd *reader) readCSV(in *bufio.Reader) error {
	rr := &rowReader{lines: newLines(in, rd.max), max: rd.max}
	t := &table{sep: ',', tenant: -1, priority: -1, id: -1}
	first := true
	for {
		line, err := rr.peek()
		if err == nil && !t.known {
			if sep, ok := sepLine(line); ok && first {
				t.sep, t.fixedSep = sep, true
				rr.drop()
				rd.counts.Blank++
				first = false
				continue
			}
			if !t.fixedSep && len(trimBlanks(line)) > 0 {
				t.sep = detectSeparator(line)
			}
		}
		first = false
		var cells []string
		if err == nil {
			cells, err = rr.read(t.sep)
		}
		rd.counts.Lines = rr.seen
		switch {
		case err == io.EOF:
			return nil
		case err == errLineTooLong:
			rd.refuse(rr.start, fmt.Sprintf("row longer than %d bytes", rd.max))
			continue
		case err == errQuote, err == errOpenQuote:
			rd.refuse(rr.start, err.Error())
			continue
		case err != nil:
			return rd.cut(rr.lines.n, err)
		}
		if isBlankRow(cells) {
			rd.counts.Blank++
			continue
		}
		if !t.known && t.readHeader(cells) {
			rd.counts.Blank++
			continue
		}
		entry, why := t.entry(cells)
		if why != "" {
			rd.refuse(rr.start, why)
			continue
		}
		entry.Line = rr.start
		if err := rd.accept(entry); err != nil {
			return err
		}
	}
}

// sepLine reads the "sep=;" with which spreadsheets name the separator.
func sepLine(line []byte) (int, bool) {
	rest, ok := strings.CutPrefix(strings.ToLower(strings.Trim(string(line), `" `)), "sep=")
	if !ok || len(rest) != 1 || rest[0] >= utf8.RuneSelf {
		return 0, false
	}
	return int(rest[0]), true
}

// detectSeparator picks the one that isolates a cell "url", else a URL, with the most cells. A header "url" alone means a
// single column.
func detectSeparator(line []byte) int {
	best, bestScore := noSeparator, 0
	for _, sep := range separators {
		rec := rowParser{sep: sep}
		if rec.feed(line) == errQuote {
			continue
		}
		score := len(rec.cells)
		if score < 2 {
			continue
		}
		for _, cell := range rec.cells {
			if isColumn(cell, "url") {
				score += 1 << 40
				break
			}
			if _, err := Normalise(cell); err == nil {
				score += 1 << 20
				break
			}
		}
		if score > bestScore {
			best, bestScore = sep, score
		}
	}
	return best
}

func isColumn(cell, name string) bool { return strings.EqualFold(strings.TrimSpace(cell), name) }

func isBlankRow(cells []string) bool {
	for _, cell := range cells {
		if strings.TrimSpace(cell) != "" {
			return false
		}
	}
	return true
}

// readHeader takes the columns from a row that names one "url".
func (t *table) readHeader(cells []string) bool {
	url := -1
	for i, cell := range cells {
		if isColumn(cell, "url") {
			url = i
			break
		}
	}
	if url < 0 {
		return false
	}
	t.known, t.header, t.url = true, true, url
	seen := make(map[string]bool, len(cells))
	for i, cell := range cells {
		name := asText(strings.TrimSpace(cell))
		switch {
		case i == url:
		case isColumn(name, "tenant") && t.tenant < 0:
			t.tenant = i
		case isColumn(name, "priority") && t.priority < 0:
			t.priority = i
		case isColumn(name, "id") && t.id < 0:
			t.id = i
		}
		if name == "" || seen[name] {
			name = columnName(i)
		}
		seen[name] = true
		t.names = append(t.names, name)
	}
	return true
}

func columnName(i int) string { return "column_" + strconv.Itoa(i+1) }

// entry makes the entry of a row; why is set instead when there is none.
func (t *table) entry(cells []string) (e Entry, why string) {
	if !t.known {
		url := -1
		for i, cell := range cells {
			if _, err := Normalise(cell); err == nil {
				url = i
				break
			}
		}
		if url < 0 {
			return e, "no column url and no cell with a URL"
		}
		t.known, t.url = true, url
	}
	if t.url >= len(cells) || strings.TrimSpace(cells[t.url]) == "" {
		return e, "no URL"
	}
	if t.header && t.url == len(t.names)-1 && len(cells) > len(t.names) && !isBlankRow(cells[len(t.names):]) {
		return e, "more cells than columns: a URL that holds the separator must be quoted"
	}
	u, err := Normalise(cells[t.url])
	if err != nil {
		return e, err.Error()
	}
	e = Entry{URL: u, InputURL: strings.TrimSpace(cells[t.url])}
	var meta metaBuilder
	for i, cell := range cells {
		text := asText(cell)
		switch i {
		case t.url:
			continue
		case t.tenant:
			e.Tenant = strings.TrimSpace(text)
			continue
		case t.priority:
			n, err := strconv.Atoi(strings.TrimSpace(text))
			if err == nil {
				e.Priority = n
				continue
			}
			if strings.TrimSpace(text) == "" {
				continue
			}
		case t.id:
			e.Key = strings.TrimSpace(text)
		}
		switch {
		case i < len(t.names):
			meta.addText(t.names[i], text)
		case text != "":
			meta.addText(columnName(i), text)
		}
	}
	e.Meta = meta.object()
	return e, ""
}

// asText reads a cell that is not UTF-8 as Windows-1252, the usual encoding of a spreadsheet that is not, so that a letter
// in a remark costs no row. (URLs in it are refused: which bytes to send would be a guess.)
func asText(cell string) string {
	if utf8.ValidString(cell) {
		return cell
	}
	text, err := charmap.Windows1252.NewDecoder().String(cell)
	if err != nil {
		return strings.ToValidUTF8(cell, "\ufffd")
	}
	return text
}
