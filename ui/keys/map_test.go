package keys

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestCustomKeys: other keys hold wherever the action applies, and footer, help and search show them.
func TestCustomKeys(t *testing.T) {
	m, err := Custom(map[string][]string{"pause": {"Space"}, "tag": {"ctrl-t", "X"}, "limit_down": {"<"}, "freeze": {}, "down": {"n"}, "next": {"F9"}, "quit": {"Q"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		mode Mode
		key  string
		want Action
	}{
		{Domains, " ", Pause}, {Overview, " ", Pause}, {Domains, "p", ""}, {Domains, "ctrl+t", Tag}, {Letters, "X", Tag}, {Letters, " ", ""},
		{Domains, "<", LimitDown}, {Domains, "[", ""}, {Domains, "]", LimitUp}, {Domains, "Z", ""}, {Menu, "n", Down}, {Domains, "j", ""}, {Domains, "f9", Next},
		{Domains, "Q", Quit}, {Domains, "f10", ""},
		// Text fields keep their keys: a letter there is a letter.
		{FilterRow, "n", ""}, {FilterRow, "down", Down}, {HelpMode, "f10", Quit}, {HelpMode, "Q", ""},
	} {
		if got, _ := m.Lookup(c.mode, c.key); got != c.want {
			t.Errorf("%s: %q is %q, want %q", c.mode, c.key, got, c.want)
		}
	}
	var parts []string
	for _, s := range m.Footer(Domains, 200, nil) {
		parts = append(parts, s.Key+":"+s.Label)
	}
	footer := strings.Join(parts, "  ")
	for _, want := range []string{"Space:Pause/resume", "< ]:Limit", "Ctrl-T:Tag", "Q:Quit"} {
		if !strings.Contains(footer, want) {
			t.Errorf("no %q in %q", want, footer)
		}
	}
	if strings.Contains(footer, "Freeze") {
		t.Errorf("an action without a key is in the footer: %q", footer)
	}
	found := m.Search(Domains, "freeze", nil)
	if len(found) == 0 || found[0].Action != Freeze || found[0].Keys != "" {
		t.Errorf("an action without a key is not in the help: %+v", found)
	}
	if found := m.Search(Domains, "space", nil); len(found) == 0 || found[0].Action != Pause {
		t.Errorf("space finds %+v", found)
	}
	if m.Key(Domains, Pause) != "Space" || m.Key(FilterRow, Down) != "↓" || m.Key(Domains, Freeze) != "" {
		t.Errorf("keys are %q, %q, %q", m.Key(Domains, Pause), m.Key(FilterRow, Down), m.Key(Domains, Freeze))
	}
	if a, ok := Default().Lookup(Domains, "p"); !ok || a != Pause {
		t.Error("the default table changed")
	}
}

// TestTwoActionsCanChangeTheirKeys with each other.
func TestTwoActionsCanChangeTheirKeys(t *testing.T) {
	m, err := Custom(map[string][]string{"pause": {"P"}, "pause run": {"p"}})
	if err != nil {
		t.Fatal(err)
	}
	if a, _ := m.Lookup(Domains, "p"); a != PauseRun {
		t.Errorf("p is %q", a)
	}
}

func TestFaultyCustomKeysAreTold(t *testing.T) {
	for _, c := range []struct {
		changes   map[string][]string
		name, why string
	}{
		{map[string][]string{"pauze": {"x"}}, "pauze", "is no action"},
		{map[string][]string{"limit": {"x"}}, "limit", "did you mean limit down, limit up?"},
		{map[string][]string{"pause": {"shift-x"}}, "pause", `"shift-x" is no key`},
		{map[string][]string{"pause": {""}}, "pause", `"" is no key`},
		{map[string][]string{"pause": {"\x1b"}}, "pause", "is no key"},
		{map[string][]string{"pause": {"ctrl-c"}}, "pause", "is no key"},
		{map[string][]string{"pause": {"ctrl-i"}}, "pause", "is no key"},
		{map[string][]string{"pause": {"s"}}, "pause", `s is also the key of "sort" (domains): give that one another`},
		{map[string][]string{"sort": {"p"}}, "sort", `p is also the key of "pause" (domains)`},
		{map[string][]string{"interrupt": {"x"}}, "interrupt", "keeps its meaning"},
		{map[string][]string{"quit": {}}, "quit", "needs a key"},
		{map[string][]string{"pause run": {"x"}, "pause_run": {"X"}}, "pause_run", "is the same action as pause run"},
	} {
		m, err := Custom(c.changes)
		var fault *Fault
		if !errors.As(err, &fault) || m != nil || fault.Name != c.name || !strings.Contains(fault.Why, c.why) {
			t.Errorf("%v: %v", c.changes, err)
		}
	}
}

// TestEveryActionCanBeGivenAnotherKey, one at a time, and stays the only meaning of it.
func TestEveryActionCanBeGivenAnotherKey(t *testing.T) {
	for _, b := range Default().Bindings() {
		if b.Action == Interrupt {
			continue
		}
		m, err := Custom(map[string][]string{string(b.Action): {"F20", "é"}})
		if err != nil {
			t.Errorf("%s: %v", b.Action, err)
			continue
		}
		for _, mode := range b.Modes {
			a, ok := m.Lookup(mode, "é")
			fixed := slices.Contains(texts, mode) || slices.Contains(dialog, mode)
			if fixed == ok || ok && a != b.Action {
				t.Errorf("%s: in %s the key is %q, %v", b.Action, mode, a, ok)
			}
		}
	}
}

func FuzzCustom(f *testing.F) {
	f.Add("pause", "Ctrl-X", "quit", "F1")
	f.Add("down", "é", "up", "")
	f.Fuzz(func(t *testing.T, one, key, other, second string) {
		m, err := Custom(map[string][]string{one: {key}, other: {second}})
		if err != nil {
			return
		}
		for _, mode := range Modes() {
			if a, ok := m.Lookup(mode, "ctrl+c"); !ok || a != Interrupt {
				t.Errorf("%q, %q: no way out of %s", one, other, mode)
			}
		}
	})
}
