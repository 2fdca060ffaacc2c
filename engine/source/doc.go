// Package source reads inputs (text, CSV, JSONL, sitemaps, robots.txt) and normalises URLs.
//
// It promises:
//   - streaming: memory is bounded by Options.MaxLine and a few fixed buffers, whatever the size of the input;
//   - one bad line is a Problem with its number and never stops the rest; only an input that is no list at all
//     (ErrNotText, ErrHTML, ...), a reading fault or the caller's own error ends a Read early;
//   - a URL that was not written in the input is never produced: a cut line, a line of two URLs and a cell that an
//     unquoted separator may have cut are refused, not guessed;
//   - a Problem or an error is one printable line and never repeats a part of a URL, so it cannot leak a password.
//
// It does no I/O but reading the io.Reader it is given, starts no goroutine, and keeps no state between calls: every
// function is safe for concurrent use. A Robots value is immutable.
package source
