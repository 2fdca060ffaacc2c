package simulator

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strconv"
	"syscall"
)

// RoundTripper answers requests in memory: the handler runs in the caller's goroutine and the answer is returned when it is
// complete. Dropped connections are what they are on a socket: an error before the headers, a body that ends early after
// them. Of the trace hooks it calls WroteHeaders, WroteRequest and GotFirstResponseByte.
func (w *World) RoundTripper() http.RoundTripper { return memory{w} }

type memory struct{ w *World }

func (m memory) RoundTrip(req *http.Request) (*http.Response, error) {
	ctx := req.Context()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := req.Clone(ctx)
	r.Host = req.Host
	if r.Host == "" {
		r.Host = req.URL.Host
	}
	r.RequestURI = req.URL.RequestURI()
	if req.Body == nil {
		r.Body = http.NoBody
	} else {
		defer req.Body.Close()
	}
	trace := httptrace.ContextClientTrace(ctx)
	if trace != nil && trace.WroteHeaders != nil {
		trace.WroteHeaders()
	}
	if trace != nil && trace.WroteRequest != nil {
		trace.WroteRequest(httptrace.WroteRequestInfo{})
	}
	out := &answer{header: http.Header{}}
	dropped := serve(m.w, out, r)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if dropped && out.status == 0 {
		return nil, &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
	}
	if trace != nil && trace.GotFirstResponseByte != nil {
		trace.GotFirstResponseByte()
	}
	return out.response(req, dropped), nil
}

// serve runs the handler and reports whether it dropped the connection.
func serve(h http.Handler, out *answer, r *http.Request) (dropped bool) {
	defer func() {
		if v := recover(); v != nil {
			if err, ok := v.(error); !ok || !errors.Is(err, http.ErrAbortHandler) {
				panic(v)
			}
			dropped = true
		}
	}()
	h.ServeHTTP(out, r)
	return false
}

// answer collects what a handler writes.
type answer struct {
	header http.Header
	status int
	sent   http.Header // the header as it was when the status was written
	body   bytes.Buffer
}

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status, a.sent = status, a.header.Clone()
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	return a.body.Write(p)
}

// Flush is there for handlers that write slowly.
func (a *answer) Flush() { a.WriteHeader(http.StatusOK) }

func (a *answer) response(req *http.Request, dropped bool) *http.Response {
	a.WriteHeader(http.StatusOK)
	length := int64(a.body.Len())
	if n, err := strconv.ParseInt(a.sent.Get("Content-Length"), 10, 64); err == nil {
		length = n
	}
	var body io.Reader = &a.body
	if dropped || length > int64(a.body.Len()) {
		body = io.MultiReader(body, broken{})
	}
	return &http.Response{
		Status: strconv.Itoa(a.status) + " " + http.StatusText(a.status), StatusCode: a.status,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: a.sent, Body: io.NopCloser(body), ContentLength: length, Request: req,
	}
}

// broken is the end of a connection that was cut.
type broken struct{}

func (broken) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }
