package dashboard

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"dev.scrapetop/themes"
	"dev.scrapetop/ui/screen"
	"dev.scrapetop/ui/widget"
)

// remembered is how the user left the picture, kept in a small file between two starts of the program. It is no config: a
// fault in it is told once and costs only what was remembered.
type remembered struct {
	Screen  string `toml:"screen,omitempty"`
	Scope   string `toml:"scope,omitempty"`
	Sort    string `toml:"sort,omitempty"`
	Filter  string `toml:"filter,omitempty"`
	Range   string `toml:"range,omitempty"`
	Theme   string `toml:"theme,omitempty"`
	Command string `toml:"command,omitempty"` // the last one of the palette

	Reverse  bool `toml:"reverse,omitempty"`
	Wide     bool `toml:"wide,omitempty"`
	NoDetail bool `toml:"no_detail,omitempty"`
}

// screenNames are what the file calls the screens. Which run was looked at is not kept: one comes back to the runs.
var screenNames = [screen.TabCount]string{
	screen.Overview: "overview", screen.Budgets: "budgets", screen.Tasks: "tasks", screen.Letters: "dead letters", screen.Events: "events",
	screen.History: "history", screen.Results: "history", screen.Page: "history",
}

// maxRemembered is far more bytes than the file has.
const maxRemembered = 16 << 10

// recall puts the picture as it was left. What is unknown by now is passed over.
func (m *Model) recall() {
	if m.opt.Memory == "" {
		return
	}
	r, err := readRemembered(m.opt.Memory)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			m.say(themes.Warn, "what was remembered is lost: "+widget.Clean(err.Error(), 300), "")
		}
		return
	}
	m.kept = r
	if i := slices.Index(screenNames[:], r.Screen); i > 0 && r.Screen != "" {
		m.tab = screen.Tab(i)
	}
	m.list.Scope = screen.ScopeNamed(r.Scope)
	for _, s := range screen.Sorts {
		if string(s) == r.Sort {
			m.list.Sort = s
		}
	}
	for _, span := range ranges {
		if screen.RangeWord(span) == r.Range {
			m.chart = span
		}
	}
	m.list.Filter, m.command = widget.Clean(r.Filter, 250), widget.Clean(r.Command, 120)
	m.list.Reverse, m.list.Wide, m.list.NoDetail = r.Reverse, r.Wide, r.NoDetail
	if m.opt.Theme == "" && slices.Contains(m.themes, r.Theme) {
		m.opt.Theme = r.Theme
	}
}

// memory is how the picture is left.
func (m *Model) memory() remembered {
	r := remembered{
		Screen: screenNames[m.tab], Scope: m.list.Scope, Sort: string(m.list.Sort), Filter: m.list.Filter, Range: screen.RangeWord(m.chart), Command: m.command,
		Reverse: m.list.Reverse, Wide: m.list.Wide, NoDetail: m.list.NoDetail, Theme: m.kept.Theme,
	}
	if m.turned && m.theme >= 0 {
		r.Theme = m.themes[m.theme] // what a flag or the config asked for is not the user's last choice
	}
	return r
}

// keep writes how the picture is left, if that is not what the file says.
func (m *Model) keep() error {
	if m.opt.Memory == "" || m.memory() == m.kept {
		return nil
	}
	if err := writeRemembered(m.opt.Memory, m.memory()); err != nil {
		return fmt.Errorf("keep how the dashboard was left: %w", err)
	}
	return nil
}

func readRemembered(path string) (remembered, error) {
	var r remembered
	f, err := os.Open(path)
	if err != nil {
		return r, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxRemembered+1))
	switch {
	case err != nil:
		return r, err
	case len(text) > maxRemembered:
		return r, fmt.Errorf("%s is too large", path)
	}
	// Keys of a newer program are passed over.
	if err := toml.NewDecoder(bytes.NewReader(text)).Decode(&r); err != nil {
		why, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "toml: "), "\n")
		return remembered{}, fmt.Errorf("%s: %s", path, why)
	}
	return r, nil
}

// writeRemembered replaces the file at once, so that a reader or a crash finds the old or the new one.
func writeRemembered(path string, r remembered) error {
	text, err := toml.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
