package serve

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzScript: however a body is cut into chunks, its script has all of its bytes, in order; and no
// fault panics.
func FuzzScript(f *testing.F) {
	for _, body := range []string{chatStream, messages, ollama, awsPair, `[{"text":"a"}]`, "", "\r", "data", "{}\n{\n"} {
		f.Add([]byte(body), uint8(3), "merge-index")
		f.Add([]byte(body), uint8(200), "cut-inside@2 repeat")
		f.Add([]byte(body), uint8(7), "empty-args no-terminator bad-utf8")
	}
	f.Fuzz(func(t *testing.T, body []byte, size uint8, words string) {
		var x Exchange
		for chunk := range slices.Chunk(body, int(size)+1) {
			x.Chunks = append(x.Chunks, Chunk{Data: bytes.Clone(chunk)})
		}
		s := newScript(&x)
		var events, written []byte
		for _, e := range s.events {
			events = append(events, e.data()...)
		}
		writes := s.writes()
		for _, w := range writes {
			written = append(written, w.data...)
		}
		if !bytes.Equal(events, body) || !bytes.Equal(written, body) || len(writes) != len(x.Chunks) {
			t.Fatalf("%q became %q in %d writes of %d chunks", body, written, len(writes), len(x.Chunks))
		}
		bending, err := ParseFaults(strings.Fields(words)...)
		if err != nil {
			return
		}
		for _, fault := range bending {
			if fault.kind.bend != nil {
				fault.kind.bend(s, fault)
			}
		}
		s.writes()
		if !bytes.Equal(x.Body(), body) {
			t.Fatal("the recording changed")
		}
	})
}

// FuzzRewrite: values are found where encoding/json finds them, and what is not replaced keeps its
// bytes.
func FuzzRewrite(f *testing.F) {
	for _, text := range []string{`{"a":[1,{"b":"\"]}"}],"c":null}`, ` [ -1.5e3 , [] , {} ] `, `{"\u0061\\":{"":true}}`, `"x"`, `{"a":1,"a":2}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if same, changed := rewriteText(text, func(_ []string, value, _ []byte) []byte { return nil }); changed || !bytes.Equal(same, text) {
			t.Fatalf("%q became %q", text, same)
		}
		same, _ := rewriteText(text, func(_ []string, value, _ []byte) []byte {
			if !json.Valid(value) || len(bytes.TrimSpace(value)) != len(value) {
				t.Fatalf("%q has no value %q", text, value)
			}
			return nil
		})
		if nulls, changed := rewriteText(text, func(_ []string, _, _ []byte) []byte { return []byte("null") }); changed {
			var was, is any
			if json.Unmarshal(text, &was) == nil && (json.Unmarshal(nulls, &is) != nil || !hollow(was, is)) {
				t.Fatalf("%q became %q", text, nulls)
			}
		}
		if utf8.Valid(text) != utf8.Valid(same) {
			t.Fatal("bytes changed")
		}
	})
}

// hollow reports whether is has the members of was, all null.
func hollow(was, is any) bool {
	switch was := was.(type) {
	case map[string]any:
		is, ok := is.(map[string]any)
		for key := range was {
			ok = ok && is[key] == nil
		}
		return ok && len(is) == len(was)
	case []any:
		is, ok := is.([]any)
		return ok && len(is) == len(was) && !slices.ContainsFunc(is, func(v any) bool { return v != nil })
	}
	return false
}
