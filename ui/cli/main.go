package cli

import (
	_ "dev.scrapetop/themes/background" // before Bubble Tea is initialised
)

// Main runs the program and returns its exit code.
func Main(args []string) int { return 2 }
