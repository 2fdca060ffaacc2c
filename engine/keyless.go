package engine

import (
	"fmt"

	"dev.scrapetop/engine/budget"
)

// keyless is why nothing can go on before a person mends a key or tops up: the platform stopped every one; empty: something can.
func (l *loop) keyless() string {
	if in, _ := l.m.InFlight(); in > 0 {
		return ""
	}
	why, keys, polled := "", 0, false
	shared := l.m.Shared()
	accounts := make(map[string]*budget.Budget)
	for _, s := range shared {
		if s.Scope == budget.Account {
			accounts[s.Key] = s.Budget
		}
	}
	for _, s := range shared {
		if s.Scope != budget.Credential {
			continue
		}
		stopped := s.Budget.StoppedWhy()
		polls := !s.Budget.StopsPolls()
		if a := accounts[s.Account]; a != nil {
			polls = polls && !a.StopsPolls()
			if stopped == "" {
				stopped = a.StoppedWhy()
			}
		}
		if stopped == "" {
			return ""
		}
		if polled = polled || polls; why == "" {
			why = "credential " + s.Key + " is stopped by the platform: " + stopped
		}
		keys++
	}
	if polled && l.m.Counts().Remote > 0 {
		return "" // what runs at the platform still comes home
	}
	if keys > 1 {
		why += fmt.Sprintf(" (and %d more)", keys-1)
	}
	return why
}
