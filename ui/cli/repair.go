package cli

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"dev.scrapetop/storage"
)

// repair copies what can be read of the database into a new file: doctor --repair. A whole file is left alone.
func (a *app) repair(ctx context.Context, into string) error {
	c := &checkup{a: a}
	from := a.globals.db
	switch err := a.sound(ctx, from); {
	case err == nil:
		c.ok("database", "%s is whole, there is nothing to repair", from)
		return nil
	case !errors.Is(err, storage.ErrDamaged) && !errors.Is(err, storage.ErrOlder): // an older one may be damaged too
		return broken("repair: %w", err)
	}
	if into == "" {
		ending := filepath.Ext(from)
		into = strings.TrimSuffix(from, ending) + ".repaired" + ending
	}
	got, err := storage.Salvage(ctx, from, into)
	if err != nil {
		return broken("repair: %w", err)
	}
	for _, t := range got.Tables {
		if t.Damaged {
			c.note(t.Name, "%d rows; others could not be read", t.Rows)
		} else {
			c.ok(t.Name, "%d rows", t.Rows)
		}
	}
	if got.Named > 0 {
		c.note("repair", "%d rows of tasks and runs were made anew from their attempts and results", got.Named)
	}
	if got.Lost > 0 {
		c.note("repair", "%d tasks lost what was fetched for them: dead letters with the reason lost, requeue --reason lost fetches them again", got.Lost)
	}
	c.ok("repair", "written to %s, %s is as it was; go on with: --db %s", into, from, into)
	return nil
}

// sound is what is wrong with a database; nil: nothing that a look at all of it finds.
func (a *app) sound(ctx context.Context, path string) error {
	st, err := storage.Open(ctx, path, storage.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer a.closeStore(st)
	return st.Check(ctx)
}
