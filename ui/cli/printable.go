package cli

import "dev.scrapetop/ui/widget"

// maxLine is the longest line, in cells, that foreign text may make of an error or a note.
const maxLine = 2000

// printable puts foreign text through the one gate: a single line without a control.
func printable(s string) string { return widget.Clean(s, maxLine) }

// shorten is printable cut to width cells.
func shorten(s string, width int) string { return widget.Clean(s, width) }
