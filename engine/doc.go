// Package engine drives a run: the loop that feeds the core, runs its actions and takes commands.
package engine
