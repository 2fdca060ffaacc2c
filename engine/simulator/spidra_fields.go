package simulator

import (
	"fmt"
	"math"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// spidraFields are the fields of a submit that matter here, checked.
type spidraFields struct {
	targets  []*url.URL
	ai       bool // a prompt, a schema or JSON asks for an extraction
	warnings []string
	price    float64 // of one URL

	instruction        string
	maxPages, maxDepth int
	include, exclude   []string
}

// crawls reports whether a crawl goes to a path.
func (f spidraFields) crawls(path string) bool {
	has := func(part string) bool { return strings.Contains(path, strings.Trim(part, "*")) }
	return (len(f.include) == 0 || slices.ContainsFunc(f.include, has)) && !slices.ContainsFunc(f.exclude, has)
}

// schemaTypes are the types that a schema may name; keywords beyond schemaWords are warned of.
var (
	schemaTypes = []string{"object", "array", "string", "number", "integer", "boolean", "null"}
	schemaWords = []string{"type", "properties", "items", "required", "description", "enum", "additionalProperties"}
)

// fields reads the fields of a submit. The error is the API's complaint. It is called with mu held.
func (p *spidra) fields(kind string, in map[string]any) (f spidraFields, err error) {
	var given []string
	switch kind {
	case spidraScrape:
		given, err = scrapeURLs(in["urls"], p.settings.URLsPerScrape)
	case spidraBatch:
		given, err = texts("urls", in["urls"])
		if err == nil && (len(given) == 0 || len(given) > p.settings.URLsPerBatch) {
			err = fmt.Errorf("urls must have 1 to %d entries", p.settings.URLsPerBatch)
		}
	case spidraCrawl:
		given, err = p.crawlFields(in, &f)
	}
	if err != nil {
		return f, err
	}
	for _, text := range given {
		u, ok := webAddress(text)
		switch {
		case !ok:
			return f, fmt.Errorf("%q is not an absolute http or https URL", text)
		case p.w.siteOf(hostname(u.Host), false) == nil && private(u.Hostname()):
			return f, fmt.Errorf("%q is a private address", text)
		}
		f.targets = append(f.targets, u)
	}
	prompt := "prompt"
	if kind == spidraCrawl {
		prompt = "transformInstruction"
	}
	r := &reader{in: in}
	asked := r.text(prompt, "")
	output := r.word("output", "", "json", "markdown")
	r.word("scrapeMode", "", "default", "fast")
	for _, name := range []string{"useProxy", "extractContentOnly", "screenshot", "fullPageScreenshot"} {
		r.flag(name)
	}
	if country := r.text("proxyCountry", "eu"); country != "eu" && country != "global" && !countryShape.MatchString(country) {
		r.complain("proxyCountry must be a two-letter code, eu or global")
	}
	r.text("webhookUrl", "")
	if r.err != nil {
		return f, r.err
	}
	if f.warnings, err = checkSchema(in["schema"]); err != nil {
		return f, err
	}
	f.ai = asked != "" || in["schema"] != nil || output == "json"
	f.price = 1
	if f.ai {
		f.price += p.settings.AIPrice
	}
	return f, nil
}

// scrapeURLs reads the objects of a scrape.
func scrapeURLs(in any, most int) (out []string, err error) {
	list, ok := in.([]any)
	if !ok || len(list) == 0 || len(list) > most {
		return nil, fmt.Errorf("urls must have 1 to %d entries", most)
	}
	for _, e := range list {
		object, _ := e.(map[string]any)
		text, ok := object["url"].(string)
		if !ok {
			return nil, fmt.Errorf("urls must be objects with a url")
		}
		out = append(out, text)
	}
	return out, nil
}

// texts reads a list of strings; nil is an empty one.
func texts(name string, in any) (out []string, err error) {
	list, ok := in.([]any)
	if !ok && in != nil {
		return nil, fmt.Errorf("%s must be a list of strings", name)
	}
	for _, e := range list {
		text, ok := e.(string)
		if !ok {
			return nil, fmt.Errorf("%s must be a list of strings", name)
		}
		out = append(out, text)
	}
	return out, nil
}

func (p *spidra) crawlFields(in map[string]any, f *spidraFields) (base []string, err error) {
	r := &reader{in: in}
	root := r.text("baseUrl", "")
	f.instruction = r.text("crawlInstruction", "")
	f.maxPages, f.maxDepth = r.whole("maxPages", 5, 1, p.settings.PagesPerCrawl), r.whole("maxDepth", 0, 1, math.MaxInt32)
	f.include, f.exclude = r.texts("includePaths"), r.texts("excludePaths")
	switch {
	case root == "":
		r.complain("baseUrl is required")
	case f.instruction == "":
		r.complain("crawlInstruction is required")
	}
	return []string{root}, r.err
}

// checkSchema says which keywords of a schema are ignored, or what is wrong with it.
func checkSchema(in any) (warnings []string, err error) {
	if in == nil {
		return nil, nil
	}
	schema, ok := in.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("schema must be an object")
	}
	if kind, ok := schema["type"].(string); !ok || !slices.Contains(schemaTypes, kind) {
		return nil, fmt.Errorf("schema has no valid type")
	}
	for word := range schema {
		if !slices.Contains(schemaWords, word) {
			warnings = append(warnings, fmt.Sprintf("%s is ignored", word))
		}
	}
	properties, ok := schema["properties"].(map[string]any)
	if schema["properties"] != nil && !ok {
		return nil, fmt.Errorf("properties of schema must be an object")
	}
	children := []any{schema["items"]}
	for _, child := range properties {
		children = append(children, child)
	}
	for _, child := range children {
		more, err := checkSchema(child)
		if err != nil {
			return nil, err
		}
		warnings = append(warnings, more...)
	}
	slices.Sort(warnings)
	return warnings, nil
}

// private reports hosts that no platform goes to.
func private(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && (ip.IsPrivate() || ip.IsLoopback() || ip.IsLinkLocalUnicast() || ip.IsUnspecified())
}
