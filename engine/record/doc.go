// Package record validates a page and extracts a record.
package record
