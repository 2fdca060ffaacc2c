package themes

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

//go:embed *.toml
var files embed.FS

// Default is the theme that is used when none is asked for.
const Default = "dark"

// ErrUnknown is returned by Load for a name that is not shipped.
var ErrUnknown = errors.New("unknown theme")

// Theme is a loaded theme.
type Theme struct {
	Name  string
	Light bool     // made for a light background
	Notes []string // what was missing and taken from the default; for a toast
	roles [roleCount]look
}

// look is a role's values on the three profiles that have colours.
type look struct {
	TrueColor trueColor `toml:"truecolor"`
	ANSI256   indexed   `toml:"256"`
	ANSI16    named     `toml:"16"`
}

func (l look) value(p Profile) value {
	switch p {
	case TrueColor:
		return l.TrueColor.value
	case ANSI256:
		return l.ANSI256.value
	case ANSI16:
		return l.ANSI16.value
	}
	return value{}
}

// file is the form of a theme file.
type file struct {
	Background string `toml:"background"`
	Text       look   `toml:"text"`
	OK         look   `toml:"ok"`
	Warn       look   `toml:"warn"`
	Cool       look   `toml:"cool"`
	Pause      look   `toml:"pause"`
	Bad        look   `toml:"bad"`
	Dim        look   `toml:"dim"`
	Focus      look   `toml:"focus"`
	Border     look   `toml:"border"`
}

// Names returns the shipped themes, sorted.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the files are part of the program
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".toml"))
	}
	return names
}

// Load returns a shipped theme. An unknown name is ErrUnknown and tells the names there are.
func Load(name string) (Theme, error) {
	data, err := files.ReadFile(name + ".toml")
	if err != nil {
		return Theme{}, fmt.Errorf("%w %q: there are %s", ErrUnknown, name, strings.Join(Names(), ", "))
	}
	return parse(name+".toml", data)
}

// LoadFile reads a theme from a file; its name is the file's without the ending. An unknown role, key or colour is an
// error that names file, line and key; whoever loads goes on with Load(Default). A role or value that is not there is
// taken from the shipped theme of the same background and told in Notes.
func LoadFile(name string) (Theme, error) {
	f, err := os.Open(name)
	if err != nil {
		return Theme{}, fmt.Errorf("theme: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return Theme{}, fmt.Errorf("theme %s: %w", name, err)
	}
	if len(data) > maxFileBytes {
		return Theme{}, fmt.Errorf("theme %s: larger than 64 KiB, so it is not a theme", name)
	}
	return parse(name, data)
}

// maxFileBytes is far more than any theme needs.
const maxFileBytes = 64 << 10

func parse(name string, data []byte) (Theme, error) {
	var f file
	if err := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&f); err != nil {
		return Theme{}, fmt.Errorf("theme %s", explain(name, err))
	}
	t := Theme{
		Name:  strings.TrimSuffix(path.Base(strings.ReplaceAll(name, `\`, "/")), ".toml"),
		roles: [roleCount]look{f.Text, f.OK, f.Warn, f.Cool, f.Pause, f.Bad, f.Dim, f.Focus, f.Border},
	}
	switch f.Background {
	case "light":
		t.Light = true
	case "dark":
	case "":
		t.Notes = append(t.Notes, "background is missing: taken as dark")
	default:
		return Theme{}, fmt.Errorf("theme %s: background is %q: use dark or light", name, f.Background)
	}
	if err := t.complete(); err != nil {
		return Theme{}, err
	}
	return t, nil
}

// complete fills what the file left out.
func (t *Theme) complete() error {
	var base *Theme
	for r := range t.roles {
		l := &t.roles[r]
		if l.TrueColor.set && l.ANSI256.set && l.ANSI16.set {
			continue
		}
		if base == nil {
			b, err := Load(t.baseName())
			if err != nil {
				return err
			}
			base = &b
		}
		from := base.roles[r]
		if !l.TrueColor.set && !l.ANSI256.set && !l.ANSI16.set {
			*l = from
			t.Notes = append(t.Notes, fmt.Sprintf("%s is missing: taken from %s", Role(r), base.Name))
			continue
		}
		note := func(key string) {
			t.Notes = append(t.Notes, fmt.Sprintf("%s.%s is missing: taken from %s", Role(r), key, base.Name))
		}
		if !l.TrueColor.set {
			l.TrueColor = from.TrueColor
			note("truecolor")
		}
		if !l.ANSI256.set {
			l.ANSI256 = from.ANSI256
			note("256")
		}
		if !l.ANSI16.set {
			l.ANSI16 = from.ANSI16
			note("16")
		}
	}
	return nil
}

func (t *Theme) baseName() string {
	if t.Light {
		return "light"
	}
	return Default
}

// explain turns the decoder's errors into "file:line: key: what is wrong", one line for each.
func explain(name string, err error) string {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) {
		lines := make([]string, 0, len(strict.Errors))
		for i := range strict.Errors {
			e := &strict.Errors[i]
			row, _ := e.Position()
			lines = append(lines, fmt.Sprintf("%s:%d: %s: unknown role or key", name, row, strings.Join(e.Key(), ".")))
		}
		return strings.Join(lines, "\n")
	}
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		row, _ := decode.Position()
		if key := strings.Join(decode.Key(), "."); key != "" {
			return fmt.Sprintf("%s:%d: %s: %s", name, row, key, strings.TrimPrefix(decode.Error(), "toml: "))
		}
		return fmt.Sprintf("%s:%d: %s", name, row, strings.TrimPrefix(decode.Error(), "toml: "))
	}
	return name + ": " + err.Error()
}
