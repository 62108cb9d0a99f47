package aistudio

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// canonical returns the VALUE that protobuf writes for x, either with or without the nulls.
func canonical(x any, elide bool) string {
	null := "null"
	if elide {
		null = ""
	}
	field := func(number int, text string) string { return "[" + strings.Repeat(null+",", number-1) + text + "]" }
	switch x := x.(type) {
	case nil:
		return "[0]"
	case bool:
		return field(4, map[bool]string{true: "1", false: "false"}[x])
	case string:
		return field(3, quote(x))
	case []any:
		var items []string
		for _, e := range x {
			items = append(items, canonical(e, elide))
		}
		return field(6, "[["+strings.Join(items, ",")+"]]")
	case map[string]any:
		return field(5, canonicalStruct(x, elide))
	}
	return field(2, fmt.Sprint(x))
}

func canonicalStruct(x map[string]any, elide bool) string {
	var members []string
	for k, v := range x {
		members = append(members, "["+quote(k)+","+canonical(v, elide)+"]")
	}
	return "[[" + strings.Join(members, ",") + "]]"
}

func quote(s string) string {
	q, _ := json.Marshal(s)
	return string(q)
}

// randomValue returns a random JSON value. Numbers are json.Number, so that comparisons are exact.
func randomValue(r *rand.Rand, depth int) any {
	texts := []string{"", "a", "[", `"]],"model"]`, "\x1b\u202e", "null,,", "é\U0001f600"}
	kind := r.IntN(7)
	if depth == 0 {
		kind = r.IntN(5)
	}
	switch kind {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return json.Number(fmt.Sprint(r.Int64N(1<<54) - 1<<53))
	case 3:
		return json.Number(fmt.Sprintf("%g", r.NormFloat64()*1e20))
	case 4:
		return texts[r.IntN(len(texts))]
	case 5:
		list := make([]any, r.IntN(4))
		for i := range list {
			list[i] = randomValue(r, depth-1)
		}
		return list
	}
	return randomObject(r, depth-1)
}

func randomObject(r *rand.Rand, depth int) map[string]any {
	object := map[string]any{}
	for range r.IntN(4) {
		object[fmt.Sprint("k", r.IntN(100))] = randomValue(r, depth)
	}
	return object
}

// checkRoundTrip checks that a value is read correctly from the form that protobuf writes. A decoder that checks
// lengths first must read the same value.
func checkRoundTrip(t *testing.T, seed uint64) {
	want := randomObject(rand.New(rand.NewPCG(seed, 1)), 5)
	for _, elide := range []bool{false, true} {
		wire := canonicalStruct(want, elide)
		v := parse(t, wire)
		var r argsReader
		err := r.read(v)
		for _, text := range [][]byte{r.text, lengthFirst(nil, v)} {
			var got any
			d := json.NewDecoder(bytes.NewReader(text))
			d.UseNumber()
			if jsonErr := d.Decode(&got); err != nil || jsonErr != nil || quoteAll(got) != quoteAll(want) {
				t.Fatalf("%s:\ngot  %s %v %v\nwant %s", wire, text, err, jsonErr, quoteAll(want))
			}
		}
		for _, n := range r.notes {
			t.Errorf("%s: %s", wire, n.of.Code)
		}
	}
}

func quoteAll(x any) string {
	q, _ := json.Marshal(x) // with sorted keys
	return string(q)
}

func TestRoundTrip(t *testing.T) {
	for seed := range uint64(3000) {
		checkRoundTrip(t, seed)
	}
}

// FuzzArguments checks that reading any array ends with one JSON object or an error. Reading by length must always
// result in an object.
func FuzzArguments(f *testing.F) {
	for _, seed := range []string{
		`[[["a",[null,1]]]]`, `[,[7,"no"]]`, `[[["l",[,,,,,[[[,,"x"]]]]]]]`, `[[["l",[,,,,,[[[["k",[,1]]]]]]]]]`,
		`[[["a",[1,2,3,4,5,6,7]]]]`, `{"a":1}`, `[[["a",[[null,1],[null,2]]]]]`,
	} {
		f.Add([]byte(seed), uint64(1))
	}
	f.Fuzz(func(t *testing.T, wire []byte, seed uint64) {
		checkRoundTrip(t, seed)
		var p parser
		v, err := p.parse(wire)
		if err != nil || !v.isArray() {
			return
		}
		shapeOf(v, maxNesting)
		var r argsReader
		if err := r.read(v); err == nil && !isObject(r.text) {
			t.Errorf("%s: %s", wire, r.text)
		}
		if got := lengthFirst(nil, v); !isObject(got) {
			t.Errorf("%s by length: %s", wire, got)
		}
		for _, n := range r.notes {
			if n.offset > len(r.text) || remarks[n.of] == "" {
				t.Errorf("%s: note %+v", wire, n)
			}
		}
		if schema := appendSchema(nil, v); !isObject(schema) {
			t.Errorf("%s as a schema: %s", wire, schema)
		}
		readTools(wire)
	})
}

func isObject(text []byte) bool { return json.Valid(text) && text[0] == '{' }
