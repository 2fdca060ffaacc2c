// Package transport is the one place that does HTTP: it carries out one exchange, with manners, and brings back what
// came of it. It also holds the one redactor for everything that is kept of an exchange.
//
// A [Client] never follows a redirect and never sends a request twice: each hop and each retry is a call of its own, so
// that it draws on the budgets of its host. It keeps no cookies, sends no Referer, uses no proxy (the environment's proxy
// settings are ignored: what is dialled is the host that the budgets and the private-address rule speak of) and logs
// nothing. Every failure is a [provider.Fault]; the text of a failure is redacted, one line, and never holds the URL.
//
// Addresses: a host leads to loopback, link-local, private, shared, multicast or unspecified addresses only when
// Config.AllowPrivate says so for that very host name. The rule is applied to the address being dialled, after name
// resolution, so a name that changes its answer between two look-ups does not pass.
//
// Bodies: gzip is asked for and undone here, so the cap counts decoded bytes and a bomb is cut off early; a wrong label is
// a decode fault. A response with a fault never carries a body: half a page cannot be taken for a page.
//
// A Client is safe for concurrent use. Close drops its idle connections; exchanges in flight are ended by their contexts.
// A [Redactor] is immutable and safe for concurrent use.
package transport
