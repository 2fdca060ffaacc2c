package storage

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A spreadsheet runs a cell that begins like a formula, so that a page's title could act on the reader's machine. csvCell
// puts an apostrophe before such a cell: spreadsheets take that as "this is text" or show it, and none strips it as
// they strip a tab. What counts as a formula is a first character = + - @, tab or carriage return, or a full-width
// = + - @, also behind blanks and invisible characters. Numbers stay as they are, so -12.5 can be summed, and
// so does a lone "-", which is how tables say "none". A number that begins with + is guarded: nobody writes a quantity
// so, and a telephone number would lose its plus.
//
// A cell that already is an apostrophe before something dangerous gets another one, so that removing one apostrophe
// from every cell that is an apostrophe before something dangerous gives back the data exactly.
//
// Bytes that are not UTF-8 become U+FFFD.
func csvCell(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if dangerous(strings.TrimLeft(s, "'")) {
		return "'" + s
	}
	return s
}

// dangerous reports whether a spreadsheet may run a cell.
func dangerous(s string) bool {
	for i, r := range s {
		switch r {
		case '=', '+', '@', '\t', '\r', '\uFF1D', '\uFF0B', '\uFF0D', '\uFF20':
			return true
		case '-', '\u2212':
			return !plainMinus(s[i:])
		}
		if !unicode.IsSpace(r) && !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r) {
			return false
		}
	}
	return false
}

// plainMinus reports that a text that begins with a minus is a lone one or a number.
func plainMinus(s string) bool {
	_, size := utf8.DecodeRuneInString(s)
	rest := s[size:]
	return strings.TrimSpace(rest) == "" || isNumber(rest)
}

// isNumber reports digits with an optional fraction and exponent, as JSON writes numbers.
func isNumber(s string) bool {
	digits := func() bool {
		n := 0
		for n < len(s) && '0' <= s[n] && s[n] <= '9' {
			n++
		}
		s = s[n:]
		return n > 0
	}
	if !digits() {
		return false
	}
	if strings.HasPrefix(s, ".") {
		if s = s[1:]; !digits() {
			return false
		}
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if !digits() {
			return false
		}
	}
	return s == ""
}
