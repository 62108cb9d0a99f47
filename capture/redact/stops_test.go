package redact

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestStops checks that a search which skips places finds the same secrets as one that checks every place. The texts
// are made of secrets, their beginnings, contexts and names.
func TestStops(t *testing.T) {
	pieces := []string{" ", "\\n", "\\\"", "%41", "% ", "\\", "\\u0073", "\"", "a", "K", "m", "\n", "\t", "=", ": ", "the ", "name", sample("{x32}"), sample("{40}")}
	for _, rule := range slices.Concat(shapes, contexts) {
		pieces = append(pieces, sample(rule.hit), rule.after+sample("{20}"))
	}
	for _, name := range secretNames {
		for _, sign := range []string{"=", ": ", "\":\"", " | ", ",", " is ", "\t", "</"} {
			pieces = append(pieces, name.end+sign+sample("{24}"))
		}
	}
	r, every := redactor(), redactor()
	known := "%p" + sample("{20}")
	for _, one := range []*Redactor{r, every} {
		one.Learn(known, "password")
	}
	own := *every.scan
	for i := range own.stops {
		own.stops[i] = 1<<8 - 1
	}
	every.scan = &own
	pieces = append(pieces, known, known[:6])
	random := rand.New(rand.NewPCG(1, 2))
	found := 0
	for range 20000 {
		text := ""
		for range 1 + random.IntN(4) {
			piece := pieces[random.IntN(len(pieces))]
			if random.IntN(3) == 0 {
				piece = piece[:1+random.IntN(len(piece))]
			}
			text += piece
		}
		if random.IntN(2) == 0 {
			text = fmt.Sprintf(`{"text":"%s"}`, text)
		}
		got, want := r.Text(text), every.Text(text)
		if got != want {
			t.Fatalf("%q becomes %q; want %q", text, got, want)
		}
		if got != text {
			found++
		}
	}
	if found < 10000 {
		t.Errorf("only %d texts had secrets", found)
	}
}
