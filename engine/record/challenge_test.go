package record

import (
	"net/http"
	"strings"
	"testing"

	"dev.scrapetop/engine/limits"
	"dev.scrapetop/engine/provider"
)

var filler = strings.Repeat("<p>An honest page has some text to read.</p>\n", 600)

func TestChallenges(t *testing.T) {
	tests := []struct {
		name, body string
		status     int
		header     http.Header
		defence    string
	}{
		{"header on a page of good size", "<title>Just a moment...</title>" + filler, 200, http.Header{"Cf-Mitigated": {"challenge"}}, "Cloudflare"},
		{"header alone", "", 403, http.Header{"Cf-Mitigated": {"Challenge "}}, "Cloudflare"},
		{"header of AWS WAF", "", 202, http.Header{"X-Amzn-Waf-Action": {"captcha"}}, "AWS WAF"},
		{"Cloudflare", `<title>Just a moment...</title><script>window._cf_chl_opt={cvId:'3'}</script>`, 200, nil, "Cloudflare"},
		{"Cloudflare, long", `<title>Just a moment...</title><script>window._cf_chl_opt={cvId:'3'}</script>` + filler, 200, nil, "Cloudflare"},
		{"Cloudflare in another language", `<title>Einen Moment…</title><script>window._cf_chl_opt={};a.src='/cdn-cgi/challenge-platform/h/b/orchestrate/chl_page/v1'</script>`, 200, nil, "Cloudflare"},
		{"Cloudflare block page", `<title>Attention Required! | Cloudflare</title><div id="cf-error-details">`, 200, nil, "Cloudflare"},
		{"DataDome", `<title>shop.test</title><script>var dd={'rt':'c','host':'geo.captcha-delivery.com'}</script>`, 200, nil, "DataDome"},
		{"DataDome to a script", `{"url":"https://geo.captcha-delivery.com/captcha/?x"}`, 403, nil, "DataDome"},
		{"PerimeterX", `<title>Access to this page has been denied</title><div id="px-captcha"></div>`, 200, nil, "PerimeterX"},
		{"Akamai", `<TITLE>Access Denied</TITLE><H1>Access Denied</H1>Reference&#32;&#35;18&#46;1`, 200, nil, "Akamai"},
		{"Imperva", `<html><iframe src="/_Incapsula_Resource?SWUDNSAI=31&x">Request unsuccessful. Incapsula incident ID: 1-2</iframe>`, 200, nil, "Imperva"},
		{"Amazon", `<title dir="ltr">Robot Check</title><form action="/errors/validateCaptcha">`, 200, nil, "robot check"},
		{"captcha on a small page", `<title>Are you a robot?</title><div class="g-recaptcha">`, 200, nil, "robot check"},
		{"title and status", `<title>Pardon Our Interruption...</title>`, 403, nil, "challenge"},
	}
	judge := compile(t, Rules{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			page := provider.Page{Body: []byte(tt.body), ContentType: "text/html", Status: limits.Some(tt.status), Header: tt.header}
			v := judge.Page(page)
			if v.Outcome != provider.Blocked || v.Kind != "challenge" || !strings.Contains(v.Why, tt.defence) {
				t.Errorf("%+v, want blocked by %s", v, tt.defence)
			}
			if kind := Kind(page); kind != "challenge" {
				t.Errorf("kind %s", kind)
			}
		})
	}
}

func TestHonestPages(t *testing.T) {
	tests := []struct {
		name, body string
		header     http.Header
	}{
		{"title alone", "<title>Just a moment...</title><p>A poem.", nil},
		{"page behind Cloudflare", `<title>Shop</title><script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>` + filler, http.Header{"Server": {"cloudflare"}, "Cf-Ray": {"1"}}},
		{"form with a captcha", `<title>Contact</title><form><div class="cf-turnstile"></div><script src="https://challenges.cloudflare.com/turnstile/v0/api.js">`, nil},
		{"form with another captcha", `<title>Sign up</title><div class="g-recaptcha" data-sitekey="x">`, nil},
		{"page guarded by PerimeterX", `<title>Shop</title><script>window._pxAppId='PX1'</script>`, nil},
		{"page guarded by Imperva", `<title>Shop</title><script src="/_Incapsula_Resource?SWJIYLWA=1"></script>`, nil},
		{"article about challenges", "<title>How challenges work</title><p>It sets window._cf_chl_opt and loads /orchestrate/.</p>" + filler, nil},
		{"article with the words as its title", "<title>Are you a robot? A short history of the captcha</title>" + filler + "g-recaptcha", nil},
		{"text only", "captcha, are you a robot, access denied", nil},
		{"other value of the header", "<p>x", http.Header{"Cf-Mitigated": {"none"}}},
		{"huge page", `<title>Just a moment...</title>window._cf_chl_opt` + strings.Repeat(filler, 12), nil},
	}
	judge := compile(t, Rules{})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			page := provider.Page{Body: []byte(tt.body), ContentType: "text/html", Status: limits.Some(200), Header: tt.header}
			if v := judge.Page(page); v.Outcome != provider.Accepted {
				t.Errorf("%+v, want accepted", v)
			}
		})
	}
}
