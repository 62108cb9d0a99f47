package providers

import (
	"fmt"
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// An agentLog contains the requests and responses of an agent. Each request contains the complete earlier history.
type agentLog struct {
	requests, responses [][]byte
	size                int64 // size of the requests
}

const agentTurns = 200

// newAgentLog makes a log in which each turn has a call with about one kilobyte of arguments, and a result of
// two kilobytes. If rewritten is set, the client writes arguments again without the spaces.
func newAgentLog(protocol string, rewritten bool) (l agentLog) {
	type shape struct{ head, tail, ask, call, result, response string }
	s := map[string]shape{
		"openai-chat": {
			`{"model":"m","messages":[`, `]}`, `{"role":"user","content":"go on"}`,
			`,{"role":"assistant","content":null,"tool_calls":[{"id":%[1]q,"type":"function","function":{"name":"edit","arguments":%[2]q}}]}`,
			`,{"role":"tool","tool_call_id":%[1]q,"content":%[2]q}`,
			`{"object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":%[1]q,"type":"function","function":{"name":"edit","arguments":%[2]q}}]},"finish_reason":"tool_calls"}]}`,
		},
		"gemini": {
			`{"contents":[`, `]}`, `{"role":"user","parts":[{"text":"go on"}]}`,
			`,{"role":"model","parts":[{"functionCall":{"name":"edit","args":%[3]s}}]}`,
			`,{"role":"user","parts":[{"functionResponse":{"name":"edit","response":{"output":%[2]q}}}]}`,
			`{"candidates":[{"content":{"role":"model","parts":[{"functionCall":{"name":"edit","args":%[3]s}}]},"finishReason":"STOP","index":0}],"modelVersion":"m","responseId":"r"}`,
		},
	}[protocol]
	history := s.ask
	output := strings.Repeat("ok: all tests pass; ", 100)
	for n := range agentTurns {
		id := fmt.Sprintf("call_%024x", n*7919+1<<40)
		args := fmt.Sprintf(`{"path": "cmd/main_%d.go", "lines": [%d, %d], "text": "%s"}`, n, n, n+9, strings.Repeat("x = f(y) ", 110))
		request := []byte(s.head + history + s.tail)
		l.requests = append(l.requests, request)
		l.responses = append(l.responses, fmt.Appendf(nil, s.response+"%.0[1]s%.0[2]s%.0[3]s", id, args, args))
		l.size += int64(len(request))
		if rewritten {
			args = strings.NewReplacer(`": `, `":`, `, "`, `,"`).Replace(args)
		}
		history += fmt.Sprintf(s.call+"%.0[1]s%.0[2]s%.0[3]s", id, args, args) + fmt.Sprintf(s.result+"%.0[1]s%.0[2]s", id, output)
	}
	return l
}

// inspect reads the log, with or without its requests.
func (l agentLog) inspect(requests bool) *Inspector {
	in := new(Inspector)
	for n := range l.requests {
		if requests {
			in.Write(stream.Record{Exchange: n + 1, Request: true, Data: l.requests[n]})
		}
		in.Write(stream.Record{Exchange: n + 1, Data: l.responses[n]})
		in.Write(stream.Record{Exchange: n + 1, End: true})
	}
	in.Close()
	return in
}

// BenchmarkAgentLog measures the cost of observing: "read" only decodes the histories; "observe" also reports
// the treatment of each call.
func BenchmarkAgentLog(b *testing.B) {
	for _, target := range []string{"openai-chat", "gemini"} {
		for _, rewritten := range []bool{false, true} {
			l := newAgentLog(target, rewritten)
			name := target + map[bool]string{true: " rewritten"}[rewritten]
			b.Run(name+"/read", func(b *testing.B) {
				b.SetBytes(l.size)
				b.ReportAllocs()
				to := TargetOf(target)
				var kept []protocol.Message
				for b.Loop() {
					for _, r := range l.requests {
						kept, _ = to.Decode(r)
					}
				}
				_ = kept
			})
			b.Run(name+"/observe", func(b *testing.B) {
				b.SetBytes(l.size)
				b.ReportAllocs()
				for b.Loop() {
					l.inspect(true)
				}
			})
			b.Run(name+"/responses alone", func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					l.inspect(false)
				}
			})
		}
	}
}

// TestAgentLog checks that each call in a long log is reported once, with the right treatment. With TOOLSCOPE_LONG=1,
// it checks both treatments in both protocols.
func TestAgentLog(t *testing.T) {
	for _, target := range []string{"openai-chat", "gemini"} {
		for _, rewritten := range []bool{target == "gemini", target == "openai-chat"}[:inLong(1, 2)] {
			want := map[bool]string{false: "intact", true: "reformatted"}[rewritten]
			turns := newAgentLog(target, rewritten).inspect(true).Session().Turns
			if len(turns) != agentTurns {
				t.Fatalf("%d turns", len(turns))
			}
			for i, turn := range turns[:agentTurns-1] {
				c := turn.Calls[0]
				if len(c.SentBack) != 1 || c.SentBack[0].Outcome != want || c.SentBack[0].Exchange != i+2 || c.SentBack[0].ResultCode != stream.ResultOK || len(c.Findings) > 0 {
					t.Fatalf("%s, turn %d: %+v %+v", target, i, c.SentBack, c.Findings)
				}
			}
		}
	}
}
