package cli

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// list is a flag that may be given several times.
type list struct {
	to   *[]string
	kind string
}

// Set implements pflag.Value.
func (l *list) Set(s string) error { *l.to = append(*l.to, s); return nil }

// String implements pflag.Value.
func (l *list) String() string { return strings.Join(*l.to, " ") }

// Type implements pflag.Value.
func (l *list) Type() string { return l.kind }

// settle gives every flag that was not given its value from the environment, else from the config file's table
// (flags win over SCRAPETOP_* over the file). It remembers what was given by flag or environment.
func (a *app) settle(flags *pflag.FlagSet, table map[string]any, tableName, envPrefix string) error {
	var failed error
	flags.VisitAll(func(f *pflag.Flag) {
		if failed != nil || f.Name == "help" {
			return
		}
		if f.Changed {
			a.given[f.Name] = flagTexts(f)
			return
		}
		variable := envPrefix + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		if text, set := a.env[variable]; set && text != "" {
			if err := setFlag(f, envTexts(f, text)); err != nil {
				failed = usage("%s: %w", variable, err)
				return
			}
			a.given[f.Name] = flagTexts(f)
			return
		}
		failed = a.fromTable(f, table, tableName)
	})
	return failed
}

func (a *app) fromTable(f *pflag.Flag, table map[string]any, tableName string) error {
	key := strings.ReplaceAll(f.Name, "-", "_")
	v, ok := table[key]
	if !ok {
		return nil
	}
	texts, err := configTexts(v)
	if err == nil {
		err = setFlag(f, texts)
	}
	if err != nil {
		return a.file.wrong(tableName+"."+key, "%v", err)
	}
	return nil
}

// settleStored gives the flags that were given to a run when it was created (and not now) their value of then. It wins
// over the file: a run that was started slowly by hand goes on slowly.
func (a *app) settleStored(flags *pflag.FlagSet, stored map[string][]string) error {
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		f := flags.Lookup(name)
		if _, now := a.given[name]; now || f == nil {
			continue
		}
		if err := setFlag(f, stored[name]); err != nil {
			return broken("the run was started with --%s %s: %v", name, strings.Join(stored[name], " "), err)
		}
		a.given[name] = stored[name]
	}
	return nil
}

func setFlag(f *pflag.Flag, texts []string) error {
	if l, ok := f.Value.(*list); ok {
		*l.to = nil
	} else if len(texts) != 1 {
		return fmt.Errorf("takes one value, not a list")
	}
	for _, t := range texts {
		if err := f.Value.Set(t); err != nil {
			return err
		}
	}
	return nil
}

func flagTexts(f *pflag.Flag) []string {
	if l, ok := f.Value.(*list); ok {
		return slices.Clone(*l.to)
	}
	return []string{f.Value.String()}
}

// envTexts splits a variable of a repeatable flag at blanks.
func envTexts(f *pflag.Flag, text string) []string {
	if _, ok := f.Value.(*list); ok {
		return strings.Fields(text)
	}
	return []string{text}
}

// configTexts are a config value as a flag would be given it.
func configTexts(v any) ([]string, error) {
	switch v := v.(type) {
	case string:
		return []string{v}, nil
	case bool:
		return []string{strconv.FormatBool(v)}, nil
	case int64:
		return []string{strconv.FormatInt(v, 10)}, nil
	case float64:
		return []string{strconv.FormatFloat(v, 'f', -1, 64)}, nil
	case []any:
		var all []string
		for _, e := range v {
			one, err := configTexts(e)
			if err != nil {
				return nil, err
			}
			all = append(all, one...)
		}
		return all, nil
	default:
		return nil, fmt.Errorf("must be a text, a number, true or false")
	}
}

// checkRunTable tries every value of [run] and [export] on a flag set of its own, so that a bad one is found whichever
// command reads the file.
func (c *configFile) checkRunTable() error {
	runs := pflag.NewFlagSet("run", pflag.ContinueOnError)
	new(runFlags).register(runs)
	new(globals).register(runs)
	exports := pflag.NewFlagSet("export", pflag.ContinueOnError)
	new(exportFlags).register(exports)
	for _, t := range []struct {
		name  string
		table map[string]any
		flags *pflag.FlagSet
	}{{"run", c.Run, runs}, {"export", c.Export, exports}} {
		for _, key := range slices.Sorted(maps.Keys(t.table)) {
			f := t.flags.Lookup(strings.ReplaceAll(key, "_", "-"))
			if f == nil || key == "config" || strings.Contains(key, "-") {
				return c.wrong(t.name+"."+key, "it is unknown here, check its spelling and its table")
			}
			texts, err := configTexts(t.table[key])
			if err == nil {
				err = setFlag(f, texts)
			}
			if err != nil {
				return c.wrong(t.name+"."+key, "%v", err)
			}
		}
	}
	return nil
}
