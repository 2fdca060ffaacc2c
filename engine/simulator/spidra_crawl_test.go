package simulator

import (
	"strings"
	"testing"
	"time"
)

// TestSpidraCrawl is spidra 7: a crawl's states and pages.
func TestSpidraCrawl(t *testing.T) {
	spidraWorld(t, SpidraSettings{}, func(t *testing.T, a spd) {
		path := a.job("/crawl", `{"baseUrl":"http://a.test/start","crawlInstruction":"all","maxPages":4,"excludePaths":["/private/*"]}`)
		time.Sleep(10500 * time.Millisecond)
		if s := a.get(path); s["status"] != "running" || s["progress"].(map[string]any)["pagesCrawled"] != 1.0 || s["progress"].(map[string]any)["maxPages"] != 4.0 || s["result"] != nil {
			t.Errorf("running: %v", s)
		}
		if s := a.get(path + "/pages")["pages"].([]any); len(s) != 4 || s[0].(map[string]any)["status"] != "success" || s[3].(map[string]any)["status"] != "pending" {
			t.Errorf("pages: %v", s)
		}
		time.Sleep(10 * time.Second)
		s := a.get(path)
		pages := s["result"].([]any)
		first := pages[0].(map[string]any)
		if s["status"] != "completed" || len(pages) != 4 || first["url"] != "http://a.test/start" || first["status"] != "success" || !strings.HasPrefix(first["data"].(string), "# ") {
			t.Errorf("done: %v", s)
		}
		link := a.get(path + "/pages")["pages"].([]any)[0].(map[string]any)
		for _, name := range []string{"html_url", "markdown_url"} {
			if g := fetch(t.Context(), a.rt, "GET", link[name].(string), ""); g.status != 200 || !strings.Contains(g.body, "in stock") {
				t.Errorf("%v: %d %q", link[name], g.status, g.body)
			}
			if g := fetch(t.Context(), a.rt, "GET", link[name].(string)+"0", ""); g.status != 403 {
				t.Errorf("a forged link: %d", g.status)
			}
		}
		cancelled := a.job("/crawl", `{"baseUrl":"http://a.test/other","crawlInstruction":"all","maxPages":9}`)
		time.Sleep(11500 * time.Millisecond)
		if g := a.call("DELETE", cancelled, ""); g.status != 200 {
			t.Errorf("cancel: %d %s", g.status, g.body)
		}
		if g := a.call("DELETE", cancelled, ""); g.status != 409 {
			t.Errorf("cancel again: %d %s", g.status, g.body)
		}
		time.Sleep(20 * time.Second)
		if s := a.get(cancelled); s["status"] != "cancelled" || len(s["result"].([]any)) != 2 {
			t.Errorf("the finished pages are kept: %v", s)
		}
		failing := a.job("/crawl", `{"baseUrl":"http://a.test/?sim_status=403","crawlInstruction":"all"}`)
		time.Sleep(11 * time.Second)
		if s := a.get(failing); s["status"] != "failed" || s["error"] != "target blocked the visit" {
			t.Errorf("failed: %v", s)
		}
		if c := a.counters(); c.Charges != 6 {
			t.Errorf("charges %v", c.Charges)
		}
		if u := a.w.spidra.users[0]; u.reserved != 0 || u.open != (SpidraKinds{}) || u.waiting != (SpidraKinds{}) || u.working != (SpidraKinds{}) {
			t.Errorf("left over: reserved %v, %+v %+v %+v", u.reserved, u.open, u.waiting, u.working)
		}
		if h := a.get("/crawl/history")["jobs"].([]any); len(h) != 3 || h[2].(map[string]any)["pages_crawled"] != 4.0 {
			t.Errorf("history: %v", h)
		}
		if j := a.get(strings.Replace(path, "/crawl/", "/crawl/job/", 1)); j["status"] != "completed" || j["credits_used"] != 4.0 {
			t.Errorf("job: %v", j)
		}
		if s := a.get("/crawl/stats"); s["total_jobs"] != 3.0 || s["completed_jobs"] != 1.0 || s["failed_jobs"] != 1.0 {
			t.Errorf("stats: %v", s)
		}
		time.Sleep(time.Hour)
		if g := fetch(t.Context(), a.rt, "GET", link["html_url"].(string), ""); g.status != 403 {
			t.Errorf("a link after an hour: %d", g.status)
		}
		if g := a.call("GET", path+"/pages", ""); g.status != 404 {
			t.Errorf("pages after an hour: %d", g.status)
		}
	})
	spidraWorld(t, SpidraSettings{ShortLinks: true}, func(t *testing.T, a spd) {
		path := a.job("/crawl", `{"baseUrl":"http://a.test/start","crawlInstruction":"all","maxDepth":1,"maxPages":50,"includePaths":["/start"],"transformInstruction":"title"}`)
		time.Sleep(11 * time.Second)
		s := a.get(path)["result"].([]any)
		if len(s) != 1 || s[0].(map[string]any)["data"].(map[string]any)["title"] == "" {
			t.Errorf("only what is included: %v", s)
		}
		if l := a.get(path + "/pages")["pages"].([]any)[0].(map[string]any); l["html"] == nil || l["markdown"] == nil || l["html_url"] != nil {
			t.Errorf("links: %v", l)
		}
	})
}
