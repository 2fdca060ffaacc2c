package source

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// bufferBytes holds a sample and keeps reads few.
const bufferBytes = 64 << 10

// open undoes gzip and the character encoding: what comes out is UTF-8 without a byte order mark, as far as the input is
// text at all.
func open(ctx context.Context, r io.Reader, maxBytes int64) (*bufio.Reader, error) {
	in := bufio.NewReaderSize(contextReader{ctx, r}, bufferBytes)
	for depth := 0; ; depth++ {
		// A failed Peek shows again at the next read, with its place known.
		if head, _ := in.Peek(3); !bytes.Equal(head, []byte{0x1f, 0x8b, 8}) {
			break
		}
		if depth == 2 {
			return nil, ErrNested
		}
		zr, err := gzip.NewReader(in)
		if err != nil {
			return nil, fmt.Errorf("broken gzip header: %w", err)
		}
		in = bufio.NewReaderSize(&cappedReader{r: zr, left: maxBytes, max: maxBytes}, bufferBytes)
	}
	head, _ := in.Peek(4)
	var enc encoding.Encoding
	switch {
	case bytes.HasPrefix(head, []byte("\xef\xbb\xbf")):
		_, _ = in.Discard(3) // peeked at
		return in, nil
	case bytes.Equal(head, []byte("\xff\xfe\x00\x00")), bytes.Equal(head, []byte("\x00\x00\xfe\xff")):
		return nil, fmt.Errorf("%w UTF-32: save the file as UTF-8", ErrEncoding)
	case bytes.HasPrefix(head, []byte("\xff\xfe")):
		enc = unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM)
	case bytes.HasPrefix(head, []byte("\xfe\xff")):
		enc = unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM)
	case len(head) == 4 && isText(head[0]) && head[1] == 0 && isText(head[2]) && head[3] == 0:
		enc = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case len(head) == 4 && head[0] == 0 && isText(head[1]) && head[2] == 0 && isText(head[3]):
		enc = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	default:
		return in, nil
	}
	return bufio.NewReaderSize(transform.NewReader(in, enc.NewDecoder()), bufferBytes), nil
}

func isText(c byte) bool { return c >= ' ' && c < 0x7f || c == '\n' || c == '\r' || c == '\t' }

// damage says what a fault of the data means to the user; false for faults that are not the data's.
func damage(err error) (string, bool) {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "truncated: the input ends early; what was read before stands", true
	case errors.As(err, &corrupt), errors.Is(err, gzip.ErrChecksum), errors.Is(err, gzip.ErrHeader):
		return "broken: the gzip data is damaged from here on; what was read before stands", true
	}
	return "", false
}

// contextReader ends reading once its context has ended.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.r.Read(p)
}

// cappedReader fails with ErrTooLarge once more than max bytes came out.
type cappedReader struct {
	r         io.Reader
	left, max int64
}

func (c *cappedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	if c.left -= int64(n); c.left < 0 {
		return 0, fmt.Errorf("%w (%d bytes)", ErrTooLarge, c.max)
	}
	return n, err
}
