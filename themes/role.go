package themes

import "strings"

// Role is what a text means; the theme decides how it looks.
type Role uint8

// The roles, in the order of the files.
const (
	Text   Role = iota
	OK          // running, good
	Warn        // slow, a limit was lowered, near a cap
	Cool        // waits
	Pause       // held by a person
	Bad         // blocked, dead, failed
	Dim         // idle, stale, free parts of a gauge
	Focus       // the cursor's row, tags, the focused pane
	Border      // decoration
	roleCount
)

var roleNames = [roleCount]string{"text", "ok", "warn", "cool", "pause", "bad", "dim", "focus", "border"}

// String is the role's key in a theme file.
func (r Role) String() string {
	if r >= roleCount {
		return "unknown"
	}
	return roleNames[r]
}

// Roles returns all roles in the order of the files.
func Roles() []Role {
	roles := make([]Role, roleCount)
	for i := range roles {
		roles[i] = Role(i)
	}
	return roles
}

// Profile is how many colours the terminal shows.
type Profile uint8

// The profiles, from none to all.
const (
	NoColor   Profile = iota // no SGR sequence at all
	ANSI16                   // the terminal's own 16 colours
	ANSI256                  // the xterm palette
	TrueColor                // 24 bit
)

// String names the profile as the flags and the doctor do.
func (p Profile) String() string {
	switch p {
	case ANSI16:
		return "16"
	case ANSI256:
		return "256"
	case TrueColor:
		return "truecolor"
	}
	return "none"
}

// Detect reads the profile from the environment: a NO_COLOR that is not empty (no-color.org) and TERM=dumb mean none;
// COLORTERM=truecolor or 24bit, or a TERM that ends in -direct, all colours; 256 in TERM 256; everything else 16.
func Detect(getenv func(string) string) Profile {
	term := getenv("TERM")
	switch {
	case getenv("NO_COLOR") != "", term == "dumb", term == "":
		return NoColor
	case getenv("COLORTERM") == "truecolor", getenv("COLORTERM") == "24bit", strings.HasSuffix(term, "-direct"):
		return TrueColor
	case strings.Contains(term, "256"):
		return ANSI256
	}
	return ANSI16
}
