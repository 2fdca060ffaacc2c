// Package plain tells a run in lines of words and takes commands as words: for screen readers, for logs, and for terminals on
// which nothing can be drawn. No line needs colour, a box or a place on the screen to be understood; each begins with the time and
// what kind of line it is, and numbers carry their units.
//
// A Speaker decides what to say; it reads no clock, prints nothing and starts no goroutine. It belongs to one goroutine.
package plain
