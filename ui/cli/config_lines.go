package cli

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// keyLines finds the line of every key of a document, by its dotted path; an element of an array of tables has its
// index in the path (providers.evomi.credentials.0.name). The decoder tells positions only of what it refuses itself;
// what a value means is checked later. A document that does not parse gives what was read so far.
func keyLines(text []byte) map[string]int {
	lines := map[string]int{}
	elements := map[string]int{} // elements so far of an array of tables
	var p unstable.Parser
	p.Reset(text)
	table := ""
	for p.NextExpression() {
		e := p.Expression()
		switch e.Kind {
		case unstable.Table:
			table = headerLine(lines, text, tablePath(e, elements), e)
		case unstable.ArrayTable:
			path := tablePath(e, elements)
			n := elements[path]
			elements[path] = n + 1
			table = headerLine(lines, text, path+"."+strconv.Itoa(n), e)
		case unstable.KeyValue:
			keyValue(lines, text, table, e)
		}
	}
	return lines
}

func headerLine(lines map[string]int, text []byte, path string, e *unstable.Node) string {
	it := e.Key()
	if it.Next() {
		lines[path] = lineOf(text, it.Node())
	}
	return path
}

func keyValue(lines map[string]int, text []byte, table string, e *unstable.Node) {
	path := table
	it := e.Key()
	for it.Next() {
		path = join(path, string(it.Node().Data))
		lines[path] = lineOf(text, it.Node())
	}
	if v := e.Value(); v != nil && v.Kind == unstable.InlineTable {
		for in := v.Children(); in.Next(); {
			if n := in.Node(); n.Kind == unstable.KeyValue {
				keyValue(lines, text, path, n)
			}
		}
	}
}

// tablePath is the path of a header; where a part is an array of tables, its newest element is meant.
func tablePath(e *unstable.Node, elements map[string]int) string {
	path := ""
	for it := e.Key(); it.Next(); {
		if n := elements[path]; n > 0 {
			path += "." + strconv.Itoa(n-1)
		}
		path = join(path, string(it.Node().Data))
	}
	return path
}

func join(path, key string) string { return strings.TrimPrefix(path+"."+key, ".") }

func lineOf(text []byte, n *unstable.Node) int {
	offset := min(int(n.Raw.Offset), len(text))
	return 1 + bytes.Count(text[:offset], []byte{'\n'})
}
