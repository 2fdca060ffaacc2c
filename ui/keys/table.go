package keys

var (
	everywhere = []Mode{Overview, Domains, Shared, Diagnosed, HelpMode, FilterRow, Menu, Dialog}
	screens    = []Mode{Overview, Domains, Shared}
	rows       = []Mode{Overview, Domains, Shared, Menu}
	lists      = []Mode{Overview, Domains, Shared, Diagnosed, Menu}
	texts      = []Mode{HelpMode, FilterRow}
	domains    = []Mode{Domains}
	overview   = []Mode{Overview}
	budgets    = []Mode{Overview, Shared}
	paned      = []Mode{Overview, Domains}
	dialog     = []Mode{Dialog}
)

var table = []Binding{
	{Action: Down, Keys: []string{"j", "down"}, Modes: []Mode{Diagnosed}, Group: GroupMove, Help: "line down",
		Label: "Scroll", Foot: "j k", Rank: 2},
	{Action: Down, Keys: []string{"j", "down"}, Modes: rows, Group: GroupMove, Help: "line down", Synonyms: []string{"scroll", "cursor"}},
	{Action: Up, Keys: []string{"k", "up"}, Modes: lists, Group: GroupMove, Help: "line up", Synonyms: []string{"scroll", "cursor"}},
	{Action: Down, Keys: []string{"down"}, Modes: texts, Group: GroupMove, Help: "line down",
		Label: "Move", Foot: "↑ ↓", Rank: 3},
	{Action: Up, Keys: []string{"up"}, Modes: texts, Group: GroupMove, Help: "line up"},
	{Action: HalfDown, Keys: []string{"ctrl+d"}, Modes: lists, Group: GroupMove, Help: "half a page down", Synonyms: []string{"scroll"}},
	{Action: HalfUp, Keys: []string{"ctrl+u"}, Modes: lists, Group: GroupMove, Help: "half a page up", Synonyms: []string{"scroll"}},
	{Action: PageDown, Keys: []string{"pgdown"}, Modes: []Mode{Overview, Domains, Shared, Diagnosed, HelpMode, Menu}, Group: GroupMove, Help: "page down", Synonyms: []string{"scroll"}},
	{Action: PageUp, Keys: []string{"pgup"}, Modes: []Mode{Overview, Domains, Shared, Diagnosed, HelpMode, Menu}, Group: GroupMove, Help: "page up", Synonyms: []string{"scroll"}},
	{Action: Top, Keys: []string{"g", "home"}, Modes: lists, Group: GroupMove, Help: "first line", Synonyms: []string{"begin", "start"}},
	{Action: Bottom, Keys: []string{"G", "end"}, Modes: lists, Group: GroupMove, Help: "last line", Synonyms: []string{"finish"}},
	{Action: ColumnsLeft, Keys: []string{"h", "left"}, Modes: domains, Group: GroupMove, Help: "columns to the left", Synonyms: []string{"scroll", "sideways"}},
	{Action: ColumnsRight, Keys: []string{"l", "right"}, Modes: domains, Group: GroupMove, Help: "columns to the right", Synonyms: []string{"scroll", "sideways"}},
	{Action: NextPane, Keys: []string{"tab"}, Modes: paned, Group: GroupMove, Help: "next pane", Synonyms: []string{"focus", "panel"},
		Label: "Pane", Rank: 8},
	{Action: LastPane, Keys: []string{"shift+tab"}, Modes: paned, Group: GroupMove, Help: "last pane", Synonyms: []string{"focus", "panel"}},
	{Action: NextPane, Keys: []string{"tab", "right", "down"}, Modes: dialog, Group: GroupMove, Help: "next button",
		Label: "Button", Rank: 2},
	{Action: LastPane, Keys: []string{"shift+tab", "left", "up"}, Modes: dialog, Group: GroupMove, Help: "last button"},
	{Action: ShowOverview, Keys: []string{"1"}, Modes: screens, Group: GroupMove, Help: "overview", Synonyms: []string{"screen", "tab", "main"}},
	{Action: ShowBudgets, Keys: []string{"2"}, Modes: screens, Group: GroupMove, Help: "budgets", Synonyms: []string{"screen", "tab", "domains", "hosts", "sites", "limits"}},
	{Action: Scope, Keys: []string{"B"}, Modes: screens, Group: GroupMove, Help: "budgets of the next scope: domain, credential, account, tenant, platform",
		Synonyms: []string{"keys", "accounts", "tenants", "provider", "group"}, Label: "Scope", Rank: 6},
	{Action: Diagnosis, Keys: []string{"i"}, Modes: screens, Group: GroupMove, Help: "diagnosis: what holds the run back, on which evidence, and what helps",
		Synonyms: []string{"why", "429", "cause", "troubleshoot", "advice", "explain", "info"}, Label: "Why", Rank: 5},
	{Action: Diagnosis, Keys: []string{"i"}, Modes: []Mode{Diagnosed}, Group: GroupMove, Help: "close the diagnosis"},
	{Action: Open, Keys: []string{"enter"}, Modes: overview, Group: GroupMove, Help: "open what the cursor is on", Synonyms: []string{"select", "details"},
		Label: "Open", Rank: 7},
	{Action: Open, Keys: []string{"enter"}, Modes: []Mode{Menu}, Group: GroupMove, Help: "choose", Label: "Choose", Rank: 1},
	{Action: Open, Keys: []string{"enter"}, Modes: []Mode{HelpMode}, Group: GroupMove, Help: "do what the line says", Label: "Do it", Rank: 2},
	{Action: Open, Keys: []string{"enter"}, Modes: []Mode{FilterRow}, Group: GroupMove, Help: "keep the filter", Label: "Keep", Rank: 1},
	{Action: Open, Keys: []string{"enter"}, Modes: dialog, Group: GroupMove, Help: "press the button", Label: "Press", Rank: 1},
	{Action: Close, Keys: []string{"esc"}, Modes: screens, Group: GroupMove, Help: "close, clear the filter, go back", Synonyms: []string{"cancel", "escape", "dismiss"}},
	{Action: Close, Keys: []string{"esc"}, Modes: []Mode{Diagnosed, HelpMode, Menu, Dialog}, Group: GroupMove, Help: "close", Label: "Close", Rank: 1},
	{Action: Close, Keys: []string{"esc"}, Modes: []Mode{FilterRow}, Group: GroupMove, Help: "clear the filter", Label: "Clear", Rank: 2},
	{Action: LastScreen, Keys: []string{"ctrl+o"}, Modes: screens, Group: GroupMove, Help: "the screen before this one", Synonyms: []string{"back", "jump"}},

	{Action: Tag, Keys: []string{" "}, Modes: domains, Group: GroupAct, Help: "tag or untag the row", Synonyms: []string{"mark", "select"},
		Label: "Tag", Rank: 9},
	{Action: TagAll, Keys: []string{"*"}, Modes: domains, Group: GroupAct, Help: "tag all that match", Synonyms: []string{"mark", "select"}},
	{Action: ClearTags, Keys: []string{"U"}, Modes: domains, Group: GroupAct, Help: "clear all tags", Synonyms: []string{"untag", "unmark"}},
	{Action: Pause, Keys: []string{"p"}, Modes: screens, Group: GroupAct, Help: "pause or resume the row or the tagged ones", Undo: true,
		Synonyms: []string{"stop", "hold", "continue", "unpause"}, Label: "Pause/resume", Short: "Pause", Rank: 3},
	{Action: LimitDown, Keys: []string{"[", "f7"}, Modes: domains, Group: GroupAct, Help: "one less in flight", Undo: true,
		Synonyms: []string{"limit", "slower", "nice", "concurrency"}, Label: "Limit -/+", Short: "Limit", Foot: "[ ]", Rank: 5},
	{Action: LimitUp, Keys: []string{"]", "f8"}, Modes: domains, Group: GroupAct, Help: "one more in flight", Undo: true,
		Synonyms: []string{"limit", "faster", "nice", "concurrency"}},
	{Action: EndCooldown, Keys: []string{"c"}, Modes: screens, Group: GroupAct, Help: "end the cooldown", Asks: true,
		Synonyms: []string{"wake", "retry now", "wait"}, Label: "End cooldown", Short: "Wake", Rank: 6},
	{Action: Probe, Keys: []string{"r"}, Modes: budgets, Group: GroupAct, Help: "one probe of a stopped or cooling key or account; asks while it cools",
		Synonyms: []string{"retry", "reopen", "unstop", "top-up", "credential", "quota"}, Label: "One probe", Short: "Probe", Rank: 4, Seldom: true},
	{Action: Undo, Keys: []string{"u"}, Modes: screens, Group: GroupAct, Help: "undo the last act", Synonyms: []string{"revert", "take back"}},
	{Action: Copy, Keys: []string{"y"}, Modes: screens, Group: GroupAct, Help: "copy the row", Synonyms: []string{"yank", "clipboard"},
		Label: "Copy", Rank: 13},

	{Action: Filter, Keys: []string{"/", "f3", "f4"}, Modes: paned, Group: GroupFind, Help: "filter: word, !word not, /re/ pattern",
		Synonyms: []string{"search", "find", "grep"}, Label: "Filter", Rank: 2},
	{Action: Next, Keys: []string{"n"}, Modes: domains, Group: GroupFind, Help: "next match", Synonyms: []string{"hit", "search"}},
	{Action: Previous, Keys: []string{"N"}, Modes: domains, Group: GroupFind, Help: "previous match", Synonyms: []string{"hit", "search"}},
	{Action: Faults, Keys: []string{"!"}, Modes: domains, Group: GroupFind, Help: "faults only: cool, slow, block", Synonyms: []string{"errors", "problems"},
		Label: "Faults", Rank: 10},
	{Action: Alerts, Keys: []string{"!"}, Modes: overview, Group: GroupFind, Help: "the list of alerts", Synonyms: []string{"warnings", "problems", "toasts"},
		Label: "Alerts", Rank: 9},
	{Action: Sort, Keys: []string{"s", "f6"}, Modes: domains, Group: GroupFind, Help: "choose the column to sort by", Synonyms: []string{"order"},
		Label: "Sort", Rank: 4},
	{Action: Reverse, Keys: []string{"S"}, Modes: domains, Group: GroupFind, Help: "reverse the order", Synonyms: []string{"sort", "invert"}},

	{Action: PauseRun, Keys: []string{"P"}, Modes: screens, Group: GroupRun, Help: "pause or resume the whole run", Undo: true,
		Synonyms: []string{"stop", "hold", "continue", "unpause", "all"}, Label: "All", Rank: 11},

	{Action: Freeze, Keys: []string{"Z"}, Modes: screens, Group: GroupScreen, Help: "freeze the picture; the run goes on", Synonyms: []string{"pause", "hold", "stop", "live"},
		Label: "Freeze", Rank: 12},
	{Action: RangeLonger, Keys: []string{"+"}, Modes: overview, Group: GroupScreen, Help: "longer chart range", Synonyms: []string{"time", "history"}},
	{Action: RangeShorter, Keys: []string{"-"}, Modes: overview, Group: GroupScreen, Help: "shorter chart range", Synonyms: []string{"time", "history"}},
	{Action: Zoom, Keys: []string{"z"}, Modes: paned, Group: GroupScreen, Help: "zoom the pane to the whole screen", Synonyms: []string{"maximise", "expand", "full"}},
	{Action: Detail, Keys: []string{"|"}, Modes: []Mode{Domains, Shared}, Group: GroupScreen, Help: "detail pane on or off", Synonyms: []string{"split", "preview"}},
	{Action: Wide, Keys: []string{"w"}, Modes: domains, Group: GroupScreen, Help: "wide or usual columns", Synonyms: []string{"more", "columns"}},
	{Action: NextTheme, Keys: []string{"t"}, Modes: screens, Group: GroupScreen, Help: "next theme", Synonyms: []string{"colour", "color", "dark", "light"},
		Label: "Theme", Rank: 14},
	{Action: LastTheme, Keys: []string{"T"}, Modes: screens, Group: GroupScreen, Help: "last theme", Synonyms: []string{"colour", "color", "dark", "light"}},
	{Action: Redraw, Keys: []string{"ctrl+l"}, Modes: everywhere, Group: GroupScreen, Help: "draw the screen anew", Synonyms: []string{"refresh", "clear"}},

	{Action: Help, Keys: []string{"?", "f1"}, Modes: lists, Group: GroupProgram, Help: "this help", Synonyms: []string{"keys", "manual"},
		Label: "Help", Rank: 1},
	{Action: Help, Keys: []string{"?", "f1"}, Modes: []Mode{HelpMode}, Group: GroupProgram, Help: "close the help"},
	{Action: Suspend, Keys: []string{"ctrl+z"}, Modes: everywhere, Group: GroupProgram, Help: "to the shell; fg returns", Synonyms: []string{"background"}},
	{Action: Quit, Keys: []string{"q", "f10"}, Modes: lists, Group: GroupProgram, Help: "quit; asks while a run is going", Asks: true,
		Synonyms: []string{"exit", "stop", "leave", "drain"}, Label: "Quit", Rank: 99},
	{Action: Quit, Keys: []string{"f10"}, Modes: texts, Group: GroupProgram, Help: "quit; asks while a run is going", Asks: true,
		Label: "Quit", Rank: 99},
	{Action: Interrupt, Keys: []string{"ctrl+c"}, Modes: everywhere, Group: GroupProgram, Help: "quit: drain first; twice: stop at once",
		Synonyms: []string{"exit", "stop", "kill", "abort"}},
}
