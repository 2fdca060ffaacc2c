package metrics

import (
	"strings"

	"github.com/prometheus/client_golang/prometheus"

	"dev.scrapetop/engine/view"
)

// Source is where frames come from; the engine is one. Frame may return nil while nothing is known yet.
type Source interface {
	Frame(view.Query) *view.Frame
}

// mostDomains is how many domains have series of their own.
const mostDomains = 100

// collector makes the metrics of a frame.
type collector struct{ source Source }

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("scrapetop_"+name, help, labels, nil)
}

var (
	runInfo  = desc("run_info", "The run that is driven; always 1.", "run", "name", "provider", "state")
	tasks    = desc("tasks", "Tasks of the run by state.", "state")
	inFlight = desc("in_flight", "Tasks in flight.")
	ceiling  = desc("in_flight_limit", "Ceiling on simultaneous requests of the program.")
	domains  = desc("domains", "Domains of the run by state.", "state")

	requests = desc("requests_total", "HTTP requests sent, polls included.")
	attempts = desc("attempts_total", "Attempts that ended.")
	retries  = desc("retries_total", "Attempts after the first of their task.")
	accepted = desc("accepted_total", "Tasks whose result was accepted.")
	records  = desc("records_total", "Records stored.")
	credits  = desc("credits_total", "Credits spent, as the platform told.")
	bytes    = desc("received_bytes_total", "Bytes of bodies received.")

	refusals       = desc("refusals_total", "Answers 429 by the layer that refused.", "layer")
	busy           = desc("busy_total", "Answers 503 of a platform or a target that was busy.")
	domainRefusals = desc("domain_refusals_total", "Answers 429 by domain, of those with the most.", "domain")
	budgetRefusals = desc("budget_refusals_total", "Answers 429 to calls that drew on a budget, by the layer that refused.", "scope", "key", "layer")

	budgetInFlight  = desc("budget_in_flight", "Calls in flight that draw on a budget.", "scope", "key")
	budgetLimit     = desc("budget_limit", "Ceiling in flight of a budget, as configured, told or learned.", "scope", "key")
	budgetRemaining = desc("budget_remaining", "What the headers last said is left of a budget.", "scope", "key")
	budgetStopped   = desc("budget_stopped", "1 while a key or an account is stopped because the platform refuses it.", "scope", "key")

	cooldowns  = desc("cooldowns", "Cooldowns that are active.")
	cooldown   = desc("cooldown_seconds", "What is left of an active cooldown.", "scope", "key", "layer")
	retryAfter = desc("retry_after_seconds", "The wait that a server announced, of an active cooldown.", "scope", "key", "layer")

	queueOldest = desc("queue_oldest_seconds", "Age of the oldest task that may run.")
	queueP95    = desc("queue_age_p95_seconds", "95th percentile of the age of the tasks that may run.")
	latencyP50  = desc("latency_p50_seconds", "Median of how long the answers of the last quarter of an hour took.")
	latencyP95  = desc("latency_p95_seconds", "95th percentile of that.")
	latencyP99  = desc("latency_p99_seconds", "99th percentile of that.")
	acceptedMin = desc("accepted_per_minute", "Tasks accepted in the last minute.")

	capUsed     = desc("cap_used", "How much of a cap is used.", "cap")
	capLimit    = desc("cap_limit", "A cap on the run.", "cap")
	capForecast = desc("cap_forecast_ratio", "The share of a cap that will be used when the run ends.", "cap")

	alerts        = desc("alerts", "Alerts that are up.")
	storageLag    = desc("storage_lag_seconds", "Age of the oldest write that is not committed.")
	storageFailed = desc("storage_failed", "1 while results cannot be written.")
)

// Describe implements prometheus.Collector. Which series there are depends on the run, so none is promised.
func (c *collector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	f := c.source.Frame(view.Query{Sort: view.SortAll429, Limit: mostDomains})
	if f == nil {
		return
	}
	e := emitter{out}
	e.run(f)
	e.refused(f)
	e.budgets(f)
	e.waits(f)
	e.condition(f)
}

// emitter sends metrics.
type emitter struct{ out chan<- prometheus.Metric }

func (e emitter) gauge(d *prometheus.Desc, v float64, labels ...string) {
	e.send(d, prometheus.GaugeValue, v, labels)
}

func (e emitter) counter(d *prometheus.Desc, v float64, labels ...string) {
	e.send(d, prometheus.CounterValue, v, labels)
}

func (e emitter) send(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels []string) {
	for i := range labels {
		labels[i] = strings.ToValidUTF8(labels[i], "\uFFFD") // a name is the user's own
	}
	e.out <- prometheus.MustNewConstMetric(d, kind, v, labels...)
}

func (e emitter) run(f *view.Frame) {
	r, n := &f.Run, &f.Counts
	e.gauge(runInfo, 1, number(r.ID), r.Name, r.Provider, r.State)
	for _, t := range []struct {
		state string
		n     int64
	}{
		{"pending", n.Pending}, {"delayed", n.Delayed}, {"in_flight", n.InFlight}, {"remote", n.Remote},
		{"accepted", n.Accepted}, {"dead", n.Dead}, {"cancelled", n.Cancelled},
	} {
		e.gauge(tasks, float64(t.n), t.state)
	}
	for state, n := range f.States {
		e.gauge(domains, float64(n), string(state))
	}
	e.gauge(inFlight, float64(f.InFlight))
	e.gauge(ceiling, float64(f.Ceiling))
	e.counter(requests, float64(n.Requests))
	e.counter(attempts, float64(n.Attempts))
	e.counter(retries, float64(n.Retries))
	e.counter(accepted, float64(n.Accepted))
	e.counter(records, float64(n.Records))
	e.counter(credits, n.Credits)
	e.counter(bytes, float64(n.Bytes))
	e.gauge(acceptedMin, f.AcceptedPerMin)
	e.gauge(queueOldest, f.QueueOldest.Seconds())
	e.gauge(queueP95, f.QueueP95.Seconds())
	e.gauge(latencyP50, f.LatencyP50.Seconds())
	e.gauge(latencyP95, f.LatencyP95.Seconds())
	e.gauge(latencyP99, f.LatencyP99.Seconds())
}

func (e emitter) refused(f *view.Frame) {
	for _, l := range f.Layers {
		if l.Layer == "busy" {
			e.counter(busy, float64(l.Total))
			continue
		}
		e.counter(refusals, float64(l.Total), l.Layer)
	}
	for i := range f.Domains.Rows {
		if d := &f.Domains.Rows[i]; d.Total429 > 0 {
			e.counter(domainRefusals, float64(d.Total429), d.Domain)
		}
	}
}

func (e emitter) budgets(f *view.Frame) {
	for i := range f.Budgets {
		b := &f.Budgets[i]
		for _, l := range []struct {
			layer string
			n     int64
		}{{"account", b.Refused.Account}, {"rate", b.Refused.Rate}, {"pending", b.Refused.Pending}, {"target", b.Refused.Target}} {
			e.counter(budgetRefusals, float64(l.n), b.Scope, b.Key, l.layer)
		}
		e.gauge(budgetInFlight, float64(b.InFlight), b.Scope, b.Key)
		if b.Limit > 0 {
			e.gauge(budgetLimit, float64(b.Limit), b.Scope, b.Key)
		}
		if b.Remaining.Known {
			e.gauge(budgetRemaining, float64(b.Remaining.Remaining), b.Scope, b.Key)
		}
		if b.Scope == "credential" || b.Scope == "account" {
			e.gauge(budgetStopped, truth(b.Stopped != ""), b.Scope, b.Key)
		}
	}
}

func (e emitter) waits(f *view.Frame) {
	e.gauge(cooldowns, float64(f.Cooling))
	for i := range f.Cooldowns {
		c := &f.Cooldowns[i]
		e.gauge(cooldown, max(c.Until.Sub(f.At).Seconds(), 0), c.Scope, c.Key, c.Layer)
		if c.Announced {
			e.gauge(retryAfter, c.Full.Seconds(), c.Scope, c.Key, c.Layer)
		}
	}
}

func (e emitter) condition(f *view.Frame) {
	for _, c := range f.Caps {
		e.gauge(capUsed, c.Used, c.Name)
		e.gauge(capLimit, c.Limit, c.Name)
		if c.Forecast > 0 {
			e.gauge(capForecast, c.Forecast, c.Name)
		}
	}
	e.gauge(alerts, float64(len(f.Alerts)))
	e.gauge(storageLag, f.Health.StorageLag.Seconds())
	e.gauge(storageFailed, truth(f.Health.StorageError != ""))
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
