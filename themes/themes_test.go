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
	if names := Names(); !slices.Equal(names, []string{"ansi16", "colour-blind", "dark", "high-contrast", "light", "mono"}) {
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
	if !errors.Is(err, ErrUnknown) || !strings.Contains(err.Error(), "dark, high-contrast, light") {
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

// palettes are what terminals commonly make of their own 16 colours: a theme that leaves all to the terminal is judged on them.
var palettes = map[string]map[string]string{
	"xterm": {
		"red": "#cd0000", "green": "#00cd00", "yellow": "#cdcd00", "blue": "#0000ee", "magenta": "#cd00cd", "cyan": "#00cdcd", "white": "#e5e5e5",
		"bright-red": "#ff0000", "bright-green": "#00ff00", "bright-yellow": "#ffff00", "bright-blue": "#5c5cff", "bright-magenta": "#ff00ff",
		"bright-cyan": "#00ffff", "bright-white": "#ffffff",
	},
	"VGA": {
		"red": "#aa0000", "green": "#00aa00", "yellow": "#aa5500", "blue": "#0000aa", "magenta": "#aa00aa", "cyan": "#00aaaa", "white": "#aaaaaa",
		"bright-red": "#ff5555", "bright-green": "#55ff55", "bright-yellow": "#ffff55", "bright-blue": "#5555ff", "bright-magenta": "#ff55ff",
		"bright-cyan": "#55ffff", "bright-white": "#ffffff",
	},
}

// promise is what a shipped theme keeps, on truecolor and 256 colours: the contrast of what is read on each background, and how
// far any two states are apart (CIE L*a*b*), in normal sight and with each kind of colour blindness.
type promise struct {
	contrast map[string]float64
	apart    float64
}

// promises of the shipped themes. A theme without colours has nothing to keep here; what the terminal's own colours look like is the
// user's choice, so less is asked of them.
var promises = map[string]promise{
	"dark":          {map[string]float64{"#000000": 4.5, "#282a36": 4.5}, 12},
	"light":         {map[string]float64{"#ffffff": 4.5}, 12},
	"high-contrast": {map[string]float64{"#000000": 7, "#282a36": 5.5}, 25},
	"colour-blind":  {map[string]float64{"#000000": 4.5, "#282a36": 4.5}, 30},
	"ansi16":        {map[string]float64{"#000000": 4.5}, 10},
	"mono":          {},
}

// looks are the colours that a role has on one profile: one, or one for each palette when the terminal chooses; none when it is
// the colour of the terminal's text.
func (v value) looks(t *testing.T) map[string]colorful.Color {
	t.Helper()
	switch {
	case v.own != "":
		all := make(map[string]colorful.Color)
		for name, palette := range palettes {
			all[name] = mustHex(t, palette[v.own])
		}
		return all
	case v.colour == "":
		return nil
	}
	return map[string]colorful.Color{"": colour(v)}
}

// TestColoursCanBeRead holds every shipped theme to its promise of contrast; borders are decoration.
func TestColoursCanBeRead(t *testing.T) {
	for _, name := range Names() {
		theme, kept := mustLoad(t, name), promises[name]
		if name != "mono" && len(kept.contrast) == 0 {
			t.Errorf("%s promises nothing", name)
		}
		for _, profile := range []Profile{TrueColor, ANSI256} {
			for _, role := range Roles() {
				if role == Border {
					continue
				}
				for palette, c := range theme.roles[role].value(profile).looks(t) {
					for background, least := range kept.contrast {
						if got := contrast(c, mustHex(t, background)); got < least {
							t.Errorf("%s, %s colours %s: %s on %s has %.2f:1, promised %g", name, profile, palette, role, background, got, least)
						}
					}
				}
			}
		}
	}
}

// TestStatesCanBeToldApart holds every shipped theme to its promise of distance.
func TestStatesCanBeToldApart(t *testing.T) {
	states := []Role{OK, Warn, Cool, Pause, Bad}
	for _, name := range Names() {
		theme := mustLoad(t, name)
		for _, profile := range []Profile{TrueColor, ANSI256} {
			for sight, matrix := range sights {
				for i, a := range states {
					for _, b := range states[i+1:] {
						others := theme.roles[b].value(profile).looks(t)
						for palette, c := range theme.roles[a].value(profile).looks(t) {
							if d := 100 * seen(c, matrix).DistanceLab(seen(others[palette], matrix)); d < promises[name].apart {
								t.Errorf("%s, %s colours %s, %s: %s and %s are %.1f apart", name, profile, palette, sight, a, b, d)
							}
						}
					}
				}
			}
		}
	}
}

// TestMonoHasNoColour: attributes alone, on every profile.
func TestMonoHasNoColour(t *testing.T) {
	theme := mustLoad(t, "mono")
	for _, profile := range []Profile{TrueColor, ANSI256, ANSI16} {
		p := theme.Palette(profile)
		for _, role := range Roles() {
			for _, prefix := range []string{p.Prefix(role), p.Strong(role)} {
				if strings.Trim(prefix, "\x1b[;m127") != "" {
					t.Errorf("%s, %s: %q", profile, role, prefix)
				}
			}
		}
	}
}

// TestTheColourBlindThemeHasNoGreen: good is blue, bad is orange.
func TestTheColourBlindThemeHasNoGreen(t *testing.T) {
	theme := mustLoad(t, "colour-blind")
	for role, within := range map[Role][2]float64{OK: {200, 250}, Bad: {10, 45}} {
		for _, profile := range []Profile{TrueColor, ANSI256} {
			if hue, _, _ := colour(theme.roles[role].value(profile)).Hsl(); hue < within[0] || hue > within[1] {
				t.Errorf("%s, %s colours: hue %.0f", role, profile, hue)
			}
		}
	}
}

func mustLoad(t *testing.T, name string) Theme {
	t.Helper()
	theme, err := Load(name)
	if err != nil {
		t.Fatal(err)
	}
	return theme
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

// TestBadFilesNameLineAndKey: each file of testdata/bad is refused with what its first line wants.
func TestBadFilesNameLineAndKey(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "bad", "*.toml"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d bad files, %v", len(files), err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			line, _, _ := strings.Cut(string(text), "\n")
			want, ok := strings.CutPrefix(line, "# want: ")
			if !ok {
				t.Fatal("the first line does not say what is wanted")
			}
			if _, err := LoadFile(path); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), filepath.Base(path)) {
				t.Errorf("got %v, want it to hold %q", err, want)
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
