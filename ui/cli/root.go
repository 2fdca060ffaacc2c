package cli

import (
	"fmt"
	"net"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// app is one invocation.
type app struct {
	std   stdio
	world world
	env   map[string]string

	globals globals
	file    *configFile         // after prepare; never nil then
	given   map[string][]string // flags given on the command line or by the environment
	teller  teller
	metrics net.Listener // the address of the metrics, until they are served; nil: none was named
}

// What a command needs before it runs, in its annotations.
const (
	needConfig   = "config" // "run", "export" or "": the table that its flags may be set in
	withoutFile  = "none"   // reads no config file
	tolerateFile = "report" // looks at the config file itself
)

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "scrapetop",
		Short: "htop for scraping jobs",
		Long: "scrapetop drives a polite scraping engine from a terminal dashboard: it takes a list of URLs, fetches each\n" +
			"directly or through a scraping platform, stays inside every limit on the way, and keeps results and history in\n" +
			"one SQLite file. Without a command it opens the dashboard on the database and fetches nothing.",
		Example: "  scrapetop demo\n  scrapetop run urls.txt\n  scrapetop run urls.csv --provider evomi --headless --summary json\n" +
			"  curl -si https://example.com/ | scrapetop explain",
		Args:              noArgs,
		SilenceUsage:      true,
		SilenceErrors:     true,
		PersistentPreRunE: a.prepare,
		RunE:              func(cmd *cobra.Command, _ []string) error { return a.browse(cmd.Context()) },
		Version:           version(),

		SuggestionsMinimumDistance: 2,
	}
	root.SetVersionTemplate("scrapetop {{.Version}}\n")
	a.globals.register(root.PersistentFlags())
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%w, see: %s --help", err, cmd.CommandPath())
	})
	root.AddCommand(
		a.demoCommand(), a.runCommand(), a.resumeCommand(), a.exportCommand(), a.historyCommand(),
		a.pauseCommand(), a.unpauseCommand(), a.requeueCommand(), a.simulateCommand(), a.explainCommand(),
		a.reportCommand(), a.doctorCommand(), a.versionCommand(), a.pictureCommand(),
	)
	root.SetIn(a.std.In)
	root.SetOut(a.std.Out)
	root.SetErr(a.std.Err)
	root.InitDefaultCompletionCmd() // keeps the output it finds

	for _, c := range root.Commands() {
		if c.Name() == "completion" {
			for _, sub := range append(c.Commands(), c) {
				sub.Annotations = map[string]string{needConfig: withoutFile}
			}
			c.Args = cobra.ArbitraryArgs // of itself it runs nothing, and would take any word
			c.RunE = func(_ *cobra.Command, args []string) error {
				if len(args) > 0 {
					return usage("%s is no SHELL that is known: bash, zsh, fish or powershell", strconv.Quote(shorten(args[0], 40)))
				}
				return usage("completion takes a SHELL: bash, zsh, fish or powershell")
			}
		}
	}
	return root
}

// prepare finds and reads the config file and gives flags that were not given their value from it or the environment.
func (a *app) prepare(cmd *cobra.Command, _ []string) error {
	a.given = map[string][]string{}
	a.file = &configFile{}
	table := cmd.Annotations[needConfig]
	if strings.HasPrefix(cmd.Name(), "__complete") || cmd.Name() == "help" {
		table = withoutFile
	}
	if table != withoutFile && table != tolerateFile {
		if err := a.readConfig(cmd.Flags().Changed("config")); err != nil {
			return err
		}
	}
	if _, set := a.env["NO_COLOR"]; set && a.env["NO_COLOR"] != "" {
		a.globals.noColor = true
	}
	if a.file.DB != "" {
		a.fallback("db", a.file.DB)
	}
	if a.file.Theme != "" {
		a.fallback("theme", a.file.Theme)
	}
	if a.file.NoColor != nil {
		a.fallback("no_color", *a.file.NoColor)
	}
	if a.file.ASCII != nil {
		a.fallback("ascii", *a.file.ASCII)
	}
	own, prefix := a.file.Run, "SCRAPETOP_"
	if table == "export" {
		// Only run's flags and the global ones have a variable of their own name; --format of export would collide.
		own, prefix = a.file.Export, "SCRAPETOP_EXPORT_"
	}
	if err := a.settle(cmd.InheritedFlags(), a.file.Run, "run", "SCRAPETOP_"); err != nil {
		return err
	}
	if table == "run" || table == "export" {
		return a.settle(cmd.LocalNonPersistentFlags(), own, table, prefix)
	}
	if cmd == cmd.Root() {
		return a.settle(cmd.PersistentFlags(), a.file.Run, "run", "SCRAPETOP_")
	}
	return nil
}

// fallback puts a top-level key of the file where its flag is looked for.
func (a *app) fallback(key string, v any) {
	if a.file.Run == nil {
		a.file.Run = map[string]any{}
	}
	if _, ok := a.file.Run[key]; !ok {
		a.file.Run[key] = v
	}
}

func (a *app) readConfig(flagGiven bool) error {
	given := a.globals.config
	if !flagGiven {
		given = a.env["SCRAPETOP_CONFIG"]
	}
	path, err := locateConfig(given, a.world.configDirs)
	if err != nil {
		return err
	}
	file, err := loadConfig(path)
	if err != nil {
		return err
	}
	a.file = file
	return nil
}

func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if cmd == cmd.Root() {
		hint := "see: scrapetop --help"
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			hint = "did you mean " + near[0] + "?"
		}
		return usage("unknown command %q, %s", args[0], hint)
	}
	return usage("%s takes no arguments, see: %s --help", cmd.CommandPath(), cmd.CommandPath())
}

// argCount is cobra's range of arguments as a usage failure.
func argCount(least, most int, what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) < least || most >= 0 && len(args) > most {
			return usage("%s takes %s, got %d arguments, see: %s --help", cmd.CommandPath(), what, len(args), cmd.CommandPath())
		}
		return nil
	}
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArgs,
		Annotations: map[string]string{needConfig: withoutFile},
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.std.Out, "scrapetop %s\n", version())
			return err
		},
	}
}

// version is what the build recorded: the module's version, or the revision it was built from.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown " + runtime.Version()
	}
	v := info.Main.Version
	if v == "" || v == "(devel)" {
		v = "devel"
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && len(s.Value) >= 12 {
				v = "devel " + s.Value[:12]
			}
		}
	}
	return v + " " + info.GoVersion
}
