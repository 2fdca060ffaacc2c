package spidra

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func answerFrom(t *testing.T, file string) provider.Response {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", file+".http"))
	if err != nil {
		t.Fatal(err)
	}
	raw = bytes.ReplaceAll(raw, []byte("@@EPOCH+700@@"), strconv.AppendInt(nil, noon.Unix()+700, 10))
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return provider.Response{Status: resp.StatusCode, Header: resp.Header, Body: body, Received: noon, Sent: true}
}

func answer(status int, body string) provider.Response {
	return provider.Response{Status: status, Header: http.Header{}, Body: []byte(body), Received: noon, Sent: true}
}

// told is what a reply says of the call, short enough for a table.
type told struct {
	outcome provider.Outcome
	layer   provider.Layer
	wait    time.Duration // -1: none
}

func tell(r provider.Reply) told {
	out := told{r.Outcome, r.Layer, -1}
	if r.Signal.Wait.OK {
		out.wait = r.Signal.Wait.V
	}
	return out
}

func TestReadsAnswers(t *testing.T) {
	busy := func(wait time.Duration) told { return told{provider.Busy, provider.LayerCapacity, wait} }
	failed := told{provider.Failed, provider.NoLayer, -1}
	for file, want := range map[string]struct {
		told
		unknown bool
		why     string
	}{
		"208_body_array":           {failed, true, "not an object"},
		"210_body_empty":           {failed, true, "empty"},
		"212_deep":                 {failed, true, "max depth"},
		"214_nan":                  {failed, true, "not JSON"},
		"216_truncated":            {failed, true, "unexpected end"},
		"220_pending_jobs_429":     {told{provider.Limited, provider.LayerPending, -1}, false, "too many pending jobs"},
		"222_busy_retry_string":    {busy(6 * time.Second), false, "at capacity"},
		"224_busy_retry_negative":  {busy(-1), false, "at capacity"},
		"226_busy_retry_huge":      {busy(limits.MaxWait), false, "at capacity"},
		"228_busy_retry_bool":      {busy(-1), false, "at capacity"},
		"230_busy_retry_zero":      {busy(0), false, "at capacity"},
		"232_busy_header_and_body": {busy(8 * time.Second), false, "at capacity"},
		"126_503_no_hint":          {busy(-1), false, "503"},
	} {
		t.Run(file, func(t *testing.T) {
			for _, c := range []provider.Call{submit(one), probe(submit(one, one))} {
				reply := made(t, Options{}).Read(c, answerFrom(t, file))
				if tell(reply) != want.told || reply.Unknown != want.unknown || len(reply.Items) != 0 || reply.Job != "" {
					t.Errorf("%+v, unknown %v, want %+v, %v", tell(reply), reply.Unknown, want.told, want.unknown)
				}
				if !strings.Contains(reply.Error, want.why) {
					t.Errorf("reason %q, want one with %q", reply.Error, want.why)
				}
			}
		})
	}
}

func TestPendingJobsLeaveTheWindowAlone(t *testing.T) {
	s := made(t, Options{}).Read(submit(one), answerFrom(t, "220_pending_jobs_429")).Signal
	if s.Wait.OK || s.Remaining != limits.Some(int64(254)) || s.Reset != limits.Some(700*time.Second) || s.Exhausted() {
		t.Errorf("the window still has room: %+v", s)
	}
	r := answerFrom(t, "220_pending_jobs_429")
	r.Header.Set("Ratelimit-Remaining", "0")
	s = made(t, Options{}).Read(submit(one), r).Signal
	if s.Wait.OK || s.WaitSource != "" || !s.Exhausted() {
		t.Errorf("an empty window is told, but is not the queue's wait: %+v", s)
	}
	r.Header.Set("Retry-After", "12")
	if s = made(t, Options{}).Read(submit(one), r).Signal; s.Wait != limits.Some(12*time.Second) {
		t.Errorf("a wait of its own counts: %+v", s)
	}
}

func TestRefusals(t *testing.T) {
	failed := told{provider.Failed, provider.NoLayer, -1}
	refused := told{provider.Refused, provider.NoLayer, -1}
	auth, quota := told{provider.Denied, provider.LayerAuth, -1}, told{provider.Denied, provider.LayerQuota, -1}
	pending := `{"status":"error","message":"You have too many pending scrape jobs.","code":"TOO_MANY_PENDING_JOBS"}`
	for name, c := range map[string]struct {
		r       provider.Response
		want    told
		unknown bool
		why     string
	}{
		"400":                       {answer(400, `{"status":"error","message":"malformed"}`), refused, false, "malformed"},
		"422, a list":               {answer(422, `{"errors":["urls is empty","bad scheme"]}`), refused, false, "urls is empty; bad scheme"},
		"422, objects":              {answer(422, `{"errors":[{"message":"bad schema"}]}`), refused, false, "bad schema"},
		"422, an older field":       {answer(422, `{"error":"bad schema"}`), refused, false, "bad schema"},
		"401":                       {answer(401, `{"message":"no key"}`), auth, false, "no key"},
		"402":                       {answer(402, `{"code":"PAYMENT_OVERDUE","message":"pay"}`), quota, false, "pay"},
		"403, a key":                {answer(403, `{"message":"Invalid token or API key"}`), auth, false, "Invalid token"},
		"403, credits":              {answer(403, `{"message":"Monthly credits used up"}`), quota, false, "credits"},
		"403, credits of a key":     {answer(403, `{"message":"This API key has no credits left"}`), quota, false, "credits"},
		"403, nothing said":         {answer(403, ``), quota, false, "403"},
		"404 of a path":             {answer(404, `{"message":"no such path"}`), refused, false, "404"},
		"429":                       {answer(429, `{"status":"error","message":"Too many requests, please try again later."}`), told{provider.Limited, provider.LayerRate, -1}, false, "Too many requests"},
		"429, plain text":           {answer(429, `slow down`), told{provider.Limited, provider.LayerRate, -1}, false, "429"},
		"429, pending":              {answer(429, pending), told{provider.Limited, provider.LayerPending, -1}, false, "pending"},
		"429, pending, no code":     {answer(429, `{"message":"You have too many pending scrape jobs."}`), told{provider.Limited, provider.LayerPending, -1}, false, "pending"},
		"429, pending, cut off":     {provider.Response{Status: 429, Body: []byte(pending[:len(pending)-1]), Fault: provider.FaultTruncated, Sent: true, Received: noon}, told{provider.Limited, provider.LayerPending, -1}, false, "429"},
		"429, another code":         {answer(429, `{"code":"NEW","message":"too many pending"}`), told{provider.Limited, provider.LayerRate, -1}, false, "429"},
		"503":                       {answer(503, `{"code":"SERVICE_BUSY","retry_after":60}`), told{provider.Busy, provider.LayerCapacity, time.Minute}, false, "503"},
		"busy by another status":    {answer(500, `{"code":"SERVICE_BUSY","retry_after":60}`), told{provider.Busy, provider.LayerCapacity, time.Minute}, false, "500"},
		"500":                       {answer(500, ``), failed, true, "500"},
		"502":                       {answer(502, `<html>`), failed, true, "502"},
		"504":                       {answer(504, ``), failed, true, "504"},
		"a conflict with ourselves": {answer(409, `{"message":"duplicate"}`), failed, true, "duplicate"},
		"a redirect":                {answer(302, ``), failed, true, "302"},
		"reset after sending":       {provider.Response{Fault: provider.FaultReset, Sent: true, Error: "connection reset"}, told{provider.Transport, provider.LayerTransport, -1}, true, "reset: connection reset"},
		"not connected":             {provider.Response{Fault: provider.FaultConnect}, told{provider.Transport, provider.LayerTransport, -1}, false, "connect"},
		"202 cut off":               {provider.Response{Status: 202, Fault: provider.FaultTruncated, Sent: true}, told{provider.Transport, provider.LayerTransport, -1}, true, "truncated"},
		"202 without an id":         {answer(202, `{"status":"queued"}`), failed, true, "no job id"},
		"202 with an odd id":        {answer(202, `{"status":"queued","jobId":".."}`), failed, true, "no job id"},
		"200 that reports an error": {answer(200, `{"status":"error","message":"no"}`), failed, false, "no"},
		"520 with a wait": {provider.Response{Status: 520, Header: http.Header{"Retry-After": {"60"}}, Received: noon},
			told{provider.Failed, provider.NoLayer, time.Minute}, true, "520"},
		"503 with a date": {provider.Response{Status: 503, Header: http.Header{"Retry-After": {"Wed, 01 Jul 2026 12:00:30 GMT"}}, Received: noon},
			told{provider.Busy, provider.LayerCapacity, 30 * time.Second}, false, "503"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, call := range []provider.Call{submit(one), probe(submit(one))} {
				reply := made(t, Options{}).Read(call, c.r)
				if tell(reply) != c.want || reply.Unknown != c.unknown || len(reply.Items) != 0 || reply.Split {
					t.Fatalf("%+v, unknown %v, want %+v, %v", tell(reply), reply.Unknown, c.want, c.unknown)
				}
				if !strings.Contains(reply.Error, c.why) {
					t.Errorf("reason %q, want one with %q", reply.Error, c.why)
				}
			}
		})
	}
}

func TestARefusedBatchIsSplit(t *testing.T) {
	reply := made(t, Options{}).Read(submit(one, "http://10.0.0.1/"), answer(422, `{"errors":["private address"]}`))
	if reply.Outcome != provider.Refused || !reply.Split || len(reply.Items) != 0 {
		t.Errorf("%+v", reply)
	}
	if reply = made(t, Options{}).Read(submit(one, one), answer(403, ``)); reply.Split {
		t.Errorf("the key's fault is nobody's in the batch: %+v", reply)
	}
}

func TestHandOvers(t *testing.T) {
	located := answer(202, `{"status":"queued","batch`)
	located.Header.Set("Location", "/api/batch/scrape/b-1")
	broken := located
	broken.Fault = provider.FaultTruncated
	for name, c := range map[string]struct {
		o    Options
		call provider.Call
		r    provider.Response
		want string
	}{
		"a scrape":               {Options{}, submit(one), answer(202, `{"status":"queued","jobId":"j-1"}`), "scrape/j-1"},
		"a scrape as 200":        {Options{}, submit(one), answer(200, `{"jobId":"j-1"}`), "scrape/j-1"},
		"a batch":                {Options{}, submit(one, one), answer(202, `{"status":"queued","batchId":"b-1","total":2}`), "batch/b-1"},
		"a batch of one":         {Options{}, submit(one), answer(202, `{"status":"queued","batchId":"b-1","total":1}`), "batch/b-1"},
		"a batch as a job":       {Options{}, submit(one, one), answer(202, `{"status":"queued","jobId":"b-1"}`), "batch/b-1"},
		"a crawl":                {Options{Crawl: true}, submit(one), answer(202, `{"status":"queued","jobId":"c-1"}`), "crawl/c-1"},
		"an id that is a number": {Options{}, submit(one), answer(202, `{"jobId":4711}`), "scrape/4711"},
		"a word we do not know":  {Options{}, submit(one), answer(202, `{"status":"warming","jobId":"j-1"}`), "scrape/j-1"},
		"an unreadable body":     {Options{}, submit(one, one), located, "batch/b-1"},
		"a body that broke off":  {Options{}, submit(one, one), broken, "batch/b-1"},
	} {
		t.Run(name, func(t *testing.T) {
			reply := made(t, c.o).Read(c.call, c.r)
			if reply.Outcome != provider.AcceptedRemote || reply.Job != c.want || len(reply.Items) != 0 || reply.Unknown || reply.Credits != 0 {
				t.Fatalf("%+v", reply)
			}
		})
	}
	located.Header.Set("Location", "https://elsewhere.test/login")
	if reply := made(t, Options{}).Read(submit(one, one), located); reply.Outcome != provider.Failed || !reply.Unknown {
		t.Errorf("a Location that is no batch: %+v", reply)
	}
	r := answer(202, `{"jobId":"j-1"}`)
	r.Header.Set("Retry-After", "999")
	if reply := made(t, Options{}).Read(submit(one), r); reply.PollAfter != time.Minute {
		t.Errorf("%+v", reply)
	}
}

func TestPollsThatSettleNothing(t *testing.T) {
	for name, c := range map[string]struct {
		job    string
		status int
		body   string
		want   told
	}{
		"gone":                        {"scrape/j", 404, `{"message":"not found"}`, told{provider.Lost, "", -1}},
		"a batch that is gone":        {"batch/b", 410, ``, told{provider.Lost, "", -1}},
		"not JSON":                    {"scrape/j", 200, `<html>`, told{provider.Failed, "", -1}},
		"an error as 200":             {"batch/b", 200, `{"status":"error","message":"try later"}`, told{provider.Failed, "", -1}},
		"the window is spent":         {"batch/b", 429, `{"message":"Too many requests"}`, told{provider.Limited, provider.LayerRate, -1}},
		"full, on a poll":             {"batch/b", 503, ``, told{provider.Busy, provider.LayerCapacity, -1}},
		"401":                         {"batch/b", 401, ``, told{provider.Denied, provider.LayerAuth, -1}},
		"502":                         {"batch/b", 502, ``, told{provider.Failed, "", -1}},
		"items that are no list":      {"batch/b", 200, `{"status":"completed","items":{}}`, told{provider.Failed, "", -1}},
		"a finished batch, no items":  {"batch/b", 200, `{"status":"completed","completedCount":1}`, told{provider.Failed, "", -1}},
		"a crawl that is no list":     {"crawl/c", 200, `{"status":"completed","result":{"a":1}}`, told{provider.Failed, "", -1}},
		"a log without data":          {"log/u", 200, `{"status":"success"}`, told{provider.Failed, "", -1}},
		"queued":                      {"scrape/j", 200, `{"status":"queued"}`, told{provider.StillRunning, "", -1}},
		"delayed":                     {"crawl/c", 200, `{"status":"delayed"}`, told{provider.StillRunning, "", -1}},
		"a word that we do not know":  {"scrape/j", 200, `{"status":"warming"}`, told{provider.StillRunning, "", -1}},
		"no word at all":              {"scrape/j", 200, `{}`, told{provider.StillRunning, "", -1}},
		"an unknown word for a batch": {"batch/b", 200, `{"status":"paused","items":[]}`, told{provider.StillRunning, "", -1}},
		"a log of a scrape under way": {"log/u", 200, `{"data":{"status":"in_progress"}}`, told{provider.StillRunning, "", -1}},
		"a cancelled batch, still busy": {"batch/b", 200, `{"status":"cancelled","items":[{"url":"` + one + `","status":"running"}]}`,
			told{provider.StillRunning, "", -1}},
	} {
		t.Run(name, func(t *testing.T) {
			reply := made(t, Options{}).Read(call(provider.Poll, c.job, one), answer(c.status, c.body))
			if tell(reply) != c.want || reply.Unknown || len(reply.Items) != 0 || reply.Credits != 0 {
				t.Fatalf("%+v, want %+v", reply, c.want)
			}
		})
	}
}

func TestStartedJobs(t *testing.T) {
	for body, want := range map[string]bool{
		`{"status":"waiting"}`: false, `{"status":"active"}`: true, `{"status":"running","items":[]}`: true,
		`{"status":"pending","items":[{"status":"running"}]}`: true, `{"status":"pending","items":[{"status":"pending"}]}`: false,
		`{"status":"warming"}`: false,
	} {
		job := "scrape/j"
		if strings.Contains(body, "items") {
			job = "batch/b"
		}
		if reply := made(t, Options{}).Read(call(provider.Poll, job, one), answer(200, body)); reply.Outcome != provider.StillRunning || reply.Started != want {
			t.Errorf("%s: %+v", body, reply)
		}
	}
}

func TestTooLargeResults(t *testing.T) {
	r := provider.Response{Status: 200, Fault: provider.FaultTooLarge, Sent: true}
	reply := made(t, Options{}).Read(call(provider.Poll, "scrape/j", one), r)
	if reply.Outcome != provider.TooLarge || len(reply.Items) != 1 || reply.Items[0].Outcome != provider.TooLarge || reply.Split {
		t.Errorf("%+v", reply)
	}
	reply = made(t, Options{}).Read(call(provider.Poll, "batch/b", one, one), r)
	if reply.Outcome != provider.TooLarge || len(reply.Items) != 0 || !reply.Split {
		t.Errorf("nothing tells which page it was: %+v", reply)
	}
	if reply = made(t, Options{}).Read(submit(one), r); reply.Outcome != provider.Failed || !reply.Unknown {
		t.Errorf("a submit: %+v", reply)
	}
}

func TestManyStrangersAreFewNotes(t *testing.T) {
	body := `{"status":"completed","items":[` + strings.Repeat(`{"url":"https://x.test/"},`, 500) + `7]}`
	if reply := made(t, Options{}).Read(call(provider.Poll, "batch/b", one), answer(200, body)); len(reply.Notes) != 12 || len(reply.Items) != 1 {
		t.Errorf("%d notes, %d items", len(reply.Notes), len(reply.Items))
	}
}

func TestHealth(t *testing.T) {
	r := answer(200, `{"data":[]}`)
	r.Header = http.Header{"Ratelimit-Limit": {"300"}, "Ratelimit-Remaining": {"12"}, "Ratelimit-Reset": {"60"}}
	reply := made(t, Options{}).Read(call(provider.Lookup, ""), r)
	if reply.Outcome != provider.Accepted || reply.Signal.Remaining != limits.Some(int64(12)) || len(reply.Found) != 0 {
		t.Errorf("%+v", reply)
	}
}

func TestErrorsAreOneShortLine(t *testing.T) {
	long := `a\nb\u001b[31m` + strings.Repeat("x", 5000)
	for _, reply := range []provider.Reply{
		made(t, Options{}).Read(submit(one), answer(400, `{"message":"`+long+`"}`)),
		made(t, Options{}).Read(call(provider.Poll, "scrape/j", one), answer(200, `{"status":"failed","error":"`+long+`"}`)),
		made(t, Options{}).Read(call(provider.Poll, "scrape/j", one), answer(200, `{"status":"`+long+`"}`)),
	} {
		texts := append([]string{reply.Error}, reply.Notes...)
		for _, item := range reply.Items {
			texts = append(texts, item.Error)
		}
		for _, text := range texts {
			if strings.ContainsAny(text, "\n\x1b") || len(text) > 300 {
				t.Errorf("%q", text)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(200, `{"status":"completed","result":{"content":"# Mug","data":[{"url":"https://a.test/","success":true}],"stats":{"captchaSolvedCount":1}}}`, "", "", uint8(0))
	f.Add(200, `{"status":"partial","items":[{"url":"https://A.test:443/x","status":"completed","result":{"content":"x"},"creditsUsed":"2"},{"status":"failed","error":"429"}]}`, "2", "", uint8(1))
	f.Add(200, `{"status":"completed","result":[{"url":"https://a.test/","data":"x"},{"url":"https://a.test/","data":{"a":1}},7]}`, "", "", uint8(2))
	f.Add(200, `{"jobs":[{"uuid":"b","totalUrls":2,"createdAt":"2026-01-02T03:04:05Z"}],"pagination":{"totalPages":2}}`, "", "", uint8(3))
	f.Add(200, `{"data":{"logs":[{"uuid":"b","urls":[{"url":"https://a.test/x"}]}],"total":51,"status":"success","result_data":[]}}`, "", "", uint8(4))
	f.Add(429, `{"code":"TOO_MANY_PENDING_JOBS"}`, "-1", "truncated", uint8(5))
	f.Add(202, `{"batchId":1e9}`, "/batch/scrape/b-1", "too_large", uint8(200))
	providers := []provider.Provider{
		made(f, Options{}), made(f, Options{Crawl: true}), made(f, Options{Batch: 1, Fields: map[string]any{"output": "json"}}),
	}
	const a, b = "https://a.test/x", "https://a.test/x/"
	calls := []provider.Call{
		submit(a), submit(a, b), probe(submit(b)), call(provider.Lookup, ""), call(provider.Lookup, "", a), call(provider.Lookup, "", a, b),
		call(provider.Lookup, "batch/b", a, b), call(provider.Poll, "scrape/j", a), call(provider.Poll, "batch/b", a, b, a),
		call(provider.Poll, "crawl/c", a), call(provider.Poll, "log/u", a), call(provider.Poll, "odd", a),
	}
	f.Fuzz(func(t *testing.T, status int, body, header, fault string, which uint8) {
		p := providers[int(which)%len(providers)]
		r := provider.Response{
			Status: status, Body: []byte(body), Received: noon, Fault: provider.Fault(fault), Sent: which > 100,
			Header: http.Header{"Retry-After": {header}, "Location": {header}, "Ratelimit-Reset": {header}},
		}
		for _, c := range calls {
			reply := p.Read(c, r)
			check(t, c, reply)
			if !reflect.DeepEqual(reply, p.Read(c, r)) {
				t.Fatal("two readings differ")
			}
		}
	})
}

// check holds what every reply promises.
func check(t *testing.T, c provider.Call, reply provider.Reply) {
	t.Helper()
	if reply.Outcome == "" || reply.Credits < 0 || reply.PollAfter < 0 || reply.PollAfter > time.Minute {
		t.Fatalf("%+v", reply)
	}
	if (reply.Outcome == provider.AcceptedRemote) != (reply.Job != "") {
		t.Fatalf("a hand-over and its job: %+v", reply)
	}
	if kind, _ := split(reply.Job); reply.Job != "" && kind == "" {
		t.Fatalf("a job that cannot be polled: %+v", reply)
	}
	if reply.Unknown && c.Kind != provider.Submit && c.Kind != provider.Probe {
		t.Fatalf("only a submit costs: %+v", reply)
	}
	if len(reply.Found) > 0 && (c.Kind != provider.Lookup || reply.Outcome != provider.Accepted) {
		t.Fatalf("%+v", reply)
	}
	settled := map[int64]int{}
	for _, item := range reply.Items {
		switch {
		case item.Outcome == "" || item.Credits < 0:
			t.Fatalf("%+v", item)
		case item.Part != "" && (item.Page == nil || item.Outcome != provider.Accepted || settled[item.Task] > 0):
			t.Fatalf("a part without a page or after its task's verdict: %+v", item)
		case item.Page != nil && item.Outcome != provider.Accepted:
			t.Fatalf("%+v", item)
		case item.Part == "":
			settled[item.Task]++
		}
	}
	if len(reply.Items) == 0 {
		return
	}
	for _, target := range c.Targets {
		if settled[target.Task] != 1 {
			t.Fatalf("task %d settled %d times: %+v", target.Task, settled[target.Task], reply.Items)
		}
	}
}
