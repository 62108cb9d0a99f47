package json

import (
	"fmt"
	"strings"
	"testing"
)

// TestFieldReader reads complete, cut off and wrong texts. It checks the fields, and whether the end was seen.
func TestFieldReader(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{` {"a": 1 , "b":[2,{"c":"}"}]} x`, `a=1 b=[2,{"c":"}"}] 29 true`},
		{`{}`, ` 2 true`},
		{`{"\u0061":"x\"","a":null}`, `a="x\"" a=null 25 true`},
		{`{"a":1,}`, `a=1 8 true`},
		{`{"a":1 "b":2}`, `a=1 7 false`},
		{`{"a":1,"b`, `a=1 9 false`},
		{`{"a":1,"b"`, `a=1 10 false`},
		{`{"a":1,"b":`, `a=1 b= 11 false`},
		{`{"a":"x`, `a="x 7 false`},
		{`{"a"}`, ` 4 false`},
		{`{1}`, ` 1 false`},
		{`[1, "x" ,[]]`, `=1 ="x" =[] 12 true`},
		{`[ ]`, ` 3 true`},
		{`[1 2]`, `=1 3 false`},
		{`[1,`, `=1 3 false`},
		{`"a"`, ` 0 false`},
		{``, ` 0 false`},
	} {
		got, sep := "", ""
		r := ReadFields([]byte(test.text))
		if strings.HasPrefix(test.text, "[") {
			r = ReadElements([]byte(test.text))
		}
		for r.Next() {
			got += fmt.Sprintf("%s%s=%s", sep, r.Name(), r.Value())
			sep = " "
		}
		if got += fmt.Sprintf(" %d %t", r.At, r.Closed); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.text, got, test.want)
		}
	}
}

// TestEachMemberOfOthers checks that EachMember skips a value that is not an object.
func TestEachMemberOfOthers(t *testing.T) {
	seen := ""
	n := EachMember([]byte(`{"a":null,"b":{"c":1},"d":2} x`), func(key string, rest []byte) int {
		seen += key
		return EachMember(rest, func(key string, _ []byte) int {
			seen += "/" + key
			return 0
		})
	})
	if seen != "ab/cd" || n != 28 {
		t.Errorf("read %s, %d bytes", seen, n)
	}
}
