package keys

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Map is the table with the keys in force. It is never written after it was made.
type Map struct {
	table []Binding
	index map[Mode]map[string]Action
}

var standard = newMap(table)

// Default returns the table as the program brings it.
func Default() *Map { return standard }

func newMap(table []Binding) *Map {
	m := &Map{table: table, index: make(map[Mode]map[string]Action)}
	for i := range table {
		for _, mode := range table[i].Modes {
			if m.index[mode] == nil {
				m.index[mode] = make(map[string]Action)
			}
			for _, key := range table[i].Keys {
				m.index[mode][key] = table[i].Action
			}
		}
	}
	return m
}

// Bindings returns the table; the caller must not change what it points to.
func (m *Map) Bindings() []Binding { return m.table }

// Lookup returns what key asks for in mode. In text modes a key that is not found is text; elsewhere it means nothing.
func (m *Map) Lookup(mode Mode, key string) (Action, bool) {
	a, ok := m.index[mode][key]
	return a, ok
}

// Key is the printed form of the first key of an action in mode, or on the first screen that has it; empty: it has none.
func (m *Map) Key(mode Mode, action Action) string {
	other := ""
	for i := range m.table {
		b := &m.table[i]
		if b.Action != action || len(b.Keys) == 0 {
			continue
		}
		if slices.Contains(b.Modes, mode) {
			return Show(b.Keys[0])
		}
		if other == "" {
			other = Show(b.Keys[0])
		}
	}
	return other
}

// Fault is what is wrong with the keys that a person asked for.
type Fault struct {
	Name string // as it was given
	Why  string
}

// Error implements error.
func (f *Fault) Error() string { return f.Name + ": " + f.Why }

// Custom returns the table with other keys for some actions, by the action's name ("pause run", or "pause_run"). Keys are
// written as the help prints them or as the package's doc says ("Ctrl-D", "ctrl+d", "F7", "Space", "x"). An action's other keys
// hold wherever it applies but in text fields and dialogs, which keep theirs; an empty list leaves it without a key, to be
// found in help and palette. A *Fault tells an action or key that is unknown, a key that has two meanings in one mode, and what
// would leave no way out.
func Custom(changes map[string][]string) (*Map, error) {
	if len(changes) == 0 {
		return Default(), nil
	}
	next := slices.Clone(table)
	names := make(map[Action]string, len(changes))
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		action := Action(strings.ReplaceAll(name, "_", " "))
		switch {
		case action == Interrupt:
			return nil, &Fault{name, "Ctrl-C keeps its meaning, so that there is always a way out"}
		case names[action] != "":
			return nil, &Fault{name, "is the same action as " + names[action]}
		case !slices.ContainsFunc(table, func(b Binding) bool { return b.Action == action }):
			return nil, &Fault{name, "is no action" + nearest(string(action))}
		case len(changes[name]) == 0 && keeps(action):
			return nil, &Fault{name, "needs a key, so that there is always a way out"}
		}
		names[action] = name
		list := make([]string, len(changes[name]))
		for i, text := range changes[name] {
			key, ok := parseKey(text)
			if !ok {
				return nil, &Fault{name, fmt.Sprintf("%q is no key: write one as the help does, like x, X, F7, Ctrl-X, Space, PgDn", text)}
			}
			list[i] = key
		}
		next = replace(next, action, list)
	}
	return check(newMap(next), names)
}

// replace gives an action's bindings other keys, wherever letters are no text.
func replace(bindings []Binding, action Action, list []string) []Binding {
	var out []Binding
	for _, b := range bindings {
		keep := func(m Mode) bool { return slices.Contains(texts, m) || slices.Contains(dialog, m) }
		if b.Action != action || !slices.ContainsFunc(b.Modes, func(m Mode) bool { return !keep(m) }) {
			out = append(out, b)
			continue
		}
		if slices.ContainsFunc(b.Modes, keep) {
			kept := b
			kept.Modes = slices.DeleteFunc(slices.Clone(b.Modes), func(m Mode) bool { return !keep(m) })
			out = append(out, kept)
		}
		b.Modes = slices.DeleteFunc(slices.Clone(b.Modes), keep)
		b.Keys = list
		out = append(out, b)
	}
	return out
}

// check refuses a key with two meanings in one mode; it blames the change.
func check(m *Map, changed map[Action]string) (*Map, error) {
	for _, mode := range Modes() {
		seen := make(map[string]Action)
		for i := range m.table {
			b := &m.table[i]
			if !slices.Contains(b.Modes, mode) {
				continue
			}
			for _, key := range b.Keys {
				other, taken := seen[key]
				if seen[key] = b.Action; !taken || other == b.Action {
					continue
				}
				mine, theirs := b.Action, other
				if changed[mine] == "" {
					mine, theirs = theirs, mine
				}
				return nil, &Fault{changed[mine], fmt.Sprintf("%s is also the key of %q (%s): give that one another", Show(key), theirs, mode)}
			}
		}
	}
	return m, nil
}

// nearest names actions like a word that is none.
func nearest(word string) string {
	var like []string
	for i := range table {
		name := string(table[i].Action)
		if !slices.Contains(like, name) && (strings.Contains(name, word) || strings.HasPrefix(word, name)) {
			like = append(like, name)
		}
	}
	if len(like) == 0 || word == "" {
		return ", the help (?) and the palette (:) find them"
	}
	return ", did you mean " + strings.Join(like[:min(len(like), 3)], ", ") + "?"
}

// parseKey reads a key as a person writes it, by the printed name or the toolkit's.
func parseKey(text string) (string, bool) {
	if utf8.RuneCountInString(text) == 1 {
		r, _ := utf8.DecodeRuneInString(text)
		return text, r != utf8.RuneError && unicode.IsPrint(r)
	}
	lower := strings.ToLower(strings.TrimSpace(text))
	for key, printed := range shown {
		if lower == key || lower == strings.ToLower(printed) {
			return key, true
		}
	}
	for n := 1; n <= 20; n++ {
		if lower == fmt.Sprintf("f%d", n) {
			return lower, true
		}
	}
	for _, prefix := range []string{"ctrl-", "ctrl+"} {
		letter, ok := strings.CutPrefix(lower, prefix)
		// Ctrl-I is Tab and Ctrl-M is Enter to every terminal.
		if ok && len(letter) == 1 && letter[0] >= 'a' && letter[0] <= 'z' && !strings.Contains("cim", letter) {
			return "ctrl+" + letter, true
		}
	}
	return "", false
}
