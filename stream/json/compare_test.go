package json

import (
	"strings"
	"testing"
)

func TestSame(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{`{"a":1,"b":[true,null]}`, ` {"b" : [true, null], "a" : 1 } `, true},
		{`{"a":"å/😀"}`, `{"\u0061":"\u00e5\/\ud83d\ude00"}`, true},
		{`1`, `1.0`, true},
		{`100`, `1e2`, true},
		{`0.1`, `1e-1`, true},
		{`{"a":1,"a":2}`, `{"a":2}`, false}, // every field counts
		{`{"a":1,"a":2}`, `{"a":2,"a":1}`, false},
		{`{"a":1,"b":0,"a":2}`, `{"b":0,"a":1,"a":2}`, true},
		{`9007199254740993`, `9007199254740993.0`, true},
		{`0.1`, `0.1000000000000000055511151231257827`, false},
		{`1e400`, `10e399`, true},
		{`1e400`, `1e401`, false},
		{`1e99999999999999999999`, `1e99999999999999999998`, false},
		{`1e+99999999999999999999`, `1e-99999999999999999999`, false},
		{`0e5`, `0`, true},
		{`-0`, `0`, true},
		{`{}`, `{ }`, true},
		{`[]`, `[ ]`, true},
		{``, ``, true},
		{`{"a`, `{"a`, true},
		{`{}`, `[]`, false},
		{`[1,2]`, `[2,1]`, false},
		{`[[1],2]`, `[[1,2]]`, false},
		{`{"a":{}}`, `{"a":[]}`, false},
		{`{"a":"b","c":{}}`, `{"a":{"b":"c"}}`, false},
		{`"1"`, `1`, false},
		{`null`, `"null"`, false},
		{`9007199254740993`, `9007199254740992`, false}, // a float can't distinguish these numbers
		{`18446744073709551615`, `18446744073709551616`, false},
		{`-18446744073709551616`, `-18446744073709551616 `, true},
		{`1.50`, `15e-1`, true},
		{`{"a":1}`, `{"a":1,"b":2}`, false},
		{`{"a":1}`, `{"a":1}}`, false},
		{`{"a":1`, `{"a":1}`, false},
		{``, `{}`, false},
		{`{"a":"b\"}"}`, `{"a":"b","}":""}`, false},
	} {
		if Same([]byte(test.a), []byte(test.b)) != test.want || Same([]byte(test.b), []byte(test.a)) != test.want {
			t.Errorf("%s and %s: want %v", test.a, test.b, test.want)
		}
	}
	deep := strings.Repeat("[", 20000) + strings.Repeat("]", 20000)
	if Same([]byte(deep), []byte(deep+" ")) {
		t.Error("deeper than the scanner goes")
	}
}

// TestSameIn checks which differences readers of JSON don't notice.
func TestSameIn(t *testing.T) {
	for _, test := range []struct {
		a, b             string
		parsed, asDouble bool
	}{
		{`{"a":1,"a":2}`, `{"a":2}`, true, true},
		{`{"a":1,"a":2}`, `{"a":1}`, false, false},
		{`{"b":{"a":1,"a":2,"c":[]}}`, `{"b":{"c":[],"a":2}}`, true, true},
		{`0.1`, `0.1000000000000000055511151231257827`, true, true},
		{`9007199254740993`, `9007199254740992`, false, true},
		{`1e400`, `null`, false, true},
		{`"\ud800"`, `"\ufffd"`, false, true},
		{`1`, `"1"`, false, false},
	} {
		for mode, want := range map[Mode]bool{Parsed: test.parsed, AsDouble: test.asDouble} {
			if SameIn(mode, []byte(test.a), []byte(test.b)) != want || SameIn(mode, []byte(test.b), []byte(test.a)) != want {
				t.Errorf("%s and %s in mode %d: want %v", test.a, test.b, mode, want)
			}
		}
	}
}

// TestCanonicalForms checks that both forms of a text are those of Canonical.
func TestCanonicalForms(t *testing.T) {
	for _, text := range []string{
		`{"a":"x","b":[true,null,{"c":"\n"}]}`, `{"b":"","a":"å"}`, `{"a":1}`, `[1.50]`, `{"b":{"a":"","a":"x","c":[]}}`, `"\ud800"`, `{"\udfff":0}`, "\"\xff\"",
		` {} `, `null`, `{"a"`, ``,
	} {
		exact, double, ok := CanonicalForms([]byte(text))
		wantExact, wantOK := Canonical([]byte(text), Exact)
		wantDouble, _ := Canonical([]byte(text), AsDouble)
		if ok != wantOK || ok && (string(exact) != string(wantExact) || string(double) != string(wantDouble)) {
			t.Errorf("%s: %q and %q, %v; want %q and %q, %v", text, exact, double, ok, wantExact, wantDouble, wantOK)
		}
	}
}
