package providers

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"toolscope/stream"
)

// answer returns a response of several hundred bytes, with a text and a call.
func answer(n int) string {
	events := []string{
		fmt.Sprintf(`{"type":"message_start","message":{"id":"msg_%d","model":"m","usage":{"input_tokens":3}}}`, n),
		`{"type":"content_block_start","index":0,"content_block":{"type":"text"}}`,
		fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I look at %d"}}`, n),
		`{"type":"content_block_stop","index":0}`,
		fmt.Sprintf(`{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_%d","name":"f","input":{}}}`, n),
		`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"n\":"}}`,
		fmt.Sprintf(`{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"%d}"}}`, n),
		`{"type":"content_block_stop","index":1}`,
		`{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`, `{"type":"message_stop"}`,
	}
	var s strings.Builder
	for _, e := range events {
		kind, _, _ := strings.Cut(e[len(`{"type":"`):], `"`)
		fmt.Fprintf(&s, "event: %s\ndata: %s\n\n", kind, e)
	}
	return s.String()
}

// day writes n exchanges, two at a time. It writes them from a tape if there is one.
func day(in *Inspector, from *tape, first, n int) {
	write := func(r stream.Record) {
		if from != nil {
			r = from.add(r)
		}
		in.Write(r)
	}
	for x := first; x < first+n; x += 2 {
		a, b := answer(x), answer(x+1)
		write(stream.Record{Exchange: x, Request: true, Data: []byte(`{"messages":[{"role":"user","content":"go"}]}`)})
		write(stream.Record{Exchange: x, Data: []byte(a[:300])})
		write(stream.Record{Exchange: x + 1, Data: []byte(b[:200])})
		write(stream.Record{Exchange: x, Data: []byte(a[300:]), End: true})
		write(stream.Record{Exchange: x + 1, Data: []byte(b[200:]), End: true})
		in.MakeRoom()
	}
}

// TestKeepDrops checks that exchanges that can't be read again are dropped above the limit, beginning with the
// oldest. The rows of turns stay, up to their maximum number, and pinned exchanges stay complete.
func TestKeepDrops(t *testing.T) {
	in := new(Inspector)
	in.Keep(Retention{Bytes: 100 << 10, Rows: 50})
	in.Pin(150)
	day(in, nil, 1, 400)
	s := in.Session()
	whole, rows := 0, 0
	for _, turn := range s.Turns {
		switch turn.Retention {
		case stream.InMemory:
			whole++
			if string(turn.Calls[0].Args()) != fmt.Sprintf(`{"n":%d}`, turn.Exchange) {
				t.Errorf("turn %d has %s", turn.Number, turn.Calls[0].Args())
			}
		case stream.Dropped:
			rows++
			if turn.ID != fmt.Sprintf("msg_%d", turn.Exchange) || turn.DroppedCounts()[stream.Complete] != 1 || turn.Usage.Input.N != 3 || turn.Phase() != stream.TurnComplete {
				t.Errorf("row %+v", turn)
			}
		}
	}
	if whole < 10 || whole > 60 || in.Dropped() != 400-whole || s.Turn(149).Retention != stream.InMemory || s.Turns[len(s.Turns)-1].Retention != stream.InMemory {
		t.Errorf("%d turns are whole, %d rows, %d dropped", whole, rows, in.Dropped())
	}
	in.Unpin(150)
	if in.MakeRoom(); in.Session().TrimmedTurns() != 149 {
		t.Errorf("%d rows are gone: those before the pinned turn", in.Session().TrimmedTurns())
	}
	day(in, nil, 401, 400)
	if s := in.Session(); len(s.Turns) != 50 || s.TrimmedTurns() != 750 || len(in.Exchanges()) != 50 || in.Exchange(1) != nil || s.Counts[stream.Complete] != 800 {
		t.Errorf("%d turns, %d gone, %d exchanges, %v", len(s.Turns), s.TrimmedTurns(), len(in.Exchanges()), s.Counts)
	}
	if err := in.Reread(800, nil); err == nil {
		t.Error("what is not there is read again")
	}
	in.Close()
}

// TestKeepPinned checks that each pinned exchange is looked at only once, however often room is made. Each
// must be dropped when its last pin is removed.
func TestKeepPinned(t *testing.T) {
	const pinned = 50
	in := new(Inspector)
	in.Keep(Retention{Bytes: 1})
	for n := range pinned {
		in.Pin(n + 1)
		in.Pin(n + 1)
	}
	looks := 0 // an upper limit: each pass checks only the units in the queue
	for n := range 40 * pinned {
		looks += len(in.kept.once.lots)
		day(in, nil, 2*n+1, 2)
	}
	if most := 40 * pinned * 2; looks > most || in.Dropped() != most-pinned {
		t.Errorf("%d looks at %d exchanges, %d turns dropped", looks, most, in.Dropped())
	}
	for n := range pinned {
		in.Unpin(n + 1)
		in.MakeRoom()
	}
	for n := range pinned {
		if in.Exchange(n+1).Response.Size() == 0 {
			t.Fatalf("exchange %d is pinned, and dropped", n+1)
		}
		before := in.Dropped()
		in.Unpin(n + 1)
		if in.MakeRoom(); in.Dropped() != before+1 || in.Exchange(n+1).Response.Size() != 0 {
			t.Errorf("exchange %d is not pinned any more, and whole", n+1)
		}
	}
	if k := &in.kept; len(k.pins) > 0 || k.once.bytes != 0 || len(k.once.lots) > 0 {
		t.Errorf("%d are pinned, %d bytes held by %d", len(k.pins), k.once.bytes, len(k.once.lots))
	}
}

// TestKeepEvicts checks that exchanges that can be read again are evicted, and are unchanged after they are
// reloaded.
func TestKeepEvicts(t *testing.T) {
	var whole, in Inspector
	from := new(tape)
	day(&whole, nil, 1, 100)
	in.Keep(Retention{Rereadable: 30 << 10})
	day(&in, from, 1, 100)
	whole.Close()
	in.Close()
	x, turn := in.Exchange(7), in.Session().Turn(6)
	if !x.Evicted || turn.Retention != stream.Evicted || x.Response.Size() != 0 || turn.Calls[0].Args() != nil || turn.Calls[0].Status() != stream.Complete || in.Dropped() != 0 {
		t.Fatalf("cold %v, turn %v", x.Evicted, turn.Retention)
	}
	for n := range whole.Session().Turns { // one exchange after another, because each reload evicts earlier ones
		number := whole.Session().Turns[n].Exchange
		if read := in.Reload(int32(n)); read != nil {
			if err := read()(); err != nil {
				t.Fatal(err)
			}
		}
		x, want := in.Exchange(number), whole.Exchange(number)
		if x.Evicted || string(x.Response.Bytes(0, x.Response.Size())) != string(want.Response.Bytes(0, want.Response.Size())) || x.Response.Frames() != want.Response.Frames() {
			t.Errorf("exchange %d is not what it was", number)
		}
		in.MakeRoom()
	}
	in.Keep(Retention{})
	for n := range in.Session().Turns {
		if read := in.Reload(int32(n)); read != nil {
			put := read()
			if err := errors.Join(put(), put()); err != nil { // the second put comes too late
				t.Fatal(err)
			}
		}
	}
	if got, want := dump(&in), dump(&whole); got != want {
		t.Errorf("had again:\n%s\nit was:\n%s", got, want)
	}
	if in.Reload(0) != nil || in.Reload(1000) != nil {
		t.Error("what is not cold is had again")
	}
}

// TestKeepChanged checks that a changed source is reported, and that none of its new content is shown.
func TestKeepChanged(t *testing.T) {
	for name, change := range map[string]func(*tape){
		"gone":  func(s *tape) { s.gone = errors.New("it is gone") },
		"empty": func(s *tape) { s.records = make([]stream.Record, len(s.records)) },
		"byte": func(s *tape) {
			for i, r := range s.records {
				s.records[i].Data = []byte(strings.ReplaceAll(string(r.Data), "I look", "I took"))
			}
		},
		"cut": func(s *tape) {
			for i, r := range s.records {
				s.records[i].Data = r.Data[:len(r.Data)*9/10]
			}
		},
	} {
		var in Inspector
		from := new(tape)
		in.Keep(Retention{Rereadable: 30 << 10})
		day(&in, from, 1, 50)
		change(from)
		err := in.Reload(0)()()
		turn := in.Session().Turn(0)
		if err == nil || turn.Retention != stream.Dropped || len(turn.Findings) != 1 || turn.Findings[0].Diagnosis != sourceChanged || in.Exchange(1).Response.Size() != 0 {
			t.Errorf("%s: %v, %v, %v", name, err, turn.Retention, turn.Findings)
		}
		in.Close()
	}
}
