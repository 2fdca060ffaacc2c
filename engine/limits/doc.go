// Package limits reads what an HTTP response says about limits into one Signal.
package limits
