package core

import (
	"fmt"
	"time"

	"dev.scrapetop/engine/budget"
)

// background is what is learned of whether the work that a platform does in the background holds a slot of its credential.
// No sheet says so; it is taken to hold one. The count of free slots that the platform tells can prove the opposite: an
// answer tells how many slots are in use, and polls sent later find more jobs than that still running, all of them handed
// over before. A refusal for concurrency takes the lesson back, and a second lesson needs more proofs.
type background struct {
	free   bool // proved: it holds none
	proofs int
	needs  int

	open  bool // an answer waits to be contradicted
	round uint64
	sent  time.Time // of the answer's call
	at    time.Time // of the answer
	used  int
	ran   int // jobs that were found running throughout

	jobs int // handed over, not terminal
	most int // of them, while no slots bound them
}

const (
	proofsNeeded  = 2
	proofsGrow    = 4
	witnessedFor  = 30 * time.Second // how long an answer waits to be contradicted
	jobsLeast     = 8
	jobsEasy      = 8 // of the retention's parts: below one, more jobs may be outstanding
	jobsLate      = 4 // above one, fewer
	jobsShrinkNum = 3
	jobsShrinkDen = 4
)

// inUse takes what an answer told of slots in use.
func (b *background) inUse(now, sent time.Time, used int64) {
	if b.free || used < 0 || int64(b.jobs) <= used || b.open && now.Sub(b.at) < witnessedFor {
		return
	}
	b.open, b.sent, b.at, b.used, b.ran = true, sent, now, int(used), 0
	b.round++
}

// stillRuns takes a poll, sent at a time, that found a job running. It reports that background work is proved to hold no
// slot.
func (b *background) stillRuns(j *Job, sent time.Time) bool {
	if b.free || !b.open || j.round == b.round || j.handed.After(b.sent) || sent.Before(b.at) {
		return false
	}
	j.round = b.round
	if b.ran++; b.ran <= b.used {
		return false
	}
	b.open = false
	b.proofs++
	b.free = b.proofs >= max(b.needs, proofsNeeded)
	return b.free
}

// refused takes the lesson back.
func (b *background) refused() {
	b.free, b.open, b.proofs = false, false, 0
	b.needs = proofsGrow * max(b.needs, proofsNeeded)
}

// ended learns from how long a job took how many may be outstanding: more while the platform is far from the retention,
// fewer when it comes near.
func (b *background) ended(took, retention time.Duration) {
	switch {
	case retention <= 0:
	case took < retention/jobsEasy:
		if b.jobs >= b.most-1 {
			b.most++
		}
	case took > retention/jobsLate:
		b.most = max(jobsLeast, min(b.most, b.jobs*jobsShrinkNum/jobsShrinkDen))
	}
}

// foundRunning notes that a poll found a job at work, and gives the slots back that such jobs turn out not to hold.
func (m *Machine) foundRunning(j *Job, sent time.Time) {
	cr := j.slots.cred
	if cr == nil || !cr.background.stillRuns(j, sent) {
		return
	}
	cr.background.most = max(cr.background.most, 2*cr.background.jobs)
	m.tell("info", budget.Credential, cr.name, fmt.Sprintf("background work holds no slot: %d jobs ran while the platform counted %d in use", cr.background.ran, cr.background.used), 0)
	for _, other := range m.jobs {
		m.freeSlot(&other.slots)
	}
	m.unparkLanes()
}

// freeSlot gives back the credential's slot of work in the background that is known to hold none. A ceiling that a person
// configured counts all work.
func (m *Machine) freeSlot(s *slots) {
	if s.cred == nil || !s.held || s.background || !s.cred.background.free || s.cred.budget.Configured() > 0 {
		return
	}
	s.background = true
	s.cred.budget.Release()
}

// holdAgain takes the slots of a credential's background work again after a refusal.
func (m *Machine) holdAgain(cr *credential) {
	if cr == nil || !cr.background.free {
		return
	}
	cr.background.refused()
	for _, j := range m.jobs {
		if s := &j.slots; s.cred == cr && s.held && s.background {
			s.background = false
			cr.budget.Hold()
		}
	}
}

// crowded reports that no more jobs of a credential should be outstanding: where no slots bound them, so many as are read
// well within their retention.
func (m *Machine) crowded(c *credential) bool {
	b := &c.background
	return m.cfg.Facts.FreeSlots && b.jobs >= b.most && (b.free || c.budget.Limit() == 0)
}
