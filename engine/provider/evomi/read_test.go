package evomi

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
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

// told is what a reply says, short enough for a table. Without an item the call's own words stand in.
type told struct {
	outcome provider.Outcome
	layer   provider.Layer
	wait    time.Duration // -1: none
	status  int           // the target's; -1: not told
}

func tell(r provider.Reply) told {
	item := provider.Item{Outcome: r.Outcome, Layer: r.Layer, Signal: r.Signal}
	if len(r.Items) > 0 {
		item = r.Items[0]
	}
	out := told{item.Outcome, item.Layer, -1, -1}
	if item.Signal.Wait.OK {
		out.wait = item.Signal.Wait.V
	}
	if item.Target.OK {
		out.status = item.Target.V
	}
	return out
}

func TestReadsAnswers(t *testing.T) {
	for file, want := range map[string]struct {
		call   provider.Outcome
		settle told
		why    string
	}{
		"200_api_ok":               {provider.Accepted, told{provider.Accepted, "", -1, 200}, ""},
		"202_inner_429_string":     {provider.Accepted, told{provider.Limited, provider.LayerTarget, -1, 429}, "429"},
		"204_inner_missing":        {provider.Accepted, told{provider.Accepted, "", -1, -1}, ""},
		"206_data_array":           {provider.Failed, told{provider.Failed, "", -1, -1}, "unexpected shape"},
		"208_body_array":           {provider.Failed, told{provider.Failed, "", -1, -1}, "not an object"},
		"210_body_empty":           {provider.Failed, told{provider.Failed, "", -1, -1}, "empty"},
		"212_deep":                 {provider.Failed, told{provider.Failed, "", -1, -1}, "max depth"},
		"214_nan":                  {provider.Failed, told{provider.Failed, "", -1, -1}, "not JSON"},
		"216_truncated":            {provider.Failed, told{provider.Failed, "", -1, -1}, "unexpected end"},
		"218_concurrency_429":      {provider.Limited, told{provider.Limited, provider.LayerAccount, 6 * time.Second, -1}, "Concurrency limit exceeded (5/5)"},
		"222_busy_retry_string":    {provider.Busy, told{provider.Busy, provider.LayerCapacity, 6 * time.Second, -1}, "at capacity"},
		"224_busy_retry_negative":  {provider.Busy, told{provider.Busy, provider.LayerCapacity, -1, -1}, "at capacity"},
		"226_busy_retry_huge":      {provider.Busy, told{provider.Busy, provider.LayerCapacity, limits.MaxWait, -1}, "at capacity"},
		"228_busy_retry_bool":      {provider.Busy, told{provider.Busy, provider.LayerCapacity, -1, -1}, "at capacity"},
		"230_busy_retry_zero":      {provider.Busy, told{provider.Busy, provider.LayerCapacity, 0, -1}, "at capacity"},
		"232_busy_header_and_body": {provider.Busy, told{provider.Busy, provider.LayerCapacity, 8 * time.Second, -1}, "at capacity"},
		"234_success_false_200":    {provider.Accepted, told{provider.Failed, provider.LayerTarget, -1, -1}, "target timed out"},
		"235_accepted_202":         {provider.AcceptedRemote, told{provider.AcceptedRemote, "", 2 * time.Second, -1}, ""},
		"237_quota_402":            {provider.Denied, told{provider.Denied, provider.LayerQuota, -1, -1}, "credits used up"},
		"238_inner_retry_after":    {provider.Accepted, told{provider.Limited, provider.LayerTarget, 11 * time.Second, 429}, "429"},
		"242_inner_403":            {provider.Accepted, told{provider.Blocked, provider.LayerTarget, -1, 403}, "403"},
		"243_inner_0":              {provider.Accepted, told{provider.Transport, provider.LayerTransport, -1, 0}, "ECONNRESET"},
	} {
		t.Run(file, func(t *testing.T) {
			reply := made(t, Options{}).Read(submit(), answerFrom(t, file))
			if got := tell(reply); reply.Outcome != want.call || got != want.settle {
				t.Errorf("call %s, %+v, want %s, %+v", reply.Outcome, got, want.call, want.settle)
			}
			why := reply.Error
			if len(reply.Items) > 0 {
				why = reply.Items[0].Error
				if page := reply.Items[0].Page; (page != nil) != (want.settle.outcome == provider.Accepted) {
					t.Errorf("page %+v", page)
				}
			}
			if !strings.Contains(why, want.why) || (why == "") != (want.why == "") {
				t.Errorf("reason %q, want one with %q", why, want.why)
			}
		})
	}
}

func TestAPage(t *testing.T) {
	reply := made(t, Options{}).Read(submit(), answer(200, `{"success":true,"url":"https://t.test/p/7","title":"Mug","content":"<html>mug</html>",
		"status_code":200,"credits_used":2.0,"credits_remaining":41.5,"headers":{"Content-Type":"text/html","Set-Cookie":["a=1","b=2"]}}`))
	if len(reply.Items) != 1 || reply.Items[0].Page == nil {
		t.Fatalf("%+v", reply)
	}
	item := reply.Items[0]
	if item.Task != 7 || item.Credits != 2 || reply.Credits != 2 || reply.Outcome != provider.Accepted || reply.Unknown {
		t.Errorf("%+v", reply)
	}
	want := provider.Page{
		Body: []byte("<html>mug</html>"), ContentType: "text/html", FinalURL: "https://t.test/p/7", Status: limits.Some(200),
		Header: http.Header{"Content-Type": {"text/html"}, "Set-Cookie": {"a=1", "b=2"}},
	}
	if !reflect.DeepEqual(*item.Page, want) {
		t.Errorf("page %+v", *item.Page)
	}
}

func TestHandOvers(t *testing.T) {
	handed := `{"success":true,"task_id":"task_k1","status":"processing","check_url":"/x"}`
	for name, c := range map[string]struct {
		o      Options
		status int
		body   string
		job    string
	}{
		"an overrun":                     {Options{}, 202, handed, "task_k1"},
		"an overrun as 408":              {Options{}, 408, `{"task_id":"task_k1","status":"pending"}`, "task_k1"},
		"asynchronous, 202":              {Options{Async: true}, 202, `{"task_id":"task_k1","status":"processing"}`, "task_k1"},
		"asynchronous, 200":              {Options{Async: true}, 200, `{"task_id":"task_k1","status":"processing"}`, "task_k1"},
		"asynchronous, 201, no word":     {Options{Async: true}, 201, `{"task_id":"task_k1"}`, "task_k1"},
		"asynchronous, raw delivery":     {Options{Async: true, Fields: map[string]any{"delivery": "raw"}}, 200, handed, "task_k1"},
		"raw delivery that overran":      {Options{Fields: map[string]any{"delivery": "raw"}}, 202, handed, "task_k1"},
		"an id in data":                  {Options{}, 202, `{"success":true,"data":{"task_id":"task_k1"}}`, "task_k1"},
		"an id that is a number":         {Options{}, 202, `{"task_id":4711}`, "4711"},
		"a word that we do not know yet": {Options{}, 202, `{"task_id":"task_k1","status":"warming"}`, "task_k1"},
	} {
		t.Run(name, func(t *testing.T) {
			reply := made(t, c.o).Read(submit(), answer(c.status, c.body))
			if reply.Outcome != provider.AcceptedRemote || reply.Job != c.job || len(reply.Items) != 0 || reply.Unknown {
				t.Fatalf("%+v", reply)
			}
		})
	}
	reply := made(t, Options{}).Read(submit(), answerFrom(t, "235_accepted_202"))
	if reply.PollAfter != 2*time.Second || reply.Job != "task_abc123" {
		t.Errorf("%+v", reply)
	}
}

func TestHandOversWithoutAUsableID(t *testing.T) {
	for name, c := range map[string]struct {
		status  int
		body    string
		unknown bool
	}{
		"202 without an id":      {202, `{"success":true,"status":"processing"}`, true},
		"408 without an id":      {408, `{"success":false,"error":"timeout"}`, true},
		"408 with a page":        {408, `<html>`, true},
		"202 with an odd id":     {202, `{"task_id":".."}`, true},
		"an id of a failed task": {200, `{"task_id":"task_k1","status":"failed","error":"navigation failed"}`, false},
		"an id of a refusal":     {200, `{"task_id":"task_k1","success":false,"error":"no"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			reply := made(t, Options{}).Read(submit(), answer(c.status, c.body))
			if tell(reply).outcome != provider.Failed || reply.Unknown != c.unknown || reply.Job != "" {
				t.Fatalf("%+v", reply)
			}
		})
	}
}

func TestPolls(t *testing.T) {
	for name, c := range map[string]struct {
		status int
		body   string
		want   told
	}{
		"in progress":          {200, `{"task_id":"task_k1","status":"processing","elapsed_seconds":4}`, told{provider.StillRunning, "", -1, -1}},
		"pending":              {200, `{"task_id":"task_k1","status":"pending"}`, told{provider.StillRunning, "", -1, -1}},
		"a new word":           {200, `{"task_id":"task_k1","status":"warming"}`, told{provider.StillRunning, "", -1, -1}},
		"202":                  {202, ``, told{provider.StillRunning, "", -1, -1}},
		"408 with an id":       {408, `{"task_id":"task_k1","status":"processing"}`, told{provider.StillRunning, "", -1, -1}},
		"408":                  {408, ``, told{provider.Failed, "", -1, -1}},
		"completed, flat":      {200, `{"task_id":"task_k1","status":"completed","success":true,"content":"x","status_code":200}`, told{provider.Accepted, "", -1, 200}},
		"completed, nested":    {200, `{"task_id":"task_k1","status":"completed","result":{"content":"x","status_code":"200"}}`, told{provider.Accepted, "", -1, 200}},
		"completed, no word":   {200, `{"content":"x","status_code":200}`, told{provider.Accepted, "", -1, 200}},
		"completed, empty":     {200, `{"status":"completed","content":""}`, told{provider.Accepted, "", -1, -1}},
		"completed, nothing":   {200, `{"status":"completed","result":{"status_code":200}}`, told{provider.Failed, provider.LayerTarget, -1, 200}},
		"completed, refused":   {200, `{"status":"completed","result":{"content":"","status_code":429}}`, told{provider.Limited, provider.LayerTarget, -1, 429}},
		"completed, odd shape": {200, `{"status":"completed","result":[1]}`, told{provider.Failed, "", -1, -1}},
		"failed":               {200, `{"task_id":"task_k1","status":"failed","error":"navigation failed"}`, told{provider.Failed, provider.LayerTarget, -1, -1}},
		"failed by a 429":      {200, `{"status":"failed","error":"x","status_code":429}`, told{provider.Limited, provider.LayerTarget, -1, 429}},
		"not found":            {404, `{"success":false,"error":"task not found"}`, told{provider.Lost, "", -1, -1}},
		"gone":                 {410, ``, told{provider.Lost, "", -1, -1}},
		"not found, as a word": {200, `{"status":"not_found"}`, told{provider.Lost, "", -1, -1}},
		"not JSON":             {200, `<html>`, told{provider.Failed, "", -1, -1}},
		"429":                  {429, `{"limit":5,"reset":60}`, told{provider.Limited, provider.LayerAccount, time.Minute, -1}},
		"401":                  {401, `{"error":"Invalid API key"}`, told{provider.Denied, provider.LayerAuth, -1, -1}},
		"502":                  {502, ``, told{provider.Failed, "", -1, -1}},
	} {
		t.Run(name, func(t *testing.T) {
			reply := made(t, Options{}).Read(poll(), answer(c.status, c.body))
			if got := tell(reply); got != c.want || reply.Unknown {
				t.Fatalf("%+v, want %+v (%+v)", got, c.want, reply)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	nested := `{"success":false,"status_code":422,"error":{"code":"VALIDATION_ERROR","message":"bad mode","details":{"validation_errors":["x"]}}}`
	for name, c := range map[string]struct {
		r       provider.Response
		want    told
		unknown bool
		why     string
	}{
		"400":                   {answer(400, `{"success":false,"error":"bad"}`), told{provider.Refused, "", -1, -1}, false, "400: bad"},
		"422, flat":             {answer(422, `{"success":false,"message":"bad country"}`), told{provider.Refused, "", -1, -1}, false, "bad country"},
		"422, nested":           {answer(422, nested), told{provider.Refused, "", -1, -1}, false, `VALIDATION_ERROR: bad mode (x)`},
		"404 of the endpoint":   {answer(404, `{"error":"no such path"}`), told{provider.Refused, "", -1, -1}, false, "404"},
		"401":                   {answer(401, `{"error":"Invalid API key"}`), told{provider.Denied, provider.LayerAuth, -1, -1}, false, "Invalid API key"},
		"403":                   {answer(403, `{"error":"Invalid API key"}`), told{provider.Denied, provider.LayerAuth, -1, -1}, false, "403"},
		"403, nothing said":     {answer(403, ``), told{provider.Denied, provider.LayerAuth, -1, -1}, false, "403"},
		"402":                   {answer(402, `{"credits_remaining":0}`), told{provider.Denied, provider.LayerQuota, -1, -1}, false, "402"},
		"429 that says nothing": {answer(429, ``), told{provider.Limited, provider.LayerAccount, -1, -1}, false, "429"},
		"500":                   {answer(500, ``), told{provider.Failed, "", -1, -1}, false, "500"},
		"503":                   {answer(503, ``), told{provider.Busy, provider.LayerCapacity, -1, -1}, false, "503"},
		"502":                   {answer(502, ``), told{provider.Failed, "", -1, -1}, true, "502"},
		"504":                   {answer(504, ``), told{provider.Failed, "", -1, -1}, true, "504"},
		"520 with a wait": {provider.Response{Status: 520, Header: http.Header{"Retry-After": {"60"}}, Received: noon},
			told{provider.Failed, "", time.Minute, -1}, true, "520"},
		"522":        {answer(522, ``), told{provider.Failed, "", -1, -1}, true, "522"},
		"524":        {answer(524, ``), told{provider.Failed, "", -1, -1}, true, "524"},
		"a redirect": {answer(302, ``), told{provider.Failed, "", -1, -1}, true, "302"},
		"reset after sending": {provider.Response{Fault: provider.FaultReset, Sent: true, Error: "connection reset"},
			told{provider.Transport, provider.LayerTransport, -1, -1}, true, "reset: connection reset"},
		"not connected": {provider.Response{Fault: provider.FaultConnect}, told{provider.Transport, provider.LayerTransport, -1, -1}, false, "connect"},
		"timed out":     {provider.Response{Fault: provider.FaultTimeout, Sent: true}, told{provider.Transport, provider.LayerTransport, -1, -1}, true, "timeout"},
		"200 cut off":   {provider.Response{Status: 200, Fault: provider.FaultTruncated, Sent: true}, told{provider.Transport, provider.LayerTransport, -1, -1}, true, "truncated"},
		"429 cut off": {provider.Response{Status: 429, Header: http.Header{"Retry-After": {"9"}}, Fault: provider.FaultTruncated, Sent: true, Received: noon},
			told{provider.Limited, provider.LayerAccount, 9 * time.Second, -1}, false, "429"},
		"too large": {provider.Response{Status: 200, Fault: provider.FaultTooLarge, Sent: true}, told{provider.TooLarge, provider.LayerTarget, -1, -1}, false, "too_large"},
	} {
		t.Run(name, func(t *testing.T) {
			for _, call := range []provider.Call{submit(), probe()} {
				reply := made(t, Options{}).Read(call, c.r)
				if got := tell(reply); got != c.want || reply.Unknown != c.unknown || len(reply.Items) != 0 {
					t.Fatalf("%+v, unknown %v, want %+v, %v", got, reply.Unknown, c.want, c.unknown)
				}
				if !strings.Contains(reply.Error, c.why) {
					t.Errorf("reason %q, want one with %q", reply.Error, c.why)
				}
			}
		})
	}
}

func TestFreeSlotsAndLimits(t *testing.T) {
	r := answer(200, `{"success":true,"content":"x"}`)
	r.Header.Set("X-RateLimit-Limit", "5")
	r.Header.Set("X-RateLimit-Remaining", "3")
	s := made(t, Options{}).Read(submit(), r).Signal
	if s.Kind != limits.KindConcurrency || s.Limit != limits.Some(int64(5)) || s.Remaining != limits.Some(int64(3)) {
		t.Errorf("%+v", s)
	}
	s = made(t, Options{}).Read(submit(), answer(429, `{"limit":4,"reset":60}`)).Signal
	if s.Limit != limits.Some(int64(4)) || s.Kind != limits.KindConcurrency || s.Wait != limits.Some(time.Minute) {
		t.Errorf("the limit of a 429's body: %+v", s)
	}
	s = made(t, Options{}).Read(submit(), answer(429, `{"limit":-4}`)).Signal
	if s.Limit.OK {
		t.Errorf("a limit below one: %+v", s)
	}
}

func TestInnerAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		body string
		want told
	}{
		"404":                  {`{"success":true,"status_code":404,"content":"x"}`, told{provider.NotFound, provider.LayerTarget, -1, 404}},
		"401":                  {`{"success":true,"status_code":401,"content":"x"}`, told{provider.Blocked, provider.LayerTarget, -1, 401}},
		"502":                  {`{"success":true,"status_code":502,"content":"x"}`, told{provider.Failed, provider.LayerTarget, -1, 502}},
		"503 with a wait":      {`{"success":true,"status_code":503,"headers":{"retry-after":9}}`, told{provider.Busy, provider.LayerTarget, 9 * time.Second, 503}},
		"403 with a counter":   {`{"status_code":403,"headers":{"X-RateLimit-Remaining":"0","X-RateLimit-Reset":"30"}}`, told{provider.Limited, provider.LayerTarget, 30 * time.Second, 403}},
		"a challenge":          {`{"status_code":200,"content":"x","headers":{"cf-mitigated":"challenge"}}`, told{provider.Blocked, provider.LayerTarget, -1, 200}},
		"failed with a status": {`{"success":false,"status_code":429,"error":"blocked"}`, told{provider.Limited, provider.LayerTarget, -1, 429}},
		"failed with 200":      {`{"success":"false","status_code":200,"content":"x"}`, told{provider.Failed, provider.LayerTarget, -1, 200}},
		"999":                  {`{"status_code":999,"content":"x"}`, told{provider.Failed, provider.LayerTarget, -1, 999}},
		"a status of words":    {`{"status_code":"OK","content":"x"}`, told{provider.Accepted, "", -1, -1}},
		"no content":           {`{"success":true,"status_code":200,"content":null}`, told{provider.Failed, provider.LayerTarget, -1, 200}},
	} {
		t.Run(name, func(t *testing.T) {
			reply := made(t, Options{}).Read(submit(), answer(200, c.body))
			if got := tell(reply); got != c.want || reply.Outcome != provider.Accepted || reply.Layer != provider.NoLayer {
				t.Fatalf("%+v, want %+v (%+v)", got, c.want, reply)
			}
			if item := reply.Items[0]; (item.Error == "") != (item.Outcome == provider.Accepted) {
				t.Errorf("reason %q", item.Error)
			}
		})
	}
}

func TestOuterRetryAfterIsTheTargetsWhenItRefused(t *testing.T) {
	r := answer(200, `{"success":true,"data":{"status_code":429,"content":""}}`)
	r.Header.Set("Retry-After", "12")
	if got := tell(made(t, Options{}).Read(submit(), r)); got.wait != 12*time.Second {
		t.Errorf("%+v", got)
	}
}

func TestRawDelivery(t *testing.T) {
	p := made(t, Options{Fields: map[string]any{"delivery": "raw"}})
	r := answer(200, `{"task_id":"this is the page itself"}`)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("X-Credits-Used", "2.5")
	item := p.Read(submit(), r).Items[0]
	if item.Outcome != provider.Accepted || item.Target.OK || item.Credits != 2.5 || string(item.Page.Body) != string(r.Body) || item.Page.ContentType != "application/json" {
		t.Errorf("%+v", item)
	}
	if reply := p.Read(submit(), answer(200, "")); reply.Outcome != provider.Failed {
		t.Errorf("an empty page: %+v", reply)
	}
}

func TestOtherOutputs(t *testing.T) {
	for content, c := range map[string]struct{ body, kind, want string }{
		"markdown":   {`"# hi"`, "text/markdown; charset=utf-8", "# hi"},
		"screenshot": {`"data:image/png;base64,aGk="`, "image/png", "hi"},
		"pdf":        {`"aGk="`, "application/pdf", "hi"},
	} {
		p := made(t, Options{Fields: map[string]any{"content": content}})
		page := p.Read(submit(), answer(200, `{"content":`+c.body+`,"headers":{"content-type":"text/html"}}`)).Items[0].Page
		if page == nil || page.ContentType != c.kind || string(page.Body) != c.want {
			t.Errorf("%s: %+v", content, page)
		}
	}
}

func TestHealth(t *testing.T) {
	r := answer(200, `{"success":true,"credits":41.5}`)
	r.Header.Set("X-RateLimit-Limit", "5")
	reply := made(t, Options{}).Read(provider.Call{Kind: provider.Lookup, For: provider.Lookup}, r)
	if reply.Outcome != provider.Accepted || reply.Signal.Limit != limits.Some(int64(5)) || len(reply.Items) != 0 {
		t.Errorf("%+v", reply)
	}
}

func TestErrorsAreOneShortLine(t *testing.T) {
	reply := made(t, Options{}).Read(submit(), answer(400, `{"error":"a\nb\u001b[31m`+strings.Repeat("x", 5000)+`"}`))
	if strings.ContainsAny(reply.Error, "\n\x1b") || len(reply.Error) > 300 {
		t.Errorf("%q", reply.Error)
	}
}

// TestModeUsed: the mode that a body tells stands in for the header that other answers tell it in.
func TestModeUsed(t *testing.T) {
	p := made(t, Options{})
	page := func(rest string) provider.Response {
		return answer(200, `{"success":true,"content":"x","status_code":200`+rest+`}`)
	}
	headed := page(`,"mode_used":"auto (request)"`)
	headed.Header = http.Header{"X-Mode-Used": {"auto (browser)"}}
	nested := answer(200, `{"task_id":"task_k1","status":"completed","result":{"content":"x","status_code":200,"mode_used":"request"}}`)
	for name, c := range map[string]struct {
		call provider.Call
		r    provider.Response
		want string
	}{
		"in the body":       {submit(), page(`,"mode_used":"auto (browser)"`), "auto (browser)"},
		"of a task":         {poll(), nested, "request"},
		"the header counts": {submit(), headed, ""},
		"nowhere":           {submit(), page(``), ""},
		"no text":           {submit(), page(`,"mode_used":{}`), ""},
	} {
		if got := p.Read(c.call, c.r).Told.Get("X-Mode-Used"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(200, `{"success":true,"data":{"status_code":"429","headers":{"Retry-After":["11"]}}}`, "5", "", uint8(0))
	f.Add(202, `{"task_id":"task_k1","status":"processing"}`, "2", "", uint8(1))
	f.Add(429, `{"limit":5,"reset":60}`, "", "truncated", uint8(2))
	f.Add(408, `{"data":{"task_id":1e9}}`, "-1", "", uint8(3))
	f.Add(200, `{"status":"completed","result":{"headers":{"a":[[]]},"content":{},"credits_used":-0}}`, "x", "", uint8(1))
	providers := []provider.Provider{
		made(f, Options{}), made(f, Options{Async: true}), made(f, Options{Fields: map[string]any{"delivery": "raw"}}),
		made(f, Options{Fields: map[string]any{"content": "screenshot"}}),
	}
	f.Fuzz(func(t *testing.T, status int, body, header, fault string, which uint8) {
		p := providers[int(which)%len(providers)]
		r := provider.Response{
			Status: status, Body: []byte(body), Received: noon, Fault: provider.Fault(fault), Sent: which > 100,
			Header: http.Header{"Retry-After": {header}, "X-Credits-Used": {header}, "X-Ratelimit-Limit": {header}},
		}
		for _, call := range []provider.Call{submit(), poll(), probe(), {Kind: provider.Lookup, For: provider.Lookup}} {
			reply := p.Read(call, r)
			if reply.Outcome == "" || len(reply.Items) > 1 || reply.Credits < 0 || reply.PollAfter < 0 || reply.PollAfter > time.Minute {
				t.Fatalf("%+v", reply)
			}
			if (reply.Outcome == provider.AcceptedRemote) != (reply.Job != "") {
				t.Fatalf("a hand-over and its job: %+v", reply)
			}
			if reply.Unknown && call.Kind == provider.Poll {
				t.Fatalf("a poll costs nothing: %+v", reply)
			}
			for _, item := range reply.Items {
				if item.Outcome == "" || (item.Page != nil) != (item.Outcome == provider.Accepted) {
					t.Fatalf("%+v", item)
				}
			}
			if !reflect.DeepEqual(reply, p.Read(call, r)) {
				t.Fatal("two readings differ")
			}
		}
	})
}

// TestCreditsLeftAreRead: the platform tells them in a header, in an envelope, with a 402, and for its health.
func TestCreditsLeftAreRead(t *testing.T) {
	health := provider.Call{Kind: provider.Lookup, For: provider.Lookup}
	with := func(r provider.Response, left string) provider.Response {
		r.Header = http.Header{"X-Credits-Remaining": {left}}
		return r
	}
	for name, c := range map[string]struct {
		o    Options
		call provider.Call
		r    provider.Response
		want limits.Opt[float64]
	}{
		"a header":         {Options{}, submit(), with(answer(200, `{"content":"x","status_code":200,"credits_remaining":9}`), "40.25"), limits.Some(40.25)},
		"an envelope":      {Options{}, submit(), answer(200, `{"content":"x","status_code":200,"credits_remaining":41.5}`), limits.Some(41.5)},
		"a nested result":  {Options{}, poll(), answer(200, `{"task_id":"t","status":"completed","result":{"content":"x","credits_remaining":"7"}}`), limits.Some(7.0)},
		"402":              {Options{}, submit(), answer(402, `{"error":"no credits","credits_remaining":0}`), limits.Some(0.0)},
		"health":           {Options{}, health, answer(200, `{"success":true,"credits":41.5,"concurrency":5}`), limits.Some(41.5)},
		"health, in words": {Options{}, health, answer(200, `{"success":true,"credits_remaining":3}`), limits.Some(3.0)},
		"raw delivery":     {Options{Fields: map[string]any{"delivery": "raw"}}, submit(), with(answer(200, "<p>"), "12"), limits.Some(12.0)},
		"nothing":          {Options{}, submit(), answer(200, `{"content":"x"}`), limits.Opt[float64]{}},
		"nonsense":         {Options{}, submit(), with(answer(200, `{"content":"x"}`), "-1"), limits.Opt[float64]{}},
	} {
		if got := made(t, c.o).Read(c.call, c.r).Balance; got != c.want {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}
