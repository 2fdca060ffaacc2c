package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestMeasuredIsOfTheseSources fails when the figures in the tree are of other sources: take them anew.
func TestMeasuredIsOfTheseSources(t *testing.T) {
	root := filepath.Join("..", "..")
	want, err := sources(root)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(root, table))
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "sources: "+want+"\n") {
		t.Errorf("%s is not of these sources (%s): run go run ./.ci/measure", table, want)
	}
}
