package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestRawResponse(t *testing.T) {
	tests := []struct {
		name   string
		text   string
		status int
		field  string // "Name: value|value"
		body   string
		note   string
	}{
		{name: "crlf", text: "HTTP/1.1 200 OK\r\nA: b\r\n\r\nhi\r\n", status: 200, field: "A: b", body: "hi\r\n"},
		{name: "lf alone", text: "HTTP/1.1 429 Too Many Requests\nRetry-After: 3\n\nslow", status: 429, field: "Retry-After: 3", body: "slow"},
		{name: "http 2 without reason", text: "HTTP/2 503 \r\nretry-after: 7\r\n\r\n", status: 503, field: "Retry-After: 7"},
		{name: "http 3 bare", text: "HTTP/3 429\n\n", status: 429},
		{name: "no final newline in the header", text: "HTTP/1.1 429 x\nRetry-After: 9", status: 429, field: "Retry-After: 9"},
		{name: "status line alone", text: "HTTP/1.1 204 No Content", status: 204},
		{name: "repeated field", text: "HTTP/1.1 429 x\nRetry-After: 1\nretry-after: 2\n\n", status: 429, field: "Retry-After: 1|2"},
		{name: "odd bytes in a value", text: "HTTP/1.1 429 x\nX: a\xff\xfeb\n\n", status: 429, field: "X: a\xff\xfeb"},
		{name: "control byte in a value", text: "HTTP/1.1 429 x\nRetry-After: 5\x00\n\n", status: 429, field: "Retry-After: 5\x00", note: "control byte"},
		{name: "folded", text: "HTTP/1.1 429 x\nX: a\n  b\n\n", status: 429, field: "X: a b", note: "folded"},
		{name: "folded nothing", text: "HTTP/1.1 429 x\n  b\nX: a\n\n", status: 429, field: "X: a", note: "continues nothing"},
		{name: "blank before the colon", text: "HTTP/1.1 429 x\nRetry-After : 5\n\n", status: 429, field: "Retry-After: 5", note: "before the colon"},
		{name: "line without colon", text: "HTTP/1.1 429 x\nnonsense\nX: a\n\n", status: 429, field: "X: a", note: "no header field"},
		{name: "byte order mark and blank lines", text: "\xef\xbb\xbf\r\n\nHTTP/1.1 200 OK\n\nx", status: 200, body: "x"},
		{name: "early hints", text: "HTTP/1.1 103 Early Hints\nLink: a\n\nHTTP/1.1 429 x\nRetry-After: 4\n\nb", status: 429, field: "Retry-After: 4", body: "b", note: "103"},
		{name: "redirects followed", text: "HTTP/2 301 \nlocation: /a\n\nHTTP/2 302 \nlocation: /b\n\nHTTP/2 200 \n\nend", status: 200, body: "end", note: "301, 302"},
		{name: "proxy answer", text: "HTTP/1.1 200 Connection established\r\n\r\nHTTP/2 429 \r\nretry-after: 2\r\n\r\n", status: 429, field: "Retry-After: 2", note: "200"},
		{name: "a page about HTTP", text: "HTTP/1.1 200 OK\nContent-Type: text/plain\n\nHTTP/1.1 429 Too Many\n\n", status: 200, body: "HTTP/1.1 429 Too Many\n\n"},
		{name: "status beyond the classes", text: "HTTP/1.1 999 Request denied\n\n", status: 999},
		{name: "cut body", text: "HTTP/1.1 200 OK\nContent-Length: 10\nContent-Type: text/plain\n\nabc", status: 200, body: "abc", note: "3 of the 10"},
		{name: "pasted with other line ends", text: "HTTP/1.1 200 OK\nContent-Length: 9\nContent-Type: text/plain\n\na\nb\nc", status: 200, body: "a\nb\nc", note: "read as pasted"},
		{name: "chunks", text: "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3\r\nabc\r\n0\r\n\r\n", status: 200, body: "abc"},
		{name: "chunks undone by curl", text: "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\nabc\r\n", status: 200, body: "abc\r\n"},
		{name: "cut within a chunk", text: "HTTP/1.1 200 OK\nTransfer-Encoding: chunked\n\n3\r\nabc\r\n400\r\nonly", status: 200, body: "abconly", note: "within a chunk"},
		{name: "unpacked by curl already", text: "HTTP/1.1 200 OK\nContent-Encoding: gzip\nContent-Length: 999\n\nplain text", status: 200, body: "plain text"},
		{name: "broken gzip", text: "HTTP/1.1 200 OK\nContent-Encoding: gzip\n\n\x1f\x8b\x08xx", status: 200, note: "gzip"},
		{name: "empty body", text: "HTTP/1.1 200 OK\nContent-Length: 5\n\n", status: 200},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := parseRaw([]byte(tt.text))
			if err != nil {
				t.Fatal(err)
			}
			if r.status != tt.status || string(r.body) != tt.body {
				t.Errorf("status %d, body %q", r.status, r.body)
			}
			if name, want, ok := strings.Cut(tt.field, ": "); ok {
				if got := strings.Join(r.header[name], "|"); got != want {
					t.Errorf("%s is %q, want %q", name, got, want)
				}
			}
			if notes := strings.Join(append(r.notes, r.broken), "\n"); !strings.Contains(notes, tt.note) || tt.note == "" && strings.TrimSpace(notes) != "" {
				t.Errorf("notes %q, want %q", notes, tt.note)
			}
		})
	}
}

func TestRawResponseRefused(t *testing.T) {
	for name, text := range map[string]string{
		"empty":             "",
		"blank":             " \r\n\n",
		"a page":            "<html>429</html>",
		"headers alone":     "Retry-After: 5\n\n",
		"status of letters": "HTTP/1.1 4xx Too\n\n",
		"two digits":        "HTTP/1.1 42\n\n",
		"a request":         "GET / HTTP/1.1\nHost: a.test\n\n",
		"endless header":    "HTTP/1.1 200 OK\n" + strings.Repeat("X: "+strings.Repeat("v", 1000)+"\n", 1100),
		"broken after 100":  "HTTP/1.1 100 Continue\n\nHTTP/1.1 200 OK\n" + strings.Repeat("X: "+strings.Repeat("v", 1000)+"\n", 1100),
	} {
		t.Run(name, func(t *testing.T) {
			if r, err := parseRaw([]byte(text)); err == nil {
				t.Errorf("read as status %d", r.status)
			}
		})
	}
}

func FuzzRawResponse(f *testing.F) {
	files, err := filepath.Glob("testdata/responses/*.http")
	if err != nil || len(files) == 0 {
		f.Fatal("no responses", err)
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		if len(text) < 4096 {
			f.Add(text)
		}
	}
	f.Add([]byte("HTTP/1.1 100 x\n\nHTTP/2 301\n\nHTTP/1.1 429 x\nA : b\n c\n\n\x1f\x8b"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := parseRaw(text)
		if err != nil {
			return
		}
		if r.status < 0 || r.status > 999 || len(r.body) > maxRawBody || len(r.notes) > maxRawNotes {
			t.Errorf("status %d, body of %d, %d notes", r.status, len(r.body), len(r.notes))
		}
		for _, n := range r.notes {
			if n != printable(n) {
				t.Errorf("note is not printable: %q", n)
			}
		}
		for name := range r.header {
			if !headerName(name) {
				t.Errorf("field name %q", name)
			}
		}
	})
}
