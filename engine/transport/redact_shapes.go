package transport

import (
	"regexp"
	"strings"
)

// The shapes of secrets that are recognised without a name. Go's regular expressions take linear time.
var (
	// user:password@ of a URL: up to the last @ before the path.
	userinfo = regexp.MustCompile(`://[^/?#\s"'<>]*@`)
	// Bearer tokens whatever their form; Basic and Token only when what follows is no word.
	bearer = regexp.MustCompile(`(?i)\b(bearer(?:\s+|%20|\+))([^\s"'\\,;<>\[\]]+)`)
	basic  = regexp.MustCompile(`(?i)\b((?:basic|token|apikey)\s+)([A-Za-z0-9+/_.=-]{8,})`)
	jwt    = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*){1,4}`)
	// Keys that say by their beginning that they are keys.
	prefixed = regexp.MustCompile(`\b(?:(?:spd|ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9_-]{4,}|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{4,}|` +
		`sk-[A-Za-z0-9_-]{20,}|glpat-[A-Za-z0-9_-]{8,}|xox[abprs]-[A-Za-z0-9-]{8,}|A[KS]IA[A-Z0-9]{12,}|AIza[A-Za-z0-9_-]{20,})`)
	pem = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*(?:-----END [A-Z ]*PRIVATE KEY-----)?`)
	// A long run behind a secret's name with nothing but blanks, quotes or "is" between: invalid key 0123abcd....
	named = regexp.MustCompile(`(?i)\b((?:api[ _-]?key|key|token|secret|password|signature|session|credential)s?(?:\s+is|\s+was)?[\s"'(:=#]{1,4})([A-Za-z0-9+/_.=-]{12,})`)
)

func maskShapes(s string) string {
	s = pem.ReplaceAllLiteralString(s, redacted)
	s = userinfo.ReplaceAllLiteralString(s, "://"+redacted+"@")
	s = bearer.ReplaceAllString(s, "${1}"+redacted)
	s = maskUnlessWord(basic, s)
	s = jwt.ReplaceAllLiteralString(s, redacted)
	s = prefixed.ReplaceAllLiteralString(s, redacted)
	return maskUnlessWord(named, s)
}

// maskUnlessWord masks the second group where it holds a digit or mixed case: a secret's run does, a word does not.
func maskUnlessWord(re *regexp.Regexp, s string) string {
	return re.ReplaceAllStringFunc(s, func(m string) string {
		g := re.FindStringSubmatch(m)
		run := g[2]
		if !strings.ContainsAny(run, "0123456789+/=") && strings.ToLower(run) == run {
			return m
		}
		return g[1] + redacted
	})
}

// Personal data: addresses and long numbers (telephone, card, account).
var (
	address = regexp.MustCompile(`[\p{L}\p{N}._%+\-]+(?:@|%40)[\p{L}\p{N}\-]+(?:\.[\p{L}\p{N}\-]+)+`)
	run     = regexp.MustCompile(`\p{Nd}{9,}`)
	card    = regexp.MustCompile(`\b(?:\d{4}[ -]){3}\d{1,7}\b`)
	phone   = regexp.MustCompile(`\+\d[\d ().-]{7,}\d`)
)

func maskPersonal(s string) string {
	if strings.Contains(s, "@") || strings.Contains(s, "%40") { // most texts hold none, and this is the dear one
		s = address.ReplaceAllLiteralString(s, email)
	}
	s = run.ReplaceAllLiteralString(s, digits)
	s = card.ReplaceAllLiteralString(s, digits)
	return phone.ReplaceAllLiteralString(s, digits)
}
