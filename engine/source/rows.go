package source

import (
	"errors"
	"io"
)

// Faults of a row.
var (
	errQuote     = errors.New("a quote is in the wrong place")
	errOpenQuote = errors.New("a quote is never closed")
	errMore      = errors.New("the row goes on in the next line")
)

// rowParser reads one row (a record of RFC 4180), fed line by line.
type rowParser struct {
	sep   int
	cells []string
	cell  []byte
	state int
}

const (
	cellStart  = iota
	cellPlain  // unquoted; a quote in it is a character
	cellQuoted // between quotes
	cellQuote  // after a quote between quotes: its end, or the first of two
	cellClosed // after the closing quote and a blank
)

// feed takes the next line: nil when the row is whole, errMore when a quoted cell goes on, errQuote when what follows a
// closing quote is neither separator nor end.
func (r *rowParser) feed(line []byte) error {
	for _, c := range line {
		switch r.state {
		case cellStart:
			switch {
			case int(c) == r.sep:
				r.push()
			case c == '"':
				r.cell = r.cell[:0] // blanks before it
				r.state = cellQuoted
			case c == ' ':
				r.cell = append(r.cell, c)
			default:
				r.cell = append(r.cell, c)
				r.state = cellPlain
			}
		case cellPlain:
			if int(c) == r.sep {
				r.push()
			} else {
				r.cell = append(r.cell, c)
			}
		case cellQuoted:
			if c == '"' {
				r.state = cellQuote
			} else {
				r.cell = append(r.cell, c)
			}
		case cellQuote, cellClosed:
			switch {
			case c == '"' && r.state == cellQuote:
				r.cell = append(r.cell, c)
				r.state = cellQuoted
			case int(c) == r.sep:
				r.push()
			case c == ' ':
				r.state = cellClosed
			default:
				return errQuote
			}
		}
	}
	if r.state == cellQuoted {
		r.cell = append(r.cell, '\n')
		return errMore
	}
	r.push()
	return nil
}

func (r *rowParser) push() {
	r.cells = append(r.cells, string(r.cell))
	r.cell = r.cell[:0]
	r.state = cellStart
}

// rowReader groups lines into rows. Line breaks within quotes belong to their cell. When a quote turns out to be
// misplaced or never closed, only the row it stands in is lost: reading goes on with the line after that row's first.
// (A line is read at most twice so: within an open quote every further quote is one of a pair or ends the attempt.)
type rowReader struct {
	lines  *lines
	max    int
	row    rowParser
	back   [][]byte // lines to be read again
	backAt int      // number of back[0]
	peeked []byte   // the line that peek returned
	at     int      // its number; zero: none
	start  int      // line on which the row of the last read began
	seen   int      // lines that begin at or before the end of that row
}

func (rr *rowReader) nextLine() ([]byte, int, error) {
	if len(rr.back) > 0 {
		line, n := rr.back[0], rr.backAt
		rr.back = rr.back[1:]
		rr.backAt++
		return line, n, nil
	}
	line, err := rr.lines.next()
	return line, rr.lines.n, err
}

// peek returns the line that the next row begins with.
func (rr *rowReader) peek() ([]byte, error) {
	if rr.at == 0 {
		line, n, err := rr.nextLine()
		if err != nil {
			if err != io.EOF {
				rr.start = n
			}
			if err == errLineTooLong {
				rr.seen = n
			}
			return nil, err
		}
		rr.peeked, rr.at = line, n
	}
	return rr.peeked, nil
}

// drop skips the peeked line.
func (rr *rowReader) drop() {
	rr.start, rr.seen = rr.at, rr.at
	rr.at = 0
}

// read returns the cells of the row that begins with the peeked line.
func (rr *rowReader) read(sep int) ([]string, error) {
	line := rr.peeked
	rr.drop()
	rr.row = rowParser{sep: sep, cell: rr.row.cell[:0], cells: make([]string, 0, len(rr.row.cells))}
	err := rr.row.feed(line)
	if err != errMore {
		return rr.row.cells, err
	}
	var more [][]byte
	size := len(line)
	for err == errMore {
		next, n, nextErr := rr.nextLine()
		if nextErr != nil && nextErr != io.EOF && nextErr != errLineTooLong {
			return nil, nextErr
		}
		if nextErr == errLineTooLong {
			// What is longer than a line may be ends every row.
			rr.seen = n
			return nil, errLineTooLong
		}
		if nextErr == io.EOF || size+len(next) > rr.max {
			if nextErr == nil {
				more = append(more, append([]byte(nil), next...))
			}
			rr.giveBack(more)
			return nil, errOpenQuote
		}
		more = append(more, append([]byte(nil), next...))
		size += len(next) + 1
		if err = rr.row.feed(next); err == nil {
			rr.seen = n
			return rr.row.cells, nil
		}
	}
	rr.giveBack(more)
	return nil, err
}

// giveBack puts the lines after the row's first back before what is still to be read.
func (rr *rowReader) giveBack(more [][]byte) {
	if len(more) == 0 {
		return
	}
	rr.back = append(more, rr.back...)
	rr.backAt = rr.start + 1
}
