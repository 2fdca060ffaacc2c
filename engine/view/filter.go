package view

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// matcher compiles a filter (Query.Filter) into a test on domain names, regardless of case. Words apart are all wanted; a
// domain has no blanks, so nothing else could be meant. "!word" excludes, "~word" wants its letters in their order, and a
// pattern needs no closing slash: it is applied while it is typed.
func matcher(filter string) func(domain string) bool {
	filter = strings.TrimSpace(filter)
	if rest, ok := strings.CutPrefix(filter, "/"); ok {
		return pattern(strings.TrimSuffix(rest, "/"))
	}
	var wanted, unwanted, fuzzy []string
	for word := range strings.FieldsSeq(strings.ToLower(filter)) {
		rest, not := strings.CutPrefix(word, "!")
		letters, loose := strings.CutPrefix(word, "~")
		switch {
		case not && rest != "":
			unwanted = append(unwanted, rest)
		case loose:
			fuzzy = append(fuzzy, letters)
		case !not:
			wanted = append(wanted, word)
		}
	}
	return func(domain string) bool {
		domain = strings.ToLower(domain)
		for _, w := range wanted {
			if !strings.Contains(domain, w) {
				return false
			}
		}
		for _, w := range unwanted {
			if strings.Contains(domain, w) {
				return false
			}
		}
		for _, letters := range fuzzy {
			if !Fuzzy(domain, letters) {
				return false
			}
		}
		return true
	}
}

// Fuzzy tells whether text holds letters in their order, with anything between them; the case must be the same.
func Fuzzy(text, letters string) bool {
	for _, r := range letters {
		i := strings.IndexRune(text, r)
		if i < 0 {
			return false
		}
		_, size := utf8.DecodeRuneInString(text[i:]) // what is no UTF-8 is one byte long
		text = text[i+size:]
	}
	return true
}

func pattern(expr string) func(string) bool {
	re, err := regexp.Compile("(?i)" + expr)
	if err != nil {
		return func(string) bool { return false }
	}
	return re.MatchString
}
