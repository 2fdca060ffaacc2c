package cli

import (
	"database/sql"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"dev.scrapetop/themes"
	"dev.scrapetop/ui/keys"
)

var update = flag.Bool("update", false, "write what README.md takes from the program")

// readme is the text of README.md and its path, taken before a test leaves the folder of the package.
func readme(t *testing.T) (path, text string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(houseRoot, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, string(b)
}

// blocks are the fenced blocks of a language.
func blocks(t *testing.T, text, language string) []string {
	t.Helper()
	var out []string
	for _, m := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(text, -1) {
		out = append(out, m[1])
	}
	if len(out) == 0 {
		t.Fatalf("README.md has no block of %s", language)
	}
	return out
}

// fresh compares a part of README.md with what the program says now, or writes it with -update.
func fresh(t *testing.T, path, text, part, want string) {
	t.Helper()
	if part == want {
		return
	}
	if !*update {
		t.Fatalf("README.md is stale, run: go test ./ui/cli -run Readme -update\n got %s\nwant %s", part, want)
	}
	if err := os.WriteFile(path, []byte(strings.Replace(text, part, want, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestReadmeHasTheKeys(t *testing.T) {
	path, text := readme(t)
	begin, end := strings.Index(text, "<!-- keys:"), strings.Index(text, "<!-- end of keys -->")
	if begin < 0 || end < begin {
		t.Fatal("README.md has no place for the keys")
	}
	part := text[begin:end]
	mark, _, _ := strings.Cut(part, "\n")
	fresh(t, path, text, part, mark+"\n\n"+keys.Default().Markdown()+"\n")
}

// TestReadmeThemeLoads: the theme that README shows is one, and what it leaves out is filled.
func TestReadmeThemeLoads(t *testing.T) {
	_, text := readme(t)
	path := filepath.Join(t.TempDir(), "mine.toml")
	if err := os.WriteFile(path, []byte(blocks(t, text, "toml theme")[0]), 0o600); err != nil {
		t.Fatal(err)
	}
	theme, err := themes.LoadFile(path)
	if err != nil || len(theme.Notes) != len(themes.Roles())-1 {
		t.Errorf("%v, %v", theme.Notes, err)
	}
	for _, name := range themes.Names() {
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("README.md does not tell of the theme %s", name)
		}
	}
}

func TestReadmeExplainsAsTheProgramDoes(t *testing.T) {
	path, text := readme(t)
	block := blocks(t, text, "console")[0]
	command, _, _ := strings.Cut(block, "\n")
	m := regexp.MustCompile(`^\$ printf '(.*)' \| scrapetop explain$`).FindStringSubmatch(command)
	if m == nil {
		t.Fatalf("%q is no command of the form that is tested", command)
	}
	s := newShell(t)
	s.stdin = strings.NewReplacer(`\r`, "\r", `\n`, "\n").Replace(m[1])
	got := s.run("explain")
	if got.code != exitOK {
		t.Fatalf("exit %d, %q", got.code, got.err)
	}
	fresh(t, path, text, block, command+"\n"+strings.TrimSpace(got.out)+"\n")
}

func TestReadmeConfigsLoad(t *testing.T) {
	_, text := readme(t)
	keyed := 0
	for _, block := range blocks(t, text, "toml") {
		s := newShell(t)
		s.file("scrapetop.toml", block)
		named := 0
		for _, p := range platforms {
			if p.keyEnv != "" && strings.Contains(block, "[providers."+p.name) {
				s.env = append(s.env, p.keyEnv+"=key-of-a-test")
				named++
			}
		}
		got := s.run("doctor", "--offline")
		if got.code != exitOK || !strings.Contains(got.out, "scrapetop.toml") || strings.Count(got.out, "key present") != named {
			t.Errorf("%s\nexit %d, %q, %q", block, got.code, got.out, got.err)
		}
		keyed += named
	}
	if keyed == 0 {
		t.Error("no config of README.md has a provider with a key")
	}
}

func TestReadmeQueriesRun(t *testing.T) {
	_, text := readme(t)
	_, at := listen(t)
	s := newShell(t)
	s.file("urls.txt", pages(at.Sites[0], 3, ""))
	if got := s.run("run", "urls.txt", "--summary", "json"); got.code != exitOK {
		t.Fatalf("exit %d, %q", got.code, got.err)
	}
	db, err := sql.Open("sqlite3", "file:"+defaultDB+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	n := 0
	for _, block := range blocks(t, text, "sql") {
		for query := range strings.SplitSeq(block, ";") {
			if strings.TrimSpace(query) == "" {
				continue
			}
			n++
			rows, err := db.QueryContext(t.Context(), query)
			if err != nil {
				t.Errorf("%v in %s", err, query)
				continue
			}
			for rows.Next() {
			}
			if err := rows.Err(); err != nil {
				t.Errorf("%v in %s", err, query)
			}
			rows.Close()
		}
	}
	if n < 3 {
		t.Errorf("only %d queries were found", n)
	}
}

func TestReadmeNamesTheKeysOfSummaryAndRecord(t *testing.T) {
	_, text := readme(t)
	_, at := listen(t)
	s := newShell(t)
	s.file("urls.txt", pages(at.Sites[0], 1, ""))
	for key := range summaryOf(t, s.run("run", "urls.txt", "--summary", "json")) {
		if !strings.Contains(text, "`"+key+"`") {
			t.Errorf("README.md does not name the summary's %s", key)
		}
	}
	got := s.run("export")
	var record map[string]any
	if err := json.Unmarshal([]byte(got.out), &record); err != nil {
		t.Fatal(err)
	}
	for key := range record {
		if !strings.Contains(text, "`"+key+"`") {
			t.Errorf("README.md does not name the record's %s", key)
		}
	}
}

func TestReadmeNamesEveryCommand(t *testing.T) {
	_, text := readme(t)
	for _, c := range (&app{}).rootCommand().Commands() {
		if !c.Hidden && !strings.Contains(text, "`scrapetop "+c.Name()) && !strings.Contains(text, "`"+c.Name()+"`") {
			t.Errorf("README.md does not name the command %s", c.Name())
		}
	}
}
