package source

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestTables(t *testing.T) {
	tests := []struct {
		file     string
		lines    []int // of the entries
		problems []int
	}{
		{"30_urls.csv", []int{2, 3, 4, 5}, []int{7}},
		{"32_tab.tsv", []int{2, 3}, nil},
		{"34_bom_sep.csv", []int{3}, nil},
		{"36_formula.csv", []int{2, 3, 4, 5, 6, 7, 8, 9, 10}, nil},
		{"40_good_bad.jsonl", []int{1, 6, 10}, []int{2, 3, 4, 5, 7, 8, 11, 12, 13}},
		{"42_bigint.jsonl", []int{1, 2, 3, 4}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.file, func(t *testing.T) {
			res := readFile(t, "tables/"+tt.file)
			if res.err != nil {
				t.Fatal(res.err)
			}
			var lines, problems []int
			for _, e := range res.entries {
				lines = append(lines, e.Line)
			}
			for _, p := range res.problems {
				problems = append(problems, p.Line)
				checkReason(t, p.Why)
			}
			if !reflect.DeepEqual(lines, tt.lines) || !reflect.DeepEqual(problems, tt.problems) {
				t.Errorf("entries at %v, problems at %v; want %v and %v (%v)", lines, problems, tt.lines, tt.problems, res.problems)
			}
		})
	}
}

func TestTableMeta(t *testing.T) {
	metas := func(file string) []string {
		var out []string
		for _, e := range readFile(t, "tables/"+file).entries {
			out = append(out, string(e.Meta))
		}
		return out
	}
	tests := []struct {
		file string
		want []string
	}{
		{"30_urls.csv", []string{
			`{"id":"1","note":"plain"}`, `{"id":"2","note":"comma, inside"}`, `{"id":"3","note":"quote \" inside"}`, `{"id":"4","note":"line\nbreak"}`,
		}},
		{"36_formula.csv", []string{
			`{"title":"=1+1"}`, `{"title":"+44 20 0000"}`, `{"title":"-12.5"}`, `{"title":"@SUM(A1)"}`,
			`{"title":"=HYPERLINK(\"http://evil.test/\",\"x\")"}`, `{"title":"\t=1+1"}`, `{"title":"-"}`, `{"title":"=cmd|' /C calc'!A0"}`, `{"title":"＝1+1"}`,
		}},
		{"40_good_bad.jsonl", []string{"", "", `{"meta":{"k":[1,2]}}`}},
		{"42_bigint.jsonl", []string{`{"id":9007199254740993}`, `{"id":12345678901234567890}`, `{"id":1e3}`, `{"id":0.1}`}},
	}
	for _, tt := range tests {
		if got := metas(tt.file); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: meta\n%q, want\n%q", tt.file, got, tt.want)
		}
	}
	for i, want := range []string{"9007199254740993", "12345678901234567890", "1e3", "0.1"} {
		if got := readFile(t, "tables/42_bigint.jsonl").entries[i].Key; got != want {
			t.Errorf("key %q, want %q", got, want)
		}
	}
}

// row is an entry in short, for tables.
func row(e Entry) string {
	return fmt.Sprintf("%d %s %s/%d/%s %s", e.Line, e.URL.String, e.Tenant, e.Priority, e.Key, e.Meta)
}

func TestCSV(t *testing.T) {
	tests := []struct {
		name, data string
		rows       []string
		problems   []int
	}{
		{"columns in any order and case", "Note;PRIORITY;URL;Tenant;Id\nx;7;http://a.test/;acme;k1\n", []string{`2 http://a.test/ acme/7/k1 {"Note":"x","Id":"k1"}`}, nil},
		{"priority that is no number goes to meta", "url,priority\nhttp://a.test/,0.5\n", []string{`2 http://a.test/ /0/ {"priority":"0.5"}`}, nil},
		{"empty priority", "url,priority\nhttp://a.test/,\n", []string{`2 http://a.test/ /0/ `}, nil},
		{"no header", "x,http://a.test/1\ny,http://a.test/2\n", []string{`1 http://a.test/1 /0/ {"column_1":"x"}`, `2 http://a.test/2 /0/ {"column_1":"y"}`}, nil},
		{"header without url", "link,n\nhttp://a.test/1,1\n", []string{`2 http://a.test/1 /0/ {"column_2":"1"}`}, []int{1}},
		{"remark before the header", "# made by x\nurl,n\nhttp://a.test/1,1\n", []string{`3 http://a.test/1 /0/ {"n":"1"}`}, []int{1}},
		{"blank rows", "url,n\n\n,\nhttp://a.test/1,1\n\n", []string{`4 http://a.test/1 /0/ {"n":"1"}`}, nil},
		{"names twice or missing", "url,n,n,\nhttp://a.test/1,1,2,3\n", []string{`2 http://a.test/1 /0/ {"n":"1","column_3":"2","column_4":"3"}`}, nil},
		{"short row", "n,url,m\n1,http://a.test/1\n1\n", []string{`2 http://a.test/1 /0/ {"n":"1"}`}, []int{3}},
		{"surplus cells after a remark", "url,n\nhttp://a.test/1,hello, world\n", []string{`2 http://a.test/1 /0/ {"n":"hello","column_3":" world"}`}, nil},
		{"a URL that a comma may have cut", "n,url\n1,http://a.test/1?a=1,2\n2,http://a.test/2,,\n", []string{`3 http://a.test/2 /0/ {"n":"2"}`}, []int{2}},
		{"one column keeps commas", "url\nhttp://a.test/1,2;3\n\"http://a.test/4\"\n", []string{`2 http://a.test/1,2;3 /0/ `, `3 http://a.test/4 /0/ `}, nil},
		{"blanks around quotes", "n, \"url\" ,m\n1, \"http://a.test/1\" ,x\n", []string{`2 http://a.test/1 /0/ {"n":"1","m":"x"}`}, nil},
		{"quote within a plain cell", "url,n\nhttp://a.test/1,5\" disk\n", []string{`2 http://a.test/1 /0/ {"n":"5\" disk"}`}, nil},
		{"text after a quote", "url,n\n\"http://a.test/1\"x,1\nhttp://a.test/2,2\n", []string{`3 http://a.test/2 /0/ {"n":"2"}`}, []int{2}},
		{"quote never closed", "url,n\nhttp://a.test/1,\"x\nhttp://a.test/2,2\nhttp://a.test/3,3\n", []string{`3 http://a.test/2 /0/ {"n":"2"}`, `4 http://a.test/3 /0/ {"n":"3"}`}, []int{2}},
		{"quote never closed before quoted rows", "url,n\nhttp://a.test/1,\"x\nhttp://a.test/2,\"2\"\n\"http://a.test/3\",3\n", []string{`3 http://a.test/2 /0/ {"n":"2"}`, `4 http://a.test/3 /0/ {"n":"3"}`}, []int{2}},
		{"line breaks of all kinds within quotes", "url,n\r\n\"http://a.test/1\",\"a\r\nb\rc\nd\"\r\nhttp://a.test/2,2", []string{`2 http://a.test/1 /0/ {"n":"a\nb\nc\nd"}`, `6 http://a.test/2 /0/ {"n":"2"}`}, nil},
		{"CR alone", "url,n\rhttp://a.test/1,1\rhttp://a.test/2,2", []string{`2 http://a.test/1 /0/ {"n":"1"}`, `3 http://a.test/2 /0/ {"n":"2"}`}, nil},
		{"sep line with another character", "sep=|\nurl|n\nhttp://a.test/1|1\n", []string{`3 http://a.test/1 /0/ {"n":"1"}`}, nil},
		{"cells in Windows-1252", "url,n\nhttp://a.test/1,caf\xe9\nhttp://a.test/\xe9,x\n", []string{`2 http://a.test/1 /0/ {"n":"café"}`}, []int{3}},
		{"credentials", "url\nhttp://u:p@a.test/\nhttp://a.test/\n", []string{`3 http://a.test/ /0/ `}, []int{2}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := readAll(t, "x.csv", strings.NewReader(tt.data), Options{})
			var rows []string
			var problems []int
			for _, e := range res.entries {
				rows = append(rows, row(e))
			}
			for _, p := range res.problems {
				problems = append(problems, p.Line)
			}
			if res.err != nil || !reflect.DeepEqual(rows, tt.rows) || !reflect.DeepEqual(problems, tt.problems) {
				t.Errorf("rows\n%q, problems %v, error %v; want\n%q, %v", rows, res.problems, res.err, tt.rows, tt.problems)
			}
		})
	}
}

func TestCSVQuoteSwallowsNoMoreThanMaxLine(t *testing.T) {
	var data strings.Builder
	data.WriteString("url,n\nhttp://a.test/0,\"open\n")
	for i := 1; i <= 500; i++ {
		fmt.Fprintf(&data, "http://a.test/%d,x\n", i)
	}
	res := readAll(t, "x.csv", strings.NewReader(data.String()), Options{MaxLine: 1000})
	if res.err != nil || len(res.entries) != 500 || !reflect.DeepEqual(res.problemLines(), []int{2}) {
		t.Errorf("%d entries, problems %v, error %v", len(res.entries), res.problems, res.err)
	}
	for i, e := range res.entries {
		if e.Line != i+3 {
			t.Fatalf("entry %d at line %d, want %d", i, e.Line, i+3)
		}
	}
}

// A quote that is opened on every line must not make reading quadratic.
func TestCSVManyOpenQuotes(t *testing.T) {
	res := readAll(t, "x.csv", strings.NewReader("url,n\n"+strings.Repeat("http://a.test/,\"x\n\n\n\n\n", 40000)), Options{})
	if res.err != nil || res.counts.Lines != 200001 {
		t.Errorf("%d lines, error %v", res.counts.Lines, res.err)
	}
}

func TestJSONL(t *testing.T) {
	tests := []struct{ name, line, row, why string }{
		{"keys", `{"id":"k","url":" http://a.test/1 ","tenant":"acme","priority":-3,"x":{"b":1.0,"a":[1e400]}}`, `1 http://a.test/1 acme/-3/k {"id":"k","x":{"b":1.0,"a":[1e400]}}`, ""},
		{"key in capitals", `{"Url":"http://a.test/1"}`, "1 http://a.test/1 /0/ ", ""},
		{"priority as text", `{"url":"http://a.test/1","priority":"4"}`, "1 http://a.test/1 /4/ ", ""},
		{"priority that is no whole number", `{"url":"http://a.test/1","priority":0.5}`, `1 http://a.test/1 /0/ {"priority":0.5}`, ""},
		{"tenant null", `{"url":"http://a.test/1","tenant":null}`, "1 http://a.test/1 /0/ ", ""},
		{"tenant number", `{"url":"http://a.test/1","tenant":007}`, "", "not a JSON object"},
		{"tenant object", `{"url":"http://a.test/1","tenant":{}}`, "", "tenant"},
		{"escaped slash", `{"url":"http:\/\/a.test\/1"}`, "1 http://a.test/1 /0/ ", ""},
		{"lone surrogate kept as written", `{"url":"http://a.test/1","x":"\ud800"}`, `1 http://a.test/1 /0/ {"x":"\ud800"}`, ""},
		{"no object", `not json`, "", "not a JSON object"},
		{"text", `"http://a.test/1"`, "", "not a JSON object"},
		{"array", `["http://a.test/1"]`, "", "not a JSON object"},
		{"cut", `{"url":"http://a.test/1"`, "", "cut off"},
		{"no url", `{"link":"http://a.test/1"}`, "", "no url"},
		{"empty url", `{"url":""}`, "", "empty"},
		{"number", `{"url":42}`, "", "not text"},
		{"null", `{"url":null}`, "", "no url"},
		{"two objects", `{"url":"http://a.test/1"}{"url":"http://a.test/2"}`, "", "more than one"},
		{"url twice", `{"url":"http://a.test/1","URL":"http://a.test/2"}`, "", "twice"},
		{"control in the URL", `{"url":"http://a.test/\u001b[2J"}`, "", "U+001B"},
		{"invalid UTF-8", "{\"url\":\"http://a.test/1\",\"x\":\"\xff\"}", "", "UTF-8"},
		{"NaN", `{"url":"http://a.test/1","x":NaN}`, "", "not a JSON object"},
		{"too deep", `{"url":"http://a.test/1","x":` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}`, "", "not a JSON object"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res := readAll(t, "x.jsonl", strings.NewReader(tt.line+"\n"+`{"url":"http://last.test/"}`), Options{})
			if res.err != nil || len(res.entries) == 0 || res.entries[len(res.entries)-1].URL.Host != "last.test" {
				t.Fatalf("the next line did not run: %q, %v", res.urls(), res.err)
			}
			if tt.why != "" {
				if len(res.problems) != 1 || !strings.Contains(res.problems[0].Why, tt.why) || res.problems[0].Line != 1 {
					t.Errorf("problems %v, want line 1: %s", res.problems, tt.why)
				}
				return
			}
			if got := row(res.entries[0]); got != tt.row {
				t.Errorf("%s, want %s", got, tt.row)
			}
		})
	}
}
