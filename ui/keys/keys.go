package keys

// Action names what a key asks for. The names are words a person may search the help for.
type Action string

// The actions.
const (
	Down         Action = "down"
	Up           Action = "up"
	HalfDown     Action = "half page down"
	HalfUp       Action = "half page up"
	PageDown     Action = "page down"
	PageUp       Action = "page up"
	Top          Action = "top"
	Bottom       Action = "bottom"
	ColumnsLeft  Action = "columns left"  // among tasks: the state to the left
	ColumnsRight Action = "columns right" // likewise
	NextPane     Action = "next pane"     // in a dialog: the next button
	LastPane     Action = "last pane"     // in a dialog: the last button
	ShowOverview Action = "overview"
	ShowBudgets  Action = "budgets"
	ShowTasks    Action = "tasks"
	ShowLetters  Action = "dead letters"
	ShowEvents   Action = "events"
	ShowHistory  Action = "history"
	Scope        Action = "scope"     // of the budgets shown
	Diagnosis    Action = "diagnosis" // open it; in it: close it
	Open         Action = "open"      // in a dialog: press the button; in a text field: take what was typed
	Close        Action = "close"     // close what is open, else clear the filter, else go back
	LastScreen   Action = "last screen"

	Tag         Action = "tag"
	TagAll      Action = "tag all"
	ClearTags   Action = "clear tags"
	Pause       Action = "pause" // pause or resume the row or the tagged ones
	LimitDown   Action = "limit down"
	LimitUp     Action = "limit up"
	EndCooldown Action = "end cooldown"
	Probe       Action = "one probe" // of the selected key or account
	Requeue     Action = "requeue"
	Retry       Action = "retry now"   // end a task's backoff, or requeue it
	Cancel      Action = "cancel"      // a task
	RequeueAll  Action = "requeue all" // of the cause, or of the domain
	Compare     Action = "compare"     // the tagged runs
	Settings    Action = "settings"    // of the run under the cursor
	Demo        Action = "demo"        // where no run is loaded
	AddURLs     Action = "add urls"    // to the run that is going; where none is loaded: start one of them
	Again       Action = "run again"   // the run under the cursor, or go on with it
	Export      Action = "export"
	Undo        Action = "undo"
	Copy        Action = "copy"
	CopyJSON    Action = "copy as json"
	Browse      Action = "browse" // open the address in the browser

	Filter   Action = "filter"
	Next     Action = "next"
	Previous Action = "previous"
	Faults   Action = "faults"
	Alerts   Action = "alerts"
	Follow   Action = "follow" // the newest event
	Level    Action = "level"  // the least level shown
	Sort     Action = "sort"
	Reverse  Action = "reverse"

	PauseRun Action = "pause run" // pause or resume the whole run

	Freeze       Action = "freeze"
	RangeLonger  Action = "range longer"
	RangeShorter Action = "range shorter"
	Zoom         Action = "zoom"
	Detail       Action = "detail"
	Wide         Action = "wide"
	NextTheme    Action = "next theme"
	LastTheme    Action = "last theme"
	Redraw       Action = "redraw"

	Help      Action = "help" // open it; in the help: close it
	Palette   Action = "palette"
	Complete  Action = "complete" // in the palette: what was begun
	Suspend   Action = "suspend"
	Quit      Action = "quit"
	Interrupt Action = "interrupt" // quit; twice within two seconds: stop at once
)

// Mode is what has the keys.
type Mode string

// The modes. Text modes take all printable keys that are not in the table as text.
const (
	Overview  Mode = "overview"
	Domains   Mode = "domains"        // the Budgets screen with the domains
	Shared    Mode = "shared budgets" // the Budgets screen with the budgets that are no domain's
	Tasks     Mode = "tasks"
	Letters   Mode = "dead letters"
	Events    Mode = "events"
	History   Mode = "history"
	Results   Mode = "results"     // of a run
	Page      Mode = "result"      // one of them: its headers and body
	Exporting Mode = "export"      // its dialog
	Pathed    Mode = "export path" // the text field in it
	Columned  Mode = "export columns"
	Adding    Mode = "adding"   // of URLs: a text field
	HelpMode  Mode = "help"     // the help, which is also a search field
	FilterRow Mode = "filter"   // a text field
	Commands  Mode = "commands" // the palette, which is a text field too
	Diagnosed Mode = "diagnosis"
	Menu      Mode = "menu" // a short list to choose from: sort column, alerts
	Dialog    Mode = "dialog"
)

// Modes returns all modes.
func Modes() []Mode {
	return []Mode{
		Overview, Domains, Shared, Tasks, Letters, Events, History, Results, Page, Diagnosed, HelpMode, FilterRow, Commands, Menu, Dialog, Exporting, Pathed, Columned, Adding,
	}
}

// Group is a heading in the help.
type Group string

// The groups, in the order of the help.
const (
	GroupMove    Group = "MOVE"
	GroupAct     Group = "ACT"
	GroupFind    Group = "FIND"
	GroupRun     Group = "RUN"
	GroupScreen  Group = "SCREEN"
	GroupProgram Group = "PROGRAM"
)

// Groups returns the groups in the order of the help.
func Groups() []Group {
	return []Group{GroupMove, GroupAct, GroupFind, GroupRun, GroupScreen, GroupProgram}
}

// Binding is one row of the table.
type Binding struct {
	Action   Action
	Keys     []string // as Bubble Tea prints them; the first is the one the footer shows
	Modes    []Mode   // where it applies
	Group    Group
	Help     string   // what it does, in a few words
	Synonyms []string // other words a person may search for
	Asks     bool     // asks before it acts
	Undo     bool     // can be taken back

	// Label is the word in the footer, Short the one for narrow terminals (empty: Label), Pair the action whose key is shown
	// there behind the own one. The footer shows bindings by rising Rank, and drops them from the highest; zero is never shown.
	Label, Short string
	Pair         Action
	Rank         int
	Seldom       bool // in the footer only while it can do something
}

// Disabled tells why an action can do nothing now, in words for the user; the empty string: it can. A nil Disabled
// disables nothing.
type Disabled func(Action) string

func (d Disabled) why(a Action) string {
	if d == nil {
		return ""
	}
	return d(a)
}
