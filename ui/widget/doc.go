// Package widget holds the drawing parts of the screens: text fitted to cells, lines of segments, panes, gauges, charts,
// tables, dialogs, and the one gate that makes foreign text printable.
//
// Parts have no state: what they show is their argument. All widths are in terminal cells and exact: a part asked for n
// cells returns n, whatever the text holds. Nothing is styled twice: a Line puts segments side by side, each with its own
// prefix and suffix from the palette, and no library is asked to lay out or colour anything while drawing.
//
// Text that came from outside (URLs, hosts, header values, errors, names) goes through Clean once, where it enters the
// screen's data; everything else here takes it as printable.
//
// Functions may be called from any goroutine; a Line belongs to the one that draws it.
package widget
