package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

func compile(t testing.TB, r Rules) *Judge {
	t.Helper()
	j, err := Compile(r)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func htmlPage(body string) provider.Page {
	return provider.Page{Body: []byte(body), ContentType: "text/html; charset=utf-8", Status: limits.Some(200)}
}

// response reads a page from a raw answer in testdata.
func response(t testing.TB, name string) provider.Page {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return provider.Page{Body: body, ContentType: res.Header.Get("Content-Type"), Status: limits.Some(res.StatusCode), Header: res.Header}
}

var titleRule = Rules{Extract: map[string]Selector{"title": {CSS: "title"}}}

func TestResponses(t *testing.T) {
	tests := []struct {
		file    string
		rules   Rules
		outcome provider.Outcome
		kind    string
		fields  string
		empty   bool
	}{
		{"100_ok.http", titleRule, provider.Accepted, "html", `{"title":"A page"}`, false},
		{"108_nul_bytes.http", titleRule, provider.Accepted, "html", "{\"title\":\"nul\ufffdtitle\"}", false},
		{"110_bidi_wide_title.http", titleRule, provider.Accepted, "html", "{\"title\":\"\u202etxt.exe 宽字 👩\u200d👧 ́́́ \u200b\ufeff end\"}", false},
		{"112_empty_200.http", Rules{}, provider.Accepted, "empty", "", true},
		{"112_empty_200.http", titleRule, provider.Accepted, "empty", `{"title":null}`, true},
		{"112_empty_200.http", Rules{MinBytes: 1}, provider.Invalid, "empty", "", false},
		{"112_empty_200.http", Rules{Select: "h1"}, provider.Invalid, "empty", "", false},
		{"114_error_page_200.http", Rules{}, provider.Accepted, "html", "", false},
		{"114_error_page_200.http", Rules{MustNotMatch: "could not be found"}, provider.Invalid, "html", "", false},
		{"114_error_page_200.http", Rules{Select: "h1"}, provider.Invalid, "html", "", false},
		{"138_charset_meta.http", titleRule, provider.Accepted, "html", `{"title":"中文标题"}`, false},
		{"138_charset_meta.http", Rules{MustMatch: "正文"}, provider.Accepted, "html", "", false},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.file, tt.rules), func(t *testing.T) {
			page := response(t, tt.file)
			before := bytes.Clone(page.Body)
			v := compile(t, tt.rules).Page(page)
			if v.Outcome != tt.outcome || v.Kind != tt.kind || v.Empty != tt.empty {
				t.Errorf("%+v, want %s, %s, empty %v", v, tt.outcome, tt.kind, tt.empty)
			}
			if string(v.Fields) != tt.fields {
				t.Errorf("fields %q, want %q", v.Fields, tt.fields)
			}
			if (v.Why == "") != (v.Outcome == provider.Accepted) {
				t.Errorf("outcome %s with the reason %q", v.Outcome, v.Why)
			}
			if !bytes.Equal(page.Body, before) {
				t.Error("the body was changed")
			}
		})
	}
}

func TestCompileNamesTheRule(t *testing.T) {
	tests := []struct {
		rules Rules
		want  string
	}{
		{Rules{MinBytes: -1}, "[validate] min_bytes: "},
		{Rules{MustMatch: "("}, "[validate] must_match: "},
		{Rules{MustNotMatch: "a{2,1}"}, "[validate] must_not_match: "},
		{Rules{Select: "h1["}, "[validate] select: "},
		{Rules{Extract: map[string]Selector{"price": {CSS: ".price["}}}, "[extract] price: "},
		{Rules{Extract: map[string]Selector{"price": {CSS: ""}}}, "[extract] price: "},
		{Rules{Extract: map[string]Selector{"link": {CSS: "@href"}}}, "[extract] link: "},
		{Rules{Extract: map[string]Selector{"b": {CSS: "]"}, "a": {CSS: "]"}}}, "[extract] a: "},
	}
	for _, tt := range tests {
		if _, err := Compile(tt.rules); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("Compile(%+v): %v, want %q", tt.rules, err, tt.want)
		}
	}
}

func TestRules(t *testing.T) {
	page := htmlPage("<html><title>T</title><h1> Name </h1></html>")
	tests := []struct {
		name  string
		rules Rules
		why   string
	}{
		{"all kept", Rules{MinBytes: 10, MustMatch: "(?i)</HTML>", MustNotMatch: "captcha", Select: "h1"}, ""},
		{"too short", Rules{MinBytes: 1000}, "min_bytes: the body has 44 bytes, fewer than 1000"},
		{"no match", Rules{MustMatch: "price"}, `must_match: nothing matches "price"`},
		{"a match", Rules{MustNotMatch: "[Nn]ame"}, `must_not_match: "[Nn]ame" matches`},
		{"nothing selected", Rules{Select: "h2, .x"}, `select: nothing matches "h2, .x"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := compile(t, tt.rules).Page(page)
			if v.Why != tt.why || (v.Outcome == provider.Accepted) != (tt.why == "") || v.Fields != nil {
				t.Errorf("%+v, want the reason %q", v, tt.why)
			}
		})
	}
}

func TestExtract(t *testing.T) {
	page := htmlPage(`<title> A &amp; <B> </title><a href=" /1 " data-Id=7>one</a><a>two</a><a href="">three</a><a href="mailto:x@y">mail</a><p>a
	<b>b</b></p><p class=e></p>`)
	tests := []struct{ selector, want string }{
		{"title", `"A & <B>"`},
		{"a@href", `"/1"`},
		{"a @href", `"/1"`},
		{"a@HREF", `"/1"`},
		{"a@data-id", `"7"`},
		{`a[href*="@y"]`, `"mail"`},
		{`a[href*="@y"]@href`, `"mailto:x@y"`},
		{"p", "\"a\\n\\tb\""},
		{".e", `""`},
		{"h6", "null"},
		{"p@href", "null"},
		{"h6, b", `"b"`},
	}
	for _, tt := range tests {
		j := compile(t, Rules{Extract: map[string]Selector{"one": {CSS: tt.selector}}})
		if got, want := string(j.Page(page).Fields), `{"one":`+tt.want+`}`; got != want {
			t.Errorf("%s: %s, want %s", tt.selector, got, want)
		}
	}
	many := compile(t, Rules{Extract: map[string]Selector{"z": {"a@href", true}, "a": {"a", true}, "m": {"h6", true}}})
	if got, want := string(many.Page(page).Fields), `{"a":["one","two","three","mail"],"m":[],"z":["/1","","mailto:x@y"]}`; got != want {
		t.Errorf("many: %s, want %s", got, want)
	}
}

func TestRulesOfHTMLOnOtherKinds(t *testing.T) {
	for _, rules := range []Rules{{Select: "h1"}, titleRule} {
		for contentType, body := range map[string]string{"application/json": `{"a":1}`, "image/png": "\x89PNG\r\n\x1a\n"} {
			v := compile(t, rules).Page(provider.Page{Body: []byte(body), ContentType: contentType})
			if v.Outcome != provider.Invalid || !strings.Contains(v.Why, "HTML") {
				t.Errorf("%s: %+v, want invalid with a reason that names HTML", contentType, v)
			}
		}
	}
	v := compile(t, Rules{MustMatch: `"a":1`}).Page(provider.Page{Body: []byte(`{"a":1}`), ContentType: "application/json"})
	if v.Outcome != provider.Accepted || v.Kind != "json" {
		t.Errorf("a pattern on JSON: %+v", v)
	}
}

func TestCharsets(t *testing.T) {
	late := strings.Repeat(" ", 2000)
	tests := []struct{ name, contentType, body, want string }{
		{"header", "text/html; charset=windows-1251", "<title>\xcf\xf0\xe8</title>", "При"},
		{"header over meta", "text/html; charset=utf-8", `<meta charset="gbk"><title>é</title>`, "é"},
		{"mark over header", "text/html; charset=gbk", "\xef\xbb\xbf<title>é</title>", "é"},
		{"UTF-16 by mark", "text/html", "\xff\xfe<\x00t\x00i\x00t\x00l\x00e\x00>\x00\xe9\x00", "é"},
		{"nothing declared, UTF-8", "text/html", "<title>é</title>", "é"},
		{"nothing declared, UTF-8 far down", "text/html", late + "<title>é</title>", "é"},
		{"nothing declared, Windows-1252", "text/html", "<title>\xe9</title>", "é"},
		{"invalid UTF-8", "text/html; charset=utf-8", "<title>a\xffb</title>", "a\ufffdb"},
		{"unknown label", "text/html; charset=klingon", "<title>é</title>", "é"},
		{"broken Content-Type", "text/html; charset=\"", "<title>é</title>", "é"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := compile(t, titleRule).Page(provider.Page{Body: []byte(tt.body), ContentType: tt.contentType})
			if got, want := string(v.Fields), `{"title":"`+tt.want+`"}`; got != want {
				t.Errorf("fields %s (%s), want %s", got, v.Why, want)
			}
		})
	}
}

func TestHostilePages(t *testing.T) {
	tests := []struct {
		name, body string
		rules      Rules
		outcome    provider.Outcome
	}{
		{"deep nesting", strings.Repeat("<div>", 100000), titleRule, provider.Invalid},
		{"as many tags as fit", strings.Repeat("<p>", 10<<20/3), titleRule, provider.Invalid},
		{"10 MB of text", "<title>x</title><p>" + strings.Repeat("word ", 2<<20), Rules{MustMatch: "(a|b|word)*z|title", Select: "p", Extract: titleRule.Extract}, provider.Accepted},
		{"nested matches repeat the page", strings.Repeat("<div>", 400) + strings.Repeat("x", 1<<20), Rules{Extract: map[string]Selector{"all": {"div", true}}}, provider.Invalid},
		{"unclosed formatting", strings.Repeat("<b><i><a href=x>", 20000), titleRule, provider.Invalid},
		{"never-ending tag", "<p " + strings.Repeat("a=1 ", 100000), titleRule, provider.Accepted},
		{"NULs", strings.Repeat("\x00", 1<<16), titleRule, provider.Accepted},
		{"invalid UTF-8", strings.Repeat("\xff\xc0", 1<<16), titleRule, provider.Accepted},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := compile(t, tt.rules).Page(htmlPage(tt.body))
			if v.Outcome != tt.outcome {
				t.Errorf("%s (%s), want %s", v.Outcome, v.Why, tt.outcome)
			}
			if v.Fields != nil && !json.Valid(v.Fields) {
				t.Error("fields are not JSON")
			}
		})
	}
}

func TestPageConcurrently(t *testing.T) {
	j := compile(t, Rules{MustMatch: "title", Select: "h1", Extract: map[string]Selector{"title": {CSS: "title"}, "links": {"a@href", true}}})
	var group sync.WaitGroup
	for i := range 4 * runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for k := range 20 {
				name := fmt.Sprintf("%d-%d", i, k)
				v := j.Page(htmlPage("<title>" + name + "</title><h1>x</h1>"))
				if want := `{"links":[],"title":"` + name + `"}`; string(v.Fields) != want {
					t.Errorf("fields %s, want %s", v.Fields, want)
				}
			}
		})
	}
	group.Wait()
}

func TestKind(t *testing.T) {
	tests := []struct{ contentType, body, want string }{
		{"text/html", "<p>x", "html"},
		{"text/html", `{"a":1}`, "json"},
		{"text/html", "{not json", "html"},
		{"TEXT/HTML;charset=", "<p>", "html"},
		{"application/xhtml+xml", "<html/>", "html"},
		{"application/json", `{"a":`, "json"},
		{"application/json", "<html>502</html>", "html"},
		{"application/problem+json", "{}", "json"},
		{"", "<!doctype html><p>", "html"},
		{"", " [1]", "json"},
		{"", "hello", "other"},
		{"text/plain", "BM is how bitmaps begin", "other"},
		{"text/xml", "<?xml version=\"1.0\"?><a/>", "other"},
		{"image/svg+xml", "<svg/>", "other"},
		{"image/png", "\x89PNG\r\n\x1a\n", "binary"},
		{"application/octet-stream", "\x00\x01\x02", "binary"},
		{"application/pdf", "%PDF-1.7", "binary"},
		{"text/html", "", "empty"},
		{"application/json", " \r\n", "empty"},
	}
	for _, tt := range tests {
		if got := Kind(provider.Page{Body: []byte(tt.body), ContentType: tt.contentType}); got != tt.want {
			t.Errorf("Kind(%q, %q) = %s, want %s", tt.contentType, tt.body, got, tt.want)
		}
	}
}

func FuzzPage(f *testing.F) {
	files, err := filepath.Glob("testdata/*.http")
	if err != nil || len(files) == 0 {
		f.Fatal(files, err)
	}
	for _, file := range files {
		page := response(f, filepath.Base(file))
		f.Add(page.Body, page.ContentType)
	}
	f.Add([]byte("<title>Just a moment...</title><script>window._cf_chl_opt"), "text/html; charset=utf-16")
	f.Add([]byte("<svg><table><template><a href=x><b><a>"), "text/html; charset=iso-2022-jp")
	j := compile(f, Rules{MustNotMatch: "nope", Extract: map[string]Selector{"t": {CSS: "title"}, "l": {"a@href", true}, "p": {"p:first-child", true}}})
	f.Fuzz(func(t *testing.T, body []byte, contentType string) {
		before := bytes.Clone(body)
		page := provider.Page{Body: body, ContentType: contentType}
		v := j.Page(page)
		if !bytes.Equal(body, before) {
			t.Error("the body was changed")
		}
		if kind := Kind(page); kind != v.Kind {
			t.Errorf("Kind says %s, the verdict %s", kind, v.Kind)
		}
		if (v.Outcome == provider.Accepted) != (v.Why == "") || strings.ContainsAny(v.Why, "\r\n") {
			t.Errorf("outcome %s with the reason %q", v.Outcome, v.Why)
		}
		if (v.Outcome == provider.Accepted) != (v.Fields != nil) || v.Fields != nil && !json.Valid(v.Fields) {
			t.Errorf("outcome %s with fields %q", v.Outcome, v.Fields)
		}
	})
}

// BenchmarkNoRules is the fast path: no document is parsed.
func BenchmarkNoRules(b *testing.B) {
	benchmarkPage(b, Rules{})
}

func BenchmarkExtract(b *testing.B) {
	benchmarkPage(b, Rules{MinBytes: 200, MustMatch: "(?i)</html>", Select: "h1", Extract: map[string]Selector{"title": {CSS: "h1"}, "links": {"a@href", true}}})
}

func benchmarkPage(b *testing.B, r Rules) {
	page := htmlPage("<html><title>Shop</title><h1>Things</h1>" + strings.Repeat(`<p class="row"><a href="/item">A thing</a> costs 3</p>`+"\n", 1800) + "</html>")
	j := compile(b, r)
	b.SetBytes(int64(len(page.Body)))
	b.ReportAllocs()
	for b.Loop() {
		if v := j.Page(page); v.Outcome != provider.Accepted {
			b.Fatal(v)
		}
	}
}
