package json

import "testing"

func TestRewrite(t *testing.T) {
	value := func(s string) []byte { return []byte(s) }
	for _, test := range []struct {
		before  string
		members []Member
		want    string
	}{
		{``, nil, `{}`},
		{``, []Member{{"a", value(`1`)}, {"b", nil}, {"c", value(`[]`)}}, `{"a":1,"c":[]}`},
		{`{"x": {"a": 1}, "a" :2, "y":null}`, []Member{{"b", value(`3`)}, {"a", value(`4`)}}, `{"x":{"a": 1},"a":4,"y":null,"b":3}`},
		{`{"a":1,"b":2}`, []Member{{"a", nil}}, `{"b":2}`},
		{`{"a":1,"b":2,"a":3}`, []Member{{"a", value(`4`)}}, `{"a":4,"b":2}`},
		{`{"\u0061\"":1}`, []Member{{"b", value(`2`)}}, `{"a\"":1,"b":2}`},
		{`[1]`, []Member{{"a", value(`2`)}}, `{"a":2}`},
	} {
		if got := string(ReplaceMembers(Value(test.before), test.members...)); got != test.want {
			t.Errorf("%s with %s: %s, want %s", test.before, test.members, got, test.want)
		}
	}
}

func TestUpdate(t *testing.T) {
	for _, test := range []struct{ before, value, want string }{
		{`{}`, ``, ``},
		{`{}`, `1`, `1`},
		{`{"a":2}`, `1`, `1`},
		{`{"a":2}`, ``, ``},
		{`{"a":[1]}`, ``, ``},
		{`{"a":null}`, ``, `null`},
		{`{"a":""}`, ``, `""`},
		{`{"a":[]}`, ``, `[]`},
		{`{"a":[]}`, `1`, `1`},
	} {
		var value []byte
		if test.value != "" {
			value = []byte(test.value)
		}
		m := UpdatedMember(Value(test.before), "a", value)
		if m.Name != "a" || string(m.Value) != test.want || (m.Value == nil) != (test.want == "") {
			t.Errorf("%s with %q: %s", test.before, test.value, m)
		}
	}
}
