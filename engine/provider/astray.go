package provider

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
)

// body is what stands where a platform's JSON was agreed.
type body int

const (
	bodyJSON  body = iota // JSON, whole or not
	bodyEmpty             // nothing
	bodyText              // something else
	bodyHTML              // a page for people
)

func (x *Reading) bodyKind() body {
	text := bytes.TrimLeft(bytes.TrimPrefix(x.Response.Body, []byte("\xef\xbb\xbf")), " \t\r\n")
	switch {
	case len(text) == 0:
		return bodyEmpty
	case text[0] == '{' || text[0] == '[':
		return bodyJSON
	case text[0] == '<' || strings.Contains(strings.ToLower(x.Response.Header.Get("Content-Type")), "html"):
		return bodyHTML
	}
	if _, err := Object(text); err == ErrNotObject { // a number, a text: an answer of JSON all the same
		return bodyJSON
	}
	return bodyText
}

// answered names what came, for people.
func (x *Reading) answered() string {
	what := map[body]string{bodyJSON: "JSON", bodyEmpty: "nothing", bodyText: "text that is not JSON", bodyHTML: "an HTML page"}[x.bodyKind()]
	if s := x.Response.Status; s >= 300 && s <= 399 {
		what = "a redirect"
	}
	return fmt.Sprintf("the platform answered with %s (status %d)", what, x.Response.Status)
}

// stray looks again at an answer that was read as the platform's: whether it is. A platform speaks JSON, so a page for
// people comes from somebody else: from whoever lives at a wrong base URL, or from a firewall or proxy before it. Faults of
// an edge, 5xx, pass and are left as they were read.
func (x *Reading) stray() {
	switch r := &x.Reply; r.Outcome {
	case Failed, Refused, Denied, Lost:
	case Accepted: // a lookup that was not read further; a page in raw delivery is none of these
		if len(r.Items) > 0 || x.Kind != Lookup {
			return
		}
	default:
		return
	}
	kind := x.bodyKind()
	switch s := x.Response.Status; {
	case s == http.StatusUnauthorized || s == http.StatusPaymentRequired || s == http.StatusForbidden:
		if kind == bodyHTML { // it tells neither of the key nor of money
			x.End(Denied, NoLayer, x.answered()+": does a firewall or proxy stand before it?")
		}
		return
	case s >= 300 && s <= 399:
	case s >= 200 && s <= 299:
		if kind != bodyHTML && (kind != bodyText || x.Kind == Poll) {
			return
		}
	case s == http.StatusNotFound || s == http.StatusGone || s == http.StatusMethodNotAllowed:
		// Of a job that is gone a platform may tell in few words, or in none.
		job := x.Kind == Poll || x.Call.Job != ""
		if kind == bodyJSON || kind != bodyHTML && job {
			return
		}
	default:
		return
	}
	x.End(Failed, NoLayer, x.answered()+": is the base URL right?")
	x.Reply.Astray, x.Reply.Split = true, false
}
