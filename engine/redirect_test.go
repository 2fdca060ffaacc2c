package engine

import (
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"dev.scrapetop/storage"
)

// TestAnAttemptTellsWhomItAsked: the attempts of a task that is redirected to another host stand under the host and the URL
// that each of them asked, so that whoever counts a host's requests and refusals counts them all.
func TestAnAttemptTellsWhomItAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &site{seen: map[string]int{}, took: 50 * time.Millisecond, handler: func(n int, r *http.Request) (int, http.Header, string) {
			switch {
			case r.URL.Host == "old.test":
				return 301, http.Header{"Location": {"http://new.test/page"}}, ""
			case n == 1:
				return 429, http.Header{"Retry-After": {"5"}}, ""
			}
			return 200, nil, "<html><h1>page</h1></html>"
		}}
		st, err := storage.Open(t.Context(), filepath.Join(t.TempDir(), "t.db"), storage.Options{Fast: true})
		if err != nil {
			t.Fatal(err)
		}
		defer st.Close()
		d := driveOn(t, st, Config{}, s, []string{"http://old.test/page"}, nil)
		if d.summary.Accepted != 1 {
			t.Fatalf("%+v", d.summary)
		}
		var got []string
		if err := st.Ledger(t.Context(), d.run.ID, func(l *storage.Ledger) error {
			return l.ByTime(t.Context(), func(x *storage.Exchange) { got = append(got, x.Domain+" "+x.Outcome) })
		}); err != nil {
			t.Fatal(err)
		}
		if want := []string{"old.test redirected", "new.test limited", "new.test accepted"}; !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		starts, err := st.RecentStarts(t.Context(), Direct, time.Time{}, 10)
		if err != nil || len(starts) != 3 || starts[0].Domain != "old.test" || starts[2].Domain != "new.test" {
			t.Errorf("%+v, %v", starts, err)
		}
	})
}
