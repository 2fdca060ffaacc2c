package simulator

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
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
	formats      = []string{"html", "markdown", "screenshot", "pdf"}
)

// fromQuery makes the fields of a GET what they are in JSON.
func fromQuery(q url.Values) map[string]any {
	out := map[string]any{}
	for k, v := range q {
		out[k] = v[0]
	}
	return out
}

// checkFields reads the fields of a scrape request. The error is the API's complaint.
func checkFields(in map[string]any) (f scrapeFields, err error) {
	text := func(name, or string) string {
		switch v := in[name].(type) {
		case nil:
			return or
		case string:
			return v
		default:
			err = fmt.Errorf("%s must be a string", name)
			return or
		}
	}
	flag := func(name string) bool {
		switch v := in[name].(type) {
		case bool:
			return v
		case string:
			b, e := strconv.ParseBool(v)
			if e != nil {
				err = fmt.Errorf("%s must be true or false", name)
			}
			return b
		case nil:
		default:
			err = fmt.Errorf("%s must be true or false", name)
		}
		return false
	}
	f.mode, f.delivery, f.content = text("mode", "auto"), text("delivery", "raw"), text("content", "html")
	f.proxy = text("proxy_type", "residential")
	f.async, f.include, f.noHTML = flag("async"), flag("include_content"), flag("no_html")
	country, session, target := text("proxy_country", "US"), text("proxy_session_id", "sess01"), text("url", "")
	switch v := in["wait_seconds"].(type) {
	case float64:
		f.wait = int(v)
	case string:
		n, e := strconv.Atoi(v)
		if e != nil {
			n = -1
		}
		f.wait = n
	}
	if err != nil {
		return f, err
	}
	f.target, err = url.Parse(target)
	_, headers := in["additional_headers"].(string)
	switch {
	case target == "":
		err = fmt.Errorf("url is required")
	case err != nil || f.target.Hostname() == "" || (f.target.Scheme != "http" && f.target.Scheme != "https"):
		err = fmt.Errorf("url must be an absolute http or https URL")
	case !slices.Contains([]string{"request", "browser", "auto"}, f.mode):
		err = fmt.Errorf("mode must be request, browser or auto")
	case f.delivery != "raw" && f.delivery != "json":
		err = fmt.Errorf("delivery must be raw or json")
	case !slices.Contains(formats, f.content):
		err = fmt.Errorf("content must be html, markdown, screenshot or pdf")
	case f.proxy != "residential" && f.proxy != "datacenter":
		err = fmt.Errorf("proxy_type must be residential or datacenter")
	case f.proxy == "datacenter" && f.mode != "request":
		err = fmt.Errorf("proxy_type datacenter needs mode request")
	case !countryShape.MatchString(country):
		err = fmt.Errorf("proxy_country must be a two-letter code")
	case !sessionShape.MatchString(session):
		err = fmt.Errorf("proxy_session_id must be 6 to 8 letters or digits")
	case f.mode == "request" && (f.content == "screenshot" || f.content == "pdf"):
		err = fmt.Errorf("content %s needs a browser", f.content)
	case f.wait < 0 || f.wait > 30:
		err = fmt.Errorf("wait_seconds must be 0 to 30")
	case headers:
		err = fmt.Errorf("additional_headers must be an object")
	}
	return f, err
}
