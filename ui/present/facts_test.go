package present

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
)

// TestSince checks the word for the start of a latency's times.
func TestSince(t *testing.T) {
	for seen, want := range map[bool]string{true: "request", false: "response"} {
		if got := sinceWord(&providers.Latency{RequestSeen: seen}); got != want {
			t.Errorf("%v: %q", seen, got)
		}
	}
}

// TestWithCosts checks that a loop costs as much as its turns, and that a broken cache costs the price difference
// for its tokens. If the price is unknown, the message contains no cost.
func TestWithCosts(t *testing.T) {
	for _, test := range []struct{ model, loop, cache string }{
		{"m-1", "; cost $0.0063", "; cost $0.00675"},
		{"m-unknown", "", ""},
	} {
		in := new(providers.Inspector)
		for i := range 3 {
			in.Write(stream.Record{Exchange: i + 1, Request: true, Head: &stream.Head{Method: "POST", URL: "https://api.anthropic.com/v1/messages"},
				Data: fmt.Appendf(nil, `{"model":%q,"metadata":{"user_id":"{\"session_id\":\"s1\"}"},"messages":[{"role":"user","content":"go"}]}`, test.model)})
			in.Write(stream.Record{Exchange: i + 1, Head: &stream.Head{Status: 200, Header: map[string][]string{"Content-Type": {"application/json"}}},
				Data: fmt.Appendf(nil, `{"id":"msg_1","type":"message","role":"assistant","model":%q,"content":[{"type":"text","text":"ok"}],`+
					`"stop_reason":"end_turn","usage":{"input_tokens":600,"output_tokens":20}}`, test.model)})
			in.Write(stream.Record{Exchange: i + 1, End: true})
		}
		rates := price.Rates{Input: price.Rate{USD: 3, Known: true}, Output: price.Rate{USD: 15, Known: true}, CacheRead: price.Rate{USD: 0.3, Known: true}}
		prices := new(price.Table).With([]price.Price{{Provider: "anthropic", ID: "m-1", Rates: rates}})
		turns := in.Session().Turns
		d := &stream.Diagnosis{Code: "X", Severity: stream.Info, By: stream.Client}
		found := WithCosts(in.View(), prices, turns[2], []stream.Finding{
			d.Finding("it repeats").WithDetail("loop", "n", 3, "since_turn", 1),
			d.Finding("it broke").WithDetail("cache_break", "tokens", 2500),
			d.Finding("it is neither"),
		})
		want := []string{"it repeats" + test.loop, "it broke" + test.cache, "it is neither"}
		for i, f := range found {
			known := f.Detail != nil && f.Detail.Value("cost_usd") != nil
			if f.Message != want[i] || known != strings.Contains(want[i], "cost") {
				t.Errorf("%s: %q %+v, not %q", test.model, f.Message, f.Detail, want[i])
			}
		}
	}
}
