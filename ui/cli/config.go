package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

const (
	configName  = "scrapetop.toml"
	maxFileSize = 4 << 20 // bytes of a config file; far more than anybody writes
)

// configFile is a config file as written: texts are parsed by settings, where an error can name file, line and key. Its
// JSON form is kept with a run for resume; it holds no secret.
type configFile struct {
	DB      string `toml:"db" json:"-"`
	Theme   string `toml:"theme" json:"-"`
	NoColor *bool  `toml:"no_color" json:"-"`
	ASCII   *bool  `toml:"ascii" json:"-"`

	Keys map[string]any `toml:"keys" json:"-"` // by action: a key, or a list of them

	Run    map[string]any `toml:"run" json:"run,omitempty"`
	Export map[string]any `toml:"export" json:"-"`

	Providers map[string]providerTable `toml:"providers" json:"providers,omitempty"`
	Tenants   map[string]ceilingTable  `toml:"tenants" json:"tenants,omitempty"`
	Domains   map[string]ceilingTable  `toml:"domains" json:"domains,omitempty"`
	Validate  validateTable            `toml:"validate" json:"validate,omitzero"`
	Extract   map[string]any           `toml:"extract" json:"extract,omitempty"`
	Retention retentionTable           `toml:"retention" json:"-"`
	Privacy   privacyTable             `toml:"privacy" json:"privacy,omitzero"`
	Log       logTable                 `toml:"log" json:"-"`

	path  string
	lines map[string]int // 1-based line of each key, by dotted path
}

type providerTable struct {
	BaseURL         string            `toml:"base_url" json:"base_url,omitempty"`
	Options         map[string]any    `toml:"options" json:"options,omitempty"`
	Async           *bool             `toml:"async" json:"async,omitempty"`
	ResubmitUnknown string            `toml:"resubmit_unknown" json:"resubmit_unknown,omitempty"`
	ResubmitLost    *bool             `toml:"resubmit_lost" json:"resubmit_lost,omitempty"`
	UserAgent       string            `toml:"user_agent" json:"user_agent,omitempty"`
	Headers         map[string]string `toml:"headers" json:"-"` // may hold a site's cookie or token: never kept
	Credentials     []credentialTable `toml:"credentials" json:"credentials,omitempty"`

	// The plan: never sent.
	RateLimit  *int          `toml:"rate_limit" json:"rate_limit,omitempty"`
	RateWindow string        `toml:"rate_window" json:"rate_window,omitempty"`
	Pending    *pendingTable `toml:"pending" json:"pending,omitempty"`
	WorstPrice *float64      `toml:"worst_price" json:"worst_price,omitempty"`
}

type pendingTable struct {
	Scrape *int `toml:"scrape" json:"scrape,omitempty"`
	Batch  *int `toml:"batch" json:"batch,omitempty"`
	Crawl  *int `toml:"crawl" json:"crawl,omitempty"`
}

type credentialTable struct {
	Name        string   `toml:"name" json:"name,omitempty"`
	KeyEnv      string   `toml:"key_env" json:"key_env,omitempty"`
	KeyFile     string   `toml:"key_file" json:"key_file,omitempty"`
	KeyCommand  []string `toml:"key_command" json:"key_command,omitempty"`
	Account     string   `toml:"account" json:"account,omitempty"`
	Tenants     []string `toml:"tenants" json:"tenants,omitempty"`
	MinGap      string   `toml:"min_gap" json:"min_gap,omitempty"`
	MaxInFlight *int     `toml:"max_in_flight" json:"max_in_flight,omitempty"`
}

type ceilingTable struct {
	MaxInFlight *int     `toml:"max_in_flight" json:"max_in_flight,omitempty"`
	Rate        string   `toml:"rate" json:"rate,omitempty"`
	MaxCredits  *float64 `toml:"max_credits" json:"max_credits,omitempty"`
	MaxRequests *int64   `toml:"max_requests" json:"max_requests,omitempty"`
}

type validateTable struct {
	MinBytes     *int   `toml:"min_bytes" json:"min_bytes,omitempty"`
	MustMatch    string `toml:"must_match" json:"must_match,omitempty"`
	MustNotMatch string `toml:"must_not_match" json:"must_not_match,omitempty"`
	Select       string `toml:"select" json:"select,omitempty"`
}

type retentionTable struct {
	Runs    string `toml:"runs"`
	Compact bool   `toml:"compact"`
}

type privacyTable struct {
	Samples *bool `toml:"samples" json:"samples,omitempty"`
}

// locateConfig returns the config file to read: the given one, else scrapetop.toml of the working folder, else that of
// the config folders; empty when there is none. A given file has to exist.
func locateConfig(given string, dirs []string) (string, error) {
	if given != "" {
		if _, err := os.Stat(given); err != nil {
			return "", broken("config %s: %s, check --config", given, reason(err))
		}
		return given, nil
	}
	for _, dir := range append([]string{"."}, dirs...) {
		path := filepath.Join(dir, configName)
		_, err := os.Stat(path)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return "", broken("config %s: %s", path, reason(err))
		}
		if errors.Is(err, fs.ErrPermission) && dir == "." {
			return "", broken("config %s: %s", path, reason(err))
		}
	}
	return "", nil
}

// loadConfig reads and decodes a config file. Every error names file, line and key.
func loadConfig(path string) (*configFile, error) {
	if path == "" {
		return &configFile{}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, broken("config %s: %s", path, reason(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFileSize+1))
	if err != nil {
		return nil, broken("config %s: %s", path, reason(err))
	}
	if len(text) > maxFileSize {
		return nil, broken("config %s: is larger than 4 MiB, this is no config file", path)
	}
	return parseConfig(path, text)
}

func parseConfig(path string, text []byte) (*configFile, error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	c := &configFile{path: path}
	dec := toml.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(c); err != nil {
		return nil, decodeFailure(path, err)
	}
	c.lines = keyLines(text)
	return c, c.check()
}

func decodeFailure(path string, err error) error {
	if unknown, ok := errors.AsType[*toml.StrictMissingError](err); ok && len(unknown.Errors) > 0 {
		first := &unknown.Errors[0]
		line, _ := first.Position()
		key := first.Key()
		hint := "it is unknown here, check its spelling and its table"
		if last := key[len(key)-1]; last == "key" || last == "api_key" {
			hint = "keys are not accepted in the config, name where it is by key_env, key_file or key_command"
		}
		return broken("config %s:%d: %s: %s", path, line, strings.Join(key, "."), hint)
	}
	if wrong, ok := errors.AsType[*toml.DecodeError](err); ok {
		line, column := wrong.Position()
		why := goNames.ReplaceAllString(strings.TrimPrefix(wrong.Error(), "toml: "), "")
		if key := wrong.Key(); len(key) > 0 {
			return broken("config %s:%d: %s: %s", path, line, strings.Join(key, "."), why)
		}
		return broken("config %s:%d:%d: %s", path, line, column, why)
	}
	return broken("config %s: %s", path, strings.TrimPrefix(err.Error(), "toml: "))
}

// goNames are the parts of a decoder's message that speak of our structs instead of the user's file.
var goNames = regexp.MustCompile(` (?:into|to store .* in) (?:a )?(?:struct field [\w.]+|Go [\w. ]+|[\w.]*cli\.\w+)(?: of type [\w.*\[\]]+)?`)

// wrong is an error about the value of a key of the file. The path names the key as keyLines does.
func (c *configFile) wrong(key string, format string, args ...any) error {
	why := fmt.Sprintf(format, args...)
	where := c.path
	if where == "" {
		where = "kept with the run"
	}
	line := max(c.lines[key], c.lines[key+".0"]) // an array of tables begins with its first
	for outer := key; line == 0 && strings.Contains(outer, "."); line = c.lines[outer] {
		outer = outer[:strings.LastIndexByte(outer, '.')]
	}
	if line > 0 {
		return broken("config %s:%d: %s: %s", where, line, key, why)
	}
	return broken("config %s: %s: %s", where, key, why)
}

// reason is the part of a file error that is not the path, which the caller's line already names.
func reason(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err.Error()
	}
	return err.Error()
}
