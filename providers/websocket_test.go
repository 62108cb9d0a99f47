package providers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// TestWebSocket checks that each message of a WebSocket is decoded when it arrives, even if nothing separates the
// messages. The client's messages are its requests.
func TestWebSocket(t *testing.T) {
	request := `{"type":"response.create","tools":[{"type":"function","name":"f","parameters":{"type":"object","required":["b"]}}],"input":"go"}`
	messages := []string{
		`{"type":"response.created","response":{"id":"resp_1"}}`,
		`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":""}}`,
		`{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"fc_1","delta":"{\"a\":\"}{\""}`,
		`{"type":"response.function_call_arguments.delta","output_index":0,"item_id":"fc_1","delta":"}"}`,
		`{"type":"response.output_item.done","output_index":0,"item":{"type":"function_call","id":"fc_1","call_id":"c1","name":"f","arguments":"{\"a\":\"}{\"}"}}`,
		`{"type":"response.completed","response":{"id":"resp_1","status":"completed"}}`,
	}
	for _, test := range []struct {
		name    string
		head    *stream.Head
		between string
		late    int // number of messages that are decoded only with the next message
	}{
		{"upgraded", &stream.Head{Status: 101, Header: map[string][]string{"Upgrade": {"websocket"}}}, "", 0},
		{"by its URL", &stream.Head{URL: "wss://api.example.com/v1/responses"}, "", 0},
		{"nothing known", nil, "", 1},
		{"a line each", nil, "\n", 0},
		{"a line each, upgraded", &stream.Head{Status: 101}, "\r\n", 0},
		{"a space between", nil, " ", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			in := new(Inspector)
			if test.head != nil {
				in.Write(stream.Record{Exchange: 1, At: stream.NoTime, Head: test.head})
			}
			for turn := range 3 {
				in.Write(stream.Record{Exchange: 1, Request: true, At: time.Duration(turn*10) * time.Second, Data: []byte(request + test.between)})
				for n, message := range messages {
					message = strings.ReplaceAll(message, "_1", fmt.Sprint("_", turn))
					at := time.Duration(turn*10+n) * time.Second
					in.Write(stream.Record{Exchange: 1, At: at, Data: []byte(message + test.between)})
					checkDecoded(t, in, turn*len(messages)+n+1, test.late, at)
				}
				last := in.Session().Turns[turn]
				if began := time.Duration(turn*10) * time.Second; last.OpenedAt != began || last.Calls[0].OpenedAt != began+time.Second {
					t.Errorf("turn %d opened at %s, its call at %s", turn, last.OpenedAt, last.Calls[0].OpenedAt)
				}
				if last.Phase() != stream.TurnComplete || last.Calls[0].Status() != stream.Complete || len(last.Calls[0].Findings) == 0 {
					t.Errorf("turn %d: %s, %s, %v", turn, last.Phase(), last.Calls[0].Status(), last.Calls[0].Findings)
				}
			}
			in.Close()
			if len(in.Session().Turns) != 3 || strings.Contains(dump(in), stream.NoTerminator.Code) {
				t.Errorf("%s", dump(in))
			}
		})
	}
}

// checkDecoded checks that all messages are frames by now, except the first one while its kind is unknown.
func checkDecoded(t *testing.T, in *Inspector, messages, late int, at time.Duration) {
	t.Helper()
	want := messages
	if messages == 1 {
		want -= late
	}
	if got := in.Exchange(1).Response.Frames(); got != want {
		t.Fatalf("after %d messages: %d frames", messages, got)
	}
	if n := in.Timeline.Len(); n > 0 && in.View().Event(n-1).At != at {
		t.Errorf("after message %d: the last event is of %s, not %s", messages, in.View().Event(n-1).At, at)
	}
}

// TestLiveClientMessages checks what the decoder of Gemini's Live API reads in messages from the client: the model,
// the tools, and the results of calls.
func TestLiveClientMessages(t *testing.T) {
	in := new(Inspector)
	in.Write(stream.Record{Exchange: 1, At: stream.NoTime, Head: &stream.Head{Status: 101}})
	for n, m := range []struct {
		client bool
		data   string
	}{
		{true, `{"setup":{"model":"models/g-live","tools":[{"functionDeclarations":[{"name":"tides","parameters":{"type":"OBJECT","properties":{"port":{"type":"STRING"}},"required":["day"]}}]}]}}`},
		{false, `{"setupComplete":{}}`},
		{true, `{"toolResponse":{"functionResponses":[{"id":"f1","response":{"output":"too early"}}]}}`},
		{false, `{"toolCall":{"functionCalls":[{"id":"f1","name":"tides","args":{"port":"Brest"}}]}}`},
		{true, `{"toolResponse":{"functionResponses":[{"id":"f1","name":"tides","response":{"output":"low at 7"}}]}}`},
		{false, `{"serverContent":{"turnComplete":true}}`},
	} {
		in.Write(stream.Record{Exchange: 1, Request: m.client, At: time.Duration(n) * time.Second, Data: []byte(m.data)})
	}
	in.Close()
	turn := in.Session().Turns[0]
	call := turn.Calls[0]
	if got := fmt.Sprint(len(in.Session().Turns), " ", turn.Model, " ", call.LatestResult().ResultCode == stream.ResultOK, " ", call.LatestResult().Result.Text); got != `1 g-live true {"output":"low at 7"}` {
		t.Errorf("%s", got)
	}
	if len(call.Findings) != 1 || call.Findings[0].Code != "SCHEMA_INVALID" {
		t.Errorf("findings %v", call.Findings)
	}
}
