package engine

import (
	"bytes"
	"io"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"dev.scrapetop/engine/core"
	"dev.scrapetop/engine/frontier"
	"dev.scrapetop/storage"
)

// slowToStop answers nothing and takes a while to notice that it is not wanted any more.
type slowToStop struct{ out atomic.Int64 }

func (s *slowToStop) RoundTrip(r *http.Request) (*http.Response, error) {
	s.out.Add(1)
	defer s.out.Add(-1)
	<-r.Context().Done()
	time.Sleep(300 * time.Millisecond)
	return nil, r.Context().Err()
}

// TestRunOutlivesItsHelpers: when Run returns, no goroutine of the engine's works on, and nothing that was abandoned is lost.
func TestRunOutlivesItsHelpers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowToStop{}
		d := driveRun(t, Config{}, s, urls("a.test", 10), func(e *Engine) {
			time.Sleep(time.Second)
			e.Do(Command{Verb: Abandon})
		})
		if n := s.out.Load(); n != 0 {
			t.Errorf("%d requests are still out", n)
		}
		if d.end.State != storage.RunStopped || d.end.Left != 10 || d.summary.Pending != 10 {
			t.Fatalf("end %+v, summary %+v", d.end, d.summary)
		}
		if _, err := (&Engine{over: closed(), ready: closed()}).Feed(t.Context(), nil); err != ErrOver {
			t.Errorf("feeding a run that is over: %v", err)
		}
	})
}

func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// TestUnsentIntentIsSettledAtTheEnd: a paid submit whose bytes never left is no submit without an answer; one that left is.
func TestUnsentIntentIsSettledAtTheEnd(t *testing.T) {
	l := newLoop(&Engine{exchange: "x-"})
	for id, sent := range map[uint64]bool{1: true, 2: false} {
		c := &core.Call{Tasks: []*frontier.Task{{ID: int64(id)}}}
		c.ID = id
		l.flight[id] = &flying{call: c, marked: true, sent: sent}
	}
	l.returnFlying()
	if len(l.batch.settled) != 1 || l.batch.settled[0] != "x-2" || len(l.batch.tasks) != 2 {
		t.Fatalf("settled %v, tasks %v", l.batch.settled, l.batch.tasks)
	}
}

// TestWhatHasComeBackIsKeptWhenAbandoned: answers that wait in the inbox are taken before the run ends.
func TestWhatHasComeBackIsKeptWhenAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan struct{})
		rt := roundTrip(func(r *http.Request) (*http.Response, error) {
			<-answer
			return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader([]byte("<html>ok</html>"))), Request: r}, nil
		})
		d := driveRun(t, Config{}, rt, urls("a.test", 1), func(e *Engine) {
			synctest.Wait()
			e.inbox.mu.Lock() // the loop hears of both at once, of the act first
			e.inbox.list = append(e.inbox.list, Command{Verb: Abandon})
			e.inbox.mu.Unlock()
			close(answer)
		})
		if d.summary.Accepted != 1 || d.end.Left != 0 {
			t.Fatalf("end %+v, summary %+v", d.end, d.summary)
		}
	})
}

type roundTrip func(r *http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
