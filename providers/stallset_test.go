package providers

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// thinkingForms lists the requests and events of models that think: the beginning, a delta of reasoning, a delta of
// text, a complete call, the end, and a ping.
var thinkingForms = []struct {
	url, request                        string
	begin, think, text, call, end, ping []string
}{
	{
		ownHost, portsRequest(portsAsk),
		[]string{`{"type":"message_start","message":{"id":"msg_1","role":"assistant","model":"m","content":[],"usage":{}}}`},
		[]string{`{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"so "}}`},
		[]string{`{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"so "}}`},
		[]string{`{"type":"content_block_start","index":2,"content_block":{"type":"tool_use","id":"toolu_n","name":"netstat","input":{}}}`,
			`{"type":"content_block_delta","index":2,"delta":{"type":"input_json_delta","partial_json":"{\"all\":true}"}}`, `{"type":"content_block_stop","index":2}`},
		[]string{`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}`, `{"type":"message_stop"}`},
		[]string{`{"type":"ping"}`},
	},
	{
		"https://llm.example/v1/chat/completions", `{"model":"m","messages":[{"role":"user","content":"go"}]}`,
		[]string{deltaChunk(`{"role":"assistant","content":""}`, "null")},
		[]string{deltaChunk(`{"reasoning_content":"so "}`, "null")}, []string{deltaChunk(`{"content":"so "}`, "null")},
		[]string{deltaChunk(`{"tool_calls":[{"index":0,"id":"call_1","type":"function","function":{"name":"ls","arguments":"{}"}}]}`, "null")},
		[]string{deltaChunk(`{}`, `"stop"`), `[DONE]`}, []string{": PROCESSING"},
	},
	{
		"https://api.openai.com/v1/responses", `{"model":"m","input":"go"}`,
		[]string{`{"type":"response.created","response":{"id":"resp_1","model":"m","status":"in_progress"}}`},
		[]string{`{"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"so "}`},
		[]string{`{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"so "}`},
		[]string{`{"type":"response.output_item.added","output_index":2,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"ls","arguments":""}}`,
			`{"type":"response.output_item.done","output_index":2,"item":{"id":"fc_1","type":"function_call","call_id":"call_1","name":"ls","arguments":"{}","status":"completed"}}`},
		[]string{`{"type":"response.completed","response":{"id":"resp_1","model":"m","status":"completed","output":[],"usage":{"input_tokens":1,"output_tokens":1}}}`},
		[]string{`{"type":"keepalive","sequence_number":9}`},
	},
}

// deltaChunk returns a chunk of Chat Completions.
func deltaChunk(delta, finish string) string {
	return `{"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}]}`
}

// TestThinkingIsNotAStall checks that turns with long pauses in or after their reasoning are not stalled, whether or
// not the usual gaps are known, and even if the client leaves during a pause. No pause may look like a stall while it
// lasts.
func TestThinkingIsNotAStall(t *testing.T) {
	turns, longest := 0, time.Duration(0)
	for seed := range uint64(10) {
		r := rand.New(rand.NewPCG(seed, 3))
		f := &thinkingForms[seed%3]
		in, at, exchange := new(Inspector), time.Duration(0), 0
		receive := func(wait time.Duration, record stream.Record) {
			if x := in.Exchange(exchange); x != nil && wait > 0 {
				if w, ok := in.View().WaitingAt(x, at+wait-1); ok && w.Stalled {
					t.Errorf("seed %d, turn %d: a pause of %s looks like a stall", seed, exchange, wait)
				}
			}
			at += wait
			record.Exchange, record.At = exchange, at
			in.Write(record)
		}
		send := func(wait time.Duration, events []string) {
			for i, e := range events {
				if !strings.HasPrefix(e, ":") {
					e = "data: " + e
				}
				if i > 0 {
					wait = 10 * time.Millisecond
				}
				receive(wait, stream.Record{Data: []byte(e + "\n\n")})
			}
		}
		pause := func(most int) time.Duration { return time.Duration(1+r.IntN(most)) * time.Second }
		for range 20 {
			turns++
			exchange++
			receive(time.Second, stream.Record{Request: true, Data: []byte(f.request), Head: &stream.Head{Method: "POST", URL: f.url}})
			receive(0, stream.Record{Head: &stream.Head{Status: 200, Header: map[string][]string{"Content-Type": {"text/event-stream"}}}})
			send(pause(180), f.begin)
			left := r.IntN(8) == 0
			for range 1 + r.IntN(4) {
				for range 5 + r.IntN(40) {
					send(time.Duration(10+r.IntN(60))*time.Millisecond, f.think)
				}
				rest := pause(110)
				longest = max(longest, rest)
				for r.IntN(2) == 0 && rest > 15*time.Second {
					send(10*time.Second, f.ping)
					rest -= 10 * time.Second
				}
				if left {
					receive(rest, stream.Record{End: true, By: "client", Why: "the client disconnected"})
					break
				}
				send(rest, f.think)
			}
			if left {
				continue
			}
			send(pause(110), f.text)
			if r.IntN(2) == 0 {
				send(time.Second, f.call)
			}
			send(time.Second, f.end)
			receive(0, stream.Record{End: true})
		}
		if found := findingsOf(in, "STALLED"); len(found) > 0 {
			t.Errorf("seed %d: %d stalls, the first: %s", seed, len(found), found[0].Message)
		}
	}
	if turns < 200 || longest < 100*time.Second {
		t.Error(turns, longest)
	}
	t.Log(fmt.Sprint(turns, " turns, pauses up to ", longest))
}
