package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/core"
	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
	"dev.scrapetop/engine/record"
	"dev.scrapetop/engine/source"

	"github.com/spf13/cobra"
)

// explanation is what the engine would make of a response (CONTRACT section 8). A nil pointer is "nothing was said".
type explanation struct {
	Outcome       string   `json:"outcome"`
	Layer         string   `json:"layer"`
	HTTPStatus    *int     `json:"http_status"`
	TargetStatus  *int     `json:"target_status"`
	WaitSeconds   *float64 `json:"wait_seconds"`
	WaitSource    *string  `json:"wait_source"`
	WaitSaturated bool     `json:"wait_saturated"`
	Limit         *int64   `json:"limit"`
	Remaining     *int64   `json:"remaining"`
	ResetSeconds  *float64 `json:"reset_seconds"`
	WindowSeconds *float64 `json:"window_seconds"`
	Kind          string   `json:"kind"`
	Cools         string   `json:"cools"`
	Retry         bool     `json:"retry"`
	Backoff       backoff  `json:"backoff_seconds"`
	RemoteJob     *string  `json:"remote_job"`
	Notes         []string `json:"notes"`
	Advice        string   `json:"advice"`
}

type backoff struct {
	Min float64 `json:"min"`
	Max float64 `json:"max"`
}

// question is what explain is asked.
type question struct {
	provider string
	call     string
	url      string
	now      time.Time
	attempt  int
}

const explainTask = 1 // any task's number

func (a *app) explainCommand() *cobra.Command {
	q := question{provider: "direct", call: "fetch", attempt: 1}
	var format, nowText = "text", ""
	cmd := &cobra.Command{
		Use: "explain [FILE]", Short: "Say what the engine would make of a raw HTTP response",
		Long: "Reads one response as curl -i prints it, from FILE or stdin, and says which layer spoke, what cools down, for how\n" +
			"long, and what to do. It runs the code that a run uses and touches neither network nor database.",
		Example:     "  curl -si https://example.com/ | scrapetop explain\n  scrapetop explain answer.http --provider evomi --call submit --format json",
		Args:        argCount(0, 1, "one FILE or none"),
		Annotations: map[string]string{needConfig: withoutFile},
		RunE: func(_ *cobra.Command, args []string) error {
			q.now = a.world.now()
			if nowText != "" {
				at, err := time.Parse(time.RFC3339, nowText)
				if err != nil {
					return usage("--now %s: is no RFC 3339 time, write one like 2026-07-01T12:00:00Z", shorten(nowText, 40))
				}
				q.now = at
			}
			return a.explain(q, args, format)
		},
	}
	f := cmd.Flags()
	f.Var(newParsed(&q.provider, "NAME", q.provider, oneOf(providerNames()...)), "provider", "who answered: direct, evomi")
	f.Var(newParsed(&q.call, "KIND", q.call, oneOf("fetch", "submit", "poll")), "call", "what was asked: fetch, submit, poll")
	f.StringVar(&q.url, "url", "", "the target `URL`")
	f.StringVar(&nowText, "now", "", "when the headers arrived, RFC 3339 `TIME` (default the clock)")
	f.Var(newParsed(&q.attempt, "N", "1", parseCount), "attempt", "tries so far, this one included")
	f.Var(newParsed(&format, "text|json", format, oneOf("text", "json")), "format", "form of the answer")
	return cmd
}

func (a *app) explain(q question, args []string, format string) error {
	if q.url != "" {
		if _, err := source.Normalise(q.url); err != nil {
			return usage("--url %s: %v", shorten(q.url, 60), err)
		}
	}
	text, name, err := a.readRaw(args)
	if err != nil {
		return err
	}
	raw, err := parseRaw(text)
	if err != nil {
		return usage("%s cannot be read as an HTTP response: %w", name, err)
	}
	e, err := q.explain(raw)
	if err != nil {
		return broken("explain: %w", err)
	}
	if format == "json" {
		line, err := json.Marshal(e)
		if err != nil {
			return broken("explain: %w", err)
		}
		_, err = fmt.Fprintf(a.std.Out, "%s\n", line)
		return err
	}
	_, err = io.WriteString(a.std.Out, e.text(raw.header))
	return err
}

// readRaw reads the file or stdin. Past the largest body nothing matters.
func (a *app) readRaw(args []string) (text []byte, name string, err error) {
	in, name := a.std.In, "stdin"
	if len(args) == 1 && args[0] != "-" {
		f, err := os.Open(args[0])
		if err != nil {
			return nil, "", usage("%s: %s", args[0], reason(err))
		}
		defer f.Close()
		in, name = f, args[0]
	} else if terminal(a.std.In) {
		fmt.Fprintln(a.std.Err, "scrapetop: paste the response with its headers, end with Ctrl-D")
	}
	text, err = io.ReadAll(io.LimitReader(in, maxRawBody+8*maxRawHeader))
	if err != nil {
		return nil, "", usage("%s: %s", name, reason(err))
	}
	return text, name, nil
}

// explain asks the provider and the decision that a run asks.
func (q question) explain(raw rawResponse) (explanation, error) {
	prov, err := engine.NewProvider(engine.Config{Provider: q.provider})
	if err != nil {
		return explanation{}, err
	}
	target, err := source.Normalise(first(q.url, "https://target.invalid/"))
	if err != nil { // checked before
		target.String = q.url
	}
	call := provider.Call{
		ID: 1, Kind: provider.Kind(q.call), For: provider.Kind(q.call), Sent: q.now, Domain: target.Host,
		Targets: []provider.Target{{Task: explainTask, URL: target.String}},
	}
	if q.provider != "direct" {
		call.Credential = "default"
		if call.Kind == provider.Fetch { // a platform's fetch is its submit
			call.Kind, call.For = provider.Submit, provider.Submit
		}
	}
	if call.Kind == provider.Poll {
		call.Job = "job"
	}
	reply := prov.Read(call, provider.Response{
		Status: raw.status, Header: raw.header, Body: raw.body, Received: q.now, Sent: true, Bytes: int64(len(raw.body)),
		Fault: raw.fault, Error: raw.broken,
	})
	said := speaker(reply)
	if err := said.judge(reply); err != nil {
		return explanation{}, err
	}
	decision := core.Decide(core.Verdict{
		Facts: prov.Facts(), Outcome: said.outcome, Layer: said.layer, Signal: said.signal,
		Tries: q.attempt - 1, Failed: q.attempt - 1,
	})
	// Where the platform documents a wait for refusals that announce none, the engine adds that.
	if decision.Announced && !said.signal.Wait.OK {
		decision.Least, decision.Most = decision.Wait, decision.Wait+min(time.Second, decision.Wait/20)
	}
	e := explanation{
		Outcome: string(said.outcome), Layer: string(said.layer), HTTPStatus: pointer(reply.HTTPStatus), TargetStatus: pointer(said.target),
		WaitSaturated: said.signal.Saturated, Limit: pointer(said.signal.Limit), Remaining: pointer(said.signal.Remaining),
		WaitSeconds: inSeconds(said.signal.Wait), ResetSeconds: inSeconds(said.signal.Reset), WindowSeconds: inSeconds(said.signal.Window),
		Kind: string(said.signal.Kind), Cools: cools(decision.Cools), Retry: decision.Retry,
		Backoff: backoff{decision.Least.Seconds(), decision.Most.Seconds()},
		Notes:   []string{}, Advice: decision.Advice,
	}
	if e.HTTPStatus == nil {
		e.HTTPStatus = &raw.status
	}
	if e.Kind == "" {
		e.Kind = string(limits.KindUnknown)
	}
	if said.signal.Wait.OK && said.signal.WaitSource != "" {
		e.WaitSource = &said.signal.WaitSource
	}
	if reply.Job != "" && said.outcome == provider.AcceptedRemote {
		job := reply.Job
		e.RemoteJob = &job
	}
	if said.outcome == provider.Redirected {
		e.Advice = "Ask at the address it names; a run goes on there by itself, within the limits of that host."
		said.err = "it leads to " + said.location
	}
	for _, list := range [][]string{raw.notes, reply.Notes, said.signal.Notes, {said.err}} {
		e.addNotes(list)
	}
	return e, nil
}

// statement is the one answer of a reply that the task follows.
type statement struct {
	outcome provider.Outcome
	layer   provider.Layer
	signal  limits.Signal
	target  limits.Opt[int]
	err     string

	location string // of a redirect
}

// speaker is who decided: the item where the call itself went well and its task did not, otherwise the call.
func speaker(r provider.Reply) statement {
	s := statement{outcome: r.Outcome, layer: r.Layer, signal: r.Signal, err: r.Error}
	for _, item := range r.Items {
		if item.Task != explainTask {
			continue
		}
		s.target = item.Target
		s.outcome, s.layer = item.Outcome, item.Layer
		s.err, s.location = first(item.Error, r.Error), item.Location
		if item.Layer == provider.LayerTarget && r.Layer == provider.NoLayer {
			s.signal = item.Signal
		}
	}
	return s
}

// judge looks at an accepted page as a run without rules of its own does: a challenge is no page.
func (s *statement) judge(r provider.Reply) error {
	judge, err := record.Compile(record.Rules{})
	if err != nil {
		return err
	}
	for _, item := range r.Items {
		if item.Task != explainTask || item.Outcome != provider.Accepted || item.Page == nil {
			continue
		}
		v := judge.Page(*item.Page)
		if v.Outcome != provider.Accepted {
			s.outcome, s.layer, s.err = v.Outcome, provider.LayerTarget, v.Why
		} else if v.Empty {
			s.err = "the page is empty"
		}
	}
	return nil
}

func (e *explanation) addNotes(list []string) {
	for _, n := range list {
		if n = printable(n); n == "" {
			continue
		}
		known := false
		for _, have := range e.Notes {
			known = known || have == n
		}
		if !known {
			e.Notes = append(e.Notes, n)
		}
	}
}

// cools is a budget's scope in the words of section 8: an account's cooldown reaches its credentials.
func cools(s budget.Scope) string {
	switch s {
	case budget.Account:
		return string(budget.Credential)
	case budget.Credential, budget.IP, budget.Pending, budget.Provider, budget.Domain:
		return string(s)
	}
	return "none"
}

func pointer[T any](o limits.Opt[T]) *T {
	if !o.OK {
		return nil
	}
	return &o.V
}

func inSeconds(o limits.Opt[time.Duration]) *float64 {
	if !o.OK {
		return nil
	}
	s := max(0, o.V.Seconds())
	return &s
}

// text is the explanation for a reader.
func (e explanation) text(h http.Header) string {
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-10s %s\n", label, printable(fmt.Sprintf(format, args...)))
	}
	who := e.Layer
	if who == "" {
		who = "nobody refused"
	}
	line("outcome", "%s (%s)", e.Outcome, who)
	status := strconv.Itoa(*e.HTTPStatus)
	if e.TargetStatus != nil {
		status += fmt.Sprintf(", target %d", *e.TargetStatus)
	}
	line("status", "%s", status)
	switch {
	case e.WaitSeconds == nil && !e.Retry:
	case e.WaitSeconds == nil:
		line("wait", "the server announced nothing usable; own backoff %s to %s s", number(e.Backoff.Min), number(e.Backoff.Max))
	case *e.WaitSeconds == 0:
		line("wait", "0 s (%s); own floor %s to %s s", deref(e.WaitSource), number(e.Backoff.Min), number(e.Backoff.Max))
	case e.WaitSaturated:
		line("wait", "beyond 366 days (%s): parked", deref(e.WaitSource))
	default:
		line("wait", "%s s (%s)", number(*e.WaitSeconds), deref(e.WaitSource))
	}
	if e.Limit != nil || e.Remaining != nil {
		line("quota", "%s of %s left, counts %s%s", orDash(e.Remaining), orDash(e.Limit), e.Kind, resetText(e))
	}
	line("cools", "%s", e.Cools)
	line("retry", "%s", map[bool]string{true: "yes", false: "no"}[e.Retry])
	if e.RemoteJob != nil {
		line("job", "%s", *e.RemoteJob)
	}
	for _, v := range h.Values("Retry-After") {
		line("said", "Retry-After: %s", v)
	}
	for _, n := range e.Notes {
		line("note", "%s", n)
	}
	line("advice", "%s", e.Advice)
	return b.String()
}

func resetText(e explanation) string {
	var s string
	if e.ResetSeconds != nil {
		s += ", resets in " + number(*e.ResetSeconds) + " s"
	}
	if e.WindowSeconds != nil {
		s += ", window " + number(*e.WindowSeconds) + " s"
	}
	return s
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func orDash(n *int64) string {
	if n == nil {
		return "-"
	}
	return strconv.FormatInt(*n, 10)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
