package providers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// TestTimeSpent checks that the times of all states add up to the time of the turn. A ping must not count as
// progress.
func TestTimeSpent(t *testing.T) {
	const (
		start  = `{"type":"message_start","message":{"id":"msg_1","role":"assistant","model":"m","content":[],"usage":{}}}`
		text   = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`
		word   = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"so "}}`
		call   = `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_n","name":"netstat","input":{}}}`
		half   = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"all\":"}}`
		finish = `{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":9}}`
		ping   = `{"type":"ping"}`
	)
	for _, test := range []struct {
		name   string
		events []timedEvent
		want   [NumTurnStates]int
	}{
		{"all is quick", []timedEvent{{0, start}, {800, text}, {900, word}, {1500, call}, {2000, half}, {2100, finish}}, [NumTurnStates]int{0, 900, 600, 600}},
		{"no answer for a minute, with pings", []timedEvent{{0, start}, {30000, ping}, {60000, call}, {60100, half}}, [NumTurnStates]int{0, 60000, 0, 100}},
		{"silent", []timedEvent{{0, start}, {100, call}, {50000, half}}, [NumTurnStates]int{0, 100, 0, 3000, 0, 46900}},
		{"pings", []timedEvent{{0, start}, {100, call}, {5100, ping}, {15100, ping}, {20100, half}}, [NumTurnStates]int{0, 100, 0, 3000, 15000, 2000}},
		{"pings stop", []timedEvent{{0, start}, {100, call}, {5100, ping}, {60100, half}}, [NumTurnStates]int{0, 100, 0, 3000, 30000, 27000}},
		{"the end is silent", []timedEvent{{0, start}, {100, call}, {200, half}, {10200, finish}}, [NumTurnStates]int{0, 100, 0, 3100, 0, 7000}},
	} {
		in := new(Inspector)
		playTimed(in, 1, 0, test.events)
		spent, known := in.View().TimeSpent(in.Session().Turns[0])
		var want [NumTurnStates]time.Duration
		for i, ms := range test.want {
			want[i] = time.Duration(ms) * time.Millisecond
		}
		if !known || spent != want {
			t.Errorf("%s: %v, not %v", test.name, spent, want)
		}
	}
}

// TestSending checks that the state is SendingRequest until the last bytes of the request.
func TestSending(t *testing.T) {
	in := new(Inspector)
	body := portsRequest(portsAsk)
	for i, part := range []string{body[:20], body[20:]} {
		r := stream.Record{Exchange: 1, Request: true, At: time.Duration(i) * 400 * time.Millisecond, Data: []byte(part)}
		if i == 0 {
			r.Head = &stream.Head{Method: "POST", URL: ownHost}
		}
		in.Write(r)
	}
	answer := portsAnswer("end_turn", `{"type":"text","text":"22"}`)
	in.Write(stream.Record{Exchange: 1, At: time.Second, Data: []byte(answer), Head: &stream.Head{Status: 200}})
	in.Write(stream.Record{Exchange: 1, At: time.Second, End: true})
	spent, known := in.View().TimeSpent(in.Session().Turns[0])
	if got := fmt.Sprint(spent[SendingRequest], spent[Thinking], known); got != "400ms 600ms true" {
		t.Error(got)
	}
}

// TestWaiting checks an open exchange that waits for the rest of the request, for the provider, or for more
// of a call. A silence in a call must become a stall, with and without pings.
func TestWaiting(t *testing.T) {
	in := new(Inspector)
	body, at := portsRequest(portsAsk), time.Duration(0)
	see := func(seconds float64, want string) {
		t.Helper()
		w, ok := in.View().WaitingAt(in.Exchange(1), time.Duration(seconds*float64(time.Second)))
		if got := fmt.Sprint(w.State, " ", w.For, " ", w.Stalled); got != want || !ok {
			t.Errorf("at %v s: %q %v, not %q", seconds, got, ok, want)
		}
	}
	receive := func(seconds float64, r stream.Record) {
		at = time.Duration(seconds * float64(time.Second))
		r.Exchange, r.At = 1, at
		in.Write(r)
	}
	head := &stream.Head{Method: "POST", URL: ownHost, Header: map[string][]string{"Content-Length": {fmt.Sprint(len(body))}}}
	receive(0, stream.Record{Request: true, Head: head, Data: []byte(body[:9])})
	see(2, "sending 2s false")
	receive(4, stream.Record{Request: true, Data: []byte(body[9:])})
	see(64, "thinking 1m0s false")
	sse := &stream.Head{Status: 200, Header: map[string][]string{"Content-Type": {"text/event-stream"}}}
	receive(70, stream.Record{Head: sse, Data: []byte("data: " + `{"type":"message_start","message":{"id":"msg_1","role":"assistant","model":"m","content":[],"usage":{}}}` + "\n\n")})
	receive(74, stream.Record{}) // bytes that are held back, before the first delta
	see(75, "thinking 1m11s false")
	receive(80, stream.Record{Data: []byte("data: " + `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_n","name":"netstat","input":{}}}` + "\n\n")})
	receive(81, stream.Record{Data: []byte("data: " + `{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"all\":"}}` + "\n\n")})
	see(82, "arguments 2s false")
	see(90, "silent 9s false")
	receive(85, stream.Record{Request: true}) // a record of the request, not of the response
	see(90, "silent 9s false")
	receive(86, stream.Record{}) // bytes that are held back
	see(90, "kept alive 9s false")
	see(117, "silent 36s true")
	receive(100, stream.Record{Data: []byte(": ping\n\n")})
	see(101, "kept alive 20s false")
	see(112, "kept alive 31s true")
	see(140, "silent 59s true")
	receive(141, stream.Record{Note: "held by toolscope: a call; the client has 90 bytes of this response, and waits"})
	see(150, "held 9s false")
	receive(151, stream.Record{Note: "held by toolscope: the client waited 10s after byte 90; then the response resumed"})
	see(152, "silent 1m11s true")
	if notes := in.Session().Findings; len(notes) > 0 {
		t.Errorf("notes about the source: %v", notes)
	}
	receive(153, stream.Record{End: true})
	if _, ok := in.View().WaitingAt(in.Exchange(1), 150*time.Second); ok {
		t.Error("an ended exchange waits")
	}
}

// TestSocketPings checks that pings on a WebSocket count as pings of the open turn, also after the exchange is read
// again, and that pings between turns are ignored.
func TestSocketPings(t *testing.T) {
	in := new(Inspector)
	receive := func(seconds int, r stream.Record) {
		r.Exchange, r.At = 1, time.Duration(seconds)*time.Second
		in.Write(r)
	}
	receive(1, stream.Record{Request: true, Head: &stream.Head{Method: "GET", URL: "wss://models.example/v1/responses"}})
	receive(1, stream.Record{Head: &stream.Head{Status: 101, Header: map[string][]string{"Upgrade": {"websocket"}}}})
	receive(2, stream.Record{}) // a ping before the first turn
	receive(3, stream.Record{Request: true, Data: []byte(`{"type":"response.create","model":"m","input":[]}` + "\n")})
	for _, message := range []string{
		`{"type":"response.created","response":{"id":"resp_1","model":"m","status":"in_progress"}}`,
		`{"type":"response.output_item.added","output_index":0,"item":{"id":"fc_1","type":"function_call","call_id":"call_net1","name":"netstat","arguments":""}}`,
		`{"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":0,"delta":"{\"all\":"}`,
	} {
		receive(4, stream.Record{Data: []byte(message + "\n")})
	}
	for n := range 5 {
		receive(10+10*n, stream.Record{})
	}
	if w, ok := in.View().WaitingAt(in.Exchange(1), 52*time.Second); !ok || w.State != KeptAlive || w.For != 48*time.Second {
		t.Errorf("with pings: %v for %v, %v", w.State, w.For, ok)
	}
	if w, _ := in.View().WaitingAt(in.Exchange(1), 90*time.Second); w.State != Silent {
		t.Errorf("after the pings: %v", w.State)
	}
	receive(60, stream.Record{Data: []byte(`{"type":"response.failed","response":{"id":"resp_1","status":"failed","error":{"code":"server_error","message":"later"}}}` + "\n")})
	events := in.Timeline.Len()
	receive(61, stream.Record{})
	if n := in.Timeline.Len(); n != events {
		t.Errorf("a ping after the turn made %d events", n-events)
	}
	for _, name := range []string{"at first", "read again"} {
		turn := in.Session().Turns[0]
		spent, known := in.View().TimeSpent(turn)
		if !known || spent[KeptAlive] != 50*time.Second || spent[Silent] != 3*time.Second {
			t.Errorf("%s: %v %v", name, spent, known)
		}
		if found := findingsOf(in, "STALLED"); len(found) != 1 || !strings.Contains(found[0].Message, "with 5 pings") {
			t.Errorf("%s: %+v", name, found)
		}
		if err := in.Reread(1, nil); err != nil {
			t.Fatal(err)
		}
	}
}
