package storage

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// exported is an export as text.
func exported(t *testing.T, s *Store, what, format string) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := s.Export(t.Context(), &b, ExportSpec{What: what, Format: format}); err != nil {
		t.Fatal(err)
	}
	if !utf8.Valid(b.Bytes()) {
		t.Errorf("%s as %s is not UTF-8", what, format)
	}
	return b.String()
}

// keysInOrder are the keys of a JSON object as written.
func keysInOrder(t *testing.T, object string) string {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(object))
	var keys []string
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key.(string))
		var v json.RawMessage
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
	}
	return strings.Join(keys, " ")
}

func TestExportHasTheKeysOfTheViews(t *testing.T) {
	s := openTemp(t, Options{})
	run, tasks := newRun(t, s, "direct", "http://a.test/1")
	tx := accept(run.ID, tasks[0], "page")
	tx.Events = []Event{{At: time.Now(), Level: "info", Text: "started"}}
	write(t, s, tx)
	for what, want := range map[string]string{"results": columns["results"], "attempts": columns["attempts"], "events": columns["events"],
		"tasks": columns["tasks"] + " priority input_id error meta"} {
		lines := strings.Split(exported(t, s, what, "jsonl"), "\n")
		if len(lines) != 2 || lines[1] != "" {
			t.Fatalf("%s: %q", what, lines)
		}
		if got := keysInOrder(t, lines[0]); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", what, got, want)
		}
		var array []json.RawMessage
		if err := json.Unmarshal([]byte(exported(t, s, what, "json")), &array); err != nil || len(array) != 1 || string(array[0]) != lines[0] {
			t.Errorf("%s as json: %v %s", what, err, array)
		}
		rows, err := csv.NewReader(strings.NewReader(exported(t, s, what, "csv"))).ReadAll()
		flat := strings.TrimSuffix(strings.TrimSuffix(want, " meta"), " fields")
		if err != nil || len(rows) != 2 || strings.Join(rows[0], " ") != flat {
			t.Errorf("%s as csv: %v %v", what, rows, err)
		}
	}
}

func TestExportOfNothingIsAValidFile(t *testing.T) {
	s := openTemp(t, Options{})
	run, _ := newRun(t, s, "direct")
	for what := range tables {
		for format, want := range map[string]string{"jsonl": "", "json": "[]\n"} {
			if got := exported(t, s, what, format); got != want {
				t.Errorf("%s as %s: %q", what, format, got)
			}
		}
		if rows, err := csv.NewReader(strings.NewReader(exported(t, s, what, "csv"))).ReadAll(); err != nil || len(rows) != 1 {
			t.Errorf("%s as csv: %v %v", what, rows, err)
		}
	}
	var b bytes.Buffer
	for _, c := range []struct {
		spec ExportSpec
		want error
	}{
		{ExportSpec{Run: run.ID + 1}, ErrNoRun}, {ExportSpec{What: "pages"}, ErrInvalid}, {ExportSpec{Format: "xml"}, ErrInvalid},
	} {
		if _, err := s.Export(t.Context(), &b, c.spec); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c.spec, err)
		}
	}
}

func TestExportOfOneRun(t *testing.T) {
	s := openTemp(t, Options{})
	for _, url := range []string{"http://a.test/1", "http://a.test/2"} {
		run, tasks := newRun(t, s, "direct", url)
		write(t, s, accept(run.ID, tasks[0], url))
	}
	var b bytes.Buffer
	if n, err := s.Export(t.Context(), &b, ExportSpec{Run: 2}); err != nil || n != 1 || !strings.Contains(b.String(), `"body":"http://a.test/2"`) {
		t.Errorf("%d %v %s", n, err, b.String())
	}
	if n, err := s.Export(t.Context(), &b, ExportSpec{}); err != nil || n != 2 {
		t.Errorf("%d %v", n, err)
	}
}

func TestExportOfHostileBodies(t *testing.T) {
	raw, err := os.ReadFile("testdata/nul_bytes.http")
	if err != nil {
		t.Fatal(err)
	}
	_, page, ok := strings.Cut(string(raw), "\r\n\r\n")
	if !ok || !strings.Contains(page, "\x00") {
		t.Fatal("the page has no NUL")
	}
	bodies := map[string]struct{ body, encoding string }{
		"NUL":             {page, "text"},
		"not UTF-8":       {"caf\xe9 \xff\xfe", "base64"},
		"empty":           {"", "text"},
		"controls":        {"\x1b[31m\u202eevil\u2028\x7f\ufeff", "text"},
		"lines and marks": {"a\r\nb\rc\nd,\"e\";'f'", "text"},
		"markup":          {"<p>&amp;</p>", "text"},
		"a formula":       {"=1+1", "text"},
		"base64 with +":   {"\xfb\xef\xbe", "base64"},
	}
	for name, c := range bodies {
		t.Run(name, func(t *testing.T) {
			s := openTemp(t, Options{Fast: true})
			run, tasks := newRun(t, s, "direct", "http://a.test/1")
			write(t, s, accept(run.ID, tasks[0], c.body))
			line := exported(t, s, "results", "jsonl")
			if n := strings.Count(line, "\n"); n != 1 {
				t.Errorf("%d lines", n)
			}
			var rec struct {
				Encoding, Body string
				Bytes          int
			}
			if err := json.Unmarshal([]byte(line), &rec); err != nil {
				t.Fatal(err)
			}
			rows, err := csv.NewReader(strings.NewReader(exported(t, s, "results", "csv"))).ReadAll()
			if err != nil || len(rows) != 2 {
				t.Fatalf("%v %v", rows, err)
			}
			cell := unguard(rows[1][16])
			if rows[0][16] != "body" || rows[1][15] != c.encoding || rec.Encoding != c.encoding || rec.Bytes != len(c.body) {
				t.Errorf("%+v, %v", rec, rows)
			}
			if c.encoding == "base64" {
				for _, text := range []string{rec.Body, cell} {
					if b, err := base64.StdEncoding.DecodeString(text); err != nil || string(b) != c.body {
						t.Errorf("%q: %q, %v", text, b, err)
					}
				}
				return
			}
			if rec.Body != c.body {
				t.Errorf("JSON: %q", rec.Body)
			}
			// The reader, not the file, makes one line end of CR LF.
			if want := strings.ReplaceAll(c.body, "\r\n", "\n"); cell != want {
				t.Errorf("CSV: %q, want %q", cell, want)
			}
		})
	}
}

// unguard undoes csvCell, as its comment says how.
func unguard(cell string) string {
	if strings.HasPrefix(cell, "'") && dangerous(strings.TrimLeft(cell, "'")) {
		return cell[1:]
	}
	return cell
}

func TestExportKeepsNumbersDigitForDigit(t *testing.T) {
	raw, err := os.ReadFile("testdata/bigint.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	s := openTemp(t, Options{})
	run, err := s.CreateRun(t.Context(), RunSpec{Provider: "direct"})
	if err != nil {
		t.Fatal(err)
	}
	var numbers []string
	for line := range strings.Lines(string(raw)) {
		var in struct {
			URL string
			ID  json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &in); err != nil {
			t.Fatal(err)
		}
		meta := json.RawMessage(`{"id":` + string(in.ID) + `}`)
		if _, err := s.Enqueue(t.Context(), run.ID, []NewTask{{URL: in.URL, Domain: "a.test", Meta: meta}}); err != nil {
			t.Fatal(err)
		}
		id := int64(len(numbers) + 1)
		write(t, s, Tx{Run: run.ID, Tasks: []TaskChange{{ID: id, State: TaskAccepted}}, Results: []Result{{Task: id, Fields: meta}}})
		numbers = append(numbers, string(in.ID))
	}
	lines := strings.Split(exported(t, s, "results", "jsonl"), "\n")
	rows, err := csv.NewReader(strings.NewReader(exported(t, s, "results", "csv"))).ReadAll()
	if err != nil || strings.Join(rows[0][17:], " ") != "fields.id meta.id" {
		t.Fatalf("%v %v", rows, err)
	}
	for i, n := range numbers {
		if want := `"fields":{"id":` + n + `},"meta":{"id":` + n + `}}`; !strings.HasSuffix(lines[i], want) {
			t.Errorf("JSON: %s lacks %s", lines[i], want)
		}
		if got := rows[i+1][17:]; got[0] != n || got[1] != n {
			t.Errorf("CSV: %v, want %s", got, n)
		}
	}
	if numbers[0] != "9007199254740993" || numbers[1] != "12345678901234567890" {
		t.Errorf("the input is not what it should be: %v", numbers)
	}
}

func TestExportFlattensFields(t *testing.T) {
	s := openTemp(t, Options{})
	run, tasks := newRun(t, s, "direct", "http://a.test/1", "http://a.test/2")
	for i, fields := range []string{
		`{"title": "=1+1", "price": -12.5, "links": ["a", "b"], "bad\ud800": "x", "none": null, "ok": true}`,
		`{"title": "caf\u00e9", "nested": {"a.b": 1}}`,
	} {
		tx := accept(run.ID, tasks[i], "")
		tx.Results[0].Fields = []byte(fields)
		write(t, s, tx)
	}
	rows, err := csv.NewReader(strings.NewReader(exported(t, s, "results", "csv"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{
		"fields.bad\ufffd|fields.links|fields.nested|fields.none|fields.ok|fields.price|fields.title",
		`x|["a","b"]|||true|-12.5|'=1+1`,
		`||{"a.b":1}||||café`,
	} {
		if got := strings.Join(rows[i][17:], "|"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestExportOfInvalidText(t *testing.T) {
	s := openTemp(t, Options{})
	run, tasks := newRun(t, s, "direct", "http://a.test/1")
	tx := accept(run.ID, tasks[0], "page")
	tx.Results[0].Fields = []byte("{\"t\": \"\xff\"}")
	tx.Results[0].ContentType = "text/\xff"
	tx.Attempts[0].BodySample = []byte("\xfe sample \x00")
	tx.Attempts[0].Error = "bad \xff"
	write(t, s, tx)
	for _, format := range []string{"jsonl", "json", "csv"} {
		for what, want := range map[string]string{"results": "text/\ufffd", "attempts": "bad \ufffd"} {
			if got := exported(t, s, what, format); !strings.Contains(got, want) && !strings.Contains(got, strings.ReplaceAll(want, "\ufffd", `\ufffd`)) {
				t.Errorf("%s as %s: %q", what, format, got)
			}
		}
	}
}

// faulty is a full disk on the other side.
type faulty struct{ room int }

func (f *faulty) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errors.New("no space left")
	}
	return len(p), nil
}

func TestExportThatCannotBeWritten(t *testing.T) {
	s := openTemp(t, Options{})
	run, tasks := newRun(t, s, "direct", "http://a.test/1", "http://a.test/2")
	for _, task := range tasks {
		write(t, s, accept(run.ID, task, strings.Repeat("page ", 50_000)))
	}
	for _, format := range []string{"jsonl", "json", "csv"} {
		if _, err := s.Export(t.Context(), &faulty{300_000}, ExportSpec{Format: format}); err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Errorf("%s: %v", format, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Export(ctx, &faulty{1 << 30}, ExportSpec{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
