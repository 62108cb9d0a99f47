package cli

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"toolscope/providers"
	"toolscope/providers/mcp"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/ui/diff"
)

// TestSamenessAgrees checks that all parts of the program that compare values reach the same result for each pair of
// values. These parts are tool runs, the history of a later request, schema drift, and diff.
func TestSamenessAgrees(t *testing.T) {
	for _, test := range []struct {
		a, b string
		same bool
	}{
		{`{"a":1,"b":2}`, `{ "b": 2, "a": 1 }`, true},
		{`{"a":1}`, `{"a":1.0}`, true},
		{`{"a":100}`, `{"a":1e2}`, true},
		{`{"a":0}`, `{"a":-0}`, true},
		{`{"a":9007199254740993}`, `{"a":9007199254740993.0}`, true},
		{`{"a":"é"}`, `{"a":"\u00e9"}`, true},
		{`{"a":{"x":[1,{"y":2}]}}`, `{"a":{"x":[1.0,{"y":2}]}}`, true},
		{`{"a":1,"a":2}`, `{"a":2}`, false},
		{`{"a":1,"a":2}`, `{"a":2,"a":1}`, false},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`, false},
		{`{"a":0.1}`, `{"a":0.1000000000000000055511151231257827}`, false},
		{`{"a":1e400}`, `{"a":1e401}`, false},
		{`{"a":1}`, `{"a":"1"}`, false},
		{`{"a":[1,2]}`, `{"a":[2,1]}`, false},
		{`{"a":null}`, `{}`, false},
		{`{"a":1}`, `{"a":1,"b":2}`, false},
	} {
		in := sameness(test.a, test.b)
		turns := in.Session().Turns
		calls := []*diff.Args{diff.ArgsOf(turns[0].Calls[0]), diff.ArgsOf(turns[1].Calls[0])}
		_, sums := diff.CompareArgs(calls, 0, []bool{false, false})
		messages, target := in.Exchange(3).History()
		sentBack := new(replay.Observer).Observe(replay.ReadPast(messages, target), []replay.Candidate{{Turn: turns[0], Target: target}})
		if len(sentBack) != 1 {
			t.Fatalf("%s and %s: %d calls were sent back", test.a, test.b, len(sentBack))
		}
		found := map[string]bool{}
		for _, turn := range turns {
			for _, f := range slices.Concat(turn.Findings, turn.Calls[0].Findings) {
				found[f.Code] = true
			}
		}
		for what, same := range map[string]bool{
			"json.Same":    json.Same([]byte(test.a), []byte(test.b)),
			"diff":         sums[0] == sums[1],
			"tool run":     !found["EXEC_ALTERED"],
			"schema drift": !found["TOOL_SCHEMA_DRIFT"],
			"sent back":    sentBack[0].Treatment == replay.WasReformatted && len(sentBack[0].Losses) == 0,
		} {
			if same != test.same {
				t.Errorf("%s and %s: %s says same = %v", test.a, test.b, what, same)
			}
		}
	}
}

// TestAlteredNonObjects checks the finding about a tool that received an object although the model's complete
// arguments are not an object. Near misses are an object inside a string, and values that stand for no arguments.
func TestAlteredNonObjects(t *testing.T) {
	for _, test := range []struct{ wrote, got, want string }{
		{`[1,2]`, `{"items":[1,2]}`, "an array"},
		{`"Oslo"`, `{"city":"Oslo"}`, "a string"},
		{`7`, `{"n":7}`, "a number"},
		{`false`, `{}`, "false"},
		{`"{\"a\":1}"`, `{"a":2}`, "a string"},
		{`[{"a":1}]`, `{"a":1}`, "an array"},
		{`"{\"a\":1}"`, `{ "a": 1.0 }`, ""},
		{`"[1]"`, `[1]`, ""},
		{`[]`, `{}`, ""},
		{` [ ] `, `{}`, ""},
		{`""`, `{}`, ""},
		{`null`, `{}`, ""},
		{`7`, `7`, ""},
	} {
		var found []string
		for _, f := range sameness(test.wrote, test.got).Session().Turns[0].Calls[0].Findings {
			if f.Code == "EXEC_ALTERED" {
				found = append(found, f.Severity.String()+" "+f.Message)
			}
		}
		want := []string{"error sum got arguments that the model didn't write: the model wrote " + test.want + ", not an object"}
		if test.want == "" {
			want = nil
		}
		if !slices.Equal(found, want) {
			t.Errorf("%s got as %s: %q", test.wrote, test.got, found)
		}
	}
}

// sameness reads a source in which a model calls a tool twice: with the arguments a, and then with b. For the first
// call, the tool receives b, and a later request sends the call back with b. The tool's schema is a for the model and
// b at its server.
func sameness(a, b string) *providers.Inspector {
	in, now := new(providers.Inspector), time.Duration(0)
	write := func(r stream.Record) {
		now += 10 * time.Millisecond
		r.At = now
		in.Write(r)
	}
	const server = 9
	write(stream.Record{Exchange: server, Request: true, Head: &stream.Head{Method: mcp.Stdio, URL: "mcp:files"}})
	rpc := func(request bool, line string) {
		write(stream.Record{Exchange: server, Request: request, Data: []byte(line + "\n")})
	}
	rpc(true, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	rpc(false, `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"sum","inputSchema":`+b+`}]}}`)
	ask := func(exchange int, messages string) {
		write(stream.Record{Exchange: exchange, Request: true, Head: &stream.Head{Method: "POST", URL: "https://api.anthropic.com/v1/messages"},
			Data: []byte(`{"model":"m","messages":[` + messages + `],"tools":[{"name":"mcp__files__sum","input_schema":` + a + `}]}`)})
		write(stream.Record{Exchange: exchange, Head: &stream.Head{Status: 200}})
	}
	answer := func(exchange int, id, args string) {
		for _, event := range []string{
			fmt.Sprintf(`{"type":"message_start","message":{"id":"msg_%d","type":"message","role":"assistant","model":"m","content":[]}}`, exchange),
			fmt.Sprintf(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":%q,"name":"mcp__files__sum","input":{}}}`, id),
			fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":%s}}`, json.AppendQuoted(nil, []byte(args))),
			`{"type":"content_block_stop","index":0}`,
			`{"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":7}}`,
			`{"type":"message_stop"}`,
		} {
			write(stream.Record{Exchange: exchange, Data: []byte("data: " + event + "\n\n")})
		}
		write(stream.Record{Exchange: exchange, End: true})
	}
	const user = `{"role":"user","content":"hello"}`
	ask(1, user)
	answer(1, "toolu_1", a)
	rpc(true, `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"sum","arguments":`+b+`,"_meta":{"claudecode/toolUseId":"toolu_1"}}}`)
	rpc(false, `{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"3"}]}}`)
	ask(2, user)
	answer(2, "toolu_2", b)
	ask(3, user+`,{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"mcp__files__sum","input":`+b+`}]}`+
		`,{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"3"}]}`)
	answer(3, "toolu_3", "{}")
	in.Close()
	return in
}
