package screen

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// diagnosis is what the frame's evidence says about what holds the run back, over the whole body of a screen. It implements
// Overlay.
type diagnosis struct {
	p   *Picture
	top int
}

// Diagnosis is the diagnosis, scrolled by top lines.
func (p *Picture) Diagnosis(top int) Overlay { return &diagnosis{p, top} }

// DiagnosisPage is how many of its lines are in sight.
func (p *Picture) DiagnosisPage() int {
	class := ClassOf(p.W, p.H)
	if class == Compact {
		return p.bodyHeight(class) - 1
	}
	return p.bodyHeight(class) - 2
}

// DiagnosisEnd is the furthest that it scrolls.
func (p *Picture) DiagnosisEnd() int {
	return max(len((&diagnosis{p: p}).lines(p.diagnosisWidth()))-p.DiagnosisPage(), 0)
}

func (p *Picture) diagnosisWidth() int {
	if ClassOf(p.W, p.H) == Compact {
		return p.W
	}
	return widget.Inner(p.W)
}

// Box draws what is in sight, in a pane where there is room for one.
func (d *diagnosis) Box(look *widget.Look, w, h int) []string {
	all := d.lines(d.p.diagnosisWidth())
	page := d.p.DiagnosisPage()
	top := min(max(d.top, 0), max(len(all)-page, 0))
	shown := all[top:min(top+page, len(all))]
	place := ""
	if len(all) > page {
		place = widget.Thousands(int64(top+1)) + "-" + widget.Thousands(int64(top+len(shown))) + " of " + widget.Thousands(int64(len(all))) + "   "
	}
	if ClassOf(d.p.W, d.p.H) != Compact {
		return widget.Pane{Title: "Diagnosis: " + d.count(), Right: place + "Esc: close", Focused: true}.Draw(look, w, h, shown)
	}
	out := []string{look.Line(w).Strong(true).Text(themes.Focus, "DIAGNOSIS").Strong(false).Right(themes.Dim, place+"Esc: close").String()}
	out = append(out, shown...)
	for len(out) < h {
		out = append(out, widget.Blank(w))
	}
	return out[:h]
}

// count is how many findings there are of each level.
func (d *diagnosis) count() string {
	var n [3]int64
	levels := []string{"error", "warn", "info"}
	for _, f := range view.Diagnose(d.p.Data.Frame) {
		if f.Fits == view.FitsOwnLimit {
			return "nothing wrong"
		}
		n[slices.Index(levels, f.Level)]++
	}
	var words []string
	for i, l := range levels {
		if n[i] > 0 {
			word, _ := level(l)
			words = append(words, widget.Thousands(n[i])+" "+strings.ToLower(word))
		}
	}
	return strings.Join(words, ", ")
}

// lines are the findings, what stands still first, then what was learned of limits that nobody told.
func (d *diagnosis) lines(w int) []string {
	p := d.p
	var out []string
	indent, evidence, do := 11, "evidence", "do"
	if w < 76 {
		indent, evidence, do = 2, "", ""
	}
	row := func(label string, role themes.Role, s string) {
		for i, line := range strings.Split(ansi.Wrap(s, max(w-indent, 1), ""), "\n") {
			if i > 0 {
				label = ""
			}
			out = append(out, p.Look.Line(w).Gap(2).Fit(themes.Dim, label, max(indent-3, 0), widget.Left).To(indent).Text(role, line).String())
		}
	}
	for i, f := range view.Diagnose(p.Data.Frame) {
		if i > 0 {
			out = append(out, widget.Blank(w))
		}
		word, role := level(f.Level)
		if f.Fits == view.FitsOwnLimit {
			word, role = "FINE", themes.OK
		}
		for n, line := range strings.Split(ansi.Wrap(f.Fits, max(w-5, 1), ""), "\n") {
			if n > 0 {
				word = ""
			}
			out = append(out, p.Look.Line(w).Strong(true).Fit(role, word, 5, widget.Left).Text(themes.Text, line).String())
		}
		row(evidence, themes.Text, f.Evidence)
		if do == "" {
			f.Do = "do: " + f.Do
		}
		row(do, themes.Focus, f.Do)
	}
	out = append(out, widget.Blank(w), p.Look.Line(w).Strong(true).Text(themes.Dim, "LEARNED of limits that nobody told").String())
	known := view.Hypotheses(p.Data.Frame)
	for _, h := range known {
		row("", themes.Text, h.Scope+" "+h.Key+": "+h.Words)
	}
	if r := p.selected(); r != nil && (p.detail() == nil || p.detail().Learned == "") {
		row("", themes.Dim, "domain "+r.Domain+" (selected): nothing, no refusal taught any")
	} else if len(known) == 0 {
		row("", themes.Dim, "nothing yet")
	}
	return out
}
