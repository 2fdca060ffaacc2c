package transport

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// What stands in the place of what was taken out. Text that holds them is left alone by a second pass.
const (
	redacted = "[redacted]"
	email    = "[email]"
	digits   = "[digits]"
)

const (
	// minSecret is the shortest literal secret that is looked for: anything shorter occurs in honest text.
	minSecret = 4
	// sampleSlack is how much more than the wanted sample is redacted, so that what is cut at the window's end is not
	// what ends up at the sample's.
	sampleSlack = 4 << 10
	// maxHeaders and maxHeaderValue bound what is kept of a response's headers.
	maxHeaders     = 32
	maxHeaderValue = 256
)

// Redactor takes secrets and personal data out of texts. It knows the literal secrets of the process and the shapes that
// secrets have. Its methods are idempotent and safe for concurrent use; their output is at most a few times their input.
type Redactor struct {
	secrets []string // longest first
}

// NewRedactor makes a redactor that knows these secrets by heart. Secrets of fewer than four bytes are ignored.
func NewRedactor(secrets ...string) *Redactor {
	r := &Redactor{}
	for _, s := range secrets {
		if s = strings.TrimSpace(s); len(s) >= minSecret {
			r.secrets = append(r.secrets, s)
		}
	}
	slices.SortFunc(r.secrets, func(a, b string) int { return len(b) - len(a) })
	r.secrets = slices.Compact(r.secrets)
	return r
}

// Text takes out the literal secrets (percent-encoded ones too), whatever has the shape of a secret, e-mail addresses and
// runs of nine or more digits.
func (r *Redactor) Text(s string) string {
	if s == "" { // as most errors are
		return s
	}
	return stable(s, func(s string) string { return maskPersonal(r.secret(s)) })
}

// secret takes out secrets and leaves personal data, whose shapes are those of honest numbers too.
func (r *Redactor) secret(s string) string {
	return maskShapes(maskNamed(r.literal(s)))
}

// stable applies a pass until it changes nothing: taking one thing out can bring the parts of another together.
func stable(s string, pass func(string) string) string {
	for range 4 {
		next := pass(s)
		if next == s {
			break
		}
		s = next
	}
	return s
}

// literal takes out every occurrence of a known secret, plain, percent-encoded (twice too) or escaped as in JSON.
func (r *Redactor) literal(s string) string {
	if len(r.secrets) == 0 {
		return s
	}
	var out strings.Builder
	kept := 0
	for i := 0; i < len(s); {
		if n := maskAt(s[i:]); n > 0 {
			i += n
			continue
		}
		n := 0
		for _, secret := range r.secrets {
			if n = encodedPrefix(s[i:], secret); n > 0 {
				break
			}
		}
		if n == 0 {
			i++
			continue
		}
		out.WriteString(s[kept:i])
		out.WriteString(redacted)
		i += n
		kept = i
	}
	if kept == 0 {
		return s
	}
	out.WriteString(s[kept:])
	return out.String()
}

// maskAt is the length of the mask that s begins with, or zero.
func maskAt(s string) int {
	if s == "" || s[0] != '[' {
		return 0
	}
	for _, m := range []string{redacted, email, digits} {
		if strings.HasPrefix(s, m) {
			return len(m)
		}
	}
	return 0
}

// encodedPrefix is how many bytes of s spell secret, or zero. Each byte may be written plainly, as %XX, as %25XX or as
// \u00XX, and may stand behind a backslash.
func encodedPrefix(s, secret string) int {
	i := 0
	for j := 0; j < len(secret); j++ {
		want := secret[j]
		rest := s[i:]
		switch {
		case rest == "":
			return 0
		case rest[0] == want:
			i++
		case rest[0] == '%' && len(rest) >= 5 && rest[1:3] == "25" && hexByte(rest[3:5]) == int(want):
			i += 5
		case rest[0] == '%' && len(rest) >= 3 && hexByte(rest[1:3]) == int(want):
			i += 3
		case rest[0] == '\\' && len(rest) >= 6 && (rest[1] == 'u' || rest[1] == 'U') && rest[2:4] == "00" && hexByte(rest[4:6]) == int(want):
			i += 6
		case rest[0] == '\\' && len(rest) >= 2 && rest[1] == want:
			i += 2
		case rest[0] == '+' && want == ' ':
			i++
		default:
			return 0
		}
	}
	return i
}

func hexByte(s string) int {
	hi, lo := hexDigit(s[0]), hexDigit(s[1])
	if hi < 0 || lo < 0 {
		return -1
	}
	return hi<<4 | lo
}

func hexDigit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// Sample is at most max bytes of the beginning of a body, redacted before it is cut. Of a large body only a window a
// little larger than max is looked at; a secret that the window's end cuts through does not show.
func (r *Redactor) Sample(body []byte, max int) []byte {
	if max <= 0 || len(body) == 0 {
		return nil
	}
	window := body
	if len(window) > max+sampleSlack {
		window = window[:max+sampleSlack]
		// The last bytes may be the beginning of something that is only recognised whole: go back to a blank, or by more
		// than any known secret is long (each of its bytes takes six at most).
		margin := 1 << 10
		if len(r.secrets) > 0 {
			margin = min(sampleSlack, margin+6*len(r.secrets[0]))
		}
		window = window[:len(window)-margin]
		for i := 0; i < sampleSlack-margin && len(window) > 0; i++ {
			c := window[len(window)-1]
			if c == ' ' || c == '\n' || c == '\t' || c == '\r' {
				break
			}
			window = window[:len(window)-1]
		}
	}
	return []byte(cut(r.Text(string(window)), max))
}

// cut shortens s to at most max bytes, between characters and never inside a mask.
func cut(s string, max int) string {
	if len(s) <= max {
		return s
	}
	end := max
	for end > 0 && end > max-utf8.UTFMax && !utf8.RuneStart(s[end]) {
		end--
	}
	if open := strings.LastIndexByte(s[:end], '['); open >= 0 && open+maskAt(s[open:]) > end {
		end = open
	}
	return s[:end]
}

// keptHeaders are the response headers that attempts keep, by name and by prefix.
var (
	keptHeaders  = []string{"date", "age", "content-type", "server", "x-mode-used"}
	keptPrefixes = []string{"retry-after", "ratelimit", "x-ratelimit", "x-rate-limit", "x-credits-"}
)

// Headers keeps what attempts record of a response's headers: an allow-list, names in lower case, several values joined by
// ", ", each capped at 256 bytes, at most 32 of them (the first by name), and redacted. Numbers stay: they are what the
// record is for.
func (r *Redactor) Headers(h http.Header) map[string]string {
	names := make([]string, 0, 8) // enough for nearly every answer, and not on the heap
	for name := range h {
		if keptHeader(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	out := make(map[string]string, min(len(names), maxHeaders))
	for _, name := range names {
		key := lowerName(name)
		if _, known := out[key]; !known && len(out) == maxHeaders {
			continue
		}
		value := strings.Join(h[name], ", ")
		if before := out[key]; before != "" {
			value = before + ", " + value
		}
		if len(value) > maxHeaderValue*4 {
			value = value[:maxHeaderValue*4]
		}
		if !r.plain(value) {
			value = stable(value, r.secret)
		}
		out[key] = cut(value, maxHeaderValue)
	}
	return out
}

// plain reports a value in which no secret can stand: short words and numbers, nothing named, no literal secret. Dates,
// types and counters are, and they are most of what is kept.
func (r *Redactor) plain(value string) bool {
	const longest = 12 // letters and digits in a row
	run := 0
	for i := range len(value) {
		switch c := value[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z':
			if run++; run > longest {
				return false
			}
		case c == ' ' || c == ',' || c == '/' || c == '.' || c == ';' || c == '+':
			run = 0
		case c == ':' && i > 0 && value[i-1] >= '0' && value[i-1] <= '9': // a time of day
			run = 0
		default:
			return false
		}
	}
	for _, secret := range r.secrets {
		if strings.Contains(value, secret) {
			return false
		}
	}
	return !announces(value)
}

// announces reports words after which a secret may follow without a sign between them.
func announces(value string) bool {
	for i := range len(value) {
		switch value[i] | 0x20 {
		case 'b':
			if startsFold(value[i:], "bearer") || startsFold(value[i:], "basic") {
				return true
			}
		case 'k':
			if startsFold(value[i:], "key") {
				return true
			}
		case 't':
			if startsFold(value[i:], "token") {
				return true
			}
		}
	}
	return false
}

// startsFold reports that s starts with prefix in any case.
func startsFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

func keptHeader(name string) bool {
	for _, kept := range keptHeaders {
		if strings.EqualFold(name, kept) {
			return true
		}
	}
	return slices.ContainsFunc(keptPrefixes, func(p string) bool { return startsFold(name, p) })
}

// lowerName is a header's name in lower case; of those that nearly every answer has, the same string each time.
func lowerName(name string) string {
	for _, kept := range keptHeaders {
		if strings.EqualFold(name, kept) {
			return kept
		}
	}
	return strings.ToLower(name)
}
