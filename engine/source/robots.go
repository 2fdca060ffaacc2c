package source

import (
	"bytes"
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

const (
	// maxRobotsBytes is what is read of a robots.txt: the least that RFC 9309 section 2.5 asks for.
	maxRobotsBytes = 500 << 10
	// MaxCrawlDelay is the longest Crawl-delay obeyed; sites that say more mostly mean "go away" or mistyped.
	MaxCrawlDelay = 5 * time.Minute
)

// Robots is what a site's robots.txt says to one user agent. The zero Robots allow everything. It is immutable and safe
// for concurrent use.
type Robots struct {
	rules       []robotsRule
	delay       time.Duration
	hasDelay    bool
	sitemaps    []string
	unreachable bool
}

type robotsRule struct {
	allow   bool
	pattern string
}

// RobotsFor reads the answer to a request for robots.txt (RFC 9309 section 2.3.1): 2xx is parsed; 4xx, and redirects that
// lead nowhere, mean that there is none; anything else is RobotsUnreachable.
func RobotsFor(status int, body []byte, userAgent string) Robots {
	switch {
	case status >= 200 && status < 300:
		return ParseRobots(body, userAgent)
	case status >= 300 && status < 500:
		return Robots{}
	}
	return RobotsUnreachable()
}

// RobotsUnreachable is what holds while robots.txt cannot be had (5xx, no whole answer): nothing is allowed. The caller
// decides when to ask again.
func RobotsUnreachable() Robots { return Robots{unreachable: true} }

// Unreachable tells that Allows forbids only because robots.txt could not be had.
func (r Robots) Unreachable() bool { return r.unreachable }

// CrawlDelay is the least time between requests that the site asks for, at most MaxCrawlDelay; false when it asks for none.
func (r Robots) CrawlDelay() (time.Duration, bool) { return r.delay, r.hasDelay }

// Sitemaps are the sitemaps the file names, as written; they are for every user agent. The slice must not be changed.
func (r Robots) Sitemaps() []string { return r.sitemaps }

// Allows tells whether a path with its query may be fetched (RFC 9309 section 2.2.2): the longest matching rule decides,
// allow wins over an equally long disallow, and robots.txt itself is always allowed.
func (r Robots) Allows(pathAndQuery string) bool {
	if pathAndQuery == "/robots.txt" {
		return true
	}
	if r.unreachable {
		return false
	}
	target := normaliseRobotsPath(pathAndQuery)
	allowed, longest := true, -1
	for _, rule := range r.rules {
		if len(rule.pattern) < longest || len(rule.pattern) == longest && !rule.allow {
			continue
		}
		if robotsMatch(rule.pattern, target) {
			allowed, longest = rule.allow, len(rule.pattern)
		}
	}
	return allowed
}

// ParseRobots reads a robots.txt for a user agent, of which the product token counts ("acme-bot" of "acme-bot/1.0 (+https://acme.test)").
// All groups that name it are taken together, else those for "*" (RFC 9309 section 2.2.1). It reads 500 KiB at most and
// skips what it does not understand, so that one bad line spoils only itself.
func ParseRobots(body []byte, userAgent string) Robots {
	body = bytes.TrimPrefix(body, []byte("\xef\xbb\xbf"))
	if len(body) > maxRobotsBytes {
		body = body[:maxRobotsBytes]
		// Half a path would forbid or allow more than was written.
		body = body[:bytes.LastIndexAny(body, "\r\n")+1]
	}
	p := robotsParser{agent: productToken(userAgent)}
	for len(body) > 0 {
		line := body
		if end := indexLineEnd(body); end >= 0 {
			line, body = body[:end], body[end+1:]
		} else {
			body = nil
		}
		p.line(string(line))
	}
	r := p.any
	if p.named {
		r = p.own
	}
	return Robots{rules: r.rules, delay: r.delay, hasDelay: r.hasDelay, sitemaps: p.sitemaps}
}

// robotsParser sorts rules into those for the agent and those for everybody.
type robotsParser struct {
	agent    string
	own, any Robots
	named    bool // a group names the agent
	sitemaps []string

	inOwn, inAny bool // whom the current group is for
	ruled        bool // the current group has a rule: the next user-agent line begins another
}

func (p *robotsParser) line(line string) {
	line, _, _ = strings.Cut(line, "#")
	key, value, found := strings.Cut(line, ":")
	if !found {
		return
	}
	value = strings.TrimSpace(value)
	switch strings.ToLower(strings.TrimSpace(key)) {
	case "user-agent", "useragent", "user agent":
		if p.ruled {
			p.inOwn, p.inAny, p.ruled = false, false, false
		}
		switch token := productToken(value); {
		case token == "*":
			p.inAny = true
		case token != "" && token == p.agent:
			p.inOwn, p.named = true, true
		}
	case "allow":
		p.rule(true, value)
	case "disallow", "dissallow", "disalow": // the usual slips; their meaning is plain
		p.rule(false, value)
	case "crawl-delay", "crawldelay":
		p.ruled = true
		if delay, ok := crawlDelay(value); ok {
			for _, r := range p.groups() {
				r.delay, r.hasDelay = max(r.delay, delay), true
			}
		}
	case "sitemap":
		if value != "" {
			p.sitemaps = append(p.sitemaps, value)
		}
	}
}

func (p *robotsParser) groups() (in []*Robots) {
	if p.inOwn {
		in = append(in, &p.own)
	}
	if p.inAny {
		in = append(in, &p.any)
	}
	return in
}

func (p *robotsParser) rule(allow bool, path string) {
	p.ruled = true
	if path == "" {
		return // "Disallow:" forbids nothing
	}
	if path[0] != '/' && path[0] != '*' {
		path = "/" + path
	}
	for _, r := range p.groups() {
		r.rules = append(r.rules, robotsRule{allow, normaliseRobotsPath(path)})
	}
}

// productToken is the name in a User-Agent field or line, in lower case: what stands before version and remarks.
func productToken(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, "/ \t("); i >= 0 {
		s = s[:i]
	}
	return strings.ToLower(s)
}

// crawlDelay reads seconds, decimals too. What is no number or negative was not said.
func crawlDelay(s string) (time.Duration, bool) {
	seconds, err := strconv.ParseFloat(s, 64)
	switch {
	case err != nil && !errors.Is(err, strconv.ErrRange), math.IsNaN(seconds), seconds < 0, err == nil && math.IsInf(seconds, 0):
		return 0, false
	case seconds >= MaxCrawlDelay.Seconds():
		return MaxCrawlDelay, true
	}
	return time.Duration(seconds * float64(time.Second)), true
}

// normaliseRobotsPath brings paths and patterns into one spelling, so that they compare byte by byte (RFC 9309 section
// 2.2.2). Unlike in a URL, a stray percent sign stands for itself.
func normaliseRobotsPath(s string) string {
	if out, err := normaliseEscapes(s, &queryBytes, 0); err == nil {
		return out
	}
	var b strings.Builder
	for i := range len(s) {
		if s[i] == '%' && (i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2])) {
			b.WriteString("%25")
		} else {
			b.WriteByte(s[i])
		}
	}
	out, _ := normaliseEscapes(b.String(), &queryBytes, 0) // every percent sign is an escape now
	return out
}

// robotsMatch tells whether a pattern matches the beginning of target: "*" is any run of bytes, a final "$" the end. Taking
// each part at its first place is enough, so hostile patterns cost no more than one pass.
func robotsMatch(pattern, target string) bool {
	pattern, atEnd := strings.CutSuffix(pattern, "$")
	first, rest, wild := strings.Cut(pattern, "*")
	if !strings.HasPrefix(target, first) {
		return false
	}
	target = target[len(first):]
	for wild {
		var part string
		part, rest, wild = strings.Cut(rest, "*")
		if !wild && atEnd {
			return strings.HasSuffix(target, part)
		}
		i := strings.Index(target, part)
		if i < 0 {
			return false
		}
		target = target[i+len(part):]
	}
	return !atEnd || target == ""
}
