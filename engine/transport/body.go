package transport

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

var (
	errTooLarge = errors.New("the body is too large")
	errDecode   = errors.New("the body's content-encoding could not be undone")
)

// maxCodings is how many encodings laid over one another are undone: more is nothing but a bomb.
const maxCodings = 2

// readBody reads a body to its end, undoing its encodings, and returns it with its length on the wire. More than limit
// decoded bytes are errTooLarge, found out without reading on; so is a wire that carries more than its content could need.
func readBody(resp *http.Response, limit int64) (body []byte, wire int64, err error) {
	codings, err := contentCodings(resp.Header)
	if err != nil {
		return nil, 0, err
	}
	wireLimit := limit
	if len(codings) > 0 {
		wireLimit = limit + limit/64 + 64<<10 // what cannot be compressed grows a little; framing costs a little
	}
	if resp.Body == nil || resp.Body == http.NoBody {
		return nil, 0, nil // an announced length without a body is an answer to HEAD
	}
	if resp.ContentLength > wireLimit {
		return nil, 0, fmt.Errorf("%w: %d bytes announced, at most %d taken", errTooLarge, resp.ContentLength, limit)
	}
	counted := &countedReader{r: resp.Body, limit: wireLimit}
	var r io.Reader = counted
	for i := len(codings) - 1; i >= 0; i-- {
		r = decoder(codings[i], r)
	}
	body, err = readAll(io.LimitReader(r, limit+1), resp.ContentLength)
	switch {
	case err != nil:
		return nil, counted.n, err
	case int64(len(body)) > limit:
		return nil, counted.n, fmt.Errorf("%w: it decodes to more than %d bytes", errTooLarge, limit)
	}
	return body, counted.n, nil
}

// readAll is io.ReadAll into a buffer for the announced length (negative: none), with a byte to spare for the read that finds
// the end: a body that is as long as announced is neither moved nor kept in a larger buffer than it needs.
func readAll(r io.Reader, announced int64) ([]byte, error) {
	buf := make([]byte, 0, min(max(announced, 511), 1<<20)+1)
	for {
		n, err := r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
	}
}

func contentCodings(h http.Header) ([]string, error) {
	if len(h["Content-Encoding"]) == 0 {
		return nil, nil
	}
	var out []string
	for _, c := range strings.Split(strings.Join(h.Values("Content-Encoding"), ","), ",") {
		switch c = strings.ToLower(strings.TrimSpace(c)); c {
		case "", "identity", "none", "utf-8": // the last two are no codings, and common
		case "gzip", "x-gzip", "deflate":
			out = append(out, c)
		default:
			return nil, fmt.Errorf("%w: %q is not one that was asked for", errDecode, cut(c, 40))
		}
	}
	if len(out) > maxCodings {
		return nil, fmt.Errorf("%w: %d encodings over one another", errDecode, len(out))
	}
	return out, nil
}

type countedReader struct {
	r        io.Reader
	n, limit int64
}

func (c *countedReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	if c.n > c.limit+1 {
		return n, fmt.Errorf("%w: more than %d bytes on the wire", errTooLarge, c.limit)
	}
	return n, err
}

func decoder(coding string, r io.Reader) io.Reader {
	in := bufio.NewReader(r)
	if coding == "deflate" {
		return &lazyReader{open: func() (io.Reader, error) { return openDeflate(in) }}
	}
	return &gzipReader{in: in}
}

// lazyReader opens its reader at the first read, so that an error of the opening is one of reading.
type lazyReader struct {
	open func() (io.Reader, error)
	r    io.Reader
}

func (l *lazyReader) Read(p []byte) (int, error) {
	if l.r == nil {
		r, err := l.open()
		if err != nil {
			return 0, err
		}
		l.r = r
	}
	n, err := l.r.Read(p)
	return n, decodeError(err)
}

// openDeflate reads both things that servers call deflate: the zlib format (RFC 9110, 8.4.1.2) and a bare stream.
func openDeflate(in *bufio.Reader) (io.Reader, error) {
	head, err := in.Peek(2)
	if len(head) < 2 {
		if len(head) == 0 && err == io.EOF {
			return bytes.NewReader(nil), nil
		}
		return nil, decodeError(unexpected(err))
	}
	if head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0 {
		r, err := zlib.NewReader(in)
		return r, decodeError(err)
	}
	return flate.NewReader(in), nil
}

// gzipReader reads the members of a gzip body. What follows the last member and is no member is dropped, as browsers do;
// an empty body is empty, whatever its label.
type gzipReader struct {
	in   *bufio.Reader
	z    *gzip.Reader
	open bool // inside a member
	err  error
}

func (g *gzipReader) Read(p []byte) (int, error) {
	for g.err == nil {
		if !g.open {
			if g.err = g.next(); g.err != nil {
				break
			}
		}
		n, err := g.z.Read(p)
		if err == io.EOF {
			g.open, err = false, nil
		}
		if err != nil {
			g.err = decodeError(err)
		}
		if n > 0 || len(p) == 0 {
			return n, nil
		}
	}
	return 0, g.err
}

// next opens the next member, or returns io.EOF once the body holds no further one.
func (g *gzipReader) next() error {
	head, err := g.in.Peek(2)
	if len(head) < 2 || head[0] != 0x1f || head[1] != 0x8b {
		if err != nil && err != io.EOF {
			return err // the wire broke
		}
		if g.z == nil && len(head) > 0 {
			return fmt.Errorf("%w: it is not gzip", errDecode)
		}
		if _, err := io.Copy(io.Discard, g.in); err != nil {
			return err
		}
		return io.EOF
	}
	if g.z == nil {
		g.z, err = gzip.NewReader(g.in)
	} else {
		err = g.z.Reset(g.in)
	}
	if err != nil {
		return decodeError(unexpected(err))
	}
	g.z.Multistream(false)
	g.open = true
	return nil
}

func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// decodeError marks what a decompressor could not read. Errors of the wire pass as they are.
func decodeError(err error) error {
	var corrupt flate.CorruptInputError
	switch {
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.Is(err, zlib.ErrHeader),
		errors.Is(err, zlib.ErrChecksum), errors.Is(err, zlib.ErrDictionary), errors.As(err, &corrupt):
		return fmt.Errorf("%w: %w", errDecode, err)
	}
	return err
}
