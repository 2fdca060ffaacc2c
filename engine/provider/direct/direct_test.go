package direct

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

var noon = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

// fetch is a fetch of a page of a.test.
func fetch(path string) provider.Call {
	return provider.Call{
		Kind: provider.Fetch, For: provider.Fetch, Domain: "a.test",
		Targets: []provider.Target{{Task: 7, URL: "https://a.test" + path, Home: "a.test"}},
	}
}

var epoch = regexp.MustCompile(`@@EPOCH\+(\d+)@@`)

// answerFrom reads a raw answer as the transport would bring it back.
func answerFrom(t *testing.T, file string) provider.Response {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", file+".http"))
	if err != nil {
		t.Fatal(err)
	}
	raw = epoch.ReplaceAllFunc(raw, func(m []byte) []byte {
		n, _ := strconv.Atoi(string(epoch.FindSubmatch(m)[1]))
		return fmt.Append(nil, noon.Unix()+int64(n))
	})
	out := provider.Response{Received: noon, Sent: true}
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(raw)), nil)
	if err != nil {
		out.Fault, out.Error = provider.FaultProtocol, err.Error()
		return out
	}
	defer resp.Body.Close()
	out.Status, out.Header = resp.StatusCode, resp.Header
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		out.Fault, out.Error = provider.FaultTruncated, err.Error()
		return out
	}
	if resp.Header.Get("Content-Encoding") == "gzip" {
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			out.Fault, out.Error = provider.FaultDecode, err.Error()
			return out
		}
		if body, err = io.ReadAll(z); err != nil {
			out.Fault, out.Error = provider.FaultTruncated, err.Error()
			return out
		}
	}
	out.Body = body
	return out
}

func TestReadsAnswers(t *testing.T) {
	none := limits.Opt[time.Duration]{}
	wait := func(seconds int) limits.Opt[time.Duration] { return limits.Some(time.Duration(seconds) * time.Second) }
	for file, want := range map[string]struct {
		outcome provider.Outcome
		layer   provider.Layer
		wait    limits.Opt[time.Duration]
		why     string
	}{
		"100_ok":                    {provider.Accepted, provider.NoLayer, none, ""},
		"102_gzip_truncated":        {provider.Transport, provider.LayerTransport, none, "truncated: unexpected EOF"},
		"104_length_too_long":       {provider.Transport, provider.LayerTransport, none, "truncated: unexpected EOF"},
		"106_chunked_cut":           {provider.Transport, provider.LayerTransport, none, "truncated: unexpected EOF"},
		"108_nul_bytes":             {provider.Accepted, provider.NoLayer, none, ""},
		"110_bidi_wide_title":       {provider.Accepted, provider.NoLayer, none, ""},
		"112_empty_200":             {provider.Accepted, provider.NoLayer, none, ""},
		"114_error_page_200":        {provider.Accepted, provider.NoLayer, none, ""},
		"116_429_html":              {provider.Limited, provider.LayerTarget, wait(7), "429"},
		"118_429_skewed_date":       {provider.Limited, provider.LayerTarget, wait(12), "429"},
		"120_429_control_in_header": {provider.Transport, provider.LayerTransport, none, "protocol: "},
		"122_429_epoch":             {provider.Limited, provider.LayerTarget, wait(8), "429"},
		"124_429_day":               {provider.Limited, provider.LayerTarget, wait(86400), "429"},
		"126_503_no_hint":           {provider.Failed, provider.LayerTarget, none, "503"},
		"127_redirect_loop":         {provider.Redirected, provider.NoLayer, none, ""},
		"129_redirect_bad_location": {provider.Failed, provider.LayerTarget, none, "port"},
		"132_header_flood":          {provider.Accepted, provider.NoLayer, none, ""},
		"134_status_999":            {provider.Failed, provider.LayerTarget, none, "999"},
		"136_gzip_label_plain_body": {provider.Transport, provider.LayerTransport, none, "decode: gzip: invalid header"},
		"138_charset_meta":          {provider.Accepted, provider.NoLayer, none, ""},
		"141_quota_window_zero":     {provider.Accepted, provider.NoLayer, none, ""},
	} {
		t.Run(file, func(t *testing.T) {
			r := answerFrom(t, file)
			reply := New(Options{}).Read(fetch("/"), r)
			if len(reply.Items) != 1 || reply.Items[0].Task != 7 {
				t.Fatalf("items %+v", reply.Items)
			}
			item := reply.Items[0]
			if item.Outcome != want.outcome || item.Layer != want.layer || item.Signal.Wait != want.wait {
				t.Errorf("read as %s/%s waiting %+v, want %s/%s waiting %+v", item.Outcome, item.Layer, item.Signal.Wait, want.outcome, want.layer, want.wait)
			}
			if reply.Outcome != item.Outcome || reply.Layer != item.Layer || !reflect.DeepEqual(reply.Signal, item.Signal) {
				t.Errorf("call and item differ: %+v", reply)
			}
			if !strings.Contains(item.Error, want.why) || (want.why == "") != (item.Error == "") {
				t.Errorf("reason %q, want one with %q", item.Error, want.why)
			}
			if accepted := item.Outcome == provider.Accepted; accepted != (item.Page != nil) || accepted && !bytes.Equal(item.Page.Body, r.Body) {
				t.Errorf("page %+v", item.Page)
			}
		})
	}
}

func TestExhaustedWindowOfAnAcceptedPage(t *testing.T) {
	s := New(Options{}).Read(fetch("/"), answerFrom(t, "141_quota_window_zero")).Items[0].Signal
	if !s.Exhausted() || s.Reset != limits.Some(6*time.Second) || s.Window != limits.Some(time.Minute) {
		t.Fatalf("signal %+v", s)
	}
}

// TestWaitInAJSONBody: a target that told its wait in the body alone was asked again after our own backoff.
func TestWaitInAJSONBody(t *testing.T) {
	for name, c := range map[string]struct {
		status  int
		header  http.Header
		body    string
		outcome provider.Outcome
		wait    time.Duration
	}{
		"429":             {429, nil, `{"message":"slow down","retry_after":5}`, provider.Limited, 5 * time.Second},
		"503":             {503, nil, `{"retry_after":"6"}`, provider.Busy, 6 * time.Second},
		"header longer":   {429, http.Header{"Retry-After": {"9"}}, `{"retry_after":5}`, provider.Limited, 9 * time.Second},
		"no JSON":         {429, nil, `retry_after: 5`, provider.Limited, 0},
		"malformed":       {503, nil, `{"retry_after":true}`, provider.Failed, 0},
		"403 is no limit": {403, nil, `{"retry_after":5}`, provider.Blocked, 0},
		"a page":          {200, nil, `{"retry_after":5}`, provider.Accepted, 0},
	} {
		t.Run(name, func(t *testing.T) {
			call := provider.Call{Kind: provider.Fetch, Targets: []provider.Target{{Task: 1, URL: "https://a.test/"}}}
			got := New(Options{}).Read(call, provider.Response{Status: c.status, Header: c.header, Body: []byte(c.body)})
			if got.Outcome != c.outcome || got.Signal.Wait.V != c.wait || got.Signal.Wait.OK != (c.wait > 0) {
				t.Errorf("%s, wait %v", got.Outcome, got.Signal.Wait)
			}
		})
	}
}

func TestStatuses(t *testing.T) {
	for name, c := range map[string]struct {
		status  int
		header  http.Header
		fault   provider.Fault
		outcome provider.Outcome
		layer   provider.Layer
	}{
		"403":                          {403, nil, "", provider.Blocked, provider.LayerTarget},
		"401":                          {401, nil, "", provider.Blocked, provider.LayerTarget},
		"403 with a wait":              {403, http.Header{"Retry-After": {"9"}}, "", provider.Limited, provider.LayerTarget},
		"403 with a malformed wait":    {403, http.Header{"Retry-After": {"soon"}}, "", provider.Blocked, provider.LayerTarget},
		"403 with a counter at zero":   {403, http.Header{"X-Ratelimit-Remaining": {"0"}}, "", provider.Limited, provider.LayerTarget},
		"403 with room":                {403, http.Header{"X-Ratelimit-Remaining": {"5"}, "X-Ratelimit-Reset": {"5"}}, "", provider.Blocked, provider.LayerTarget},
		"402 with a counter at zero":   {402, http.Header{"X-Ratelimit-Remaining": {"0"}}, "", provider.Limited, provider.LayerTarget},
		"a challenge":                  {403, http.Header{"Cf-Mitigated": {"challenge"}, "Retry-After": {"9"}}, "", provider.Blocked, provider.LayerTarget},
		"a challenge as 200":           {200, http.Header{"Cf-Mitigated": {"challenge"}}, "", provider.Blocked, provider.LayerTarget},
		"a challenge as 503":           {503, http.Header{"Cf-Mitigated": {"Challenge"}, "Retry-After": {"9"}}, "", provider.Blocked, provider.LayerTarget},
		"429 and a challenge":          {429, http.Header{"Cf-Mitigated": {"challenge"}}, "", provider.Limited, provider.LayerTarget},
		"404":                          {404, nil, "", provider.NotFound, provider.LayerTarget},
		"410":                          {410, nil, "", provider.NotFound, provider.LayerTarget},
		"451":                          {451, nil, "", provider.Blocked, provider.LayerTarget},
		"400":                          {400, nil, "", provider.Refused, provider.LayerTarget},
		"407":                          {407, nil, "", provider.Refused, provider.LayerTarget},
		"422":                          {422, nil, "", provider.Refused, provider.LayerTarget},
		"408":                          {408, nil, "", provider.Failed, provider.LayerTarget},
		"421":                          {421, nil, "", provider.Failed, provider.LayerTarget},
		"425":                          {425, nil, "", provider.Failed, provider.LayerTarget},
		"503 with a wait":              {503, http.Header{"Retry-After": {"9"}}, "", provider.Busy, provider.LayerTarget},
		"500 with a wait":              {500, http.Header{"Retry-After": {"9"}}, "", provider.Failed, provider.LayerTarget},
		"304":                          {304, nil, "", provider.Failed, provider.LayerTarget},
		"300 with a place":             {300, http.Header{"Location": {"/x"}}, "", provider.Failed, provider.LayerTarget},
		"101":                          {101, nil, "", provider.Failed, provider.LayerTarget},
		"dns":                          {0, nil, provider.FaultDNS, provider.Transport, provider.LayerTransport},
		"too large":                    {200, nil, provider.FaultTooLarge, provider.TooLarge, provider.LayerTarget},
		"an address that is refused":   {0, nil, provider.FaultForbidden, provider.Refused, provider.LayerTarget},
		"200 cut off":                  {200, nil, provider.FaultTruncated, provider.Transport, provider.LayerTransport},
		"429 cut off":                  {429, http.Header{"Retry-After": {"9"}}, provider.FaultTruncated, provider.Limited, provider.LayerTarget},
		"429 whose body is too large":  {429, nil, provider.FaultTooLarge, provider.Limited, provider.LayerTarget},
		"503 with a wait, reset after": {503, http.Header{"Retry-After": {"9"}}, provider.FaultReset, provider.Busy, provider.LayerTarget},
	} {
		t.Run(name, func(t *testing.T) {
			reply := New(Options{}).Read(fetch("/"), provider.Response{Status: c.status, Header: c.header, Fault: c.fault, Received: noon})
			if reply.Outcome != c.outcome || reply.Layer != c.layer {
				t.Fatalf("read as %s/%s (%s), want %s/%s", reply.Outcome, reply.Layer, reply.Error, c.outcome, c.layer)
			}
			if reply.HTTPStatus.OK != (c.status != 0) {
				t.Errorf("status %+v", reply.HTTPStatus)
			}
		})
	}
}

func TestLookupsAreNotJudgedForAccess(t *testing.T) {
	for status, want := range map[int]provider.Outcome{
		200: provider.Accepted, 403: provider.Refused, 401: provider.Refused, 404: provider.NotFound, 429: provider.Limited, 500: provider.Failed,
	} {
		call := fetch("/robots.txt")
		call.Kind = provider.Lookup
		if got := New(Options{}).Read(call, provider.Response{Status: status, Received: noon}).Items[0].Outcome; got != want {
			t.Errorf("%d: %s, want %s", status, got, want)
		}
	}
}

func TestRedirects(t *testing.T) {
	for name, c := range map[string]struct {
		from, to string
		want     string // the location; empty: not followed
		outcome  provider.Outcome
	}{
		"a path":                   {"/a", "/b?x=1", "https://a.test/b?x=1", provider.Redirected},
		"relative":                 {"/d/a", "b", "https://a.test/d/b", provider.Redirected},
		"another host":             {"/a", "http://b.test:8080/", "http://b.test:8080/", provider.Redirected},
		"no scheme":                {"/a", "//b.test/x", "https://b.test/x", provider.Redirected},
		"a fragment":               {"/a", "/b#top", "https://a.test/b", provider.Redirected},
		"not ASCII":                {"/a", "/é", "https://a.test/%C3%A9", provider.Redirected},
		"nothing":                  {"/a", "", "", provider.Failed},
		"a file":                   {"/a", "file:///etc/passwd", "", provider.Failed},
		"a script":                 {"/a", "javascript:alert(1)", "", provider.Failed},
		"credentials":              {"/a", "https://u:p@b.test/", "", provider.Failed},
		"a port beyond ports":      {"/a", "https://b.test:99999/", "", provider.Failed},
		"a port of letters":        {"/a", "https://b.test:robots.txt/", "", provider.Failed},
		"no host":                  {"/a", "https:///x", "", provider.Failed},
		"control characters":       {"/a", "/b\x00c", "", provider.Failed},
		"too long":                 {"/a", "/" + strings.Repeat("a", 9000), "", provider.Failed},
		"a login page":             {"/a", "/login?next=/a", "", provider.Blocked},
		"a login page, other host": {"/a", "https://sso.b.test/start", "", provider.Blocked},
		"an account's login":       {"/a", "/account/Login.aspx", "", provider.Blocked},
		"a login that was asked":   {"/login", "/login/", "https://a.test/login/", provider.Redirected},
		"a word like login":        {"/a", "/blog/login-form-design", "https://a.test/blog/login-form-design", provider.Redirected},
	} {
		t.Run(name, func(t *testing.T) {
			item := New(Options{}).Read(fetch(c.from), provider.Response{Status: 302, Header: http.Header{"Location": {c.to}}, Received: noon}).Items[0]
			if item.Outcome != c.outcome || item.Location != c.want {
				t.Fatalf("%s to %q (%s), want %s to %q", item.Outcome, item.Location, item.Error, c.outcome, c.want)
			}
			if (item.Error == "") != (c.outcome == provider.Redirected) || strings.Contains(item.Error, "u:p") || len(item.Error) > 300 {
				t.Errorf("reason %q", item.Error)
			}
		})
	}
}

func TestRequest(t *testing.T) {
	p := New(Options{Header: http.Header{"accept-language": {"en"}, "Cookie": {"a=1"}}})
	r, err := p.Request(fetch("/x?y=1"), "")
	if err != nil || r.Method != "GET" || r.URL != "https://a.test/x?y=1" || r.Body != nil {
		t.Fatalf("%+v, %v", r, err)
	}
	if r.Header.Get("User-Agent") != DefaultUserAgent || r.Header.Get("Accept-Language") != "en" || r.Header.Get("Cookie") != "a=1" {
		t.Errorf("headers %v", r.Header)
	}
	r.Header["Accept-Language"][0] = "changed"
	if again, _ := p.Request(fetch("/"), ""); again.Header.Get("Accept-Language") != "en" {
		t.Error("a request shares its headers with the provider")
	}
	if r, _ := New(Options{UserAgent: "acme-bot/1.0"}).Request(fetch("/"), ""); r.Header.Get("User-Agent") != "acme-bot/1.0" {
		t.Errorf("user agent %q", r.Header.Get("User-Agent"))
	}
}

func TestConfiguredHeadersStayAtHome(t *testing.T) {
	p := New(Options{Header: http.Header{"Authorization": {"Bearer s3cret"}}})
	for home, sent := range map[string]bool{"a.test": true, "A.test": true, "b.test": false, "": false, "sub.a.test": false} {
		call := fetch("/")
		call.Targets[0].Home = home
		r, err := p.Request(call, "")
		if err != nil || (r.Header.Get("Authorization") != "") != sent {
			t.Errorf("home %q: %v, %v", home, r.Header, err)
		}
	}
}

func TestRequestRefusesWhatCannotBeFetched(t *testing.T) {
	for _, target := range []string{"", "ftp://a.test/", "/relative", "https://u:s3cret@a.test/", "https://"} {
		_, err := New(Options{}).Request(provider.Call{Kind: provider.Fetch, Targets: []provider.Target{{URL: target}}}, "")
		if err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v", target, err)
		}
	}
	if _, err := New(Options{}).Request(provider.Call{Kind: provider.Fetch}, ""); err == nil {
		t.Error("a call without targets made a request")
	}
}

func FuzzRead(f *testing.F) {
	f.Add(200, "", "", "https://a.test/", "page", "")
	f.Add(302, "/login", "9", "https://a.test/a", "", "truncated")
	f.Add(429, "http://[::1", "Wed, 01 Jul 2026 12:05:00 GMT", "", "", "too_large")
	f.Add(-1, "//", "x", "::", "", "")
	p := New(Options{})
	f.Fuzz(func(t *testing.T, status int, location, retry, from, body, fault string) {
		call := provider.Call{Kind: provider.Fetch, Targets: []provider.Target{{Task: 1, URL: from}}}
		r := provider.Response{
			Status: status, Body: []byte(body), Received: noon, Fault: provider.Fault(fault),
			Header: http.Header{"Location": {location}, "Retry-After": {retry}},
		}
		reply := p.Read(call, r)
		item := reply.Items[0]
		if item.Outcome == "" || (item.Page != nil) != (item.Outcome == provider.Accepted) || (item.Location != "") != (item.Outcome == provider.Redirected) {
			t.Fatalf("%+v", item)
		}
		if strings.ContainsAny(item.Error, "\n\r\x00\x1b") || len(item.Error) > 500 {
			t.Fatalf("reason %q", item.Error)
		}
		if item.Outcome == provider.Redirected && !strings.HasPrefix(item.Location, "http") {
			t.Fatalf("location %q", item.Location)
		}
		if !reflect.DeepEqual(reply, p.Read(call, r)) {
			t.Fatal("two readings differ")
		}
	})
}
