package sample

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"dev.scrapetop/storage"
)

// Runs are those of a database, the newest first: the normal run still goes.
func Runs() []storage.Run {
	run := func(id int64, name string, state storage.RunState, started, took int, accepted, requests, refused, dead int64, credits float64) storage.Run {
		return storage.Run{
			ID: id, Name: name, Provider: "direct", State: state, StartedAt: ago(started), Tasks: accepted + dead, Accepted: accepted, Records: accepted, Dead: dead, Attempts: requests,
			Totals: storage.Totals{Requests: requests, Target: refused, Elapsed: time.Duration(took) * time.Second, Credits: credits, Bytes: 300_000 * accepted, MaxInFlight: 48},
		}
	}
	const day = 24 * 3600
	list := []storage.Run{
		run(184, "catalog", storage.RunRunning, 2933, 2933, 31_204, 38_870, 211, 23, 212),
		run(183, "catalog", storage.RunFinished, day+60, 4870, 52_877, 61_204, 1469, 61, 377),
		run(182, "prices", storage.RunFinished, day+45_000, 1324, 18_020, 19_377, 19, 0, 88),
		run(181, "catalog", storage.RunFinished, 2*day+60, 5695, 51_930, 66_012, 3234, 140, 401),
		run(180, "prices", storage.RunFailed, 2*day+45_000, 192, 1204, 2988, 926, 812, 14),
		run(179, "catalog", storage.RunStopped, 3*day+60, 2400, 24_551, 30_190, 905, 33, 180),
		run(178, "prices", storage.RunInterrupted, 3*day+45_000, 1310, 18_004, 19_350, 20, 1, 87.5),
	}
	list[0].Pending, list[0].Tasks = 6185, 37_443
	list[4].Reason = "credential main is stopped: quota: 402, no credits are left"
	list[5].Pending, list[5].Reason = 27_000, "stop requested"
	list[1].Settings = json.RawMessage(`{"flags":{"rate":["20/s"],"domain-max-in-flight":["8"]},"file":null,"inputs":[{"path":"/a"}]}`)
	list[3].Settings = json.RawMessage(`{"flags":{"domain-max-in-flight":["16"]},"file":{"run":{"deadline":"6h"}},"inputs":[{"path":"/b"}]}`)
	return list
}

// Results are those of a run that extracts, the last of a crawl.
func Results() []storage.ResultRow {
	var rows []storage.ResultRow
	for i, title := range []string{"Boot, brown", "Trail shoe 42", "Trail shoe 41", "Sandal"} {
		rows = append(rows, storage.ResultRow{
			Task: 88_100 + int64(i), URL: fmt.Sprintf("https://shop-a.example/c/shoes?item=%d", i), Domain: "shop-a.example", Pages: 1, FinalURL: fmt.Sprintf("https://shop-a.example/p/%d", 4411+i),
			Status: 200, ContentType: "text/html; charset=utf-8", FetchedAt: ago(40 - 10*i), Elapsed: 820 * time.Millisecond, Attempts: 1, Bytes: int64(18_000 + 700*i),
			Fields: fmt.Sprintf(`{"title":%q,"price":%d.9,"links":["/c/shoes","/c/boots"]}`, title, 80+10*i),
		})
	}
	rows[3].Pages, rows[3].Cached, rows[3].Flag, rows[3].Credits = 3, true, "empty", 1.5
	return rows
}

// Page is a result with a body of text.
func Page() *storage.PageRow {
	var b strings.Builder
	b.WriteString("<!doctype html>\n<html>\n\t<head><title>Trail shoe 42</title></head>\r\n\t<body>\n")
	for i := range 60 {
		fmt.Fprintf(&b, "\t\t<p>%d: a shoe for every trail, every weather and every foot; it is light, it grips, it dries over night. 日本語も。</p>\n", i+1)
	}
	b.WriteString("\t</body>\n</html>\n")
	p := &storage.PageRow{ResultRow: Results()[1], Text: true, Body: []byte(b.String()), Headers: map[string]string{
		"content-type": "text/html; charset=utf-8", "server": "shop/2", "date": "Sat, 22 Aug 2026 14:29:30 GMT", "ratelimit-remaining": "412",
	}}
	p.Bytes = int64(b.Len())
	return p
}

// Binary is a page of a crawl with a body that is no text.
func Binary() *storage.PageRow {
	p := Page()
	p.Text, p.Body, p.Page, p.Pages, p.PageName, p.Headers = false, []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00 and so on, \x1b[2J"), 1, 3, "https://shop-a.example/logo.png", nil
	p.Bytes = int64(len(p.Body))
	return p
}

// HostileRuns have text of strangers in every field that can hold any, and numbers at the edge of what their types hold.
func HostileRuns() []storage.Run {
	list := Runs()
	for i := range list {
		r := &list[i]
		r.Name, r.Provider, r.Reason, r.State = "\x1b]0;owned\x07日本語", "\x1b[2J", "\u202e\x9b6n\x00\r\n", "\xff\xfe"
		r.Accepted, r.Tasks, r.Dead, r.Pending = 1<<63-1, 1<<63-1, 1<<63-1, 1<<63-1
		r.Totals.Requests, r.Totals.Target, r.Totals.Rate, r.Totals.Credits, r.Totals.Elapsed = 1<<63-1, 1<<63-1, 1<<63-1, 1e300, 1<<63-1
		r.Settings = json.RawMessage(`{"flags":{"\u001b[2J":["\u001b]0;x\u0007"]}}`)
	}
	list[1].Settings = nil
	return list
}
