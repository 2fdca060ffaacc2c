package core

import (
	"time"

	"dev.scrapetop/engine/budget"
	"dev.scrapetop/engine/provider"
)

// Config is what a machine is made with. Zero ceilings mean none.
type Config struct {
	Provider string // its name: the key of its budgets
	Facts    provider.Facts
	Direct   bool // we fetch ourselves: domains have limits to find, robots.txt may apply

	Global      budget.Limits
	Domain      budget.Limits            // of a domain that Domains does not name
	Domains     map[string]budget.Limits // by domain
	Tenants     map[string]TenantLimits
	Credentials []CredentialLimits

	MaxAttempts int
	Deadline    time.Duration // of a task, from its first try
	MaxWait     time.Duration // longest idle spell; zero: none
	MaxCredits  float64       // zero: no cap
	MaxRequests int64
	Robots      bool
	BlockHold   time.Duration // how long a target that refuses access is left alone at first; zero: budget.BlockHold
	Unattended  bool          // nobody can resume what is paused: a run left with only paused work ends

	ResubmitLost    bool
	ResubmitUnknown bool

	// Recall tells what earlier runs know of a budget; nil: nothing is known. It is asked once for each.
	Recall func(now time.Time, scope budget.Scope, name string) (budget.Memory, bool)

	InMemory int    // tasks in memory at most; zero: 10,000
	Seed     uint64 // of jitter
}

// TenantLimits are a tenant's ceilings and caps.
type TenantLimits struct {
	budget.Limits
	MaxCredits  float64
	MaxRequests int64
}

// CredentialLimits are a credential's name, account, users and ceilings.
type CredentialLimits struct {
	Name    string
	Account string
	Tenants []string // empty: every tenant
	Limits  budget.Limits
}
