package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dev.scrapetop/engine"
)

// keysOf resolves the credentials of evomi from a config.
func keysOf(t *testing.T, config string, env ...string) (keys []engine.Credential, stderr string, err error) {
	t.Helper()
	file, err := parseConfig("x.toml", []byte(config))
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	a := &app{std: stdio{Err: &errs}, env: environment(env), file: file}
	keys, err = a.credentials(t.Context(), file, "evomi", "EVOMI_API_KEY")
	return keys, errs.String(), err
}

func credential(source string) string {
	return "[[providers.evomi.credentials]]\nname = \"main\"\n" + source + "\n"
}

func TestDefaultCredentialComesFromTheVariable(t *testing.T) {
	keys, _, err := keysOf(t, "", "EVOMI_API_KEY=abc")
	if err != nil || len(keys) != 1 || keys[0].Name != "default" || keys[0].Key != "abc" || keys[0].Account != "default" {
		t.Errorf("%v, %v", keys, err)
	}
}

func TestMissingKeyNamesItsVariable(t *testing.T) {
	for name, config := range map[string]string{"EVOMI_API_KEY": "", "OTHER_KEY": credential(`key_env = "OTHER_KEY"`)} {
		for _, env := range []string{"X=1", name + "=", name + "=  "} {
			_, _, err := keysOf(t, config, env)
			if err == nil || !strings.Contains(err.Error(), "the variable "+name+" is not set") {
				t.Errorf("%s: %v", env, err)
			}
		}
	}
	s := newShell(t)
	if got := s.run("run", "https://a.test/", "--provider", "evomi"); got.code != exitBroken || !strings.Contains(got.err, "EVOMI_API_KEY") || strings.Count(got.err, "\n") != 1 {
		t.Errorf("exit %d, %q", got.code, got.err)
	}
	if _, err := os.Stat(defaultDB); err == nil {
		t.Error("a database was made although nothing could run")
	}
}

func TestKeyFromFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "key")
	config := credential(`key_file = "` + path + `"`)
	if _, _, err := keysOf(t, config); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a file that is not there: %v", err)
	}
	if err := os.WriteFile(path, []byte("s3cret-k\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	keys, _, err := keysOf(t, config)
	if err != nil || keys[0].Key != "s3cret-k" {
		t.Errorf("%v, %v", keys, err)
	}
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o644} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, _, err := keysOf(t, config)
		if err == nil || !strings.Contains(err.Error(), "chmod 600") || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	if _, _, err := keysOf(t, credential(`key_file = "`+dir+`"`)); err == nil {
		t.Error("a folder is taken for a key")
	}
}

func TestKeyFromCommand(t *testing.T) {
	keys, stderr, err := keysOf(t, credential(`key_command = ["sh", "-c", "echo asking >&2; echo from-command"]`))
	if err != nil || keys[0].Key != "from-command" || stderr != "asking\n" {
		t.Errorf("%v, %q, %v", keys, stderr, err)
	}
	for name, command := range map[string]string{
		"fails":     `["sh", "-c", "echo s3cret; exit 3"]`,
		"silent":    `["true"]`,
		"not there": `["no-such-program-here"]`,
		"many":      `["sh", "-c", "printf 's3cret one\ntwo'"]`,
	} {
		_, _, err := keysOf(t, credential("key_command = "+command))
		if err == nil || strings.Contains(err.Error(), "s3cret") || !strings.Contains(err.Error(), "credential main") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKeysThatCannotBeSent(t *testing.T) {
	for _, key := range []string{"two words", "line\nbreak", "caf\u00e9", "nul\x00", strings.Repeat("x", maxKeySize+1)} {
		_, _, err := keysOf(t, "", "EVOMI_API_KEY="+key)
		if err == nil || strings.Contains(err.Error(), key[:3]) && key[:3] != "lin" {
			t.Errorf("%.10q: %v", key, err)
		}
	}
}
