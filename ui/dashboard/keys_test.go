package dashboard

import (
	"testing"

	"dev.scrapetop/ui/keys"
	"dev.scrapetop/ui/screen/sample"
)

// TestCustomKeysAreObeyedAndShown, and an action without a key can be done from the help.
func TestCustomKeysAreObeyedAndShown(t *testing.T) {
	table, err := keys.Custom(map[string][]string{"pause": {"X"}, "show_budgets": {}})
	if err == nil {
		t.Fatal("show_budgets is no action")
	}
	if table, err = keys.Custom(map[string][]string{"pause": {"X"}, "freeze": {}, "budgets": {"W"}}); err != nil {
		t.Fatal(err)
	}
	d := drive(t, sample.Normal(), 120, 36, func(o *Options) { o.Keys = table })
	d.sees("X:Pause")
	d.press("2", "p", "Z")
	d.did()
	d.seesNot("FROZEN")
	d.press("W", "X")
	d.did(pause("forum-c.example"))
	d.press("1", "[")
	d.sees("domains: W, then B until they show")
	d.press("?", "f", "r", "e", "e", "z", "e", "enter")
	d.sees("FROZEN")
}
