package keys

import (
	"slices"
	"strings"
	"testing"
)

func TestNoTwoActionsShareAKeyInAMode(t *testing.T) {
	for _, mode := range Modes() {
		seen := map[string]Action{}
		for _, b := range Default().Bindings() {
			if !slices.Contains(b.Modes, mode) {
				continue
			}
			for _, k := range b.Keys {
				if other, ok := seen[k]; ok {
					t.Errorf("%s: %q is both %s and %s", mode, k, other, b.Action)
				}
				seen[k] = b.Action
				if got, ok := Default().Lookup(mode, k); !ok || got != b.Action {
					t.Errorf("%s: Default().Lookup(%q) = %q, %v, want %q", mode, k, got, ok, b.Action)
				}
			}
		}
		if len(seen) == 0 {
			t.Errorf("%s has no keys", mode)
		}
	}
}

// TestAKeyMeansTheSameOnAllScreens: what differs between the screens is only where a key applies; the alerts of the overview
// stand in for the faults of the list, as the key ! says on both, and r tries again what is under the cursor: a key or account by one
// probe, a dead letter by requeueing it. a brings new work: URLs to the run that is going, and in the history a run that went before.
func TestAKeyMeansTheSameOnAllScreens(t *testing.T) {
	for _, one := range screens {
		for key, a := range Default().index[one] {
			for _, other := range screens {
				if b, ok := Default().index[other][key]; ok && a != b && key != "!" && key != "r" && key != "a" {
					t.Errorf("%q is %s on %s and %s on %s", key, a, one, b, other)
				}
			}
		}
	}
}

// TestAKeyOfAnotherScreenIsFound: pressed where it does nothing it can say where it does something.
func TestAKeyOfAnotherScreenIsFound(t *testing.T) {
	for _, c := range []struct {
		mode  Mode
		key   string
		where Mode
	}{{Shared, "[", Domains}, {Shared, "/", Domains}, {Overview, "[", Domains}, {Domains, "r", Shared}, {Domains, "+", Overview}, {Overview, "p", Domains}, {Shared, "x", Tasks}, {Shared, "X", ""}} {
		if where, _, ok := Default().Elsewhere(c.mode, c.key); where != c.where || ok != (c.where != "") {
			t.Errorf("%q beside %s is found on %q, %v", c.key, c.mode, where, ok)
		}
	}
}

func TestEveryBindingIsWhole(t *testing.T) {
	for _, b := range Default().Bindings() {
		if b.Help == "" || len(b.Keys) == 0 || len(b.Modes) == 0 || !slices.Contains(Groups(), b.Group) {
			t.Errorf("%s lacks help, keys, modes or group: %+v", b.Action, b)
		}
		if (b.Rank > 0) != (b.Label != "") {
			t.Errorf("%s has rank %d and label %q", b.Action, b.Rank, b.Label)
		}
		if b.Asks && b.Undo {
			t.Errorf("%s both asks and can be undone", b.Action)
		}
		for _, m := range b.Modes {
			if !slices.Contains(Modes(), m) {
				t.Errorf("%s applies in the unknown mode %q", b.Action, m)
			}
		}
	}
}

// TestTextFieldsKeepTheirLetters: in a text field only keys that print nothing act. The question mark closes the help
// that it opened.
func TestTextFieldsKeepTheirLetters(t *testing.T) {
	for _, mode := range []Mode{FilterRow, HelpMode, Commands} {
		for key, a := range Default().index[mode] {
			if len([]rune(key)) == 1 && !(mode == HelpMode && key == "?" && a == Help) {
				t.Errorf("%s: %q would be %s", mode, key, a)
			}
		}
		if _, ok := Default().Lookup(mode, "j"); ok {
			t.Errorf("%s: j is not text", mode)
		}
	}
}

// TestThereIsAWayOutOfEveryMode, at any width of the footer.
func TestThereIsAWayOutOfEveryMode(t *testing.T) {
	for _, mode := range Modes() {
		if a, ok := Default().Lookup(mode, "ctrl+c"); !ok || a != Interrupt {
			t.Errorf("%s: ctrl+c is %q", mode, a)
		}
		if !slices.Contains(screens, mode) {
			if a, ok := Default().Lookup(mode, "esc"); !ok || a != Close {
				t.Errorf("%s: esc is %q", mode, a)
			}
		}
		for width := range 250 {
			segments := Default().Footer(mode, width, nil)
			has := func(a Action) bool {
				return slices.ContainsFunc(segments, func(s Segment) bool { return s.Action == a })
			}
			switch {
			case slices.Contains(screens, mode):
				if !has(Help) || !has(Quit) {
					t.Fatalf("%s, width %d: %+v", mode, width, segments)
				}
			default:
				if !has(Close) {
					t.Fatalf("%s, width %d: %+v", mode, width, segments)
				}
			}
			if n := total(segments); n > width && slices.ContainsFunc(segments, func(s Segment) bool { return !keeps(s.Action) }) {
				t.Errorf("%s, width %d: %d cells: %+v", mode, width, n, segments)
			}
		}
	}
}

func footer(mode Mode, width int) string {
	var parts []string
	for _, s := range Default().Footer(mode, width, nil) {
		parts = append(parts, s.Key+":"+s.Label)
	}
	return strings.Join(parts, "  ")
}

func TestFooter(t *testing.T) {
	for name, c := range map[string]struct{ got, want string }{
		"domains, standard": {footer(Domains, 78), "?:Help  /:Filter  p:Pause  s:Sort  i:Why  [ ]:Limit  B:Scope  c:Wake  q:Quit"},
		"overview, full":    {footer(Overview, 190), "?:Help  /:Filter  p:Pause/resume  r:One probe  i:Why  B:Scope  c:End cooldown  Enter:Open  Tab:Pane  !:Alerts  e:Export  P:All  Z:Freeze  y:Copy  t:Theme  ::Command  q:Quit"},
		"compact":           {footer(Overview, 38), "?:Help  /:Filter  p:Pause  q:Quit"},
		"nothing fits":      {footer(Overview, 0), "?:Help  q:Quit"},
		"filter":            {footer(FilterRow, 78), "Enter:Keep  Esc:Clear  ↑ ↓:Move  F10:Quit"},
		"palette":           {footer(Commands, 78), "Enter:Do it  Esc:Close  Tab:Complete  ↑ ↓:Move  F10:Quit"},
		"dialog":            {footer(Dialog, 78), "Enter:Press  Esc:Close  Tab:Button"},
	} {
		if c.got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, c.got, c.want)
		}
	}
}

func TestADisabledActionStaysAndSaysWhy(t *testing.T) {
	why := Disabled(func(a Action) string {
		if a == EndCooldown {
			return "not cooling"
		}
		return ""
	})
	found := false
	for _, s := range Default().Footer(Domains, 140, why) {
		if s.Off != (s.Action == EndCooldown) {
			t.Errorf("%+v", s)
		}
		found = found || s.Off
	}
	if !found {
		t.Error("the footer dropped the disabled action")
	}
	for _, s := range Default().Footer(Overview, 200, func(Action) string { return "not now" }) {
		if s.Action == Probe {
			t.Error("a seldom action is shown while it can do nothing")
		}
	}
	entries := Default().Search(Domains, "cooldown", why)
	if len(entries) != 1 || entries[0].Action != EndCooldown || entries[0].Off != "not cooling" || !entries[0].Asks {
		t.Errorf("%+v", entries)
	}
	if a, ok := Default().Lookup(Domains, "c"); !ok || a != EndCooldown {
		t.Error("a disabled key must still be found, so that its reason can be said")
	}
}

func TestHelpHoldsEveryBindingOfTheModeOnce(t *testing.T) {
	for _, mode := range Modes() {
		want := 0
		for _, b := range Default().Bindings() {
			if slices.Contains(b.Modes, mode) {
				want++
			}
		}
		got := 0
		for _, g := range Default().HelpFor(mode, nil) {
			if len(g.Entries) == 0 {
				t.Errorf("%s: %s is empty", mode, g.Group)
			}
			got += len(g.Entries)
		}
		if got != want {
			t.Errorf("%s: %d entries, want %d", mode, got, want)
		}
	}
}

func TestSearch(t *testing.T) {
	first := func(mode Mode, query string) Action {
		if found := Default().Search(mode, query, nil); len(found) > 0 {
			return found[0].Action
		}
		return ""
	}
	for query, want := range map[string]Action{
		"kill": Interrupt, "p": Pause, "P": PauseRun, "ctrl-o": LastScreen, "f7": LimitDown, "grep": Filter, "COLOUR": NextTheme,
		"exit": Quit, "wake": EndCooldown, "limit up": LimitUp, "*": TagAll, "space": Tag, "bookmark": "", "?": Help,
	} {
		if got := first(Domains, query); got != want {
			t.Errorf("%q finds %q, want %q", query, got, want)
		}
	}
	for _, query := range []string{"r", "top-up", "reopen"} {
		if got := first(Overview, query); got != Probe {
			t.Errorf("%q finds %q", query, got)
		}
	}
	stops := Default().Search(Domains, "stop", nil)
	for _, a := range []Action{Pause, PauseRun, Quit} {
		if !slices.ContainsFunc(stops, func(e Entry) bool { return e.Action == a }) {
			t.Errorf("stop does not find %s", a)
		}
	}
	if all := Default().Search(Domains, "  ", nil); len(all) < 40 {
		t.Errorf("an empty search finds %d", len(all))
	}
	if first(Overview, "tag") == Tag {
		t.Error("the overview has no tags")
	}
}

func TestShow(t *testing.T) {
	for key, want := range map[string]string{
		"j": "j", "down": "↓", "ctrl+d": "Ctrl-D", "shift+tab": "S-Tab", "f10": "F10", "f": "f", " ": "Space", "|": "|",
		"pgdown": "PgDn", "esc": "Esc", "ctrl+c": "Ctrl-C",
	} {
		if got := Show(key); got != want {
			t.Errorf("Show(%q) = %q, want %q", key, got, want)
		}
	}
}

func TestMarkdownHoldsEveryKeyOfTheScreens(t *testing.T) {
	text := Default().Markdown()
	for _, mode := range []Mode{Overview, Domains} {
		for key := range Default().index[mode] {
			if cell := "`" + strings.ReplaceAll(Show(key), "|", `\|`) + "`"; !strings.Contains(text, cell) {
				t.Errorf("%s is missing", cell)
			}
		}
	}
	for line := range strings.Lines(text) {
		if n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); n != 5 {
			t.Errorf("%d bars in %q", n, line)
		}
	}
}

func FuzzSearch(f *testing.F) {
	f.Add("pause run")
	f.Add("|")
	f.Add("\x00 \xff")
	f.Fuzz(func(t *testing.T, query string) {
		for _, mode := range Modes() {
			if found := Default().Search(mode, query, nil); len(found) > len(Default().Bindings()) {
				t.Errorf("%q finds %d in %s", query, len(found), mode)
			}
		}
	})
}
