package providers

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// data returns a frame of an event stream that contains text.
func data(text string) []byte { return []byte("data: " + text + "\n\n") }

// TestExchanges checks that alternating exchanges are followed separately, each with its request, and on one
// timeline.
func TestExchanges(t *testing.T) {
	in := new(Inspector)
	url := "https://api.example.com/v1/messages?beta=true"
	in.Write(stream.Record{Exchange: 7, Request: true, Data: []byte(`{"stream":`), Head: &stream.Head{Method: "POST", URL: url}})
	in.Write(stream.Record{Exchange: 3, At: time.Second, Data: data(chatText)})
	in.Write(stream.Record{Exchange: 7, Request: true, Data: []byte(`true}`), Head: &stream.Head{File: "a.jsonl"}})
	in.Write(stream.Record{Exchange: 7, At: 2 * time.Second, Head: headOf("text/event-stream"), Data: data(`{"type":"message_start","message":{"id":"msg_1"}}`)})
	in.Write(stream.Record{Exchange: 3, At: 3 * time.Second, Data: data("[DONE]"), End: true})
	if in.Exchange(7).Ended || !in.Exchange(3).Ended {
		t.Error("only exchange 3 has ended")
	}
	in.Close()

	if got := in.Exchanges(); len(got) != 2 || got[0].Number != 7 || got[1].Number != 3 {
		t.Fatalf("exchanges %v", got)
	}
	x := in.Exchange(7)
	if got := string(x.Request.Bytes(0, x.Request.Size())); got != `{"stream":true}` {
		t.Errorf("request %q", got)
	}
	if x.Head.URL != url || x.Head.Method != "POST" || x.Head.Status != 200 || x.Head.File != "a.jsonl" || !x.Ended {
		t.Errorf("head %+v", x.Head)
	}
	turns := in.Session().Turns
	if len(turns) != 2 {
		t.Fatalf("%d turns", len(turns))
	}
	if chat := turns[0]; chat.Exchange != 3 || chat.Protocol != "openai-chat" || chat.Phase() != stream.TurnComplete || chat.OpenedAt != time.Second || chat.ClosedAt != 3*time.Second {
		t.Errorf("turn of exchange 3: %+v", chat)
	}
	if cut := turns[1]; cut.Exchange != 7 || cut.Protocol != "anthropic" || cut.Phase() != stream.TurnAborted || cut.OpenedAt != 2*time.Second {
		t.Errorf("turn of exchange 7: %+v", cut)
	}
}

// TestWaitingFrames checks that frames that arrive before the protocol is known keep their times and places.
func TestWaitingFrames(t *testing.T) {
	in := new(Inspector)
	in.Write(stream.Record{At: 1 * time.Microsecond, Data: []byte(": waiting\n\n")})
	in.Write(stream.Record{At: 2 * time.Microsecond, Data: data(`{"type":"ping"}`)})
	if in.Timeline.Len() != 0 || in.Exchange(0).Protocol != nil {
		t.Errorf("a ping decides for %v", in.Exchange(0).Protocol)
	}
	in.Write(stream.Record{At: 3*time.Microsecond + 4, Data: data(`{"type":"message_start","message":{}}`)})
	want := "heartbeat@1µs/0 heartbeat@2µs/1 turn open@3µs/2 "
	got := ""
	for n := range min(in.Timeline.Len(), 3) {
		e := in.View().Event(n)
		got += fmt.Sprintf("%s@%s/%d ", e.Kind, e.At, e.Frame)
	}
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestPatience checks that a stream of an unknown protocol is shown while it is still running. After enough frames,
// weak evidence is enough.
func TestPatience(t *testing.T) {
	for _, test := range []struct{ frame, want string }{
		{`{"type":"brand_new"}`, "unknown"},
		{`{"type":"ping"}`, "anthropic"},
	} {
		in := new(Inspector)
		for n := range maxUnclaimed {
			if x := in.Exchange(0); x != nil && x.Protocol != nil {
				t.Fatalf("decided for %s after %d frames", x.Protocol.Name, n)
			}
			in.Write(stream.Record{Data: data(test.frame)})
		}
		x := in.Exchange(0)
		if x.Protocol == nil || x.Protocol.Name != test.want || in.Timeline.Len() < maxUnclaimed {
			t.Errorf("%s: %v with %d events", test.frame, x.Protocol, in.Timeline.Len())
		}
	}
}

// TestNote checks that a note about the source is reported, and belongs to no turn.
func TestNote(t *testing.T) {
	in := new(Inspector)
	in.Write(stream.Record{Note: "the file was truncated"})
	found := in.Session().Findings
	if len(found) != 1 || found[0].Code != "SOURCE_NOTE" || found[0].Severity != stream.Info || len(in.Exchanges()) != 0 {
		t.Errorf("findings %+v, exchanges %v", found, in.Exchanges())
	}
}

// TestAfterTheEnd checks that no bytes are lost if a source continues after the end.
func TestAfterTheEnd(t *testing.T) {
	for _, first := range []string{"", "{", "[", chatBody + "\n", string(data(chatText))} {
		in := new(Inspector)
		in.Write(stream.Record{Data: []byte(first), End: true})
		in.Write(stream.Record{Data: data(chatText)})
		in.Close()
		in.Close()
		x := in.Exchange(0)
		if got, want := string(x.Response.Bytes(0, x.Response.Size())), first+string(data(chatText)); got != want {
			t.Errorf("after %q: the wire holds %q", first, got)
		}
	}
}

// FuzzInspector checks that the session doesn't depend on how the bytes are cut into chunks, and that no byte is
// lost.
func FuzzInspector(f *testing.F) {
	for _, fixture := range fixtures(f) {
		f.Add(fixture.wire, uint64(1))
	}
	for _, seed := range []string{"", "\xef\xbb", "[[[1]],", "{\n", "data\n\n", "\r\r\r", "event: error\ndata: {\"error\":{}}\n\n", "dat", "\v", "[} "} {
		f.Add([]byte(seed), uint64(2))
	}
	f.Fuzz(func(t *testing.T, wire []byte, seed uint64) {
		whole := inspect(wire)
		r := rand.New(rand.NewPCG(seed, 0))
		var chunks [][]byte
		for rest := wire; len(rest) > 0; {
			n := min(1+r.IntN(1+r.IntN(64)), len(rest))
			chunks, rest = append(chunks, rest[:n]), rest[n:]
		}
		in := inspect(chunks...)
		if digest(in) != digest(whole) {
			t.Errorf("cut into %d chunks:\n%s\nwant:\n%s", len(chunks), dump(in), dump(whole))
		}
		if len(wire) > 0 {
			checkKept(t, in, wire)
		}
		for n := range in.Timeline.Len() {
			if s := in.View().Event(n).String(); s == "" || strings.Contains(s, "\n") {
				t.Errorf("event %d is not one line: %q", n, s)
			}
		}
	})
}
