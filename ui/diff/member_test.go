package diff

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/stream"
)

// outline describes each row on one line: the name, and the cells of all calls except the base.
func outline(calls []*stream.Call, rows []Row) string {
	var out []string
	for _, r := range rows {
		text := strings.Repeat(" ", r.Depth) + r.Name
		for i, c := range r.Cells {
			if i == 0 {
				if !c.Has() {
					text += " -"
				}
				continue
			}
			text += " " + c.String()
			if c.Relation == Differs && calls[i] != nil && !r.Split {
				text += fmt.Sprintf(":%s", calls[i].Args()[c.Start:c.End])
			}
			if c.List != nil && c.List.Lacks+c.List.Adds != "" {
				text += fmt.Sprintf("(-%s +%s)", c.List.Lacks, c.List.Adds)
			}
		}
		out = append(out, text)
	}
	return strings.Join(out, "\n")
}

// TestMembers checks that values are compared, not their spelling. A growing value differs only when it can no longer
// become equal.
func TestMembers(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{`{"a":1}`, `{ "a" : 1 }`, ".a same"},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, ".a same\n.b same"},
		{`{"a":1}`, `{"a":1.0}`, ".a alike"},
		{`{"a":100}`, `{"a":1e2}`, ".a alike"},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`, ".a differs:9007199254740992"},
		{`{"a":1e999999999}`, `{"a":2e999999999}`, ".a differs:2e999999999"},
		{`{"a":"\u00e9"}`, `{"a":"é"}`, ".a alike"},
		{`{"a":"\ud83d\ude00x"}`, `{"a":"😀x"}`, ".a alike"},
		{`{"a":"\ud83d"}`, `{"a":"\ud83e"}`, `.a differs:"\ud83e"`},
		{`{"a":"x\/y"}`, `{"a":"x/y"}`, ".a alike"},
		{`{"a":"1"}`, `{"a":1}`, ".a differs:1"},
		{`{"a":1}`, `{}`, ".a absent"},
		{`{}`, `{"a":1}`, ".a - differs:1"},
		{`{"a":1,"c":3}`, `{"a":1,"b":2,"c":3}`, ".a same\n.b - differs:2\n.c same"},
		{`{"a":{}}`, `{"a":[]}`, ".a differs:[]"},
		{`{"a":{"x":1,"y":2}}`, `{"a":{"y":2,"x":1}}`, ".a alike"},
		{`{"a":{"x":1,"y":2}}`, `{"a":{"x":1,"y":3}}`, ".a differs\n .x same\n .y differs:3"},
		{`{"a":[1,[2,3]]}`, `{"a":[1,[2,4]]}`, ".a differs\n [0] same\n [1] differs:[2,4](-3 +4)"},
		{`{"a":["x","y","z"]}`, `{"a":["x","z"]}`, `.a differs:["x","z"](-"y" +)`},
		{`{"a":["x","y","z"]}`, `{"a":["z","x","y","q","r"]}`, `.a differs:["z","x","y","q","r"](- +"q" +1)`},
		{`{"a":true,"b":null}`, `{"a":false,"b":null}`, ".a differs:false\n.b same"},
		{`{"a":1,"a":2}`, `{"a":1,"a":3}`, ".a same\n.a differs:3"},
		{`{"a":1}`, `[1]`, " differs:[1]"},
		{`{"a":1}`, `-`, ".a absent"},
		// Growing values.
		{`{"a":"Oslo","b":1}`, `{"a":"Os…`, ".a open\n.b not yet"},
		{`{"a":"Oslo","b":1}`, `{"a":"Lo…`, ".a differs:\"Lo\n.b not yet"},
		{`{"a":"Oslo"}`, `{"a":"Oslo, Norway…`, ".a differs:\"Oslo, Norway"},
		{`{"a":"é"}`, `{"a":"\u00…`, ".a open"},
		{`{"a":12}`, `{"a":1…`, ".a open"},
		{`{"a":12}`, `{"a":true…`, ".a differs:true"},
		{`{"a":{"x":1,"y":2}}`, `{"a":{"x":1…`, ".a open"},
		{`{"a":{"x":1,"y":2}}`, `{"a":{"x":3…`, ".a open"},
		{`{"a":{"x":1,"y":2}}`, `{"a":{"x":3,…`, ".a differs\n .x differs:3\n .y not yet"},
		{`{"a":{"x":1}}`, `{"a":{"x":1,"y":…`, ".a open"},
		{`{"a":{"x":1}}`, `{"a":{"x":1,"y":2,…`, ".a differs\n .x same\n .y - differs:2"},
		{`{"a":[1,2]}`, `{"a":[1…`, ".a open"},
		{`{"a":[1,2]}`, `{"a":[1,2,3,…`, ".a differs:[1,2,3,(- +3)"},
		{`{"a":"x…`, `{"a":"x","b":2}`, ".a open\n.b - open"},
		{`{"a":"x…`, `{"a":"y"}`, ".a differs:\"y\""},
		{`{"a":1}`, `{"a…`, ".a not yet"},
		{`{"a":1}`, `{"a":…`, ".a not yet"},
		// Some values are cut off or not JSON.
		{`{"a":"Oslo"}`, `{"a":"Os`, `.a differs:"Os`},
		{`{"a":"Oslo","b":1}`, `{"a":"Oslo","b"`, ".a same\n.b absent"},
		{`{"a":1,"b":2}`, `{"a":1,x`, ".a same\n.b absent"},
		{`{"a":1}`, `no JSON`, " differs:no JSON"},
	} {
		calls, rows := members(t, c.a, c.b)
		if got := outline(calls, rows); got != c.want {
			t.Errorf("%s and %s:\n%s\nwant\n%s", c.a, c.b, got, c.want)
		}
	}
}

// TestThreeMembers checks a field that the base and a third call both lack. The third call's cell is the same as
// the base's.
func TestThreeMembers(t *testing.T) {
	calls, rows := members(t, `{"a":1}`, `{"a":2,"b":1}`, `{"a":1}`)
	if got := outline(calls, rows); got != ".a differs:2 same\n.b - differs:1 same" {
		t.Error(got)
	}
}

// TestGrowth checks that a field that differs in a prefix of a call also differs in the complete call. A prefix must
// not report a difference that the complete call does not have.
func TestGrowth(t *testing.T) {
	base := `{"city":"Oslo","days":3,"at":{"lat":59.9,"lon":[10,7]},"why":"\u00e9\ud83d\ude00","list":["a","b"]}`
	for _, other := range []string{base,
		`{"days": 3.0, "city": "Os\u006co", "at": {"lon": [10, 7], "lat": 59.90}, "why": "é😀", "list": ["a", "b"]}`,
		`{"city":"Oslofjord","days":"3","at":{"lat":59.9,"lon":[10,8],"x":{}},"list":["b"],"more":null}`,
	} {
		_, rows := members(t, base, other)
		final := map[string]Relation{}
		for _, r := range rows {
			final[r.Path] = r.Cells[1].Relation
		}
		for n := range len(other) {
			if n == 0 || other[n-1] >= 0x80 {
				continue
			}
			_, rows := members(t, base, other[:n]+"…")
			for _, r := range rows {
				m, ends := r.Cells[1].Relation, final[r.Path]
				if !m.Agrees() && ends.Agrees() {
					if _, is := final[r.Path]; is {
						t.Fatalf("after %s: %s is %s, and in the end %s", other[:n], r.Path, m, ends)
					}
				}
			}
		}
	}
}

// TestAlign checks that sets of calls follow the base's order, and that calls with equal arguments are matched first.
func TestAlign(t *testing.T) {
	for _, c := range []struct{ first, second, want string }{
		{"a b c", "a b c", "0/0 1/1 2/2"}, {"a c", "a b c", "0/0 -/1 1/2"}, {"a a", "a", "0/0 1/-"},
		{"a b", "b a", "0/1 1/0"}, {"a", "b", "0/- -/0"}, {"", "b b", "-/0 -/1"},
		{"a1 a2", "a2 a1", "0/1 1/0"}, {"a1 a2", "a2", "0/- 1/0"}, {"a1 a2 a3", "a3 a9 a1", "0/2 1/1 2/0"},
	} {
		var turns [][]NamedCall
		for _, text := range []string{c.first, c.second} {
			var calls []NamedCall
			for _, word := range strings.Fields(text) {
				n := NamedCall{Name: word[:1]}
				if len(word) > 1 {
					n.Sum = uint64(word[1])
				}
				calls = append(calls, n)
			}
			turns = append(turns, calls)
		}
		var got []string
		for _, set := range Align(turns, 0) {
			got = append(got, strings.ReplaceAll(fmt.Sprintf("%d/%d", set[0], set[1]), "-1", "-"))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s and %s: %s, want %s", c.first, c.second, got, c.want)
		}
	}
}
