package themes

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/lucasb-eyer/go-colorful"
)

func TestShippedThemesAreComplete(t *testing.T) {
	if names := Names(); !slices.Equal(names, []string{"dark", "light"}) {
		t.Fatalf("Names() = %v", names)
	}
	for _, name := range Names() {
		theme, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(theme.Notes) > 0 {
			t.Errorf("%s: %v", name, theme.Notes)
		}
		if theme.Name != name || theme.Light != (name == "light") {
			t.Errorf("%s: name %q, light %v", name, theme.Name, theme.Light)
		}
	}
}

func TestLoadOfAnUnknownNameTellsTheNames(t *testing.T) {
	_, err := Load("../dark")
	if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "dark, light") {
		t.Errorf("got %v", err)
	}
}

func colour(v value) colorful.Color {
	return colorful.Color{R: float64(v.rgb[0]) / 255, G: float64(v.rgb[1]) / 255, B: float64(v.rgb[2]) / 255}
}

func mustHex(t *testing.T, s string) colorful.Color {
	t.Helper()
	c, err := colorful.Hex(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// luminance is WCAG 2.2's relative luminance.
func luminance(c colorful.Color) float64 {
	r, g, b := c.LinearRgb()
	return 0.2126*r + 0.7152*g + 0.0722*b
}

func contrast(a, b colorful.Color) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// sights are matrices over linear RGB for full loss of one kind of cone (Machado, Oliveira, Fernandes 2009).
var sights = map[string][9]float64{
	"normal":       {1, 0, 0, 0, 1, 0, 0, 0, 1},
	"protanopia":   {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
	"deuteranopia": {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
	"tritanopia":   {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900},
}

func seen(c colorful.Color, m [9]float64) colorful.Color {
	r, g, b := c.LinearRgb()
	return colorful.LinearRgb(m[0]*r+m[1]*g+m[2]*b, m[3]*r+m[4]*g+m[5]*b, m[6]*r+m[7]*g+m[8]*b).Clamped()
}

// TestColoursCanBeRead holds every shipped theme to WCAG's 4.5:1 on the backgrounds it is made for; borders are
// decoration. The terminal's own colours, the first 16 and that of text, cannot be judged.
func TestColoursCanBeRead(t *testing.T) {
	for _, name := range Names() {
		theme, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		backgrounds := []string{"#000000", "#282a36"}
		if theme.Light {
			backgrounds = []string{"#ffffff"}
		}
		for _, profile := range []Profile{TrueColor, ANSI256} {
			for _, role := range Roles() {
				v := theme.roles[role].value(profile)
				if role == Border || v.colour == "" {
					continue
				}
				c := colour(v)
				for _, background := range backgrounds {
					if got := contrast(c, mustHex(t, background)); got < 4.5 {
						t.Errorf("%s, %s colours: %s on %s has %.2f:1", name, profile, role, background, got)
					}
				}
			}
		}
	}
}

// TestStatesCanBeToldApart asks for a distance of 12 in CIE L*a*b* between any two state colours, in normal sight and with
// each kind of colour blindness.
func TestStatesCanBeToldApart(t *testing.T) {
	states := []Role{OK, Warn, Cool, Pause, Bad}
	for _, name := range Names() {
		theme, err := Load(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, profile := range []Profile{TrueColor, ANSI256} {
			for sight, matrix := range sights {
				for i, a := range states {
					for _, b := range states[i+1:] {
						x := seen(colour(theme.roles[a].value(profile)), matrix)
						y := seen(colour(theme.roles[b].value(profile)), matrix)
						if d := 100 * x.DistanceLab(y); d < 12 {
							t.Errorf("%s, %s colours, %s: %s and %s are %.1f apart", name, profile, sight, a, b, d)
						}
					}
				}
			}
		}
	}
}

func TestPalette(t *testing.T) {
	theme, err := Load("dark")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		profile        Profile
		role           Role
		prefix, strong string
	}{
		{TrueColor, OK, "\x1b[38;2;122;211;168m", "\x1b[1;38;2;122;211;168m"},
		{ANSI256, OK, "\x1b[38;5;115m", "\x1b[1;38;5;115m"},
		{ANSI16, OK, "\x1b[32m", "\x1b[1;32m"},
		{ANSI16, Cool, "\x1b[94m", "\x1b[1;94m"},
		{ANSI16, Focus, "\x1b[1;36m", "\x1b[1;36m"},
		{ANSI16, Dim, "\x1b[2m", "\x1b[1m"},
		{ANSI16, Text, "", "\x1b[1m"},
		{TrueColor, Text, "", "\x1b[1m"},
	} {
		p := theme.Palette(c.profile)
		if p.Prefix(c.role) != c.prefix || p.Strong(c.role) != c.strong || p.Suffix() != "\x1b[0m" {
			t.Errorf("%s %s: %q, %q, %q", c.profile, c.role, p.Prefix(c.role), p.Strong(c.role), p.Suffix())
		}
	}
	none := theme.Palette(NoColor)
	for _, role := range Roles() {
		if none.Prefix(role)+none.Strong(role)+none.Suffix() != "" {
			t.Errorf("%s has codes without colour", role)
		}
	}
	if none == theme.Palette(TrueColor) {
		t.Error("two different palettes are equal")
	}
}

func TestBadFilesNameLineAndKey(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"unknown role":        {"background = \"dark\"\n[okay]\ntruecolor = \"#ffffff\"\n", "bad.toml:2: okay"},
		"unknown key in role": {"background = \"dark\"\n[ok]\nhue = 3\n", "bad.toml:3: ok.hue"},
		"bad truecolor":       {"background = \"dark\"\n[ok]\ntruecolor = \"#ggffff\"\n", "bad.toml:3: ok.truecolor"},
		"short truecolor":     {"background = \"dark\"\n[ok]\ntruecolor = \"#fff\"\n", "bad.toml:3: ok.truecolor"},
		"index over 255":      {"background = \"dark\"\n\n[warn]\n256 = \"256\"\n", "bad.toml:4: warn.256"},
		"unknown name":        {"background = \"dark\"\n[bad]\n16 = \"crimson\"\n", "bad.toml:3: bad.16"},
		"unknown attribute":   {"background = \"dark\"\n[bad]\n16 = \"red blinking\"\n", "bad.toml:3: bad.16"},
		"empty colour":        {"background = \"dark\"\n[bad]\n16 = \"\"\n", "bad.toml:3: bad.16"},
		"unknown background":  {"background = \"blue\"\n", `background is "blue"`},
		"not TOML":            {"background = \n", "bad.toml:1"},
		"twice the same":      {"[ok]\n256 = \"1\"\n[ok]\n", "bad.toml:3"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bad.toml")
			if err := os.WriteFile(path, []byte(c.text), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := LoadFile(path)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want it to hold %q", err, c.want)
			}
		})
	}
}

func TestAllFaultsOfAFileAreTold(t *testing.T) {
	_, err := parse("my.toml", []byte("colour = 1\n[ok]\nhue = 2\n"))
	if err == nil || !strings.Contains(err.Error(), "my.toml:1: colour") || !strings.Contains(err.Error(), "my.toml:3: ok.hue") {
		t.Errorf("got %v", err)
	}
}

func TestMissingRolesComeFromTheThemeOfTheSameBackground(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mine.toml")
	text := "background = \"light\"\n[ok]\ntruecolor = \"#005500 bold\"\n[warn]\ntruecolor = \"default\"\n256 = \"94\"\n16 = \"yellow\"\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	theme, err := LoadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	light, err := Load("light")
	if err != nil {
		t.Fatal(err)
	}
	got, want := theme.Palette(TrueColor), light.Palette(TrueColor)
	if theme.Name != "mine" || !theme.Light {
		t.Errorf("name %q, light %v", theme.Name, theme.Light)
	}
	if got.Prefix(OK) != "\x1b[1;38;2;0;85;0m" || got.Prefix(Warn) != "" || got.Prefix(Bad) != want.Prefix(Bad) {
		t.Errorf("ok %q, warn %q, bad %q", got.Prefix(OK), got.Prefix(Warn), got.Prefix(Bad))
	}
	if p := theme.Palette(ANSI256); p.Prefix(OK) != "\x1b[38;5;23m" {
		t.Errorf("ok in 256 colours: %q", p.Prefix(OK))
	}
	for _, note := range []string{"ok.256 is missing: taken from light", "ok.16 is missing: taken from light", "bad is missing: taken from light"} {
		if !slices.Contains(theme.Notes, note) {
			t.Errorf("%q is not among %q", note, theme.Notes)
		}
	}
	if len(theme.Notes) != 9 { // two values of ok, seven roles
		t.Errorf("%d notes: %q", len(theme.Notes), theme.Notes)
	}
}

func TestFilesThatAreNotThemesAreRefused(t *testing.T) {
	dir := t.TempDir()
	if _, err := LoadFile(filepath.Join(dir, "none.toml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
	big := filepath.Join(dir, "big.toml")
	if err := os.WriteFile(big, make([]byte, maxFileBytes+1), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadFile(big); err == nil || !strings.Contains(err.Error(), "64 KiB") {
		t.Errorf("huge file: %v", err)
	}
}

func TestDetect(t *testing.T) {
	for name, c := range map[string]struct {
		env  map[string]string
		want Profile
	}{
		"NO_COLOR wins":             {map[string]string{"NO_COLOR": "1", "COLORTERM": "truecolor", "TERM": "xterm"}, NoColor},
		"an empty NO_COLOR is none": {map[string]string{"NO_COLOR": "", "TERM": "xterm-256color"}, ANSI256},
		"COLORTERM":                 {map[string]string{"COLORTERM": "truecolor", "TERM": "xterm-256color"}, TrueColor},
		"24bit":                     {map[string]string{"COLORTERM": "24bit", "TERM": "xterm"}, TrueColor},
		"direct":                    {map[string]string{"TERM": "xterm-direct"}, TrueColor},
		"screen":                    {map[string]string{"TERM": "screen"}, ANSI16},
		"linux console":             {map[string]string{"TERM": "linux"}, ANSI16},
		"dumb":                      {map[string]string{"TERM": "dumb", "COLORTERM": "truecolor"}, NoColor},
		"no terminal":               {nil, NoColor},
	} {
		if got := Detect(func(k string) string { return c.env[k] }); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, name := range Names() {
		data, err := files.ReadFile(name + ".toml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("background = \"light\"\n[ok]\n256 = \"7 bold faint reverse\"\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		theme, err := parse("fuzz.toml", data)
		if err != nil {
			if !strings.Contains(err.Error(), "fuzz.toml") {
				t.Errorf("the error does not name the file: %v", err)
			}
			return
		}
		for _, profile := range []Profile{ANSI16, ANSI256, TrueColor} {
			p := theme.Palette(profile)
			for _, role := range Roles() {
				if got := p.Prefix(role); got != "" && (!strings.HasPrefix(got, "\x1b[") || strings.Trim(got[2:], "0123456789;m") != "") {
					t.Errorf("%s %s: prefix %q", profile, role, got)
				}
			}
		}
	})
}
