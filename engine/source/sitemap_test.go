package source

import (
	"bytes"
	"errors"
	"reflect"
	"runtime"
	"strings"
	"testing"
)

func TestSitemaps(t *testing.T) {
	four := []string{"http://a.test/1", "http://a.test/2?x=1&y=2", "http://a.test/3?x=1&y=2", "http://a.test/4", "http://a.test/1"}
	tests := []struct {
		file string
		urls []string
		why  []string // of the problems, in order
		err  error
	}{
		{"50_sitemap.xml", four, []string{"empty", "empty"}, nil},
		{"52_sitemap.xml.gz", four, []string{"empty", "empty"}, nil},
		{"54_external_entity.xml", []string{}, nil, ErrDoctype},
		{"56_bom_whitespace.xml", four, []string{"empty", "empty"}, nil},
		{"58_html.xml", []string{}, nil, ErrHTML},
		{"60_truncated.xml.gz", four[:2], []string{"truncated"}, nil},
		{"62_no_namespace.xml", []string{"http://a.test/1", "http://other-host.test/2"}, []string{"absolute", "scheme ftp"}, nil},
		{"64_cut.xml", four[:1], []string{"truncated"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			res := readFile(t, "sitemaps/"+tt.file)
			if !errors.Is(res.err, tt.err) {
				t.Fatalf("error %v, want %v", res.err, tt.err)
			}
			if got := res.urls(); !reflect.DeepEqual(got, tt.urls) {
				t.Errorf("URLs %q, want %q", got, tt.urls)
			}
			if len(res.problems) != len(tt.why) {
				t.Fatalf("problems %v, want %q", res.problems, tt.why)
			}
			for i, p := range res.problems {
				if !strings.Contains(p.Why, tt.why[i]) {
					t.Errorf("problem %v, want %q", p, tt.why[i])
				}
				checkReason(t, p.Why)
			}
			checkSum(t, res.counts)
		})
	}
}

func TestSitemapLines(t *testing.T) {
	res := readFile(t, "sitemaps/50_sitemap.xml")
	want := []int{3, 4, 5, 6, 11}
	for i, e := range res.entries {
		if e.Line != want[i] {
			t.Errorf("%s at line %d, want %d", e.URL.String, e.Line, want[i])
		}
	}
	if got := res.problemLines(); !reflect.DeepEqual(got, []int{9, 10}) {
		t.Errorf("problems at %v, want 9 and 10", got)
	}
}

func TestSitemapIndex(t *testing.T) {
	const data = `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap><loc>http://a.test/s1.xml.gz</loc></sitemap>
		<sitemap><loc>http://a.test/s2.xml</loc><lastmod>2026-01-01</lastmod></sitemap></sitemapindex>`
	res := readAll(t, "x.xml", strings.NewReader(data), Options{})
	if res.err != nil || len(res.entries) != 2 || !res.entries[0].Child || !res.entries[1].Child {
		t.Errorf("entries %+v, error %v; want two children", res.entries, res.err)
	}
	if res := readFile(t, "sitemaps/50_sitemap.xml"); res.entries[0].Child {
		t.Error("a page of a urlset is called a child")
	}
}

func TestSitemapOddities(t *testing.T) {
	const one = "<url><loc>http://a.test/1</loc></url>"
	tests := []struct {
		name, data string
		urls       []string
		problems   int
		err        error
	}{
		{"prefixed names", `<s:urlset xmlns:s="x"><s:url><s:loc>http://a.test/1</s:loc></s:url></s:urlset>`, []string{"http://a.test/1"}, 0, nil},
		{"locations of images are none", `<urlset>` + `<url><loc>http://a.test/1</loc><image:image><image:loc>http://a.test/i.png</image:loc></image:image></url></urlset>`, []string{"http://a.test/1"}, 0, nil},
		{"comment within", `<urlset><url><loc>http://a.test/<!-- x -->1</loc></url></urlset>`, []string{"http://a.test/1"}, 0, nil},
		{"bare ampersand", `<urlset><url><loc>http://a.test/?a=1&b=2</loc></url>` + one + `</urlset>`, []string{"http://a.test/?a=1&b=2", "http://a.test/1"}, 0, nil},
		{"character reference", `<urlset><url><loc>http://a.test/&#x31;</loc></url></urlset>`, []string{"http://a.test/1"}, 0, nil},
		{"Latin-1 declared", "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><urlset><url><loc>http://a.test/\xe9</loc></url></urlset>", []string{"http://a.test/%C3%A9"}, 0, nil},
		{"UTF-16 declared", string(encodeUTF16(`<?xml version="1.0" encoding="UTF-16"?><urlset>`+one+`</urlset>`, false, true)), []string{"http://a.test/1"}, 0, nil},
		{"unknown encoding", `<?xml version="1.0" encoding="klingon"?><urlset>` + one + `</urlset>`, []string{}, 1, nil},
		{"invalid UTF-8 undeclared", "<urlset>" + one + "<url><loc>http://a.test/\xe9</loc></url></urlset>", []string{"http://a.test/1"}, 1, nil},
		{"entity bomb", `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><urlset>` + one + `</urlset>`, []string{}, 0, ErrDoctype},
		{"document type without entities", `<!DOCTYPE urlset><urlset>` + one + `</urlset>`, []string{}, 0, ErrDoctype},
		{"page without document type", `<html><body>404</body></html>`, []string{}, 0, ErrHTML},
		{"page in capitals", "<!-- x --><!DOCTYPE HTML PUBLIC \"-//W3C//DTD HTML 4.01//EN\"><HTML>", []string{}, 0, ErrHTML},
		{"feed", `<rss version="2.0"><channel/></rss>`, []string{}, 0, ErrNotSitemap},
		{"plain text", "http://a.test/1\n", []string{}, 0, ErrNotSitemap},
		{"JSON", `{"error":"no"}`, []string{}, 0, ErrNotSitemap},
		{"text after the root", `<urlset>` + one + `</urlset> trailing`, []string{"http://a.test/1"}, 0, nil},
		{"end tags crossed", `<urlset>` + one + `<url></loc></urlset>`, []string{"http://a.test/1"}, 2, nil},
		{"elements too deep", `<urlset>` + one + strings.Repeat("<a>", 100000), []string{"http://a.test/1"}, 0, ErrNotSitemap},
		{"escape sequence", `<urlset><url><loc>http://a.test/&#27;[2J</loc></url>` + one, []string{}, 1, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := readAll(t, "x.xml", strings.NewReader(tt.data), Options{})
			if !errors.Is(res.err, tt.err) || !reflect.DeepEqual(res.urls(), tt.urls) || len(res.problems) != tt.problems {
				t.Errorf("%q, problems %v, error %v; want %q, %d problems, %v", res.urls(), res.problems, res.err, tt.urls, tt.problems, tt.err)
			}
		})
	}
}

// A single token of any length must not be held in memory.
func TestSitemapHugeToken(t *testing.T) {
	for name, data := range map[string]string{
		"text":      "<urlset><url><loc>http://a.test/1</loc></url><url><loc>",
		"attribute": `<urlset><url><loc>http://a.test/1</loc></url><url a="`,
		"comment":   "<urlset><url><loc>http://a.test/1</loc></url><!-- ",
		"CDATA":     "<urlset><url><loc>http://a.test/1</loc></url><url><loc><![CDATA[",
	} {
		t.Run(name, func(t *testing.T) {
			huge := zip(t, append([]byte(data), bytes.Repeat([]byte("x"), 8<<20)...))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			res := readAll(t, "x.xml", bytes.NewReader(huge), Options{MaxLine: 64 << 10})
			runtime.ReadMemStats(&after)
			if res.err != nil || len(res.entries) != 1 || len(res.problems) != 1 || !strings.Contains(res.problems[0].Why, "longer") {
				t.Errorf("%q, problems %v, error %v", res.urls(), res.problems, res.err)
			}
			if grown := after.TotalAlloc - before.TotalAlloc; grown > 4<<20 {
				t.Errorf("allocated %d MiB for a token of 8 MiB", grown>>20)
			}
		})
	}
}
