package simulator

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// spidraAccount is an account at work. Everything in it is guarded by the API's lock.
type spidraAccount struct {
	SpidraAccount
	reserved  float64 // worst prices of what has not ended
	jobs      map[string]*spidraJob
	batches   []*spidraJob
	crawls    []*spidraJob
	logs      []*spidraLog
	queues    [3][]*spidraUnit // by kind, in order; what was cancelled is skipped
	working   SpidraKinds
	open      SpidraKinds // jobs that have not ended
	waiting   SpidraKinds // jobs of which nothing has begun
	waitURLs  int         // items of batches that have not begun
	scraped   charged     // URLs accepted
	paid      charged     // URLs charged
	recent    map[string]*spidraJob
	announced announced
	usage     map[string]*spidraDay
	counters  SpidraAccountCounters
}

// spidraJob is a scrape, a batch or a crawl.
type spidraJob struct {
	id, kind     string
	user         *spidraAccount
	fields       spidraFields
	begun, ended time.Time
	updated      time.Time
	state        string
	items        []*spidraItem // a crawl's grow
	left         int           // items that have not ended
	started      bool
	seen         map[string]bool // addresses a crawl has met
}

// spidraItem is one page of a job.
type spidraItem struct {
	uuid     string
	target   *url.URL // as given
	at       *url.URL // after redirects
	hops     int
	depth    int
	state    string
	visit    visit
	reserved float64
	credits  float64
	ended    time.Time
}

// spidraUnit is what one worker does: an item of a batch, or the items of another job one by one.
type spidraUnit struct {
	job  *spidraJob
	only *spidraItem
	next int
}

const (
	spidraPending   = "pending"
	spidraWaiting   = "waiting"
	spidraActive    = "active"
	spidraRunning   = "running"
	spidraCompleted = "completed"
	spidraFailed    = "failed"
	spidraCancelled = "cancelled"
	spidraPartial   = "partial"
)

func kindIndex(kind string) int {
	switch kind {
	case spidraBatch:
		return 1
	case spidraCrawl:
		return 2
	}
	return 0
}

func (j *spidraJob) over() bool {
	switch j.state {
	case spidraCompleted, spidraFailed, spidraCancelled, spidraPartial:
		return true
	}
	return false
}

// item is the one the unit is at, nil when it has no more.
func (u *spidraUnit) item() *spidraItem {
	switch {
	case u.only != nil && u.next == 0:
		return u.only
	case u.only == nil && u.next < len(u.job.items):
		return u.job.items[u.next]
	}
	return nil
}

// settle does what has come due by now, in the order of time. It is called with mu held, before anything is looked at.
func (p *spidra) settle(now time.Time) {
	for {
		u, at, ok := p.agenda.due(now)
		if !ok {
			return
		}
		p.step(at, u)
	}
}

// enqueue puts a job's open items in line for workers.
func (p *spidra) enqueue(now time.Time, j *spidraJob, items []*spidraItem) {
	u := j.user
	q := &u.queues[kindIndex(j.kind)]
	if j.kind == spidraBatch {
		for _, it := range items {
			*q = append(*q, &spidraUnit{job: j, only: it})
		}
		u.waitURLs += len(items)
	} else {
		*q = append(*q, &spidraUnit{job: j})
	}
	p.work(now, u, j.kind)
}

// work gives free workers what waits longest.
func (p *spidra) work(now time.Time, u *spidraAccount, kind string) {
	q, working := &u.queues[kindIndex(kind)], u.working.of(kind)
	for *working < u.Workers && len(*q) > 0 {
		unit := (*q)[0]
		(*q)[0] = nil
		*q = (*q)[1:]
		it := unit.item()
		if it.state == spidraCancelled || (kind != spidraBatch && unit.job.over()) {
			continue
		}
		*working++
		j := unit.job
		if kind == spidraBatch {
			u.waitURLs--
		}
		if !j.started {
			j.started = true
			*u.waiting.of(kind)--
		}
		j.state = spidraRunning
		if kind == spidraScrape {
			j.state = spidraActive
		}
		p.begin(now, unit, it, p.settings.Overhead)
	}
	peak := u.counters.PeakWaiting.of(kind)
	*peak = max(*peak, *u.waiting.of(kind))
	if kind == spidraBatch {
		u.counters.PeakWaitingURLs = max(u.counters.PeakWaitingURLs, u.waitURLs)
	}
}

func (p *spidra) begin(now time.Time, unit *spidraUnit, it *spidraItem, overhead time.Duration) {
	it.state = spidraRunning
	unit.job.updated = now
	it.visit = p.w.visitAt(now, it.at)
	p.agenda.add(now.Add(overhead+it.visit.took), unit)
}

// maxHops bounds the redirects that the platform follows.
const maxHops = 5

// step ends a visit and goes on with what its unit has to do next.
func (p *spidra) step(now time.Time, unit *spidraUnit) {
	j, it := unit.job, unit.item()
	if to, err := it.at.Parse(it.visit.header.Get("Location")); err == nil && it.visit.header.Get("Location") != "" && it.hops < maxHops {
		it.at = to
		it.hops++
		p.begin(now, unit, it, 0)
		return
	}
	p.end(now, j, it)
	unit.next++
	if next := unit.item(); next != nil && !j.over() {
		p.begin(now, unit, next, 0)
		return
	}
	*j.user.working.of(j.kind)--
	if j.left == 0 && !j.over() {
		p.close(now, j, "")
	}
	p.work(now, j.user, j.kind)
}

// end settles an item: one that failed costs nothing. What a batch had begun when it was cancelled ends like any other; of
// a crawl and a scrape it comes to nothing.
func (p *spidra) end(now time.Time, j *spidraJob, it *spidraItem) {
	u := j.user
	j.updated = now
	u.reserved -= it.reserved
	if j.over() && j.kind != spidraBatch {
		it.state = spidraCancelled
		return
	}
	j.left--
	it.ended, it.state = now, spidraCompleted
	if it.visit.complaint() != "" || it.visit.fault == faultPage {
		it.state = spidraFailed
	} else {
		it.credits = 1
		if j.fields.ai {
			it.credits += p.settings.AIPrice
		}
		u.Credits -= it.credits
		u.counters.Charges += it.credits
		u.counters.Charged++
		if u.paid.again(it.target.String()) {
			u.counters.DuplicateCharges++
		}
	}
	p.log(now, j, it)
	if j.kind == spidraCrawl {
		p.discover(j, it)
	}
	if j.over() { // a cancelled batch whose last items end
		j.ended = now
	}
}

// close ends a job whose items have ended, or that is cancelled.
func (p *spidra) close(now time.Time, j *spidraJob, state string) {
	failed := 0
	for _, it := range j.items {
		if it.state == spidraFailed && !(j.kind == spidraScrape && it.visit.fault == faultPage) {
			failed++
		}
	}
	switch {
	case state != "":
	case failed == len(j.items) || j.kind == spidraCrawl && j.items[0].state == spidraFailed:
		state = spidraFailed
	case failed > 0 && j.kind == spidraBatch && p.settings.PartialWord:
		state = spidraPartial
	default:
		state = spidraCompleted
	}
	j.state, j.ended, j.updated = state, now, now
	*j.user.open.of(j.kind)--
	if j.kind == spidraCrawl { // what was reserved for pages that it did not find
		j.user.reserved -= j.fields.price * float64(j.fields.maxPages-len(j.items))
	}
}

// What a target's script can ask of Spidra.
const (
	faultPage = "page"
	faultAI   = "ai"
)

// complaint is why a visit brought nothing, in words; empty when it did.
func (v visit) complaint() string {
	switch v.ending {
	case delivered, soft:
		return ""
	case refused:
		return "target answered 429 Too Many Requests"
	case busy:
		return "target is temporarily unavailable"
	case blocked:
		return "target blocked the visit"
	case notFound:
		return "page not found on the target"
	case redirected:
		return "too many redirects"
	case failed:
		return "target ran into an error"
	}
	return navigationFailed
}

var linkShape = regexp.MustCompile(`href="([^"]+)"`)

// discover adds the pages that a crawl's page leads to.
func (p *spidra) discover(j *spidraJob, it *spidraItem) {
	if it.state != spidraCompleted || j.fields.maxDepth > 0 && it.depth >= j.fields.maxDepth {
		return
	}
	for _, m := range linkShape.FindAllStringSubmatch(it.visit.body, -1) {
		to, err := it.at.Parse(html.UnescapeString(m[1]))
		if err != nil || to.Hostname() != j.items[0].target.Hostname() || !j.fields.crawls(to.Path) || j.seen[to.String()] {
			continue
		}
		if len(j.items) >= j.fields.maxPages {
			return
		}
		j.seen[to.String()] = true
		j.items = append(j.items, p.newItem(to, it.depth+1, j.fields.price))
		j.left++
	}
}

func (p *spidra) newItem(target *url.URL, depth int, price float64) *spidraItem {
	return &spidraItem{uuid: p.name("i"), target: target, at: target, depth: depth, state: spidraPending, reserved: price}
}

// name makes an identifier that cannot be guessed from the one before.
func (p *spidra) name(kind string) string {
	p.made++
	return fmt.Sprintf("%s-%06x%08x", kind, p.made, uint32(p.w.chance.of("spidra", p.made)))
}

var (
	headShape = regexp.MustCompile(`(?s)<head>.*?</head>|<!doctype[^>]*>`)
	tagShape  = regexp.MustCompile(`<[^>]*>`)
	gapShape  = regexp.MustCompile(`\n{3,}`)
	anchor    = regexp.MustCompile(`<a href="([^"]*)">([^<]*)</a>`)
	heading   = regexp.MustCompile(`<title>([^<]*)</title>`)
)

// markdown is a page of the world as the platform tells it.
func markdown(page string) string {
	page = headShape.ReplaceAllString(page, "")
	page = anchor.ReplaceAllString(page, "[$2]($1)")
	page = strings.NewReplacer("<h1>", "# ", "</h1>", "\n\n", "<li>", "- ", "</p>", "\n\n").Replace(page)
	page = html.UnescapeString(tagShape.ReplaceAllString(page, ""))
	return strings.TrimSpace(gapShape.ReplaceAllString(page, "\n\n"))
}

func titleOf(page string) string {
	if m := heading.FindStringSubmatch(page); m != nil {
		return html.UnescapeString(m[1])
	}
	return ""
}

// spidraFiles is where the files of crawled pages are, beside the API.
const spidraFiles = "/files/"

// link is a signed link to a file of a crawled page.
func (p *spidra) link(c spidraCall, it *spidraItem, ext string) string {
	host := c.r.Host
	if host == "" {
		host = c.r.URL.Host
	}
	until := fmt.Sprint(c.now.Add(p.settings.LinksFor).UnixMilli())
	return "http://" + host + c.prefix + spidraFiles + it.uuid + "." + ext + "?until=" + until + "&signature=" + p.sign(it.uuid+"."+ext, until)
}

func (p *spidra) sign(file, until string) string {
	return fmt.Sprintf("%016x", uint64(p.w.chance.of("signature "+file+until, 0)))
}

// file answers with a file of a crawled page. It needs no key and is no call of the API.
func (p *spidra) file(r *http.Request, name string) reply {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.w.now()
	p.settle(now)
	until := r.URL.Query().Get("until")
	if r.URL.Query().Get("signature") != p.sign(name, until) || now.UnixMilli() >= int64(number(until)) {
		return reply{status: http.StatusForbidden, page: "the link is not valid, or no longer\n", kind: "text/plain"}
	}
	uuid, ext, _ := strings.Cut(name, ".")
	for _, u := range p.users {
		for _, j := range u.crawls {
			for _, it := range j.items {
				switch {
				case it.uuid != uuid:
				case ext == "md":
					return reply{status: http.StatusOK, page: markdown(it.visit.body), kind: "text/markdown; charset=utf-8"}
				default:
					return reply{status: http.StatusOK, page: it.visit.body, kind: "text/html; charset=utf-8"}
				}
			}
		}
	}
	return reply{status: http.StatusNotFound, page: "no such file\n", kind: "text/plain"}
}
