package source

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

const testAgent = "acme-bot/1.0 (+https://acme.test/bot)"

func TestRobotsAllows(t *testing.T) {
	tests := []struct {
		name, file string
		allowed    []string
		forbidden  []string
	}{
		{"nothing said", "", []string{"/", "/x"}, nil},
		{"everything forbidden", "User-agent: *\nDisallow: /", []string{"/robots.txt"}, []string{"/", "/x?y"}},
		{"empty disallow", "User-agent: *\nDisallow:", []string{"/"}, nil},
		{"prefix", "User-agent: *\nDisallow: /a", []string{"/", "/b/a"}, []string{"/a", "/ab", "/a/b?c"}},
		{"longest wins", "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c", []string{"/a/b", "/a/bc"}, []string{"/a", "/a/c", "/a/b/c"}},
		{"allow wins when equally long", "User-agent: *\nDisallow: /page\nAllow: /page", []string{"/page"}, nil},
		{"allow wins in the other order", "User-agent: *\nAllow: /page\nDisallow: /page", []string{"/page"}, nil},
		{"wildcard is anchored", "User-agent: *\nDisallow: /a*b", []string{"/x/a/b", "/a"}, []string{"/ab", "/axxb", "/a/b/c"}},
		{"end", "User-agent: *\nDisallow: /*.php$", []string{"/x.php?y", "/x.php5"}, []string{"/x.php", "/a.php/b.php"}},
		{"end without wildcard", "User-agent: *\nDisallow: /$", []string{"/a"}, []string{"/"}},
		{"dollar within", "User-agent: *\nDisallow: /a$b", []string{"/a"}, []string{"/a$b", "/a$bc"}},
		{"length of a wildcard rule counts its own bytes", "User-agent: *\nAllow: /p.html\nDisallow: /*.html", []string{"/p.html"}, []string{"/q.html"}},
		{"query", "User-agent: *\nDisallow: /*?sort=", []string{"/a?x"}, []string{"/a?sort=1"}},
		{"escapes in either spelling", "User-agent: *\nDisallow: /%7Ea/b%2fc\nDisallow: /é", []string{"/~a/b/c"}, []string{"/~a/b%2Fc", "/%C3%A9"}},
		{"stray percent", "User-agent: *\nDisallow: /100%", []string{"/100"}, []string{"/100%25"}},
		{"own group instead of everybody's", "User-agent: *\nDisallow: /\nUser-agent: acme-bot\nDisallow: /x", []string{"/", "/y"}, []string{"/x"}},
		{"own group without rules", "User-agent: *\nDisallow: /\n\nUser-agent: Acme-Bot\nDisallow:", []string{"/x"}, nil},
		{"own groups are joined", "User-agent: acme-bot\nDisallow: /x\n\nUser-agent: other\nDisallow: /z\n\nUser-agent: ACME-BOT/2.0\nDisallow: /y", []string{"/z"}, []string{"/x", "/y"}},
		{"token is compared whole", "User-agent: acme\nDisallow: /\nUser-agent: acme-bot-news\nDisallow: /", []string{"/"}, nil},
		{"several agents, one group", "User-agent: a\nUser-agent: acme-bot\nUser-agent: b\nDisallow: /x", nil, []string{"/x"}},
		{"sitemap between agents and rules", "User-agent: acme-bot\nSitemap: http://a.test/s.xml\nDisallow: /x", nil, []string{"/x"}},
		{"rules before any agent", "Disallow: /x\nUser-agent: *\nDisallow: /y", []string{"/x"}, []string{"/y"}},
		{"comments", "# c\nUser-agent: * # all\nDisallow: /x#y\n", []string{"/"}, []string{"/x"}},
		{"byte order mark, CR", "\ufeffUser-agent: *\rDisallow: /x\r", []string{"/"}, []string{"/x"}},
		{"no leading slash", "User-agent: *\nDisallow: private/", []string{"/"}, []string{"/private/x"}},
		{"blanks and capitals", "  USER-AGENT :  *  \n\tdisALLOW :\t/x  ", []string{"/"}, []string{"/x"}},
		{"bad lines spoil only themselves", "User-agent: *\nCrawl-delay: soon\nnonsense\n: :\nDisallow: /x", []string{"/"}, []string{"/x"}},
		{"a page instead", "<!doctype html><html><body>Disallow: /</body></html>", []string{"/"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := ParseRobots([]byte(tt.file), testAgent)
			for _, path := range tt.allowed {
				if !r.Allows(path) {
					t.Errorf("%s is forbidden", path)
				}
			}
			for _, path := range tt.forbidden {
				if r.Allows(path) {
					t.Errorf("%s is allowed", path)
				}
			}
		})
	}
}

func TestRobotsCrawlDelay(t *testing.T) {
	tests := []struct {
		value string
		want  time.Duration
		ok    bool
	}{
		{"10", 10 * time.Second, true}, {"0.5", 500 * time.Millisecond, true}, {"0", 0, true}, {"300", MaxCrawlDelay, true}, {"86400", MaxCrawlDelay, true},
		{"1e300", MaxCrawlDelay, true}, {"1e999", MaxCrawlDelay, true}, {"-1", 0, false}, {"-1e999", 0, false}, {"NaN", 0, false}, {"Inf", 0, false}, {"", 0, false}, {"soon", 0, false},
	}
	for _, tt := range tests {
		got, ok := ParseRobots([]byte("User-agent: *\nCrawl-delay: "+tt.value+"\n"), testAgent).CrawlDelay()
		if got != tt.want || ok != tt.ok {
			t.Errorf("Crawl-delay %q: %v, %v; want %v, %v", tt.value, got, ok, tt.want, tt.ok)
		}
	}
	other := ParseRobots([]byte("User-agent: other\nCrawl-delay: 9\nUser-agent: acme-bot\nDisallow: /x\n"), testAgent)
	if _, ok := other.CrawlDelay(); ok {
		t.Error("the delay of another agent's group was taken")
	}
}

func TestRobotsSitemaps(t *testing.T) {
	r := ParseRobots([]byte("Sitemap: http://a.test/1.xml\nUser-agent: x\nDisallow: /\nsitemap:http://a.test/2.xml # c\nSitemap:\n"), testAgent)
	if want := []string{"http://a.test/1.xml", "http://a.test/2.xml"}; !reflect.DeepEqual(r.Sitemaps(), want) {
		t.Errorf("sitemaps %q, want %q", r.Sitemaps(), want)
	}
}

func TestRobotsForStatus(t *testing.T) {
	body := []byte("User-agent: *\nDisallow: /")
	tests := []struct {
		status               int
		allowed, unreachable bool
	}{
		{200, false, false}, {204, false, false}, {301, true, false}, {401, true, false}, {403, true, false}, {404, true, false}, {429, true, false},
		{500, false, true}, {503, false, true}, {999, false, true}, {0, false, true},
	}
	for _, tt := range tests {
		r := RobotsFor(tt.status, body, testAgent)
		if r.Allows("/x") != tt.allowed || r.Unreachable() != tt.unreachable {
			t.Errorf("status %d: allows %v, unreachable %v", tt.status, r.Allows("/x"), r.Unreachable())
		}
	}
}

func TestRobotsIsCutAtALine(t *testing.T) {
	file := "User-agent: *\nDisallow: /first\n" + strings.Repeat("# "+strings.Repeat("x", 61)+"\n", 8000)
	file = file[:maxRobotsBytes-len("\nDisallow: /")] + "\nDisallow: /private\nDisallow: /last\n"
	r := ParseRobots([]byte(file), testAgent)
	if r.Allows("/first") || !r.Allows("/last") || !r.Allows("/other") {
		t.Errorf("first %v, last %v, other %v; want only /first forbidden", !r.Allows("/first"), !r.Allows("/last"), !r.Allows("/other"))
	}
}

// Patterns of a hostile site must not cost more than a pass each.
func TestRobotsHostilePattern(t *testing.T) {
	r := ParseRobots([]byte("User-agent: *\nDisallow: /"+strings.Repeat("*a", 200000)+"b$\n"), testAgent)
	if !r.Allows("/" + strings.Repeat("a", 60000)) {
		t.Error("a pattern matched what it does not")
	}
}

func FuzzRobots(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /a*b$\nAllow: /%zz\nCrawl-delay: 1e3\nSitemap: x"), "/a%2fb")
	f.Add([]byte("\xef\xbb\xbfuser-agent: acme-bot\r\nuser-agent: *\rdisallow: *"), "/é?x")
	f.Fuzz(func(t *testing.T, body []byte, path string) {
		r := ParseRobots(body, testAgent)
		if !r.Allows("/robots.txt") {
			t.Error("robots.txt itself is forbidden")
		}
		if d, ok := r.CrawlDelay(); d < 0 || d > MaxCrawlDelay || !ok && d != 0 {
			t.Errorf("crawl delay %v, %v", d, ok)
		}
		if r.Allows(path) != r.Allows(normaliseRobotsPath(path)) {
			t.Errorf("the verdict on %q depends on its spelling", path)
		}
	})
}
