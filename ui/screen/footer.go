package screen

import (
	"dev.scrapetop/themes"
	"dev.scrapetop/ui/keys"
	"dev.scrapetop/ui/widget"
)

// Footer draws the keys that matter in a mode, most wanted first. A key that can do nothing now is dim; the help says why.
func Footer(look *widget.Look, table *keys.Map, mode keys.Mode, width int, disabled keys.Disabled) string {
	l := look.Line(width)
	if width >= 60 {
		l.Gap(1)
	}
	for i, s := range table.Footer(mode, l.Room(), disabled) {
		if i > 0 {
			l.Gap(2)
		}
		if s.Off {
			l.Text(themes.Dim, s.Key+":"+s.Label)
			continue
		}
		l.Strong(true).Text(themes.Focus, s.Key).Strong(false).Text(themes.Text, ":"+s.Label)
	}
	return l.String()
}
