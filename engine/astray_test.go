package engine

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dev.scrapetop/engine/simulator"
	"dev.scrapetop/storage"
)

// What a run meets first when its base URL or its options are wrong: a stop that loses nothing.

const htmlPage = "<!DOCTYPE html><html><body>Welcome</body></html>"

func says(r *http.Request, status int, kind, body string) (*http.Response, error) {
	return &http.Response{
		StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"Content-Type": {kind}},
		Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)), Request: r,
	}, nil
}

func paidConfigs() map[string]Config {
	return map[string]Config{"evomi": evomiConfig(), "evomi async": evomiAsync(), "spidra": spidraConfig(), "omniscrape": omniConfig()}
}

// inStore gives f a database of its own.
func inStore(t *testing.T, f func(st *storage.Store)) {
	t.Helper()
	st, err := storage.Open(context.Background(), filepath.Join(t.TempDir(), "t.db"), storage.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	f(st)
}

// goOn resumes what a drive left, and waits for its end.
func goOn(t *testing.T, d drive, cfg Config, rt http.RoundTripper) drive {
	t.Helper()
	run, err := d.store.Run(t.Context(), d.run.ID)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Transport, cfg.Seed, cfg.Headless = rt, 2, true
	e, err := New(cfg, d.store, run)
	if err != nil {
		t.Fatal(err)
	}
	e.FeedDone()
	if d.end, err = e.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if d.summary, err = d.store.Summary(t.Context(), run.ID); err != nil {
		t.Fatal(err)
	}
	return d
}

// list is 40 URLs of four domains.
func list() (all []string) {
	for i := range 4 {
		all = append(all, urls(fmt.Sprintf("d%d.test", i), 10)...)
	}
	return all
}

// TestPageAtTheBaseURLKillsNoTask: whoever lives at a wrong base URL answers with a page: a handful of requests, one
// sentence, and resume with the right one finishes all.
func TestPageAtTheBaseURLKillsNoTask(t *testing.T) {
	for name, cfg := range paidConfigs() {
		for _, c := range []struct {
			status     int
			kind, body string
			says       string
		}{
			{404, "text/html", htmlPage, "an HTML page (status 404)"},
			{405, "text/html", htmlPage, "an HTML page (status 405)"},
			{200, "text/html", htmlPage, "an HTML page (status 200)"},
			{301, "text/html", htmlPage, "a redirect (status 301)"},
			{404, "text/plain", "404 page not found", "text that is not JSON (status 404)"},
			{404, "", "", "nothing (status 404)"},
		} {
			t.Run(fmt.Sprint(name, " ", c.says), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					inOurTime()
					w := simulator.New(simulator.Options{})
					inStore(t, func(st *storage.Store) {
						wrong := roundTrip(func(r *http.Request) (*http.Response, error) { return says(r, c.status, c.kind, c.body) })
						d := driveOn(t, st, cfg, wrong, list(), nil)
						if d.end.State != storage.RunFailed || !strings.Contains(d.end.Reason, "the platform answered with "+c.says+": is the base URL right?") {
							t.Fatalf("end %+v", d.end)
						}
						if d.summary.Dead != 0 || d.summary.Pending != 40 || d.summary.Requests > 8 {
							t.Fatalf("summary %+v", d.summary)
						}
						if d = goOn(t, d, cfg, w.RoundTripper()); d.end.State != storage.RunFinished || d.summary.Accepted != 40 {
							t.Fatalf("resumed with the right one: end %+v, summary %+v", d.end, d.summary)
						}
					})
				})
			})
		}
	}
}

// TestPageForAPollLosesNoJob: resumed with a wrong base URL, what was handed over and paid waits at the platform.
func TestPageForAPollLosesNoJob(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := simulator.New(simulator.Options{})
		page := roundTrip(func(r *http.Request) (*http.Response, error) { return says(r, 404, "text/html", htmlPage) })
		lost := roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/batch/") {
				return says(r, 401, "application/json", `{"message":"no key"}`)
			}
			return w.RoundTripper().RoundTrip(r)
		})
		inStore(t, func(st *storage.Store) {
			d := driveOn(t, st, spidraConfig(), lost, list(), nil)
			if d.summary.Remote != 40 {
				t.Fatalf("nothing was handed over: %+v", d.summary)
			}
			if d = goOn(t, d, spidraConfig(), page); d.end.State != storage.RunFailed || d.summary.Remote != 40 || !strings.Contains(d.end.Reason, "base URL") {
				t.Fatalf("end %+v, summary %+v", d.end, d.summary)
			}
			if d = goOn(t, d, spidraConfig(), w.RoundTripper()); d.summary.Accepted != 40 {
				t.Fatalf("end %+v, summary %+v", d.end, d.summary)
			}
		})
	})
}

// TestOnePageInAGoodRunStopsNothing: an edge's page in the middle of a run is a fault like any other, and named.
func TestOnePageInAGoodRunStopsNothing(t *testing.T) {
	for name, cfg := range paidConfigs() {
		for _, status := range []int{200, 404, 502, 503, 504} {
			t.Run(fmt.Sprint(name, " ", status), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					inOurTime()
					w := simulator.New(simulator.Options{})
					var submits atomic.Int64
					cfg := cfg
					cfg.Batch = map[string]int{"spidra": 4}[name]
					rt := roundTrip(func(r *http.Request) (*http.Response, error) {
						if r.Method == http.MethodPost {
							if submits.Add(1) == 8 {
								return says(r, status, "text/html", htmlPage)
							}
						}
						return w.RoundTripper().RoundTrip(r)
					})
					inStore(t, func(st *storage.Store) {
						d := driveOn(t, st, cfg, rt, list(), nil)
						if d.end.State != storage.RunFinished || d.summary.Accepted != 40 || submits.Load() < 9 {
							t.Fatalf("%d submits, end %+v, summary %+v", submits.Load(), d.end, d.summary)
						}
						var out bytes.Buffer
						if _, err := st.Export(t.Context(), &out, storage.ExportSpec{Run: d.run.ID, What: "attempts"}); err != nil {
							t.Fatal(err)
						}
						named := 0
						for line := range strings.Lines(out.String()) {
							if strings.Contains(line, fmt.Sprintf("an HTML page (status %d)", status)) {
								named++
								if !strings.Contains(line, `"outcome":"failed"`) && !strings.Contains(line, `"outcome":"busy"`) {
									t.Errorf("a fault is kept as %s", line)
								}
							}
						}
						if named == 0 {
							t.Errorf("nothing says that it was a page:\n%s", out.String())
						}
					})
				})
			})
		}
	}
}

// TestPageOfABrokenEdgeIsTold: before the first page whoever waits is told what comes instead of it.
func TestPageOfABrokenEdgeIsTold(t *testing.T) {
	for _, status := range []int{502, 503} {
		synctest.Test(t, func(t *testing.T) {
			inOurTime()
			w := simulator.New(simulator.Options{})
			back := time.Now().Add(10 * time.Minute)
			rt := roundTrip(func(r *http.Request) (*http.Response, error) {
				if time.Now().Before(back) {
					return says(r, status, "text/html", htmlPage)
				}
				return w.RoundTripper().RoundTrip(r)
			})
			inStore(t, func(st *storage.Store) {
				d := driveOn(t, st, omniConfig(), rt, list(), nil)
				events, err := st.Events(t.Context(), d.run.ID, 0, 1000)
				if err != nil || d.summary.Accepted+d.summary.Dead != 40 {
					t.Fatalf("%v, %+v", err, d.summary)
				}
				told := 0
				for _, e := range events {
					if e.Level == "warn" && e.Text == fmt.Sprintf("the platform answered with an HTML page (status %d)", status) {
						told++
					}
				}
				if told != 1 {
					t.Errorf("%d: told %d times: %+v", status, told, events)
				}
			})
		})
	}
}

// TestPageInPlaceOfARefusalBlamesNobody: a firewall before the platform knows neither the key nor the money.
func TestPageInPlaceOfARefusalBlamesNobody(t *testing.T) {
	for name, cfg := range paidConfigs() {
		synctest.Test(t, func(t *testing.T) {
			inOurTime()
			rt := roundTrip(func(r *http.Request) (*http.Response, error) { return says(r, 403, "text/html", htmlPage) })
			d := driveRun(t, cfg, rt, list(), nil)
			if d.end.State != storage.RunFailed || !strings.Contains(d.end.Reason, "an HTML page (status 403)") || d.summary.Pending != 40 {
				t.Fatalf("%s: end %+v, summary %+v", name, d.end, d.summary)
			}
			for _, word := range []string{"auth", "quota", "credits", "balance"} {
				if strings.Contains(d.end.Reason, word) {
					t.Errorf("%s: blames %s: %s", name, word, d.end.Reason)
				}
			}
		})
	}
}

// TestWrongOptionKillsNoTask: a field that the platform takes for no task is found out by five of them, or by all of a list that
// is shorter.
func TestWrongOptionKillsNoTask(t *testing.T) {
	for name, cfg := range paidConfigs() {
		for _, n := range []int{1, 3, 40} {
			t.Run(fmt.Sprint(name, " ", n), func(t *testing.T) { wrongOption(t, name, cfg, list()[:n]) })
		}
	}
}

func wrongOption(t *testing.T, name string, cfg Config, urls []string) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := simulator.New(simulator.Options{})
		cfg.Batch = map[string]int{"spidra": 1}[name]
		var submits atomic.Int64
		wrong := roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method != http.MethodPost {
				return w.RoundTripper().RoundTrip(r)
			}
			submits.Add(1)
			return says(r, 422, "application/json", `{"success":false,"error":"VALIDATION_ERROR","message":"unknown field colour"}`)
		})
		inStore(t, func(st *storage.Store) {
			d := driveOn(t, st, cfg, wrong, urls, nil)
			if d.end.State != storage.RunFailed || !strings.Contains(d.end.Reason, "unknown field colour") || !strings.Contains(d.end.Reason, "correct the options and resume") {
				t.Fatalf("end %+v", d.end)
			}
			if d.summary.Dead != 0 || d.summary.Pending != int64(len(urls)) || submits.Load() > 15 {
				t.Fatalf("%d submits, summary %+v", submits.Load(), d.summary)
			}
			if d = goOn(t, d, cfg, w.RoundTripper()); d.summary.Accepted != int64(len(urls)) {
				t.Fatalf("with the right options: end %+v, summary %+v", d.end, d.summary)
			}
		})
	})
}

// TestRefusedURLsDoNotStopARun: once the platform took a submit the options are right, and a list of wrong URLs is the
// list's fault.
func TestRefusedURLsDoNotStopARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		inOurTime()
		w := simulator.New(simulator.Options{})
		rt := roundTrip(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodPost {
				if body, _ := io.ReadAll(r.Body); strings.Contains(string(body), "d3.test") {
					return says(r, 422, "application/json", `{"error":"url is not allowed"}`)
				} else {
					r.Body = io.NopCloser(strings.NewReader(string(body)))
				}
				time.Sleep(time.Millisecond)
			}
			return w.RoundTripper().RoundTrip(r)
		})
		d := driveRun(t, evomiConfig(), rt, append(urls("d0.test", 1), list()...), nil)
		if d.end.State != storage.RunFinished || d.summary.Dead != 10 || d.summary.Accepted != 30 {
			t.Fatalf("end %+v, summary %+v", d.end, d.summary)
		}
	})
}
