package source

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// MaxURLBytes is the longest URL read. Servers stop at 8 to 16 KiB; past 64 KiB a line is no address.
const MaxURLBytes = 64 << 10

// URL is a normalised web address.
type URL struct {
	// String is the whole address, printable ASCII, without credentials or fragment. Equal strings are the same page.
	String string
	// Host is the domain, the key of target budgets: the lower-case hostname in punycode, without port, trailing dot
	// or the brackets of an IPv6 literal.
	Host string
}

// Normalise reads one absolute http or https URL. Surrounding blanks are dropped; then scheme and host go to lower case,
// IDN to punycode, the default port, one trailing host dot and the fragment are dropped, an empty path becomes "/", dot
// segments are resolved, percent-encoding is upper-cased and unreserved characters are decoded (RFC 3986 section 6.2.2).
// What a URL may not hold raw (spaces, letters outside ASCII, quotes) is percent-encoded as UTF-8. Query order, trailing
// slash, "www.", scheme and other ports stay as they are. It is idempotent.
//
// The error says why the text is refused, in one line, and repeats none of it but a scheme's name.
func Normalise(raw string) (URL, error) {
	s := strings.TrimPrefix(strings.Trim(raw, " \t\r\n"), "\ufeff")
	switch {
	case s == "":
		return URL{}, errors.New("empty")
	case len(s) > MaxURLBytes:
		return URL{}, fmt.Errorf("longer than %d bytes", MaxURLBytes)
	}
	if err := checkText(s); err != nil {
		return URL{}, err
	}
	scheme, rest, err := splitScheme(s)
	if err != nil {
		return URL{}, err
	}
	if strings.Contains(rest, " http://") || strings.Contains(rest, " https://") {
		return URL{}, errors.New("more than one URL on the line")
	}
	authority, tail := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, tail = rest[:i], rest[i:]
	}
	if strings.Contains(authority, "@") {
		return URL{}, errors.New("credentials in the URL are refused")
	}
	host, key, err := normaliseAuthority(scheme, authority)
	if err != nil {
		return URL{}, err
	}
	tail, _, _ = strings.Cut(tail, "#")
	path, query, hasQuery := strings.Cut(tail, "?")
	pathAt := len(s) - len(rest) + len(authority)
	queryAt := pathAt + len(path) + 1
	if path, err = normaliseEscapes(path, &pathBytes, pathAt); err != nil {
		return URL{}, err
	}
	if query, err = normaliseEscapes(query, &queryBytes, queryAt); err != nil {
		return URL{}, err
	}
	path = removeDotSegments(path)
	var b strings.Builder
	b.Grow(len(scheme) + 3 + len(host) + len(path) + 1 + len(query))
	b.WriteString(scheme)
	b.WriteString("://")
	b.WriteString(host)
	b.WriteString(path)
	if hasQuery {
		b.WriteByte('?')
		b.WriteString(query)
	}
	return URL{String: b.String(), Host: key}, nil
}

// checkText refuses what would be shown or cut differently than it is sent.
func checkText(s string) error {
	if !utf8.ValidString(s) {
		return errors.New("not valid UTF-8")
	}
	for i, r := range s {
		if unicode.IsControl(r) {
			return fmt.Errorf("control character U+%04X at byte %d", r, i+1)
		}
	}
	return nil
}

// splitScheme cuts "http://" or "https://" off; scheme is in lower case.
func splitScheme(s string) (scheme, rest string, err error) {
	name, rest, found := strings.Cut(s, ":")
	if !found || !isScheme(name) {
		return "", "", errors.New("not an absolute URL: it must begin with http:// or https://")
	}
	switch scheme = strings.ToLower(name); scheme {
	case "http", "https":
	default:
		// "localhost:8080" and "www.example.test:80/x" are hosts whose scheme was left out.
		if strings.Contains(name, ".") || (rest != "" && rest[0] >= '0' && rest[0] <= '9') {
			return "", "", errors.New("not an absolute URL: it must begin with http:// or https://")
		}
		if len(scheme) > 20 || strings.Contains(rest, "@") && !strings.HasPrefix(rest, "//") && scheme != "mailto" {
			// "name:secret@host": the name is no scheme either, and not ours to repeat.
			return "", "", errors.New("not an http or https URL")
		}
		return "", "", fmt.Errorf("scheme %s is not http or https", scheme)
	}
	if !strings.HasPrefix(rest, "//") {
		return "", "", fmt.Errorf("not an absolute URL: %s: must be followed by //", scheme)
	}
	return scheme, rest[2:], nil
}

func isScheme(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case isLetter(c):
		case i > 0 && (isDigit(c) || c == '+' || c == '-' || c == '.'):
		default:
			return false
		}
	}
	return s != ""
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

type byteSet [256]bool

func newByteSet(others string) (set byteSet) {
	for c := range 256 {
		set[c] = c < 0x80 && (isLetter(byte(c)) || isDigit(byte(c)))
	}
	for i := range len(others) {
		set[others[i]] = true
	}
	return set
}

// The bytes that stand for themselves (RFC 3986 sections 2.3, 3.3, 3.4). Square brackets in a query are no part of the
// RFC's set, but every browser sends them raw and servers read "a[]=1" so.
var (
	unreserved = newByteSet("-._~")
	pathBytes  = newByteSet("-._~!$&'()*+,;=:@/")
	queryBytes = newByteSet("-._~!$&'()*+,;=:@/?[]")
)

const upperHex = "0123456789ABCDEF"

// normaliseEscapes percent-encodes what is not in keep, decodes escapes of unreserved characters and upper-cases the
// others. at is where s begins in the text the user wrote.
func normaliseEscapes(s string, keep *byteSet, at int) (string, error) {
	clean := true
	for i := range len(s) {
		if !keep[s[i]] {
			clean = false
			break
		}
	}
	if clean {
		return s, nil
	}
	b := make([]byte, 0, len(s)+16)
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '%':
			if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
				return "", fmt.Errorf("bad percent escape at byte %d: %% must be followed by two hex digits", at+i+1)
			}
			c = unhex(s[i+1])<<4 | unhex(s[i+2])
			i += 2
			if unreserved[c] {
				b = append(b, c)
			} else {
				b = append(b, '%', upperHex[c>>4], upperHex[c&15])
			}
		case keep[c]:
			b = append(b, c)
		default:
			b = append(b, '%', upperHex[c>>4], upperHex[c&15])
		}
	}
	return string(b), nil
}

func isHex(c byte) bool { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func unhex(c byte) byte {
	if isDigit(c) {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// removeDotSegments resolves "." and ".." (RFC 3986 section 5.2.4); an empty path is "/".
func removeDotSegments(path string) string {
	if path == "" {
		return "/"
	}
	if !strings.Contains(path, "/.") {
		return path
	}
	segments := strings.Split(path[1:], "/")
	out := segments[:0]
	for i, seg := range segments {
		last := i == len(segments)-1
		switch seg {
		case ".":
		case "..":
			if len(out) > 0 {
				out = out[:len(out)-1]
			}
		default:
			out = append(out, seg)
			continue
		}
		if last {
			out = append(out, "")
		}
	}
	return "/" + strings.Join(out, "/")
}
