package omniscrape

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

func with(r provider.Response, field, value string) provider.Response {
	r.Header = http.Header{field: {value}}
	return r
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
		"218_concurrency_429":      {provider.Limited, told{provider.Limited, provider.LayerAccount, -1, -1}, "Concurrency limit exceeded (5/5)"},
		"232_busy_header_and_body": {provider.Busy, told{provider.Busy, provider.LayerCapacity, 8 * time.Second, -1}, "at capacity"},
		"126_503_no_hint":          {provider.Busy, told{provider.Busy, provider.LayerCapacity, -1, -1}, "503"},
		"234_success_false_200":    {provider.Accepted, told{provider.Failed, provider.LayerTarget, -1, -1}, "target timed out"},
		"237_quota_402":            {provider.Denied, told{provider.Denied, provider.LayerQuota, -1, -1}, "credits used up"},
		"238_inner_retry_after":    {provider.Accepted, told{provider.Limited, provider.LayerTarget, 11 * time.Second, 429}, "429"},
		"242_inner_403":            {provider.Accepted, told{provider.Blocked, provider.LayerTarget, -1, 403}, "403"},
		"243_inner_0":              {provider.Accepted, told{provider.Transport, provider.LayerTransport, -1, 0}, "ECONNRESET"},
	} {
		t.Run(file, func(t *testing.T) {
			reply := made(t, Options{}).Read(submit(), answerFrom(t, file))
			if got := tell(reply); reply.Outcome != want.call || got != want.settle || reply.Unknown {
				t.Errorf("call %s, %+v, want %s, %+v", reply.Outcome, got, want.call, want.settle)
			}
			why := reply.Error
			if len(reply.Items) > 0 {
				why = reply.Items[0].Error
			}
			if !strings.Contains(why, want.why) || (why == "") != (want.why == "") {
				t.Errorf("reason %q, want one with %q", why, want.why)
			}
		})
	}
}

const mug = `{"success":true,"data":{"content":"<html>mug</html>","status_code":200},"metadata":{"elapsed_time":2.1,"solver_used":false},"billing":{"charged":0.004}}`

func TestAPage(t *testing.T) {
	for name, c := range map[string]struct {
		o    Options
		call provider.Call
		body string
	}{
		"sync":  {Options{}, submit(), mug},
		"a job": {Options{Async: true}, poll(), `{"success":true,"data":{"job_id":"5b1d","status":"completed","result":` + mug + `}}`},
	} {
		reply := made(t, c.o).Read(c.call, answer(200, c.body))
		if reply.Outcome != provider.Accepted || reply.Credits != 0.004 || len(reply.Items) != 1 {
			t.Fatalf("%s: %+v", name, reply)
		}
		item := reply.Items[0]
		want := &provider.Page{Body: []byte("<html>mug</html>"), ContentType: "text/html; charset=utf-8", FinalURL: "http://t.test/?a=1&b=2", Status: limits.Some(200)}
		if item.Task != 7 || item.Credits != 0.004 || item.Target != limits.Some(200) || !reflect.DeepEqual(item.Page, want) {
			t.Errorf("%s: %+v, %+v", name, item, item.Page)
		}
	}
}

func TestInnerAnswersAreTheTargets(t *testing.T) {
	late := with(answer(200, `{"success":true,"data":{"content":"slow down","status_code":429}}`), "Retry-After", "12")
	for name, c := range map[string]struct {
		r    provider.Response
		want told
	}{
		"429":                     {answer(200, `{"success":true,"data":{"content":"slow down","status_code":429},"billing":{"charged":0.004}}`), told{provider.Limited, provider.LayerTarget, -1, 429}},
		"429, success or not":     {answer(200, `{"success":false,"error":"x","data":{"status_code":429}}`), told{provider.Limited, provider.LayerTarget, -1, 429}},
		"429 and an outer wait":   {late, told{provider.Limited, provider.LayerTarget, 12 * time.Second, 429}},
		"403":                     {answer(200, `{"success":true,"data":{"content":"no","status_code":403}}`), told{provider.Blocked, provider.LayerTarget, -1, 403}},
		"401":                     {answer(200, `{"success":true,"data":{"content":"no","status_code":401}}`), told{provider.Blocked, provider.LayerTarget, -1, 401}},
		"404":                     {answer(200, `{"success":true,"data":{"content":"no","status_code":404}}`), told{provider.NotFound, provider.LayerTarget, -1, 404}},
		"410":                     {answer(200, `{"success":true,"data":{"content":"no","status_code":410}}`), told{provider.NotFound, provider.LayerTarget, -1, 410}},
		"503":                     {answer(200, `{"success":true,"data":{"content":"no","status_code":503}}`), told{provider.Failed, provider.LayerTarget, -1, 503}},
		"503 with a wait":         {answer(200, `{"success":true,"data":{"status_code":503,"headers":{"retry-after":["9"]}}}`), told{provider.Busy, provider.LayerTarget, 9 * time.Second, 503}},
		"a challenge":             {answer(200, `{"success":true,"data":{"content":"x","status_code":200,"headers":{"cf-mitigated":"challenge"}}}`), told{provider.Blocked, provider.LayerTarget, -1, 200}},
		"no content":              {answer(200, `{"success":true,"data":{"content":null,"status_code":200}}`), told{provider.Failed, provider.LayerTarget, -1, 200}},
		"an empty page":           {answer(200, `{"success":true,"data":{"content":"","status_code":200}}`), told{provider.Accepted, "", -1, 200}},
		"failed with content":     {answer(200, `{"success":false,"error":"x","data":{"content":"x","status_code":200}}`), told{provider.Failed, provider.LayerTarget, -1, 200}},
		"failed, no data":         {answer(200, `{"success":false,"data":null}`), told{provider.Failed, provider.LayerTarget, -1, -1}},
		"a page at the top":       {answer(200, `{"content":"x","status_code":200}`), told{provider.Accepted, "", -1, 200}},
		"502, unlock failed":      {answer(502, `{"success":false,"error":"could not unlock","metadata":{"solver_used":true}}`), told{provider.Failed, provider.LayerTarget, -1, -1}},
		"502, nothing said":       {answer(502, ``), told{provider.Failed, provider.LayerTarget, -1, -1}},
		"a status of other words": {answer(200, `{"success":true,"data":{"content":"x","status_code":"OK"}}`), told{provider.Accepted, "", -1, -1}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, call := range []provider.Call{submit(), probe()} {
				reply := made(t, Options{}).Read(call, c.r)
				if got := tell(reply); got != c.want || reply.Outcome != provider.Accepted || reply.Layer != provider.NoLayer || len(reply.Items) != 1 || reply.Unknown {
					t.Fatalf("%+v, want %+v (%+v)", got, c.want, reply)
				}
				if item := reply.Items[0]; item.Task != 7 || (item.Error == "") != (item.Outcome == provider.Accepted) {
					t.Errorf("%+v", item)
				}
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	account := func(wait time.Duration) told { return told{provider.Limited, provider.LayerAccount, wait, -1} }
	failed, refused := told{provider.Failed, "", -1, -1}, told{provider.Refused, "", -1, -1}
	quota, auth := told{provider.Denied, provider.LayerQuota, -1, -1}, told{provider.Denied, provider.LayerAuth, -1, -1}
	limit := answer(429, `{"success":false,"error":"too many in flight","code":"CONCURRENCY_LIMIT"}`)
	for name, c := range map[string]struct {
		r       provider.Response
		want    told
		unknown bool
		why     string
	}{
		"429, seconds":        {with(limit, "Retry-After", "7"), account(7 * time.Second), false, "too many in flight"},
		"429, a date":         {with(limit, "Retry-After", "Wed, 01 Jul 2026 12:00:40 GMT"), account(40 * time.Second), false, "429"},
		"429, a past date":    {with(limit, "Retry-After", "Wed, 01 Jul 2026 11:00:00 GMT"), account(0), false, "429"},
		"429, malformed":      {with(limit, "Retry-After", "soon"), account(-1), false, "429"},
		"429, no wait":        {limit, account(-1), false, "429"},
		"429, plain text":     {answer(429, `slow down`), account(-1), false, "429"},
		"429, cut off":        {provider.Response{Status: 429, Header: http.Header{"Retry-After": {"9"}}, Fault: provider.FaultTruncated, Sent: true, Received: noon}, account(9 * time.Second), false, "429"},
		"402, the month":      {answer(402, `{"success":false,"error":"10000/10000 used","code":"MONTHLY_QUOTA_EXCEEDED"}`), quota, false, "the month's allowance"},
		"402, the balance":    {answer(402, `{"success":false,"error":"top up"}`), quota, false, "the balance"},
		"402, another code":   {answer(402, `{"success":false,"error":"x","code":"NEW"}`), quota, false, "402: NEW: x"},
		"402, locked":         {answer(402, `{"success":false,"error":"trial","code":"PROXY_LOCKED"}`), refused, false, "PROXY_LOCKED"},
		"402, locked, cut":    {provider.Response{Status: 402, Body: []byte(`{"success":false,"code":"PROXY_LOCKED"`), Fault: provider.FaultTruncated, Sent: true}, refused, false, "PROXY_LOCKED"},
		"400":                 {answer(400, `{"success":false,"error":{"message":"bad url"}}`), refused, false, "bad url"},
		"422":                 {answer(422, `{"message":"bad mode"}`), refused, false, "bad mode"},
		"404 of the endpoint": {answer(404, `{"success":false}`), refused, false, "404"},
		"401":                 {answer(401, `{"success":false,"error":"missing key"}`), auth, false, "missing key"},
		"403":                 {answer(403, ``), auth, false, "403"},
		"500":                 {answer(500, `{"success":false,"error":"oops"}`), failed, false, "oops"},
		"502 of a gateway":    {answer(502, `<html>Bad Gateway</html>`), failed, true, "502"},
		"503":                 {with(answer(503, ``), "Retry-After", "30"), told{provider.Busy, provider.LayerCapacity, 30 * time.Second, -1}, false, "503"},
		"504":                 {answer(504, ``), failed, true, "504"},
		"408":                 {answer(408, ``), failed, true, "408"},
		"a conflict":          {answer(409, ``), failed, true, "409"},
		"a redirect":          {answer(302, ``), failed, true, "302"},
		"reset after sending": {provider.Response{Fault: provider.FaultReset, Sent: true, Error: "connection reset"}, told{provider.Transport, provider.LayerTransport, -1, -1}, true, "reset: connection reset"},
		"not connected":       {provider.Response{Fault: provider.FaultConnect}, told{provider.Transport, provider.LayerTransport, -1, -1}, false, "connect"},
		"200 cut off":         {provider.Response{Status: 200, Fault: provider.FaultTruncated, Sent: true}, told{provider.Transport, provider.LayerTransport, -1, -1}, true, "truncated"},
		"too large":           {provider.Response{Status: 200, Fault: provider.FaultTooLarge, Sent: true}, told{provider.TooLarge, provider.LayerTarget, -1, -1}, false, "too_large"},
		"520 with a wait":     {with(answer(520, ``), "Retry-After", "60"), told{provider.Failed, "", time.Minute, -1}, true, "520"},
		"an empty object":     {answer(200, `{}`), failed, false, "unexpected shape"},
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

func TestHandOvers(t *testing.T) {
	async := Options{Async: true}
	for name, c := range map[string]struct {
		o       Options
		status  int
		body    string
		want    provider.Outcome
		job     string
		unknown bool
	}{
		"202":                    {async, 202, `{"success":true,"job_id":"5b1d","status":"queued","poll":"/v1/jobs/5b1d"}`, provider.AcceptedRemote, "5b1d", false},
		"200":                    {async, 200, `{"success":true,"job_id":"5b1d","status":"queued"}`, provider.AcceptedRemote, "5b1d", false},
		"an id in data":          {async, 202, `{"success":true,"data":{"job_id":"5b1d","status":"queued"}}`, provider.AcceptedRemote, "5b1d", false},
		"an id that is a number": {async, 202, `{"job_id":4711}`, provider.AcceptedRemote, "4711", false},
		"of a sync submit":       {Options{}, 202, `{"success":true,"job_id":"5b1d","status":"queued"}`, provider.AcceptedRemote, "5b1d", false},
		"no id":                  {async, 202, `{"success":true,"status":"queued"}`, provider.Failed, "", true},
		"an odd id":              {async, 202, `{"success":true,"job_id":".."}`, provider.Failed, "", true},
		"not JSON":               {async, 202, `<html>`, provider.Failed, "", true},
		"nothing":                {async, 202, ``, provider.Failed, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			reply := made(t, c.o).Read(submit(), answer(c.status, c.body))
			if reply.Outcome != c.want || reply.Job != c.job || reply.Unknown != c.unknown || len(reply.Items) != 0 || reply.Credits != 0 {
				t.Fatalf("%+v", reply)
			}
		})
	}
	if reply := made(t, async).Read(submit(), answer(200, mug)); reply.Outcome != provider.Accepted || len(reply.Items) != 1 {
		t.Errorf("a page at once: %+v", reply)
	}
	reply := made(t, async).Read(submit(), answer(503, ``))
	if reply.Outcome != provider.Busy || !strings.Contains(reply.Error, "without a queue") {
		t.Errorf("a deployment without a queue: %+v", reply)
	}
	if reply = made(t, async).Read(submit(), answer(200, `{"success":false,"error":"no"}`)); tell(reply).outcome != provider.Failed || reply.Job != "" {
		t.Errorf("a refusal: %+v", reply)
	}
}

func TestPolls(t *testing.T) {
	job := func(rest string) string { return `{"success":true,"data":{"job_id":"5b1d","status":` + rest + `}}` }
	running := told{provider.StillRunning, "", -1, -1}
	for name, c := range map[string]struct {
		status int
		body   string
		want   told
	}{
		"queued":                {200, job(`"queued"`), running},
		"processing":            {200, job(`"processing","url":"https://shop.test/p/7"`), running},
		"a word unknown":        {200, job(`"warming"`), running},
		"no word":               {200, `{"success":true,"data":{}}`, running},
		"at the top":            {200, `{"success":true,"status":"queued"}`, running},
		"completed":             {200, job(`"completed","result":` + mug), told{provider.Accepted, "", -1, 200}},
		"completed, inner 429":  {200, job(`"completed","result":{"success":true,"data":{"content":"slow","status_code":429}}`), told{provider.Limited, provider.LayerTarget, -1, 429}},
		"completed, inner text": {200, job(`"completed","result":{"success":false,"data":{"status_code":"429","headers":{"Retry-After":"11"}}}`), told{provider.Limited, provider.LayerTarget, 11 * time.Second, 429}},
		"completed, refused":    {200, job(`"completed","result":{"success":false,"error":"no page"}`), told{provider.Failed, provider.LayerTarget, -1, -1}},
		"completed, no result":  {200, job(`"completed","result":null`), told{provider.Failed, "", -1, -1}},
		"completed, odd":        {200, job(`"completed","result":{"success":true,"data":[1]}`), told{provider.Failed, "", -1, -1}},
		"failed":                {200, job(`"failed","error":"could not open the page"`), told{provider.Failed, provider.LayerTarget, -1, -1}},
		"failed, error outside": {200, `{"success":true,"error":"x","data":{"status":"failed"}}`, told{provider.Failed, provider.LayerTarget, -1, -1}},
		"failed by a 429":       {200, job(`"failed","error":"x","result":{"data":{"status_code":429}}`), told{provider.Limited, provider.LayerTarget, -1, 429}},
		"failed with 200":       {200, job(`"failed","error":"parser","result":{"success":true,"data":{"status_code":200,"content":"x"}}`), told{provider.Failed, provider.LayerTarget, -1, 200}},
		"timed out":             {200, job(`"timed_out"`), told{provider.Failed, provider.LayerTarget, -1, -1}},
		"gone":                  {404, `{"success":false,"error":"not found"}`, told{provider.Lost, "", -1, -1}},
		"gone for good":         {410, ``, told{provider.Lost, "", -1, -1}},
		"not JSON":              {200, `<html>`, told{provider.Failed, "", -1, -1}},
		"data that is a list":   {200, `{"success":true,"data":[]}`, told{provider.Failed, "", -1, -1}},
		"429":                   {429, `{"code":"CONCURRENCY_LIMIT"}`, told{provider.Limited, provider.LayerAccount, -1, -1}},
		"502 is no target's":    {502, `{"success":false,"error":"x"}`, told{provider.Failed, "", -1, -1}},
		"401":                   {401, ``, told{provider.Denied, provider.LayerAuth, -1, -1}},
	} {
		t.Run(name, func(t *testing.T) {
			reply := made(t, Options{Async: true}).Read(poll(), answer(c.status, c.body))
			if got := tell(reply); got != c.want || reply.Unknown {
				t.Fatalf("%+v, want %+v (%+v)", got, c.want, reply)
			}
			if len(reply.Items) == 1 && (reply.Items[0].Error == "") != (reply.Items[0].Outcome == provider.Accepted) {
				t.Errorf("%+v", reply.Items[0])
			}
		})
	}
	reply := made(t, Options{}).Read(poll(), answer(200, job(`"failed","error":"parser","result":{"data":{"status_code":200,"content":"x"}}`)))
	if reply.Items[0].Error != "parser" {
		t.Errorf("the job's own reason: %+v", reply.Items[0])
	}
	if reply = made(t, Options{}).Read(poll(), answer(200, job(`"timed_out"`))); !strings.Contains(reply.Items[0].Error, "time limit") {
		t.Errorf("%+v", reply.Items[0])
	}
	if reply = made(t, Options{}).Read(poll(), provider.Response{Status: 200, Fault: provider.FaultTooLarge}); reply.Outcome != provider.TooLarge || len(reply.Items) != 1 {
		t.Errorf("a result that is too large settles its task: %+v", reply)
	}
}

func TestPollsComeAtMostOnceASecond(t *testing.T) {
	for value, want := range map[string]time.Duration{"": time.Second, "0": time.Second, "0.1": time.Second, "3": 3 * time.Second, "9999": time.Minute, "-4": time.Second} {
		r := answer(200, `{"success":true,"data":{"status":"processing"}}`)
		if value != "" {
			r = with(r, "Retry-After", value)
		}
		if reply := made(t, Options{}).Read(poll(), r); reply.PollAfter != want || !reply.Started {
			t.Errorf("Retry-After %q: %+v", value, reply)
		}
	}
	if reply := made(t, Options{}).Read(poll(), answer(200, `{"data":{"status":"queued"}}`)); reply.Started {
		t.Errorf("%+v", reply)
	}
}

func TestOtherOutputs(t *testing.T) {
	for output, c := range map[string]struct{ content, body, kind string }{
		"html":     {`"<p>"`, "<p>", "text/html; charset=utf-8"},
		"markdown": {`"# hi"`, "# hi", "text/markdown; charset=utf-8"},
		"json":     {`"{}"`, "{}", "application/json"},
		"text":     {`"hi"`, "hi", "text/plain; charset=utf-8"},
		"HTML":     {`{"a":1}`, `{"a":1}`, "application/json"},
	} {
		p := made(t, Options{Fields: map[string]any{"output_format": output}})
		page := p.Read(submit(), answer(200, `{"success":true,"data":{"content":`+c.content+`,"final_url":"https://t.test/end"}}`)).Items[0].Page
		if page == nil || page.ContentType != c.kind || string(page.Body) != c.body || page.FinalURL != "https://t.test/end" {
			t.Errorf("%s: %+v", output, page)
		}
	}
}

func TestHealth(t *testing.T) {
	health := provider.Call{Kind: provider.Lookup, For: provider.Lookup}
	for status, want := range map[int]provider.Outcome{200: provider.Accepted, 404: provider.Accepted, 401: provider.Denied, 503: provider.Busy, 500: provider.Failed} {
		if reply := made(t, Options{}).Read(health, answer(status, `{"success":false}`)); reply.Outcome != want || len(reply.Items) != 0 || reply.Unknown {
			t.Errorf("%d: %+v", status, reply)
		}
	}
}

func TestErrorsAreOneShortLine(t *testing.T) {
	long := `a\nb\u001b[31m` + strings.Repeat("x", 5000)
	for _, reply := range []provider.Reply{
		made(t, Options{}).Read(submit(), answer(402, `{"error":"`+long+`"}`)),
		made(t, Options{}).Read(submit(), answer(502, `{"error":"`+long+`"}`)),
		made(t, Options{}).Read(poll(), answer(200, `{"data":{"status":"failed","error":"`+long+`"}}`)),
		made(t, Options{}).Read(poll(), answer(200, `{"data":{"status":"`+long+`"}}`)),
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
	f.Add(200, mug, "5", "", uint8(0))
	f.Add(200, `{"success":true,"data":{"status":"completed","result":{"success":"false","data":{"status_code":"429","headers":{"Retry-After":["11"]}}}}}`, "", "", uint8(1))
	f.Add(202, `{"success":true,"job_id":1e9,"status":"queued"}`, "2", "", uint8(1))
	f.Add(402, `{"code":"PROXY_LOCKED"`, "", "truncated", uint8(2))
	f.Add(502, `{"billing":{"charged":"0.004"},"error":{"message":"x"}}`, "-1", "", uint8(200))
	f.Add(200, `{"data":{"status":"failed","result":{"data":{"status_code":0,"content":{},"headers":{"a":[[]]}}}}}`, "x", "too_large", uint8(1))
	providers := []provider.Provider{made(f, Options{}), made(f, Options{Async: true}), made(f, Options{Fields: map[string]any{"output_format": "json"}})}
	f.Fuzz(func(t *testing.T, status int, body, header, fault string, which uint8) {
		p := providers[int(which)%len(providers)]
		r := provider.Response{
			Status: status, Body: []byte(body), Received: noon, Fault: provider.Fault(fault), Sent: which > 100, Header: http.Header{"Retry-After": {header}},
		}
		for _, c := range []provider.Call{submit(), poll(), probe(), {Kind: provider.Lookup, For: provider.Lookup}} {
			reply := p.Read(c, r)
			if reply.Outcome == "" || len(reply.Items) > 1 || reply.Credits < 0 || reply.PollAfter < 0 || reply.PollAfter > time.Minute {
				t.Fatalf("%+v", reply)
			}
			if running := reply.Outcome == provider.StillRunning || reply.Outcome == provider.AcceptedRemote; running && reply.PollAfter < minPollAfter {
				t.Fatalf("a poll that comes too fast: %+v", reply)
			}
			if (reply.Outcome == provider.AcceptedRemote) != (reply.Job != "") {
				t.Fatalf("a hand-over and its job: %+v", reply)
			}
			if reply.Unknown && c.Kind != provider.Submit && c.Kind != provider.Probe {
				t.Fatalf("only a submit costs: %+v", reply)
			}
			for _, item := range reply.Items {
				if item.Outcome == "" || (item.Page != nil) != (item.Outcome == provider.Accepted) {
					t.Fatalf("%+v", item)
				}
			}
			if !reflect.DeepEqual(reply, p.Read(c, r)) {
				t.Fatal("two readings differ")
			}
		}
	})
}
