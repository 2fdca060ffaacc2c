package transport

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"dev.scrapetop/engine/provider"
)

// TestMain fails when a test left goroutines behind.
func TestMain(m *testing.M) {
	code := m.Run()
	deadline := time.Now().Add(5 * time.Second)
	for len(leftBehind()) > 0 && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	if left := leftBehind(); len(left) > 0 && code == 0 {
		fmt.Fprintf(os.Stderr, "%d goroutines were left behind:\n%s\n", len(left), strings.Join(left, "\n\n"))
		code = 1
	}
	os.Exit(code)
}

// leftBehind are the stacks of goroutines that are neither this one nor the runtime's own.
func leftBehind() []string {
	buf := make([]byte, 1<<20)
	stacks := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
	var out []string
	for _, s := range stacks[1:] {
		if !strings.Contains(s, "os/signal.") && !strings.Contains(s, "testing.(*F)") && !strings.Contains(s, "internal/fuzz") {
			out = append(out, s)
		}
	}
	return out
}

func anyHost(string) bool { return true }

func client(t *testing.T, cfg Config) *Client {
	t.Helper()
	if cfg.AllowPrivate == nil {
		cfg.AllowPrivate = anyHost
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = 10 * time.Second
	}
	c := New(cfg)
	t.Cleanup(c.Close)
	return c
}

// raw serves each connection with serve until the test ends.
func raw(t *testing.T, serve func(conn net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var open atomic.Int64
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			open.Add(1)
			go func() {
				defer open.Add(-1)
				defer conn.Close()
				serve(conn)
			}()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		<-done
	})
	return "http://" + l.Addr().String()
}

// head reads a request's header section and returns its lines.
func head(r *bufio.Reader) ([]string, error) {
	var lines []string
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return lines, err
		}
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			return lines, nil
		}
		lines = append(lines, line)
	}
}

// answer serves one request with these bytes and closes.
func answer(t *testing.T, response []byte) string {
	return raw(t, func(conn net.Conn) {
		if _, err := head(bufio.NewReader(conn)); err == nil {
			conn.Write(response)
		}
	})
}

func get(url string) provider.Request { return provider.Request{Method: "GET", URL: url} }

func TestRawResponses(t *testing.T) {
	for file, want := range map[string]struct {
		status int
		fault  provider.Fault
		body   string // a part of it
	}{
		"100_ok":                    {200, "", "<title>A page</title>"},
		"102_gzip_truncated":        {200, provider.FaultTruncated, ""},
		"104_length_too_long":       {200, provider.FaultTruncated, ""},
		"106_chunked_cut":           {200, provider.FaultTruncated, ""},
		"108_nul_bytes":             {200, "", "nul\x00title"},
		"112_empty_200":             {200, "", ""},
		"116_429_html":              {429, "", "<"},
		"120_429_control_in_header": {0, provider.FaultProtocol, ""},
		"127_redirect_loop":         {302, "", ""},
		"129_redirect_bad_location": {302, "", ""},
		"132_header_flood":          {200, "", "<"},
		"134_status_999":            {999, "", "denied"},
		"136_gzip_label_plain_body": {200, provider.FaultDecode, ""},
		"138_charset_meta":          {200, "", "<"},
		"216_truncated":             {200, "", "half of"},
	} {
		t.Run(file, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", "responses", file+".http"))
			if err != nil {
				t.Fatal(err)
			}
			got := client(t, Config{}).Do(t.Context(), get(answer(t, data)+"/x"))
			if got.Status != want.status || got.Fault != want.fault {
				t.Fatalf("status %d fault %q (%s), want %d %q", got.Status, got.Fault, got.Error, want.status, want.fault)
			}
			if (got.Fault == "") != (got.Error == "") {
				t.Errorf("fault %q with error %q", got.Fault, got.Error)
			}
			if got.Fault != "" && got.Body != nil {
				t.Errorf("a fault with a body of %d bytes", len(got.Body))
			}
			if !bytes.Contains(got.Body, []byte(want.body)) {
				t.Errorf("body %q lacks %q", got.Body, want.body)
			}
			if !got.Sent || got.Received.IsZero() || got.Elapsed <= 0 {
				t.Errorf("sent %v, received %v, elapsed %v", got.Sent, got.Received, got.Elapsed)
			}
		})
	}
}

func TestRedirectIsReturnedNotFollowed(t *testing.T) {
	var seen atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		http.Redirect(w, r, "/next", http.StatusFound)
	}))
	defer s.Close()
	got := client(t, Config{}).Do(t.Context(), get(s.URL+"/first"))
	if got.Status != 302 || got.Header.Get("Location") != "/next" || seen.Load() != 1 {
		t.Errorf("status %d, location %q, %d requests", got.Status, got.Header.Get("Location"), seen.Load())
	}
}

func TestRequestAsSent(t *testing.T) {
	lines := make(chan []string, 1)
	url := raw(t, func(conn net.Conn) {
		if l, err := head(bufio.NewReader(conn)); err == nil {
			lines <- l
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
		}
	})
	c := client(t, Config{})
	h := http.Header{"Host": {"shop.test"}, "X-A": {"1"}}
	for range 2 {
		if got := c.Do(t.Context(), provider.Request{URL: url + "/p", Header: h}); got.Fault != "" {
			t.Fatal(got.Error)
		}
		text := "\n" + strings.Join(<-lines, "\n") + "\n"
		for _, want := range []string{"\nGET /p HTTP/1.1\n", "\nHost: shop.test\n", "\nX-A: 1\n", "\nAccept-Encoding: gzip\n", "\nUser-Agent: scrapetop\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("request lacks %q:%s", want, text)
			}
		}
		for _, never := range []string{"Cookie", "Referer"} {
			if strings.Contains(text, never) {
				t.Errorf("request holds %s:%s", never, text)
			}
		}
	}
	if h.Get("Host") == "" {
		t.Error("the caller's header was changed")
	}
}

func TestPostBodyArrives(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) }))
	defer s.Close()
	got := client(t, Config{}).Do(t.Context(), provider.Request{Method: "POST", URL: s.URL, Body: []byte(`{"url":"x"}`)})
	if string(got.Body) != `{"url":"x"}` || got.Bytes != 11 {
		t.Errorf("body %q, %d bytes on the wire, %s", got.Body, got.Bytes, got.Error)
	}
}

// A kept connection that breaks after the request was written: net/http alone would send the GET again.
func TestNothingIsSentTwice(t *testing.T) {
	var requests atomic.Int64
	url := raw(t, func(conn net.Conn) {
		r := bufio.NewReader(conn)
		for {
			if _, err := head(r); err != nil {
				return
			}
			if requests.Add(1) == 2 {
				return
			}
			io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	c := client(t, Config{})
	if first := c.Do(t.Context(), get(url)); string(first.Body) != "ok" {
		t.Fatal(first.Error)
	}
	second := c.Do(t.Context(), get(url))
	if second.Fault != provider.FaultReset || !second.Sent {
		t.Errorf("fault %q (%s), sent %v", second.Fault, second.Error, second.Sent)
	}
	if n := requests.Load(); n != 2 {
		t.Errorf("%d requests reached the server, want 2", n)
	}
	if third := c.Do(t.Context(), get(url)); string(third.Body) != "ok" {
		t.Errorf("the client is broken afterwards: %s", third.Error)
	}
}

func TestResetBeforeAnyAnswer(t *testing.T) {
	url := raw(t, func(conn net.Conn) {
		head(bufio.NewReader(conn))
		conn.(*net.TCPConn).SetLinger(0) // close sends RST
	})
	got := client(t, Config{}).Do(t.Context(), provider.Request{Method: "POST", URL: url, Body: []byte("x")})
	if got.Fault != provider.FaultReset || !got.Sent || got.Status != 0 {
		t.Errorf("fault %q (%s), sent %v, status %d", got.Fault, got.Error, got.Sent, got.Status)
	}
}

func TestResetInsideTheBody(t *testing.T) {
	url := raw(t, func(conn net.Conn) {
		head(bufio.NewReader(conn))
		io.WriteString(conn, "HTTP/1.1 202 Accepted\r\nContent-Length: 100\r\n\r\nhalf")
		conn.(*net.TCPConn).SetLinger(0)
	})
	got := client(t, Config{}).Do(t.Context(), get(url))
	// The reset may overtake the bytes before it.
	if got.Fault != provider.FaultTruncated && got.Fault != provider.FaultReset {
		t.Errorf("fault %q (%s)", got.Fault, got.Error)
	}
	if got.Body != nil {
		t.Errorf("body %q", got.Body)
	}
}

func TestConnectRefused(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	got := client(t, Config{}).Do(t.Context(), get("http://"+l.Addr().String()+"/?api_key=hidden-key"))
	if got.Fault != provider.FaultConnect || got.Sent {
		t.Errorf("fault %q (%s), sent %v", got.Fault, got.Error, got.Sent)
	}
	if strings.Contains(got.Error, "hidden-key") {
		t.Errorf("the error shows the key: %s", got.Error)
	}
}

type failing struct{ err error }

func (f failing) RoundTrip(*http.Request) (*http.Response, error) { return nil, f.err }

func TestDNSFailure(t *testing.T) {
	c := client(t, Config{RoundTripper: failing{&net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "gone.test"}}}})
	got := c.Do(t.Context(), get("http://gone.test/?token=abc"))
	if got.Fault != provider.FaultDNS || got.Sent || strings.Contains(got.Error, "abc") {
		t.Errorf("fault %q (%s), sent %v", got.Fault, got.Error, got.Sent)
	}
}

func TestErrorsAreRedactedAndOneLine(t *testing.T) {
	c := client(t, Config{
		RoundTripper: failing{errors.New("broken:\r\n\x1b[31mx-api-key: abc \x00 my-process-key " + strings.Repeat("z", 900))},
		Redactor:     NewRedactor("my-process-key"),
	})
	got := c.Do(t.Context(), get("http://a.test/"))
	if got.Fault != provider.FaultProtocol || len(got.Error) > 300 {
		t.Errorf("fault %q, %d bytes", got.Fault, len(got.Error))
	}
	for _, never := range []string{"abc", "my-process-key", "\n", "\x1b", "\x00"} {
		if strings.Contains(got.Error, never) {
			t.Errorf("error holds %q: %q", never, got.Error)
		}
	}
}

func TestTLSFailure(t *testing.T) {
	s := httptest.NewUnstartedServer(http.NotFoundHandler())
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	defer s.Close()
	got := client(t, Config{}).Do(t.Context(), get(s.URL))
	if got.Fault != provider.FaultTLS || got.Sent {
		t.Errorf("unknown authority: fault %q (%s), sent %v", got.Fault, got.Error, got.Sent)
	}
	plain := raw(t, func(conn net.Conn) {
		io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n")
		io.Copy(io.Discard, conn)
	})
	got = client(t, Config{}).Do(t.Context(), get("https"+strings.TrimPrefix(plain, "http")))
	if got.Fault != provider.FaultTLS || got.Sent {
		t.Errorf("no TLS there: fault %q (%s), sent %v", got.Fault, got.Error, got.Sent)
	}
}

func TestEndlessSlowBodyTimesOut(t *testing.T) {
	url := raw(t, func(conn net.Conn) {
		head(bufio.NewReader(conn))
		io.WriteString(conn, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for {
			if _, err := io.WriteString(conn, "1\r\nx\r\n"); err != nil {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	})
	got := client(t, Config{Timeout: 150 * time.Millisecond}).Do(t.Context(), get(url))
	if got.Fault != provider.FaultTimeout || got.Status != 200 || got.Elapsed > 5*time.Second {
		t.Errorf("fault %q (%s), status %d after %v", got.Fault, got.Error, got.Status, got.Elapsed)
	}
}

func TestSilentServerTimesOut(t *testing.T) {
	url := raw(t, func(conn net.Conn) { io.Copy(io.Discard, conn) })
	got := client(t, Config{Timeout: 100 * time.Millisecond}).Do(t.Context(), get(url))
	if got.Fault != provider.FaultTimeout || !got.Sent {
		t.Errorf("fault %q (%s), sent %v", got.Fault, got.Error, got.Sent)
	}
}

func TestCancelledByUs(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	url := raw(t, func(conn net.Conn) {
		head(bufio.NewReader(conn))
		cancel()
		io.Copy(io.Discard, conn)
	})
	got := client(t, Config{}).Do(ctx, get(url))
	if got.Fault != provider.FaultCancelled || !got.Sent || got.Error != "abandoned" {
		t.Errorf("fault %q (%s), sent %v", got.Fault, got.Error, got.Sent)
	}
}

func TestHeaderSectionWithoutEnd(t *testing.T) {
	url := raw(t, func(conn net.Conn) {
		head(bufio.NewReader(conn))
		io.WriteString(conn, "HTTP/1.1 200 OK\r\n")
		for {
			if _, err := io.WriteString(conn, "X-Filler: "+strings.Repeat("v", 1000)+"\r\n"); err != nil {
				return
			}
		}
	})
	if got := client(t, Config{}).Do(t.Context(), get(url)); got.Fault != provider.FaultProtocol {
		t.Errorf("fault %q (%s)", got.Fault, got.Error)
	}
}

func packed(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func encoded(coding string, body []byte) []byte {
	return fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", coding, len(body), body)
}

func TestGzipBombIsCutOff(t *testing.T) {
	bomb := packed(t, make([]byte, 10<<20))
	if len(bomb) > 12<<10 {
		t.Fatalf("the bomb has %d bytes", len(bomb))
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := client(t, Config{MaxBody: 1 << 20}).Do(t.Context(), get(answer(t, encoded("gzip", bomb))))
	runtime.ReadMemStats(&after)
	if got.Fault != provider.FaultTooLarge || got.Status != 200 {
		t.Errorf("fault %q (%s), status %d", got.Fault, got.Error, got.Status)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 8<<20 {
		t.Errorf("%d bytes allocated for a cap of 1 MiB", used)
	}
	if twice := client(t, Config{MaxBody: 1 << 20}).Do(t.Context(), get(answer(t, encoded("gzip, gzip", packed(t, bomb))))); twice.Fault != provider.FaultTooLarge {
		t.Errorf("packed twice: fault %q (%s)", twice.Fault, twice.Error)
	}
}

func TestBodyCap(t *testing.T) {
	at := bytes.Repeat([]byte("x"), 1000)
	chunked := fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n", len(at)+1, append(at, 'x'))
	for name, c := range map[string]struct {
		response []byte
		fault    provider.Fault
	}{
		"exactly the cap":        {encoded("identity", at), ""},
		"announced past the cap": {encoded("identity", append(at, 'x')), provider.FaultTooLarge},
		"unannounced":            {chunked, provider.FaultTooLarge},
		"packed to the cap":      {encoded("gzip", packed(t, at)), ""},
		"endless empty members":  {encoded("gzip", bytes.Repeat(packed(t, nil), 4000)), provider.FaultTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			got := client(t, Config{MaxBody: 1000}).Do(t.Context(), get(answer(t, c.response)))
			if got.Fault != c.fault {
				t.Errorf("fault %q (%s), want %q", got.Fault, got.Error, c.fault)
			}
		})
	}
}

func TestDecoding(t *testing.T) {
	page := []byte("<html>" + strings.Repeat("page ", 500) + "</html>")
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	w.Write(page)
	w.Close()
	zl := z.Bytes()
	broken := packed(t, page)
	broken[len(broken)-6] ^= 0xff
	for name, c := range map[string]struct {
		coding string
		body   []byte
		fault  provider.Fault
	}{
		"gzip":                   {"gzip", packed(t, page), ""},
		"X-GZIP":                 {"X-GZIP", packed(t, page), ""},
		"two members":            {"gzip", append(packed(t, page[:100]), packed(t, page[100:])...), ""},
		"bytes behind the end":   {"gzip", append(packed(t, page), 0, 0, 0), ""},
		"zlib":                   {"deflate", zl, ""},
		"bare deflate":           {"deflate", zl[2 : len(zl)-4], ""},
		"both":                   {"deflate, gzip", packed(t, zl), ""},
		"bad checksum":           {"gzip", broken, provider.FaultDecode},
		"brotli, not asked for":  {"br", page, provider.FaultDecode},
		"three layers":           {"gzip, gzip, gzip", page, provider.FaultDecode},
		"deflate that is a page": {"deflate", page, provider.FaultDecode},
		"cut inside":             {"gzip", packed(t, page)[:20], provider.FaultTruncated},
	} {
		t.Run(name, func(t *testing.T) {
			got := client(t, Config{}).Do(t.Context(), get(answer(t, encoded(c.coding, c.body))))
			if got.Fault != c.fault {
				t.Fatalf("fault %q (%s), want %q", got.Fault, got.Error, c.fault)
			}
			if c.fault == "" && (!bytes.Equal(got.Body, page) || got.Bytes != int64(len(c.body))) {
				t.Errorf("%d bytes, %d on the wire; want %d, %d", len(got.Body), got.Bytes, len(page), len(c.body))
			}
		})
	}
	if got := client(t, Config{}).Do(t.Context(), get(answer(t, encoded("gzip", nil)))); got.Fault != "" || len(got.Body) != 0 {
		t.Errorf("an empty body with a label: fault %q (%s)", got.Fault, got.Error)
	}
}

func TestAbandonedBeforeItBegan(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got := client(t, Config{RoundTripper: failing{errors.New("was asked")}}).Do(ctx, get("http://a.test/"))
	if got.Fault != provider.FaultCancelled || got.Sent {
		t.Errorf("fault %q (%s), sent %v", got.Fault, got.Error, got.Sent)
	}
}

func TestHTTP2(t *testing.T) {
	page := []byte(strings.Repeat("page ", 100))
	zipped := packed(t, page)
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Proto", r.Proto)
		if r.URL.Path == "/drop" {
			io.WriteString(w, "half")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(zipped)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	c := client(t, Config{})
	c.rt.(*http.Transport).TLSClientConfig = s.Client().Transport.(*http.Transport).TLSClientConfig.Clone()
	got := c.Do(t.Context(), get(s.URL))
	if got.Header.Get("X-Proto") != "HTTP/2.0" || !bytes.Equal(got.Body, page) || !got.Sent || got.Bytes != int64(len(zipped)) {
		t.Errorf("%s: %d bytes, %d on the wire, fault %q (%s)", got.Header.Get("X-Proto"), len(got.Body), got.Bytes, got.Fault, got.Error)
	}
	if got := c.Do(t.Context(), get(s.URL+"/drop")); got.Fault != provider.FaultTruncated || got.Status != 200 {
		t.Errorf("a stream that is dropped: status %d, fault %q (%s)", got.Status, got.Fault, got.Error)
	}
}

func FuzzReadBody(f *testing.F) {
	f.Add("gzip", []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff\x01\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00"))
	f.Add("deflate", []byte("x\x9c\x03\x00\x00\x00\x00\x01"))
	f.Add("gzip, deflate", []byte("abc"))
	f.Add("", []byte("page"))
	f.Fuzz(func(t *testing.T, coding string, wire []byte) {
		const limit = 1000
		resp := &http.Response{Header: http.Header{"Content-Encoding": {coding}}, ContentLength: -1, Body: io.NopCloser(bytes.NewReader(wire))}
		body, n, err := readBody(resp, limit)
		if len(body) > limit {
			t.Errorf("%d bytes past a limit of %d", len(body), limit)
		}
		if err != nil && body != nil {
			t.Error("an error with a body")
		}
		if err == nil && len(wire) > 0 && n != int64(len(wire)) {
			t.Errorf("%d of %d bytes read without an error", n, len(wire))
		}
		if f := bodyFault(context.Background(), fmt.Errorf("%w", cmp.Or(err, io.EOF))); f == provider.NoFault {
			t.Error("an error without a fault")
		}
	})
}
