package json

import "testing"

// TestFieldIndex checks that an index finds the same values as Get, wherever the text ends, and that it knows whether
// the text is complete.
func TestFieldIndex(t *testing.T) {
	texts := []string{
		`{"a":1,"b":{"a":2},"\u0061b":"x","a":[3, {}],"c":null}`, ` { "b" : "y" , "c" : true } `,
		`{"a":1,"a":{"b":}`, `{}`, `[{"a":1}]`, `"a"`, `{"a":1}{"b":2}`, ``,
	}
	for _, text := range texts {
		for end := range len(text) + 1 {
			data := []byte(text[:end])
			index := IndexFields(data)
			for _, name := range []string{"a", "b", "ab", "c", ""} {
				if got, want := index.Get(name), Value(data).Get(name); string(got) != string(want) || (got == nil) != (want == nil) {
					t.Errorf("%s: field %q is %q in the index, and %q in the text", data, name, got, want)
				}
			}
			if got, want := index.Err() == nil, Read(data) == nil; got != want {
				t.Errorf("%s: complete is %v, want %v", data, got, want)
			}
		}
	}
}
