// Package keys is the key table of the dashboard, as data: which key means what in which mode, with the words for it. The
// dispatcher, the footer, the help and the documentation are made from this one table, so they cannot disagree.
//
// A key is written as Bubble Tea v1 prints it (tea.KeyMsg.String: "j", "ctrl+d", "pgdown", " "); the package itself knows
// no toolkit. One key has one meaning on all screens; where it can do nothing now, the caller says why (Disabled) and the
// help shows it. Letters in a dialog belong to its buttons and are not in the table.
//
// The table is never written after the program started; all functions are pure and safe for use by many goroutines.
package keys
