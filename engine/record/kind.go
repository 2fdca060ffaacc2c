package record

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"

	"dev.scrapetop/engine/provider"
)

// The body kinds of CONTRACT section 5.
const (
	kindHTML      = "html"
	kindJSON      = "json"
	kindChallenge = "challenge"
	kindEmpty     = "empty"
	kindBinary    = "binary"
	kindOther     = "other"
)

// Kind is the body_kind of a page: html, json, challenge, empty, binary or other. It parses nothing and is safe for
// concurrent use.
func Kind(p provider.Page) string {
	if challenge(p) != "" {
		return kindChallenge
	}
	return bodyKind(p)
}

// bodyKind trusts the Content-Type but for the usual lies: an error page labelled JSON and JSON labelled HTML.
func bodyKind(p provider.Page) string {
	body := bytes.TrimLeft(bytes.TrimPrefix(p.Body, []byte("\ufeff")), " \t\r\n")
	if len(body) == 0 {
		return kindEmpty
	}
	label, _, _ := strings.Cut(p.ContentType, ";")
	label = strings.ToLower(strings.TrimSpace(label))
	switch {
	case label == "text/html", label == "application/xhtml+xml":
		if looksJSON(body) {
			return kindJSON
		}
		return kindHTML
	case label == "application/json", label == "text/json", strings.HasSuffix(label, "+json"):
		if body[0] == '<' {
			return kindHTML
		}
		return kindJSON
	case isBinaryType(label):
		return kindBinary
	}
	switch sniffed := http.DetectContentType(p.Body); {
	case looksJSON(body):
		return kindJSON
	case strings.HasPrefix(sniffed, "text/html"):
		return kindHTML
	case strings.HasPrefix(sniffed, "text/"), strings.HasPrefix(label, "text/") && sniffed != "application/octet-stream":
		return kindOther
	}
	return kindBinary
}

func looksJSON(body []byte) bool { return (body[0] == '{' || body[0] == '[') && json.Valid(body) }

func isBinaryType(label string) bool {
	family, _, _ := strings.Cut(label, "/")
	switch family {
	case "audio", "video", "font":
		return true
	case "image":
		return label != "image/svg+xml"
	}
	switch label {
	case "application/pdf", "application/zip", "application/gzip", "application/x-gzip", "application/wasm":
		return true
	}
	return strings.HasPrefix(label, "application/vnd.openxmlformats")
}
