package dashboard

import (
	"runtime"

	"dev.scrapetop/themes"
	"dev.scrapetop/ui/keys"
	"dev.scrapetop/ui/screen"
)

// disabled tells why an action can do nothing now; it is shown in the help and as the answer to the key.
func (m *Model) disabled(action keys.Action) string {
	frozen, none := !m.frozenAt.IsZero(), m.row() < 0
	over := m.fresh && !m.data.Frame.Live
	if m.looked != nil && (action == keys.PauseRun || action == keys.AddURLs) {
		return "this run is only looked at: 1 goes back"
	}
	if m.opt.Watching && !over {
		switch action {
		case keys.LimitDown, keys.LimitUp, keys.EndCooldown, keys.Probe, keys.PauseRun, keys.Requeue, keys.RequeueAll, keys.AddURLs:
			return "another process drives the run: only a pause reaches it from here"
		}
	}
	if m.list.OnBudgets(m.data, m.tab) {
		// Their pane has rows of its own.
		none = false
		if action == keys.EndCooldown || action == keys.Probe {
			return m.noProbe(over)
		}
		if _, _, ok := m.list.ChosenBudget(m.data, m.tab); !ok && (action == keys.Copy || action == keys.CopyJSON) {
			return "there is no row to copy"
		}
	}
	if m.tab.OfRows() {
		none = false
		if why := m.noRow(action); why != "" {
			return why
		}
		if action == keys.Requeue {
			return m.noLetter(action)
		}
		if m.tab == screen.Letters {
			switch action {
			case keys.NextPane, keys.LastPane:
				return ""
			case keys.Tag, keys.RequeueAll:
				return m.noLetter(action)
			}
		}
		if m.tab >= screen.History && action == keys.ClearTags {
			return m.noHistory(action)
		}
	}
	switch action {
	case keys.Down, keys.Up, keys.HalfDown, keys.HalfUp, keys.PageDown, keys.PageUp, keys.Top, keys.Bottom, keys.Tag, keys.TagAll, keys.Copy, keys.CopyJSON:
		if none && m.data.Frame.Domains.Matched == 0 && !m.tab.OfRows() {
			return "there are no domains to move on"
		}
	case keys.Pause, keys.LimitDown, keys.LimitUp, keys.EndCooldown:
		switch {
		case over:
			return "no run is going"
		case none && len(m.list.Tags) == 0:
			return "no domain is selected"
		}
		if action == keys.EndCooldown {
			return m.list.EndCooldown(m.data, m.picture()).Why
		}
	case keys.Probe:
		switch {
		case len(m.data.Budgets) == 0:
			return "there is no key or account to probe"
		}
		return "a key or account is probed where it is chosen: B shows them"
	case keys.PauseRun:
		switch {
		case over:
			return "no run is going"
		case m.data.Frame.Run.State == "draining":
			return "the run is stopping"
		}
	case keys.ClearTags:
		if len(m.list.Tags) == 0 && !m.tab.OfRows() {
			return "nothing is tagged"
		}
	case keys.Demo:
		if !m.starts() {
			return "the demo starts where no run is loaded: scrapetop demo"
		}
	case keys.AddURLs:
		return m.noAdd(over)
	case keys.Export:
		return m.noExport()
	case keys.Undo:
		if m.undo == nil {
			return "nothing to undo"
		}
	case keys.Next, keys.Previous:
		if m.list.Filter == "" {
			return "no filter is set: / sets one"
		}
	case keys.Filter, keys.Sort, keys.Reverse, keys.Faults, keys.RangeLonger, keys.RangeShorter:
		if frozen {
			return "the picture is frozen: Z"
		}
	case keys.NextPane, keys.LastPane, keys.Zoom:
		switch {
		case m.tab == screen.Overview && m.panes() < 2 && len(m.list.Budgets(m.data, m.tab)) > 0:
			return "panes need 120x36; B shows keys and accounts"
		case m.panes() < 2:
			return "panes need 120x36"
		}
	case keys.Detail:
		if screen.ClassOf(m.w, m.h) < screen.Standard {
			return "the detail needs 80x24"
		}
	case keys.NextTheme, keys.LastTheme:
		if m.profile == themes.NoColor {
			return "colours are off"
		}
	case keys.Browse:
		return m.noAddress()
	case keys.Suspend:
		if runtime.GOOS == "windows" {
			return "there is no job control here"
		}
	}
	return ""
}

// noProbe tells why no probe of the selected key or account can be asked for.
func (m *Model) noProbe(over bool) string {
	switch state := m.data.Frame.Run.State; {
	case over:
		return "no run is going"
	case state == "draining":
		return "the run is stopping"
	case state == "paused":
		return "the run is paused: P resumes it"
	}
	act, _ := m.picture().ProbeBudget()
	return act.Why
}
