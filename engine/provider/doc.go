// Package provider holds the words of a call: Call, Reply, Provider, and what every provider judges alike.
//
// A Provider is a pure translator, one per platform and one for fetching directly: Request turns a Call into an HTTP
// request, Read turns what came back into a Reply. No provider does I/O, looks at a clock or keeps state, so one value
// serves all goroutines, and the same response always reads the same. Read never panics, whatever the bytes.
//
// Keys travel in headers, never in a URL, and no error or note of a provider holds one of its own making. Texts that a
// server wrote may echo anything: Reply.Error, Item.Error and Notes are one short line each, and the caller redacts them
// before they are kept.
package provider
