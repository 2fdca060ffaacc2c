package themes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Library is where themes are found: the shipped ones, and the files NAME.toml in folders of the user. A file stands in for
// the shipped theme of its name, and for one of the same name in a later folder. The zero Library holds the shipped ones.
type Library struct {
	Folders []string // those that do not exist are passed over
}

// Names returns the names to choose from, sorted, each once. A file is listed for its name alone: Load tells whether it is a
// theme.
func (l Library) Names() []string {
	names := Names()
	for _, folder := range l.Folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue // what cannot be listed has nothing to choose; Load of a name tells the error
		}
		for _, e := range entries {
			if name, ok := strings.CutSuffix(e.Name(), ".toml"); ok && name != "" && !e.IsDir() {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Load returns a theme by its name, or the one of a file where name is a path or ends in .toml. A name that is nowhere is
// ErrUnknown and tells the names there are.
func (l Library) Load(name string) (Theme, error) {
	if strings.ContainsAny(name, `/\`) || strings.HasSuffix(name, ".toml") {
		return LoadFile(name)
	}
	for _, folder := range l.Folders {
		theme, err := LoadFile(filepath.Join(folder, name+".toml"))
		if !errors.Is(err, fs.ErrNotExist) {
			return theme, err
		}
	}
	theme, err := Load(name)
	if errors.Is(err, ErrUnknown) {
		return Theme{}, fmt.Errorf("%w %q: there are %s", ErrUnknown, name, strings.Join(l.Names(), ", "))
	}
	return theme, err
}
