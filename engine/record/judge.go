package record

import (
	"bytes"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"unicode/utf8"

	"github.com/PuerkitoBio/goquery"
	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"dev.scrapetop/engine/provider"
)

const (
	// maxTags is how many tags a page may have to be parsed: some hundred times an ordinary page, about 100 MB as a tree.
	maxTags = 500_000
	// maxFieldsBytes is what the extracted fields may hold: nested matches repeat the text of a page many times over.
	maxFieldsBytes = 4 << 20
)

// Judge applies Rules to pages. Make it with Compile.
type Judge struct {
	minBytes     int
	mustMatch    *regexp.Regexp // nil: no such rule, likewise below
	mustNotMatch *regexp.Regexp
	selects      goquery.Matcher
	selectText   string
	fields       []field // by name
	parsing      chan struct{}
}

// Compile checks the rules and makes the Judge that applies them. The error names the rule as the config file does.
func Compile(r Rules) (*Judge, error) {
	j := &Judge{minBytes: r.MinBytes, selectText: r.Select, parsing: make(chan struct{}, runtime.GOMAXPROCS(0))}
	if r.MinBytes < 0 {
		return nil, fmt.Errorf("[validate] min_bytes: %d is negative", r.MinBytes)
	}
	var err error
	if j.mustMatch, err = compileExpression(r.MustMatch); err != nil {
		return nil, fmt.Errorf("[validate] must_match: %w", err)
	}
	if j.mustNotMatch, err = compileExpression(r.MustNotMatch); err != nil {
		return nil, fmt.Errorf("[validate] must_not_match: %w", err)
	}
	if r.Select != "" {
		if j.selects, err = cascadia.Compile(r.Select); err != nil {
			return nil, fmt.Errorf("[validate] select: %q is not a CSS selector: %w", r.Select, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Extract)) {
		f, err := compileField(name, r.Extract[name])
		if err != nil {
			return nil, fmt.Errorf("[extract] %s: %w", name, err)
		}
		j.fields = append(j.fields, f)
	}
	return j, nil
}

func compileExpression(expr string) (*regexp.Regexp, error) {
	if expr == "" {
		return nil, nil
	}
	return regexp.Compile(expr)
}

// Page says what a page is worth: Blocked for a challenge, Invalid when a rule is broken, else Accepted with the fields.
// An empty page is accepted (and marked so) unless a rule asks for more.
func (j *Judge) Page(p provider.Page) Verdict {
	if why := challenge(p); why != "" {
		return Verdict{Outcome: provider.Blocked, Kind: kindChallenge, Why: why}
	}
	v := Verdict{Kind: bodyKind(p)}
	v.Why = j.judge(p, &v)
	if v.Why != "" {
		return Verdict{Outcome: provider.Invalid, Kind: v.Kind, Why: v.Why}
	}
	v.Outcome = provider.Accepted
	v.Empty = v.Kind == kindEmpty
	return v
}

// judge applies the rules, cheapest first, and fills in the fields; it returns which rule is broken and how.
func (j *Judge) judge(p provider.Page, v *Verdict) string {
	if len(p.Body) < j.minBytes {
		return fmt.Sprintf("min_bytes: the body has %d bytes, fewer than %d", len(p.Body), j.minBytes)
	}
	needsTree := j.selects != nil || len(j.fields) > 0
	if j.mustMatch == nil && j.mustNotMatch == nil && !needsTree {
		return ""
	}
	if needsTree && (v.Kind == kindJSON || v.Kind == kindBinary) {
		return fmt.Sprintf("select and [extract] read HTML, but the page is %s", v.Kind)
	}
	text := decode(p)
	if j.mustMatch != nil && !j.mustMatch.Match(text) {
		return fmt.Sprintf("must_match: nothing matches %q", j.mustMatch)
	}
	if j.mustNotMatch != nil && j.mustNotMatch.Match(text) {
		return fmt.Sprintf("must_not_match: %q matches", j.mustNotMatch)
	}
	if !needsTree {
		return ""
	}
	return j.judgeTree(text, v)
}

func (j *Judge) judgeTree(text []byte, v *Verdict) string {
	if n := bytes.Count(text, []byte("<")); n > maxTags {
		return fmt.Sprintf("the page has %d tags, more than are parsed (%d)", n, maxTags)
	}
	j.parsing <- struct{}{}
	defer func() { <-j.parsing }()
	root, err := html.Parse(bytes.NewReader(text))
	if err != nil {
		return "the page cannot be parsed: " + err.Error()
	}
	doc := goquery.NewDocumentFromNode(root)
	if j.selects != nil && doc.FindMatcher(goquery.SingleMatcher(j.selects)).Length() == 0 {
		return fmt.Sprintf("select: nothing matches %q", j.selectText)
	}
	if len(j.fields) == 0 {
		return ""
	}
	var why string
	v.Fields, why = extract(doc, j.fields)
	return why
}

// decode is the body as UTF-8: by byte order mark, Content-Type, meta element, else as it looks (WHATWG, "determining the
// character encoding"). Where nothing was declared for certain, valid UTF-8 is UTF-8.
func decode(p provider.Page) []byte {
	enc, name, certain := charset.DetermineEncoding(p.Body, p.ContentType)
	if name == "utf-8" || !certain && name == "windows-1252" && utf8.Valid(p.Body) {
		return bytes.ToValidUTF8(bytes.TrimPrefix(p.Body, []byte("\ufeff")), []byte("\ufffd"))
	}
	text, err := enc.NewDecoder().Bytes(p.Body)
	if err != nil {
		// The label is wrong: what can be read is still better matched than nothing.
		return bytes.ToValidUTF8(p.Body, []byte("\ufffd"))
	}
	return bytes.TrimPrefix(text, []byte("\ufeff"))
}
