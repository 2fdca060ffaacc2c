package spidra

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"dev.scrapetop/engine/provider"
)

// verdict is what an item says, short enough for a table.
type verdict struct {
	outcome provider.Outcome
	layer   provider.Layer
	body    string // of its page, with its type after a slash when it is no markdown
	credits float64
}

func verdicts(items []provider.Item) (all []verdict) {
	for _, item := range items {
		v := verdict{item.Outcome, item.Layer, "", item.Credits}
		if item.Page != nil {
			v.body = string(item.Page.Body)
			if kind, _, _ := strings.Cut(item.Page.ContentType, ";"); kind != "text/markdown" {
				v.body += " / " + kind
			}
		}
		all = append(all, v)
	}
	return all
}

func good(body string, credits float64) verdict {
	return verdict{provider.Accepted, "", body, credits}
}

var (
	failed  = verdict{provider.Failed, provider.LayerTarget, "", 0}
	limited = verdict{provider.Limited, provider.LayerTarget, "", 0}
	never   = verdict{provider.Failed, provider.NoLayer, "", 0}
)

func TestScrapes(t *testing.T) {
	ai := Options{Fields: map[string]any{"output": "json", "prompt": "title"}}
	for name, c := range map[string]struct {
		o    Options
		body string
		want verdict
	}{
		"completed":                {Options{}, `{"status":"completed","error":null,"result":{"content":"# Mug","data":[{"url":"` + one + `","markdownContent":"# Mug","success":true}],"ai_extraction_failed":false,"stats":{"captchaSolvedCount":0}}}`, good("# Mug", 1)},
		"with a CAPTCHA":           {Options{}, `{"status":"completed","result":{"content":"x","stats":{"captchaSolvedCount":2}}}`, good("x", 11)},
		"credits that are told":    {Options{}, `{"status":"completed","creditsUsed":2.5,"result":{"content":"x"}}`, good("x", 2.5)},
		"partial":                  {Options{}, `{"status":"partial","result":{"content":"x"}}`, good("x", 1)},
		"no word but a result":     {Options{}, `{"result":{"content":"x"}}`, good("x", 1)},
		"only the URL's own text":  {Options{}, `{"status":"completed","result":{"content":"","data":[{"url":"` + one + `","markdownContent":"own","success":true}]}}`, good("own", 1)},
		"an empty page":            {Options{}, `{"status":"completed","result":{"content":"","data":[{"url":"` + one + `","markdownContent":"","success":true}]}}`, good("", 1)},
		"a page of nothing":        {Options{}, `{"status":"completed","result":{"content":null,"data":[],"stats":{}}}`, failed},
		"no result":                {Options{}, `{"status":"completed","result":null}`, failed},
		"an empty result":          {Options{}, `{"status":"completed","result":{}}`, failed},
		"a result that is text":    {Options{}, `{"status":"completed","result":"# Mug"}`, good("# Mug", 1)},
		"the visit failed":         {Options{}, `{"status":"completed","result":{"content":"","data":[{"url":"` + one + `","success":false,"error":"blocked"}]}}`, failed},
		"the visit was limited":    {Options{}, `{"status":"completed","result":{"content":"","data":[{"url":"` + one + `","success":false,"error":"HTTP 429"}]}}`, limited},
		"failed":                   {Options{}, `{"status":"failed","error":"target blocked the visit","result":null}`, failed},
		"failed, no reason":        {Options{}, `{"status":"failed"}`, failed},
		"failed by a limit":        {Options{}, `{"status":"failed","error":"Target returned Too Many Requests"}`, limited},
		"cancelled":                {Options{}, `{"status":"cancelled"}`, never},
		"cancelled, with a number": {Options{}, `{"status":"cancelled","error":"429 jobs were cancelled"}`, never},
		"structured":               {ai, `{"status":"completed","result":{"content":{"title":"Mug"},"data":[]}}`, good(`{"title":"Mug"} / application/json`, 1)},
		"structured, as text":      {ai, `{"status":"completed","result":{"content":"{\"title\":\"Mug\"}"}}`, good(`{"title":"Mug"} / application/json`, 1)},
		"extraction failed":        {ai, `{"status":"completed","result":{"content":"# Mug","ai_extraction_failed":true}}`, verdict{provider.Invalid, "", "", 1}},
		"extraction not asked for": {Options{}, `{"status":"completed","result":{"content":"# Mug","ai_extraction_failed":true}}`, good("# Mug", 1)},
		"an object, not asked for": {Options{}, `{"status":"completed","result":{"content":{"title":"Mug"}}}`, verdict{provider.Failed, "", "", 0}},
	} {
		t.Run(name, func(t *testing.T) {
			reply := made(t, c.o).Read(call(provider.Poll, "scrape/j-1", one), answer(200, c.body))
			if reply.Outcome != provider.Accepted || reply.Layer != provider.NoLayer || !reflect.DeepEqual(verdicts(reply.Items), []verdict{c.want}) {
				t.Fatalf("%s, %+v, want %+v", reply.Outcome, verdicts(reply.Items), c.want)
			}
			item := reply.Items[0]
			if item.Task != 1 || item.Target.OK || (item.Error == "") != (item.Outcome == provider.Accepted) || reply.Credits != item.Credits || item.Part != "" {
				t.Errorf("%+v", item)
			}
		})
	}
	entry := `{"status":"completed","result":{"content":"x","data":[{"url":"https://other.test/","success":false},{"url":"https://A.test:443/p?x=1&y=2","success":true}]}}`
	item := made(t, Options{}).Read(call(provider.Poll, "scrape/j-1", one), answer(200, entry)).Items[0]
	if item.Outcome != provider.Accepted || item.Page.FinalURL != "https://A.test:443/p?x=1&y=2" || item.Page.Status.OK {
		t.Errorf("the entry of this URL: %+v", item)
	}
}

func TestLogs(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		body string
		want verdict
	}{
		"text":                 {Options{}, `{"status":"success","data":{"uuid":"u","status":"success","credits_used":3,"result_data":"# Mug"}}`, good("# Mug", 3)},
		"a scrape":             {Options{}, `{"status":"success","data":{"status":"success","result_data":{"content":"x","data":[{"url":"` + one + `"}]}}}`, good("x", 1)},
		"extracted":            {Options{Fields: map[string]any{"prompt": "x"}}, `{"data":{"status":"success","result_data":{"title":"Mug"}}}`, good(`{"title":"Mug"} / application/json`, 1)},
		"at the top":           {Options{}, `{"uuid":"u","job_id":"j","kind":"scrape","url":"` + one + `","status":"completed","credits_used":1,"result":"# Mug"}`, good("# Mug", 1)},
		"at the top, failed":   {Options{}, `{"uuid":"u","status":"failed","credits_used":0,"error":"status 429","result":null}`, limited},
		"at the top, a scrape": {Options{}, `{"status":"completed","result":{"content":"x","data":[{"url":"` + one + `"}]}}`, good("x", 1)},
		"a result in data":     {Options{}, `{"status":"success","data":{"status":"completed","result":"# Mug"}}`, good("# Mug", 1)},
		"failed":               {Options{}, `{"data":{"status":"failed","error_message":"429 from the site"}}`, limited},
		"an error":             {Options{}, `{"data":{"status":"error","error_message":"DNS"}}`, failed},
	} {
		reply := made(t, c.o).Read(call(provider.Poll, "log/u", one), answer(200, c.body))
		if !reflect.DeepEqual(verdicts(reply.Items), []verdict{c.want}) {
			t.Errorf("%s: %+v, want %+v", name, verdicts(reply.Items), c.want)
		}
	}
}

func TestBatches(t *testing.T) {
	const a, b = "https://a.test/", "https://b.test/x"
	done := func(url, text string) string {
		return fmt.Sprintf(`{"uuid":"i","url":%q,"jobId":"x","status":"completed","result":%q,"error":null,"creditsUsed":1}`, url, text)
	}
	for name, c := range map[string]struct {
		o     Options
		urls  []string
		state string
		items string
		want  []verdict
	}{
		"all good":                     {Options{}, []string{a, b}, "completed", done(a, "# A") + "," + done(b, "# B"), []verdict{good("# A", 1), good("# B", 1)}},
		"in another order":             {Options{}, []string{a, b}, "completed", done(b, "# B") + "," + done(a, "# A"), []verdict{good("# A", 1), good("# B", 1)}},
		"duplicates by order":          {Options{}, []string{a, a, b}, "completed", done(a, "1") + "," + done(b, "3") + "," + done(a, "2"), []verdict{good("1", 1), good("2", 1), good("3", 1)}},
		"spelled otherwise":            {Options{}, []string{a, "https://b.test/x/?q=%C3%A9"}, "completed", done("HTTPS://B.test:443/x/?q=é", "# B") + "," + done("https://a.test", "# A"), []verdict{good("# A", 1), good("# B", 1)}},
		"slashes keep pages apart":     {Options{}, []string{b, b + "/"}, "completed", done(b+"/", "slash") + "," + done(b, "none"), []verdict{good("none", 1), good("slash", 1)}},
		"no URLs, by place":            {Options{}, []string{a, b}, "completed", `{"status":"completed","result":"1"},{"status":"completed","result":"2"}`, []verdict{good("1", 1), good("2", 1)}},
		"the last one left":            {Options{}, []string{a, b}, "completed", done("https://b.test/moved", "# B") + "," + done(a, "# A"), []verdict{good("# A", 1), good("# B", 1)}},
		"two that cannot be told":      {Options{}, []string{a, b}, "completed", done("https://c.test/", "?") + "," + done("https://d.test/", "?"), []verdict{never, never}},
		"one of a stranger":            {Options{}, []string{a}, "completed", done(a, "# A") + "," + done("https://c.test/", "?"), []verdict{good("# A", 1)}},
		"completed with a failed one":  {Options{}, []string{a, b}, "completed", done(a, "# A") + `,{"url":"` + b + `","status":"failed","result":null,"error":"blocked","creditsUsed":0}`, []verdict{good("# A", 1), failed}},
		"partial, limited":             {Options{}, []string{a, b}, "partial", done(a, "# A") + `,{"url":"` + b + `","status":"failed","error":"status 429"}`, []verdict{good("# A", 1), limited}},
		"partial, missing":             {Options{}, []string{a, b}, "partial", done(a, "# A"), []verdict{good("# A", 1), never}},
		"partial, never ran":           {Options{}, []string{a, b}, "partial", done(a, "# A") + `,{"url":"` + b + `","status":"pending","result":null,"error":null}`, []verdict{good("# A", 1), never}},
		"an error under another word":  {Options{}, []string{a}, "completed", `{"url":"` + a + `","status":"skipped","error":"unreachable"}`, []verdict{failed}},
		"cancelled, half done":         {Options{}, []string{a, b}, "cancelled", done(a, "# A") + `,{"url":"` + b + `","status":"cancelled"}`, []verdict{good("# A", 1), never}},
		"cancelled, one never ran":     {Options{}, []string{a, b}, "cancelled", done(a, "# A") + `,{"url":"` + b + `","status":"pending"}`, []verdict{good("# A", 1), never}},
		"failed whole":                 {Options{}, []string{a, b}, "failed", ``, []verdict{never, never}},
		"failed with a good one":       {Options{}, []string{a, b}, "failed", done(a, "# A"), []verdict{good("# A", 1), never}},
		"an item that is no object":    {Options{}, []string{a, b}, "completed", done(a, "# A") + `,7`, []verdict{good("# A", 1), never}},
		"completed with nothing":       {Options{}, []string{a}, "completed", `{"url":"` + a + `","status":"completed","result":null,"creditsUsed":0}`, []verdict{failed}},
		"an empty page":                {Options{}, []string{a}, "completed", done(a, ""), []verdict{good("", 1)}},
		"a result with the text in it": {Options{}, []string{a}, "completed", `{"url":"` + a + `","status":"completed","result":{"content":"# A","data":[]},"creditsUsed":"2"}`, []verdict{good("# A", 2)}},
		"structured": {Options{Fields: map[string]any{"schema": map[string]any{}}}, []string{a}, "completed",
			`{"url":"` + a + `","status":"completed","result":{"title":"A"},"creditsUsed":3}`, []verdict{good(`{"title":"A"} / application/json`, 3)}},
		"extraction failed": {Options{Fields: map[string]any{"prompt": "x"}}, []string{a}, "completed",
			`{"url":"` + a + `","status":"completed","result":{"content":"# A","ai_extraction_failed":true},"creditsUsed":1}`, []verdict{{provider.Invalid, "", "", 1}}},
	} {
		t.Run(name, func(t *testing.T) {
			cl := call(provider.Poll, "batch/b-1", c.urls...)
			reply := made(t, c.o).Read(cl, answer(200, `{"status":"`+c.state+`","totalUrls":2,"items":[`+c.items+`]}`))
			if reply.Outcome != provider.Accepted || !reflect.DeepEqual(verdicts(reply.Items), c.want) {
				t.Fatalf("%+v, want %+v (%+v)", verdicts(reply.Items), c.want, reply)
			}
			var sum float64
			for i, item := range reply.Items {
				sum += item.Credits
				if item.Task != int64(i+1) || (item.Error == "") != (item.Outcome == provider.Accepted) {
					t.Errorf("%+v", item)
				}
			}
			if reply.Credits != sum {
				t.Errorf("credits %v, want %v", reply.Credits, sum)
			}
		})
	}
}

func TestARunningBatchSettlesNothing(t *testing.T) {
	reply := made(t, Options{}).Read(call(provider.Poll, "batch/b-1", "https://a.test", "https://b.test"), answer(200, `{"status":"running",
		"totalUrls":2,"completedCount":1,"failedCount":0,"createdAt":"2026-01-02T03:04:05Z","finishedAt":null,
		"items":[{"uuid":"i1","url":"https://a.test","jobId":"x","status":"completed","result":"# A","error":null,"creditsUsed":1},
		{"uuid":"i2","url":"https://b.test","jobId":null,"status":"pending","result":null,"error":null,"creditsUsed":0}]}`))
	if reply.Outcome != provider.StillRunning || len(reply.Items) != 0 || reply.Credits != 0 || !reply.Started || reply.Done != 1 {
		t.Errorf("%+v", reply)
	}
}

func TestCrawls(t *testing.T) {
	page := func(url, text string) string {
		return fmt.Sprintf(`{"url":%q,"title":"t","status":"success","data":%q}`, url, text)
	}
	const a, b = "https://a.test/", "https://a.test/b"
	for name, c := range map[string]struct {
		body string
		want []verdict
		part []string
	}{
		"two pages": {`{"status":"completed","result":[` + page(a, "# A") + `,` + page(b, "# B") + `]}`,
			[]verdict{good("# A", 0), good("# B", 0), good("", 2)}, []string{a, b, ""}},
		"credits that are told": {`{"status":"completed","creditsUsed":9,"result":[` + page(a, "# A") + `]}`, []verdict{good("# A", 0), good("", 9)}, []string{a, ""}},
		"a page twice": {`{"status":"completed","result":[` + page(a, "1") + `,` + page(a, "2") + `]}`,
			[]verdict{good("1", 0), good("", 1)}, []string{a, ""}},
		"a page that failed": {`{"status":"completed","result":[` + page(a, "# A") + `,{"url":"` + b + `","status":"failed","data":null,"error_message":"429"}]}`,
			[]verdict{good("# A", 0), good("", 1)}, []string{a, ""}},
		"a page without a URL":      {`{"status":"completed","result":[{"data":"x"}]}`, []verdict{good("x", 0), good("", 1)}, []string{"page-1", ""}},
		"text in another field":     {`{"status":"completed","result":[{"url":"` + a + `","markdown":"# A"}]}`, []verdict{good("# A", 0), good("", 1)}, []string{a, ""}},
		"a link is no text":         {`{"status":"completed","result":[{"url":"` + a + `","markdown":"https://files.test/x?sig=1"}]}`, []verdict{failed}, []string{""}},
		"all pages failed":          {`{"status":"completed","result":[{"url":"` + a + `","status":"failed","error_message":"blocked"}]}`, []verdict{failed}, []string{""}},
		"all pages were limited":    {`{"status":"completed","result":[{"url":"` + a + `","status":"failed","error_message":"Error 429"},{"url":"` + b + `","status":"failed","error_message":"too many requests"}]}`, []verdict{limited}, []string{""}},
		"limited or not":            {`{"status":"completed","result":[{"url":"` + a + `","status":"failed","error_message":"Error 429"},{"url":"` + b + `","status":"failed","error_message":"DNS"}]}`, []verdict{failed}, []string{""}},
		"no page":                   {`{"status":"completed","result":[]}`, []verdict{failed}, []string{""}},
		"no result":                 {`{"status":"completed"}`, []verdict{failed}, []string{""}},
		"failed":                    {`{"status":"failed","error":"robots"}`, []verdict{failed}, []string{""}},
		"failed with a page":        {`{"status":"failed","error":"timeout","result":[` + page(a, "# A") + `]}`, []verdict{good("# A", 0), {provider.Failed, provider.LayerTarget, "", 1}}, []string{a, ""}},
		"cancelled, pages are kept": {`{"status":"cancelled","pages":[` + page(a, "# A") + `]}`, []verdict{good("# A", 0), {provider.Failed, provider.NoLayer, "", 1}}, []string{a, ""}},
		"a page that is no object":  {`{"status":"completed","result":[7,` + page(a, "# A") + `]}`, []verdict{good("# A", 0), good("", 1)}, []string{a, ""}},
	} {
		t.Run(name, func(t *testing.T) {
			cl := call(provider.Poll, "crawl/c-1", a)
			reply := made(t, Options{Crawl: true}).Read(cl, answer(200, c.body))
			if reply.Outcome != provider.Accepted || !reflect.DeepEqual(verdicts(reply.Items), c.want) {
				t.Fatalf("%+v, want %+v", verdicts(reply.Items), c.want)
			}
			check(t, cl, reply)
			for i, item := range reply.Items {
				if item.Task != 1 || item.Part != c.part[i] {
					t.Errorf("%+v", item)
				}
			}
		})
	}
	reply := made(t, Options{Crawl: true}).Read(call(provider.Poll, "crawl/c-1", a), answer(200, `{"status":"running","progress":{"pagesCrawled":3,"maxPages":5},"result":[`+page(a, "x")+`]}`))
	if reply.Outcome != provider.StillRunning || len(reply.Items) != 0 || !reply.Started {
		t.Errorf("%+v", reply)
	}
}

func TestJobsWithoutAKindAreReadByTheirShape(t *testing.T) {
	for body, want := range map[string]int{
		`{"status":"completed","items":[{"url":"` + one + `","status":"completed","result":"x"}]}`: 1,
		`{"status":"completed","result":[{"url":"` + one + `","data":"x"}]}`:                       2,
		`{"status":"completed","result":{"content":"x"}}`:                                          1,
	} {
		reply := made(t, Options{}).Read(call(provider.Poll, "", one), answer(200, body))
		if len(reply.Items) != want || reply.Items[0].Outcome != provider.Accepted {
			t.Errorf("%s: %+v", body, reply)
		}
	}
}

func TestHintsAtALimit(t *testing.T) {
	for text, want := range map[string]bool{
		"HTTP 429": true, "429": true, "Request failed with status code 429.": true, "(429)": true, "error=429,": true, "429 from the site": true,
		"Too Many Requests": true, "TOO_MANY_REQUESTS": true, "too-many-requests": true, "we are being rate limited": true, "Rate limit exceeded": true,
		"":                               false,
		"target blocked the visit":       false,
		"could not load /p":              false,
		"failed: https://a.test/p/429":   false,
		"failed: https://a.test/429 403": false,
		"timed out after 429 ms":         false,
		"timed out after 429ms":          false,
		"got 1,429 bytes":                false,
		"got 429 bytes, expected more":   false,
		"14290":                          false,
		"version 4.429":                  false,
		"429.5 seconds":                  false,
		"after 429 seconds: status 429":  true,
	} {
		if got := hintsAtLimit(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func TestLostSubmits(t *testing.T) {
	const a, b = "https://a.test/", "https://b.test/x"
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, c := range map[string]struct {
		o    Options
		call provider.Call
		body string
		want []provider.Found
		more bool
	}{
		"batches by their number": {Options{}, call(provider.Lookup, "", a, b),
			`{"jobs":[{"uuid":"b-1","status":"running","totalUrls":2,"createdAt":"2026-01-02T03:04:05Z"},{"uuid":"b-0","totalUrls":50,"createdAt":"2026-01-02T03:04:05Z"}],"pagination":{"page":1,"limit":50,"total":51,"totalPages":2}}`,
			[]provider.Found{{Job: "batch/b-1", Created: at}}, true},
		"batches by their URLs": {Options{}, call(provider.Lookup, "", a, b),
			`{"batches":[{"batchId":"b-1","items":[{"url":"` + b + `"},{"url":"https://A.test"}]},{"batchId":"b-2","urls":["` + a + `","https://c.test/"]}]}`,
			[]provider.Found{{Job: "batch/b-1", URLs: []string{b, "https://A.test"}}}, false},
		"a batch that tells nothing": {Options{}, call(provider.Lookup, "", a, b), `{"jobs":[{"uuid":"b-1"}]}`, []provider.Found{{Job: "batch/b-1"}}, false},
		"an entry without an id":     {Options{}, call(provider.Lookup, "", a, b), `{"jobs":[{"totalUrls":2},7]}`, nil, false},
		"none":                       {Options{}, call(provider.Lookup, "", a, b), `{"jobs":[],"pagination":{"totalPages":9}}`, nil, false},
		"what a batch holds": {Options{}, call(provider.Lookup, "batch/b-1", a, b),
			`{"status":"running","createdAt":"2026-01-02T03:04:05Z","items":[{"url":"` + b + `","status":"pending"},{"url":"` + a + `","status":"completed","result":"x"}]}`,
			[]provider.Found{{Job: "batch/b-1", URLs: []string{b, a}, Created: at}}, false},
		"another batch of the same size": {Options{}, call(provider.Lookup, "batch/b-1", a, b), `{"status":"running","items":[{"url":"` + a + `"},{"url":"https://c.test/"}]}`, nil, false},
		"a larger batch":                 {Options{}, call(provider.Lookup, "batch/b-1", a, b), `{"items":[{"url":"` + a + `"},{"url":"` + b + `"},{"url":"https://c.test/"}]}`, nil, false},
		"scrapes in the logs": {Options{}, call(provider.Lookup, "", a),
			`{"status":"success","data":{"logs":[{"uuid":"u-1","urls":[{"url":"` + a + `"}],"status":"in_progress","started_at":"2026-01-02 03:04:05"},{"uuid":"u-2","urls":[{"url":"` + a + `deeper"}]},{"uuid":"u-3"}],"total":120}}`,
			[]provider.Found{{Job: "log/u-1", URLs: []string{a}, Created: at}}, true},
		"scrapes in logs that name one URL": {Options{}, call(provider.Lookup, "", a),
			`{"logs":[{"uuid":"u-1","job_id":"j-1","url":"` + a + `","created_at":"2026-01-02T03:04:05Z"},{"uuid":"u-2","job_id":"j-2","url":"` + b + `"}],"page":1,"limit":50,"total":2}`,
			[]provider.Found{{Job: "log/u-1", URLs: []string{a}, Created: at}}, false},
		"a log that tells its job alone": {Options{}, call(provider.Lookup, "", a), `{"logs":[{"job_id":"j-1","url":"` + a + `"}]}`,
			[]provider.Found{{Job: "scrape/j-1", URLs: []string{a}}}, false},
		"batches in snake case": {Options{}, call(provider.Lookup, "", a, b),
			`{"batches":[{"batch_id":"b-1","total_urls":2,"created_at":"2026-01-02T03:04:05Z"},{"batch_id":"b-0","total_urls":3}],"pagination":{"total_pages":2}}`,
			[]provider.Found{{Job: "batch/b-1", Created: at}}, true},
		"crawls by their job_id": {Options{Crawl: true}, call(provider.Lookup, "", a),
			`{"jobs":[{"job_id":"c-1","base_url":"` + a + `","status":"running","created_at":"2026-01-02T03:04:05Z"},{"job_id":"c-2","base_url":"` + b + `"}],"page":1,"limit":50,"total":2}`,
			[]provider.Found{{Job: "crawl/c-1", URLs: []string{a}, Created: at}}, false},
		"crawls in their history": {Options{Crawl: true}, call(provider.Lookup, "", a),
			`{"jobs":[{"id":"c-1","base_url":"https://a.test","created_at":"2026-01-02T03:04:05.000Z"},{"id":"c-2","base_url":"` + b + `"},{"id":"c-3"}],"total":3,"page":1,"totalPages":1}`,
			[]provider.Found{{Job: "crawl/c-1", URLs: []string{"https://a.test"}, Created: at}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			reply := made(t, c.o).Read(c.call, answer(200, c.body))
			if reply.Outcome != provider.Accepted || !reflect.DeepEqual(reply.Found, c.want) || reply.More != c.more || len(reply.Items) != 0 {
				t.Fatalf("%+v, want %+v, more %v", reply, c.want, c.more)
			}
			for _, f := range reply.Found {
				if _, err := made(t, c.o).Request(call(provider.Poll, f.Job, a, b), key); err != nil {
					t.Errorf("what was found cannot be polled: %v", err)
				}
			}
		})
	}
	for name, c := range map[string]struct {
		call provider.Call
		r    provider.Response
		want provider.Outcome
	}{
		"no list":                  {call(provider.Lookup, "", a), answer(200, `{"data":{}}`), provider.Failed},
		"items that are none":      {call(provider.Lookup, "batch/b-1", a), answer(200, `{"items":7}`), provider.Failed},
		"a batch that is gone":     {call(provider.Lookup, "batch/b-1", a), answer(404, ``), provider.Lost},
		"a list that is not there": {call(provider.Lookup, "", a), answer(404, `{"message":"no such path"}`), provider.Refused},
		"the window is spent":      {call(provider.Lookup, "", a), answer(429, ``), provider.Limited},
		"not reached":              {call(provider.Lookup, "", a), provider.Response{Fault: provider.FaultReset, Sent: true}, provider.Transport},
	} {
		if reply := made(t, Options{}).Read(c.call, c.r); reply.Outcome != c.want || reply.Unknown || len(reply.Found) != 0 {
			t.Errorf("%s: %+v", name, reply)
		}
	}
}
