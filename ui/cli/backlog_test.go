package cli

import (
	"fmt"
	"testing"

	"toolscope/capture"
)

// TestBacklog: what has no room is left out, told of, and never waited for; heads
// and ends are there in any case.
func TestBacklog(t *testing.T) {
	b := newBacklog(2000)
	chunk := func(exchange, n int) capture.Record {
		return capture.Record{Exchange: exchange, Data: make([]byte, n)}
	}
	b.put(chunk(1, 1000))
	b.put(chunk(1, 800))
	b.put(capture.Record{Exchange: 2, Head: &capture.Head{Method: "POST"}, Data: make([]byte, 900)})
	b.put(capture.Record{Exchange: 1, Data: make([]byte, 700), End: capture.EndEOF})
	got := ""
	write := func(r capture.Record) {
		got += fmt.Sprintf("%d:%d%s %s, ", r.Exchange, len(r.Data), r.End, r.Note)
	}
	for _, r := range b.take() {
		write(r)
	}
	b.put(chunk(2, 300))
	b.end()
	b.put(chunk(2, 300))
	for r := range b.source {
		write(r)
	}
	if want := "1:1000 , 2:0 , 1:0eof , 2:0 gap: 2400 bytes are not shown: what is printed was not read, 2:300 , "; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
