package dashboard

import (
	"context"
	"encoding/json"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/aymanbagabas/go-osc52/v2"
	tea "github.com/charmbracelet/bubbletea"

	"dev.scrapetop/themes"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

// maxCopyBytes is the most that is copied: many terminals drop an OSC 52 sequence beyond about 75,000 encoded bytes.
const maxCopyBytes = 50_000

// clip is the OSC 52 sequence that copies text, wrapped for the multiplexer that the environment names. text is already
// clean; false when it is too long for most terminals.
func clip(text string, getenv func(string) string) (string, bool) {
	if len(text) > maxCopyBytes {
		return "", false
	}
	s := osc52.New(text)
	switch {
	case getenv("TMUX") != "":
		s = s.Tmux()
	case strings.HasPrefix(getenv("TERM"), "screen"):
		s = s.Screen()
	}
	return s.String(), true
}

// copiers are the programs that take a copy besides the terminal: the multiplexer, which passes a terminal's sequence on only
// where it is set to, and the clipboard of the desktop that the environment names.
func copiers(goos string, getenv func(string) string) [][]string {
	var list [][]string
	if getenv("TMUX") != "" {
		list = append(list, []string{"tmux", "load-buffer", "-w", "-"})
	}
	switch {
	case getenv("SSH_CONNECTION") != "": // the desktop is on the other side
	case goos == "darwin":
		list = append(list, []string{"pbcopy"})
	case goos == "windows":
		list = append(list, []string{"clip.exe"})
	case getenv("WAYLAND_DISPLAY") != "":
		list = append(list, []string{"wl-copy"})
	case getenv("DISPLAY") != "":
		list = append(list, []string{"xclip", "-selection", "clipboard"}, []string{"xsel", "--clipboard", "--input"})
	}
	return list
}

// copyWithin is when a program that takes a copy is given up.
const copyWithin = 2 * time.Second

// native gives text to the programs there are, and names those that took it.
func native(text string, getenv func(string) string) []string {
	var took []string
	for _, command := range copiers(runtime.GOOS, getenv) {
		if feed(command, text) == nil {
			took = append(took, command[0])
		}
	}
	return took
}

func feed(command []string, text string) error {
	ctx, cancel := context.WithTimeout(context.Background(), copyWithin)
	defer cancel()
	c := exec.CommandContext(ctx, command[0], command[1:]...)
	c.Stdin = strings.NewReader(text)
	return c.Run()
}

// copyRows copies the budget or row under the cursor, or the domains that are tagged, or the one under the cursor.
func (m *Model) copyRows() tea.Cmd {
	var names []string
	switch {
	case m.tab == screen.Events:
		return m.copyText(m.browse.ChosenEvent(m.shownRows).Text, "")
	case m.tab == screen.History:
		return m.copyText(m.browse.RunWords(m.shownRows), "")
	case m.tab.OfRows():
		return m.copyText(m.browse.Address(m.shownRows, m.tab), "")
	case m.list.OnBudgets(m.data, m.tab):
		id, _, _ := m.list.ChosenBudget(m.data, m.tab)
		return m.copyText(id.Key, "")
	}
	for name := range m.list.Tags {
		names = append(names, widget.Clean(name, 253))
	}
	slices.Sort(names)
	switch len(names) {
	case 0:
		return m.copyText(m.list.Selected, "")
	case 1:
		return m.copyText(names[0], "")
	}
	return m.copyText(strings.Join(names, "\n"), widget.Thousands(int64(len(names)))+" domains")
}

// copyJSON copies what the row under the cursor says, as one JSON object with the names of the exports.
func (m *Model) copyJSON() tea.Cmd {
	what, object := m.picture().RowObject()
	text, err := json.MarshalIndent(object, "", "  ")
	if err != nil {
		m.say(themes.Warn, "not copied: "+widget.Clean(err.Error(), 200), "")
		return nil
	}
	return m.copyText(string(text), what+" as JSON")
}

// copyText copies text, its lines cleaned, and tells it as told; empty: as itself.
func (m *Model) copyText(text, told string) tea.Cmd {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = cleanLine(lines[i])
	}
	text = strings.Join(lines, "\n")
	seq, ok := clip(text, m.opt.Getenv)
	if !ok {
		m.say(themes.Warn, "too much to copy: many terminals take 50 KB at most", "")
		return nil
	}
	write := m.copy(seq)
	if write == nil {
		return nil
	}
	if told == "" {
		told = widget.Clean(text, 200)
	}
	give := m.native
	return func() tea.Msg {
		took := give(text)
		if msg, failed := write().(error); failed && len(took) == 0 {
			return copiedMsg{fault: "not copied: " + widget.Clean(msg.Error(), 200)}
		}
		return copiedMsg{text: told, took: took}
	}
}

// cleanLine takes what could act on a terminal out of a line, and keeps the blanks that it begins with.
func cleanLine(s string) string {
	rest := strings.TrimLeft(s, " ")
	return s[:len(s)-len(rest)] + widget.Clean(rest, maxCopyBytes)
}

// copied says what was copied, and where it is for certain.
func (m *Model) copied(msg copiedMsg) {
	hint := "whether the terminal took it cannot be known"
	if len(msg.took) > 0 {
		hint = "by " + strings.Join(msg.took, " and ")
	}
	if msg.fault != "" {
		m.say(themes.Warn, msg.fault, "")
		return
	}
	m.say(themes.Text, "copied "+msg.text, hint)
}
