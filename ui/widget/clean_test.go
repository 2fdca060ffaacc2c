package widget

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

func TestClean(t *testing.T) {
	family := "\U0001f468\u200d\U0001f469\u200d\U0001f467"
	for name, c := range map[string]struct {
		in    string
		width int
		want  string
	}{
		"plain ASCII is returned as it is":                 {"https://shop.example/a?b=1", 80, "https://shop.example/a?b=1"},
		"plain ASCII that is too long is cut":              {"abcdef", 4, "abc…"},
		"exactly as wide as allowed is not cut":            {"abcd", 4, "abcd"},
		"one cell holds the mark only":                     {"abcd", 1, "…"},
		"no cells, no text":                                {"abcd", 0, ""},
		"negative cells, no text":                          {"abcd", -3, ""},
		"colour codes go":                                  {"a\x1b[31mred\x1b[0m", 80, "ared"},
		"clear screen goes":                                {"\x1b[2Jhi", 80, "hi"},
		"a broken off CSI goes":                            {"hi\x1b[31", 80, "hi"},
		"a CSI that breaks off keeps the text after it":    {"\x1b[12é", 80, "é"},
		"a title sequence goes":                            {"\x1b]0;owned\x07hi", 80, "hi"},
		"a clipboard write goes":                           {"a\x1b]52;c;ZXZpbA==\x1b\\b", 80, "ab"},
		"a link keeps its text":                            {"\x1b]8;;http://evil.example\x1b\\text\x1b]8;;\x1b\\", 80, "text"},
		"an unfinished OSC swallows only its own line":     {"a\x1b]0;never ends", 80, "a"},
		"an OSC ends with the UTF-8 string terminator":     {"a\x1b]0;x\u009cb", 80, "ab"},
		"a DCS goes":                                       {"a\x1bP+q544e\x1b\\b", 80, "ab"},
		"APC and PM go":                                    {"a\x1b_x\x1b\\b\x1b^y\x1b\\c", 80, "abc"},
		"a report request goes":                            {"\x1b[6nhi", 80, "hi"},
		"a charset switch goes":                            {"\x1b(0hi", 80, "hi"},
		"a reset goes":                                     {"\x1bchi", 80, "hi"},
		"a lone escape at the end goes":                    {"hi\x1b", 80, "hi"},
		"an escape inside an escape goes":                  {"\x1b[\x1b[31mx", 80, "x"},
		"tab and line ends are spaces":                     {"a\tb\nc\r\nd\re", 80, "a b c d e"},
		"line and paragraph separators are spaces":         {"a\u2028b\u2029c", 80, "a b c"},
		"control characters are visible":                   {"a\x00b\x08c\x07d\x7fe", 80, "a·b·c·d·e"},
		"C1 as UTF-8 is visible":                           {"a\u009b31mb\u0085", 80, "a·31mb·"},
		"C1 as a byte is visible":                          {"a\x9b31mb", 80, "a·31mb"},
		"invalid UTF-8 is replaced":                        {"a\xffb\xc3", 80, "a\ufffdb\ufffd"},
		"a surrogate half is replaced":                     {"a\xed\xa0\x80", 80, "a\ufffd\ufffd·"},
		"direction overrides go":                           {"\u202egpj.exe\u202c", 80, "gpj.exe"},
		"direction isolates go":                            {"\u2066a\u2067b\u2068c\u2069", 80, "abc"},
		"zero-width characters go":                         {"pay\u200bpal\u200c\u200e\u200f\ufeff", 80, "paypal"},
		"soft hyphen, word joiner and letter mark go":      {"a\u00adb\u2060c\u061cd", 80, "abcd"},
		"tag characters go":                                {"a\U000e0041\U000e007fb", 80, "ab"},
		"a joiner between letters goes":                    {"a\u200db", 80, "ab"},
		"a joiner between emoji stays":                     {family, 80, family},
		"a joiner after an emoji with selector stays":      {"\u2764\ufe0f\u200d\U0001f525", 80, "\u2764\ufe0f\u200d\U0001f525"},
		"a joiner before a letter goes":                    {"\U0001f468\u200dx", 80, "\U0001f468x"},
		"a leading combining mark goes":                    {"\u0301abc", 80, "abc"},
		"a leading variation selector goes":                {"\ufe0fabc", 80, "abc"},
		"a selector after a digit goes, it would widen it": {"1\ufe0f2", 80, "12"},
		"combining marks stay":                             {"Zu\u0308rich", 80, "Zu\u0308rich"},
		"a pile of marks is cut to four":                   {"a" + strings.Repeat("\u0301", 500) + "b", 80, "a\u0301\u0301\u0301\u0301b"},
		"wide characters are not halved":                   {"日本語", 4, "日…"},
		"wide characters that fit stay":                    {"日本語", 6, "日本語"},
		"an emoji is not halved":                           {"a" + family + family, 4, "a" + family + "…"},
		"right-to-left text stays":                         {"שלום", 80, "שלום"},
		"the escape before a combining mark is no shield":  {"\x1b[0m\u0301a", 80, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			got := Clean(c.in, c.width)
			if got != c.want {
				t.Errorf("Clean(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
			}
			checkClean(t, got, c.width)
		})
	}
}

func TestCleanIsCheapForHugeText(t *testing.T) {
	for name, s := range map[string]string{
		"letters":      strings.Repeat("é", 1<<22),
		"joined emoji": strings.Repeat("\U0001f468\u200d", 1<<20),
		"spaces":       strings.Repeat("\n", 1<<22),
	} {
		t.Run(name, func(t *testing.T) {
			got := Clean(s, 40)
			checkClean(t, got, 40)
			if len(got) > bytesPerCell*41 {
				t.Errorf("%d bytes for 40 cells", len(got))
			}
			if allocated := testing.AllocsPerRun(3, func() { Clean(s, 40) }); allocated > 20 {
				t.Errorf("%v allocations", allocated)
			}
		})
	}
}

func checkClean(t *testing.T, s string, width int) {
	t.Helper()
	if !utf8.ValidString(s) {
		t.Errorf("%q is not UTF-8", s)
	}
	for _, r := range s {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200b || r == 0xfeff {
			t.Errorf("%q holds %U", s, r)
		}
	}
	if w := ansi.StringWidth(s); w > max(width, 0) {
		t.Errorf("%q takes %d cells of %d", s, w, width)
	}
	if again := Clean(s, width); again != s {
		t.Errorf("cleaning %q again gives %q", s, again)
	}
	if got := ansi.StringWidth("x" + s + "x"); got != ansi.StringWidth(s)+2 {
		t.Errorf("%q joins with its neighbours", s)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"plain", "a\x1b[31mb", "\x1b]0;t\x07x", "\x1bP\x1b\\", "日本語", "\U0001f468\u200d\U0001f469", "\u202eabc",
		"e\u0301", "\xff\xfe", "\u0600a", "\u0e33", "\U0001f1e9\U0001f1ea", "\U0001f44b\U0001f3fd", "1\ufe0f\u20e3", "\u1100\u1161\u11a8"} {
		f.Add(s, 10)
	}
	f.Fuzz(func(t *testing.T, s string, width int) {
		width %= 200
		got := Clean(s, width)
		checkClean(t, got, width)
		if w := Width(Fit(got, 20, Right)); w != 20 {
			t.Errorf("Fit(%q) is %d cells wide", got, w)
		}
		plain := ASCII(got)
		if !isASCII(plain) || Width(plain) != Width(got) {
			t.Errorf("ASCII(%q) = %q", got, plain)
		}
	})
}
