package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"dev.scrapetop/engine/source"
)

// inputFormats are the words of --input-format.
var inputFormats = []string{"auto", "text", "csv", "jsonl", "sitemap"}

// input is one INPUT of a run, opened.
type input struct {
	name string   // as given; shown before line numbers
	file *os.File // nil for a URL
	url  string   // a list of this one URL
	mark inputMark
}

// inputMark identifies an input for resume: the rest of a file is read on only while it is the file it was.
type inputMark struct {
	Path string    `json:"path,omitempty"` // absolute; empty for stdin
	Size int64     `json:"size,omitempty"`
	Time time.Time `json:"time,omitzero"`
	URL  string    `json:"url,omitempty"`
	Site string    `json:"sitemap,omitempty"`
}

// same reports whether the file is still what it was when the run was created.
func (m inputMark) same(now inputMark) bool {
	return m.Path == now.Path && m.Size == now.Size && m.Time.Equal(now.Time)
}

// errNothing is yielded to end a read that found what it looked for.
var errNothing = errors.New("enough was read")

// openInputs opens every INPUT before anything is started, and looks into each file for its first good line: an
// unreadable one, or one without any URL, ends the command while nothing has happened.
func (a *app) openInputs(ctx context.Context, args []string, format source.Format) (list []input, err error) {
	defer func() {
		if err != nil {
			closeInputs(list)
		}
	}()
	stdin := false
	for _, arg := range args {
		in, err := a.openInput(arg)
		if err != nil {
			return list, err
		}
		list = append(list, in)
		if in.file != nil && in.file == a.std.In {
			if stdin {
				return list, usage("- was given twice, stdin can be read once")
			}
			stdin = true
		}
		if err := a.lookInto(ctx, in, format); err != nil {
			return list, err
		}
	}
	return list, nil
}

func closeInputs(list []input) {
	for _, in := range list {
		if in.file != nil {
			in.file.Close() // read-only: nothing to lose
		}
	}
}

func (a *app) openInput(arg string) (input, error) {
	if arg == "-" {
		f, ok := a.std.In.(*os.File)
		if !ok {
			return input{}, usage("-: stdin cannot be read")
		}
		if terminal(f) {
			return input{}, usage("-: stdin is the terminal, pipe a list into it or name a file")
		}
		return input{name: "-", file: f}, nil
	}
	if strings.Contains(arg, "://") {
		if _, err := os.Stat(arg); err != nil {
			u, err := source.Normalise(arg)
			if err != nil {
				return input{}, usage("%s: %w", shorten(withoutUser(arg), 80), err)
			}
			return input{name: u.String, url: u.String, mark: inputMark{URL: u.String}}, nil
		}
	}
	f, err := os.Open(arg)
	if err != nil {
		hint := ""
		if errors.Is(err, os.ErrNotExist) {
			hint = ", INPUT is a file, - or a URL with http:// or https://"
		}
		return input{}, usage("%s: %s%s", shorten(arg, 80), reason(err), hint)
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errors.New("is a folder, name the file in it")
	}
	if err != nil {
		return input{}, errors.Join(usage("%s: %s", shorten(arg, 80), reason(err)), f.Close())
	}
	in := input{name: arg, file: f}
	if path, err := filepath.Abs(arg); err == nil && info.Mode().IsRegular() {
		in.mark = inputMark{Path: path, Size: info.Size(), Time: info.ModTime()}
	}
	return in, nil
}

// withoutUser takes the credentials off a URL that will be shown in an error.
func withoutUser(s string) string {
	scheme, rest, _ := strings.Cut(s, "://")
	authority, _, _ := strings.Cut(rest, "/")
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		return scheme + "://" + rest[i+1:]
	}
	return s
}

// lookInto reads a regular file up to its first good line and goes back to the start. What cannot be read twice is
// judged when it is read.
func (a *app) lookInto(ctx context.Context, in input, format source.Format) error {
	if in.file == nil || in.mark.Path == "" {
		return nil
	}
	var problems []source.Problem
	counts, err := source.Read(ctx, in.name, in.file, source.Options{Format: format},
		func(source.Entry) error { return errNothing },
		func(p source.Problem) {
			if len(problems) < maxReported {
				problems = append(problems, p)
			}
		})
	if errors.Is(err, errNothing) {
		if _, err := in.file.Seek(0, 0); err != nil {
			return usage("%s: %s", in.name, reason(err))
		}
		return nil
	}
	for _, p := range problems {
		a.reportProblem(in.name, p)
	}
	if err != nil {
		return usage("%s: %w", in.name, err)
	}
	return noGoodLine(in.name, counts)
}

// errNoGoodLine is an input that gave nothing to run. Its error names the input.
var errNoGoodLine = errors.New("nothing was started")

func noGoodLine(name string, c source.Counts) error {
	switch {
	case c.Lines == 0:
		return usage("%s: is empty, it needs at least one URL; %w", name, errNoGoodLine)
	case c.Skipped == 0:
		return usage("%s: holds only blank lines and comments, it needs at least one URL; %w", name, errNoGoodLine)
	}
	return usage("%s: has no good line (%d were refused), %w", name, c.Skipped, errNoGoodLine)
}

func (a *app) reportProblem(name string, p source.Problem) {
	fmt.Fprintf(a.std.Err, "%s:%d: %s\n", printable(name), p.Line, printable(p.Why))
}

// runName is how a run is shown: the base name of its input, or the host of a single URL.
func runName(list []input, sitemaps []string) string {
	name := "run"
	switch {
	case len(list) > 0 && list[0].url != "":
		name = hostOf(list[0].url)
	case len(list) > 0 && list[0].name == "-":
		name = "stdin"
	case len(list) > 0:
		name = filepath.Base(list[0].name)
	case len(sitemaps) > 0:
		name = hostOf(sitemaps[0])
	}
	if more := len(list) + len(sitemaps) - 1; more > 0 {
		name += fmt.Sprintf(" +%d", more)
	}
	return shorten(name, 60)
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "url"
	}
	return u.Host
}

// inputID is the identity by which an unfinished run of the same input is found. What is read from a pipe is never the
// same again.
func inputID(marks []inputMark, now time.Time) string {
	var parts []string
	for _, m := range marks {
		switch {
		case m.Path != "":
			parts = append(parts, m.Path)
		case m.URL != "":
			parts = append(parts, m.URL)
		case m.Site != "":
			parts = append(parts, "sitemap "+m.Site)
		default:
			parts = append(parts, fmt.Sprintf("stdin %d %d", os.Getpid(), now.UnixNano()))
		}
	}
	id := strings.Join(parts, "\n")
	if len(id) > 500 {
		sum := sha256.Sum256([]byte(id))
		id = "sha256 " + hex.EncodeToString(sum[:])
	}
	return id
}
