package report

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"dev.scrapetop/storage"

	"golang.org/x/net/html"
)

var update = flag.Bool("update", false, "write the golden report")

// drawn is the HTML of a page.
func drawn(t testing.TB, p *page) string {
	t.Helper()
	var b bytes.Buffer
	if err := p.write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// elements are those that a report is made of, attributes the ones that it may have.
var (
	elements = strings.Fields(`html head meta title style body header footer h1 h2 h3 p br span b code dl div dt dd figure figcaption svg line text path
		table thead tbody tfoot tr th td`)
	void       = strings.Fields(`meta br line path`)
	attributes = strings.Fields(`lang charset http-equiv content name class scope viewbox role aria-label x x1 x2 y y1 y2 dx dy d text-anchor`)
)

// checked is the text of a report, which has to be well nested, of known parts, and to lead nowhere.
func checked(t testing.TB, page string) string {
	t.Helper()
	var open []string
	var text strings.Builder
	z := html.NewTokenizer(strings.NewReader(page))
	for {
		switch kind := z.Next(); kind {
		case html.ErrorToken:
			if !errors.Is(z.Err(), io.EOF) {
				t.Fatal(z.Err())
			}
			if len(open) > 0 {
				t.Fatalf("left open: %v", open)
			}
			return text.String()
		case html.CommentToken:
			t.Fatalf("a comment: %s", z.Raw())
		case html.TextToken:
			if len(open) == 0 || open[len(open)-1] != "style" {
				text.WriteString(z.Token().Data + "\n")
			}
		case html.StartTagToken, html.SelfClosingTagToken:
			raw := string(z.Raw())
			tag := z.Token()
			if !slices.Contains(elements, tag.Data) {
				t.Fatalf("the element %s", raw)
			}
			for _, a := range tag.Attr {
				if !slices.Contains(attributes, a.Key) {
					t.Fatalf("the attribute %s in %s", a.Key, raw)
				}
			}
			if !slices.Contains(void, tag.Data) {
				open = append(open, tag.Data)
			}
		case html.EndTagToken:
			tag := z.Token()
			if len(open) == 0 || open[len(open)-1] != tag.Data {
				t.Fatalf("</%s> closes %v", tag.Data, open)
			}
			open = open[:len(open)-1]
		}
	}
}

// sample is a page with everything: a run through a platform by two tenants.
func sample() *page {
	p := &page{Options: Options{Now: noon.Add(time.Hour), Version: "1.2.3"}}
	p.Run = storage.Run{ID: 12, Name: "shops.csv", Provider: "evomi", State: storage.RunStopped, Reason: "the cap on credits is reached", StartedAt: noon, FinishedAt: noon.Add(3 * time.Minute)}
	p.Summary = storage.Summary{Run: 12, Tasks: 1_400, Accepted: 1_203, Cached: 3, Records: 1_203, Dead: 40, Pending: 157, Requests: 1_310, ElapsedSeconds: 171.2,
		AcceptedPerMinute: 421.6, MaxInFlight: 16, Cooldowns: 4, Probes: 5, Credits: 2_406.25, Bytes: 31 << 20}
	var byTime []*storage.Exchange
	for i := range 1_200 {
		if i > 306 && i < 387 && i != 314 || i > 706 && i < 906 { // the account and the platform want to be left alone, and all but one are
			continue
		}
		x := through(exchange(time.Duration(i)*150*time.Millisecond, 900*time.Millisecond, "accepted"), "submit", []string{"main", "spare"}[i%7/6])
		x.Domain, x.Credits = fmt.Sprintf("shop%d.example", i%9), 2
		switch {
		case i == 300:
			x = asks(x, "account", 12*time.Second)
			x.Outcome, x.Credits = "limited", 0
		case i == 700:
			x = asks(x, "capacity", 30*time.Second)
			x.Outcome, x.Credits = "busy", 0
		case i%97 == 0:
			x = asks(x, "target", 4*time.Second)
			x.Outcome = "limited"
		case i%50 == 0:
			x.Outcome, x.Layer = "blocked", "target"
		}
		byTime = append(byTime, x)
	}
	all := gather(byTime...)
	byDomain := slices.Clone(byTime)
	slices.SortStableFunc(byDomain, func(a, b *storage.Exchange) int { return strings.Compare(a.Domain, b.Domain) })
	each := &domains{shown: 6}
	for _, x := range byDomain {
		each.add(x)
	}
	p.tell(all, each)
	p.Paid, p.Unpriced = true, 2
	p.Tenants = []storage.Account{{Tenant: "acme", Records: 800, Requests: 860, Credits: 1_600.25}, {Tenant: "globex", Records: 403, Requests: 450, Credits: 806, Unpriced: 2}}
	p.MoreTenants = 1
	p.Burials = []storage.Burial{{Reason: "blocked", Tasks: 38, Domains: 3, Latest: noon, URL: "https://shop3.example/a?b=1&c=2", Error: "the target answered 403 Forbidden"}}
	p.Warnings = []storage.Event{{At: noon.Add(46 * time.Second), Level: "warn", Scope: "credential", Key: "main", Text: "429 by the platform's concurrency limit: retry-after: 12 s; cooling for 12 s"}}
	p.MoreWarnings = 7
	return p
}

func TestGoldenReport(t *testing.T) {
	got := drawn(t, sample())
	text := checked(t, got)
	for _, want := range []string{"Run 12 · shops.csv", "the cap on credits is reached", "credits for an accepted record", "shop3.example", "acme", "7 later ones"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q", want)
		}
	}
	path := filepath.Join("testdata", "golden.html")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("the report is not the golden one any more; look at it and run: go test ./ui/report -run Golden -update")
	}
}

// foreign puts a text wherever strangers' text can stand.
func foreign(s string) *page {
	p := sample()
	p.Run.Name, p.Run.Reason, p.Run.Provider, p.Run.State = s, s, s, storage.RunState(s)
	p.Version = s
	for i := range p.Domains {
		p.Domains[i].Name = s
	}
	for i := range p.Askers {
		p.Askers[i].Provider, p.Askers[i].Credential = s, s
	}
	for i := range p.Outcomes {
		p.Outcomes[i].Name = s
	}
	p.Tenants[0].Tenant = s
	p.Burials[0] = storage.Burial{Reason: s, Tasks: 1, URL: s, Error: s}
	p.Warnings[0].Scope, p.Warnings[0].Key, p.Warnings[0].Text = s, s, s
	return p
}

var hostile = []string{
	`<script>alert(1)</script>`, `</title><script>alert(1)</script>`, `</style><img src=x onerror=alert(1)>`, `"><a href="http://evil.example/">`,
	`' onmouseover='alert(1)`, `javascript:alert(1)`, `http://evil.example/?a=1&copy=2`, "-->\x00<!--", `{{.Run.ID}}`, `]]>`, `</svg></td></table>`,
	"\x1b]0;title\x07\x1b[2J", "gpj.exe\u202eexe.jpg", "\xff\xfe\xc3(", strings.Repeat("x", 100_000), strings.Repeat("<", 5_000), "a\r\nb\u2028c", "\u200d\u0301\u0301", "@import url(http://evil.example)",
}

// TestForeignTextStaysText: whatever strangers wrote changes nothing of the page's build.
func TestForeignTextStaysText(t *testing.T) {
	shape := tags(drawn(t, foreign("plain")))
	for _, s := range hostile {
		page := drawn(t, foreign(s))
		text := checked(t, page)
		if got := tags(page); got != shape {
			t.Errorf("%.60q changes the page", s)
		}
		for _, r := range page {
			if unicode.IsControl(r) && r != '\n' || unicode.Is(unicode.Bidi_Control, r) {
				t.Errorf("%.60q: the page holds %U", s, r)
				break
			}
		}
		if strings.HasPrefix(s, "<script>") && !strings.Contains(text, s) {
			t.Errorf("%q is not shown as it is", s)
		}
		if len(page) > 300_000 {
			t.Errorf("%.60q makes a page of %d bytes", s, len(page))
		}
	}
}

// tags are the elements of a page, in their order.
func tags(page string) string {
	var b strings.Builder
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		switch z.Next() {
		case html.ErrorToken:
			return b.String()
		case html.StartTagToken, html.EndTagToken:
			name, _ := z.TagName()
			b.Write(append(name, ' '))
		}
	}
}

func FuzzForeignText(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	shape := ""
	f.Fuzz(func(t *testing.T, s string) {
		if shape == "" {
			shape = tags(drawn(t, foreign("plain")))
		}
		page := drawn(t, foreign(s))
		checked(t, page)
		// What is empty, or of nothing visible, is told by another element.
		if got := tags(page); s != "" && got != shape {
			t.Errorf("%q changes the page", s)
		}
	})
}

// TestThePageLoadsNothing: no address in it leads anywhere, and its own policy forbids what could.
func TestThePageLoadsNothing(t *testing.T) {
	page := drawn(t, sample())
	if !strings.Contains(page, `content="default-src 'none'; style-src 'unsafe-inline'"`) {
		t.Error("the page has no policy")
	}
	for _, bad := range []string{"url(", "@import", "<script", "<link", "href=", "src="} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %s", bad)
		}
	}
}

func TestNumbersOfTheReport(t *testing.T) {
	for got, want := range map[string]string{
		amount(0): "0", amount(670): "670", amount(1234567.5): "1,234,567.5", amount(.1 + .2): "0.3", amount(12.345678): "12.345678",
		per(10, 0): "-", per(1, 3): "0.3333", per(2406.25, 1203): "2", per(0.0012345678, 1): "0.001235",
		span(0): "0 s", span(1500 * time.Millisecond): "1.5 s", span(59 * time.Second): "59 s", span(171200 * time.Millisecond): "2 min 51 s",
		span(3*time.Hour + 4*time.Minute): "3 h 04 min", span(366 * 24 * time.Hour): "366 d 0 h",
		share(0, 0): "-", share(999, 1000): "99.9%", stamp(time.Time{}): "-",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
