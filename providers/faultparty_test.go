package providers

import (
	"strings"
	"testing"

	"toolscope/stream"
)

// TestFaultParty checks that a client is not blamed for calls that it sends back after toolscope injected a fault into
// the response. The finding about the fault must belong to the turn with the fault.
func TestFaultParty(t *testing.T) {
	for _, note := range []string{"", faultPrefix + " (--fault empty-args): …"} {
		var in Inspector
		exchange := func(n int, body, note, answer string) {
			in.Write(stream.Record{Exchange: n, Request: true, Head: &stream.Head{Method: "POST", URL: "https://api.openai.com/v1/chat/completions"}, Data: []byte(body)})
			in.Write(stream.Record{Exchange: n, Head: &stream.Head{Status: 200}, Note: note})
			in.Write(stream.Record{Exchange: n, Data: []byte(answer), End: true})
		}
		const ask = `{"model":"m","messages":[{"role":"user","content":"x"}`
		exchange(1, ask+`]}`, note, `{"id":"c1","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}}]}`)
		exchange(2, ask+`,{"role":"assistant","tool_calls":[{"id":"call_1","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"call_1","content":"no"}]}`,
			"", `{"id":"c2","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"ok"}}]}`)
		in.Close()
		first := in.Session().Turns[0]
		bentBy, blamed := false, stream.Party(0)
		for _, f := range first.Findings {
			bentBy = bentBy || f.Code == "BENT" && f.By == stream.Toolscope
		}
		for _, f := range first.Calls[0].Findings {
			if f.Code == "ARGS_REPLACED_BY_EMPTY" {
				blamed = f.By
				if strings.Contains(f.Message, "toolscope had sent the client a faulty response") != (note != "") {
					t.Errorf("%q: %s", note, f.Message)
				}
			}
		}
		if want := map[bool]stream.Party{true: stream.Toolscope, false: stream.Client}[note != ""]; blamed != want || bentBy != (note != "") {
			t.Errorf("%q: blamed %v, want %v; %+v", note, blamed, want, first.Findings)
		}
	}
}
