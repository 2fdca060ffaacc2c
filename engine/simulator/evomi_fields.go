package simulator

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// scrapeFields are the fields of a scrape request that matter here, checked.
type scrapeFields struct {
	target   *url.URL
	mode     string
	delivery string
	content  string
	proxy    string
	async    bool
	include  bool
	noHTML   bool
	wait     int // seconds
}

var (
	countryShape = regexp.MustCompile(`^[A-Za-z]{2}$`)
	sessionShape = regexp.MustCompile(`^[A-Za-z0-9]{6,8}$`)
)

// fromQuery makes the fields of a GET what they are in JSON. Objects have no form there.
func fromQuery(q url.Values) map[string]any {
	out := map[string]any{}
	for name, v := range q {
		out[name] = v[0]
		switch name {
		case "async", "include_content", "no_html", "capture_headers":
			if b, err := strconv.ParseBool(v[0]); err == nil {
				out[name] = b
			}
		case "wait_seconds":
			if n, err := strconv.ParseFloat(v[0], 64); err == nil {
				out[name] = n
			}
		case "block_resources":
			var list []any
			for _, word := range strings.Split(strings.Join(v, ","), ",") {
				list = append(list, word)
			}
			out[name] = list
		}
	}
	return out
}

// checkFields reads the fields of a scrape request. The error is the API's complaint.
func checkFields(in map[string]any) (f scrapeFields, err error) {
	r := &reader{in: in}
	f.mode = r.word("mode", "auto", "request", "browser", "auto")
	f.delivery = r.word("delivery", "raw", "raw", "json")
	f.content = r.word("content", "html", "html", "markdown", "screenshot", "pdf")
	f.proxy = r.word("proxy_type", "residential", "residential", "datacenter")
	f.async, f.include, f.noHTML = r.flag("async"), r.flag("include_content"), r.flag("no_html")
	f.wait = r.whole("wait_seconds", 0, 0, 30)
	r.word("wait_until", "domcontentloaded", "load", "domcontentloaded", "networkidle", "commit")
	r.texts("block_resources", "image", "stylesheet", "font", "media")
	r.flag("capture_headers")
	r.object("additional_headers")
	country, session, target := r.text("proxy_country", "US"), r.text("proxy_session_id", "sess01"), r.text("url", "")
	var ok bool
	f.target, ok = webAddress(target)
	switch {
	case r.err != nil:
	case target == "":
		r.complain("url is required")
	case !ok:
		r.complain("url must be an absolute http or https URL")
	case f.proxy == "datacenter" && f.mode != "request":
		r.complain("proxy_type datacenter needs mode request")
	case !countryShape.MatchString(country):
		r.complain("proxy_country must be a two-letter code")
	case !sessionShape.MatchString(session):
		r.complain("proxy_session_id must be 6 to 8 letters or digits")
	case f.mode == "request" && (f.content == "screenshot" || f.content == "pdf"):
		r.complain("content %s needs a browser", f.content)
	}
	return f, r.err
}
