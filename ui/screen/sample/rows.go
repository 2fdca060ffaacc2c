package sample

import (
	"fmt"
	"time"

	"dev.scrapetop/storage"
)

// Tasks are rows of the normal run, in all states.
func Tasks() []storage.TaskRow {
	row := func(id int64, state storage.TaskState, domain, path string, queued int) storage.TaskRow {
		t := storage.TaskRow{UpdatedAt: ago(2)}
		t.ID, t.State, t.Domain, t.URL, t.CreatedAt = id, state, domain, "https://"+domain+path, ago(queued)
		return t
	}
	retry := row(90_164, storage.TaskDelayed, "forum-c.example", "/t/118199-battery-swap", 591)
	retry.Tries, retry.Attempts, retry.FirstTryAt, retry.Until = 2, 2, ago(440), in(42)
	retry.Last = &storage.Answer{Outcome: "failed", HTTPStatus: 502, TargetStatus: 502, Elapsed: 400 * time.Millisecond}
	dead := row(88_901, storage.TaskDead, "bank-h.example", "/offers", 1330)
	dead.Tries, dead.Attempts, dead.FirstTryAt, dead.Reason, dead.Error = 1, 1, ago(1300), "blocked", "403: a challenge page"
	dead.Last = &storage.Answer{Outcome: "blocked", Layer: "target", HTTPStatus: 403, Elapsed: 200 * time.Millisecond}
	held := row(89_771, storage.TaskPending, "maps-f.example", "/place/4411", 1111)
	held.WaitsFor = "domain:maps-f.example"
	cools := row(90_177, storage.TaskPending, "forum-c.example", "/t/118204-winter-tyres?page=3", 588)
	cools.Tries, cools.Attempts, cools.FirstTryAt, cools.WaitsFor, cools.Until = 2, 3, ago(440), "domain:forum-c.example", in(42)
	cools.Last = &storage.Answer{Outcome: "limited", Layer: "target", HTTPStatus: 429, Elapsed: 400 * time.Millisecond}
	done := row(90_213, storage.TaskAccepted, "wiki-e.example", "/w/Danube", 2)
	done.Attempts, done.FirstTryAt, done.Last = 1, ago(2), &storage.Answer{Outcome: "accepted", HTTPStatus: 200, Elapsed: 220 * time.Millisecond}
	flight := row(90_230, storage.TaskInFlight, "wiki-e.example", "/w/Lists_of_rivers", 2)
	remote := row(90_231, storage.TaskRemote, "shop-a.example", "/c/shoes?page=41", 40)
	remote.Tenant = "acme"
	remote.Attempts, remote.FirstTryAt, remote.Last = 1, ago(30), &storage.Answer{Outcome: "accepted_remote", HTTPStatus: 202}
	return []storage.TaskRow{
		dead, held, row(90_159, storage.TaskPending, "jobs-d.example", "/list?region=north&page=11", 245), retry, cools, done, flight, remote,
		row(90_240, storage.TaskCancelled, "jobs-d.example", "/list?region=south", 245),
	}
}

// Attempts are those of the sample task 90,177: refused, without an answer, refused with a wait.
func Attempts() []storage.Attempt {
	try := func(n, started int, took time.Duration, outcome, layer string, status int, decision string) storage.Attempt {
		a := storage.Attempt{Number: n, StartedAt: ago(started), Elapsed: took, Outcome: outcome, Layer: layer, Kind: "fetch", Decision: decision, Bytes: 512, InFlight: 4, InFlightLimit: 5}
		if status > 0 {
			a.HTTPStatus = &status
		}
		return a
	}
	lost := try(2, 318, 30*time.Second, "transport", "transport", 0, "try 2 of 8 spent; backs off 240 s")
	lost.Error, lost.Bytes = "timeout: no answer within 30 s", 0
	return []storage.Attempt{
		try(1, 440, 1900*time.Millisecond, "failed", "target", 502, "try 1 of 8 spent; backs off 120 s"), lost,
		try(3, 48, 400*time.Millisecond, "limited", "target", 429, "no try spent; domain forum-c.example cools 90 s (Retry-After: 90), then one probe"),
	}
}

// HostileTasks have text of strangers in every field that can hold any.
func HostileTasks() ([]storage.TaskRow, []storage.Attempt) {
	evil := func(i int) string {
		return []string{"\x1b]0;owned\x07title", "\x1b[2J\x1b[Hgone", "a\rb\bc\x00d", "\u202egpj.exe", "\x9b6nC1", "日本語\t\n", "\xff\xfe"}[i%7]
	}
	tasks, attempts := Tasks(), Attempts()
	for i := range tasks {
		t := &tasks[i]
		t.URL, t.Domain, t.Tenant, t.Error, t.WaitsFor, t.HopURL = "http://"+evil(i)+"/", evil(i+1), evil(i+2), evil(i+3), evil(i+4), evil(i+5)
		t.Reason, t.State = evil(i), storage.TaskState(evil(i))
		t.Last = &storage.Answer{Outcome: evil(i), Layer: evil(i + 1)}
	}
	for i := range attempts {
		a := &attempts[i]
		a.Outcome, a.Layer, a.Decision, a.Error, a.Kind = evil(i), evil(i+1), evil(i+2)+fmt.Sprint(i), evil(i+3), evil(i+4)
		a.Elapsed = 1<<63 - 1
	}
	return tasks, attempts
}

// Groups are the dead letters of the normal run by cause.
func Groups() []storage.DeadGroup {
	g := func(key string, tasks, others int64, first, last int) storage.DeadGroup {
		return storage.DeadGroup{Key: key, Tasks: tasks, Others: others, First: ago(first), Last: ago(last)}
	}
	return []storage.DeadGroup{
		g("blocked", 9, 1, 1669, 29), g("attempts", 6, 3, 2360, 358), g("not_found", 5, 2, 2741, 1805), g("deadline", 2, 1, 1195, 1048), g("too_large", 1, 1, 700, 700),
	}
}

// DeadLetters are those that were blocked.
func DeadLetters() []storage.TaskRow {
	var rows []storage.TaskRow
	for i, path := range []string{"/rates", "/rates/history", "/branches", "/offers?page=2", "/offers"} {
		t := storage.TaskRow{UpdatedAt: ago(600 - 140*i), Reason: "blocked", Error: "403: a challenge page"}
		t.ID, t.State, t.Domain, t.URL, t.CreatedAt = 88_600+int64(i)*75, storage.TaskDead, "bank-h.example", "https://bank-h.example"+path, ago(2000-20*i)
		t.Tries, t.Attempts, t.FirstTryAt = 1, 1, ago(700)
		t.Last = &storage.Answer{Outcome: "blocked", Layer: "target", HTTPStatus: 403, Elapsed: 200 * time.Millisecond}
		rows = append(rows, t)
	}
	return rows
}

// Log are the events of the normal run, the newest last.
func Log() []storage.Event {
	var rows []storage.Event
	add := func(at int, level, scope, key, text string, task int64) {
		rows = append(rows, storage.Event{ID: int64(41_000 + 10*len(rows)), At: ago(at), Level: level, Scope: scope, Key: key, Text: text, Task: task})
	}
	add(2933, "info", "global", "", "the run is driven by process 4711", 0)
	add(1889, "user", "domain", "maps-f.example", "paused by you", 0)
	add(1882, "warn", "domain", "forum-c.example", "limit lowered 10 -> 5 after 3 x 429", 0)
	add(700, "error", "domain", "tube-j.example", "dead letter: too_large after 1 tries", 89_120)
	add(440, "warn", "domain", "forum-c.example", "502: try 1 of 8 spent; backs off 120 s", 90_177)
	add(230, "warn", "credential", "main", "cools 12 s (Retry-After: 12)", 0)
	add(48, "warn", "domain", "forum-c.example", "429 target, Retry-After: 90: the domain cools until 14:30:42; 4 requests in flight were let finish, and one probe goes first after that", 90_177)
	add(29, "error", "domain", "bank-h.example", "dead letter: blocked after 1 tries", 88_900)
	add(2, "info", "domain", "wiki-e.example", "robots.txt is read", 0)
	return rows
}
