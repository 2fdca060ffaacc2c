// Command scrapetop is htop for scraping jobs: a terminal dashboard that drives a polite scraping engine.
package main

import (
	"os"

	"dev.scrapetop/ui/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:])) }
