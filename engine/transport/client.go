package transport

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"dev.scrapetop/engine/provider"
)

// Defaults of a Config, and bounds that are not configurable.
const (
	DefaultMaxBody  = 10 << 20         // bytes after decoding
	DefaultTimeout  = 30 * time.Second // one whole exchange
	DefaultMaxConns = 128              // idle connections kept in all

	// maxHeaderBytes bounds a response's header section. Honest servers stay below 64 KiB; floods of some hundred cookies
	// reach that, so the bound is well above it and still nothing that fills memory with 1,000 exchanges in flight.
	maxHeaderBytes = 256 << 10
	// idleTimeout is how long an unused connection is kept. Common servers close theirs after 5 to 75 seconds.
	idleTimeout = 30 * time.Second
	// dialTimeout bounds connecting alone, so that a dead address does not use up a long exchange timeout.
	dialTimeout = 15 * time.Second
	// userAgent is sent when a request names none.
	userAgent = "scrapetop"
	// acceptEncoding is sent likewise: what readBody undoes.
	acceptEncoding = "gzip"
)

// Config says how a Client behaves. The zero Config is valid.
type Config struct {
	// RoundTripper replaces the network, for tests; nil: the real one. The private-address rule is the real one's.
	RoundTripper http.RoundTripper
	// MaxBody is the most bytes a body may decode to; zero: DefaultMaxBody.
	MaxBody int64
	// Timeout bounds a whole exchange, from dialling to the last byte; zero: DefaultTimeout.
	Timeout time.Duration
	// AllowPrivate tells whether a host (name or address without port and brackets, lower case) may lead to a private
	// address; nil: none may. It is called from many goroutines.
	AllowPrivate func(host string) bool
	// MaxConns is how many idle connections are kept, in all and per host; zero: DefaultMaxConns. It does not bound
	// connections in use: the budgets do, and waiting for one in here would be a wait nobody sees.
	MaxConns int
	// Redactor cleans error texts; nil: one that knows no literal secrets.
	Redactor *Redactor
}

// Client carries out exchanges. Make one with New.
type Client struct {
	rt       http.RoundTripper
	real     bool
	maxBody  int64
	timeout  time.Duration
	redactor *Redactor
}

// New makes a client. It starts nothing and opens no connection.
func New(cfg Config) *Client {
	c := &Client{rt: cfg.RoundTripper, maxBody: cfg.MaxBody, timeout: cfg.Timeout, redactor: cfg.Redactor}
	if c.maxBody <= 0 {
		c.maxBody = DefaultMaxBody
	}
	if c.timeout <= 0 {
		c.timeout = DefaultTimeout
	}
	if c.redactor == nil {
		c.redactor = NewRedactor()
	}
	if c.rt == nil {
		c.real = true
		c.rt = network(cfg, c.timeout)
	}
	return c
}

func network(cfg Config, timeout time.Duration) *http.Transport {
	conns := cfg.MaxConns
	if conns <= 0 {
		conns = DefaultMaxConns
	}
	return &http.Transport{
		Proxy:                  nil,
		DialContext:            guardedDial(cfg.AllowPrivate, min(timeout, dialTimeout)),
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // decoding is ours, so that it can be capped
		MaxIdleConns:           conns,
		MaxIdleConnsPerHost:    conns,
		IdleConnTimeout:        idleTimeout,
		TLSHandshakeTimeout:    min(timeout, dialTimeout),
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
}

// Close drops idle connections. Exchanges in flight go on until their contexts end.
func (c *Client) Close() {
	if t, ok := c.rt.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// errExchangeTimeout is the cause of a context that ended because the exchange took too long.
var errExchangeTimeout = errors.New("the exchange took too long")

// Do carries out one exchange and always returns: with a whole response, or with a Fault. Cancelling ctx abandons the
// exchange (FaultCancelled); its deadline, like Config.Timeout, is FaultTimeout.
func (c *Client) Do(ctx context.Context, r provider.Request) provider.Response {
	start := time.Now()
	out := c.exchange(ctx, r)
	now := time.Now()
	if out.Received.IsZero() {
		out.Received = now
	}
	out.Elapsed = now.Sub(start)
	return out
}

func (c *Client) exchange(parent context.Context, r provider.Request) provider.Response {
	ctx, cancel := context.WithTimeoutCause(parent, c.timeout, errExchangeTimeout)
	defer cancel()
	if f := contextFault(parent); f != provider.NoFault {
		return provider.Response{Fault: f, Error: "abandoned before it began"}
	}
	var progress progress
	req, err := newRequest(httptrace.WithClientTrace(ctx, progress.trace()), r)
	if err != nil {
		return provider.Response{Fault: faultOf(ctx, err, false), Error: c.line(err)}
	}
	resp, err := roundTrip(c.rt, req)
	out := provider.Response{Sent: progress.sent.Load()}
	if err != nil {
		out.Fault = faultOf(ctx, err, progress.handshaking.Load())
		out.Error = c.line(c.reason(ctx, out.Fault, err))
		if !c.real && !beforeSending(out.Fault) {
			out.Sent = true // a replacement may report no progress: then it may have been sent
		}
		return out
	}
	if resp.Body != nil {
		defer resp.Body.Close()
	}
	out.Sent = true
	out.Received = time.Now()
	out.Status = resp.StatusCode
	out.Header = resp.Header
	body, wire, err := readBody(resp, c.maxBody*int64(max(r.Documents, 1)))
	out.Bytes = wire
	if err != nil {
		out.Fault = bodyFault(ctx, err)
		out.Error = c.line(c.reason(ctx, out.Fault, err))
		return out
	}
	out.Body = body
	return out
}

// reason replaces texts that say less than we know.
func (c *Client) reason(ctx context.Context, f provider.Fault, err error) error {
	switch f {
	case provider.FaultTimeout:
		if errors.Is(context.Cause(ctx), errExchangeTimeout) {
			return fmt.Errorf("no whole response within %s", c.timeout)
		}
	case provider.FaultCancelled:
		return errors.New("abandoned")
	case provider.FaultTruncated:
		return fmt.Errorf("the body ended early: %w", err)
	}
	return err
}

// line makes an error presentable: redacted, one line, at most 300 bytes.
func (c *Client) line(err error) string {
	// A url.Error prints the whole URL, once per retry: its inner error says what happened.
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	text := strings.Map(func(r rune) rune {
		if r < ' ' || (r >= 0x7f && r < 0xa0) {
			return ' '
		}
		return r
	}, err.Error())
	return cut(c.redactor.Text(text), 300)
}

func newRequest(ctx context.Context, r provider.Request) (*http.Request, error) {
	method := r.Method
	if method == "" {
		method = http.MethodGet
	}
	var body io.Reader
	if len(r.Body) > 0 {
		body = bytes.NewReader(r.Body)
	}
	req, err := http.NewRequestWithContext(ctx, method, r.URL, body)
	if err != nil {
		var unread *url.Error
		if errors.As(err, &unread) {
			return nil, fmt.Errorf("the address cannot be read: %w", err)
		}
		return nil, fmt.Errorf("the request cannot be built: %w", err)
	}
	u := req.URL
	if u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%w: only http and https are fetched", errForbidden)
	}
	if u.User != nil {
		return nil, fmt.Errorf("%w: credentials in an address are not sent", errForbidden)
	}
	if u.Hostname() == "" {
		return nil, errors.New("the address names no host")
	}
	req.Host = cmp.Or(r.Header.Get("Host"), req.Host)
	req.Header = sentHeader(r.Header)
	return req, nil
}

// sentHeader is what is sent of a request's header: without a Host, which stands elsewhere, and with what no request lacks.
// The given one is never changed and may be the one that is returned.
func sentHeader(h http.Header) http.Header {
	host, agent, encoding := h["Host"] != nil, h.Get("User-Agent") != "", h.Get("Accept-Encoding") != ""
	if !host && agent && encoding {
		return h
	}
	h = maps.Clone(h)
	if h == nil {
		h = http.Header{}
	}
	delete(h, "Host")
	if !agent {
		h.Set("User-Agent", userAgent)
	}
	if !encoding {
		h.Set("Accept-Encoding", acceptEncoding)
	}
	return h
}

// progress is what the client trace tells of an exchange.
type progress struct {
	sent        atomic.Bool // the request, or its headers, went out
	handshaking atomic.Bool // inside a TLS handshake
}

// errSecondSend stops net/http from sending a request a second time by itself.
var errSecondSend = errors.New("the connection was closed after the request was sent")

func (p *progress) trace() *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		// net/http repeats a GET by itself when a kept connection breaks after the request was written. That second
		// request would be counted nowhere, and the first may have been carried out. It asks for a connection first, in
		// the goroutine of RoundTrip and holding no lock: unwinding from here is the one exact way to stop it.
		GetConn: func(string) {
			if p.sent.Load() {
				panic(errSecondSend)
			}
		},
		TLSHandshakeStart: func() { p.handshaking.Store(true) },
		TLSHandshakeDone:  tlsDone(p),
		WroteHeaders:      func() { p.sent.Store(true) },
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				p.sent.Store(true)
			}
		},
	}
}

func roundTrip(rt http.RoundTripper, req *http.Request) (resp *http.Response, err error) {
	defer func() {
		if v := recover(); v != nil {
			if v != errSecondSend {
				panic(v)
			}
			resp, err = nil, errSecondSend
		}
	}()
	return rt.RoundTrip(req)
}
