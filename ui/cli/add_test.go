package cli

import (
	"encoding/json"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dev.scrapetop/storage"
)

// TestURLsAreAddedWhileARunGoesOn: a file and URLs are fetched by the run, and what came of them is told and kept.
func TestURLsAreAddedWhileARunGoesOn(t *testing.T) {
	_, at := listen(t)
	s := newShell(t)
	list := s.file("more.csv", "url,id\n"+at.Sites[1].URL+"/new,1\n"+at.Sites[1].URL+"/new,2\nnothing,3\n")
	s.stdin = "add " + list + " " + at.Sites[1].URL + "/other no.txt\nadd no.txt\nadd -\n"
	got := s.run("run", s.file("urls.txt", pages(at.Sites[0], 3, "?sim_delay=20s")), "--plain", "--db", "add.db")
	if got.code != exitOK {
		t.Errorf("exit %d, %q, %q", got.code, got.out, got.err)
	}
	for _, want := range []string{"done    added 2 URLs, 1 already there, 2 refused: ", "nothing was added: no.txt: ", "nothing was added: -: stdin cannot be read", "accepted 5"} {
		if !strings.Contains(got.out, want) {
			t.Errorf("no %q in %q", want, got.out)
		}
	}
	got = s.run("export", "--db", "add.db", "--what", "events")
	if want := "3 URLs were added by you: 2 new, 1 already there, 2 refused"; !strings.Contains(got.out, want) {
		t.Errorf("no %q in %q", want, got.out)
	}
}

// TestAddedURLsAreNoLinesOfTheInput: a resume reads on behind the lines that are stored, however many URLs were added meanwhile.
func TestAddedURLsAreNoLinesOfTheInput(t *testing.T) {
	_, at := listen(t)
	s := newShell(t)
	list := s.file("urls.txt", pages(at.Sites[0], 6, ""))
	in, err := (&app{}).openInput(list)
	if err != nil {
		t.Fatal(err)
	}
	closeInputs([]input{in})
	kept, err := json.Marshal(settings{Inputs: []inputMark{in.mark}})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(filepath.Dir(list), "part.db")
	st, err := storage.Open(t.Context(), path, storage.Options{Fast: true})
	if err != nil {
		t.Fatal(err)
	}
	run, err := st.CreateRun(t.Context(), storage.RunSpec{Name: "part", Input: list, Provider: "direct", Settings: kept})
	if err != nil {
		t.Fatal(err)
	}
	tasks := func(addresses ...string) (tasks []storage.NewTask) {
		for _, a := range addresses {
			u, err := url.Parse(a)
			if err != nil {
				t.Fatal(err)
			}
			tasks = append(tasks, storage.NewTask{URL: a, InputURL: a, Domain: u.Hostname()})
		}
		return tasks
	}
	// Two lines were read; then three URLs were added, one of them the fifth line, and one that was there.
	first, other := at.Sites[0].URL, at.Sites[1].URL
	if _, err := st.Enqueue(t.Context(), run.ID, tasks(first+"/page-0", first+"/page-1")); err != nil {
		t.Fatal(err)
	}
	if q, err := st.Add(t.Context(), run.ID, tasks(other+"/a", other+"/b", first+"/page-4", first+"/page-1")); err != nil || q.Added != 3 || q.Duplicates != 1 {
		t.Fatal(q, err)
	}
	if err := st.Close(); err != nil {
		t.Fatal(err)
	}
	got := s.run("resume", "--db", path, "--summary", "json")
	if got.code != exitOK {
		t.Errorf("exit %d, %q", got.code, got.err)
	}
	expect(t, summaryOf(t, got), map[string]any{"state": "finished", "accepted": 8.0, "tasks": 8.0, "duplicates": 1.0, "pending": 0.0})
}

// TestAPipeIsNotWaitedFor: opening it would hang until somebody writes to it.
func TestAPipeIsNotWaitedFor(t *testing.T) {
	if _, _, _, err := (&app{}).named(os.DevNull); err == nil || !strings.Contains(err.Error(), "name a file") {
		t.Error(err)
	}
}
