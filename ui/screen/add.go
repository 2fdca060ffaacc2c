package screen

import (
	"dev.scrapetop/engine"
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/widget"
)

// AddForm is the dialog in which URLs, or a file of them, are named to be added. It implements Overlay.
type AddForm struct {
	Before, Behind string // what was typed before and behind the cursor
	New            bool   // a run is started of it
	Fault          string // why it could not be added, printable
}

// Box draws the dialog; of a long line the end before the cursor stays in sight.
func (f *AddForm) Box(look *widget.Look, w, h int) []string {
	width := min(w, 84)
	inner := widget.Inner(width)
	l := look.Line(inner)
	room := inner - 1
	behind := widget.Truncate(f.Behind, room/2)
	l.Text(themes.Text, lastCells(f.Before, room-widget.Width(behind))).Text(themes.Focus, "_").Text(themes.Text, behind)
	lines := []string{l.String()}
	if f.Fault != "" {
		for _, s := range widget.Wrap([]string{f.Fault}, inner) {
			lines = append(lines, look.Text(themes.Bad, s, inner))
		}
	}
	if h >= len(lines)+8 {
		lines = append(lines, widget.Blank(inner),
			look.Text(themes.Dim, "a URL, several with blanks between them, or a file:", inner),
			look.Text(themes.Dim, "text, CSV, JSONL or a sitemap, as scrapetop run takes it", inner))
	}
	title := "Add URLs"
	if f.New {
		title = "New run"
	}
	return widget.Pane{Title: title, Focused: true}.Draw(look, width, min(len(lines)+2, h), lines[:min(len(lines), max(h-2, 1))])
}

// AddedText is what came of adding, in a line.
func AddedText(a engine.Added) string {
	var text string
	switch read := a.Tasks + a.Duplicates; {
	case read == 0:
		text = "nothing was added"
	case a.Duplicates == 0:
		text = "added " + urlsOf(a.Tasks)
	case a.Tasks == 0:
		text = "nothing was added, " + urlsOf(a.Duplicates) + " already there"
	default:
		text = "added " + urlsOf(a.Tasks) + ", " + widget.Thousands(a.Duplicates) + " already there"
	}
	if a.Refused > 0 {
		text += ", " + widget.Thousands(a.Refused) + " refused"
	}
	if a.Cut {
		text += "; the run ended, the rest was not read"
	}
	return text
}

func urlsOf(n int64) string {
	if n == 1 {
		return "1 URL"
	}
	return widget.Thousands(n) + " URLs"
}
