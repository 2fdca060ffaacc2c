package keys

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Segment is one entry of the footer, drawn as "Key:Label".
type Segment struct {
	Action Action
	Key    string
	Label  string
	Off    bool // can do nothing now; drawn dim
}

// Cells is the width of the segment; all its characters take one cell.
func (s Segment) Cells() int {
	return utf8.RuneCountInString(s.Key) + 1 + utf8.RuneCountInString(s.Label)
}

// between is the cells between two segments of the footer.
const between = 2

// Footer returns the keys that matter in mode, most wanted first, as many as fit into width cells with two spaces between
// them: with short labels when the long ones do not fit, then without the least wanted. A seldom one is not shown while it can
// do nothing. Help stays, and Quit or what
// closes the mode; if not even these fit they are returned all the same and the line is cut.
func (m *Map) Footer(mode Mode, width int, disabled Disabled) []Segment {
	var bindings []Binding
	for _, b := range m.table {
		if b.Rank > 0 && slices.Contains(b.Modes, mode) {
			bindings = append(bindings, b)
		}
	}
	slices.SortStableFunc(bindings, func(a, b Binding) int { return a.Rank - b.Rank })
	long := m.segments(mode, bindings, disabled, false)
	if total(long) <= width {
		return long
	}
	short := m.segments(mode, bindings, disabled, true)
	for total(short) > width {
		i := len(short) - 1
		for i >= 0 && keeps(short[i].Action) {
			i--
		}
		if i < 0 {
			break
		}
		short = slices.Delete(short, i, i+1)
	}
	return short
}

func (m *Map) segments(mode Mode, bindings []Binding, disabled Disabled, short bool) []Segment {
	out := make([]Segment, 0, len(bindings))
	for _, b := range bindings {
		s := Segment{Action: b.Action, Label: b.Label, Off: disabled.why(b.Action) != ""}
		if len(b.Keys) == 0 || s.Off && b.Seldom {
			continue
		}
		s.Key = Show(b.Keys[0])
		if b.Pair != "" {
			s.Key += " " + m.Key(mode, b.Pair)
		}
		if short && b.Short != "" {
			s.Label = b.Short
		}
		out = append(out, s)
	}
	return out
}

func total(segments []Segment) int {
	n := -between
	for _, s := range segments {
		n += s.Cells() + between
	}
	return n
}

// keeps tells the actions a footer never drops: how to learn the rest, and how to get out.
func keeps(a Action) bool { return a == Help || a == Quit || a == Close }

// Entry is a line of the help.
type Entry struct {
	Action Action
	Keys   string // as printed on the keyboard
	Text   string
	Asks   bool
	Undo   bool
	Off    string // why it can do nothing now
}

// HelpGroup is a heading of the help with its lines.
type HelpGroup struct {
	Group   Group
	Entries []Entry
}

// HelpFor returns the keys of mode by group, in the order of the table; groups without any are left out.
func (m *Map) HelpFor(mode Mode, disabled Disabled) []HelpGroup {
	var out []HelpGroup
	for _, g := range Groups() {
		h := HelpGroup{Group: g}
		for _, b := range m.table {
			if b.Group == g && slices.Contains(b.Modes, mode) {
				h.Entries = append(h.Entries, entry(b, disabled))
			}
		}
		if len(h.Entries) > 0 {
			out = append(out, h)
		}
	}
	return out
}

func entry(b Binding, disabled Disabled) Entry {
	return Entry{Action: b.Action, Keys: ShowAll(b.Keys), Text: b.Help, Asks: b.Asks, Undo: b.Undo, Off: disabled.why(b.Action)}
}

// Search returns the entries of mode that query finds by key, by what they do or by another word for it, the best first:
// the key itself, then a word that begins so, then one that holds it. Each word of query must be found. An empty query
// finds all.
func (m *Map) Search(mode Mode, query string, disabled Disabled) []Entry {
	words := strings.Fields(strings.ToLower(query))
	typed := strings.TrimSpace(query)
	type found struct {
		entry Entry
		score int
	}
	var all []found
	for _, b := range m.table {
		if !slices.Contains(b.Modes, mode) {
			continue
		}
		score, ok := 0, true
		for _, w := range words {
			s := match(b, w)
			ok = ok && s > 0
			score = max(score, s)
		}
		if len(words) > 0 && isKey(b, typed) {
			ok, score = true, 0
		}
		if ok {
			all = append(all, found{entry(b, disabled), score})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return a.score - b.score })
	out := make([]Entry, len(all))
	for i, f := range all {
		out[i] = f.entry
	}
	return out
}

// match is how well a word fits a binding: 1 it begins a word of it, 2 it stands within one, 0 not at all.
func match(b Binding, word string) int {
	best := 0
	for _, text := range append([]string{b.Help, string(b.Action), ShowAll(b.Keys)}, b.Synonyms...) {
		for part := range strings.FieldsSeq(strings.ToLower(text)) {
			switch {
			case strings.HasPrefix(part, word):
				return 1
			case strings.Contains(part, word):
				best = 2
			}
		}
	}
	return best
}

// isKey tells whether typed is one of the keys, by the table's name or the printed one; case tells p from P.
func isKey(b Binding, typed string) bool {
	return slices.ContainsFunc(b.Keys, func(k string) bool {
		return k == typed || utf8.RuneCountInString(typed) > 1 && strings.EqualFold(Show(k), typed)
	})
}

var shown = map[string]string{
	"up": "↑", "down": "↓", "left": "←", "right": "→", "pgdown": "PgDn", "pgup": "PgUp", "home": "Home", "end": "End",
	"tab": "Tab", "shift+tab": "S-Tab", "enter": "Enter", "esc": "Esc", " ": "Space",
}

// Show prints a key as the keyboard and the help do: "ctrl+d" is Ctrl-D, "f7" is F7, " " is Space.
func Show(key string) string {
	if s, ok := shown[key]; ok {
		return s
	}
	if k, ok := strings.CutPrefix(key, "ctrl+"); ok {
		return "Ctrl-" + strings.ToUpper(k)
	}
	if len(key) > 1 && key[0] == 'f' {
		return strings.ToUpper(key)
	}
	return key
}

// ShowAll prints the keys of a binding, with a space between them.
func ShowAll(keys []string) string {
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = Show(k)
	}
	return strings.Join(out, " ")
}

// Markdown is the table of all keys of the screens for the documentation.
func (m *Map) Markdown() string {
	var b strings.Builder
	b.WriteString("| Key | Action | Where | |\n| --- | --- | --- | --- |\n")
	for _, row := range m.table {
		var where []string
		for _, screen := range screens {
			if slices.Contains(row.Modes, screen) {
				where = append(where, string(screen))
			}
		}
		switch len(where) {
		case 0:
			continue
		case len(screens):
			where = []string{"all"}
		}
		note := ""
		switch {
		case row.Asks:
			note = "asks"
		case row.Undo:
			note = "undo"
		}
		keys := make([]string, len(row.Keys))
		for i, k := range row.Keys {
			keys[i] = "`" + strings.ReplaceAll(Show(k), "|", `\|`) + "`"
		}
		b.WriteString("| " + strings.Join(keys, " ") + " | " + row.Help + " | " + strings.Join(where, ", ") + " | " + note + " |\n")
	}
	return b.String()
}

// Elsewhere is the mode of another screen in which a key does something, the nearest first; false: it does nothing on any.
func (m *Map) Elsewhere(mode Mode, key string) (Mode, Action, bool) {
	for _, other := range []Mode{Domains, Shared, Tasks, Letters, Events, History, Results, Page, Overview} {
		if action, ok := m.Lookup(other, key); ok && other != mode {
			return other, action, true
		}
	}
	return "", "", false
}
