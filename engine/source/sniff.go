package source

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"
)

// sampleBytes is how much of an input is looked at to tell what it is.
const sampleBytes = 32 << 10

// peekSample looks at the beginning without consuming it: what one read brings, and more only until a line with content is
// whole. So a slow pipe is not waited for longer than its first line.
func peekSample(in *bufio.Reader) []byte {
	for {
		sample, _ := in.Peek(min(in.Buffered(), sampleBytes))
		if _, whole := firstLine(sample); whole || len(sample) >= sampleBytes {
			return sample
		}
		if _, err := in.Peek(in.Buffered() + 1); err != nil {
			return sample // it ends here; the error shows again when it is read
		}
	}
}

// firstLine is the first line that is neither blank nor a comment, and whether its end is in the sample.
func firstLine(sample []byte) (line []byte, whole bool) {
	for len(sample) > 0 {
		end := indexLineEnd(sample)
		line, whole = sample, end >= 0
		if whole {
			line, sample = sample[:end], sample[end+1:]
		} else {
			sample = nil
		}
		if line = trimBlanks(line); len(line) > 0 && line[0] != '#' {
			return line, whole
		}
	}
	return nil, false
}

// looksBinary tells junk from a list with some bad lines in it: more than three bytes in ten that are no text, or, when no
// web address is in sight, a NUL or one in ten. Control characters must be among them, one in fifty at least (random bytes
// hold one in nine): without, it is text in an old encoding, of which the plain lines can be read.
func looksBinary(sample []byte) bool {
	bad, controls, nul := 0, 0, false
	for rest := sample; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && size == 1:
			if len(rest) < utf8.UTFMax && !utf8.FullRune(rest) {
				break // a letter that the sample cuts
			}
			bad++
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0x7f:
			nul = nul || r == 0
			controls++
			bad++
		}
		rest = rest[size:]
	}
	if controls*50 < len(sample) && !nul {
		return false
	}
	if bad*10 > len(sample)*3 {
		return true
	}
	lower := bytes.ToLower(sample)
	if bytes.Contains(lower, []byte("http://")) || bytes.Contains(lower, []byte("https://")) {
		return false
	}
	return nul || bad*10 > len(sample)
}

// notText names what the junk seems to be, where that is known.
func notText(sample []byte) error {
	kind, _, _ := strings.Cut(http.DetectContentType(sample), ";")
	if kind == "application/octet-stream" || strings.HasPrefix(kind, "text/") {
		return ErrNotText
	}
	return fmt.Errorf("%w: it looks like %s", ErrNotText, kind)
}

// formatByName reads the extension, below one of ".gz"; name may be a web address.
func formatByName(name string) Format {
	if u, err := url.Parse(name); err == nil && u.Host != "" {
		name = u.Path
	}
	name = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(name), ".gz"), ".gzip")
	switch path.Ext(name) {
	case ".txt", ".text", ".list", ".lst", ".urls":
		return Text
	case ".csv", ".tsv", ".tab":
		return CSV
	case ".jsonl", ".ndjson", ".json":
		return JSONL
	case ".xml":
		return Sitemap
	}
	return Detect
}

// formatByContent looks at the first line with content. A line that is a URL by itself is text, although a comma in it
// could be a separator.
func formatByContent(sample []byte) Format {
	line, _ := firstLine(sample)
	if len(line) == 0 {
		return Text
	}
	switch line[0] {
	case '<':
		return Sitemap
	case '{', '[':
		return JSONL
	case '"':
		return CSV
	}
	text := strings.ToLower(string(line))
	if strings.HasPrefix(text, "sep=") || isURLish(text) && strings.Contains(text, "\t") {
		return CSV
	}
	if isURLish(text) {
		return Text
	}
	for _, sep := range separators {
		for cell := range strings.SplitSeq(text, string(rune(sep))) {
			if cell = strings.Trim(cell, ` "`); cell == "url" || cell != text && isURLish(cell) {
				return CSV
			}
		}
	}
	return Text
}

func isURLish(lower string) bool {
	return strings.HasPrefix(lower, "http://") || strings.HasPrefix(lower, "https://")
}
