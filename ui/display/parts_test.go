package display

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
)

// longHostile is hostile text of several parts, with a different character at each boundary.
func longHostile(r *rand.Rand) string {
	var b strings.Builder
	for b.Len() < 5*partSize {
		b.WriteString(strings.Repeat("x", r.IntN(partSize/4)))
		for range 5 {
			b.WriteString(hostile[r.IntN(len(hostile))].in)
		}
	}
	return b.String()
}

// TestParts checks that the parts of a text add up to the text, and that no part is long.
func TestParts(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	join := func(what string, of func(yield func([]byte) bool)) (all []byte) {
		for part := range of {
			if all = append(all, part...); len(part) > 4*partSize {
				t.Errorf("%s: a part of %d bytes", what, len(part))
			}
		}
		return all
	}
	for range 20 {
		in := longHostile(r)
		clean := join("clean", func(yield func([]byte) bool) {
			for part := range CleanParts([]byte(in)) {
				if !yield([]byte(part.String())) {
					return
				}
			}
		})
		if string(clean) != Clean(in).String() {
			t.Error("CleanParts is not Clean")
		}
		if !bytes.Equal(join("json", JSONParts([]byte(in))), AppendJSON(nil, in)) {
			t.Error("JSONParts is not AppendJSON")
		}
		text, err := json.MarshalIndent(map[string]any{in: []any{1, in, true, strings.Split(in, "x")}}, " ", "\t")
		if err != nil {
			t.Fatal(err)
		}
		var compact bytes.Buffer
		if err := json.Compact(&compact, text); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(join("compact", CompactParts(text)), AppendJSONText(nil, compact.Bytes())) {
			t.Error("CompactParts is not AppendJSONText of the compact text")
		}
	}
}

// TestPartsEnd checks that iteration can stop early, and that an empty string works.
func TestPartsEnd(t *testing.T) {
	in := []byte(`["` + strings.Repeat("ab\u202e", 2*partSize) + `"]`)
	n := 0
	for range CleanParts(in) {
		n++
		break
	}
	for range JSONParts(in) {
		n++
		break
	}
	for range CompactParts(in) {
		n++
		break
	}
	if n != 3 {
		t.Errorf("%d parts", n)
	}
	for part := range JSONParts(nil) {
		if string(part) != `""` {
			t.Errorf("nothing is %s", part)
		}
	}
	for range CleanParts(nil) {
		t.Error("nothing has a part")
	}
}
