package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"dev.scrapetop/engine"
	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
	"dev.scrapetop/engine/transport"
	"dev.scrapetop/storage"
	"dev.scrapetop/themes"

	"github.com/spf13/cobra"
)

const doctorTimeout = 15 * time.Second

func (a *app) doctorCommand() *cobra.Command {
	var offline, repair bool
	var into string
	cmd := &cobra.Command{
		Use: "doctor", Short: "Check config, keys, database, terminal and platforms",
		Long: "Checks what a run needs, one line each: ok, note or fail with what to do. Keys are looked for and never printed.\n" +
			"Each configured platform is asked for its health, which costs no credits; --offline leaves that out.\n" +
			"--repair copies what can be read of a damaged database into a new file, and changes nothing in the old one.",
		Args:        noArgs,
		Annotations: map[string]string{needConfig: tolerateFile},
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case repair:
				return a.repair(cmd.Context(), into)
			case into != "":
				return usage("-o goes with --repair")
			}
			return a.doctor(cmd, offline)
		},
	}
	cmd.Flags().BoolVar(&offline, "offline", false, "touch no network")
	cmd.Flags().BoolVar(&repair, "repair", false, "copy what can be read of a damaged database into a new file")
	cmd.Flags().StringVarP(&into, "output", "o", "", "with --repair: the new `FILE` (default: the database's name with .repaired before its ending)")
	return cmd
}

// checkup prints findings and remembers the worst.
type checkup struct {
	a      *app
	failed bool
}

func (c *checkup) ok(what, format string, args ...any)   { c.line("ok", what, format, args...) }
func (c *checkup) note(what, format string, args ...any) { c.line("note", what, format, args...) }
func (c *checkup) fail(what, format string, args ...any) {
	c.failed = true
	c.line("fail", what, format, args...)
}

func (c *checkup) line(word, what, format string, args ...any) {
	fmt.Fprintf(c.a.std.Out, "%-5s %-18s %s\n", word, what, printable(fmt.Sprintf(format, args...)))
}

func (a *app) doctor(cmd *cobra.Command, offline bool) error {
	c := &checkup{a: a}
	ctx := cmd.Context()
	c.ok("version", "%s", version())
	a.checkConfig(cmd, c)
	a.checkDatabase(ctx, c)
	a.checkTerminal(c)
	for _, p := range platforms {
		if p.keyEnv != "" {
			a.checkPlatform(ctx, c, p, offline)
		}
	}
	if c.failed {
		return ended(exitBroken)
	}
	return nil
}

func (a *app) checkConfig(cmd *cobra.Command, c *checkup) {
	if err := a.readConfig(cmd.Flags().Changed("config")); err != nil {
		a.file = &configFile{}
		c.fail("config", "%s", strings.TrimPrefix(err.Error(), "config "))
		return
	}
	if a.file.path == "" {
		c.ok("config", "none, defaults apply")
	} else {
		c.ok("config", "%s", a.file.path)
	}
	if a.file.DB != "" {
		a.fallback("db", a.file.DB)
	}
	if a.file.Theme != "" {
		a.fallback("theme", a.file.Theme)
	}
	if err := a.settle(cmd.InheritedFlags(), a.file.Run, "run", "SCRAPETOP_"); err != nil {
		c.fail("config", "%v", err)
	}
}

func (a *app) checkDatabase(ctx context.Context, c *checkup) {
	st, err := storage.Open(ctx, a.globals.db, storage.Options{ReadOnly: true})
	if errors.Is(err, storage.ErrMissing) {
		c.ok("database", "%s is not there yet, the first run creates it", a.globals.db)
		return
	}
	if err != nil {
		c.fail("database", "%v", err)
		return
	}
	defer a.closeStore(st)
	if err := st.Check(ctx); err != nil {
		c.fail("database", "%v", err)
		return
	}
	runs, err := st.Runs(ctx, 0)
	if err != nil {
		c.fail("database", "%v", err)
		return
	}
	c.ok("database", "%s, %d runs", a.globals.db, len(runs))
	if info, err := os.Stat(a.globals.db); err == nil && info.Mode().Perm()&0o077 != 0 {
		c.note("database", "can be read by others (mode %04o), run: chmod 600 %s", info.Mode().Perm(), a.globals.db)
	}
}

func (a *app) checkTerminal(c *checkup) {
	switch {
	case !terminal(a.std.Out):
		c.note("terminal", "stdout is no terminal: runs are headless")
	case a.env["TERM"] == "" || a.env["TERM"] == "dumb":
		c.note("terminal", "TERM=%s draws no dashboard: use --headless", a.env["TERM"])
	default:
		c.ok("terminal", "%s", a.env["TERM"])
	}
	if a.globals.theme != "" {
		if _, err := a.themes().Load(a.globals.theme); err != nil {
			c.fail("theme", "%v", err)
		} else {
			c.ok("theme", "%s", a.globals.theme)
		}
	}
}

// themes are the shipped themes and those of the folder themes beside the config.
func (a *app) themes() themes.Library {
	var l themes.Library
	for _, dir := range a.world.configDirs {
		l.Folders = append(l.Folders, filepath.Join(dir, "themes"))
	}
	return l
}

// checkPlatform looks for the keys of a platform and asks it how it is. A platform that nobody configured is only told.
func (a *app) checkPlatform(ctx context.Context, c *checkup, p platform, offline bool) {
	_, configured := a.file.Providers[p.name]
	if _, set := a.env[p.keyEnv]; !set && len(a.file.Providers[p.name].Credentials) == 0 {
		say := c.note
		if v, _ := a.file.Run["provider"].(string); configured || v == p.name {
			say = c.fail
		}
		say(p.name, "no key: the variable %s is not set and the config names no credential", p.keyEnv)
		return
	}
	keys, err := a.credentials(ctx, a.file, p.name, p.keyEnv)
	if err != nil {
		c.fail(p.name, "%v", err)
		return
	}
	r := &runFlags{provider: p.name, maxWaitGiven: &parsed[time.Duration]{}}
	cfg, err := a.engineConfig(r)
	if err != nil {
		c.fail(p.name, "%v", err)
		return
	}
	prov, err := engine.NewProvider(cfg)
	if err != nil {
		c.fail(p.name, "%v", err)
		return
	}
	client := transport.New(transport.Config{Timeout: doctorTimeout, AllowPrivate: func(string) bool { return true }})
	defer client.Close()
	for _, k := range keys {
		what := p.name + " " + k.Name
		if offline {
			c.ok(what, "key present")
			continue
		}
		call := provider.Call{ID: 1, Kind: provider.Lookup, For: provider.Lookup, Credential: k.Name, Sent: a.world.now()}
		req, err := prov.Request(call, k.Key)
		if err != nil {
			c.fail(what, "key present; the question could not be built: %v", err)
			continue
		}
		answer := client.Do(ctx, req)
		health(c, what, prov.Profile(), answer, prov.Read(call, answer))
	}
}

// health says how a platform answered: as the engine would read it, since one platform shows by a 404 that it takes the
// key, and another tells by one and the same status of a wrong key and of used up credits.
func health(c *checkup, what string, profile limits.Profile, r provider.Response, reply provider.Reply) {
	signal := limits.Read(limits.Response{Status: r.Status, Header: r.Header, Body: r.Body, Received: r.Received, Profile: profile})
	capacity := ""
	if signal.Limit.OK {
		capacity = ", limit " + strconv.FormatInt(signal.Limit.V, 10)
	}
	if signal.Remaining.OK {
		capacity += ", " + strconv.FormatInt(signal.Remaining.V, 10) + " free"
	}
	switch {
	case r.Fault != provider.NoFault:
		c.fail(what, "key present; not reachable: %s, check the network and base_url", first(r.Error, string(r.Fault)))
	case reply.Astray, reply.Outcome == provider.Denied && reply.Layer == provider.NoLayer:
		c.fail(what, "key present; %s", reply.Error)
	case reply.Outcome == provider.Failed && r.Status < 500:
		c.fail(what, "key present; %s (status %d), check base_url", reply.Error, r.Status)
	case reply.Layer == provider.LayerQuota:
		c.fail(what, "the account has no credits left (status %d), top it up", r.Status)
	case reply.Outcome == provider.Denied:
		c.fail(what, "the platform refuses the key (status %d), check it", r.Status)
	case reply.Outcome != provider.Accepted:
		c.note(what, "key present; the platform answered with status %d%s", r.Status, capacity)
	default:
		c.ok(what, "key present; reachable in %s%s", r.Elapsed.Round(time.Millisecond), capacity)
	}
}
