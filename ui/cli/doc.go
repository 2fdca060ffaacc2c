// Package cli holds the commands and the configuration: it reads flags, environment and config file, wires storage,
// engine and dashboard together, and turns how things ended into an exit code.
//
// What it promises to the shell:
//
//   - The result of a command goes to stdout, everything about it (progress, bad lines, errors) to stderr.
//   - An error is one line, "scrapetop: what happened, to what, what to do".
//   - The exit code is 0 for all accepted, 1 for a run that could not go on, 2 for wrong usage or unreadable input, 3 for
//     dead-lettered tasks, 4 for a stop with work left to resume.
//   - Flags win over the environment (SCRAPETOP_*), that over the config file. Keys are read from where the config says
//     and are never shown, stored or logged.
//   - Foreign text (input lines, page titles, answers of servers) is made printable before it is written.
//
// A command runs on the goroutine that called Main. run, resume and demo start three more and wait for them: the one
// that reads the input, the engine's loop, and the one that turns signals into commands; a reader that hangs in a pipe
// is the only thing left behind at exit.
package cli
