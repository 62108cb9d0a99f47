package aistudio

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// randomText returns the text of a random JSON value without spaces. The values include every kind, empty values,
// nested lists of one element, and unusual spellings.
func randomText(r *rand.Rand, depth int) string {
	pick := func(texts ...string) string { return texts[r.IntN(len(texts))] }
	kind := r.IntN(6)
	if depth == 0 {
		kind = r.IntN(3)
	}
	switch kind {
	case 0:
		return pick("null", "true", "false")
	case 1:
		return pick("0", "-0", "1", "42", "1.0", "1e3", "-1.50E+3", "9007199254740993", "1e400", "0.1")
	case 2:
		return randomString(r)
	case 3:
		return "[" + randomText(r, depth-1) + "]"
	case 4:
		items := make([]string, r.IntN(4))
		for i := range items {
			items[i] = randomText(r, depth-1)
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	return randomObjectText(r, depth-1)
}

func randomObjectText(r *rand.Rand, depth int) string {
	members := make([]string, r.IntN(4))
	for i := range members {
		members[i] = randomString(r) + ":" + randomText(r, depth)
	}
	return "{" + strings.Join(members, ",") + "}"
}

func randomString(r *rand.Rand) string {
	texts := []string{`""`, `"a"`, `"\u00e9\/\n"`, `"é😀"`, `"\ud83d\ude00"`, `"\ud800"`, `"]],\"model\"]"`, `"[null,1]"`, `"1"`, `"NaN"`, `"\\"`}
	return texts[r.IntN(len(texts))]
}

// checkIdentity checks that the STRUCT of an object is read back as the same bytes, without any oddity.
func checkIdentity(t *testing.T, object string) {
	t.Helper()
	wire, ok := appendStruct(nil, []byte(object))
	if !ok || !json.Valid(wire) {
		t.Fatalf("%s: %s, %v", object, wire, ok)
	}
	v := parse(t, string(wire))
	var r argsReader
	if err := r.read(v); err != nil || string(r.text) != object {
		t.Errorf("%s\nbecame %s\nand then %s %v", object, wire, r.text, err)
	}
	for _, n := range r.notes {
		if n.of != numAsFloat {
			t.Errorf("%s: %s: %s", object, wire, n.of.Code)
		}
	}
	if got := lengthFirst(nil, v); string(got) != object {
		t.Errorf("%s: %s\nby length: %s", object, wire, got)
	}
}

func TestStruct(t *testing.T) {
	for _, test := range []struct{ object, want string }{
		{`{}`, `[]`},
		{`{"a":1}`, `[[["a",[null,1]]]]`},
		{`{"a":null,"b":true,"c":false,"d":"x"}`, `[[["a",[0]],["b",[null,null,null,1]],["c",[null,null,null,0]],["d",[null,null,"x"]]]]`},
		{`{"a":{},"b":[]}`, `[[["a",[null,null,null,null,[]]],["b",[null,null,null,null,null,[]]]]]`},
		{`{"a":{"b":1}}`, `[[["a",[null,null,null,null,[[["b",[null,1]]]]]]]]`},
		{`{"a":["x",[]]}`, `[[["a",[null,null,null,null,null,[[[null,null,"x"],[null,null,null,null,null,[]]]]]]]]`},
		{` { "a" : [ 1 ] } `, `[[["a",[null,null,null,null,null,[[[null,1]]]]]]]`},
		{`{"a":1,"a":2}`, `[[["a",[null,1]],["a",[null,2]]]]`},
		{`{"é\u00e9\"":"\/"}`, `[[["é\u00e9\"",[null,null,"\/"]]]]`},
	} {
		if got, ok := appendStruct(nil, []byte(test.object)); !ok || string(got) != test.want {
			t.Errorf("%s:\ngot  %s %v\nwant %s", test.object, got, ok, test.want)
		}
	}
	for _, text := range []string{``, ` `, `[]`, `1`, `"{}"`, `{"a":`, `{"a":1}{}`, `{"a":1} x`, `{a:1}`} {
		if got, ok := appendStruct(nil, []byte(text)); ok || len(got) > 0 {
			t.Errorf("%q: %s", text, got)
		}
	}
}

func TestStructIdentity(t *testing.T) {
	for _, object := range []string{
		`{}`, `{"":{}}`, `{"a":[]}`, `{"a":[[]]}`, `{"a":[[[]]]}`, `{"a":[{}]}`, `{"a":[[{}]]}`, `{"a":[null]}`, `{"a":[[null]]}`, `{"a":["x"]}`, `{"a":[["x"]]}`,
		`{"a":[["x",1]]}`, `{"a":[[["x",1],["y",2]]]}`, `{"a":[{"k":[null,null]}]}`, `{"a":[0]}`, `{"a":[[0,0],[0]]}`, `{"a":[null,null,null,null,[]]}`,
		`{"a":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`, strings.Repeat(`{"a":`, 500) + `1` + strings.Repeat(`}`, 500),
	} {
		checkIdentity(t, object)
	}
	for seed := range uint64(5000) {
		checkIdentity(t, randomObjectText(rand.New(rand.NewPCG(seed, 2)), 6))
	}
}

// FuzzStruct checks that any object is unchanged after it is written and read.
func FuzzStruct(f *testing.F) {
	f.Add([]byte(`{"a":[[{"b":null}],"\u00e9",-1.0e5]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, ok := appendStruct(nil, text)
		var compact bytes.Buffer
		if json.Compact(&compact, text) != nil || !isObject(compact.Bytes()) {
			if ok && json.Valid(text) {
				t.Errorf("%s is no object", text)
			}
			return
		}
		if bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) < 1000 { // the written form is nested more deeply than the text
			checkIdentity(t, compact.String())
		}
	})
}
