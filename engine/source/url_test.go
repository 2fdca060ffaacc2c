package source

import (
	"net/url"
	"strings"
	"testing"
	"unicode"
)

func TestNormalise(t *testing.T) {
	tests := []struct{ name, raw, want, host string }{
		{"plain", "http://example.test/", "http://example.test/", "example.test"},
		{"empty path", "http://example.test", "http://example.test/", "example.test"},
		{"scheme and host in capitals", "HTTP://EXAMPLE.TEST/A", "http://example.test/A", "example.test"},
		{"default port", "http://example.test:80/", "http://example.test/", "example.test"},
		{"default port of https", "https://example.test:443/x", "https://example.test/x", "example.test"},
		{"port with leading zeros", "http://example.test:0080/", "http://example.test/", "example.test"},
		{"empty port", "http://example.test:/", "http://example.test/", "example.test"},
		{"other port", "http://example.test:8080/", "http://example.test:8080/", "example.test"},
		{"the other scheme's default port", "http://example.test:443/", "http://example.test:443/", "example.test"},
		{"fragment", "http://example.test/#top", "http://example.test/", "example.test"},
		{"fragment with a bad escape", "http://example.test/#%zz", "http://example.test/", "example.test"},
		{"fragment after query", "http://example.test?a#b?c", "http://example.test/?a", "example.test"},
		{"trailing dot", "http://example.test./", "http://example.test/", "example.test"},
		{"trailing dot and port", "http://example.test.:80", "http://example.test/", "example.test"},
		{"dot segments", "http://example.test/./a/../", "http://example.test/", "example.test"},
		{"dot segments past the root", "http://a.test/../../etc/./x/..", "http://a.test/etc/", "a.test"},
		{"encoded dot segments", "http://a.test/%2e%2e/%2E%2e/etc", "http://a.test/etc", "a.test"},
		{"empty segments", "http://a.test/a//b/", "http://a.test/a//b/", "a.test"},
		{"dots that are no segments", "http://a.test/a..b/.c/...", "http://a.test/a..b/.c/...", "a.test"},
		{"unreserved decoded", "http://example.test/%7Euser%41", "http://example.test/~userA", "example.test"},
		{"escape in capitals", "http://example.test/%e4", "http://example.test/%E4", "example.test"},
		{"slash stays escaped", "http://a.test/a%2fb", "http://a.test/a%2Fb", "a.test"},
		{"escaped slash beside a raw bar", "http://a.test/a%2fb|c", "http://a.test/a%2Fb%7Cc", "a.test"},
		{"doubly escaped", "http://a.test/%2520", "http://a.test/%2520", "a.test"},
		{"escaped NUL stays", "http://a.test/%00", "http://a.test/%00", "a.test"},
		{"escaped line break stays", "http://a.test/%0d%0aX-Injected:%201", "http://a.test/%0D%0AX-Injected:%201", "a.test"},
		{"backslash", `http://a.test/a\b`, "http://a.test/a%5Cb", "a.test"},
		{"braces", "http://a.test/{x}", "http://a.test/%7Bx%7D", "a.test"},
		{"space", "http://a.test/a b?c d", "http://a.test/a%20b?c%20d", "a.test"},
		{"letters", "http://a.test/café", "http://a.test/caf%C3%A9", "a.test"},
		{"letters in the query", "http://a.test/日本?q=検索", "http://a.test/%E6%97%A5%E6%9C%AC?q=%E6%A4%9C%E7%B4%A2", "a.test"},
		{"query order and empties", "http://a.test/?b=2&a=1&a=&=", "http://a.test/?b=2&a=1&a=&=", "a.test"},
		{"empty query", "http://a.test/?", "http://a.test/?", "a.test"},
		{"brackets in the query", "http://a.test/?a[]=1", "http://a.test/?a[]=1", "a.test"},
		{"at sign in the path", "http://a.test/@user:x", "http://a.test/@user:x", "a.test"},
		{"IDN", "http://bücher.test/", "http://xn--bcher-kva.test/", "xn--bcher-kva.test"},
		{"IDN in capitals", "http://BÜCHER.test/", "http://xn--bcher-kva.test/", "xn--bcher-kva.test"},
		{"punycode", "http://XN--bcher-kva.test/", "http://xn--bcher-kva.test/", "xn--bcher-kva.test"},
		{"sharp s is a letter of its own", "http://straße.test/", "http://xn--strae-oqa.test/", "xn--strae-oqa.test"},
		{"ideographic full stop", "http://a。test/", "http://a.test/", "a.test"},
		{"host in full-width letters", "http://ａ.test/", "http://a.test/", "a.test"},
		{"percent-encoded host", "http://%61%2Etest/", "http://a.test/", "a.test"},
		{"percent-encoded IDN", "http://b%C3%BCcher.test/", "http://xn--bcher-kva.test/", "xn--bcher-kva.test"},
		{"underscore", "http://a_b.test/", "http://a_b.test/", "a_b.test"},
		{"two hyphens", "http://r3---sn.test/", "http://r3---sn.test/", "r3---sn.test"},
		{"www kept", "http://www.example.test/", "http://www.example.test/", "www.example.test"},
		{"IPv4", "http://127.0.0.1:8080/x", "http://127.0.0.1:8080/x", "127.0.0.1"},
		{"IPv6", "http://[2001:DB8:0:0::1]:80/x", "http://[2001:db8::1]/x", "2001:db8::1"},
		{"IPv6 with port", "http://[::1]:8080", "http://[::1]:8080/", "::1"},
		{"blanks around", " \thttp://a.test/ \t", "http://a.test/", "a.test"},
		{"byte order mark before", "\ufeffhttp://a.test/", "http://a.test/", "a.test"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Normalise(tt.raw)
			if err != nil {
				t.Fatalf("Normalise(%q): %v", tt.raw, err)
			}
			if got.String != tt.want || got.Host != tt.host {
				t.Errorf("Normalise(%q) = %q, host %q; want %q, host %q", tt.raw, got.String, got.Host, tt.want, tt.host)
			}
		})
	}
}

func TestNormaliseRefuses(t *testing.T) {
	tests := []struct{ name, raw, why string }{
		{"nothing", " ", "empty"},
		{"host name", "example.test", "absolute"},
		{"host and path", "example.test/path", "absolute"},
		{"host and port", "www.example.test:8080/x", "absolute"},
		{"localhost and port", "localhost:8080", "absolute"},
		{"relative to a scheme", "//example.test/rel", "absolute"},
		{"relative", "/only/path", "absolute"},
		{"query", "?q=1", "absolute"},
		{"ftp", "ftp://example.test/file", "scheme ftp"},
		{"file", "file:///etc/passwd", "scheme file"},
		{"javascript", "JaVaScRiPt:alert(1)", "scheme javascript"},
		{"data", "data:text/html,<h1>x</h1>", "scheme data"},
		{"mailto", "mailto:someone@example.test", "scheme mailto"},
		{"about", "about:blank", "scheme about"},
		{"hxxp", "hxxp://example.test/", "scheme hxxp"},
		{"no slashes", "http:example.test", "followed by //"},
		{"one slash", "http:/example.test/", "followed by //"},
		{"three slashes", "http:///nohost", "no host"},
		{"no host", "http://", "no host"},
		{"only a port", "http://:80/", "no host"},
		{"only a dot", "http://./", "no host"},
		{"escape that is no hex", "http://a.test/%zz", "percent escape at byte 15"},
		{"lone percent", "http://a.test/%", "percent escape"},
		{"half an escape", "http://a.test/%4", "percent escape"},
		{"bad escape in the query", "http://a.test/%25?q=%", "percent escape at byte 21"},
		{"bad escape in the host", "http://a%zz.test/", "percent escape"},
		{"escape character", "http://a.test/\x1b[2J", "control character U+001B at byte 15"},
		{"C1 control", "http://a.test/\u009b2J", "control character U+009B"},
		{"DEL", "http://a.test/\x7f", "control character U+007F"},
		{"NUL", "http://a.test/\x00x", "control character"},
		{"tab within", "http://a.test/\tx", "control character"},
		{"line break within", "http://a.test/a\nb", "control character"},
		{"invalid UTF-8", "http://a.test/\x9b2J", "UTF-8"},
		{"two URLs", "http://a.test/1 http://a.test/2", "more than one"},
		{"port zero", "http://a.test:0/", "port"},
		{"port too high", "http://a.test:65536/", "port"},
		{"port past any integer", "http://a.test:99999999999999999999/", "port"},
		{"port no number", "http://a.test:8o/", "port"},
		{"negative port", "http://a.test:-1/", "port"},
		{"space in the host", "http://a b.test/", "host"},
		{"backslash after the host", `http://a.test\@b.test/`, "credentials"},
		{"backslash in the host", `http://a.test\x/`, "host"},
		{"empty label", "http://a..test/", "empty label"},
		{"two trailing dots", "http://a.test../", "empty label"},
		{"label too long", "http://" + strings.Repeat("a", 64) + ".test/", "63"},
		{"host too long", "http://" + strings.Repeat("a.", 130) + "test/", "253"},
		{"broken punycode", "http://xn--a.test/", "host"},
		{"encoded slash in the host", "http://a%2Fb.test/", "host"},
		{"encoded at in the host", "http://a%40b.test/", "host"},
		{"short IPv4", "http://127.1/", "IPv4"},
		{"IPv4 as one number", "http://2130706433/", "IPv4"},
		{"hexadecimal IPv4", "http://0x7f000001/", "IPv4"},
		{"octal IPv4", "http://0177.0.0.1/", "IPv4"},
		{"bare IPv6", "http://::1/", "host"},
		{"IPv6 unclosed", "http://[::1/", "bracket"},
		{"IPv6 with a zone", "http://[fe80::1%25eth0]/", "IPv6"},
		{"IPv4 in brackets", "http://[127.0.0.1]/", "IPv6"},
		{"text after IPv6", "http://[::1]x/", "IPv6"},
		{"too long", "http://a.test/" + strings.Repeat("a", MaxURLBytes), "longer"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Normalise(tt.raw)
			if err == nil {
				t.Fatalf("Normalise(%q) = %q, want a refusal", tt.raw, got.String)
			}
			if !strings.Contains(err.Error(), tt.why) {
				t.Errorf("Normalise(%q): %q does not name %q", tt.raw, err, tt.why)
			}
			checkReason(t, err.Error())
		})
	}
}

func TestNormaliseNeverRepeatsAPassword(t *testing.T) {
	const secret = "s3cr3tmadeup"
	for _, raw := range []string{
		"http://user:s3cr3tmadeup@a.test/1", "http://s3cr3tmadeup@a.test/2", "http://:s3cr3tmadeup@a.test/3",
		"http://user:%zzs3cr3tmadeup@a.test/", "https://user:s3cr3tmadeup:x@a.test/7", "ftp://user:s3cr3tmadeup@a.test/",
		"http://user:s3cr3tmadeup/x@a.test/", "http:/user:s3cr3tmadeup@a.test/", "user:s3cr3tmadeup@a.test",
		"s3cr3tmadeup:x@a.test", "http://user:a\x1bs3cr3tmadeup@a.test/", "http://user:s3cr3tmadeup\\@a.test/",
		"http://a.test:s3cr3tmadeup/",
	} {
		_, err := Normalise(raw)
		if err == nil {
			t.Errorf("Normalise(%q): credentials accepted", raw)
		} else if strings.Contains(err.Error(), secret) {
			t.Errorf("Normalise(%q) repeats the password: %v", raw, err)
		}
	}
}

// checkReason asserts what a Problem and an error promise.
func checkReason(t *testing.T, why string) {
	t.Helper()
	if why == "" {
		t.Error("a refusal without a reason")
	}
	for _, r := range why {
		if r >= 0x7f || unicode.IsControl(r) {
			t.Errorf("reason %q is not one line of printable ASCII", why)
			return
		}
	}
}

func FuzzNormalise(f *testing.F) {
	for _, raw := range []string{
		"http://example.test/./a/../%7Eb%2f?x=[%41]#y", "HTTPS://BÜCHER.test.:443/日本", "http://[2001:DB8::1]:80/", "http://a%2Etest/\x1b",
		"http://user:pw@a.test/", "http://a。test//..//b", "http://xn--bcher-kva.test", "http://0x7f.1/", "http://a.test/%zz", "http://ﬀ.test/?%",
	} {
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		u, err := Normalise(raw)
		if err != nil {
			checkReason(t, err.Error())
			return
		}
		again, err := Normalise(u.String)
		if err != nil || again != u {
			t.Fatalf("Normalise(%q) = %q, but that gives %q, %v", raw, u.String, again.String, err)
		}
		for i := range len(u.String) {
			if c := u.String[i]; c <= ' ' || c >= 0x7f {
				t.Fatalf("Normalise(%q) = %q holds byte %#x", raw, u.String, c)
			}
		}
		if u.Host == "" || u.Host != strings.ToLower(u.Host) || strings.HasSuffix(u.Host, ".") {
			t.Fatalf("Normalise(%q): host %q", raw, u.Host)
		}
		// What Go's client makes of it must be what was normalised: the same host is asked for the same page.
		std, err := url.Parse(u.String)
		if err != nil || std.User != nil || std.Hostname() != u.Host || std.Scheme+"://"+std.Host+std.RequestURI() != u.String {
			t.Fatalf("Normalise(%q) = %q, which Go's client reads as %v, %v", raw, u.String, std, err)
		}
	})
}
