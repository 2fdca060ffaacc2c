package cli

import (
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"time"

	"dev.scrapetop/ui/metrics"
)

// metricsTimeout bounds each part of an exchange with whoever reads the metrics: a run waits for none of them.
const metricsTimeout = 10 * time.Second

// takeAddress takes the address that metrics are served on, if one is named. Commands do so before they create a run: an
// address that is not free must leave nothing to resume.
func (a *app) takeAddress(r *runFlags) error {
	if r.metrics == "" || a.metrics != nil {
		return nil
	}
	l, err := net.Listen("tcp", r.metrics)
	if err != nil {
		var op *net.OpError
		if errors.As(err, &op) {
			err = op.Err // the rest is the address again
		}
		return usage("--metrics %s: %w, name an address of this machine that is free, such as 127.0.0.1:9464", r.metrics, err)
	}
	a.metrics = l
	return nil
}

// leaveAddress gives the address back when nothing was served on it.
func (a *app) leaveAddress() {
	if a.metrics == nil {
		return
	}
	if err := a.metrics.Close(); err != nil {
		a.tell(fmt.Sprintf("scrapetop: metrics: %v", err))
	}
}

// serveMetrics serves the metrics of a run on the address that was taken, until end is called; without one it does nothing.
func (a *app) serveMetrics(s metrics.Source) (end func()) {
	if a.metrics == nil {
		return func() {}
	}
	server := &http.Server{
		Handler: metrics.Handler(s), ReadTimeout: metricsTimeout, WriteTimeout: metricsTimeout, IdleTimeout: time.Minute,
		ErrorLog: log.New(telling{a}, "", 0),
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(a.metrics) }()
	return func() {
		err := server.Close() // whoever is in the middle of reading asks again
		a.metrics = nil
		if ended := <-served; !errors.Is(ended, http.ErrServerClosed) {
			err = errors.Join(err, ended)
		}
		if err != nil {
			a.tell(fmt.Sprintf("scrapetop: metrics: %v", err))
		}
	}
}

// telling writes the server's complaints as lines about the run.
type telling struct{ a *app }

func (t telling) Write(line []byte) (int, error) {
	t.a.tell("scrapetop: metrics: " + strings.TrimSpace(string(line)))
	return len(line), nil
}
