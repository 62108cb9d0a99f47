package ui

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/stream"
)

// shelf is a source that can be read again.
type shelf struct{ records []stream.Record }

func (s *shelf) Again(exchange int, start, end int64, to func(stream.Record)) error {
	for _, r := range s.records[start:end] {
		if r.Exchange == exchange {
			to(r)
		}
	}
	return nil
}

// bigAnswer returns a response with one call of about the given size.
func bigAnswer(n, size int) []byte {
	text := strings.Repeat("x", size)
	return fmt.Appendf(nil, `{"id":"r%d","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","tool_calls":[{"id":"call_%d","type":"function","function":{"name":"f","arguments":"{\"n\":\"%s%d\"}"}}]}}]}`, n, n, text, n)
}

// TestKeep checks that if the content exceeds --memory, only a row of each of the oldest turns is kept, and a notice
// says so. Turns that can be reloaded are reloaded when the user looks at them.
func TestKeep(t *testing.T) {
	drawsAlone(t)
	const turns = 60
	size := 1 << 20
	if thin() > 1 {
		size = 1 << 18
	}
	for _, again := range []bool{false, true} {
		s := newScreen(t, 140, 30, func(o *Options) { o.Keep = int64(20 * size) })
		from := new(shelf)
		for n := 1; n <= turns; n++ {
			r := stream.Record{Exchange: n, Data: bigAnswer(n, size), End: true}
			if again {
				at := int64(len(from.records))
				r.Location = stream.Location{Source: from, Start: at, End: at + 1}
				from.records = append(from.records, r)
			}
			s.feed(r)
		}
		kept := s.in.Session().Turn(0).Retention
		screen := s.text()
		switch {
		case again && (kept != stream.Evicted || strings.Contains(screen, "dropped")):
			t.Fatalf("the first turn is %v:\n%s", kept, screen)
		case !again && (kept != stream.Dropped || !strings.Contains(screen, "dropped (--memory")):
			t.Fatalf("the first turn is %v:\n%s", kept, screen)
		}
		if !strings.Contains(screen, "60 turns") {
			t.Errorf("not all turns are counted:\n%s", screen)
		}
		s.press("g").finish()
		if again && s.in.Session().Turn(0).Retention != stream.InMemory {
			t.Error("the turn is looked at, and not read again")
		}
		if again && (s.selectedCall() == nil || !strings.HasSuffix(string(s.selectedCall().Args()), `x1"}`) || s.in.Session().Turn(0).Retention != stream.InMemory) {
			t.Errorf("the call of the first turn is not there:\n%s", s.text())
		}
		s.press("/xx<enter>")
		if got := s.text(); !strings.Contains(got, "not searched") {
			t.Errorf("what was not searched is not said:\n%s", got)
		}
	}
}
