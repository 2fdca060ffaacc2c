package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// site is nginx in front of a handler that answers each page after the latency.
type site struct {
	o      options
	port   int
	log    string // nginx's access log
	pages  *http.Server
	served atomic.Int64
	nginx  *exec.Cmd
}

// The limits sit in nginx, in front of a proxied page: they act before a page is made, and a page takes its time.
const config = `daemon off;
master_process off;
pid %[1]s/nginx.pid;
error_log %[1]s/error.log;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path %[1]s/body; proxy_temp_path %[1]s/proxy; fastcgi_temp_path %[1]s/fastcgi; uwsgi_temp_path %[1]s/uwsgi; scgi_temp_path %[1]s/scgi;
  log_format lab '$msec $request_time $server_addr $request_uri $status $sent_http_retry_after';
  limit_req_zone $server_addr zone=requests:1m rate=%[2]dr/s;
  limit_conn_zone $server_addr zone=connections:1m;
  limit_req_status 429;
  limit_conn_status 429;
  server {
%[3]s
    location = /robots.txt { return 404; }
    location / {
      access_log %[1]s/access.log lab;
      limit_req zone=requests burst=%[4]d nodelay;
      limit_conn connections %[5]d;
      error_page 429 @limited;
      proxy_pass http://%[6]s;
    }
    location @limited {
      access_log %[1]s/access.log lab;
      %[7]s
      return 429 "slow down";
    }
  }
}
`

func serve(ctx context.Context, dir string, o options) (*site, error) {
	s := &site{o: o, log: filepath.Join(dir, "access.log")}
	back, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.pages = &http.Server{Handler: http.HandlerFunc(s.page), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		if err := s.pages.Serve(back); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(os.Stderr, "laboratory: the pages:", err)
		}
	}()
	if s.port, err = freePort(o.hosts); err != nil {
		return nil, errors.Join(err, s.pages.Close())
	}
	var listen strings.Builder
	for i := range o.hosts {
		fmt.Fprintf(&listen, "    listen %s;\n", address(i, s.port))
	}
	announce := ""
	if o.retryAfter > 0 {
		announce = fmt.Sprintf("add_header Retry-After %d always;", o.retryAfter)
	}
	path := filepath.Join(dir, "nginx.conf")
	text := fmt.Sprintf(config, dir, o.rate, listen.String(), o.burst, o.conns, back.Addr(), announce)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return nil, errors.Join(err, s.pages.Close())
	}
	s.nginx = exec.Command("nginx", "-p", dir, "-c", path)
	s.nginx.Stderr = os.Stderr
	if err := s.nginx.Start(); err != nil {
		return nil, errors.Join(err, s.pages.Close())
	}
	if err := s.waitUp(ctx); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func host(i int) string { return "127.0.0." + strconv.Itoa(2+i) }

func address(i, port int) string { return net.JoinHostPort(host(i), strconv.Itoa(port)) }

// freePort finds a port that is free on every host.
func freePort(hosts int) (int, error) {
	for range 20 {
		first, err := net.Listen("tcp", host(0)+":0")
		if err != nil {
			return 0, err
		}
		port := first.Addr().(*net.TCPAddr).Port
		free := first.Close() == nil
		for i := 1; i < hosts && free; i++ {
			l, err := net.Listen("tcp", address(i, port))
			free = err == nil && l.Close() == nil
		}
		if free {
			return port, nil
		}
	}
	return 0, errors.New("no port is free on all hosts")
}

func (s *site) waitUp(ctx context.Context) error {
	for {
		conn, err := net.Dial("tcp", address(s.o.hosts-1, s.port))
		if err == nil {
			return conn.Close()
		}
		if err := pause(ctx); err != nil {
			return fmt.Errorf("nginx does not come up: %w", err)
		}
	}
}

// waitServed returns once n pages went out.
func (s *site) waitServed(ctx context.Context, n int) error {
	for s.served.Load() < int64(n) {
		if err := pause(ctx); err != nil {
			return fmt.Errorf("%d of %d pages were served: %w", s.served.Load(), n, err)
		}
	}
	return nil
}

// pause is the time between two looks.
func pause(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(5 * time.Millisecond):
		return nil
	}
}

func (s *site) page(w http.ResponseWriter, r *http.Request) {
	select {
	case <-r.Context().Done():
		return
	case <-time.After(s.o.latency):
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	fmt.Fprintf(w, "<html><head><title>%s</title></head><body><h1>%s</h1>%s</body></html>\n", r.URL.Path, r.URL.Path, strings.Repeat("<p>words</p>", 40))
	s.served.Add(1)
}

func (s *site) urls() []string {
	var out []string
	for i := range s.o.urls {
		for h := range s.o.hosts {
			out = append(out, fmt.Sprintf("http://%s/page/%d", address(h, s.port), i))
		}
	}
	return out
}

func (s *site) close() error {
	errs := []error{s.pages.Close()}
	if s.nginx != nil && s.nginx.Process != nil {
		errs = append(errs, s.nginx.Process.Signal(syscall.SIGQUIT))
		if err := s.nginx.Wait(); err != nil {
			errs = append(errs, fmt.Errorf("nginx: %w", err))
		}
	}
	return errors.Join(errs...)
}

// exchange is one line of the access log.
type exchange struct {
	began, ended time.Time
	host, path   string
	status       int
	wait         time.Duration // announced; negative: nothing was
}

func readLog(path string) ([]exchange, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var out []exchange
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var e exchange
		var ended, took float64
		var announced string
		if _, err := fmt.Sscan(lines.Text(), &ended, &took, &e.host, &e.path, &e.status, &announced); err != nil {
			return nil, fmt.Errorf("%s: %q: %w", path, lines.Text(), err)
		}
		e.ended = time.UnixMicro(int64(ended * 1e6))
		e.began = e.ended.Add(-time.Duration(took * float64(time.Second)))
		e.wait = -1
		if n, err := strconv.Atoi(announced); err == nil {
			e.wait = time.Duration(n) * time.Second
		}
		out = append(out, e)
	}
	return out, lines.Err()
}
