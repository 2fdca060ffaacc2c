// Package cli holds the commands and the configuration.
package cli
