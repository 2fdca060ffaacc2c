package engine

import (
	"testing"
	"testing/synctest"
	"time"

	"dev.scrapetop/storage"
)

// TestSlowStartKeepsTheWholeCooldown: what a start takes to read its file is not taken off the waits in it.
func TestSlowStartKeepsTheWholeCooldown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := storage.Cooldown{Until: began.Add(5 * time.Second).Round(0), Full: 10 * time.Second}
		time.Sleep(2 * time.Second) // of reading
		if got := coolsUntil(began, c); !got.Equal(c.Until) {
			t.Errorf("it cools until %v, want %v", got, c.Until)
		}
		c.Full = time.Second // the clock was set back meanwhile
		if got := coolsUntil(began, c); !got.Equal(began.Add(time.Second)) {
			t.Errorf("with the clock set back it cools until %v, want %v", got, began.Add(time.Second))
		}
	})
}
