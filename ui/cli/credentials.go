package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"
	"unicode"

	"dev.scrapetop/engine"
)

const (
	maxKeySize        = 16 << 10 // bytes; a key longer than this is a wrong file
	keyCommandTimeout = 30 * time.Second
)

// credentials resolves the keys of a provider. Without any in the config there is one named default, from the
// provider's usual variable. The errors name where a key should have come from, never what was found there.
func (a *app) credentials(ctx context.Context, c *configFile, provider, usualEnv string) ([]engine.Credential, error) {
	tables := c.Providers[provider].Credentials
	if len(tables) == 0 {
		if usualEnv == "" {
			return nil, nil
		}
		key, err := a.keyFromEnv(usualEnv)
		if err != nil {
			return nil, broken("no key for %s: %v, or name a credential in the config", provider, err)
		}
		return []engine.Credential{{Name: "default", Key: key, Account: "default"}}, nil
	}
	list := make([]engine.Credential, 0, len(tables))
	for i, t := range tables {
		at := fmt.Sprintf("providers.%s.credentials.%d", provider, i)
		cred, err := t.credential(c, at)
		if err != nil {
			return nil, err
		}
		if cred.Key, err = a.key(ctx, t); err != nil {
			return nil, broken("no key for %s, credential %s: %v", provider, t.Name, err)
		}
		list = append(list, cred)
	}
	return list, nil
}

// checkCredentials checks the tables of a provider without reading a key.
func checkCredentials(c *configFile, provider string) error {
	seen := map[string]bool{}
	for i, t := range c.Providers[provider].Credentials {
		at := fmt.Sprintf("providers.%s.credentials.%d", provider, i)
		if _, err := t.credential(c, at); err != nil {
			return err
		}
		if seen[t.Name] {
			return c.wrong(at+".name", "a credential named %q exists already, give each its own name", t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}

func (t credentialTable) credential(c *configFile, at string) (engine.Credential, error) {
	cred := engine.Credential{Name: t.Name, Account: t.Account, Tenants: t.Tenants}
	if strings.TrimSpace(t.Name) == "" {
		return cred, c.wrong(at+".name", "is missing, it is shown everywhere instead of the key")
	}
	if cred.Account == "" {
		cred.Account = t.Name
	}
	sources := 0
	for _, given := range []bool{t.KeyEnv != "", t.KeyFile != "", len(t.KeyCommand) > 0} {
		if given {
			sources++
		}
	}
	if sources == 0 && c.path == "" {
		return cred, c.wrong(at, "where its key comes from was not kept with the run, give the file again with --config")
	}
	if sources != 1 {
		return cred, c.wrong(at, "needs exactly one of key_env, key_file and key_command, has %d", sources)
	}
	if t.MinGap != "" {
		gap, err := parseSpan(t.MinGap)
		if err != nil {
			return cred, c.wrong(at+".min_gap", "%v", err)
		}
		cred.MinGap = gap
	}
	if t.MaxInFlight != nil {
		if *t.MaxInFlight < 1 {
			return cred, c.wrong(at+".max_in_flight", "must be at least 1")
		}
		cred.MaxInFlight = *t.MaxInFlight
	}
	return cred, nil
}

func (a *app) key(ctx context.Context, t credentialTable) (string, error) {
	switch {
	case t.KeyEnv != "":
		return a.keyFromEnv(t.KeyEnv)
	case t.KeyFile != "":
		return keyFromFile(t.KeyFile)
	default:
		return keyFromCommand(ctx, t.KeyCommand, a.std.Err)
	}
}

func (a *app) keyFromEnv(name string) (string, error) {
	key, set := a.env[name]
	if !set || strings.TrimSpace(key) == "" {
		return "", fmt.Errorf("the variable %s is not set, export it", name)
	}
	key, err := tidyKey(key)
	if err != nil {
		return "", fmt.Errorf("the variable %s: %w", name, err)
	}
	return key, nil
}

// keyFromFile reads a key from a file that nobody else may read.
func keyFromFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("key_file %s: %s", path, reason(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", fmt.Errorf("key_file %s: %s", path, reason(err))
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("key_file %s is no file", path)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("key_file %s can be read by others (mode %04o), run: chmod 600 %s", path, info.Mode().Perm(), path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxKeySize+1))
	if err != nil {
		return "", fmt.Errorf("key_file %s: %s", path, reason(err))
	}
	key, err := tidyKey(string(text))
	if err != nil {
		return "", fmt.Errorf("key_file %s: %w", path, err)
	}
	return key, nil
}

// keyFromCommand runs a password manager; what it says on stderr goes to ours, its stdout is the key.
func keyFromCommand(ctx context.Context, argv []string, stderr io.Writer) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, keyCommandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, stderr
	cmd.WaitDelay = time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("no answer within %s", keyCommandTimeout)
		}
		return "", fmt.Errorf("key_command %s: %w", argv[0], err)
	}
	key, err := tidyKey(out.String())
	if err != nil {
		return "", fmt.Errorf("key_command %s: %w", argv[0], err)
	}
	return key, nil
}

// tidyKey trims a key and refuses what cannot be one: it is sent as a header value.
func tidyKey(s string) (string, error) {
	key := strings.TrimSpace(s)
	switch {
	case key == "":
		return "", errors.New("holds no key")
	case len(key) > maxKeySize:
		return "", errors.New("holds more than a key")
	case strings.ContainsFunc(key, func(r rune) bool { return r > unicode.MaxASCII || unicode.IsControl(r) || unicode.IsSpace(r) }):
		return "", errors.New("holds something that is no key: it has blanks, line breaks or letters that a header cannot carry")
	}
	return key, nil
}
