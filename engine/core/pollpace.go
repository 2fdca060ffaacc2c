package core

import (
	"cmp"
	"slices"
	"time"
)

// Where polls cost as much as submits (a platform whose window counts both), a job is left alone until it is likely to be
// done. Two pictures of a platform compete: it works on everything at once, so that jobs take about as long as those before
// them; or it has a queue, so that a job's turn comes with the pace at which tasks come out. The oldest job leads: it is
// polled finely. When it ends, the next oldest are asked, one, then two, then four, as long as they are found done: with a
// platform of the first kind a few polls collect everything, with one of the second the first finds a job running, and the
// pace decides.

// jobPace is what was learned of how long remote jobs take.
type jobPace struct {
	first     time.Time     // when the first job was handed over
	collected int64         // tasks of jobs that are terminal
	took      time.Duration // of the last jobs, from submit to about the end
	forward   int           // how many are asked when one ends
}

func (p *jobPace) begin(at time.Time) {
	if p.first.IsZero() {
		p.first, p.forward = at, 1
	}
}

// pollsCost reports that polls draw on the same window, or the same cap, as submits.
func (m *Machine) pollsCost() bool {
	return m.cfg.Facts.RateLimit > 0 && m.cfg.Facts.PollsCount || m.capsRequests
}

// onTime is how late a poll may be so that what it finds tells of the platform.
const onTime = 5 * time.Second

// leadWait is how long a job is left alone at least while an older one leads and nothing is known.
const leadWait = 2 * time.Minute

// older is the number of tasks in jobs that were submitted before j.
func (m *Machine) older(j *Job) (tasks int) {
	for _, other := range m.jobs {
		if other != j && other.capped.IsZero() && (other.Submitted.Before(j.Submitted) || other.Submitted.Equal(j.Submitted) && other.ID < j.ID) {
			tasks += len(other.Tasks)
		}
	}
	return tasks
}

// firstPoll is how long after its submit a job is first asked about; zero: as the provider says.
func (m *Machine) firstPoll(j *Job) time.Duration {
	switch {
	case !m.pollsCost():
		return 0
	case m.older(j) > 0 && m.pace.collected == 0:
		return leadWait
	case m.older(j) > 0:
		return m.pace.took * 5 / 4 // the leader's end brings it forward
	}
	return m.pace.took * 31 / 32
}

// nextPoll is how long a job that was found running is left alone. usual is the provider's growing interval.
func (m *Machine) nextPoll(now time.Time, j *Job, usual time.Duration) time.Duration {
	if !m.pollsCost() {
		return usual
	}
	age := now.Sub(j.Submitted)
	ahead := m.older(j)
	if j.brought {
		j.brought, m.pace.forward = false, 1 // found running: they do not all end together
	}
	if ahead == 0 { // it leads
		fine, least := age/12, 2*time.Second
		if took := m.pace.took; took > 0 {
			fine, least = max(took/32, (age-took)/8), time.Second
		}
		if j.ended > 0 { // its tasks come out one after another: that pace says when the last is likely to
			left := age * time.Duration(len(j.Tasks)-j.ended) / time.Duration(j.ended)
			fine = max(fine, left/3)
		}
		return max(min(fine, 4*m.cfg.Facts.PollMax), least)
	}
	if m.pace.collected == 0 {
		return max(leadWait, age/2)
	}
	perTask := now.Sub(m.pace.first) / time.Duration(m.pace.collected)
	return max(perTask*time.Duration(ahead)*3/4, usual, age/8)
}

// jobEnded learns how long a job took, and asks about those that were handed over next.
func (m *Machine) jobEnded(now time.Time, j *Job) {
	if !m.pollsCost() {
		return
	}
	m.pace.collected += int64(len(j.Tasks))
	end := now
	if !j.lastRunning.IsZero() { // it ended somewhere between the last two polls
		end = j.lastRunning.Add(now.Sub(j.lastRunning) / 2)
	}
	took := end.Sub(j.Submitted)
	switch {
	case m.pace.took == 0:
		m.pace.took = took
	case j.lastRunning.IsZero(): // it was done when it was first asked about: it took less
		m.pace.took = min(m.pace.took, took) - m.pace.took/32
	case now.Sub(j.Next) < onTime: // else the time is that of our own waiting for a window
		m.pace.took += (took - m.pace.took) / 4
	}
	if j.brought {
		m.pace.forward = min(m.pace.forward*2, 64)
	}
	waiting := make([]*Job, 0, len(m.jobs))
	for _, other := range m.jobs {
		if !other.polling && !other.due && other.capped.IsZero() {
			waiting = append(waiting, other)
		}
	}
	slices.SortFunc(waiting, func(a, b *Job) int {
		if c := a.Submitted.Compare(b.Submitted); c != 0 {
			return c
		}
		return cmp.Compare(a.ID, b.ID)
	})
	if len(waiting) > 0 { // the oldest leads now
		if at := waiting[0].Submitted.Add(m.pace.took * 31 / 32); at.After(now) && at.Before(waiting[0].Next) {
			m.again(now, waiting[0], at)
		}
	}
	next := slices.DeleteFunc(waiting, func(other *Job) bool { return now.Sub(other.Submitted) < took*7/8 })
	// Found done at this age, it was done at this age at the latest: the others are not asked before they are as old.
	age := now.Sub(j.Submitted)
	for _, other := range next[:min(len(next), m.pace.forward)] {
		other.brought = true
		at := other.Submitted.Add(age)
		if at.Before(now) {
			at = now
		}
		m.again(now, other, at)
	}
}
