package engine

// Verb is what a user can ask of a running engine.
type Verb string

// The verbs. Each names the wanted state, never a toggle, so that two presses cannot cross.
const (
	Pause       Verb = "pause"        // hold Scope/Key: nothing new starts; what is in flight finishes, polls go on
	Resume      Verb = "resume"       // undo Pause
	PauseRun    Verb = "pause run"    // hold everything
	ResumeRun   Verb = "resume run"   //
	SetLimit    Verb = "set limit"    // Limit: the ceiling in flight of a domain; zero gives it back to the engine
	EndCooldown Verb = "end cooldown" // probe Scope/Key now
	Drain       Verb = "drain"        // stop starting work, let what is in flight finish, save
	Abandon     Verb = "abandon"      // stop at once; what is in flight returns to the queue
)

// Command is one act of the user. It is confirmed by a later frame, never by a return value.
type Command struct {
	Verb  Verb
	Scope string // domain, credential, account, tenant, provider
	Key   string
	Limit int
}
