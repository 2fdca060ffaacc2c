package core

import (
	"dev.scrapetop/engine/frontier"
)

// spare are calls and tasks that nobody holds any more. They are used again, so that in steady state a step allocates
// nothing. A call is its receiver's from its Send or Store until its Stored: that is when it comes back, and with it the
// tasks that it ended. One that never comes back (taken back unsent, abandoned) is left to the garbage collector.
type spare struct {
	calls []*Call
	tasks []*frontier.Task
}

func (s *spare) call() *Call {
	n := len(s.calls)
	if n == 0 {
		return &Call{}
	}
	c := s.calls[n-1]
	s.calls = s.calls[:n-1]
	return c
}

// putCall takes a call back. What it referred to is forgotten at once, its room for settled tasks is kept.
func (s *spare) putCall(c *Call) {
	if c.searched {
		return
	}
	clear(c.settle)
	*c = Call{settle: c.settle[:0]}
	s.calls = append(s.calls, c)
}

func (s *spare) task() *frontier.Task {
	n := len(s.tasks)
	if n == 0 {
		return new(frontier.Task)
	}
	t := s.tasks[n-1]
	s.tasks = s.tasks[:n-1]
	return t
}

func (s *spare) putTask(t *frontier.Task) {
	*t = frontier.Task{}
	s.tasks = append(s.tasks, t)
}
