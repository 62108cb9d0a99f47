package cli

import (
	"io"
	"testing"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
)

// TestPrintLooksOnce: with many turns open, a record that ends none of them has nothing allocated.
func TestPrintLooksOnce(t *testing.T) {
	in := new(providers.Inspector)
	q := newQueue(in, "a", &jsonPrinter{lines{io.Discard}, price.Embedded()})
	const open = 100
	for n := range int32(open) {
		in.Write(stream.Record{Exchange: int(n) + 1, Data: []byte("event: message_start\n")})
		in.Timeline.Append(stream.Event{Kind: stream.TurnOpen, Turn: n, What: &stream.Opening{Exchange: int(n) + 1}})
	}
	if err := q.print(false); err != nil || len(q.unprinted) != open {
		t.Fatalf("%d turns wait, %v", len(q.unprinted), err)
	}
	if n := testing.AllocsPerRun(100, func() { _ = q.print(false) }); n > 0 {
		t.Errorf("%v allocations, and nothing has ended", n)
	}
	in.Timeline.Append(stream.Event{Kind: stream.TurnClose, Turn: 7})
	if err := q.print(false); err != nil || len(q.unprinted) != open-1 {
		t.Errorf("one has ended, and %d of %d wait, %v", len(q.unprinted), open, err)
	}
}
