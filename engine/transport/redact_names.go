package transport

import (
	"slices"
	"strings"
)

// secretNames are names whose values are secrets, without case, hyphens, underscores and dots.
var secretNames = []string{
	"key", "apikey", "xapikey", "accesskey", "secretkey", "privatekey", "subscriptionkey", "signingkey",
	"token", "accesstoken", "refreshtoken", "idtoken", "authtoken", "apitoken", "csrftoken", "xcsrftoken", "xsrftoken",
	"secret", "clientsecret", "password", "passwd", "passphrase", "passcode", "pwd", "pass",
	"sig", "signature", "hmac", "auth", "authorization", "proxyauthorization", "bearer", "jwt", "otp",
	"session", "sessionid", "sessid", "sid", "phpsessid", "jsessionid", "aspsessionid", "connectsid", "cookie", "setcookie",
	"credential", "credentials", "awsaccesskeyid", "csrf", "nonce", "ticket",
}

// secretParts are last parts of longer names that make them secret: user_token, X-Amz-Signature, acme-api-key.
var secretParts = []string{
	"key", "token", "secret", "password", "passwd", "pwd", "sig", "signature", "auth", "session", "sessionid", "sid",
	"credential", "apikey", "jwt", "cookie",
}

// lineNames are header names whose unquoted value reaches to the end of its line.
var lineNames = []string{"authorization", "proxyauthorization", "cookie", "setcookie"}

// secretName reports whether what a name names is a secret. Inside a URL, code (OAuth's) and state are ones too; in other
// text a code is mostly an error's.
func secretName(name string, inURL bool) bool {
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune("-_. []", r) })
	if len(parts) == 0 {
		return false
	}
	whole := strings.Join(parts, "")
	if inURL && (whole == "code" || whole == "state") {
		return true
	}
	if slices.Contains(secretNames, whole) || slices.Contains(secretNames, strings.TrimSuffix(whole, "s")) {
		return true
	}
	if len(parts) > 1 && slices.Contains(secretParts, parts[len(parts)-1]) {
		return true
	}
	for _, end := range []string{"token", "secret", "password", "apikey", "signature", "sessionid", "accesskey"} {
		if strings.HasSuffix(whole, end) {
			return true
		}
	}
	return false
}

// RedactURL takes the user information and the values of secret parameters (query and fragment) out of a URL. It leaves
// everything else, e-mail addresses and numbers in the path too, because there they are the page's name. It takes any text.
func RedactURL(u string) string {
	return stable(u, func(s string) string { return maskShapes(maskParameters(s)) })
}

// maskParameters masks the values of secret parameters, plainly or percent-encoded written.
func maskParameters(s string) string {
	start := strings.IndexAny(s, "?#")
	if start < 0 {
		return s
	}
	var out strings.Builder
	out.WriteString(s[:start])
	rest := s[start:]
	for rest != "" {
		out.WriteByte(rest[0]) // a separator
		rest = rest[1:]
		end := strings.IndexAny(rest, "&?#;")
		if end < 0 {
			end = len(rest)
		}
		name, value, found := strings.Cut(rest[:end], "=")
		if found && value != "" && secretName(unescape(name), true) {
			value = redacted
		}
		out.WriteString(name)
		if found {
			out.WriteByte('=')
			out.WriteString(maskNamed(value)) // a whole URL may stand in a parameter
		}
		rest = rest[end:]
	}
	return out.String()
}

// unescape undoes percent-encoding where it is well-formed.
func unescape(s string) string {
	if !strings.ContainsRune(s, '%') {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if b := hexByte(s[i+1 : i+3]); b >= 0 {
				out.WriteByte(byte(b))
				i += 2
				continue
			}
		}
		out.WriteByte(s[i])
	}
	return out.String()
}

// maskNamed masks the values of secret names in text: key=value, Key: value, "key": "value", the same inside a JSON string
// and percent-encoded. It walks the separators and looks back for the name, so a harmless name hides no secret behind it.
func maskNamed(s string) string {
	var out strings.Builder
	kept := 0
	for i := 0; i < len(s); {
		sep := separatorAt(s[i:])
		if sep == 0 {
			i++
			continue
		}
		name := nameBefore(s[kept:i])
		if !secretName(name, false) {
			i += sep
			continue
		}
		from, to := valueAfter(s, i+sep, s[i] == ':', name)
		if to <= from || s[i] == ':' && strings.EqualFold(name, "auth") && prose(s, i+sep, from, to) {
			i += sep
			continue
		}
		out.WriteString(s[kept:from])
		out.WriteString(redacted)
		i, kept = to, to
	}
	if kept == 0 {
		return s
	}
	out.WriteString(s[kept:])
	return out.String()
}

// separatorAt is the length of the separator that s begins with, or zero.
func separatorAt(s string) int {
	switch s[0] {
	case '=', ':':
		return 1
	case '%':
		for _, enc := range []string{"%3d", "%3a", "%253d", "%253a"} {
			if len(s) >= len(enc) && strings.EqualFold(s[:len(enc)], enc) {
				return len(enc)
			}
		}
	}
	return 0
}

// maxName bounds how far back a name reaches.
const maxName = 64

// nameBefore is the name at the end of s, without quotes, backslashes and blanks around it. It may be percent-encoded, also
// twice, and so may be what stands around it.
func nameBefore(s string) string {
	end := len(s)
	for end > 0 && len(s)-end < 16 && strings.IndexByte(around, s[end-1]) >= 0 {
		end--
	}
	start := end
	for start > 0 && end-start < maxName && (nameByte(s[start-1]) || s[start-1] == '%') {
		start--
	}
	name := strings.TrimRight(unescape(unescape(s[start:end])), around)
	first := len(name)
	for first > 0 && nameByte(name[first-1]) {
		first--
	}
	return name[first:]
}

// around is what may stand between a name and its separator.
const around = " \t\"'\\]"

func nameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}

// valueAfter is where the value behind a separator begins and ends. A quoted value ends at its quote, or with the text if
// that was cut before it.
func valueAfter(s string, at int, colon bool, name string) (from, to int) {
	for at < len(s) && (s[at] == ' ' || s[at] == '\t') {
		at++
	}
	quote := at
	for quote < len(s) && s[quote] == '\\' {
		quote++
	}
	if quote < len(s) && (s[quote] == '"' || s[quote] == '\'') {
		from = quote + 1
		return from, closing(s, from, s[at:quote+1])
	}
	from = at
	if from == len(s) || s[from] == '{' {
		return from, from // nothing, or an object whose own names speak
	}
	if n := maskAt(s[from:]); n == 0 && s[from] == '[' {
		if end := strings.IndexByte(s[from:], ']'); end >= 0 {
			return from, from + end + 1
		}
		return from, len(s)
	}
	ends := " \t\r\n\"'&<>"
	switch {
	case slices.Contains(lineNames, strings.ToLower(strings.NewReplacer("-", "", "_", "").Replace(name))):
		ends = "\r\n"
	case colon:
		ends = " \t\r\n\"'&<>,}"
	}
	to = endOf(s, from, ends)
	if slices.Contains(schemes, strings.ToLower(s[from:to])) { // auth: Bearer abc
		rest := to
		for rest < len(s) && (s[rest] == ' ' || s[rest] == '\t') {
			rest++
		}
		to = endOf(s, rest, ends)
	}
	return from, to
}

// prose reports that what stands behind "auth:" is a sentence and not a value: auth is the name of a layer too, and refusals
// are told as "auth: the platform answered 401".
func prose(s string, sep, from, to int) bool {
	return from > sep && s[from:to] == "the" && strings.HasPrefix(s[to:], " ")
}

// schemes are words that stand before a credential.
var schemes = []string{"bearer", "basic", "token", "digest", "apikey", "negotiate"}

func endOf(s string, from int, ends string) int {
	if end := strings.IndexAny(s[from:], ends); end >= 0 {
		return from + end
	}
	return len(s)
}

// closing is where a quoted value ends: at the same quote behind as many backslashes as the opening one had.
func closing(s string, from int, quote string) int {
	for at := from; at < len(s); {
		n := strings.Index(s[at:], quote)
		if n < 0 {
			break
		}
		n += at
		slashes := 0
		for k := n - 1; k >= from && s[k] == '\\'; k-- {
			slashes++
		}
		if slashes%2 == 0 {
			return n
		}
		at = n + len(quote)
	}
	return len(s)
}
