package main

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"dev.scrapetop/storage"
)

// TestAgedFileIsBroughtUpToDate: a file of each earlier version has what the run had, and the program opens it.
func TestAgedFileIsBroughtUpToDate(t *testing.T) {
	schema, err := migrations(filepath.Join("..", "..", folder))
	if err != nil {
		t.Fatal(err)
	}
	r := &run{o: options{schema: schema}, dir: t.TempDir(), rng: rand.New(rand.NewPCG(1, 1))}
	path := filepath.Join(r.dir, database)
	open := func() *storage.Store {
		st, err := storage.Open(t.Context(), path, storage.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return st
	}
	st := open()
	kept, err := st.CreateRun(t.Context(), storage.RunSpec{Name: "t", Input: "t", Provider: "direct"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Enqueue(t.Context(), kept.ID, []storage.NewTask{{URL: page, Domain: "127.77.9.1"}}); err != nil {
		t.Fatal(err)
	}
	versions := map[int]bool{}
	for range 60 { // the last version is drawn one time in sixteen
		if err := st.Close(); err != nil {
			t.Fatal(err)
		}
		if err := r.age(t.Context()); err != nil {
			t.Fatal(err)
		}
		d, err := readDisk(path)
		if err != nil || d.runs != 1 || d.tasks[page].state != "pending" {
			t.Fatalf("%+v, %v", d, err)
		}
		versions[d.version] = true
		st = open()
	}
	defer st.Close()
	if len(versions) != len(schema)-2 || versions[len(schema)] {
		t.Errorf("made versions %v of 2 to %d", versions, len(schema)-1)
	}
	if d, err := readDisk(path); err != nil || d.version != len(schema) || d.tasks[page].state != "pending" {
		t.Errorf("%+v, %v", d, err)
	}
}
