// Package screen draws the screens of the dashboard: a file per screen or pane, plain structs that turn a picture of the engine
// into lines and an action into commands.
//
// A Picture is everything that a screen is drawn from: the frame, the size, the look, the clock and what the user chose.
// Draw is a pure function of it: it returns exactly H lines of exactly W cells for every size from 1x1, holds no control
// byte but colour sequences, and never panics on what a frame may hold. Text from outside is made printable in Take, once,
// where a frame enters; drawing takes it as printable.
//
// Sizes: 120x36 and more is drawn full, 80x24 and more standard, 40x10 and more compact; below that one line says which
// size is needed. Zero, unknown and not sent differ on every screen: "0", "-", "no header". A value that may be stale says
// its age. Countdowns are computed from a deadline and the picture's clock.
//
// Nothing here is safe for use from several goroutines at once, except that separate pictures are independent.
package screen
