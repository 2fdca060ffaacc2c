package source

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Format is how an input is written.
type Format string

// The formats. Detect reads it from the name's extension, else from the content.
const (
	Detect  Format = ""
	Text    Format = "text"
	CSV     Format = "csv" // separated by comma, semicolon or tab
	JSONL   Format = "jsonl"
	Sitemap Format = "sitemap"
)

// Limits of an input, where Options does not name others.
const (
	DefaultMaxLine  = 1 << 20 // bytes: far above any URL, with room for the other columns of a row
	DefaultMaxBytes = 4 << 30 // bytes that a gzipped input may unpack to: some fifty million URLs
)

// Reasons to refuse a whole input. They are wrapped; use errors.Is.
var (
	// ErrNotText: the input is binary.
	ErrNotText = errors.New("not a text file")
	// ErrHTML: the input was to be a sitemap, but is a web page (often an error page).
	ErrHTML = errors.New("an HTML page, not a sitemap")
	// ErrNotSitemap: the input was to be a sitemap, but has another root element or is no XML.
	ErrNotSitemap = errors.New("not a sitemap")
	// ErrDoctype: document type declarations, and with them entities, are never read.
	ErrDoctype = errors.New("the sitemap has a document type declaration, which is refused")
	// ErrTooLarge: a gzipped input unpacks to more than Options.MaxBytes.
	ErrTooLarge = errors.New("the input unpacks to more than is read")
	// ErrNested: gzip within gzip within gzip.
	ErrNested = errors.New("gzipped more than twice")
	// ErrEncoding: the input's character encoding is not read.
	ErrEncoding = errors.New("unsupported character encoding")
)

// Options adjust a Read. The zero Options detect the format and apply the default limits.
type Options struct {
	Format   Format
	MaxLine  int   // longest line, record or XML token in bytes; zero: DefaultMaxLine
	MaxBytes int64 // what a gzipped input may unpack to; zero: DefaultMaxBytes
}

// Entry is one URL of an input.
type Entry struct {
	Line     int    // 1-based line on which the entry begins
	URL      URL    // normalised
	InputURL string // as given, without surrounding blanks
	Tenant   string // empty: none named
	Priority int
	Key      string          // the input's own id, digit for digit; empty: none
	Meta     json.RawMessage // the other columns or keys, and id, as an object in their order; nil: none
	Child    bool            // URL is a sitemap that an index names, to be fetched and read in turn
}

// Problem is a line that gave no entry.
type Problem struct {
	Line int    // 1-based
	Why  string // one line of printable ASCII; repeats nothing of a URL
}

// Counts sum up a Read. For text, JSONL and sitemaps Entries + Skipped + Blank = Lines.
type Counts struct {
	Lines   int // lines; for a sitemap: its entries, and one for a cut
	Entries int // handed to yield, duplicates included
	Skipped int // Problems
	Blank   int // blank lines and comments; for CSV also the header and a "sep=" line
}

// Read streams the entries of r to yield and the refused lines to problem, in order, on the caller's goroutine. name
// serves only to tell the format. gzip (once or twice), a byte order mark and UTF-16 are recognised by content; lines end
// with LF, CRLF or CR.
//
// It returns nil although lines were refused or the input was cut short (a Problem whose Why says "truncated" or
// "broken"; the cut line itself is dropped, entries before it stand), and also when there was no entry at all. It returns
// an error when the input is no list, when r or ctx failed, or as soon as yield returns one (that error, unwrapped).
// Counts hold in every case for what was read so far.
func Read(ctx context.Context, name string, r io.Reader, opt Options, yield func(Entry) error, problem func(Problem)) (Counts, error) {
	if opt.MaxLine <= 0 {
		opt.MaxLine = DefaultMaxLine
	}
	if opt.MaxBytes <= 0 {
		opt.MaxBytes = DefaultMaxBytes
	}
	rd := &reader{max: opt.MaxLine, yield: yield, problem: problem}
	in, err := open(ctx, r, opt.MaxBytes)
	if err != nil {
		return rd.counts, err
	}
	sample := peekSample(in)
	if looksBinary(sample) {
		return rd.counts, notText(sample)
	}
	format := opt.Format
	if format == Detect {
		format = formatByName(name)
	}
	if format == Detect {
		format = formatByContent(sample)
	}
	switch format {
	case Text:
		err = rd.readText(in)
	case CSV:
		err = rd.readCSV(in)
	case JSONL:
		err = rd.readJSONL(in)
	case Sitemap:
		err = rd.readSitemap(in)
	default:
		return rd.counts, fmt.Errorf("unknown input format %q: use text, csv, jsonl or sitemap", string(format))
	}
	return rd.counts, err
}

// reader is the state of one Read.
type reader struct {
	max     int
	yield   func(Entry) error
	problem func(Problem)
	counts  Counts
}

func (rd *reader) refuse(line int, why string) {
	rd.counts.Skipped++
	rd.problem(Problem{Line: line, Why: why})
}

func (rd *reader) accept(e Entry) error {
	rd.counts.Entries++
	return rd.yield(e)
}

// readText reads a URL a line.
func (rd *reader) readText(in *bufio.Reader) error {
	return rd.eachLine(in, func(n int, line []byte) error {
		raw := string(line)
		u, err := Normalise(raw)
		if err != nil {
			rd.refuse(n, err.Error())
			return nil
		}
		return rd.accept(Entry{Line: n, URL: u, InputURL: raw})
	})
}

// eachLine hands every line that is neither blank nor a comment to do, trimmed, and counts and reports the others.
func (rd *reader) eachLine(in *bufio.Reader, do func(n int, line []byte) error) error {
	ls := newLines(in, rd.max)
	for {
		line, err := ls.next()
		if err == io.EOF {
			return nil
		}
		if err != nil && err != errLineTooLong {
			return rd.cut(ls.n, err)
		}
		rd.counts.Lines++
		if err == errLineTooLong {
			rd.refuse(ls.n, fmt.Sprintf("line longer than %d bytes", rd.max))
			continue
		}
		line = trimBlanks(line)
		if len(line) == 0 || line[0] == '#' {
			rd.counts.Blank++
			continue
		}
		if err := do(ls.n, line); err != nil {
			return err
		}
	}
}

// cut turns a fault of the data into the Problem of its line; a fault of reading stays an error.
func (rd *reader) cut(line int, err error) error {
	why, ok := damage(err)
	if !ok {
		return fmt.Errorf("reading line %d: %w", line, err)
	}
	rd.counts.Lines++
	rd.refuse(line, why)
	return nil
}
