package source

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

var errLineTooLong = errors.New("line too long")

// lines cuts a stream at LF, CRLF and lone CR, in any mix.
type lines struct {
	in      *bufio.Reader
	max     int
	n       int // 1-based number of the line that next returned or failed on
	buf     []byte
	afterCR bool // the last line ended with CR: a LF that follows belongs to it
}

func newLines(in *bufio.Reader, max int) *lines { return &lines{in: in, max: max} }

// next returns the next line without its end, valid until the next call. A line longer than max is skipped whole and
// reported as errLineTooLong; reading goes on after it. The end is io.EOF; any other error is the stream's, and what
// stood on its line is dropped.
func (l *lines) next() ([]byte, error) {
	l.n++
	l.buf = l.buf[:0]
	long, empty := false, true
	for {
		if _, err := l.in.Peek(1); err != nil {
			switch {
			case err != io.EOF:
				return nil, err
			case long:
				return nil, errLineTooLong
			case empty:
				return nil, io.EOF
			}
			return l.buf, nil
		}
		chunk, _ := l.in.Peek(l.in.Buffered())
		if l.afterCR {
			l.afterCR = false
			if chunk[0] == '\n' {
				l.discard(1)
				continue
			}
		}
		empty = false
		end := indexLineEnd(chunk)
		part := chunk
		if end >= 0 {
			part = chunk[:end]
		}
		if long = long || len(l.buf)+len(part) > l.max; !long {
			l.buf = append(l.buf, part...)
		}
		if end < 0 {
			l.discard(len(chunk))
			continue
		}
		l.afterCR = chunk[end] == '\r'
		l.discard(end + 1)
		if long {
			return nil, errLineTooLong
		}
		return l.buf, nil
	}
}

// discard drops bytes that were peeked at, which cannot fail.
func (l *lines) discard(n int) { _, _ = l.in.Discard(n) }

func indexLineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

func trimBlanks(b []byte) []byte {
	return bytes.TrimPrefix(bytes.Trim(b, " \t"), []byte("\ufeff"))
}
