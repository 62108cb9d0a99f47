package protocol

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
		{`{"a":1,"a":2}`, `{"a":2}`, true}, // the last one counts
		{`-0`, `0`, true},
		{`{}`, `{ }`, true},
		{`[]`, `[ ]`, true},
		{``, ``, true},
		{`{"a`, `{"a`, true},
		{`{}`, `[]`, false},
		{`[1,2]`, `[2,1]`, false},
		{`[[1],2]`, `[[1,2]]`, false},
		{`{"a":{}}`, `{"a":[]}`, false},
		{`"1"`, `1`, false},
		{`null`, `"null"`, false},
		{`9007199254740993`, `9007199254740992`, false}, // went through a float
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
