package provider_test

import (
	"net/http"
	"strings"
	"testing"

	"dev.scrapetop/engine/provider"
)

// TestDetailsOfARefusalAreTold: what was wrong stands in many places, and whoever set the option wants to read it.
func TestDetailsOfARefusalAreTold(t *testing.T) {
	submit, _, _ := calls()
	for name, c := range map[string]struct{ body, want string }{
		"flat, details":       {`{"success":false,"error":"Validation failed","details":{"validation_errors":["colour: extra field not permitted"]}}`, "Validation failed (colour: extra field not permitted)"},
		"flat, message":       {`{"success":false,"error":"VALIDATION_ERROR","message":"unknown field colour"}`, "VALIDATION_ERROR: unknown field colour"},
		"flat, the same":      {`{"error":"no such mode","message":"no such mode"}`, "no such mode"},
		"nested":              {`{"status_code":422,"error":{"code":"VALIDATION_ERROR","message":"bad mode","details":{"validation_errors":["mode: a","url: b"]}}}`, "VALIDATION_ERROR: bad mode (mode: a; url: b)"},
		"a code at the top":   {`{"success":false,"error":"bad","code":"X_1","details":{"field":"mode","allowed":["auto","fast"]}}`, "X_1: bad (allowed: auto; fast; field: mode)"},
		"a list of errors":    {`{"status":"error","message":"Validation failed","errors":["prompt is too long","schema is wrong"]}`, "Validation failed (prompt is too long; schema is wrong)"},
		"errors alone":        {`{"errors":["a","b"]}`, "a; b"},
		"errors of objects":   {`{"message":"bad","errors":[{"path":"urls","message":"empty"}]}`, "bad (empty; path: urls)"},
		"a place of details":  {`{"detail":[{"loc":["body","colour"],"msg":"extra","fatal":true}]}`, "fatal: true; loc: body; colour; extra"},
		"details that repeat": {`{"message":"bad url","errors":["bad url"]}`, "bad url"},
		"nothing":             {`{"details":{},"errors":[]}`, ""},
		"not for people":      {`{"message":"a\u001b[31m\nb","details":["c\u0000d"]}`, "a [31m b (c d)"},
	} {
		want := "the platform answered 422"
		if c.want != "" {
			want += ": " + c.want
		}
		for platform, p := range platforms(t) {
			reply := p.Read(submit, provider.Response{Status: 422, Header: http.Header{}, Body: []byte(c.body), Sent: true})
			if reply.Outcome != provider.Refused || reply.Error != want {
				t.Errorf("%s, %s: %s %q, want %q", platform, name, reply.Outcome, reply.Error, want)
			}
		}
	}
}

// TestDetailsAreBounded: neither a long list, nor a deep one, nor a long message leaves no room for the rest.
func TestDetailsAreBounded(t *testing.T) {
	submit, _, _ := calls()
	for name, c := range map[string]struct{ body, has string }{
		"a long list":    {`{"error":"bad","details":["first"` + strings.Repeat(`,"more"`, 5000) + `]}`, "first"},
		"a deep one":     {`{"error":"bad","details":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `}`, "bad"},
		"a long message": {`{"error":"` + strings.Repeat("bad ", 500) + `","details":["colour"]}`, "colour"},
	} {
		for platform, p := range platforms(t) {
			reply := p.Read(submit, provider.Response{Status: 422, Header: http.Header{}, Body: []byte(c.body), Sent: true})
			if len(reply.Error) > 250 || !strings.Contains(reply.Error, c.has) {
				t.Errorf("%s, %s: %q", platform, name, reply.Error)
			}
		}
	}
}
