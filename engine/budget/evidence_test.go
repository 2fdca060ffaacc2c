package budget

import (
	"testing"
)

func TestEvidenceSpeaksInWords(t *testing.T) {
	rec := func(windows int) *record { return &record{cycle: windows, refs: []refusedAt{{1, 6}}} }
	for _, c := range []struct {
		name string
		f    finder
		want string
	}{
		{"never refused", finder{w: 8}, ""},
		{"in flight", finder{w: 5, study: &study{rec: rec(0), refusals: 1}}, "5 in flight, refused at 6; 1 refusal"},
		{"window", finder{study: &study{rec: rec(4), refusals: 9, model: model{kind: windowModel, limit: 60, span: 60}}}, "60 requests per 60 s, sliding; 4 windows, 9 refusals"},
		{"fixed window", finder{study: &study{rec: rec(1), refusals: 2, model: model{kind: windowModel, limit: 300, span: 900, fixed: true}}}, "300 requests per 900 s, fixed; 1 window, 2 refusals"},
		{"windows lived through", finder{past: outline{last: 250}, study: &study{rec: rec(1), refusals: 2, adoptedAt: 100, model: model{kind: windowModel, limit: 10, span: 60}}}, "10 requests per 60 s, sliding; 3 windows, 2 refusals"},
		{"bucket", finder{study: &study{rec: rec(2), refusals: 5, model: model{kind: bucketModel, limit: 9.9, rate: 19.6}}}, "19.6 requests a second, burst 10; 5 refusals"},
		{"slow bucket", finder{study: &study{rec: rec(2), refusals: 5, model: model{kind: bucketModel, limit: 1, rate: 0.2}}}, "12 requests a minute, burst 1; 5 refusals"},
		{"ramp", finder{study: &study{rec: rec(1), refusals: 1, ramp: 10, model: model{kind: bucketModel, limit: 7, rate: 12.3456}}}, "a rate, not measured yet: at 12.3 requests a second; 1 refusal"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := &Budget{find: &c.f}
			if got := b.Evidence(); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
			if b.Lowered() != (c.want != "") {
				t.Errorf("lowered %v", b.Lowered())
			}
		})
	}
	if (&Budget{}).Evidence() != "" {
		t.Error("a budget without a finder learned nothing")
	}
}

func TestLearnedPace(t *testing.T) {
	for _, c := range []struct {
		name string
		m    model
		want float64
	}{{"window", model{kind: windowModel, limit: 30, span: 60}, 0.5}, {"bucket", model{kind: bucketModel, limit: 5, rate: 2}, 2}, {"in flight", model{}, 0}} {
		b := &Budget{find: &finder{w: 4, study: &study{model: c.m}}}
		if got := b.PerSecond(); got != c.want {
			t.Errorf("%s: %v a second, want %v", c.name, got, c.want)
		}
	}
}
