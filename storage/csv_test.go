package storage

import (
	"bytes"
	"encoding/csv"
	"os"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestCSVCell(t *testing.T) {
	cases := []struct{ name, in, want string }{
		{"plain", "title", "title"},
		{"empty", "", ""},
		{"formula", "=1+1", "'=1+1"},
		{"at", "@SUM(A1)", "'@SUM(A1)"},
		{"telephone number", "+44 20 0000", "'+44 20 0000"},
		{"negative number", "-12.5", "-12.5"},
		{"negative number with exponent", "-1e-3", "-1e-3"},
		{"minus before a formula", "-1+cmd|' /C calc'!A0", "'-1+cmd|' /C calc'!A0"},
		{"minus before text", "-x", "'-x"},
		{"lone minus", "-", "-"},
		{"tab", "\t=1+1", "'\t=1+1"},
		{"tab before text", "\tx", "'\tx"},
		{"carriage return", "\r=1+1", "'\r=1+1"},
		{"line feed before a formula", "\n=1+1", "'\n=1+1"},
		{"line feed before a page", "\n<html>", "\n<html>"},
		{"blanks before a formula", "  =1+1", "'  =1+1"},
		{"byte order mark before a formula", "\ufeff=1+1", "'\ufeff=1+1"},
		{"NUL before a formula", "\x00=1+1", "'\x00=1+1"},
		{"full-width equals", "\uff1d1+1", "'\uff1d1+1"},
		{"full-width plus", "\uff0b1", "'\uff0b1"},
		{"full-width minus", "\uff0d1", "'\uff0d1"},
		{"full-width at", "\uff20x", "'\uff20x"},
		{"apostrophe", "'tis", "'tis"},
		{"apostrophe before a formula", "'=1", "''=1"},
		{"not UTF-8", "\xff=", "\ufffd="},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := csvCell(c.in); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestCSVCellOfATableOfFormulas(t *testing.T) {
	f, err := os.Open("testdata/formula.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	inert := 0
	for _, row := range rows[1:] {
		got := csvCell(row[1])
		switch row[1] {
		case "-12.5", "-":
			if got != row[1] {
				t.Errorf("%q became %q", row[1], got)
			}
		default:
			if got != "'"+row[1] {
				t.Errorf("%q became %q", row[1], got)
			}
			inert++
		}
	}
	if inert != 7 {
		t.Errorf("%d cells made inert", inert)
	}
}

// A cell is inert, is UTF-8, and gives back what went in, through a CSV writer and reader too.
func FuzzCSVCell(f *testing.F) {
	for _, s := range []string{"", "=1", "-12.5", "-", "'=1", "''", "\t", "\uff1d", " -\u00a01", "\xff=", "-1e5", "\u2212", "\n+"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		cell := csvCell(s)
		if !utf8.ValidString(cell) {
			t.Fatalf("%q is not UTF-8", cell)
		}
		if dangerous(cell) {
			t.Fatalf("%q is run", cell)
		}
		if want := strings.ToValidUTF8(s, "\uFFFD"); unguard(cell) != want {
			t.Fatalf("%q came back as %q", want, unguard(cell))
		}
		var b bytes.Buffer
		w := csv.NewWriter(&b)
		if err := w.Write([]string{cell, "end"}); err != nil {
			t.Fatal(err)
		}
		w.Flush()
		row, err := csv.NewReader(&b).Read()
		if err != nil || row[1] != "end" || row[0] != strings.ReplaceAll(cell, "\r\n", "\n") {
			t.Fatalf("%q was read as %q, %v", cell, row, err)
		}
	})
}
