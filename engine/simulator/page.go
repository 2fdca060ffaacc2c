package simulator

import (
	"fmt"
	"html"
	"net/url"
	"path"
	"strings"
)

// fill writes the document of a visit.
func (s *site) fill(v *visit, p *Policy, u *url.URL) {
	kind := "text/html; charset=utf-8"
	c := s.w.chance.of(u.String(), 0)
	switch v.ending {
	case delivered, cut:
		v.body = page(s.Host, u, c, p.BodyBytes)
	case soft:
		if u.Path == loginPath {
			v.body = short("Sign in", `<form action="/login"><input name="user"><input type="password" name="password"></form>`)
		} else if c.float(20) < p.Moods.Soft/max(p.Moods.Soft+p.Moods.Empty, 1e-9) {
			v.body = short("Something went wrong", "<p>We could not load this page. Please try again later.</p>")
		}
	case refused:
		v.body = short("Too many requests", "<p>Slow down, please.</p>")
	case busy:
		v.body = short("Down for maintenance", "<p>We will be back soon.</p>")
	case blocked:
		switch {
		case v.header.Get("Cf-Mitigated") != "":
			v.body = short("Just a moment...", `<div id="challenge-form">Checking whether you are a robot. Enable JavaScript and cookies to continue.</div>`)
		case v.status == 403 || v.status == 401:
			v.body = short("Access denied", "<p>You are not allowed to see this page.</p>")
		}
	case notFound:
		v.body = short("Not found", "<p>There is no such page.</p>")
	case failed:
		kind, v.body = "text/plain; charset=utf-8", "internal error\n"
	}
	v.header.Set("Content-Type", kind)
}

func short(title, body string) string {
	return "<!doctype html><html><head><title>" + title + "</title></head><body><h1>" + title + "</h1>" + body + "</body></html>\n"
}

// wording is what names and paragraphs are made of.
var wording = strings.Fields(`amber basket cedar delta ember fable garnet harbour indigo juniper kettle lantern meadow nectar
	orchard pepper quartz ribbon saffron timber umber velvet walnut yarrow zephyr copper marble willow canvas compass`)

func (c chance) word(n int) string { return wording[int(c.float(n)*float64(len(wording)))] }

// page is a product's page of about size bytes: title, h1, price, stock and links, the same for the same URL.
func page(host string, u *url.URL, c chance, size int) string {
	name := strings.ToUpper(c.word(30)[:1]) + c.word(30)[1:] + " " + c.word(31) + " " + strings.Trim(path.Base(u.Path), "/.")
	var b strings.Builder
	b.Grow(size + 256)
	fmt.Fprintf(&b, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s | %s</title></head>\n<body>\n<h1>%s</h1>\n",
		html.EscapeString(name), html.EscapeString(host), html.EscapeString(name))
	fmt.Fprintf(&b, "<p class=\"price\">%d.%02d EUR</p>\n<p class=\"stock\">%d in stock</p>\n<ul class=\"related\">\n",
		3+int(c.float(32)*400), int(c.float(33)*100), int(c.float(34)*40))
	for i := range 5 {
		fmt.Fprintf(&b, "<li><a href=\"/p/%s-%d\">%s</a></li>\n", c.word(40+i), int(c.float(50+i)*1000), c.word(40+i))
	}
	b.WriteString("</ul>\n<div class=\"text\">\n")
	for n := 60; b.Len() < size-30; n += 8 {
		b.WriteString("<p>")
		for k := range 8 {
			b.WriteString(c.word(n + k))
			b.WriteByte(' ')
		}
		b.WriteString("</p>\n")
	}
	b.WriteString("</div></body></html>\n")
	return b.String()
}
