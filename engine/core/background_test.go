package core

import (
	"testing"
	"time"
)

// TestBackgroundIsProvedByRunningJobs: only jobs handed over before an answer and found running after it contradict the
// count of slots in use that the answer told, each once.
func TestBackgroundIsProvedByRunningJobs(t *testing.T) {
	at := func(s int) time.Time { return labStart.Add(time.Duration(s) * time.Second) }
	jobs := make([]*Job, 6)
	for i := range jobs {
		jobs[i] = &Job{handed: at(i)}
	}
	b := &background{jobs: len(jobs)}
	round := func(from, used int) (free bool) {
		b.inUse(at(from+1), at(from), int64(used))
		for _, j := range jobs {
			free = b.stillRuns(j, at(from+2)) || free
			free = b.stillRuns(j, at(from+3)) || free // the same job says it once
		}
		return free
	}
	if round(10, 6) || b.open {
		t.Error("as many in use as jobs run prove nothing")
	}
	if round(20, -1) || b.open {
		t.Error("a count below zero is none")
	}
	if round(3, 4) || b.proofs != 0 {
		t.Error("four jobs of before the answer do not contradict four in use")
	}
	b.open = false
	if round(50, 5) || b.proofs != 1 {
		t.Errorf("%d proofs, want one", b.proofs)
	}
	if !round(100, 2) || !b.free {
		t.Error("two proofs are enough")
	}
	b.refused()
	if b.free || b.needs != 8 {
		t.Errorf("after a refusal: %+v", b)
	}
	for i := range 7 {
		if round(200+10*i, 0) {
			t.Errorf("believed again after %d proofs", i+1)
		}
	}
	if !round(300, 0) {
		t.Error("eight proofs are enough the second time")
	}
}

// TestBackgroundJobsAreBounded: more jobs may be outstanding while each ends soon after its submit, fewer when results come
// near their expiry.
func TestBackgroundJobsAreBounded(t *testing.T) {
	b := &background{free: true, most: 10, jobs: 10}
	for range 20 {
		b.ended(5*time.Second, 10*time.Minute)
		b.jobs = b.most
	}
	if b.most != 30 {
		t.Errorf("%d after twenty quick jobs", b.most)
	}
	b.ended(2*time.Minute, 10*time.Minute)
	if b.most != 30 {
		t.Errorf("%d after a job inside the bounds", b.most)
	}
	for range 20 {
		b.ended(4*time.Minute, 10*time.Minute)
		b.jobs = min(b.jobs, b.most)
	}
	if b.most != jobsLeast {
		t.Errorf("%d while results come near their expiry", b.most)
	}
}
