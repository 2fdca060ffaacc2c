package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"

	"dev.scrapetop/engine/provider"
	"dev.scrapetop/engine/source"
	"dev.scrapetop/storage"
)

// kitchen is an engine that only takes what it is fed.
type kitchen struct {
	mu      sync.Mutex // guards what follows
	urls    []string
	tasks   []storage.NewTask
	skipped int64
	done    bool
	asked   []string
	pages   map[string]provider.Response
	refuse  error
}

func (k *kitchen) Feed(_ context.Context, tasks []storage.NewTask) (storage.Queued, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.refuse != nil {
		return storage.Queued{}, k.refuse
	}
	for _, task := range tasks {
		k.urls = append(k.urls, task.URL)
	}
	k.tasks = append(k.tasks, tasks...)
	return storage.Queued{Added: int64(len(tasks))}, nil
}

func (k *kitchen) Skip(n int64) { k.mu.Lock(); defer k.mu.Unlock(); k.skipped += n }
func (k *kitchen) FeedDone()    { k.mu.Lock(); defer k.mu.Unlock(); k.done = true }

func (k *kitchen) Lookup(_ context.Context, url string) (provider.Response, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.asked = append(k.asked, url)
	if r, ok := k.pages[url]; ok {
		return r, nil
	}
	return provider.Response{Status: 404}, nil
}

// cook feeds a kitchen with the inputs named.
func cook(t *testing.T, k *kitchen, f *feeder, args ...string) (lines []string) {
	t.Helper()
	a := &app{}
	inputs, err := a.openInputs(t.Context(), args, source.Detect)
	if err != nil {
		t.Fatal(err)
	}
	defer closeInputs(inputs)
	var mu sync.Mutex
	f.inputs = inputs
	f.report = func(l string) { mu.Lock(); defer mu.Unlock(); lines = append(lines, l) }
	if len(inputs) > 0 {
		f.start(t.Context())
		if err := f.wait(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.run(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	if !k.done {
		t.Error("the engine was not told that the input ended")
	}
	return lines
}

func TestInputsAreFedInOrder(t *testing.T) {
	s := newShell(t)
	list := s.file("list.txt", "# mine\nhttps://A.test/1\nnot a url\n\nhttps://b.test/2\n")
	table := s.file("table.csv", "url,tenant,priority,id,note\nhttps://c.test/3,acme,7,x1,hello\n")
	k := &kitchen{}
	lines := cook(t, k, &feeder{tenant: "house"}, list, "https://d.test", table)
	if got := strings.Join(k.urls, " "); got != "https://a.test/1 https://b.test/2 https://d.test/ https://c.test/3" {
		t.Errorf("fed %s", got)
	}
	if k.skipped != 1 || len(lines) != 1 || !strings.HasPrefix(lines[0], list+":3: ") {
		t.Errorf("skipped %d, told %q", k.skipped, lines)
	}
	if first, last := k.tasks[0], k.tasks[3]; first.InputURL != "https://A.test/1" || first.Domain != "a.test" || first.Tenant != "house" ||
		last.Tenant != "acme" || last.Priority != 7 || last.Key != "x1" || !strings.Contains(string(last.Meta), "hello") {
		t.Errorf("first %+v, last %+v", first, last)
	}
}

func TestManyLinesAreFedInBatches(t *testing.T) {
	s := newShell(t)
	var b strings.Builder
	for i := range 12_345 {
		fmt.Fprintf(&b, "https://a.test/%d\n", i)
	}
	k := &kitchen{}
	cook(t, k, &feeder{}, s.file("many.txt", b.String()))
	if len(k.urls) != 12_345 || k.urls[12_344] != "https://a.test/12344" {
		t.Errorf("fed %d, last %s", len(k.urls), k.urls[len(k.urls)-1])
	}
}

func TestResumeReadsOnBehindWhatIsStored(t *testing.T) {
	s := newShell(t)
	list := s.file("list.txt", "https://a.test/1\nbad\nhttps://a.test/2\nworse\nhttps://a.test/3\n")
	k := &kitchen{}
	lines := cook(t, k, &feeder{skip: 2, counted: 1}, list)
	if strings.Join(k.urls, " ") != "https://a.test/3" || k.skipped != 1 || len(lines) != 1 || !strings.Contains(lines[0], ":4:") {
		t.Errorf("fed %v, skipped %d, told %q", k.urls, k.skipped, lines)
	}
}

// TestRefusedLinesAreCountedOnce: each resume counted the refused lines behind the last good one again, and never those
// whose count a kill had lost.
func TestRefusedLinesAreCountedOnce(t *testing.T) {
	s := newShell(t)
	list := s.file("list.txt", "https://a.test/1\nbad\nhttps://a.test/2\nworse\nworst\n")
	for counted, want := range []int64{3, 2, 1, 0} {
		k := &kitchen{}
		lines := cook(t, k, &feeder{skip: 2, counted: int64(counted)}, list)
		if k.skipped != want || int64(len(lines)) != want || len(k.urls) > 0 {
			t.Errorf("%d counted before: fed %v, skipped %d, told %q", counted, k.urls, k.skipped, lines)
		}
	}
}

func TestPipeIsFedBeforeItEnds(t *testing.T) {
	r, w := io.Pipe()
	f := &feeder{inputs: []input{{name: "-"}}, report: func(string) {}}
	f.found, f.stop = make(chan found, batchSize), make(chan struct{})
	go func() {
		err := f.read(t.Context(), "-", r)
		f.send(found{end: true, err: err})
	}()
	// Enough to pass the reader's own buffers, and less than what may wait for the engine.
	if _, err := io.WriteString(w, strings.Repeat("https://a.test/1\n", batchSize/2)); err != nil {
		t.Fatal(err)
	}
	if err := f.wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if f.first == nil || f.first.entry.URL.String != "https://a.test/1" {
		t.Errorf("first is %+v", f.first)
	}
	f.stopReading()
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}

func TestSitemapsAndTheirChildrenAreLookedUp(t *testing.T) {
	s := newShell(t)
	index := s.file("index.xml", `<sitemapindex><sitemap><loc>https://a.test/one.xml</loc></sitemap><sitemap><loc>https://a.test/gone.xml</loc></sitemap></sitemapindex>`)
	k := &kitchen{pages: map[string]provider.Response{
		"https://a.test/one.xml":  {Status: 200, Body: []byte(`<urlset><url><loc>https://a.test/p1</loc></url><url><loc>nope</loc></url></urlset>`)},
		"https://b.test/all.xml":  {Status: 200, Body: []byte(`<sitemapindex><sitemap><loc>https://b.test/x.xml</loc></sitemap><sitemap><loc>https://b.test/all.xml</loc></sitemap></sitemapindex>`)},
		"https://b.test/x.xml":    {Status: 200, Body: []byte(`<urlset><url><loc>https://b.test/p2</loc></url></urlset>`)},
		"https://c.test/page.xml": {Status: 200, Body: []byte(`<!doctype html><html></html>`)},
	}}
	lines := strings.Join(cook(t, k, &feeder{sitemaps: []string{"https://b.test/all.xml", "https://c.test/page.xml"}}, index), "\n")
	if len(k.urls) != 2 || k.skipped != 1 || len(k.asked) != 5 {
		t.Errorf("fed %v, skipped %d, asked %v", k.urls, k.skipped, k.asked)
	}
	for _, want := range []string{"https://a.test/gone.xml: status 404", "https://a.test/one.xml:1: ", "https://c.test/page.xml: an HTML page"} {
		if !strings.Contains(lines, want) {
			t.Errorf("%q does not hold %q", lines, want)
		}
	}
}

func TestTasksThatCannotBeStoredStopTheFeed(t *testing.T) {
	s := newShell(t)
	a := &app{}
	inputs, err := a.openInputs(t.Context(), []string{s.file("l.txt", "https://a.test/\n")}, source.Detect)
	if err != nil {
		t.Fatal(err)
	}
	defer closeInputs(inputs)
	f := &feeder{inputs: inputs, report: func(string) {}}
	f.start(t.Context())
	k := &kitchen{refuse: storage.ErrDiskFull}
	if err := f.run(t.Context(), k); !errors.Is(err, storage.ErrDiskFull) || k.done {
		t.Errorf("got %v; the input is told to have ended: %v", err, k.done)
	}
}

func TestInputsWithoutAGoodLineStartNothing(t *testing.T) {
	tests := []struct{ name, file, text, want, line string }{
		{"empty", "l.txt", "", "is empty", ""},
		{"only comments", "l.txt", "# a\n\n# b\n", "only blank lines and comments", ""},
		{"only bad lines", "l.txt", "ftp://a.test/\nfoo\n", "no good line (2 were refused)", "l.txt:1: "},
		{"binary", "l.bin", "\x00\x01\x02\x03\xff\xfe\x00\x01", "not a text file", ""},
		{"a page as sitemap", "l.xml", "<!doctype html><html></html>", "HTML page", ""},
		{"csv without URLs", "l.csv", "name,size\na,b\n", "no good line", "l.csv:"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newShell(t)
			s.file(tt.file, tt.text)
			s.file("good.txt", "https://a.test/\n")
			got := s.run("run", "good.txt", tt.file)
			if got.code != exitUsage || !strings.Contains(got.err, tt.want) || !strings.Contains(got.err, tt.line) {
				t.Errorf("exit %d, %q", got.code, got.err)
			}
			if _, err := os.Stat(defaultDB); err == nil {
				t.Error("a run was created")
			}
		})
	}
}

func TestSourceErrorsDoNotLeakAPassword(t *testing.T) {
	if got := withoutUser("https://u:hunter2@a.test/x@y"); got != "https://a.test/x@y" {
		t.Errorf("got %q", got)
	}
	if got := withoutUser("https://a.test/x@y"); got != "https://a.test/x@y" {
		t.Errorf("got %q", got)
	}
}

func TestRunNamesAndIdentities(t *testing.T) {
	file := input{name: "/data/urls.txt", mark: inputMark{Path: "/data/urls.txt", Size: 3}}
	web := input{name: "https://a.test/x", url: "https://a.test/x", mark: inputMark{URL: "https://a.test/x"}}
	for _, tt := range []struct {
		inputs   []input
		sitemaps []string
		name, id string
	}{
		{[]input{file}, nil, "urls.txt", "/data/urls.txt"},
		{[]input{web}, nil, "a.test", "https://a.test/x"},
		{[]input{file, web}, []string{"https://s.test/m.xml"}, "urls.txt +2", "/data/urls.txt\nhttps://a.test/x\nsitemap https://s.test/m.xml"},
		{nil, []string{"https://s.test/m.xml"}, "s.test", "sitemap https://s.test/m.xml"},
	} {
		if got := runName(tt.inputs, tt.sitemaps); got != tt.name {
			t.Errorf("name %q, want %q", got, tt.name)
		}
		if got := inputID(marksOf(tt.inputs, tt.sitemaps), clock); got != tt.id {
			t.Errorf("identity %q, want %q", got, tt.id)
		}
	}
	if a, b := inputID([]inputMark{{}}, clock), inputID([]inputMark{{}}, clock.Add(1)); a == b {
		t.Error("two pipes are one input")
	}
	long := make([]inputMark, 100)
	for i := range long {
		long[i].Path = fmt.Sprintf("/a/very/long/path/to/some/list/%d", i)
	}
	if id := inputID(long, clock); len(id) > 100 {
		t.Errorf("identity of %d bytes", len(id))
	}
}
