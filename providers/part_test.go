package providers

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"toolscope/stream"
)

// bareBody is a source that contains a response unchanged.
type bareBody struct {
	text []byte
	gone error
}

func (b *bareBody) Again(exchange int, start, end int64, to func(stream.Record)) error {
	to(stream.Record{Exchange: exchange, At: stream.NoTime, Data: b.text[start:min(end, int64(len(b.text)))]})
	return b.gone
}

func (b *bareBody) Bytes(start, end int64) ([]byte, error) {
	return bytes.Clone(b.text[start:end]), b.gone
}

// feedBody writes a body to an inspector in records, and makes room after each record. If place is set, the records
// have locations.
func feedBody(in *Inspector, from *bareBody, place bool) {
	const size = 64 << 10
	for at := 0; at < len(from.text); at += size {
		r := stream.Record{Exchange: 1, At: stream.NoTime, Data: bytes.Clone(from.text[at:min(at+size, len(from.text))])}
		if place {
			r.Location = stream.Location{Source: from, End: int64(at + len(r.Data))}
		}
		in.Write(r)
		in.MakeRoom()
	}
}

// manyAnswers returns a body with n responses of the given number of words.
func manyAnswers(n, words int) *bareBody {
	var s strings.Builder
	for i := range n {
		s.WriteString(strings.Replace(answer(i), "I look at", "I look at"+strings.Repeat(" word", words), 1))
	}
	return &bareBody{text: []byte(s.String())}
}

// chatLines returns a body of lines with n responses in another protocol, in which nothing marks the end of a
// response.
func chatLines(n int) *bareBody {
	var s strings.Builder
	for i := range n {
		chunk := func(delta, finish string) {
			fmt.Fprintf(&s, `{"id":"chatcmpl-%d","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n", i, delta, finish)
		}
		chunk(fmt.Sprintf(`{"role":"assistant","tool_calls":[{"index":0,"id":"call_%d","type":"function","function":{"name":"f","arguments":"{\"n\":"}}]}`, i), "null")
		chunk(fmt.Sprintf(`{"tool_calls":[{"index":0,"function":{"arguments":"%d,\"s\":\"%s\"}"}}]}`, i, strings.Repeat("this and that ", 400)), "null")
		chunk("{}", `"tool_calls"`)
	}
	return &bareBody{text: []byte(s.String())}
}

// TestPartsEvicted checks that ended turns of an open exchange are evicted, and are unchanged after they are
// reloaded.
func TestPartsEvicted(t *testing.T) {
	for name, body := range map[string]*bareBody{"messages": manyAnswers(300, 1000), "chunks": chatLines(300)} {
		var whole, in Inspector
		in.Keep(Retention{Rereadable: 300 << 10})
		feedBody(&whole, body, false)
		in.PinTurn(0)
		feedBody(&in, body, true)
		cold := 0
		for _, turn := range in.Session().Turns {
			if turn.Retention == stream.Evicted {
				cold++
			}
		}
		if n := len(in.Session().Turns); cold < n/2 || in.Dropped() > 0 || in.Session().Turns[n-1].Retention != stream.InMemory {
			t.Fatalf("%s: %d of %d turns are cold, %d dropped", name, cold, n, in.Dropped())
		}
		for _, turn := range in.Session().Turns {
			if read := in.Reload(turn.Number); read != nil {
				put := read()
				if err := errors.Join(put(), put()); err != nil { // the second put comes too late
					t.Fatalf("%s: %v", name, err)
				}
			}
			want := whole.Session().Turn(turn.Number)
			a, b := in.Exchange(1), whole.Exchange(1)
			start, _ := b.Response.FrameSpan(want.FirstFrame)
			_, end := b.Response.FrameSpan(want.LastFrame - 1) // the last frame may open another turn
			if string(turn.Text) != string(want.Text) || string(turn.Calls[0].Args()) != string(want.Calls[0].Args()) ||
				string(a.Response.Bytes(start, end)) != string(b.Response.Bytes(start, end)) {
				t.Fatalf("%s: turn %d is not what it was", name, turn.Number)
			}
			in.MakeRoom()
		}
		in.Keep(Retention{})
		for _, turn := range in.Session().Turns {
			if read := in.Reload(turn.Number); read != nil {
				if err := read()(); err != nil {
					t.Fatal(err)
				}
			}
		}
		in.Close()
		whole.Close()
		if dump(&in) != dump(&whole) {
			t.Errorf("%s: had again, it is another", name)
		}
	}
}

// TestPartsPinned checks that pinned turns of an open exchange stay, and are evicted after they are unpinned.
func TestPartsPinned(t *testing.T) {
	body := manyAnswers(200, 1000)
	for _, place := range []bool{false, true} {
		var in Inspector
		in.Keep(Retention{Bytes: 100 << 10, Rereadable: 100 << 10})
		cut := len(body.text) / 4
		feedBody(&in, &bareBody{text: body.text[:cut]}, false)
		last := in.Session().Turns[len(in.Session().Turns)-2].Number
		in.PinTurn(last)
		in.PinTurn(last)
		in.PinTurn(1000) // this turn doesn't exist
		feedBody(&in, &bareBody{text: body.text[cut:]}, place)
		if in.UnpinTurn(last); in.Session().Turn(last).Retention != stream.InMemory {
			t.Fatalf("a turn that is pinned is %v", in.Session().Turn(last).Retention)
		}
		in.UnpinTurn(last)
		in.UnpinTurn(last)
		if in.MakeRoom(); in.Session().Turn(last).Retention == stream.InMemory || len(in.kept.turnPins) > 0 || in.Exchange(1).parts.aside != 0 {
			t.Errorf("a turn that is not pinned any more is %v", in.Session().Turn(last).Retention)
		}
		in.Close()
	}
}

// TestPartsChanged checks that a changed body is reported, and that none of its new content is shown.
func TestPartsChanged(t *testing.T) {
	for name, change := range map[string]func(*bareBody){
		"gone": func(b *bareBody) { b.gone = errors.New("it is gone") },
		"byte": func(b *bareBody) { b.text = bytes.ReplaceAll(b.text, []byte("I look"), []byte("I took")) },
		"else": func(b *bareBody) { b.text = bytes.Repeat([]byte("x"), len(b.text)) },
	} {
		var in Inspector
		body := manyAnswers(200, 1000)
		in.Keep(Retention{Rereadable: 100 << 10})
		feedBody(&in, body, true)
		change(body)
		err := in.Reload(0)()()
		turn := in.Session().Turn(0)
		if err == nil || turn.Retention != stream.Dropped || len(turn.Findings) != 1 || turn.Findings[0].Diagnosis != sourceChanged || in.Dropped() == 0 {
			t.Errorf("%s: %v, %v, %v", name, err, turn.Retention, turn.Findings)
		}
		in.Close()
	}
}

// TestPartsGrowth checks the memory for an exchange that doesn't end. Only rows and facts may grow with the size of
// the exchange. Without rows and facts, the memory must not grow at all.
func TestPartsGrowth(t *testing.T) {
	body := manyAnswers(100, 5000)
	for name, test := range map[string]struct {
		keep  Retention
		place bool
		most  float64 // bytes of memory per byte of the source
	}{
		"read once":       {Retention{Bytes: 1 << 20, Rows: 100, ReadOnce: true}, false, 0.04},
		"dropped":         {Retention{Bytes: 1 << 20, Rows: 100}, false, 0.04},
		"had again later": {Retention{Bytes: 1 << 20, Rereadable: 1 << 20}, true, 0.2},
	} {
		var in Inspector
		in.Keep(test.keep)
		feedBody(&in, body, test.place)
		before := heap()
		const times = 10
		for range times {
			feedBody(&in, body, test.place)
		}
		if grown := heap() - before; float64(grown) > test.most*float64(times*len(body.text)) {
			t.Errorf("%s: %d bytes of %d stay", name, grown, times*len(body.text))
		}
		in.Close()
	}
}
