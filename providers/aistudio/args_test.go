package aistudio

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"toolscope/stream"
)

func parse(t testing.TB, text string) jsonNodes {
	t.Helper()
	var p parser
	v, err := p.parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// TestValues checks that canonical VALUEs, and VALUEs from real traffic, are read correctly.
func TestValues(t *testing.T) {
	const pair = `["id",[null,null,"1"]],["status",[null,null,"pending"]]`
	const object = `{"id":"1","status":"pending"}`
	list := func(of string) string { return `[null,null,null,null,null,` + of + `]` }
	for _, test := range []struct {
		wire, want string
		note       *stream.Diagnosis
	}{
		{`[0]`, `null`, nil},
		{`[null]`, `null`, nil},
		{`[]`, `null`, nil},
		{`null`, `null`, nil},
		{`[5]`, `null`, nonCanonical},
		{`["x"]`, `null`, nonCanonical},
		{`[null,42]`, `42`, nil},
		{`[0,42]`, `42`, nil},
		{`[,42]`, `42`, nil},
		{`[null,-1.50e+3]`, `-1.50e+3`, nil},
		{`[null,"42"]`, `42`, nil},
		{`[null,"NaN"]`, `"NaN"`, nil},
		{`[null,"-Infinity"]`, `"-Infinity"`, nil},
		{`[null,"4 2"]`, `"4 2"`, nonCanonical},
		{`[null,"042"]`, `"042"`, nonCanonical},
		{`[null,9007199254740992]`, `9007199254740992`, nil},
		{`[null,9007199254740993]`, `9007199254740993`, numAsFloat},
		{`[null,"-9007199254740993"]`, `-9007199254740993`, numAsFloat},
		{`[null,123456789012345678901234567890]`, `123456789012345678901234567890`, numAsFloat},
		{`[null,null,"x"]`, `"x"`, nil},
		{`[,,"x"]`, `"x"`, nil},
		{`[,,"x",]`, `"x"`, nil},
		{`[null,null,"a\u0041\/"]`, `"a\u0041\/"`, nil},
		{`[null,null,""]`, `""`, nil},
		{`[null,null,null,1]`, `true`, nil},
		{`[null,null,null,true]`, `true`, nil},
		{`[null,null,null,0]`, `false`, nil},
		{`[null,null,null,false]`, `false`, nil},
		{`[null,null,null,2]`, `2`, nonCanonical},
		{`[null,null,null,null,[]]`, `{}`, nil},
		{`[null,null,null,null,[[]]]`, `{}`, nil},
		{`[null,null,null,null,[null]]`, `{}`, nil},
		{`[null,null,null,null,null]`, `{}`, nil},
		{`[null,null,null,null,[[` + pair + `]]]`, object, nil},
		{`[null,null,null,null,[` + pair + `]]`, object, nil},
		{`[null,null,null,null,[[["k"]]]]`, `{"k":null}`, nil},
		{`[null,null,null,null,[[["k",[null,1],"extra"]]]]`, `{"k":1}`, nil},
		{`[null,null,null,null,[[["k","plain"]]]]`, `{"k":"plain"}`, nil},
		{list(`[]`), `[]`, nil},
		{list(`[[]]`), `[]`, nil},
		{list(`null`), `[]`, nil},
		{list(`[[[null,null,"a"],[null,null,"b"]]]`), `["a","b"]`, nil},
		{list(`[[null,null,"a"],[null,null,"b"]]`), `["a","b"]`, nil},
		{list(`[[[null,null,"task1"]]]`), `["task1"]`, nil},
		{list(`[[null,null,"task1"]]`), `["task1"]`, listAmbiguous},
		{list(`["a","b"]`), `["a","b"]`, nil},
		{list(`[[null]]`), `[null]`, listAmbiguous},
		{list(`[[[0],[null,1]]]`), `[null,1]`, nil},
		{list(`[[` + list(`[[[null,3]]]`) + `]]`), `[[3]]`, nil},
		{list(`[[` + list(`[[[null,1],[null,2]]]`) + `,` + list(`[[]]`) + `]]`), `[[1,2],[]]`, nil},
		{list(`[[[null,null,null,null,[[` + pair + `]]]]]`), `[` + object + `]`, nil},
		{list(`[[null,null,null,null,[[` + pair + `]]]]`), `[` + object + `]`, listAmbiguous},
		{list(`[[` + pair + `]]`), `[` + object + `]`, listAmbiguous}, // the second failure in the original bug report
		{list(`[[[` + pair + `]]]`), `[` + object + `]`, nil},
		{list(`[[[[` + pair + `]]]]`), `[` + object + `]`, listAmbiguous}, // the first failure in the original bug report
		{list(`[` + pair + `]`), `[` + object + `]`, listAmbiguous},
		{list(`[[[["id",[null,null,"1"]]],[["id",[null,null,"2"]]]]]`), `[{"id":"1"},{"id":"2"}]`, nil},
		{`[` + pair + `]`, object, nil},
		{`[[` + pair + `]]`, object, nil},
		{`[null,2,5432]`, `5432`, nonCanonical},
		{`[1,2,"value1"]`, `"value1"`, nonCanonical},
		{`[[null,1],[null,2]]`, `[1,2]`, nonCanonical},
		{`[1,2,3,4,5,6,[null,7]]`, `7`, nonCanonical},
		{`[null,[null,null,"x"]]`, `"x"`, nonCanonical},
		{`"plain"`, `"plain"`, nil},
		{`{"a": 1}`, `{"a": 1}`, nil},
	} {
		var r argsReader
		if err := r.readValue(parse(t, test.wire)); err != nil {
			t.Errorf("%s: %v", test.wire, err)
		}
		var got []*stream.Diagnosis
		for _, n := range r.notes {
			got = append(got, n.of)
		}
		if string(r.text) != test.want || test.note == nil && got != nil || test.note != nil && !slices.Equal(got, []*stream.Diagnosis{test.note}) {
			t.Errorf("%s:\ngot  %s %v\nwant %s %v", test.wire, r.text, got, test.want, test.note)
		}
	}
}

// TestArguments checks how a STRUCT is read, and how a decoder that checks lengths first reads it.
func TestArguments(t *testing.T) {
	const pair = `["id",[null,null,"1"]],["status",[null,null,"pending"]]`
	const right = `{"todos":[{"id":"1","status":"pending"}]}`
	todos := func(list string) string { return `[[["todos",[null,null,null,null,null,` + list + `]]]]` }
	layers := func(n int) string { return strings.Repeat("[", n) + `["a",[null,1]]` + strings.Repeat("]", n) }
	wrapped := func(n int) string {
		return `[[["a",` + strings.Repeat("[", n) + `[null,1]` + strings.Repeat("]", n) + `]]]`
	}
	for _, test := range []struct{ wire, want, lengthFirst string }{
		{`[]`, `{}`, `{}`},
		{`[null]`, `{}`, `{}`},
		{`[[]]`, `{}`, `{}`},
		{`[[[]]]`, `{}`, `{}`},
		{layers(1), `{"a":1}`, `{"a":1}`},
		{layers(2), `{"a":1}`, `{"a":1}`},
		{layers(3), `{"a":1}`, `{}`},
		{layers(11), `{"a":1}`, `{}`},
		{layers(12), "", `{}`},
		{wrapped(10), `{"a":1}`, `{"a":null}`},
		{wrapped(11), "", `{"a":null}`},
		{todos(`[[` + pair + `]]`), right, `{"todos":[{"id":["1"],"status":["pending"]}]}`},
		{todos(`[[[` + pair + `]]]`), right, `{"todos":[{"id":["1"],"status":["pending"]}]}`},
		{todos(`[[[[` + pair + `]]]]`), right, `{"todos":[{}]}`},
		{todos(`[[[[[` + pair + `]]]]]`), right, `{"todos":[{}]}`},
		{todos(`[[[null,null,null,null,[[` + pair + `]]]]]`), right, right},
		{todos(`[[null,null,null,null,[` + pair + `]]]`), right, right},
		{`[[["b",[null,null,null,1]],["a",[0]],["n",[null,"5"]],["l",[null,null,null,null,null,[]]]]]`,
			`{"b":true,"a":null,"n":5,"l":[]}`, `{"b":true,"a":null,"n":5,"l":[]}`},
		{`[[["x",[[null,null,"wrapped"]]]]]`, `{"x":"wrapped"}`, `{"x":null}`},
		{`[[["x",[[null,1],[null,2]]]]]`, `{"x":[1,2]}`, `{"x":[2]}`},
		{`[[["a",[null,1]],["a",[null,2]]]]`, `{"a":1,"a":2}`, `{"a":1,"a":2}`},
		{`[1]`, "", `{}`},
		{`["a"]`, "", `{}`},
		{`[[["a",[null,1]]],1]`, "", `{"a":1}`},
		{`[[["a",[null,null,null,null,[1,2]]]]]`, "", `{"a":{}}`},
	} {
		v := parse(t, test.wire)
		var r argsReader
		err := r.read(v)
		if errors.Is(err, errBadStruct) != (test.want == "") || err == nil && string(r.text) != test.want {
			t.Errorf("%s:\ngot  %s %v\nwant %s", test.wire, r.text, err, test.want)
		}
		if got := lengthFirst(nil, v); string(got) != test.lengthFirst {
			t.Errorf("%s by length:\ngot  %s\nwant %s", test.wire, got, test.lengthFirst)
		}
	}
}

// TestShapes checks that the kind of a frame is found from its content, whether or not the framing removed its lists.
func TestShapes(t *testing.T) {
	const candidate = `[[[[null,"a"]],"model"],1]`
	for text, want := range map[string]frameShape{
		`[[` + candidate + `],null,[52]]`:    aChunk,
		`[null,[1],[52]]`:                    aChunk, // no candidates, but facts about the prompt and the usage
		`[[],null,[52]]`:                     aChunk,
		`[[[[null,"a"]]],1]`:                 aChunk, // its only candidate has a content without parts and with the role "a"
		candidate:                            aCandidate,
		`[null,3]`:                           aCandidate,
		`[5,"no"]`:                           anError,
		`[[[` + candidate + `]],[5,"no"]]`:   aList,
		`[null,[5,"no"]]`:                    aList,
		`[[]]`:                               nothing,
		`[null]`:                             nothing,
		`["new",null,[52]]`:                  anOther,
		`[[1],null,[52]]`:                    anOther,
		`[[[[null,"a"]],"model"],"not one"]`: anOther,
	} {
		if got := shapeOf(parse(t, text), maxNesting); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}

// TestClip checks that long arguments are quoted at the place where they differ.
func TestClip(t *testing.T) {
	long := strings.Repeat("é", 150)
	right, wrong := []byte(`{"a":"`+long+`","b":"1"}`), []byte(`{"a":"`+long+`","b":["1"]}`)
	from := diffOffset(wrong, right)
	for text, want := range map[string]string{
		clipFrom(wrong, from):                   "…" + strings.Repeat("é", 17) + `","b":["1"]}`,
		clipFrom(right, from):                   "…" + strings.Repeat("é", 17) + `","b":"1"}`,
		clipFrom(right, 0):                      `{"a":"` + strings.Repeat("é", 97) + "…",
		clipFrom([]byte("short"), 0):            "short",
		clipFrom(nil, 0):                        "",
		clipFrom([]byte("\x80\x80\x80\x80"), 3): "…\x80",
	} {
		if text != want {
			t.Errorf("got %q, want %q", text, want)
		}
	}
	if n := diffOffset([]byte("[1,2]"), []byte("[1,3]")); n != 0 {
		t.Errorf("differs from %d on", n)
	}
}

// TestParse checks that arrays with omitted nulls have the right number of elements, and that damaged arrays are
// errors.
func TestParse(t *testing.T) {
	for _, test := range []struct {
		text  string
		elems int // -1 for an error
	}{
		{`[]`, 0}, {`[1]`, 1}, {`[1,]`, 1}, {`[,]`, 1}, {`[,1]`, 2}, {`[1,,2]`, 3}, {`[,"x",,]`, 3}, {` [ , [7,"a,,b"] ] `, 2},
		{`null`, 0}, {`{"a":[1]}`, 0}, {`[{"a":",,"},,]`, 2},
		{``, -1}, {`[`, -1}, {`[1`, -1}, {`[1 2]`, -1}, {`[1]]`, -1}, {`[1}`, -1}, {`["a]`, -1}, {`[nul]`, -1}, {`{,}`, -1},
		{strings.Repeat("[1,", 9999) + "1" + strings.Repeat("]", 9999), 2},
		{strings.Repeat("[", 10001) + strings.Repeat("]", 10001), -1},
	} {
		var p parser
		v, err := p.parse([]byte(test.text))
		if test.elems < 0 != (err != nil) || err == nil && v.len() != test.elems {
			t.Errorf("%.40s: %d elements, error %v, want %d", test.text, v.len(), err, test.elems)
		}
		if err == nil && string(v.raw()) != strings.TrimSpace(test.text) {
			t.Errorf("%s: the bytes are %s", test.text, v.raw())
		}
	}
}
