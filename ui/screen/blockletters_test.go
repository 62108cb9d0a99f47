package screen

import (
	"strings"
	"testing"

	"toolscope/stream"
)

// TestBlockFace checks that the font has every letter that is used in a verdict, that strokes are two pixels
// wide, and that the sizes are correct.
func TestBlockFace(t *testing.T) {
	if n := len(blockFace); n != 47 {
		t.Errorf("%d letters", n)
	}
	for letter, size := range map[string]int{"I": 2, "J": 6, "M": 8, "W": 8, "N": 7, "A": 6, "MALFORMED": 74} {
		if w := BlockWidth(letter, 1); w != size {
			t.Errorf("%s is %d cells wide, not %d", letter, w, size)
		}
		if w := BlockWidth(letter, 3); w != 3*size {
			t.Errorf("%s is %d cells wide at scale 3, not %d", letter, w, 3*size)
		}
	}
	for st := range stream.Status(stream.NumStatus) {
		for _, r := range strings.ToUpper(st.String()) {
			if blockWidth(r) == 0 {
				t.Errorf("%s: the face has no %q", st, r)
			}
		}
	}
	if BlockWidth("é", 1) != 0 || BlockRows(1) != 5 || BlockRows(3) != 15 {
		t.Error("sizes")
	}
}
