package cli

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	module    = "dev.scrapetop"
	houseRoot = "../.."
	maxLines  = 450 // of a Go file; about 400 is the aim
	maxTested = 800 // of a test file: tables are long and read from the top
)

// arrows are the imports of ours that a package may have; "x/..." is x and everything below it.
var arrows = map[string][]string{
	"":                           {"ui/cli"},
	"ui/cli":                     {"ui/...", "engine/...", "storage", "themes/..."},
	"ui/dashboard":               {"ui/screen/...", "ui/widget", "ui/keys", "themes", "engine", "engine/view", "storage"},
	"ui/screen":                  {"ui/widget", "ui/keys", "themes", "engine", "engine/view", "storage"},
	"ui/plain":                   {"ui/screen", "ui/widget", "engine", "engine/view"},
	"ui/report":                  {"ui/widget", "storage"},
	"ui/metrics":                 {"engine/view", "storage"},
	"ui/screen/sample":           {"ui/screen", "ui/widget", "ui/keys", "themes", "engine", "engine/view", "storage"},
	"ui/widget":                  {"themes"},
	"ui/keys":                    {"themes"},
	"ui/heap":                    {},
	"engine":                     {"engine/core", "engine/lease", "engine/budget", "engine/frontier", "engine/limits", "engine/provider/...", "engine/record", "engine/source", "engine/transport", "engine/view", "storage"},
	"engine/core":                {"engine/lease", "engine/frontier", "engine/budget", "engine/limits", "engine/provider"},
	"engine/frontier":            {"engine/budget", "engine/limits"},
	"engine/budget":              {"engine/limits"},
	"engine/lease":               {"engine/budget", "engine/limits"},
	"engine/share":               {"engine/lease", "engine/budget"},
	"engine/transport":           {"engine/provider/...", "engine/limits"},
	"engine/provider":            {"engine/limits"},
	"engine/provider/direct":     {"engine/provider", "engine/limits"},
	"engine/provider/evomi":      {"engine/provider", "engine/limits"},
	"engine/provider/spidra":     {"engine/provider", "engine/limits"},
	"engine/provider/omniscrape": {"engine/provider", "engine/limits"},
	"engine/record":              {"engine/provider", "engine/limits"},
	"engine/source":              {},
	"engine/view":                {"engine/limits", "engine/provider"},
	"engine/limits":              {},
	"engine/simulator":           {},
	"storage":                    {},
	"themes":                     {},
	"themes/background":          {},
}

// clocks are the packages that may read the clock: everybody else is told the time.
var clocks = []string{"engine", "engine/transport", "engine/simulator", "engine/share", "storage", "ui/dashboard", "ui/cli"}

func TestImportsPointOneWay(t *testing.T) {
	type listed struct {
		ImportPath string
		Imports    []string
	}
	cmd := exec.Command("go", "list", "-json=ImportPath,Imports", "./...")
	cmd.Dir = houseRoot
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	seen := 0
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		seen++
		from := ours(p.ImportPath)
		allowed, known := arrows[from]
		if !known {
			t.Errorf("package %q has no place in the house: add its arrows here and in the design", from)
			continue
		}
		for _, imported := range p.Imports {
			if !strings.HasPrefix(imported, module) {
				continue
			}
			if to := ours(imported); !slices.ContainsFunc(allowed, func(a string) bool { return covers(a, to) }) {
				t.Errorf("%s imports %s, which its layer may not", from, to)
			}
		}
	}
	if seen < 5 {
		t.Errorf("only %d packages were listed", seen)
	}
}

func ours(importPath string) string {
	return strings.TrimPrefix(strings.TrimPrefix(importPath, module), "/")
}

func covers(allowed, to string) bool {
	if below, ok := strings.CutSuffix(allowed, "/..."); ok {
		return to == below || strings.HasPrefix(to, below+"/")
	}
	return allowed == to
}

func TestNoBucketPackages(t *testing.T) {
	buckets := []string{"util", "utils", "common", "helper", "helpers", "types", "models", "model", "misc", "shared"}
	eachFile(t, func(name string, file *ast.File, _ *token.FileSet) {
		base := strings.TrimSuffix(path.Base(name), ".go")
		if pkg := file.Name.Name; slices.Contains(buckets, pkg) {
			t.Errorf("%s: package %s says nothing about a responsibility", name, pkg)
		}
		// A read model is a thing in view; elsewhere a file of that name is a bucket.
		if slices.Contains(buckets, base) && base != "model" {
			t.Errorf("%s: the file's name says nothing about what is in it", name)
		}
	})
}

func TestTopLevelContent(t *testing.T) {
	allowed := []string{"go.mod", "go.sum", "main.go", "ui", "engine", "storage", "themes", "README.md", "LICENSE"}
	entries, err := os.ReadDir(houseRoot)
	if err != nil {
		t.Fatal(err)
	}
	ignored, err := os.ReadFile(filepath.Join(houseRoot, ".gitignore"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		name := e.Name()
		if strings.HasPrefix(name, ".") || slices.Contains(allowed, name) || ignores(string(ignored), name) {
			continue
		}
		t.Errorf("%s does not belong at the top level", name)
	}
}

func ignores(list, name string) bool {
	for line := range strings.Lines(list) {
		if ok, err := path.Match(strings.Trim(line, "/\n"), name); ok && err == nil {
			return true
		}
	}
	return false
}

func TestFilesStayReadable(t *testing.T) {
	eachFile(t, func(name string, file *ast.File, fset *token.FileSet) {
		most := maxLines
		if strings.HasSuffix(name, "_test.go") {
			most = maxTested
		}
		if n := fset.File(file.Pos()).LineCount(); n > most {
			t.Errorf("%s has %d lines, split it", name, n)
		}
	})
}

func TestClockIsReadAtTheEdges(t *testing.T) {
	eachCall(t, func(name, pkg, fn string, line int) {
		if strings.HasSuffix(name, "_test.go") || slices.Contains(clocks, path.Dir(name)) {
			return
		}
		if pkg == "time" && (fn == "Now" || fn == "Since" || fn == "Until") {
			t.Errorf("%s:%d: time.%s: take the time as an argument", name, line, fn)
		}
	})
}

func TestOnlyCommandsPrint(t *testing.T) {
	eachCall(t, func(name, pkg, fn string, line int) {
		dir := path.Dir(name)
		if strings.HasSuffix(name, "_test.go") || dir == "ui/cli" || !strings.HasPrefix(dir, "engine") && !strings.HasPrefix(dir, "ui/") && dir != "storage" {
			return
		}
		if pkg == "fmt" && strings.HasPrefix(fn, "Print") || pkg == "log" && fn != "New" && fn != "Logger" {
			t.Errorf("%s:%d: %s.%s: return it, the commands print", name, line, pkg, fn)
		}
	})
}

// eachFile parses every Go file of the house; names are relative to its root.
func eachFile(t *testing.T, do func(name string, file *ast.File, fset *token.FileSet)) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(houseRoot, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if base := d.Name(); base == "testdata" || strings.HasPrefix(base, ".") && p != houseRoot {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(p, ".go") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, p, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(houseRoot, p)
		if err != nil {
			return err
		}
		files++
		do(filepath.ToSlash(name), file, fset)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 10 {
		t.Fatalf("only %d files were seen", files)
	}
}

// eachCall visits every use of pkg.Name where pkg is an imported package of the standard library under its own name.
func eachCall(t *testing.T, do func(name, pkg, fn string, line int)) {
	t.Helper()
	eachFile(t, func(name string, file *ast.File, fset *token.FileSet) {
		imported := map[string]bool{}
		for _, i := range file.Imports {
			if i.Name == nil {
				imported[strings.Trim(i.Path.Value, `"`)] = true
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if sel, ok := n.(*ast.SelectorExpr); ok {
				if x, ok := sel.X.(*ast.Ident); ok && imported[x.Name] {
					do(name, x.Name, sel.Sel.Name, fset.Position(n.Pos()).Line)
				}
			}
			return true
		})
	})
}
