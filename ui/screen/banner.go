package screen

import (
	"strings"
	"time"

	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// banner tells what keeps the picture or the run from moving, most urgent first.
func (p *Picture) banner() (string, themes.Role) {
	f, g := p.Data.Frame, p.Look.Glyphs
	wish := p.Wishes[""]
	switch {
	case f.Health.StorageError != "":
		return g.Look + " results cannot be written: " + f.Health.StorageError, themes.Bad
	case !p.Frozen.IsZero():
		return g.State("frozen").Glyph + " FROZEN at " + p.Frozen.Format(time.TimeOnly) + " for " +
			widget.Clock(min(p.FrozenFor, longest)) + ". The run goes on. Z: live", themes.Focus
	case p.Looking:
		return p.looking(), themes.Focus
	case f.Run.State == "draining":
		text := g.State("draining").Glyph + " STOPPING: " + widget.Thousands(int64(f.InFlight)) + " in flight"
		if f.Counts.Remote > 0 {
			text += ", " + widget.Thousands(f.Counts.Remote) + " at the platform"
		}
		if !f.Run.DrainBy.IsZero() {
			text += ", at most " + until(f.Run.DrainBy, p.Now)
		}
		return text + ". Ctrl-C: stop now", themes.Warn
	case wish != "":
		return g.State("waiting").Glyph + " " + wish, themes.Focus
	case f.Run.State == "paused":
		text := g.State("paused").Glyph + " RUN PAUSED by you"
		if !f.Run.PausedAt.IsZero() {
			text += " at " + f.Run.PausedAt.In(p.Now.Location()).Format(time.TimeOnly)
		}
		if f.InFlight > 0 {
			text += ". " + widget.Thousands(int64(f.InFlight)) + " in flight are finishing"
		}
		return text + ". P: resume", themes.Pause
	case f.Live && f.Run.State == "locked out":
		return p.keyless(), themes.Bad
	case p.Watching && f.Live:
		return g.State("idle").Glyph + " another process drives this run; a pause reaches it from here too", themes.Text
	case !f.Live && f.Run.ID != 0:
		return p.ended()
	}
	return "", themes.Text
}

// keyless says that everything waits for a key, what helps, and how to leave.
func (p *Picture) keyless() string {
	mend := "once it works"
	if strings.Contains(p.Data.Frame.Run.Reason, ": quota") {
		mend = "top up"
	}
	told := p.Look.Glyphs.State("locked out").Glyph + " " + p.Data.Frame.Run.Reason
	brief := strings.Replace(told, " by the platform", "", 1)
	switch whole := told + ": " + mend + ", then B and r send one probe; q ends the run"; {
	case widget.Width(whole) <= p.W-2:
		return whole
	case p.W >= 80:
		return p.sentence(brief, ": "+mend+", then B, r: one probe; q: end")
	}
	brief = strings.Replace(strings.Replace(brief, "credential ", "", 1), " is stopped", "", 1)
	return p.sentence(brief, ": "+mend+", B r: probe, q")
}

// ended says how the run ended, why, and with which command it goes on.
func (p *Picture) ended() (string, themes.Role) {
	f := p.Data.Frame
	m := p.Look.Glyphs.State(f.Run.State)
	text := m.Glyph + " " + m.Word
	if f.Run.Reason != "" {
		text += ": " + f.Run.Reason
	}
	switch {
	case (f.Run.State == "stopped" || f.Run.State == "failed") && p.Resume != "":
		return p.sentence(text, ". "+p.Resume), m.Role
	case f.Run.Reason == "":
		return "", themes.Text
	}
	return text, m.Role
}

// sentence joins what is told and what to do; where both do not fit, what is told is cut.
func (p *Picture) sentence(told, do string) string {
	return widget.Truncate(told, max(p.W-2-widget.Width(do), 10)) + do
}

// looking says that a run is only looked at, how it stands, and the way back.
func (p *Picture) looking() string {
	f := p.Data.Frame
	stands := map[string]string{"running": "another process drives it", "draining": "another process drives it", "finished": "it is over", "interrupted": "its process went"}[f.Run.State]
	if stands == "" {
		stands = f.Run.State
		if f.Run.Reason != "" {
			stands += ": " + f.Run.Reason
		}
	}
	if p.W < 60 {
		return p.Look.Glyphs.State("idle").Glyph + " " + runNumber(f.Run.ID) + " is only looked at. 1: back"
	}
	return p.sentence(p.Look.Glyphs.State("idle").Glyph+" looking at run "+runNumber(f.Run.ID)+": "+stands, ". 1: back")
}
