package view

import (
	"regexp"
	"strings"
)

// matcher compiles a filter (Query.Filter) into a test on domain names, regardless of case. Words apart are all wanted; a
// domain has no blanks, so nothing else could be meant. A pattern needs no closing slash: it is applied while it is typed.
func matcher(filter string) func(domain string) bool {
	filter = strings.TrimSpace(filter)
	if rest, ok := strings.CutPrefix(filter, "/"); ok {
		return pattern(strings.TrimSuffix(rest, "/"))
	}
	var wanted, unwanted []string
	for word := range strings.FieldsSeq(strings.ToLower(filter)) {
		if rest, ok := strings.CutPrefix(word, "!"); !ok {
			wanted = append(wanted, word)
		} else if rest != "" {
			unwanted = append(unwanted, rest)
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
		return true
	}
}

func pattern(expr string) func(string) bool {
	re, err := regexp.Compile("(?i)" + expr)
	if err != nil {
		return func(string) bool { return false }
	}
	return re.MatchString
}
