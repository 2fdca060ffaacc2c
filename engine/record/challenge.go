package record

import (
	"bytes"
	"html"
	"math/bits"
	"slices"
	"strings"

	"dev.scrapetop/engine/provider"
)

const (
	// challengeScan is how much of a body is searched for marks: interstitials name their scripts early.
	challengeScan = 32 << 10
	// challengeBody is the longest body searched at all; interstitials are far shorter, pages of that size honest.
	challengeBody = 256 << 10
	// smallBody is what counts as small: the frame of an interstitial without a page around it.
	smallBody = 16 << 10
)

// defence is one bot defence and the marks, as bits of a scan, that its interstitials are known by.
type defence struct {
	name string
	// strong stand in interstitials; in an honest page only where it quotes one.
	strong uint64
	// weak stand in honest pages that the defence guards, too.
	weak uint64
}

var defences = []defence{
	{"Cloudflare",
		marks("window._cf_chl_opt", "/orchestrate/", "cf-browser-verification", `id="challenge-form"`, `id="challenge-error-text"`, `id="cf-error-details"`, `class="cf-error-details`),
		marks("/cdn-cgi/challenge-platform/", "challenges.cloudflare.com", "cf-turnstile")},
	{"DataDome", marks("captcha-delivery.com", "var dd={"), marks("js.datadome.co")},
	{"PerimeterX", marks(`id="px-captcha"`, "captcha.px-cdn.net", "captcha.perimeterx.net", "window._pxUuid", "px-captcha-wrapper"), marks("window._pxAppId")},
	{"Akamai", marks("errors.edgesuite.net", "errors&#46;edgesuite&#46;net", "Reference&#32;&#35;", "sec-if-cpt-container", "/_sec/cp_challenge/", `"bm-verify"`), 0},
	{"Imperva", marks("_Incapsula_Resource?SWUDNSAI", "Incapsula incident ID"), marks("_Incapsula_Resource")},
	{"AWS WAF", marks("window.gokuProps", "AwsWafIntegration.checkForceRefresh"), marks("token.awswaf.com")},
	{"Kasada", marks("window.KPSDK=", "/ips.js?"), 0},
	{"DDoS-Guard", marks("/.well-known/ddos-guard/", "check.ddos-guard.net"), 0},
	{"robot check", marks("/errors/validateCaptcha", "Type the characters you see in this image", `id="captcha-form"`, "Our systems have detected unusual traffic"),
		marks("g-recaptcha", "h-captcha", "frc-captcha")},
}

// titles begin those of interstitials, in lower case.
var titles = []string{
	"just a moment", "attention required! | cloudflare", "please wait... | cloudflare", "one more step", "checking your browser", "verifying your browser",
	"ddos-guard", "access denied", "access to this page has been denied", "you have been blocked", "sorry, you have been blocked", "pardon our interruption",
	"robot check", "are you a robot", "are you human", "are you a human", "human verification", "bot verification", "verify you are human", "verify you are a human",
	"please verify you are a human", "please verify you are human", "security check",
}

// challenge names the bot defence whose interstitial the page is and the marks that say so; empty for any other page.
//
// A header of the defence is enough. Else two marks must agree, and three where they are weak: a site may speak about
// challenges, embed a captcha in a form, or carry a defence's script on every page.
func challenge(p provider.Page) string {
	for _, h := range []struct{ header, defence string }{{"Cf-Mitigated", "Cloudflare"}, {"X-Vercel-Mitigated", "Vercel"}, {"X-Amzn-Waf-Action", "AWS WAF"}} {
		switch value := strings.ToLower(strings.TrimSpace(p.Header.Get(h.header))); value {
		case "challenge", "captcha":
			return h.defence + " challenge: the header " + strings.ToLower(h.header) + " says " + value
		}
	}
	if len(p.Body) == 0 || len(p.Body) > challengeBody {
		return ""
	}
	head := p.Body[:min(len(p.Body), challengeScan)]
	title := isInterstitialTitle(head)
	small := len(p.Body) <= smallBody
	refused := p.Status.OK && slices.Contains([]int{401, 403, 405, 429, 503}, p.Status.V)
	if !title && !refused && !small {
		return "" // no mark below could be enough: most pages end here
	}
	seen := scan(head)
	if seen == 0 && !title {
		return ""
	}
	for _, d := range defences {
		strong := bits.OnesCount64(seen & d.strong)
		weak := seen&d.weak != 0
		var agree []string
		switch {
		case title && strong > 0:
			agree = []string{"title", "markup"}
		case strong > 0 && refused:
			agree = []string{"markup", "status"}
		case strong > 1 && small:
			agree = []string{"markup", "size"}
		case title && weak && small:
			agree = []string{"title", "script", "size"}
		default:
			continue
		}
		return d.name + " challenge: " + strings.Join(agree, ", ") + " agree"
	}
	if title && small && refused {
		return "a challenge: title, status, size agree"
	}
	return ""
}

// isInterstitialTitle looks at the first title element.
func isInterstitialTitle(body []byte) bool {
	text := strings.ToLower(strings.Join(strings.Fields(html.UnescapeString(titleOf(body))), " "))
	return text != "" && slices.ContainsFunc(titles, func(t string) bool { return strings.HasPrefix(text, t) })
}

// titleOf cuts the title out without parsing; at most 200 bytes of it.
func titleOf(body []byte) string {
	for {
		i := bytes.IndexByte(body, '<')
		if i < 0 {
			return ""
		}
		body = body[i+1:]
		if len(body) > 6 && bytes.EqualFold(body[:5], []byte("title")) && (body[5] == '>' || body[5] == ' ') {
			break
		}
	}
	_, text, _ := bytes.Cut(body, []byte(">"))
	text = text[:min(len(text), 200)]
	text, _, _ = bytes.Cut(text, []byte("<"))
	return string(text)
}
