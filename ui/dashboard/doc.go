// Package dashboard is the Bubble Tea program: the one root model with its modes, global keys, frame clock, toasts and
// dialogs. The screens below it are plain values.
//
// The dashboard keeps no truth of its own. On its frame clock it asks the Source for a Frame and draws it; what a user
// does becomes a command, shown as a wish until a later frame confirms it. Selection and tags are names, never row
// numbers, and the order of rows is held for three seconds after the cursor moved.
//
// What is too much for a frame (tasks, dead letters, events, runs, results and their bodies) stays in storage. The dashboard
// puts numbered questions about it to a Reader, one at a time and off its loop; an answer is a message, drawn only while it fits
// what is on show. A run that nobody drives here can be looked at: its frame is made of its row.
//
// Frames: ten a second while something changes, fewer over SSH, without focus, frozen or when nothing changes, one a
// second when no run is live. A picture that did not change costs no drawing and no byte to the terminal.
//
// Concurrency: a Model belongs to its program's loop. Source.Frame and Source.Do are called from that loop and must not
// block; Crash and the writer to the terminal may be used from any goroutine.
package dashboard
