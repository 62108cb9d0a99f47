package providers

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolscope/stream"
	"toolscope/stream/json"
)

const ms = time.Millisecond

// timed returns an exchange of Anthropic Messages: a request at 100 ms, the head of the response at 300 ms,
// and then each body as a record at its own time.
func timed(request bool, at []time.Duration, bodies ...string) *Inspector {
	in := new(Inspector)
	if request {
		in.Write(stream.Record{
			Request: true, At: 100 * ms, Head: &stream.Head{Method: "POST", URL: "https://api.anthropic.com/v1/messages"},
			Data: []byte(`{"model":"claude-x","tools":[{"name":"f","input_schema":{"type":"object","properties":{"city":{"type":"string"},"days":{"type":"integer"},"note":{"type":"string"}},"required":["city","days"]}}]}`),
		})
	}
	in.Write(stream.Record{At: 300 * ms, Head: &stream.Head{Status: 200, Header: map[string][]string{"Content-Type": {"text/event-stream"}}}})
	for i, body := range bodies {
		in.Write(stream.Record{At: at[i], Data: data(body)})
	}
	return in
}

func fragment(text string) string {
	return fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":%q}}`, text)
}

const (
	turnBegins = `{"type":"message_start","message":{"id":"m"}}`
	callBegins = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{}}}`
	callEnds   = `{"type":"content_block_stop","index":0}`
	turnEnds   = `{"type":"message_stop"}`
)

// TestLatency checks that each moment of a call is measured from the start of the request. A moment that was not
// reached is missing, not 0.
func TestLatency(t *testing.T) {
	at := []time.Duration{400 * ms, 500 * ms, 600 * ms, 700 * ms, 2200 * ms, 2300 * ms, 3800 * ms, 3900 * ms, 4000 * ms}
	bodies := []string{
		turnBegins, callBegins, fragment(`{"city":"Os`), fragment(`lo","days":1`), fragment(`2`), fragment(`,"note":"`), fragment(`x"}`), callEnds, turnEnds,
	}
	const none = stream.NoTime
	for _, test := range []struct {
		what    string
		request bool
		come    int // number of bodies that arrive
		want    Latency
	}{
		{"whole", true, 9, Latency{
			From: 100 * ms, RequestSeen: true, Headers: 200 * ms, FirstToken: 400 * ms, Named: 400 * ms, FirstByte: 500 * ms,
			Actionable: 2200 * ms, // the comma after 12, not the 2
			Parses:     3700 * ms, LastByte: 3700 * ms, Sealed: 3800 * ms, End: 3900 * ms,
			Deltas: 5, Gap: 1500 * ms, GapAt: 2, Stalls: 2, Stalled: 3000 * ms, Arrival: Eager,
		}},
		{"without its request, and so without a schema", false, 9, Latency{
			From: 400 * ms, Headers: none, FirstToken: 100 * ms, Named: 100 * ms, FirstByte: 200 * ms,
			Actionable: none, Parses: 3400 * ms, LastByte: 3400 * ms, Sealed: 3500 * ms, End: 3600 * ms,
			Deltas: 5, Gap: 1500 * ms, GapAt: 2, Stalls: 2, Stalled: 3000 * ms, Arrival: Eager,
		}},
		{"a number that may go on", true, 5, Latency{
			From: 100 * ms, RequestSeen: true, Headers: 200 * ms, FirstToken: 400 * ms, Named: 400 * ms, FirstByte: 500 * ms,
			Actionable: none, Parses: none, LastByte: 2100 * ms, Sealed: none, End: none,
			Deltas: 3, Gap: 1500 * ms, GapAt: 2, Stalls: 1, Stalled: 1500 * ms, Arrival: Eager,
		}},
		{"only its name", true, 2, Latency{
			From: 100 * ms, RequestSeen: true, Headers: 200 * ms, FirstToken: 400 * ms, Named: 400 * ms,
			FirstByte: none, Actionable: none, Parses: none, LastByte: none, Sealed: none, End: none, Gap: none, GapAt: -1,
		}},
	} {
		in := timed(test.request, at, bodies[:test.come]...)
		turn := in.Session().Turns[0]
		got := in.View().Latency(turn, turn.Calls[0])
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.what, diff)
		}
	}
}

// TestLatencyActionable checks that required keys may come in any order, and that a tool may require none.
func TestLatencyActionable(t *testing.T) {
	for _, test := range []struct {
		args string
		want int // in bytes
	}{
		{`{"city":"Oslo","days":12,"note":"x"}`, 25},
		{`{"days":[1,{"city":2}],"city":{"a":[]}}`, 38},
		{`{"days":true,"city":null}`, 24},
		{`{"days":tr`, -1},
		{`{"days":1,"city":"a`, -1},
		{`{"days":1,"city":`, -1},
		{`{"days":1,"ci\u0074y":""}`, 24},
		{`{"city":1,"days":2`, -1},
		{`{"city":1,"days":2}`, 19},
		{`{"city":1 x,"days":2}`, -1},
		{`{"in":{"city":1,"days":2}}`, -1},
	} {
		var lex json.Lexer
		lex.Write([]byte(test.args))
		if got := completeAt([]byte(test.args), &lex, map[string]bool{"city": true, "days": true}); got != test.want {
			t.Errorf("%s: %d, want %d", test.args, got, test.want)
		}
	}
}

// TestLatencyOfTurn checks that a turn without calls has its own times, and that a source without times has
// none.
func TestLatencyOfTurn(t *testing.T) {
	in := timed(true, []time.Duration{400 * ms, 450 * ms, 600 * ms, 900 * ms}, turnBegins,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}`, turnEnds)
	l := in.View().Latency(in.Session().Turns[0], nil)
	if l.Headers != 200*ms || l.FirstToken != 500*ms || l.End != 800*ms || l.Named != stream.NoTime || l.Gap != stream.NoTime {
		t.Errorf("%+v", l)
	}
	in = new(Inspector)
	in.Write(stream.Record{At: stream.NoTime, Data: messages(`{"city":1}`)})
	turn := in.Session().Turns[0]
	l = in.View().Latency(turn, turn.Calls[0])
	for _, m := range l.TimePoints() {
		if m.At != stream.NoTime {
			t.Errorf("no times, and yet %s at %s", m.Name, m.At)
		}
	}
	if l.Stalls != 0 || l.Gap != stream.NoTime {
		t.Errorf("%+v", l)
	}
}

// TestLatencyOfSockets checks that each turn on a WebSocket is measured from the message that requested it.
func TestLatencyOfSockets(t *testing.T) {
	in := new(Inspector)
	socket(1, in, prewarm, answers("resp_0", "", "", ""), begins, answers("resp_1", "call_1", "a", `{"n":1}`), brings("resp_1", "call_1", "ok"), answers("resp_2", "call_2", "b", `{"n":"x"}`))
	got := ""
	for _, turn := range in.Session().Turns {
		l := in.View().Latency(turn, nil)
		got += fmt.Sprintln(l.RequestSeen, l.From, l.FirstToken)
	}
	want := "true 0s -1ns\ntrue 2s 1s\ntrue 4s 1s\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestManner checks that the arrival of arguments is determined by the ends and the times of their deltas. A
// fast model must not look like a provider that holds arguments back.
func TestManner(t *testing.T) {
	const long = "a text of some words, and then some more of them"
	half := long[:len(long)/2]
	for _, test := range []struct {
		what string
		at   []int // time of each delta in ms
		args []string
		open bool
		want Arrival
	}{
		{"one delta", []int{900}, []string{`{"city":"Oslo"}`}, false, AtOnce},
		{"one so far", []int{900}, []string{`{"city":"Os`}, true, ArrivalUnknown},
		{"nothing", nil, nil, false, ArrivalUnknown},
		{"whole values", []int{900, 1900, 2900}, []string{`{"city":"` + long + `"`, `,"note":"` + half + `"`, `}`}, false, ByValue},
		{"tokens that are values by chance", []int{600, 630, 660, 690}, []string{`{"days"`, `:`, `1`, `}`}, false, Eager},
		{"as written", []int{600, 640, 690, 750, 800}, []string{`{"ci`, `ty":"O`, `sl`, `o"`, `}`}, false, Eager},
		{"by a fast model", []int{510, 511, 512, 513, 514}, []string{`{"ci`, `ty":"O`, `sl`, `o"`, `}`}, false, Eager},
		{"by a slow one", []int{800, 1200, 1600, 2000}, []string{`{"ci`, `ty":"O`, `slo`, `"}`}, false, Eager},
		{"held back, and then together", []int{2500, 2501, 2502, 2503}, []string{`{"ci`, `ty":"` + half, `slo`, `"}`}, false, InBursts},
		{"twice", []int{1500, 1501, 2500, 2501}, []string{`{"city":"` + half, half + `"`, `,"note":"` + half, `"}`}, false, InBursts},
		{"most as written, the end together", []int{600, 640, 690, 1500, 1501}, []string{`{"city":"` + long, long, half, `o`, `"}`}, false, Eager},
	} {
		at, bodies := []time.Duration{400 * ms, 500 * ms}, []string{turnBegins, callBegins}
		for i, text := range test.args {
			at, bodies = append(at, time.Duration(test.at[i])*ms), append(bodies, fragment(text))
		}
		if !test.open {
			at, bodies = append(at, 9000*ms), append(bodies, callEnds)
		}
		in := timed(true, at, bodies...)
		turn := in.Session().Turns[0]
		if l := in.View().Latency(turn, turn.Calls[0]); l.Arrival != test.want {
			t.Errorf("%s: %q, want %q", test.what, l.Arrival, test.want)
		}
	}
}
