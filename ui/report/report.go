package report

import (
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"dev.scrapetop/storage"
	"dev.scrapetop/ui/widget"
)

// What is shown of lists that grow with the run. The others are summed up or counted.
const (
	maxDomains  = 200
	maxTenants  = 100
	maxWarnings = 100
)

// Options are what a report says besides the run.
type Options struct {
	Now     time.Time // when it is made
	Version string    // of the program that makes it
}

// Write writes the report of a run. The error is storage.ErrNoRun when there is no such run. What is written is one state of
// the file: for a run that is going, as of now.
func Write(ctx context.Context, w io.Writer, st *storage.Store, run int64, o Options) error {
	p := &page{Options: o}
	if err := st.Ledger(ctx, run, func(l *storage.Ledger) error { return p.read(ctx, l) }); err != nil {
		return err
	}
	return p.write(w)
}

// page is all that a report shows.
type page struct {
	Options
	Run     storage.Run
	Summary storage.Summary
	Charts  []chart

	Requests       int64 // exchanges on record
	Second, Minute int64 // the most that began within one
	During         int64 // requests during a cooldown, at any layer
	Layers         []layer
	Askers         []asker
	Domains        []domain
	MoreDomains    int64
	RestOfDomains  domain

	Paid        bool // something cost credits, or may have
	Outcomes    []outcome
	Tenants     []storage.Account
	MoreTenants int64
	Unpriced    int64

	Burials      []storage.Burial
	Warnings     []storage.Event
	MoreWarnings int64
}

func (p *page) read(ctx context.Context, l *storage.Ledger) error {
	p.Run, p.Summary = l.Run, l.Summary
	all := newShared(l.First, l.Last)
	if err := l.ByTime(ctx, all.add); err != nil {
		return err
	}
	each := &domains{shown: maxDomains}
	if err := l.ByDomain(ctx, each.add); err != nil {
		return err
	}
	p.tell(all, each)
	accounts, n, err := l.Accounts(ctx, maxTenants)
	if err != nil {
		return err
	}
	p.Tenants, p.MoreTenants = accounts, n-int64(len(accounts))
	for _, a := range accounts {
		p.Unpriced += a.Unpriced
	}
	p.Paid = p.Summary.Credits != 0 || p.Unpriced > 0
	if p.Burials, err = l.Burials(ctx); err != nil {
		return err
	}
	p.Warnings, n, err = l.Warnings(ctx, maxWarnings)
	p.MoreWarnings = n - int64(len(p.Warnings))
	return err
}

// tell takes over what was gathered of the exchanges.
func (p *page) tell(all *shared, each *domains) {
	all.finish()
	p.Domains = each.rows()
	p.MoreDomains, p.RestOfDomains = each.n-int64(len(p.Domains)), each.rest
	p.Requests, p.Second, p.Minute = all.requests, all.rates.second.most, all.rates.minute.most
	all.layer("target").During = each.during
	for _, l := range all.layers {
		p.During += l.During
		if l.any() {
			p.Layers = append(p.Layers, l)
		}
	}
	p.Askers, p.Outcomes = all.askers, all.outcomes
	p.Charts = all.line.charts()
}

// AskedToWait is how often a layer asked to come back later.
func (p *page) AskedToWait() (n int64) {
	for _, l := range p.Layers {
		n += l.Limited + l.Busy
	}
	return n
}

// ByTenant tells that tenants are told apart at all.
func (p *page) ByTenant() bool {
	return len(p.Tenants) > 1 || len(p.Tenants) == 1 && p.Tenants[0].Tenant != ""
}

func (t *timeline) charts() []chart {
	each := words(t.width)
	charts := []chart{
		t.bars("Requests", "each bar "+each, []layered{{"accepted or handed over", "good", t.accepted}, {"asked to wait", "wait", t.waiting}, {"everything else", "rest", t.rest}}),
		t.area("In flight", "on average over each "+each, "requests in flight", "flow", t.inFlight()),
	}
	var stack []layered
	for i, l := range layers {
		stack = append(stack, layered{l.name, "layer-" + l.name, t.layers[i]})
	}
	if refusals := t.bars("Refusals by layer", "each bar "+each, stack); len(refusals.Series) > 0 {
		charts = append(charts, refusals)
	}
	return charts
}

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Funcs(template.FuncMap{
	"text":    text,
	"count":   widget.Thousands,
	"bytes":   widget.Bytes,
	"share":   share,
	"span":    span,
	"amount":  amount,
	"per":     per,
	"stamp":   stamp,
	"seconds": func(s float64) string { return span(time.Duration(s * float64(time.Second))) },
	"minutely": func(perMinute float64) string {
		return amount(math.Round(perMinute*10) / 10)
	},
	"float": func(n int64) float64 { return float64(n) },
}).Parse(pageText))

func (p *page) write(w io.Writer) error {
	if err := pageTemplate.Execute(w, p); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}

// text is foreign text on one line of at most cells cells.
func text(cells int, v any) string { return widget.Clean(fmt.Sprint(v), cells) }

// share is a part of all in percent.
func share(part, all int64) string {
	if all == 0 {
		return widget.Unknown
	}
	return widget.Percent1(float64(part) / float64(all))
}

// amount writes a quantity to a millionth.
func amount(f float64) string {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return widget.Unknown
	}
	if math.Abs(f) >= 1e15 {
		return strconv.FormatFloat(f, 'g', 6, 64)
	}
	whole, part, _ := strings.Cut(strconv.FormatFloat(f, 'f', 6, 64), ".")
	n, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return widget.Unknown
	}
	if part = strings.TrimRight(part, "0"); part != "" {
		part = "." + part
	}
	return widget.Thousands(n) + part
}

// per is an amount for each of n, to four figures.
func per(f float64, n int64) string {
	if n == 0 {
		return widget.Unknown
	}
	return amountOf(f/float64(n), 4)
}

func amountOf(f float64, figures int) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(f, 'g', figures, 64), 64)
	if err != nil {
		return widget.Unknown
	}
	return amount(rounded)
}

// span writes a length of time, short ones with their fraction.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return strconv.FormatFloat(math.Round(d.Seconds()*10)/10, 'f', -1, 64) + " s"
	case d >= 24*time.Hour:
		d = d.Round(time.Minute)
		return fmt.Sprintf("%d d %d h", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
	case d >= time.Hour:
		d = d.Round(time.Minute)
		return fmt.Sprintf("%d h %02d min", d/time.Hour, d%time.Hour/time.Minute)
	}
	d = d.Round(time.Second)
	return fmt.Sprintf("%d min %02d s", d/time.Minute, d%time.Minute/time.Second)
}

// words is the length of a bar.
func words(d time.Duration) string {
	switch {
	case d >= 24*time.Hour:
		return count(int64(d/(24*time.Hour)), "day")
	case d >= time.Hour:
		return count(int64(d/time.Hour), "hour")
	case d >= time.Minute:
		return count(int64(d/time.Minute), "minute")
	}
	return count(int64(d/time.Second), "second")
}

func count(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return widget.Thousands(n) + " " + noun + "s"
}

// stamp is an instant in UTC; of none it is a dash.
func stamp(t time.Time) string {
	if t.IsZero() {
		return widget.Unknown
	}
	return t.UTC().Format("2006-01-02 15:04:05") + " UTC"
}
