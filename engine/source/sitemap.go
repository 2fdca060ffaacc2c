package source

import (
	"bufio"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// maxDepth of a sitemap's elements; the format needs three, its extensions five.
const maxDepth = 64

// decoderChunk is what the XML decoder reads ahead where the document declares an encoding.
const decoderChunk = 4 << 10

var errTokenTooLong = errors.New("XML token too long")

// readSitemap reads the <loc> of each <url> of a urlset, or of each <sitemap> of an index (as children), whatever the
// namespace and the host. Document types are refused, so no entity but XML's own five and character references is ever
// resolved; an ampersand left bare, a common slip, is taken as it stands. Each <loc> is an entry, and so is a <url>
// without any.
func (rd *reader) readSitemap(in *bufio.Reader) error {
	guard := &tokenGuard{in: in, max: rd.max + decoderChunk}
	dec := xml.NewDecoder(guard)
	dec.Strict = false
	dec.CharsetReader = func(label string, input io.Reader) (io.Reader, error) {
		// UTF-16 was decoded before; the declaration that is left tells nothing.
		if l := strings.ToLower(label); strings.HasPrefix(l, "utf-16") || strings.HasPrefix(l, "utf-8") {
			return input, nil
		}
		return charset.NewReaderLabel(label, input)
	}
	s := sitemapState{rd: rd}
	for {
		guard.n = 0
		line, _ := dec.InputPos()
		token, err := dec.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return rd.cutSitemap(line, err)
		}
		if err := s.take(token, line); err != nil {
			return err
		}
	}
}

// sitemapState is where in a sitemap the reader stands.
type sitemapState struct {
	rd    *reader
	depth int
	entry string // the element an entry is: "url" or "sitemap"
	in    bool   // within an entry
	locs  int    // of this entry
	line  int    // where the entry or its <loc> began
	loc   []byte
	inLoc bool
}

func (s *sitemapState) take(token xml.Token, line int) error {
	switch t := token.(type) {
	case xml.Directive:
		fields := strings.Fields(strings.ToLower(string(t)))
		switch {
		case len(fields) > 1 && fields[0] == "doctype" && strings.HasPrefix(fields[1], "html"):
			return ErrHTML
		case len(fields) > 0 && (fields[0] == "doctype" || fields[0] == "entity"):
			return ErrDoctype
		}
	case xml.CharData:
		if s.inLoc {
			s.loc = append(s.loc, t...)
		} else if s.depth == 0 && strings.TrimSpace(strings.TrimPrefix(string(t), "\ufeff")) != "" && s.entry == "" {
			return fmt.Errorf("%w: text where its root element should be", ErrNotSitemap)
		}
	case xml.StartElement:
		return s.start(t.Name.Local, line)
	case xml.EndElement:
		return s.end(t.Name.Local)
	}
	return nil
}

func (s *sitemapState) start(name string, line int) error {
	s.depth++
	switch {
	case s.depth > maxDepth:
		return fmt.Errorf("%w: elements nested deeper than %d", ErrNotSitemap, maxDepth)
	case s.depth == 1:
		switch strings.ToLower(name) {
		case "urlset":
			s.entry = "url"
		case "sitemapindex":
			s.entry = "sitemap"
		case "html", "head", "body":
			return ErrHTML
		default:
			return fmt.Errorf("%w: its root element is <%s>", ErrNotSitemap, printable(name, 40))
		}
	case s.depth == 2 && name == s.entry:
		s.in, s.locs, s.line = true, 0, line
	case s.depth == 3 && s.in && name == "loc":
		s.inLoc, s.line, s.loc = true, line, s.loc[:0]
	}
	return nil
}

func (s *sitemapState) end(name string) error {
	s.depth--
	rd := s.rd
	switch {
	case s.depth == 2 && s.inLoc && name == "loc":
		s.inLoc = false
		s.locs++
		rd.counts.Lines++
		if len(s.loc) > rd.max {
			rd.refuse(s.line, fmt.Sprintf("longer than %d bytes", rd.max))
			return nil
		}
		raw := strings.TrimSpace(string(s.loc))
		if raw == "" {
			rd.refuse(s.line, "empty entry: no URL in <loc>")
			return nil
		}
		u, err := Normalise(raw)
		if err != nil {
			rd.refuse(s.line, err.Error())
			return nil
		}
		return rd.accept(Entry{Line: s.line, URL: u, InputURL: raw, Child: s.entry == "sitemap"})
	case s.depth == 1 && s.in:
		s.in = false
		if s.locs == 0 {
			rd.counts.Lines++
			rd.refuse(s.line, "empty entry: no <loc>")
		}
	}
	return nil
}

// cutSitemap reports where and why a sitemap could not be read on; faults of reading stay errors.
func (rd *reader) cutSitemap(line int, err error) error {
	var syntax *xml.SyntaxError
	if _, data := damage(err); data {
		return rd.cut(line, err)
	}
	why := ""
	switch {
	case errors.As(err, &syntax) && strings.Contains(syntax.Msg, "unexpected EOF"):
		why = "truncated: the sitemap ends early; entries before it stand"
	case errors.As(err, &syntax):
		why = "broken: " + printable(syntax.Msg, 120) + "; entries before it stand"
	case errors.Is(err, errTokenTooLong):
		why = fmt.Sprintf("broken: a part longer than %d bytes; entries before it stand", rd.max)
	case strings.HasPrefix(err.Error(), "xml:"):
		// The declaration: a version or an encoding that is not read.
		why = "broken: " + printable(err.Error(), 120) + "; entries before it stand"
	default:
		return fmt.Errorf("reading line %d: %w", line, err)
	}
	rd.counts.Lines++
	rd.refuse(line, why)
	return nil
}

// printable makes foreign text fit for a one-line message.
func printable(s string, maxBytes int) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() >= maxBytes {
			b.WriteString("...")
			break
		}
		if r < ' ' || r >= 0x7f || r == utf8.RuneError {
			r = '?'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// tokenGuard hands the decoder its bytes and fails when one token takes more than max of them: the decoder would hold it
// all in memory.
type tokenGuard struct {
	in     *bufio.Reader
	n, max int
}

// ReadByte makes the decoder read without a buffer of its own, so that n is exact.
func (g *tokenGuard) ReadByte() (byte, error) {
	if g.n++; g.n > g.max {
		return 0, errTokenTooLong
	}
	return g.in.ReadByte()
}

// Read serves a declared encoding, which is decoded in chunks.
func (g *tokenGuard) Read(p []byte) (int, error) {
	n, err := g.in.Read(p[:min(len(p), 512)])
	if g.n += n; g.n > g.max {
		return 0, errTokenTooLong
	}
	return n, err
}
