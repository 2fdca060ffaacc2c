package provider

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestParseField(t *testing.T) {
	type object = map[string]any
	for name, c := range map[string]struct {
		kind FieldKind
		text string
		want any // nil: refused
	}{
		"a text of digits":          {TextField, "123456", "123456"},
		"a text like a flag":        {TextField, "true", "true"},
		"a text like a list":        {TextField, "[1]", "[1]"},
		"a text in quotes":          {TextField, `"123456"`, "123456"},
		"a text with quotes":        {TextField, `"a" and "b"`, `"a" and "b"`},
		"no text":                   {TextField, "", ""},
		"true":                      {FlagField, "true", true},
		"False":                     {FlagField, "False", false},
		"a flag of 1":               {FlagField, "1", nil},
		"no flag":                   {FlagField, "", nil},
		"a whole number":            {WholeField, "30", 30},
		"below zero":                {WholeField, "-1", -1},
		"half a number":             {WholeField, "1.5", nil},
		"a number in quotes":        {WholeField, `"3"`, nil},
		"a number too large":        {WholeField, "12345678901234567890", nil},
		"a list by commas":          {TextsField, "image, font,", []string{"image", "font"}},
		"a list of one":             {TextsField, "image", []string{"image"}},
		"a list of digits":          {TextsField, "1,2", []string{"1", "2"}},
		"a list in JSON":            {TextsField, `["image","a,b"]`, []string{"image", "a,b"}},
		"an empty list":             {TextsField, "", []string{}},
		"a list of numbers in JSON": {TextsField, `[1]`, nil},
		"half a list":               {TextsField, `["a"`, nil},
		"an object":                 {ObjectField, `{"a":1}`, object{"a": json.Number("1")}},
		"an object that is a text":  {ObjectField, "a", nil},
		"an object that is null":    {ObjectField, "null", nil},
		"two objects":               {ObjectField, "{}{}", nil},
		"unknown, a number":         {UnknownField, "5", json.Number("5")},
		"unknown, a flag":           {UnknownField, "true", true},
		"unknown, a list":           {UnknownField, `["a"]`, []any{"a"}},
		"unknown, in quotes":        {UnknownField, `"5"`, "5"},
		"unknown, a word":           {UnknownField, "image,font", "image,font"},
		"unknown, null":             {UnknownField, "null", "null"},
		"unknown, two values":       {UnknownField, "5 6", "5 6"},
		"unknown, a loose end":      {UnknownField, "5]", "5]"},
	} {
		got, err := ParseField(c.kind, c.text)
		if (err != nil) != (c.want == nil) || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %#v, %v, want %#v", name, got, err, c.want)
		}
	}
}

func FuzzParseField(f *testing.F) {
	f.Add(uint8(TextField), `"a`)
	f.Add(uint8(TextsField), `["a",`)
	f.Add(uint8(ObjectField), `{"a":{}}`)
	f.Fuzz(func(t *testing.T, kind uint8, text string) {
		v, err := ParseField(FieldKind(kind), text)
		if (v == nil) == (err == nil) {
			t.Errorf("%v, %v", v, err)
		}
		if _, err := json.Marshal(v); err != nil {
			t.Errorf("it cannot be sent: %v", err)
		}
	})
}
