// Package themes holds the colour themes: TOML files of named roles, embedded, and their loader.
//
// A theme draws nothing. It is asked for a Palette, the bytes to write before and after a text of each role on a given
// kind of terminal, and whoever composes a line writes prefix, text, suffix. A role has its own value for truecolor, 256
// and 16 colours: the nearest match of a library turns our orange into red, so a warning would look like an error.
// Colour only repeats what a glyph and a word already say; with NoColor every prefix and suffix is empty.
//
// The terminal keeps its own background, so a theme states which one it is made for. The shipped themes are tested on
// the usual ones for contrast and for distance under simulated colour blindness.
//
// Everything here is immutable after loading and safe for use by many goroutines.
package themes
