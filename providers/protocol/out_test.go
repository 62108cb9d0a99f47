package protocol

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/stream"
)

// TestNestedOuts checks that turns in several nested Outs have consecutive numbers, and that a turn that is open
// in a nested Out is also open in the outer one.
func TestNestedOuts(t *testing.T) {
	var said []string
	o := NewOut(func(e stream.Event) { said = append(said, e.String()) })
	lane := func(name string) *Out {
		return o.Nested(func(e stream.Event) stream.Event {
			if e.Kind == stream.TurnOpen {
				e.What = &stream.Opening{Parent: name}
			}
			return e
		})
	}
	a, b := lane("a"), lane("b")
	var states []string
	state := func() {
		states = append(states, fmt.Sprint(o.Current().Number(), a.Current().Number(), b.Current().Number(), o.Last().Number()))
	}
	state()
	first := a.Open(stream.Opening{})
	state()
	second := b.Open(stream.Opening{})
	state()
	a.Heartbeat()
	first.End()
	state()
	second.Cut("cut")
	state()
	o.Open(stream.Opening{})
	a.Find(IDMissing, "of a")
	o.Find(IDMissing, "of all")
	state()
	if got, want := strings.Join(states, ", "), "-1 -1 -1 -1, 0 0 -1 0, 1 0 1 1, 1 -1 1 1, -1 -1 -1 1, 2 -1 -1 2"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	want := []string{
		`turn open turn=0 parent="a"`, `turn open turn=1 parent="b"`, `heartbeat turn=0`, `turn close turn=0`,
		`turn close turn=1 code=1 "cut"`, `turn open turn=2`,
		`finding turn=0 slot=-1 ID_MISSING (warn)`, `finding turn=2 slot=-1 ID_MISSING (warn)`,
	}
	if got, want := strings.Join(said, "\n"), strings.Join(want, "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
