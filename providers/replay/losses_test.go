package replay_test

import (
	"encoding/json"
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
)

// told describes losses of arguments: each code is followed by the bytes that the loss concerns.
func told(p replay.Preview) string {
	var all []string
	for _, l := range p.Losses {
		if l.Kind == replay.SignatureSentinel {
			continue
		}
		word := l.Code
		if l.End > 0 {
			word += "=" + string(p.Calls[l.Call-1].Original[l.Start:l.End])
		}
		all = append(all, word)
	}
	return strings.Join(all, " ")
}

// TestLossesAreTrue checks that a loss is reported if and only if it happens, with the right bytes.
func TestLossesAreTrue(t *testing.T) {
	for _, test := range []struct{ args, to, policy, sent, losses string }{
		// Keys that are numbers: in the order that JavaScript writes, and out of order.
		{`{"1":"\u00e9","a":1}`, "openai-chat", "empty", `{"1":"é","a":1}`, `STR_SPELLING="\u00e9"`},
		{`{"1":1,"2":2,"a":3}`, "openai-chat", "empty", `{"1":1,"2":2,"a":3}`, ``},
		{`{"2":1,"1":2}`, "openai-chat", "empty", `{"1":2,"2":1}`, `KEY_ORDER="1"`},
		{`{"a":1,"1":2}`, "openai-chat", "empty", `{"1":2,"a":1}`, `KEY_ORDER="1"`},
		{`{"a":1,"4294967295":2}`, "openai-chat", "empty", `{"a":1,"4294967295":2}`, ``},
		{`{"a":1,"4294967294":2}`, "openai-chat", "empty", `{"4294967294":2,"a":1}`, `KEY_ORDER="4294967294"`},
		// The loss for a duplicate key points at the first occurrence.
		{`{"a":1,"c":2,"a":3,"b":4}`, "gemini", "preserve", `{"a":3,"b":4,"c":2}`, `DUP_KEYS="a" KEY_ORDER="b"`},
		{`{"a":1,"b":2,"a":3,"c":4}`, "gemini", "preserve", `{"a":3,"b":2,"c":4}`, `DUP_KEYS="a"`},
		// One string loses half a character, and another string is only respelled.
		{`{"a":"\ud800","b":"\u0041"}`, "anthropic", "empty", `{"a":"` + "\uFFFD" + `","b":"A"}`, `UNICODE_SANITIZED="\ud800" STR_SPELLING="\u0041"`},
		{`{"a":"\uD800"}`, "openai-chat", "empty", `{"a":"\ud800"}`, `STR_SPELLING="\uD800"`},
		{`{"a":"\ud800"}`, "openai-chat", "empty", `{"a":"\ud800"}`, ``},
		// Complete characters that begin like half a surrogate pair, or contain the same bytes.
		{`{"a":"\n中ퟻ…"}`, "anthropic", "preserve", `{"a":"\n中ퟻ…"}`, ``},
		// The loss contains only the removed white space.
		{`{"a": 1} `, "anthropic", "preserve", `{"a": 1}`, `WHITESPACE= `},
		{"\n" + `{"a": 1}`, "anthropic", "preserve", `{"a": 1}`, "WHITESPACE=\n"},
		{`{"a": 1}`, "anthropic", "preserve", `{"a": 1}`, ``},
		{`{"a": 1}`, "anthropic", "empty", `{"a":1}`, `WHITESPACE= `},
		// Everything after the first object is lost.
		{`{"a":1}{"b":2}`, "anthropic", "repair", `{"a":1}`, `CONCAT_FIRST_ONLY={"b":2}`},
		{`{"a":1}{"b":`, "anthropic", "repair", `{"a":1}`, `CONCAT_FIRST_ONLY={"b":`},
		{`{"a":1}{"b":2}x`, "anthropic", "repair", `{"a":1}`, `CONCAT_FIRST_ONLY={"b":2}x`},
		{`{"a":1} x`, "anthropic", "repair", `{"a":1}`, `ARGS_REPAIRED= x`},
		// Bytes that are not text, in the original and in the message about them.
		{"{\"a\":\"\xff\"}{", "anthropic", "repair", `{"a":"` + "\uFFFD" + `"}`, "UNICODE_SANITIZED=\xff CONCAT_FIRST_ONLY={"},
		{"{\"\xff\":1.0}", "ollama", "empty", `{"` + "\uFFFD" + `":1}`, "UNICODE_SANITIZED=\xff NUM_SPELLING=1.0"},
		{"{\"a\":\"\xed\xa0\x80", "anthropic", "wrap", `{"INVALID_JSON":"{\"a\":\"` + "\uFFFD" + `"}`, "ARGS_WRAPPED={\"a\":\"\xed\xa0\x80 UNICODE_SANITIZED=\xed\xa0\x80"},
		// Integers on both sides of the range that a double represents exactly.
		{`{"n":9007199254740991}`, "gemini", "preserve", `{"n":9007199254740991}`, ``},
		{`{"n":9007199254740992}`, "gemini", "preserve", `{"n":9007199254740992}`, ``},
		{`{"n":9007199254740993}`, "gemini", "preserve", `{"n":9007199254740992}`, `INT_PRECISION=9007199254740993`},
		{`{"n":9007199254740993}`, "anthropic", "preserve", `{"n":9007199254740993}`, ``},
		{`{"n":1e308}`, "ollama", "preserve", `{"n":1e+308}`, `NUM_SPELLING=1e308`},
		{`{"n":1e309}`, "ollama", "preserve", `{"n":1e309}`, `NUM_RANGE=1e309`},
		{`{"n":1e309}`, "ollama", "empty", `{"n":null}`, `NUM_RANGE=1e309`},
	} {
		from := target(t, "openai-chat")
		p := replay.SourceOfHistory(calls(from, test.args), from).Preview(target(t, test.to), policy(t, test.policy))
		if string(p.Calls[0].Args) != test.sent || told(p) != test.losses {
			t.Errorf("%q to %s under %s: %s, %s\nwant %s, %s", test.args, test.to, test.policy, p.Calls[0].Args, told(p), test.sent, test.losses)
		}
	}
}

// TestBeyondEveryDouble checks a number that is too large for a double. JavaScript writes null for it. Other clients
// that use doubles can't send the call.
func TestBeyondEveryDouble(t *testing.T) {
	from := target(t, "openai-chat")
	src := replay.SourceOfHistory(calls(from, `{"n":1e309}`), from)
	for name, want := range map[string]struct{ message, refused string }{
		"preserve": {"1e309 is too large for a double", "a number is too large for a double"},
		"empty":    {"1e309 is too large for a double: JavaScript writes null instead", ""},
	} {
		p := src.Preview(target(t, "ollama"), policy(t, name))
		if len(p.Losses) != 1 || p.Losses[0].Message != want.message || (p.Refused == "") != (want.refused == "") || !strings.Contains(p.Refused, want.refused) {
			t.Errorf("%s: %+v, refused %q", name, p.Losses, p.Refused)
		}
	}
}

// TestDepth checks that the most deeply nested arguments that a target reads cause no loss, and that one more level
// does.
func TestDepth(t *testing.T) {
	objects := func(n int) string { return strings.Repeat(`{"a":`, n) + "1" + strings.Repeat("}", n) }
	lists := func(n int) string { return `{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}" }
	from := target(t, "openai-chat")
	for _, test := range []struct {
		to, args, losses string
	}{
		{"gemini", objects(32), ""},
		{"gemini", objects(33), "DEPTH_LIMIT"},
		{"gemini", lists(47), ""},
		{"gemini", lists(48), "DEPTH_LIMIT"},
		{"aistudio", objects(32), ""},
		{"aistudio", objects(33), "DEPTH_LIMIT"},
		{"anthropic", objects(5000), ""},
	} {
		p := replay.SourceOfHistory(calls(from, test.args), from).Preview(target(t, test.to), policy(t, "preserve"))
		if told(p) != test.losses {
			t.Errorf("%.20s of %d bytes to %s: %s", test.args, len(test.args), test.to, codes(p.Losses))
		}
		// Without known error messages, it is also unknown whether the target refuses the arguments.
		if refused := strings.Contains(p.Refused, "too deep"); refused != (test.losses != "" && test.to == "gemini") || refused != (p.Acceptance.Verdict == replay.Refused) {
			t.Errorf("%.20s of %d bytes to %s: %s, %q", test.args, len(test.args), test.to, p.Acceptance.Verdict, p.Refused)
		}
	}
	p := replay.SourceOfHistory(calls(from, objects(40)), from).Preview(target(t, "gemini"), policy(t, "preserve"))
	const want = "the arguments are nested 40 levels deep, which needs 123 nested protobuf messages; the target accepts 100 messages, which is enough for 32 nested objects"
	if p.Losses[0].Message != want {
		t.Errorf("%q, want %q", p.Losses[0].Message, want)
	}
}

// TestLongIDsStayText checks that an id is never cut inside a character, and is never longer than allowed.
func TestLongIDsStayText(t *testing.T) {
	from, to := target(t, "openai-chat"), target(t, "openai-responses")
	for id, want := range map[string]string{
		strings.Repeat("x", 64):            strings.Repeat("x", 64),
		strings.Repeat("x", 65):            strings.Repeat("x", 64),
		"x" + strings.Repeat("é", 32):      "x" + strings.Repeat("é", 31),
		strings.Repeat("x", 60) + "_____x": strings.Repeat("x", 60),
	} {
		p := replay.SourceOfHistory(answered(from, id), from).Preview(to, policy(t, "preserve"))
		if p.Calls[0].ID != want || strings.Count(body(p), `"`+want+`"`) != 2 || (codes(p.Losses) == "") != (id == want) {
			t.Errorf("%s becomes %s: %s", id, p.Calls[0].ID, codes(p.Losses))
		}
	}
}

// TestOneResultEach checks that a result belongs to only one call. If two calls have the same id, neither the first
// call's result nor a later turn's result belongs to the second call.
func TestOneResultEach(t *testing.T) {
	from := target(t, "openai-chat")
	turn := func(results ...protocol.Part) []protocol.Message {
		m := calls(from, `{}`)
		if len(results) > 0 {
			m = append(m, user(results...))
		}
		return m
	}
	says1 := user(says("hm"))
	two := calls(from, `{}`, `{}`)
	two[0].Parts[1].ID = "call_1"
	for name, test := range map[string]struct {
		history  []protocol.Message
		wrap     string // losses if the history is not repaired
		preserve string // losses if results are moved to their calls
		results  string // results in order, after the repair
	}{
		"one result of two calls with one id": {append(two, user(result("call_1", "a"))),
			"IDCOLLISION ORPHAN_CALL", "IDCOLLISION ADJACENCY_FIX", "No result provided, a"},
		"two results of one call": {turn(result("call_1", "a"), result("call_1", "b")), "ORPHAN_RESULT", "ORPHAN_RESULT", "a, b"},
		"a later turn's result": {append(append(turn(), says1), turn(result("call_1", "b"))...),
			"IDCOLLISION ORPHAN_CALL", "IDCOLLISION ADJACENCY_FIX", "No result provided, b"},
		"a result that comes late": {append(turn(), says1, protocol.Message{Role: protocol.Assistant, Parts: []protocol.Part{says("so")}}, user(result("call_1", "a"))),
			"ORPHAN_CALL ORPHAN_RESULT", "ADJACENCY_FIX", "a"},
		"a result before its call": {append([]protocol.Message{user(result("call_1", "a"))}, append(turn(), says1)...),
			"ORPHAN_CALL ORPHAN_RESULT", "ADJACENCY_FIX ORPHAN_RESULT", "a, No result provided"},
	} {
		for policyName, want := range map[string]string{"wrap": test.wrap, "preserve": test.preserve} {
			p := replay.SourceOfHistory(test.history, from).Preview(from, policy(t, policyName))
			if got := codes(p.Losses); got != strings.ReplaceAll(want, "IDCOLLISION", replay.IDCollision.Code) {
				t.Errorf("%s under %s: %s, want %s", name, policyName, got, want)
			}
			if got := strings.Join(resultsIn(p), ", "); policyName == "preserve" && got != test.results {
				t.Errorf("%s: %s, want %s", name, got, test.results)
			}
			for _, l := range p.Losses {
				if (l.Kind == replay.OrphanCall || l.Kind == replay.AdjacencyFix) && l.Call != 1 && (l.Call != 2 || name != "one result of two calls with one id") {
					t.Errorf("%s: %s is about call %d", name, l.Code, l.Call)
				}
			}
		}
	}
}

// resultsIn returns the texts of a preview's results, in order.
func resultsIn(p replay.Preview) (texts []string) {
	for _, m := range read(p.To, p.Body) {
		for _, part := range m.Parts {
			if part.Kind == protocol.ResultPart {
				texts = append(texts, string(part.Text))
			}
		}
	}
	return texts
}

// TestSplitOnlyWhatWasTogether checks turns with one call each. Such a turn must not be reported as split, or as
// lacking the signature of another turn.
func TestSplitOnlyWhatWasTogether(t *testing.T) {
	gemini := target(t, "gemini")
	first, second := answered(gemini, "a"), answered(gemini, "b")
	first[0].Parts[0].Signature = "c2ln"
	p := replay.SourceOfHistory(append(first, second...), gemini).Split().Preview(gemini, policy(t, "preserve"))
	if len(p.Losses) > 0 || p.Refused != "" {
		t.Errorf("turns of one call: %s, refused %q", codes(p.Losses), p.Refused)
	}
	p = replay.SourceOfHistory(answered(gemini, "a", "b"), gemini).Split().Preview(gemini, policy(t, "preserve"))
	if codes(p.Losses) != replay.ParallelSplit.Code || p.Refused != "" {
		t.Errorf("a model that signs nothing: %s, refused %q", codes(p.Losses), p.Refused)
	}
}

// TestSplitFindsResults checks that each call is followed by its own result, even if each result is in a message of
// its own. Parts that were not split must stay unchanged.
func TestSplitFindsResults(t *testing.T) {
	chat := target(t, "openai-chat")
	request := `{"messages":[{"role":"assistant","content":"","refusal":"no"},{"role":"assistant","tool_calls":[` +
		`{"id":"a","function":{"name":"f","arguments":"{}"}},{"id":"b","function":{"name":"f","arguments":"{}"}},{"id":"c","function":{"name":"f","arguments":"{}"}}]},` +
		`{"role":"tool","tool_call_id":"c","content":"3"},{"role":"tool","tool_call_id":"a","content":"1"},{"role":"tool","tool_call_id":"b","content":"2"},{"role":"user","content":[],"name":"mute"},{"role":"user","content":"go on","name":"me"}]}`
	history, err := chat.Decode([]byte(request))
	if err != nil {
		t.Fatal(err)
	}
	p := replay.SourceOfHistory(history, chat).Split().Preview(chat, policy(t, "wrap"))
	var order []string
	for _, m := range read(chat, p.Body) {
		for _, part := range m.Parts {
			order = append(order, part.ID+string(part.Text))
		}
	}
	if got := strings.Join(order, " "); got != "a a1 b b2 c c3 go on" || p.Refused != "" {
		t.Errorf("%s, refused %q", got, p.Refused)
	}
	if !strings.Contains(body(p), `{"role":"assistant","content":"","refusal":"no"}`) || !strings.Contains(body(p), `"name":"me"`) || !strings.Contains(body(p), `"name":"mute"`) {
		t.Errorf("not as it was: %s", body(p))
	}
}

// TestOwnThings checks that special items of a protocol are sent back unchanged in the same protocol, from a
// history and from a new turn.
func TestOwnThings(t *testing.T) {
	responses, chat := target(t, "openai-responses"), target(t, "openai-chat")
	for name, test := range map[string]struct {
		to   *protocol.Target
		part protocol.Part
		want string
	}{
		"the fingerprint of a program": {responses,
			protocol.Part{Kind: protocol.CallPart, ToolKind: "server", Name: "program", ID: "p1", Item: "cm_1", Args: []byte("print()"), Signature: "fp", RunByProvider: true}, `"fingerprint":"fp"`},
		"a name with a dot of an MCP server": {responses,
			protocol.Part{Kind: protocol.CallPart, ToolKind: "mcp", Name: "repo.search", ID: "mcp_1", MCPServer: "h", Args: []byte("{}"), RunByProvider: true}, `"name":"repo.search"`},
		"a signature beside a call": {chat,
			protocol.Part{Kind: protocol.CallPart, ToolKind: "function", Name: "f", ID: "a", Args: []byte("{}"), Signature: "c2ln"}, `"thought_signature":"c2ln"`},
	} {
		p := replay.SourceOfHistory([]protocol.Message{{Role: protocol.Assistant, Parts: []protocol.Part{test.part}}}, test.to).Preview(test.to, policy(t, "preserve"))
		if len(p.Losses) > 0 || p.Refused != "" || !strings.Contains(body(p), test.want) {
			t.Errorf("%s: %s, refused %q: %s", name, codes(p.Losses), p.Refused, body(p))
		}
	}
}

// TestOwnThingsBroken checks calls of tools that the provider runs, with malformed arguments. These must not be
// written where only JSON is valid. If such arguments come from the client's request, they are unknown.
func TestOwnThingsBroken(t *testing.T) {
	for _, to := range providers.Targets() {
		for _, args := range []string{`{"a":1`, `[[`, `x`} {
			p := protocol.Part{Kind: protocol.CallPart, ToolKind: "server", Name: "web_search", ID: "srvtoolu_1", Args: []byte(args), RunByProvider: true}
			src := replay.SourceOfHistory([]protocol.Message{{Role: protocol.Assistant, Parts: []protocol.Part{p}}}, to)
			for i := range replay.Policies {
				by := &replay.Policies[i]
				if !by.Knows(src.From, to) {
					continue
				}
				got := src.Preview(to, by)
				for _, message := range got.Body {
					if !json.Valid(message) {
						t.Errorf("to %s under %s: %s", to.Name, by.Name, message)
					}
				}
				if to.Name == "anthropic" && by.Name == "ai-sdk" && got.Outcome != replay.Unknown {
					t.Errorf("to %s under %s: %s, %s", to.Name, by.Name, got.Outcome, body(got))
				}
			}
		}
	}
}

// TestResultOfCustomTool checks that the pending result of a custom tool has the kind of a custom tool, or of
// a function if the call became one.
func TestResultOfCustomTool(t *testing.T) {
	const wire = `{"object":"response","status":"completed","output":[{"type":"custom_tool_call","id":"ctc_1","call_id":"c1","name":"patch","input":"*** Begin"}]}`
	responses := target(t, "openai-responses")
	turn := turnOf(t, wire)
	for to, want := range map[string]string{"openai-responses": `"type":"custom_tool_call_output"`, "openai-chat": `"role":"tool"`, "anthropic": `"type":"tool_result"`} {
		p := replay.SourceOfCalls(turn, responses).Preview(target(t, to), policy(t, "preserve"))
		if len(p.Results) != 1 || !strings.Contains(string(p.Results[0]), want) {
			t.Errorf("to %s: %s", to, p.Results)
		}
	}
}
