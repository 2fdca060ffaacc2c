package screen

import (
	"maps"
	"slices"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/ui/widget"
)

// Data is a frame made ready for drawing.
type Data struct {
	// Frame is a copy whose texts are all printable. Nobody writes to it.
	Frame *view.Frame
	// Names are the domains of Frame.Domains.Rows as the engine names them: what a command carries.
	Names []string
	// Budgets are those of Frame.Budgets as the engine names them, in the same order.
	Budgets []BudgetID
	// accounts are those of Frame.Budgets by name.
	accounts map[string]*view.BudgetRow
	// Headers are the names of Frame.Detail.Headers in order.
	Headers []string
}

// The most that is kept of one text, in cells. No screen has room for more.
const (
	maxName = 253 // a hostname is never longer
	maxText = 400
	// maxEvents is more lines than the largest screen shows.
	maxEvents = 64
)

// Take copies a frame for the screens and cleans every text that came from outside. A nil frame is an empty one.
func Take(f *view.Frame) *Data {
	if f == nil {
		f = &view.Frame{Domains: view.DomainWindow{Index: -1}}
	}
	c := *f
	d := &Data{Frame: &c}
	c.Run.Name, c.Run.Provider = name(f.Run.Name), name(f.Run.Provider)
	c.Run.State, c.Run.Reason = name(f.Run.State), text(f.Run.Reason)
	c.ETA.Why, c.Health.StorageError = text(f.ETA.Why), text(f.Health.StorageError)

	c.Domains.Rows = slices.Clone(f.Domains.Rows)
	d.Names = make([]string, len(c.Domains.Rows))
	for i := range c.Domains.Rows {
		r := &c.Domains.Rows[i]
		d.Names[i] = r.Domain
		r.Domain, r.State, r.Cause = name(r.Domain), view.State(name(string(r.State))), text(r.Cause)
		r.LastText, r.ETA.Why = text(r.LastText), text(r.ETA.Why)
	}
	c.Events = slices.Clone(f.Events[:min(len(f.Events), maxEvents)])
	for i := range c.Events {
		e := &c.Events[i]
		e.Level, e.Scope, e.Key, e.Text = name(e.Level), name(e.Scope), name(e.Key), text(e.Text)
	}
	c.Cooldowns = slices.Clone(f.Cooldowns)
	for i := range c.Cooldowns {
		r := &c.Cooldowns[i]
		r.Scope, r.Key, r.Cause, r.Layer = name(r.Scope), name(r.Key), text(r.Cause), name(r.Layer)
	}
	d.takeBudgets(f.Budgets)
	c.Layers = cleanLayers(f.Layers)
	c.Caps = slices.Clone(f.Caps)
	for i := range c.Caps {
		c.Caps[i].Name = name(c.Caps[i].Name)
	}
	c.Alerts = slices.Clone(f.Alerts)
	for i := range c.Alerts {
		a := &c.Alerts[i]
		a.Level, a.Text, a.Do = name(a.Level), text(a.Text), text(a.Do)
	}
	if f.Evidence != nil {
		e := *f.Evidence
		e.Worst = slices.Clone(e.Worst)
		for i := range e.Worst {
			e.Worst[i].Domain, e.Worst[i].Learned = name(e.Worst[i].Domain), text(e.Worst[i].Learned)
		}
		c.Evidence = &e
	}
	if f.Detail != nil {
		c.Detail, d.Headers = cleanDetail(f.Detail)
	}
	return d
}

func cleanDetail(f *view.DomainDetail) (*view.DomainDetail, []string) {
	c := *f
	c.Domain, c.Robots, c.Next, c.Learned = name(f.Domain), text(f.Robots), text(f.Next), text(f.Learned)
	c.Layers = cleanLayers(f.Layers)
	c.Notes = slices.Clone(f.Notes)
	for i := range c.Notes {
		c.Notes[i] = text(c.Notes[i])
	}
	c.Headers = make(map[string]string, len(f.Headers))
	for k, v := range f.Headers {
		c.Headers[name(k)] = text(v)
	}
	return &c, slices.Sorted(maps.Keys(c.Headers))
}

func cleanLayers(rows []view.LayerRow) []view.LayerRow {
	c := slices.Clone(rows)
	for i := range c {
		c[i].Layer = name(c[i].Layer)
	}
	return c
}

func name(s string) string { return widget.Clean(s, maxName) }
func text(s string) string { return widget.Clean(s, maxText) }
