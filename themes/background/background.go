// Package background settles the terminal's background colour before Bubble Tea asks for it.
//
// Bubble Tea v1 queries the terminal in its own init and waits up to five seconds on one that does not answer, which
// would stall every command, `version` too. Go initialises packages whose imports are ready in the order of their import
// paths; this one imports only lipgloss and its path sorts before github.com/charmbracelet/bubbletea, so the question is
// answered before it is put. Which background a theme is made for is the user's choice (--theme, the t key).
package background

import "github.com/charmbracelet/lipgloss"

func init() { lipgloss.SetHasDarkBackground(true) }
