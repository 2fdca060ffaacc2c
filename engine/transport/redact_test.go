package transport

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestRedactURL(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"plain":            {"https://a.test/p?q=mug&page=2", "https://a.test/p?q=mug&page=2"},
		"userinfo":         {"https://bob:hunter2@a.test/p", "https://[redacted]@a.test/p"},
		"userinfo with at": {"https://bob:p@ss@a.test/p", "https://[redacted]@a.test/p"},
		"api_key":          {"https://a.test/p?api_key=k1&x=1", "https://a.test/p?api_key=[redacted]&x=1"},
		"encoded name":     {"https://a.test/p?api%5Fkey=k1", "https://a.test/p?api%5Fkey=[redacted]"},
		"upper case":       {"https://a.test/p?API-KEY=k1", "https://a.test/p?API-KEY=[redacted]"},
		"signature":        {"https://a.test/p?X-Amz-Signature=ab&X-Amz-Date=1", "https://a.test/p?X-Amz-Signature=[redacted]&X-Amz-Date=1"},
		"oauth":            {"https://a.test/cb?code=abc&state=s", "https://a.test/cb?code=[redacted]&state=[redacted]"},
		"fragment":         {"https://a.test/#access_token=abc&x=1", "https://a.test/#access_token=[redacted]&x=1"},
		"url in parameter": {"https://a.test/?url=https%3A%2F%2Fb.test%3Ftoken%3Dabc", "https://a.test/?url=https%3A%2F%2Fb.test%3Ftoken%3D[redacted]"},
		"numbers stay":     {"https://a.test/p/1234567890?id=9876543210", "https://a.test/p/1234567890?id=9876543210"},
		"words stay":       {"https://a.test/sk-knives/omni-channel?sort=key", "https://a.test/sk-knives/omni-channel?sort=key"},
		"empty value":      {"https://a.test/?token=&x=1", "https://a.test/?token=&x=1"},
		"no url":           {"%%%", "%%%"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := RedactURL(c.in); got != c.want {
				t.Errorf("RedactURL(%q)\n got %q\nwant %q", c.in, got, c.want)
			}
		})
	}
}

func TestShapesAreTakenOut(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"the layer auth":     {"auth: the platform answered 401", "auth: the platform answered 401"},
		"an auth value":      {"auth: hunter and more", "auth: [redacted] and more"},
		"an auth value last": {"auth: secretword", "auth: [redacted]"},
		"nothing":            {`{"success":false,"limit":5,"reset":60}`, `{"success":false,"limit":5,"reset":60}`},
		"status code stays":  {`{"status_code":429,"code":"VALIDATION_ERROR"}`, `{"status_code":429,"code":"VALIDATION_ERROR"}`},
		"bearer":             {"sent Bearer abc.def today", "sent Bearer [redacted] today"},
		"basic":              {"Basic dXNlcjpwYXNz", "Basic [redacted]"},
		"basic word":         {"basic information", "basic information"},
		"header":             {"x-api-key: k-1\nnext: line", "x-api-key: [redacted]\nnext: line"},
		"authorization":      {"Authorization: Digest username=\"a\", x=1\nnext", "Authorization: [redacted]\nnext"},
		"cookie":             {"Set-Cookie: a=\"b\"; c=d\r\nnext", "Set-Cookie: [redacted]\r\nnext"},
		"json":               {`{"api_key":"a \" b","x":1}`, `{"api_key":"[redacted]","x":1}`},
		"json in json":       {`{"body":"{\"token\":\"abc\",\"x\":1}"}`, `{"body":"{\"token\":\"[redacted]\",\"x\":1}"}`},
		"json number":        {`{"token":12345,"x":1}`, `{"token":[redacted],"x":1}`},
		"json list":          {`{"tokens":["a","b"],"x":1}`, `{"tokens":[redacted],"x":1}`},
		"json object":        {`{"session":{"id":1,"secret":"s"}}`, `{"session":{"id":1,"secret":"[redacted]"}}`},
		"cut json":           {`{"password":"abc def`, `{"password":"[redacted]`},
		"form":               {"a=1&password=x;y&b=2", "a=1&password=[redacted]&b=2"},
		"behind harmless":    {"q=token=abc", "q=token=[redacted]"},
		"encoded":            {"u%3Fapi_key%3Dabc", "u%3Fapi_key%3D[redacted]"},
		"sentence":           {"the API key 0123abcd0123abcd is invalid", "the API key [redacted] is invalid"},
		"spidra":             {"got spd_live0123", "got [redacted]"},
		"jwt":                {"eyJhbGciOiJI.eyJzdWIiOiIx.sig-1", "[redacted]"},
		"url":                {"GET http://u:p@h.test/", "GET http://[redacted]@h.test/"},
		"e-mail":             {"mail jane.doe+x@shop.example now", "mail [email] now"},
		"long digits":        {"call 0301234567 or 12345678", "call [digits] or 12345678"},
		"card":               {"4111 1111 1111 1111", "[digits]"},
		"phone":              {"+49 (30) 123-4567", "[digits]"},
		"date stays":         {"2025-10-29T12:00:00Z", "2025-10-29T12:00:00Z"},
		"scheme behind name": {"token: Bearer abc, auth=Basic QQ== x", "token: [redacted], auth=[redacted] x"},
		"go header":          {"map[Authorization:[Bearer abc] Cookie:[a=b; c=d] X:[1]]", "map[Authorization:[redacted]"},
		"header as value":    {"cookie=a=b; c=d\nnext", "cookie=[redacted]\nnext"},
		"encoded json":       {"%22api_key%22%3A%22abc%22", "%22api_key%22%3A[redacted]"},
		"encoded name":       {"api%5Fkey=abc", "api%5Fkey=[redacted]"},
		"already":            {"token=[redacted] [email] [digits]", "token=[redacted] [email] [digits]"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := NewRedactor().Text(c.in); got != c.want {
				t.Errorf("Text(%q)\n got %q\nwant %q", c.in, got, c.want)
			}
		})
	}
}

func TestRedactorKnowsLiteralSecrets(t *testing.T) {
	const key = `k/3+y"ü`
	r := NewRedactor("abc", key, "longer-"+key)
	quoted, err := json.Marshal(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, spelled := range map[string]string{
		"plain":         key,
		"longer":        "longer-" + key,
		"query":         url.QueryEscape(key),
		"path":          url.PathEscape(key),
		"lower hex":     strings.ToLower(url.QueryEscape(key)),
		"encoded twice": url.QueryEscape(url.QueryEscape(key)),
		"json":          string(quoted[1 : len(quoted)-1]),
	} {
		t.Run(name, func(t *testing.T) {
			if got := r.Text("<" + spelled + ">"); got != "<[redacted]>" {
				t.Errorf("got %q", got)
			}
		})
	}
	if got := r.Text("abc stays"); got != "abc stays" {
		t.Errorf("a secret of three bytes was taken: %q", got)
	}
	if got := NewRedactor("redacted").Text("a redacted b"); got != "a [redacted] b" {
		t.Errorf("a secret that is the mask's own word: %q", got)
	}
}

func TestSampleRedactsBeforeCutting(t *testing.T) {
	const key = "wxyzSECRETkeyOFtheprocess0"
	r := NewRedactor(key)
	for pad := 400; pad < 600; pad += 3 {
		for _, tail := range []int{0, 20 << 10} {
			body := strings.Repeat("x", pad) + key + strings.Repeat("y ", tail)
			got := string(r.Sample([]byte(body), 512))
			if len(got) > 512 {
				t.Fatalf("pad %d: %d bytes", pad, len(got))
			}
			if strings.Contains(got, key[:4]) {
				t.Fatalf("pad %d: a piece of the secret survived: %q", pad, got)
			}
		}
	}
}

func TestSampleWindowEndShowsNothing(t *testing.T) {
	const key = "wxyzSECRETkeyOFtheprocess0"
	r := NewRedactor(key)
	// A body that shrinks to nearly nothing when redacted, so that the window's end is in the sample.
	for pad := 0; pad < 300; pad += 7 {
		body := strings.Repeat("1", pad) + strings.Repeat("1234567890", 900) + " " + strings.Repeat(key, 4000)
		if got := string(r.Sample([]byte(body), 512)); strings.Contains(got, key[:4]) {
			t.Fatalf("pad %d: %q", pad, got)
		}
	}
	if got := r.Sample([]byte("ünïcode"), 3); !utf8.Valid(got) || string(got) != "ün" {
		t.Errorf("cut inside a character: %q", got)
	}
	if got := r.Sample(nil, 10); got != nil {
		t.Errorf("sample of nothing: %q", got)
	}
}

func TestHeadersKeepsTheAllowList(t *testing.T) {
	r := NewRedactor("s3cr3t-key")
	got := r.Headers(http.Header{
		"Retry-After":         {"5", "7"},
		"X-Ratelimit-Reset":   {"1372700873"},
		"Ratelimit":           {`"default";r=0;t=5`},
		"X-Rate-Limit-Limit":  {"10"},
		"X-Credits-Remaining": {"41.5"},
		"X-Mode-Used":         {"auto (request)"},
		"Server":              {"nginx s3cr3t-key"},
		"Date":                {strings.Repeat("d", 1000)},
		"Set-Cookie":          {"sid=abc"},
		"Authorization":       {"Bearer x"},
		"X-Request-Id":        {"1"},
	})
	want := map[string]string{
		"retry-after": "5, 7", "x-ratelimit-reset": "1372700873", "ratelimit": `"default";r=0;t=5`,
		"x-rate-limit-limit": "10", "x-credits-remaining": "41.5", "x-mode-used": "auto (request)",
		"server": "nginx [redacted]", "date": strings.Repeat("d", 256),
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	flood := http.Header{}
	for i := range 100 {
		flood.Set(fmt.Sprintf("X-Ratelimit-%03d", i), "1")
	}
	if n := len(r.Headers(flood)); n != 32 {
		t.Errorf("%d headers kept, want 32", n)
	}
}

func FuzzRedact(f *testing.F) {
	for _, s := range []string{"", "token=a", `{"api_key":"x"}`, "q=token=[redacted]", "a@b.cd", "123456789", "http://u:p@h/",
		"Bearer [x", `\"key\":\"v`, "key%253dv", "[redacted", "cookie: a\nb", "tokens:[", "token:{", "?token=a#token=b;sid=c"} {
		f.Add(s, "secret-value")
	}
	f.Fuzz(func(t *testing.T, s, secret string) {
		r := NewRedactor(secret)
		for name, redact := range map[string]func(string) string{"text": r.Text, "url": RedactURL} {
			once := redact(s)
			if twice := redact(once); twice != once {
				t.Errorf("%s is not idempotent:\n in   %q\n once %q\n then %q", name, s, once, twice)
			}
			if len(once) > 8*len(s)+32 {
				t.Errorf("%s grew from %d to %d bytes", name, len(s), len(once))
			}
		}
		secret = strings.TrimSpace(secret)
		for _, m := range []string{redacted, email, digits} {
			if strings.Contains(m, secret) || strings.Contains(secret, m) {
				return // it cannot be told from what stands in its place
			}
		}
		for _, in := range []string{s + secret + s, "?" + s + url.QueryEscape(secret)} {
			if got := r.Text(in); len(secret) >= minSecret && strings.Contains(strings.NewReplacer(redacted, "\x00", email, "\x00", digits, "\x00").Replace(got), secret) {
				t.Errorf("the secret %q survived in %q", secret, got)
			}
		}
		if sample := r.Sample([]byte(s), 64); len(sample) > 64 {
			t.Errorf("a sample of %d bytes", len(sample))
		}
	})
}

func BenchmarkSample(b *testing.B) {
	r := NewRedactor("a-process-key-of-thirty-two-bytes")
	page := []byte(strings.Repeat(`<p class="x">a line of a page, id=17</p>`+"\n", 1000))
	b.ReportAllocs()
	for b.Loop() {
		r.Sample(page, 512)
	}
}
