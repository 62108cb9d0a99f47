package stream

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestOrigins checks that storing doesn't change wire forms. They may share bytes with the text of their event or
// with the previous form, and any number of events may have none.
func TestOrigins(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	texts := []string{"", `"`, `a\u003db`, "func main() {", "漢字", strings.Repeat("long ", 300)}
	var tl Timeline
	var events []Event
	for turn := range int32(3) {
		events = append(events, inTurn(turn, opened(0, "id", "f")))
	}
	for i := range 3 * blockEvents {
		e := inTurn(rng.Int32N(3), args(0, texts[rng.IntN(len(texts))]))
		path := fmt.Sprintf("$.a[%d]", i/100)
		switch rng.IntN(6) {
		case 0:
		case 1:
			e.What = &WireForm{path + " " + texts[rng.IntN(len(texts))]}
		case 2:
			e.What = &WireForm{"…" + e.Text[len(e.Text)/2:] + path}
		default:
			e.What = &WireForm{path + ` "` + e.Text + `"…`}
		}
		events = append(events, e)
	}
	tl.Append(events...)
	for i, e := range events {
		if got, _ := tl.Event(i); !sameEvent(got, e) {
			t.Fatalf("event %d is %v, not %v", i, got, e)
		}
	}
	if e := tl.EventPrefix(len(events)-1, 1000); !sameEvent(e, events[len(events)-1]) {
		t.Errorf("the last event begins %v", e)
	}
	tl.Drop(1)
	for i, e := range events {
		if got, kept := tl.Event(i); kept && !sameEvent(got, e) || kept == (e.Turn == 1) {
			t.Fatalf("when another turn was dropped event %d is %v, not %v", i, got, e)
		}
	}
}

// TestOriginsAreSmall checks that wire forms that differ little take at most six bytes each.
func TestOriginsAreSmall(t *testing.T) {
	var tl Timeline
	tl.Append(opened(0, "id", "f"))
	for i := range 4 * blockEvents {
		text := fmt.Sprintf("%d bottles", i)
		if i%8 == 0 {
			text += ` \u003d ` // the wire may spell the text in another way
		}
		e := args(0, strings.ReplaceAll(text, `\u003d`, "="))
		e.What = &WireForm{`$.content "` + text + `"…`}
		tl.Append(e)
	}
	size, forms := 0, 0
	for _, b := range tl.blocks[:4] {
		size, forms = size+cap(b.forms.packed), forms+b.events.n
		if len(b.payloads) > 1 {
			t.Errorf("%d events have something beside them", len(b.payloads))
		}
	}
	if each := float64(size) / float64(forms); each > 6 {
		t.Errorf("%.1f bytes a form", each)
	}
}
