package themes

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestALibraryHasTheUsersThemes(t *testing.T) {
	first, second := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(first, "mine.toml"):   "background = \"light\"\n[ok]\ntruecolor = \"#005500\"\n",
		filepath.Join(first, "dark.toml"):   "background = \"dark\"\n[ok]\ntruecolor = \"#00ff00\"\n",
		filepath.Join(second, "mine.toml"):  "background = \"dark\"\n",
		filepath.Join(second, "wrong.toml"): "background = \"dark\"\n[okay]\n",
		filepath.Join(second, "notes.txt"):  "no theme",
		filepath.Join(second, ".toml"):      "no name",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l := Library{Folders: []string{first, filepath.Join(first, "not there"), second}}
	want := []string{"ansi16", "colour-blind", "dark", "high-contrast", "light", "mine", "mono", "wrong"}
	if got := l.Names(); !slices.Equal(got, want) {
		t.Errorf("names %v, want %v", got, want)
	}
	if mine, err := l.Load("mine"); err != nil || !mine.Light {
		t.Errorf("the first folder does not win: %+v, %v", mine, err)
	}
	if dark, err := l.Load("dark"); err != nil || dark.roles[OK].TrueColor.rgb != [3]uint8{0, 255, 0} {
		t.Errorf("the user's file does not stand in for the shipped one: %v", err)
	}
	if light, err := l.Load("light"); err != nil || light.Name != "light" {
		t.Errorf("light: %v", err)
	}
	if mine, err := l.Load(filepath.Join(second, "mine.toml")); err != nil || mine.Light {
		t.Errorf("by its path: %v", err)
	}
	if _, err := l.Load("wrong"); err == nil || !strings.Contains(err.Error(), "wrong.toml:2: okay") {
		t.Errorf("a faulty file: %v", err)
	}
	if _, err := l.Load("nowhere"); !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "mine, mono, wrong") {
		t.Errorf("an unknown name: %v", err)
	}
	if _, err := (Library{}).Load("mine"); !errors.Is(err, ErrUnknown) {
		t.Errorf("no folder: %v", err)
	}
}
