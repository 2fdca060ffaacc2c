// Package lease divides what several processes may spend together: the slots and starts of each shared budget.
//
// Each process (a member) says of each budget what it could use (Demand), one place (the Book) says what each may use
// (Grant). Shares are max-min: nobody gets more than it can use while another wants for it, what is left over is divided evenly, and where there are
// fewer slots than members that want one they take turns. The ceiling of all together is the least that any member at work names.
//
// The Book never hands out more than a ceiling in total. A share that is taken back counts as used until its holder has said
// that it goes by the smaller one, and what is in flight counts until it is over; a member that is gone without a word counts
// until its lease ends. Starts are bounded by a log over all members; each gets a batch of at most a twentieth of the window in
// advance, which counts as used until it is given back. After a cooldown the members test the budget one at a time.
//
// A Book that begins where an earlier one ended without a word learns first: until one lease has passed it hands out nothing beyond
// what its members report, because others may still go by leases that it does not know.
//
// Everything here is plain data and pure decisions: no clock, no goroutine, no lock. What carries demands and grants between
// processes is somebody else's concern (package share on one machine).
package lease
