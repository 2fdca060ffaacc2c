package source

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
)

// result is everything a Read told.
type result struct {
	entries  []Entry
	problems []Problem
	counts   Counts
	err      error
}

func readAll(t testing.TB, name string, r io.Reader, opt Options) result {
	t.Helper()
	var res result
	res.counts, res.err = Read(context.Background(), name, r, opt,
		func(e Entry) error { res.entries = append(res.entries, e); return nil },
		func(p Problem) { res.problems = append(res.problems, p) })
	if res.counts.Entries != len(res.entries) || res.counts.Skipped != len(res.problems) {
		t.Errorf("counts %+v, but %d entries and %d problems were handed over", res.counts, len(res.entries), len(res.problems))
	}
	return res
}

func readFile(t testing.TB, path string) result {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", path))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return readAll(t, path, f, Options{})
}

func (r result) urls() []string {
	urls := []string{}
	for _, e := range r.entries {
		urls = append(urls, e.URL.String)
	}
	return urls
}

func (r result) distinct() int {
	seen := map[string]bool{}
	for _, e := range r.entries {
		seen[e.URL.String] = true
	}
	return len(seen)
}

func (r result) problemLines() []int {
	at := []int{}
	for _, p := range r.problems {
		at = append(at, p.Line)
	}
	return at
}

func checkSum(t *testing.T, c Counts) {
	t.Helper()
	if c.Entries+c.Skipped+c.Blank != c.Lines {
		t.Errorf("counts do not add up: %+v", c)
	}
}

func TestLists(t *testing.T) {
	tests := []struct {
		file              string
		entries, distinct int
		skipped, blank    int
	}{
		{"01_plain.txt", 5, 5, 0, 0},
		{"03_bom_utf8.txt", 5, 5, 0, 0},
		{"05_utf16be_bom.txt", 5, 5, 0, 0},
		{"07_duplicates.txt", 24, 12, 0, 0},
		{"09_schemes.txt", 0, 0, 21, 0},
		{"11_userinfo.txt", 0, 0, 7, 0},
		{"13_percent.txt", 16, 15, 2, 0},
		{"15_terminal_escapes.txt", 3, 3, 13, 0},
		{"17_no_final_newline.txt", 2, 2, 0, 0},
		{"19_mixed_eol.txt", 5, 5, 0, 3},
		{"21_only_comments.txt", 0, 0, 0, 4},
		{"23_many.txt", 5000, 4501, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			res := readFile(t, "lists/"+tt.file)
			if res.err != nil {
				t.Fatal(res.err)
			}
			got := []int{res.counts.Entries, res.distinct(), res.counts.Skipped, res.counts.Blank}
			if want := []int{tt.entries, tt.distinct, tt.skipped, tt.blank}; !reflect.DeepEqual(got, want) {
				t.Errorf("entries, distinct, skipped, blank = %v, want %v; problems %v", got, want, res.problems)
			}
			checkSum(t, res.counts)
			for _, p := range res.problems {
				checkReason(t, p.Why)
			}
		})
	}
}

func TestListDetails(t *testing.T) {
	plain := readFile(t, "lists/01_plain.txt").urls()
	for _, file := range []string{"lists/03_bom_utf8.txt", "lists/05_utf16be_bom.txt"} {
		if got := readFile(t, file).urls(); !reflect.DeepEqual(got, plain) {
			t.Errorf("%s: %q, want %q", file, got, plain)
		}
	}
	for _, e := range readFile(t, "lists/07_duplicates.txt").entries {
		if want := "example.test"; !strings.Contains(e.URL.Host, "www") && !strings.Contains(e.URL.Host, "xn--") && e.URL.Host != want {
			t.Errorf("line %d: host %q, want %q", e.Line, e.URL.Host, want)
		}
	}
	if got := readFile(t, "lists/13_percent.txt").problemLines(); !reflect.DeepEqual(got, []int{2, 3}) {
		t.Errorf("13_percent: problems at lines %v, want 2 and 3", got)
	}
	escapes := readFile(t, "lists/15_terminal_escapes.txt").urls()
	if want := []string{"http://a.test/real", "http://fake.test/", "http://a.test/last-good"}; !reflect.DeepEqual(escapes, want) {
		t.Errorf("15_terminal_escapes: %q, want %q", escapes, want)
	}
}

func TestBinaryIsOneError(t *testing.T) {
	res := readFile(t, "lists/25_binary.bin")
	if !errors.Is(res.err, ErrNotText) || len(res.entries)+len(res.problems) > 0 {
		t.Errorf("25_binary: error %v, %d entries, %d problems; want ErrNotText alone", res.err, len(res.entries), len(res.problems))
	}
	png := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00\x00\x00\x01\x00\x08\x06\x00\x00\x00"
	for _, format := range []Format{Detect, Text, CSV, JSONL, Sitemap} {
		res := readAll(t, "x.txt", strings.NewReader(png), Options{Format: format})
		if !errors.Is(res.err, ErrNotText) || !strings.Contains(res.err.Error(), "image/png") {
			t.Errorf("a picture as %q: %v, want ErrNotText naming image/png", format, res.err)
		}
	}
}

func TestOldEncodingCostsItsLinesOnly(t *testing.T) {
	remark := "# \xcf\xf0\xe8\xec\xe5\xf0 \xf1\xef\xe8\xf1\xea\xe0 \xe0\xe4\xf0\xe5\xf1\xee\xe2\n" // Windows-1251
	res := readAll(t, "x", strings.NewReader(remark+"http://a.test/1\nhttp://a.test/\xef\n"), Options{})
	if res.err != nil || len(res.entries) != 1 || !reflect.DeepEqual(res.problemLines(), []int{3}) {
		t.Errorf("got %q, problems %v, error %v", res.urls(), res.problems, res.err)
	}
}

func TestNULInALineCostsThatLineOnly(t *testing.T) {
	res := readAll(t, "x", strings.NewReader("http://a.test/1\nhttp://a.test/2\x00x\nhttp://a.test/3\n"), Options{})
	if res.err != nil || len(res.entries) != 2 || !reflect.DeepEqual(res.problemLines(), []int{2}) {
		t.Errorf("got %q, problems %v, error %v", res.urls(), res.problems, res.err)
	}
}

func encodeUTF16(s string, bigEndian, bom bool) []byte {
	if bom {
		s = "\ufeff" + s
	}
	var out []byte
	for _, u := range utf16.Encode([]rune(s)) {
		if bigEndian {
			out = append(out, byte(u>>8), byte(u))
		} else {
			out = append(out, byte(u), byte(u>>8))
		}
	}
	return out
}

func TestEncodings(t *testing.T) {
	const list = "http://a.test/é\r\nhttp://b.test/\r\n"
	want := []string{"http://a.test/%C3%A9", "http://b.test/"}
	for name, data := range map[string][]byte{
		"UTF-8":                 []byte(list),
		"UTF-16LE":              encodeUTF16(list, false, true),
		"UTF-16BE":              encodeUTF16(list, true, true),
		"UTF-16LE without mark": encodeUTF16(list, false, false),
		"UTF-16BE without mark": encodeUTF16(list, true, false),
	} {
		t.Run(name, func(t *testing.T) {
			if got := readAll(t, "list", bytes.NewReader(data), Options{}); got.err != nil || !reflect.DeepEqual(got.urls(), want) {
				t.Errorf("%q, %v; want %q", got.urls(), got.err, want)
			}
		})
	}
	for _, bom := range []string{"\xff\xfe\x00\x00", "\x00\x00\xfe\xff"} {
		res := readAll(t, "list", strings.NewReader(bom+"h\x00\x00\x00"), Options{})
		if !errors.Is(res.err, ErrEncoding) || !strings.Contains(res.err.Error(), "UTF-32") {
			t.Errorf("UTF-32: %v, want ErrEncoding by name", res.err)
		}
	}
}

func zip(t testing.TB, data []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestGzip(t *testing.T) {
	list := []byte("\ufeffhttp://a.test/1\nhttp://a.test/2\n")
	once := zip(t, list)
	twice := zip(t, once)
	for name, data := range map[string][]byte{"once": once, "twice": twice, "two members": append(bytes.Clone(once), zip(t, []byte("http://a.test/3"))...)} {
		if res := readAll(t, "list.txt", bytes.NewReader(data), Options{}); res.err != nil || len(res.entries) < 2 || len(res.problems) > 0 {
			t.Errorf("%s: %q, %v, %v", name, res.urls(), res.problems, res.err)
		}
	}
	if res := readAll(t, "list.txt", bytes.NewReader(zip(t, twice)), Options{}); !errors.Is(res.err, ErrNested) {
		t.Errorf("three times: %v, want ErrNested", res.err)
	}
}

func TestGzipCutKeepsWhatCameBefore(t *testing.T) {
	var list bytes.Buffer
	for i := range 20000 {
		fmt.Fprintf(&list, "http://a.test/%d/%x\n", i, i*7919)
	}
	data := zip(t, list.Bytes())
	for name, data := range map[string][]byte{"truncated": data[:len(data)/2], "broken": append(bytes.Clone(data[:len(data)-8]), "damaged!"...)} {
		t.Run(name, func(t *testing.T) {
			res := readAll(t, "list.txt.gz", bytes.NewReader(data), Options{})
			if res.err != nil || len(res.entries) < 1000 || len(res.problems) != 1 || !strings.Contains(res.problems[0].Why, name) {
				t.Fatalf("%d entries, problems %v, error %v", len(res.entries), res.problems, res.err)
			}
			checkSum(t, res.counts)
			for i, e := range res.entries {
				if want := fmt.Sprintf("http://a.test/%d/%x", i, i*7919); e.URL.String != want {
					t.Fatalf("entry %d is %q, which the list does not hold", i, e.URL.String)
				}
			}
		})
	}
}

func TestGzipBombStopsAtTheCap(t *testing.T) {
	bomb := zip(t, bytes.Repeat([]byte("http://a.test/\n"), 100000))
	res := readAll(t, "x.txt", bytes.NewReader(bomb), Options{MaxBytes: 300000})
	if !errors.Is(res.err, ErrTooLarge) || len(res.entries) > 20000 {
		t.Errorf("error %v after %d entries, want ErrTooLarge near 20000", res.err, len(res.entries))
	}
	if res := readAll(t, "x.txt", strings.NewReader(strings.Repeat("http://a.test/\n", 100)), Options{MaxBytes: 30}); res.err != nil {
		t.Errorf("the cap is for what unpacks, yet a plain list gave %v", res.err)
	}
}

func TestLongLineIsOneProblem(t *testing.T) {
	long := "http://a.test/" + strings.Repeat("x", 5000)
	for _, format := range []Format{Text, CSV, JSONL} {
		good := "http://a.test/1"
		if format == JSONL {
			good = `{"url":"http://a.test/1"}`
		}
		for _, end := range []string{"\n", "\r", "\r\n"} {
			res := readAll(t, "x", strings.NewReader(good+end+long+end+good+end+long), Options{Format: format, MaxLine: 1000})
			if res.err != nil || len(res.entries) != 2 || !reflect.DeepEqual(res.problemLines(), []int{2, 4}) {
				t.Errorf("%s with %q: %d entries, problems %v, error %v", format, end, len(res.entries), res.problems, res.err)
			}
			checkSum(t, res.counts)
		}
	}
}

func TestLineEnds(t *testing.T) {
	const list = "http://a.test/1\r\rhttp://a.test/2\n\rhttp://a.test/3\r\nhttp://a.test/4\n\n# c\r\nhttp://a.test/5"
	want := []int{1, 3, 5, 6, 9}
	for name, r := range map[string]io.Reader{
		"at once":     strings.NewReader(list),
		"by byte":     iotest.OneByteReader(strings.NewReader(list)),
		"with EOF":    iotest.DataErrReader(strings.NewReader(list)),
		"half a read": iotest.HalfReader(strings.NewReader(list)),
	} {
		res := readAll(t, "x", r, Options{})
		got := []int{}
		for _, e := range res.entries {
			got = append(got, e.Line)
		}
		if res.err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: lines %v, error %v; want %v", name, got, res.err, want)
		}
		checkSum(t, res.counts)
	}
}

func TestEmptyInputs(t *testing.T) {
	for _, name := range []string{"x", "x.txt", "x.csv", "x.jsonl", "x.xml"} {
		for _, data := range []string{"", "\n", "\ufeff", " \r\n\r\n"} {
			res := readAll(t, name, strings.NewReader(data), Options{})
			if res.err != nil || len(res.entries)+len(res.problems) > 0 {
				t.Errorf("%s of %q: %d entries, problems %v, error %v", name, data, len(res.entries), res.problems, res.err)
			}
		}
	}
}

func TestFormatDetection(t *testing.T) {
	const u = "http://a.test/1"
	tests := []struct {
		name, file, data string
		entries          int
	}{
		{"text without extension", "-", u + "\n" + u + "\n", 2},
		{"text with commas in URLs", "-", u + ",x\n" + u + ",y\n", 2},
		{"table by its header", "-", "id,url\n1," + u + "\n", 1},
		{"table by a header in capitals", "-", "URL\n" + u + "\n", 1},
		{"table by a URL in the second cell", "-", "1;" + u + "\n2;" + u + "\n", 2},
		{"table by quotes", "-", `"` + u + "\",x\n", 1},
		{"tabs", "-", u + "\tx\n", 1},
		{"objects", "-", "\n" + `{"url":"` + u + "\"}\n", 1},
		{"comment before objects", "-", "# c\n" + `{"url":"` + u + "\"}\n", 1},
		{"sitemap", "-", "\n <urlset><url><loc>" + u + "</loc></url></urlset>", 1},
		{"extension under .gz", "urls.csv.gz", "link,url\nx," + u + "\n", 1},
		{"extension in capitals", "URLS.TSV", "url\tx\n" + u + "\t1\n", 1},
		{"web address", "http://h.test/sitemap.xml?x=1.txt", "<urlset><url><loc>" + u + "</loc></url></urlset>", 1},
		{"unknown extension", "urls.dat", "id,url\n1," + u + "\n", 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := readAll(t, tt.file, strings.NewReader(tt.data), Options{})
			if res.err != nil || len(res.entries) != tt.entries || len(res.problems) > 0 {
				t.Errorf("%q, problems %v, error %v", res.urls(), res.problems, res.err)
			}
		})
	}
	res := readAll(t, "x.csv", strings.NewReader(u), Options{Format: "yaml"})
	if res.err == nil || !strings.Contains(res.err.Error(), "yaml") {
		t.Errorf("unknown format: %v", res.err)
	}
}

func TestReadStopsWithTheCallersError(t *testing.T) {
	stop := errors.New("full")
	for _, data := range []string{"http://a.test/1\nhttp://a.test/2\n", "url\nhttp://a.test/1\nhttp://a.test/2\n", "<urlset><url><loc>http://a.test/</loc></url></urlset>"} {
		counts, err := Read(context.Background(), "-", strings.NewReader(data), Options{}, func(Entry) error { return stop }, func(Problem) {})
		if err != stop || counts.Entries != 1 {
			t.Errorf("error %v after %d entries, want the caller's after 1", err, counts.Entries)
		}
	}
}

func TestReadFaults(t *testing.T) {
	broken := errors.New("disk on fire")
	for _, name := range []string{"x.txt", "x.csv", "x.jsonl", "x.xml"} {
		data := "http://a.test/1\nhttp://a.test/2"
		if name == "x.xml" {
			data = "<urlset><url>"
		}
		res := readAll(t, name, io.MultiReader(strings.NewReader(data), iotest.ErrReader(broken)), Options{})
		if !errors.Is(res.err, broken) {
			t.Errorf("%s: %v, want the reader's fault", name, res.err)
		}
		for _, u := range res.urls() {
			if u != "http://a.test/1" {
				t.Errorf("%s: %q may have been cut", name, u)
			}
		}
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(broken)
		_, err := Read(ctx, name, strings.NewReader(data), Options{}, func(Entry) error { return nil }, func(Problem) {})
		if !errors.Is(err, broken) {
			t.Errorf("%s, context ended: %v, want its cause", name, err)
		}
	}
}

// endless is a list of n lines that is made as it is read.
type endless struct {
	n, i int
	rest []byte
}

func (e *endless) Read(p []byte) (int, error) {
	if len(e.rest) == 0 {
		if e.i == e.n {
			return 0, io.EOF
		}
		e.rest = fmt.Appendf(e.rest[:0], "https://host%d.test/catalogue/item-%d?page=%d\n", e.i%5000, e.i, e.i%7)
		e.i++
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// BenchmarkReadMillion reads a list of a million lines; heap-MiB is what lives at its end and must not grow with n.
func BenchmarkReadMillion(b *testing.B) {
	for b.Loop() {
		var peak uint64
		n := 0
		_, err := Read(context.Background(), "-", &endless{n: 1_000_000}, Options{}, func(Entry) error {
			if n++; n%250_000 == 0 {
				var m runtime.MemStats
				runtime.GC()
				runtime.ReadMemStats(&m)
				peak = max(peak, m.HeapAlloc)
			}
			return nil
		}, func(p Problem) { b.Fatal(p) })
		if err != nil || n != 1_000_000 {
			b.Fatal(n, err)
		}
		b.ReportMetric(float64(peak)/(1<<20), "heap-MiB")
	}
}

// BenchmarkFormats reads 10,000 entries of each format.
func BenchmarkFormats(b *testing.B) {
	var csv, jsonl, xml bytes.Buffer
	csv.WriteString("id,url,note\n")
	xml.WriteString("<urlset>\n")
	for i := range 10000 {
		fmt.Fprintf(&csv, "%d,https://host.test/item-%d,\"a note, quoted\"\n", i, i)
		fmt.Fprintf(&jsonl, "{\"url\":\"https://host.test/item-%d\",\"id\":%d,\"note\":\"a note\"}\n", i, i)
		fmt.Fprintf(&xml, "<url><loc>https://host.test/item-%d</loc><lastmod>2026-01-01</lastmod></url>\n", i)
	}
	xml.WriteString("</urlset>")
	for format, data := range map[Format][]byte{CSV: csv.Bytes(), JSONL: jsonl.Bytes(), Sitemap: xml.Bytes()} {
		b.Run(string(format), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				if c, err := Read(context.Background(), "-", bytes.NewReader(data), Options{Format: format}, func(Entry) error { return nil }, func(p Problem) { b.Fatal(p) }); err != nil || c.Entries != 10000 {
					b.Fatal(c, err)
				}
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	for _, glob := range []string{"lists/*.txt", "tables/*", "sitemaps/*"} {
		files, err := filepath.Glob(filepath.Join("testdata", glob))
		if err != nil || len(files) == 0 {
			f.Fatal(files, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			if len(data) < 4096 {
				f.Add(data, uint8(0))
				f.Add(data, uint8(2))
			}
		}
	}
	f.Add([]byte("a,\"b\nurl,\"\"\"x\n\"http://a.test/\" ,\"\n\"\n"), uint8(2))
	formats := []Format{Detect, Text, CSV, JSONL, Sitemap}
	f.Fuzz(func(t *testing.T, data []byte, which uint8) {
		format := formats[int(which)%len(formats)]
		res := readAll(t, "x", bytes.NewReader(data), Options{Format: format, MaxLine: 200, MaxBytes: 1 << 20})
		if res.err != nil {
			checkReason(t, res.err.Error())
		}
		last := 0
		for _, p := range res.problems {
			checkReason(t, p.Why)
			if p.Line < 1 {
				t.Errorf("problem %v has no line", p)
			}
		}
		for _, e := range res.entries {
			if e.Line < last || e.Line < 1 {
				t.Errorf("entry of line %d after one of line %d", e.Line, last)
			}
			last = e.Line
			if again, err := Normalise(e.InputURL); err != nil || again != e.URL {
				t.Errorf("input URL %q gives %v, %v, not %v", e.InputURL, again, err, e.URL)
			}
			if e.Meta != nil && (!json.Valid(e.Meta) || e.Meta[0] != '{') {
				t.Errorf("meta %q is no JSON object", e.Meta)
			}
		}
		if format == Text || format == JSONL || format == Sitemap {
			checkSum(t, res.counts)
		}
	})
}
