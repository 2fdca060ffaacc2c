package screen

import (
	"math"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"dev.scrapetop/storage"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// attemptsOf are the attempts of a task as far as they were read.
func (p *Picture) attemptsOf(t *storage.TaskRow) []storage.Attempt {
	if p.Shown == nil || p.Shown.Chosen != t.ID {
		return nil
	}
	return p.Shown.Attempts
}

// noAttempts says why none is shown.
func (p *Picture) noAttempts(t *storage.TaskRow) string {
	switch {
	case t.Attempts == 0 && t.WaitsFor != "":
		return "not tried yet: waits for " + strings.Replace(t.WaitsFor, ":", " ", 1)
	case t.Attempts == 0:
		return "not tried yet"
	case p.Shown.Chosen != t.ID && !p.Frozen.IsZero():
		return "its attempts are not in the frozen picture"
	case p.Shown.Chosen != t.ID:
		return "reading its attempts"
	}
	return "its attempts are not kept" // a result of an earlier run was reused
}

// taskDetail is what happened to the task under the cursor: its attempts on one axis of time, and in numbers with what the
// engine decided. The latest attempts are shown when there is no room for all.
func (p *Picture) taskDetail(w, h int) []string {
	inner, room := widget.Inner(w), max(h-2, 0)
	t := p.Browse.ChosenTask(p.Shown, p.Tab)
	if t == nil {
		return widget.Pane{Title: "Task"}.Draw(p.Look, w, h, []string{p.Look.Text(themes.Dim, p.noRows("no task is selected"), inner)})
	}
	lines := p.taskFacts(t, inner)
	if room <= 5 {
		lines = lines[:1]
	}
	end := p.taskEnd(t, inner)
	all := p.attemptsOf(t)
	rows := max(room-len(lines)-len(end)-1, 1)
	long := p.Browse.Open       // decisions in full
	shown, drawn := len(all), 0 // from which attempt on, in how many lines
	for ; shown > 0; shown-- {
		n := 1
		if long {
			n = len(p.decision(&all[shown-1], w))
		}
		if drawn+n > rows && drawn > 0 {
			break
		}
		drawn += n
	}
	switch {
	case len(all) == 0:
		lines = append(lines, p.Look.Text(themes.Dim, p.noAttempts(t), inner))
	default:
		if inner >= 60 {
			lines = append(lines, p.attemptHead(w, shown))
		}
		bars := timeline(t, all[shown:])
		for i := shown; i < len(all); i++ {
			lines = append(lines, p.attempt(&all[i], bars, i-shown, w)...)
		}
	}
	for len(lines)+len(end) < room && p.Browse.Open {
		lines = append(lines, widget.Blank(inner))
	}
	lines = append(lines, end...)
	domain, path := splitURL(t.URL, t.Domain)
	title, right := widget.Truncate("Task "+widget.Thousands(t.ID)+"  "+domain+path, max(w-30, 12)), "Enter: whole screen"
	if p.Browse.Open {
		title, right = "Task "+widget.Thousands(t.ID), "Esc: back"
	}
	return widget.Pane{Title: title, Right: right}.Draw(p.Look, w, h, lines)
}

// taskFacts are the state and the way of a task so far.
func (p *Picture) taskFacts(t *storage.TaskRow, inner int) []string {
	m := p.Look.Glyphs.State(shownState(t))
	l := p.Look.Line(inner).Strong(true).Text(m.Role, m.Glyph+" "+m.Word).Strong(false)
	l.Text(themes.Text, "  queued "+p.clockOf(t.CreatedAt))
	switch {
	case !t.FirstTryAt.IsZero():
		l.Text(themes.Text, "  waited "+age(t.FirstTryAt.Sub(t.CreatedAt)))
	case t.State == storage.TaskPending:
		l.Text(themes.Text, "  waits for "+since5(t.CreatedAt, p.Now))
	}
	l.Text(themes.Text, "  tries spent "+countIn(int64(t.Tries), 5)+"  exchanges "+countIn(int64(t.Attempts), 6))
	if t.Tenant != "" {
		l.Text(themes.Dim, "  tenant ").Text(themes.Text, t.Tenant)
	}
	lines := []string{l.String()}
	if p.Browse.Open {
		lines = append(lines, p.Look.Text(themes.Text, t.URL, inner))
	}
	if t.HopURL != "" {
		lines = append(lines, p.Look.Line(inner).Text(themes.Dim, "redirected to ").Text(themes.Text, t.HopURL).String())
	}
	return lines
}

// taskEnd says what comes next, or how it ended.
func (p *Picture) taskEnd(t *storage.TaskRow, inner int) []string {
	l := p.Look.Line(inner)
	switch {
	case t.State == storage.TaskDead:
		l.Text(themes.Bad, "dead: "+t.Reason).Text(themes.Text, " at "+p.clockOf(t.UpdatedAt))
		if t.Error != "" {
			l.Text(themes.Dim, "   "+t.Error)
		}
	case t.State == storage.TaskAccepted:
		l.Text(themes.OK, "accepted").Text(themes.Text, " at "+p.clockOf(t.UpdatedAt)+", "+age(t.UpdatedAt.Sub(t.CreatedAt))+" after it was queued")
	case t.State == storage.TaskCancelled:
		l.Text(themes.Pause, "cancelled").Text(themes.Text, " at "+p.clockOf(t.UpdatedAt))
	case t.State == storage.TaskRemote:
		l.Text(themes.Text, "handed to the platform at "+p.clockOf(t.UpdatedAt)+": it is polled until its result is there")
	case t.WaitsFor != "" && t.Until.IsZero():
		l.Text(themes.Pause, "next   when "+strings.Replace(t.WaitsFor, ":", " ", 1)+" is resumed")
	case t.WaitsFor != "":
		l.Text(themes.Cool, "next   in "+until(t.Until, p.Now)+" at the earliest: "+strings.Replace(t.WaitsFor, ":", " ", 1)+" cools until "+p.clockOf(t.Until))
	case !t.Until.IsZero():
		l.Text(themes.Cool, "next   in "+until(t.Until, p.Now)+", at "+p.clockOf(t.Until)+": its own backoff")
	case t.State == storage.TaskPending:
		l.Text(themes.Text, "next   when its turn comes: nothing holds it")
	default:
		l.Text(themes.Text, "next   its answer")
	}
	return []string{l.String()}
}

// bars is the axis of time that the attempts share. Waits are folded: a length has cells by its order of magnitude, so that an
// attempt of a second stands beside a wait of an hour.
type bars struct {
	weight []float64 // of: the wait before the first attempt, the attempt, the wait before the second ...
}

func timeline(t *storage.TaskRow, attempts []storage.Attempt) bars {
	var b bars
	last := t.CreatedAt
	for i := range attempts {
		a := &attempts[i]
		b.weight = append(b.weight, order(a.StartedAt.Sub(last)), 1+order(a.Elapsed))
		last = a.StartedAt.Add(a.Elapsed)
	}
	return b
}

// order is the order of magnitude of a length: 0 under 100 ms, 1 at 1 s, 2 at 10 s, and on.
func order(d time.Duration) float64 {
	return max(math.Log10(max(d.Seconds(), 0.1))+1, 0)
}

// draw writes the row of an attempt into width cells: the wait before it, and itself with how it ended.
func (b bars) draw(l *widget.Line, g *widget.Glyphs, i int, role themes.Role, mark string, width int) {
	total := 0.0
	for _, w := range b.weight {
		total += w
	}
	cell := func(k int) int { // where the k-th length begins
		sum := 0.0
		for _, w := range b.weight[:k] {
			sum += w
		}
		return int(math.Round(sum / total * float64(width)))
	}
	end := l.Cells() + width
	from, begin, to := cell(2*i), cell(2*i+1), max(cell(2*i+2), cell(2*i+1)+1)
	if to > width {
		begin, to = begin-(to-width), width
		from = min(from, begin)
	}
	l.Gap(from).Repeat(themes.Dim, g.Wait, begin-from)
	l.Repeat(role, g.Wire, to-begin-1).Text(role, mark)
	l.To(end)
}

// The cells of an attempt's columns. What is narrow has bars of three cells, and the decision takes what is left.
const (
	barsWide   = 30
	barsNarrow = 5
)

func (p *Picture) attemptHead(w, earlier int) string {
	inner := widget.Inner(w)
	l := p.Look.Line(inner).Strong(true).Fit(themes.Dim, "TRY", 4, widget.Left)
	l.Fit(themes.Dim, "STARTED", 9, widget.Left)
	note := ""
	if earlier > 0 {
		note = " (" + widget.Thousands(int64(earlier)) + " earlier)"
	}
	switch {
	case inner >= 100:
		l.Fit(themes.Dim, p.Look.Glyphs.Wait+" WAITED  "+p.Look.Glyphs.Wire+" ON THE WIRE", barsWide, widget.Left).Gap(1).Fit(themes.Dim, "TOOK", 7, widget.Right).Gap(1).
			Fit(themes.Dim, "ANSWER", 16, widget.Left).Fit(themes.Dim, "BYTES", 8, widget.Right).Fit(themes.Dim, "N/MAX", 7, widget.Right)
	default:
		l.Gap(barsNarrow+1).Fit(themes.Dim, "TOOK", 7, widget.Right).Gap(1).Fit(themes.Dim, "ANSWER", 14, widget.Left)
	}
	return l.Gap(1).Text(themes.Dim, "DECISION"+note).String()
}

// decision is what the engine did after an attempt, in lines: one in a table, all of it where the detail has the whole screen.
func (p *Picture) decision(a *storage.Attempt, w int) []string {
	inner := widget.Inner(w)
	room := inner - 13 - barsWide - 1 - 7 - 1 - 16 - 8 - 7 - 1
	switch {
	case inner >= 100:
	case inner >= 60:
		room = inner - 13 - barsNarrow - 1 - 7 - 1 - 14 - 1
	default:
		room = inner - 4
	}
	s := a.Decision
	if s == "" {
		s = a.Error
	} else if a.Error != "" && a.Outcome != "accepted" {
		s += " (" + a.Error + ")"
	}
	if !p.Browse.Open {
		return []string{s}
	}
	lines := strings.Split(ansi.Wrap(s, max(room, 8), ""), "\n")
	if inner < 60 {
		lines = append([]string{""}, lines...)
	}
	return lines
}

func (p *Picture) attempt(a *storage.Attempt, b bars, i, w int) []string {
	inner := widget.Inner(w)
	role := outcomeRole(a.Outcome)
	mark := p.Look.Glyphs.State("dead").Glyph
	switch a.Outcome {
	case "accepted":
		mark = p.Look.Glyphs.State("accepted").Glyph
	case "accepted_remote", "still_running":
		mark = p.Look.Glyphs.State("remote").Glyph
	}
	decision := p.decision(a, w)
	l := p.Look.Line(inner).Fit(themes.Text, countIn(int64(a.Number), 3), 4, widget.Left).Fit(themes.Text, p.clockOf(a.StartedAt), 9, widget.Left)
	switch {
	case inner >= 100:
		b.draw(l, p.Look.Glyphs, i, role, mark, barsWide)
		load := ofLimit(a.InFlight, a.InFlightLimit)
		l.Gap(1).Fit(themes.Text, widget.Seconds(a.Elapsed), 7, widget.Right).Gap(1).Fit(role, attemptWords(a), 16, widget.Left).
			Fit(themes.Text, widget.Bytes(a.Bytes), 8, widget.Right).Fit(themes.Text, load, 7, widget.Right)
	case inner >= 60:
		n := min(1+int(order(a.Elapsed)), barsNarrow-1)
		l.Repeat(role, p.Look.Glyphs.Wire, n-1).Text(role, mark).Gap(barsNarrow-n).Gap(1).Fit(themes.Text, widget.Seconds(a.Elapsed), 7, widget.Right).Gap(1).
			Fit(role, attemptWords(a), 14, widget.Left)
	default:
		l.Text(role, attemptWords(a))
		if !p.Browse.Open {
			l.Text(themes.Dim, " > ").Text(themes.Text, decision[0])
		}
		lines := []string{l.String()}
		for _, s := range decision[1:] {
			lines = append(lines, p.Look.Line(inner).Gap(4).Text(themes.Text, s).String())
		}
		return lines
	}
	at := l.Gap(1).Cells()
	lines := []string{l.Text(themes.Text, decision[0]).String()}
	for _, s := range decision[1:] {
		lines = append(lines, p.Look.Line(inner).Gap(at).Text(themes.Text, s).String())
	}
	return lines
}

// attemptWords is how an attempt ended, in few words.
func attemptWords(a *storage.Attempt) string {
	answer := storage.Answer{Outcome: a.Outcome, Layer: a.Layer, Elapsed: a.Elapsed}
	if a.HTTPStatus != nil {
		answer.HTTPStatus = *a.HTTPStatus
	}
	if a.TargetStatus != nil {
		answer.TargetStatus = *a.TargetStatus
	}
	if a.Outcome == "accepted" {
		answer.Outcome = "ok"
	}
	return answerWords(&answer)
}
