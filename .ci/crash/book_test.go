package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"dev.scrapetop/engine/simulator"
)

const (
	page = "http://127.77.9.1:1/p/0"
	fail = "http://127.77.9.1:1/bad/0"
)

// exchange is of the submit in flight.
const exchange = "x-1"

// stage is a run that was killed while it waited for the answer to its one submit, which was made again after the resume.
func stage() (*book, time.Time) {
	began := time.Now().Add(-time.Hour)
	b := newBook(&run{s: subject{base: "/p", collects: true, again: func(simulator.Counters, int64) int64 { return 1 }}, good: []string{page},
		journal: &journal{life: 1, all: []*request{{life: 1, kind: submit, urls: []string{page}, arrived: began}}}})
	return b, began
}

func diskOf(state, reason string) disk {
	d := disk{runs: 1, tasks: map[string]task{page: {id: 7, state: state, reason: reason}}, results: map[string]int{}, submits: map[string]int{}}
	switch state {
	case "accepted":
		d.results[page] = 1
	case "in_flight":
		d.intents = []intent{{exchange: exchange, tasks: []int64{7}}}
	}
	return d
}

// ended is what the file says after the resume, which names the submit that was in flight.
func ended(state, reason string) disk {
	d := diskOf(state, reason)
	d.named = map[string]map[int64]int{exchange: {7: 1}}
	return d
}

// TestKillIsJudged: what a kill may leave passes, and each thing that it must not leave is told.
func TestKillIsJudged(t *testing.T) {
	for name, c := range map[string]struct {
		change func(b *book, d *disk, began time.Time)
		want   string
	}{
		"harmless":            {func(*book, *disk, time.Time) {}, ""},
		"no intent":           {func(_ *book, d *disk, _ time.Time) { *d = diskOf("pending", "") }, "its intent was not there"},
		"no intent in flight": {func(_ *book, d *disk, _ time.Time) { d.intents = nil }, "its intent was not there"},
		"unmarked collect": {func(b *book, d *disk, at time.Time) {
			b.r.journal.all = append(b.r.journal.all, &request{life: 1, kind: poll, job: "j", arrived: at})
			d.jobs = map[string]*remote{"j": {}}
		}, "job j was collected"},
		"marked collect": {func(b *book, d *disk, at time.Time) {
			b.r.journal.all = append(b.r.journal.all, &request{life: 1, kind: poll, job: "j", arrived: at})
			d.jobs = map[string]*remote{"j": {}}
			d.intents = append(d.intents, intent{exchange: "x-2", job: "j"})
		}, ""},
		"no result": {func(_ *book, d *disk, _ time.Time) {
			*d = diskOf("accepted", "")
			d.submits[page] = 1
			delete(d.results, page)
		}, "has 0 results"},
		"two results": {func(_ *book, d *disk, _ time.Time) {
			*d = diskOf("accepted", "")
			d.submits[page] = 1
			d.results[page] = 2
		}, "has 2 results"},
		"early result": {func(_ *book, d *disk, _ time.Time) { d.results[page] = 1 }, "is in_flight and has 1 results"},
		"tries lost":   {func(b *book, _ *disk, _ time.Time) { b.disk.tasks = map[string]task{page: {tries: 1}} }, "had 1 tries"},
		"came back":    {func(b *book, _ *disk, _ time.Time) { b.disk = diskOf("dead", "lost") }, "was dead on disk, now in_flight"},
		"task gone":    {func(b *book, d *disk, _ time.Time) { b.disk = diskOf("pending", ""); b.disk.tasks[fail] = task{} }, "2 tasks were on disk, now 1"},
		"job unknown": {func(b *book, _ *disk, at time.Time) {
			b.r.journal.all = append(b.r.journal.all, &request{life: 1, kind: poll, job: "j", arrived: at})
		}, "job j was polled"},
		"wait forgotten": {func(b *book, _ *disk, at time.Time) { b.r.journal.all = append(b.r.journal.all, refusal(at)) }, "is not on disk"},
		"wait kept": {func(b *book, d *disk, at time.Time) {
			b.r.journal.all = append(b.r.journal.all, refusal(at))
			d.submits[fail] = 1
			d.cooldowns = []cooldown{{scope: "provider", until: at.Add(time.Hour)}}
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b, began := stage()
			d := diskOf("in_flight", "")
			c.change(b, &d, began)
			expect(t, b.killed(d, began.Add(time.Second)), c.want)
		})
	}
}

func refusal(at time.Time) *request {
	return &request{life: 1, kind: submit, urls: []string{fail}, arrived: at, answered: at, status: http.StatusServiceUnavailable, wait: time.Hour}
}

func expect(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
		t.Errorf("judged as %v, want %q", err, want)
	}
}

// TestEndIsJudged: one resubmission of what was in flight at a kill passes, where it is allowed.
func TestEndIsJudged(t *testing.T) {
	twice := simulator.Counters{Sites: map[string]simulator.SiteCounters{"a": {Accepted: 2, Duplicates: 1}}}
	for name, c := range map[string]struct {
		change func(b *book)
		want   string
	}{
		"made again":      {func(*book) {}, ""},
		"not allowed":     {func(b *book) { b.r.never = true }, "1 pages were paid for again, want at most 0"},
		"not in flight":   {func(b *book) { clear(b.exposed) }, "taken 2 times, want at most 1"},
		"three times":     {func(b *book) { b.r.journal.all = append(b.r.journal.all, b.r.journal.all[0]) }, "taken 3 times"},
		"named lost":      {func(b *book) { b.disk = ended("dead", "lost"); b.disk.lost = map[int64]bool{7: true} }, ""},
		"lost in silence": {func(b *book) { b.disk = ended("dead", "lost") }, "no event names it"},
		"lost unseen":     {func(b *book) { b.disk = ended("dead", "lost"); clear(b.exposed) }, "in flight at no kill"},
		"left over":       {func(b *book) { b.disk = ended("pending", "") }, "ended pending"},
		"not named":       {func(b *book) { b.disk = diskOf("accepted", "") }, "0 events name submit x-1"},
		"named twice":     {func(b *book) { b.disk.named[exchange][7]++ }, "2 events name submit x-1"},
		"not searched":    {func(b *book) { b.r.s.finds = true }, "no event says that submit x-1 was searched for"},
		"searched":        {func(b *book) { b.r.s.finds, b.disk.searched = true, map[int64]bool{7: true} }, ""},
		"inside a wait":   {func(b *book) { b.r.journal.all[0] = refusal(b.r.journal.all[0].arrived) }, "after a wait of 1h0m0s was told in life 1"},
		"wait not known": {func(b *book) {
			w := refusal(b.r.journal.all[0].arrived)
			b.r.journal.all[0], b.unknown[w] = w, true
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			b, began := stage()
			expect(t, b.killed(diskOf("in_flight", ""), began.Add(time.Second)), "")
			b.r.journal.all = append(b.r.journal.all, &request{life: 2, kind: submit, urls: []string{page}, arrived: began.Add(time.Minute), status: http.StatusOK})
			b.disk = ended("accepted", "")
			c.change(b)
			expect(t, b.end(twice), c.want)
		})
	}
}

// TestCutExportIsTold: a file is whole when it has every record, to the last line's end.
func TestCutExportIsTold(t *testing.T) {
	for text, want := range map[string]string{"{}\n{}\n": "", "{}\n{": "line 2", "{}\n{}": "line 2", "{}\n": "1 of 2", "": "0 of 2"} {
		expect(t, wholeExport([]byte(text), 2), want)
	}
}

// TestMissedPhaseIsTold: kills that never met a commit say nothing of commits.
func TestMissedPhaseIsTold(t *testing.T) {
	all := row{kills: 50, cut: 1, waits: 1, dropped: 1, torn: 1, at: phases{start: 1, migration: 1, submit: 1, poll: 1, commit: 1}}
	none := all
	none.at.commit, none.at.poll = 0, 0
	expect(t, all.phasesHit(subject{polls: 1}), "")
	expect(t, none.phasesHit(subject{polls: 1}), "met no commit, no poll")
}

// TestRequestsAreRead: what each provider asks is told apart.
func TestRequestsAreRead(t *testing.T) {
	for ask, want := range map[string]request{
		"POST /evomi/api/v1/scraper/realtime {\"url\":\"http://a/\"}":            {kind: submit, urls: []string{"http://a/"}},
		"GET /evomi/api/v1/scraper/tasks/t1":                                     {kind: poll, job: "t1"},
		"GET /evomi/api/v1/scraper/health":                                       {kind: lookup},
		"POST /spidra/api/scrape {\"urls\":[{\"url\":\"http://a/\"}]}":           {kind: submit, urls: []string{"http://a/"}},
		"POST /spidra/api/batch/scrape {\"urls\":[\"http://a/\",\"http://b/\"]}": {kind: submit, urls: []string{"http://a/", "http://b/"}},
		"GET /spidra/api/batch/scrape/b-1":                                       {kind: poll, job: "b-1"},
		"GET /spidra/api/batch/scrape?page=1":                                    {kind: lookup},
		"GET /omniscrape/v1/jobs/7":                                              {kind: poll, job: "7"},
	} {
		method, rest, _ := strings.Cut(ask, " ")
		path, body, _ := strings.Cut(rest, " ")
		hr, err := http.NewRequest(method, "http://127.0.0.1:1"+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := asked(hr, []byte(body), false); got.kind != want.kind || got.job != want.job || strings.Join(got.urls, " ") != strings.Join(want.urls, " ") {
			t.Errorf("%s is read as %+v", ask, got)
		}
	}
}

// TestSyncedWritesOutliveTheCut: what a sync followed is kept, whatever the disk makes of the rest; a sync that had not ended
// keeps nothing, and one keeps only what came before it began.
func TestSyncedWritesOutliveTheCut(t *testing.T) {
	hexed := func(text string) string {
		out := ""
		for _, c := range []byte(text) {
			out += fmt.Sprintf(`\x%02x`, c)
		}
		return out
	}
	file, log := hexed("/d/crash.db"), hexed("/d/crash.db-wal")
	trace := strings.NewReplacer("FILE", file, "LOG", log, "AAAA", hexed("AAAA"), "BBBB", hexed("BBBB"), "CCCC", hexed("CCCC"), "DDDD", hexed("DDDD")).Replace(
		`7  pwrite64(3<LOG>, "AAAA", 4, 0) = 4
7  fsync(3<LOG> <unfinished ...>
8  pwrite64(4<LOG>, "BBBB", 4, 4 <unfinished ...>
7  <... fsync resumed>) = 0 (DELAYED)
8  <... pwrite64 resumed>) = 4
7  pwrite64(5<FILE>, "CCCC", 4, 0) = 4
7  ftruncate(5<FILE>, 2) = 0
7  fsync(5<FILE>) = 0
7  pwrite64(5<FILE>, "DDDD", 4, 2) = 4
7  unlink("LOG") = 0
7  fsync(5<FILE> <unfinished ...>
8  ???( <unfinished ...>
7  +++ killed by SIGKILL +++
`)
	seen := map[string]bool{}
	for seed := range uint64(200) {
		d := disks{"": {}, "-wal": {}}
		if err := d.replay([]byte(trace)); err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(seed, 0))
		for _, end := range parts {
			d[end].lose(rng)
		}
		f, l := string(d[""].kept), string(d["-wal"].kept)
		if !strings.HasPrefix(f, "CC") || d["-wal"].kept != nil && !strings.HasPrefix(l, "AAAA") {
			t.Fatalf("the file is %q and the log %q", f, l)
		}
		seen[f], seen[l] = true, true
	}
	for _, want := range []string{"CC", "CCDDDD", "CCD", "", "AAAA", "AAAABBBB"} {
		if !seen[want] {
			t.Errorf("never %q: %v", want, seen)
		}
	}
	if err := (disks{"": {}, "-wal": {}}).replay([]byte("7 pwritev(3, 4) = 4\n")); err == nil {
		t.Error("a call that is not understood was passed over")
	}
}
