package metrics

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"dev.scrapetop/engine/view"
	"dev.scrapetop/storage"
)

// Handler answers GET /metrics with the metrics of the source and of the process, and GET /healthz with 200 while the run
// can do its work, or 503 and why it cannot: it has not begun, nothing can be written, or it failed. It is safe for
// concurrent use if the source is.
func Handler(s Source) http.Handler {
	registry := prometheus.NewRegistry()
	registry.MustRegister(&collector{s}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		status, text := health(s.Frame(view.Query{Limit: 1}))
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		fmt.Fprintln(w, text)
	})
	return mux
}

// health judges a frame.
func health(f *view.Frame) (status int, text string) {
	switch {
	case f == nil:
		return http.StatusServiceUnavailable, "the run has not begun"
	case f.Health.StorageError != "":
		return http.StatusServiceUnavailable, "results cannot be written: " + f.Health.StorageError
	case f.Run.State == string(storage.RunFailed):
		return http.StatusServiceUnavailable, fmt.Sprintf("run %d failed: %s", f.Run.ID, f.Run.Reason)
	}
	return http.StatusOK, fmt.Sprintf("run %d is %s", f.Run.ID, f.Run.State)
}

func number(n int64) string { return strconv.FormatInt(n, 10) }
