package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestDoctorReadsWhatAnswers: a status of 200 is not yet the platform.
func TestDoctorReadsWhatAnswers(t *testing.T) {
	for _, p := range []struct{ name, env string }{{"evomi", "EVOMI_API_KEY"}, {"spidra", "SPIDRA_API_KEY"}, {"omniscrape", "OMNISCRAPE_API_KEY"}} {
		for _, c := range []struct {
			what, body string
			status     int
			says       string
		}{
			{"a page", "<!doctype html><p>hello", 200, "fail %s default key present; the platform answered with an HTML page (status 200): is the base URL right?"},
			{"a page that is missing", "<!doctype html><p>no", 404, "fail %s default key present; the platform answered with an HTML page (status 404): is the base URL right?"},
			{"a page that refuses", "<!doctype html><p>no", 403, "fail %s default key present; the platform answered with an HTML page (status 403)"},
			{"half an answer", `{"success":true`, 200, "fail %s default key present; the answer is not JSON: unexpected end of JSON input (status 200), check base_url"},
			{"an answer", `{"success":true}`, 200, "ok %s default key present; reachable in"},
		} {
			t.Run(p.name+", "+c.what, func(t *testing.T) {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					w.WriteHeader(c.status)
					_, _ = io.WriteString(w, c.body) // the client's read is the test
				}))
				defer server.Close()
				s := newShell(t)
				s.env = []string{p.env + "=k"}
				s.file("scrapetop.toml", "[providers."+p.name+"]\nbase_url = \""+server.URL+"\"\n")
				want := strings.Replace(c.says, "%s", p.name, 1)
				if got := s.run("doctor"); !strings.Contains(strings.Join(strings.Fields(got.out), " "), want) || (got.code == exitBroken) != strings.HasPrefix(want, "fail") {
					t.Errorf("exit %d, want %q in\n%s", got.code, want, got.out)
				}
			})
		}
	}
}
