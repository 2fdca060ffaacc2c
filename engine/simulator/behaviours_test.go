package simulator

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// How many numbered behaviours each platform's fact sheet asks of the simulator.
const (
	evomiBehaviours      = 16
	omniscrapeBehaviours = 16
	spidraBehaviours     = 17
)

var numberedBehaviour = regexp.MustCompile(`\b(evomi|omniscrape|spidra) ([0-9]+)\b`)

// TestEveryBehaviourIsTested: each behaviour is named, as in "evomi 4", by the comment of a test of that platform.
func TestEveryBehaviourIsTested(t *testing.T) {
	most := map[string]int{"evomi": evomiBehaviours, "omniscrape": omniscrapeBehaviours, "spidra": spidraBehaviours}
	tested := map[string]map[int]bool{"evomi": {}, "omniscrape": {}, "spidra": {}}
	files, err := filepath.Glob("*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "Test") || f.Name.Name == t.Name() {
				continue
			}
			for _, m := range numberedBehaviour.FindAllStringSubmatch(f.Doc.Text(), -1) {
				n, err := strconv.Atoi(m[2])
				if err != nil || n < 1 || n > most[m[1]] || !strings.HasPrefix(strings.ToLower(f.Name.Name), "test"+m[1]) {
					t.Errorf("%s names %s: there is no such behaviour, or it is another platform's", f.Name.Name, m[0])
				}
				tested[m[1]][n] = true
			}
		}
	}
	for platform, n := range most {
		for i := 1; i <= n; i++ {
			if !tested[platform][i] {
				t.Errorf("no test names %s %d", platform, i)
			}
		}
	}
}
