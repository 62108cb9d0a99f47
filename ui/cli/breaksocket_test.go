package cli

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"toolscope/capture"
	"toolscope/providers/price"
)

// TestBreakSocket checks that each matching call on a WebSocket is reported once. A WebSocket that stays open for a
// long time must not use more and more memory.
func TestBreakSocket(t *testing.T) {
	b := &breakpoint{prices: price.Embedded(), clean: func(s string) string { return s }}
	if err := b.Set("tool:run_shell"); err != nil {
		t.Fatal(err)
	}
	w := b.newWatch().(*breakWatch)
	w.See(capture.Record{Exchange: 1, Side: capture.Request, Head: &capture.Head{Method: "GET", URL: "wss://api.openai.com/v1/responses", Header: http.Header{"Upgrade": {"websocket"}}}})
	w.See(capture.Record{Exchange: 1, Head: &capture.Head{Status: 101, Header: http.Header{"Upgrade": {"websocket"}}}})
	turns := func(from, to int, tool string) (whys []string) {
		for n := from; n < to; n++ {
			w.See(capture.Record{Exchange: 1, Side: capture.Request, Data: []byte(`{"type":"response.create","model":"m"}`)})
			for _, event := range []string{
				`{"type":"response.created","response":{"id":"resp_N"}}`,
				`{"type":"response.output_item.added","output_index":0,"item":{"type":"function_call","id":"fc_N","call_id":"call_N","name":"TOOL","arguments":""}}`,
				`{"type":"response.function_call_arguments.delta","item_id":"fc_N","output_index":0,"delta":"{}"}`,
				`{"type":"response.function_call_arguments.done","item_id":"fc_N","output_index":0,"arguments":"{}"}`,
				`{"type":"response.completed","response":{"id":"resp_N","status":"completed","output":[]}}`,
			} {
				event = strings.NewReplacer("N", fmt.Sprint(n), "TOOL", tool).Replace(event)
				if why := w.Look([]byte(event)); why != "" {
					whys = append(whys, why)
				}
			}
		}
		return whys
	}
	if got := turns(0, 3, "read_file"); len(got) > 0 {
		t.Errorf("held: %q", got)
	}
	if got := turns(3, 5, "run_shell"); len(got) != 2 || !strings.HasPrefix(got[0], "run_shell, ") {
		t.Errorf("held: %q", got)
	}
	turns(5, 3000, strings.Repeat("long", 1000))
	if n := len(w.in.Session().Turns); n > 1000 || w.closed != 3000 {
		t.Errorf("%d turns are kept, %d have ended", n, w.closed)
	}
	if got := turns(3000, 3001, "run_shell"); len(got) != 1 {
		t.Errorf("held: %q", got)
	}
}
