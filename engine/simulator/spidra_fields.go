package simulator

import (
	"fmt"
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
	asked, isText := in[prompt].(string)
	if in[prompt] != nil && !isText {
		return f, fmt.Errorf("%s must be a string", prompt)
	}
	switch in["output"] {
	case nil, "json", "markdown":
	default:
		return f, fmt.Errorf("output must be json or markdown")
	}
	if f.warnings, err = checkSchema(in["schema"]); err != nil {
		return f, err
	}
	f.ai = asked != "" || in["schema"] != nil || in["output"] == "json"
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
	text, _ := in["baseUrl"].(string)
	if text == "" {
		return nil, fmt.Errorf("baseUrl is required")
	}
	if f.instruction, _ = in["crawlInstruction"].(string); f.instruction == "" {
		return nil, fmt.Errorf("crawlInstruction is required")
	}
	f.maxPages = 5
	for name, field := range map[string]*int{"maxPages": &f.maxPages, "maxDepth": &f.maxDepth} {
		switch v := in[name].(type) {
		case nil:
		case float64:
			*field = int(v)
			if v != float64(*field) || v < 1 || name == "maxPages" && *field > p.settings.PagesPerCrawl {
				return nil, fmt.Errorf("%s is out of range", name)
			}
		default:
			return nil, fmt.Errorf("%s must be a number", name)
		}
	}
	if f.include, err = texts("includePaths", in["includePaths"]); err != nil {
		return nil, err
	}
	f.exclude, err = texts("excludePaths", in["excludePaths"])
	return []string{text}, err
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
