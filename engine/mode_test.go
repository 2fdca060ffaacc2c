package engine

import (
	"bytes"
	"encoding/json"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"

	"dev.scrapetop/engine/simulator"
	"dev.scrapetop/storage"
)

// without is a round tripper behind which a header of the answers is gone.
type without struct {
	http.RoundTripper
	header string
}

func (w without) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := w.RoundTripper.RoundTrip(r)
	if err == nil {
		resp.Header.Del(w.header)
	}
	return resp, err
}

// TestAttemptsTellTheMode: an attempt tells in which mode Evomi made it, by the header or, where that is missing, by the
// body.
func TestAttemptsTellTheMode(t *testing.T) {
	for _, async := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			inOurTime()
			st, err := storage.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), storage.Options{Fast: true})
			if err != nil {
				t.Fatal(err)
			}
			defer st.Close()
			cfg := evomiConfig()
			cfg.Async, cfg.Options = async, nil
			w := simulator.New(simulator.Options{})
			d := driveOn(t, st, cfg, without{w.RoundTripper(), "X-Mode-Used"}, pages(3), nil)
			var out bytes.Buffer
			if _, err := st.Export(t.Context(), &out, storage.ExportSpec{Run: d.run.ID, What: "attempts", Format: "jsonl"}); err != nil {
				t.Fatal(err)
			}
			told := 0
			for line := range bytes.Lines(out.Bytes()) {
				var a struct {
					Outcome string
					Headers map[string]string
				}
				if err := json.Unmarshal(line, &a); err != nil {
					t.Fatal(err)
				}
				if a.Outcome == "accepted" && (a.Headers["x-mode-used"] == "auto (request)" || a.Headers["x-mode-used"] == "auto (browser)") {
					told++
				}
			}
			if told != 3 {
				t.Errorf("async %v: %d of 3 tell the mode\n%s", async, told, out.Bytes())
			}
		})
	}
}
