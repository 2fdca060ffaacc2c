package view

import (
	"strings"
	"testing"
)

func TestFilter(t *testing.T) {
	all := []string{"shop-a.example", "shop-b.example", "news.example", "xn--bcher-kva.example", "10.0.0.1"}
	tests := []struct {
		name, filter, want string
	}{
		{"nothing", "", "shop-a.example shop-b.example news.example xn--bcher-kva.example 10.0.0.1"},
		{"blanks", "   ", "shop-a.example shop-b.example news.example xn--bcher-kva.example 10.0.0.1"},
		{"a part", "shop", "shop-a.example shop-b.example"},
		{"in capitals", "SHOP", "shop-a.example shop-b.example"},
		{"the dot is a dot", "s.e", "news.example"},
		{"excluded", "!shop", "news.example xn--bcher-kva.example 10.0.0.1"},
		{"wanted and excluded", "shop !-b", "shop-a.example"},
		{"two words", "shop example -a", "shop-a.example"},
		{"an exclamation mark being typed", "!", "shop-a.example shop-b.example news.example xn--bcher-kva.example 10.0.0.1"},
		{"a pattern", "/^shop-[ab]/", "shop-a.example shop-b.example"},
		{"a pattern in capitals", "/^SHOP/", "shop-a.example shop-b.example"},
		{"a pattern being typed", "/^news", "news.example"},
		{"an empty pattern", "//", "shop-a.example shop-b.example news.example xn--bcher-kva.example 10.0.0.1"},
		{"a bad pattern matches nothing", "/shop(/", ""},
		{"a pattern that Go does not know matches nothing", "/(?=shop)/", ""},
		{"letters in their order", "~spb", "shop-b.example"},
		{"letters in another order", "~bps", ""},
		{"fuzzy and excluded", "~sae !news", "shop-a.example shop-b.example"},
		{"a tilde being typed", "~", "shop-a.example shop-b.example news.example xn--bcher-kva.example 10.0.0.1"},
		{"broken UTF-8 in letters", "~s\xff", ""},
		{"no match", "absent", ""},
		{"escapes are text", "\x1b[2J", ""},
		{"broken UTF-8", "\xff", ""},
		{"broken UTF-8 in a pattern matches nothing", "/\xff/", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			match := matcher(test.filter)
			var got []string
			for _, d := range all {
				if match(d) {
					got = append(got, d)
				}
			}
			if strings.Join(got, " ") != test.want {
				t.Errorf("%q leaves %q, want %q", test.filter, got, test.want)
			}
		})
	}
}

func FuzzFilter(f *testing.F) {
	for _, s := range []string{"shop", "!shop a", "/^a|b/", "/(/", "!", "/", "\xff", "/a{1000}{1000}/", "~sh", "~\xff\xff"} {
		f.Add(s, "shop.example")
	}
	f.Fuzz(func(t *testing.T, filter, domain string) {
		match := matcher(filter)
		got := match(domain)
		if got != matcher(filter)(domain) {
			t.Errorf("%q cannot decide about %q", filter, domain)
		}
		if words := strings.TrimSpace(filter); words != "" && !strings.ContainsAny(words, "!~/ \t\n\v\f\r\u0085\u00a0") && len(strings.Fields(words)) == 1 &&
			got != strings.Contains(strings.ToLower(domain), strings.ToLower(words)) {
			t.Errorf("%q is one word and does not decide about %q as one", filter, domain)
		}
	})
}
