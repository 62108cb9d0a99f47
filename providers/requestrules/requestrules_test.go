package requestrules_test

import (
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/providers/requestrules"
	"toolscope/stream"
)

// rulesOf returns the rules that a request breaks, each with the number of places, separated by spaces.
func rulesOf(t *testing.T, target, request string) string {
	t.Helper()
	to, err := providers.FindTarget(target)
	if err != nil {
		t.Fatal(err)
	}
	messages, err := to.Decode([]byte(request))
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, b := range requestrules.Check(&requestrules.Request{Body: []byte(request), Messages: messages, Target: to}) {
		said = append(said, b.Rule+strings.Repeat("+", len(b.Spots)-1))
	}
	return strings.Join(said, " ")
}

// Parts of requests: a question, calls and results in each protocol.
const (
	askA        = `{"role":"user","content":"list the ports"}`
	twoA        = `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_q1","name":"ls","input":{}},{"type":"tool_use","id":"toolu_q2","name":"ls","input":{"d":1}}]}`
	oneA        = `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_q1","name":"ls","input":{}}]}`
	res1A       = `{"type":"tool_result","tool_use_id":"toolu_q1","content":"a"}`
	res2A       = `{"type":"tool_result","tool_use_id":"toolu_q2","content":"b"}`
	textA       = `{"type":"text","text":"and then?"}`
	askC        = `{"role":"user","content":"list the ports"}`
	twoC        = `{"role":"assistant","content":null,"tool_calls":[{"id":"call_p1","type":"function","function":{"name":"ls","arguments":"{}"}},{"id":"call_p2","type":"function","function":{"name":"ls","arguments":"{}"}}]}`
	res1C       = `{"role":"tool","tool_call_id":"call_p1","content":"a"}`
	res2C       = `{"role":"tool","tool_call_id":"call_p2","content":"b"}`
	callR       = `{"type":"function_call","id":"fc_k1","call_id":"call_p1","name":"ls","arguments":"{}"}`
	resR        = `{"type":"function_call_output","call_id":"call_p1","output":"a"}`
	askG        = `{"role":"user","parts":[{"text":"list the ports"}]}`
	callG       = `{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}},{"functionCall":{"name":"cat","args":{}}}]}`
	onlyLsG     = `{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]}`
	lsG         = `{"functionResponse":{"name":"ls","response":{"output":"a"}}}`
	catG        = `{"functionResponse":{"name":"cat","response":{"output":"b"}}}`
	askB        = `{"role":"user","content":[{"text":"list the ports"}]}`
	callB       = `{"role":"assistant","content":[{"toolUse":{"toolUseId":"tooluse_w1","name":"ls","input":{}}}]}`
	resB        = `{"toolResult":{"toolUseId":"tooluse_w1","content":[{"text":"a"}]}}`
	sayB        = `{"text":"and then?"}`
	markedA     = `{"role":"user","content":[` + markedTextA + `]}`
	nineC       = `{"role":"assistant","content":"","tool_calls":[{"id":"a1b2c3d4e","type":"function","function":{"name":"ls","arguments":"{}"}}]}`
	resNineC    = `{"role":"tool","tool_call_id":"a1b2c3d4e","name":"ls","content":"a"}`
	markedTextA = `{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}`
	longID      = "call_0123456789012345678901234567890123456789"
)

// TestRules checks that each broken rule is reported, and that requests that almost break a rule are accepted.
func TestRules(t *testing.T) {
	const (
		searchA = `{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{}}`
		foundA  = `{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]}`
	)
	user := func(parts ...string) string { return `{"role":"user","content":[` + strings.Join(parts, ",") + `]}` }
	contents := func(parts ...string) string { return `{"role":"user","parts":[` + strings.Join(parts, ",") + `]}` }
	for _, test := range []struct{ name, target, want, messages string }{
		// Anthropic: calls and results.
		{"both answered", "anthropic", "", askA + "," + twoA + "," + user(res2A, res1A, textA)},
		{"the calls end the history", "anthropic", "", askA + "," + twoA},
		{"one without a result", "anthropic", "call-answered", askA + "," + twoA + "," + user(res1A)},
		{"both without a result", "anthropic", "call-answered+", askA + "," + twoA + "," + user(textA)},
		{"results in two messages of one speaker", "anthropic", "", askA + "," + twoA + "," + user(res1A) + "," + user(res2A)},
		{"text before the result", "anthropic", "result-follows", askA + "," + oneA + "," + user(textA, res1A)},
		{"a message before the result", "anthropic", "result-follows", askA + "," + oneA + "," + user(textA) + "," + user(res1A)},
		{"text of the model between a call and its result", "anthropic", "", askA + "," + oneA + `,{"role":"assistant","content":"ok"},` + user(res1A)},
		{"an answer before the result", "anthropic", "result-follows",
			askA + "," + oneA + `,{"role":"user","content":"wait"},{"role":"assistant","content":"ok"},` + user(res1A)},
		{"a result in a message of the model", "anthropic", "", askA + "," + oneA + `,{"role":"assistant","content":[` + res1A + `]},` + askA},
		{"a result without its call", "anthropic", "result-has-call", askA + "," + oneA + "," + user(res1A, res2A)},
		{"two results", "anthropic", "result-once", askA + "," + oneA + "," + user(res1A, res1A)},
		{"a second result later", "anthropic", "result-once",
			askA + "," + oneA + "," + user(res1A) + `,{"role":"assistant","content":"ok"},` + user(res1A)},
		{"a call twice", "anthropic", "id-unique",
			askA + "," + oneA + "," + user(res1A) + "," + oneA + "," + user(res1A)},
		{"a call twice, one result", "anthropic", "id-unique", askA + "," + oneA + "," + oneA + "," + user(res1A)},
		{"a tool of the provider", "anthropic", "server-call-answered", askA + `,{"role":"assistant","content":[` + searchA + `]},{"role":"user","content":"go on"}`},
		{"a tool of the provider, with its result", "anthropic", "",
			askA + `,{"role":"assistant","content":[` + searchA + `,` + foundA + `]},{"role":"user","content":"go on"}`},
		{"the result of a provider's tool alone", "anthropic", "server-result-has-call", askA + `,{"role":"assistant","content":[` + foundA + `]}`},
		{"code of the provider that waits for a call", "anthropic", "",
			askA + `,{"role":"assistant","content":[{"type":"server_tool_use","id":"srvtoolu_2","name":"code_execution","input":{}},` +
				`{"type":"tool_use","id":"toolu_q1","name":"ls","input":{},"caller":{"type":"code_execution_20250825","tool_id":"srvtoolu_2"}}]},` + user(res1A)},
		// Anthropic: ids, names, arguments, contents.
		{"an id with a dot", "anthropic", "id-legal",
			askA + `,{"role":"assistant","content":[{"type":"tool_use","id":"functions.ls:0","name":"ls","input":{}}]}`},
		{"no id", "anthropic", "id-present", askA + `,{"role":"assistant","content":[{"type":"tool_use","name":"ls","input":{}}]}`},
		{"a name with a dot", "anthropic", "name-legal",
			askA + `,{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"fs.ls","input":{}}]}`},
		{"a string as input", "anthropic", "arguments-object",
			askA + `,{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":"{}"}]}`},
		{"a list as input", "anthropic", "arguments-object",
			askA + `,{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":[]}]}`},
		{"the model begins", "anthropic", "turn-order", oneA + "," + user(res1A)},
		{"an empty text", "anthropic", "content-empty", askA + `,{"role":"assistant","content":[{"type":"text","text":""}]}`},
		{"an empty text next to a call", "anthropic", "content-empty",
			askA + `,{"role":"assistant","content":[{"type":"text","text":""},{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}]}`},
		{"an empty text after a call", "anthropic", "content-empty",
			askA + `,{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"ls","input":{}},{"type":"text","text":""}]}`},
		{"a call after a text", "anthropic", "", askA + `,{"role":"assistant","content":[{"type":"text","text":"a"},{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}]}`},
		{"several blank texts", "anthropic", "content-empty", user(`{"type":"text","text":" "}`, `{"type":"text","text":"\n"}`)},
		{"a question without content", "anthropic", "", `{"role":"user"}`},
		{"a blank text next to a call", "anthropic", "",
			askA + `,{"role":"assistant","content":[{"type":"text","text":"\n\n"},{"type":"tool_use","id":"toolu_1","name":"ls","input":{}}]}`},
		{"only blank texts", "anthropic", "content-empty", `{"role":"user","content":[{"type":"text","text":" \n"}]}`},
		{"an answer without text", "anthropic", "", askA + `,{"role":"assistant","content":""},{"role":"user","content":"more"}`},
		{"a question without text", "anthropic", "content-empty", `{"role":"user","content":""}`},
		{"a text to continue", "anthropic", "", askA + `,{"role":"assistant","content":"The ports are:"}`},
		{"a text to continue, with a blank", "anthropic", "trailing-space", askA + `,{"role":"assistant","content":"The ports are: "}`},
		{"a blank in an earlier text", "anthropic", "", askA + `,{"role":"assistant","content":"The ports are: "},` + askA},
		{"four marks", "anthropic", "", strings.Repeat(markedA+",", 4) + askA},
		{"five marks", "anthropic", "cache-marks", strings.Repeat(markedA+",", 5) + askA},
		{"four marks and null", "anthropic", "", strings.Repeat(markedA+",", 4) + user(`{"type":"text","text":"a","cache_control":null}`)},
		// Bedrock.
		{"bedrock answered", "bedrock", "", askB + "," + callB + "," + user(resB)},
		{"bedrock unanswered", "bedrock", "call-answered", askB + "," + callB + "," + user(sayB)},
		{"bedrock, text first", "bedrock", "result-follows", askB + "," + callB + "," + user(sayB, resB)},
		{"bedrock, result alone", "bedrock", "result-has-call", askB + "," + user(resB)},
		{"bedrock, two results", "bedrock", "result-once", askB + "," + callB + "," + user(resB, resB)},
		// Chat Completions.
		{"chat, any order", "openai-chat", "", askC + "," + twoC + "," + res2C + "," + res1C + "," + askC},
		{"chat, one missing", "openai-chat", "call-answered", askC + "," + twoC + "," + res2C + "," + askC},
		{"chat, result alone", "openai-chat", "result-has-call", askC + "," + res1C},
		{"chat, two results", "openai-chat", "result-once", askC + "," + twoC + "," + res1C + "," + res2C + "," + res1C},
		{"chat, a message between", "openai-chat", "result-follows", askC + "," + twoC + "," + res1C + "," + askC + "," + res2C},
		{"chat, the same ids in each turn", "openai-chat", "",
			askC + "," + twoC + "," + res1C + "," + res2C + "," + twoC + "," + res1C + "," + res2C},
		{"chat, the same ids in each turn, one missing", "openai-chat", "call-answered",
			askC + "," + twoC + "," + res1C + "," + res2C + "," + twoC + "," + res1C + "," + askC},
		{"chat, an id of 40 bytes", "openai-chat", "",
			askC + `,{"role":"assistant","tool_calls":[{"id":"` + longID[:40] + `","type":"function","function":{"name":"ls","arguments":"{}"}}]}`},
		{"chat, an id of 45 bytes", "openai-chat", "id-legal",
			askC + `,{"role":"assistant","tool_calls":[{"id":"` + longID + `","type":"function","function":{"name":"ls","arguments":"{}"}}]}`},
		{"chat, an empty id", "openai-chat", "id-present",
			askC + `,{"role":"assistant","tool_calls":[{"id":"","type":"function","function":{"name":"ls","arguments":"{}"}}]},{"role":"tool","tool_call_id":"","content":"a"}`},
		{"chat, a result without id", "openai-chat", "id-present",
			askC + "," + nineC + `,{"role":"tool","content":"a"},` + askC},
		{"chat, a second result without id", "openai-chat", "", askC + "," + nineC + "," + resNineC + `,{"role":"tool","content":"a"}`},
		{"chat, no id", "openai-chat", "id-present", askC + `,{"role":"assistant","tool_calls":[{"type":"function","function":{"name":"ls","arguments":"{}"}}]}`},
		{"chat, a call of the first API", "openai-chat", "",
			askC + `,{"role":"assistant","content":null,"function_call":{"name":"ls","arguments":"{}"}},{"role":"function","name":"ls","content":"a"}`},
		{"mistral, another id", "mistral", "id-legal+", askC + "," + twoC},
		{"mistral, the model speaks after results", "mistral", "", askC + "," + nineC + "," + resNineC + `,{"role":"assistant","content":"ok"},` + askC},
		{"mistral, the user speaks after results", "mistral", "turn-order", askC + "," + nineC + "," + resNineC + "," + askC},
		{"chat, the user speaks after results", "openai-chat", "", askC + "," + nineC + "," + resNineC + "," + askC},
		{"five marks in a result", "anthropic", "cache-marks", askA + "," + oneA + "," + user(strings.Replace(res1A, `"a"`, "["+strings.Repeat(markedTextA+",", 4)+markedTextA+"]", 1))},
		{"chat, five marks", "openai-chat", "", strings.Repeat(markedA+",", 5) + askC},
		{"chat, broken arguments", "openai-chat", "arguments-json", askC + "," + strings.Replace(nineC, `"{}"`, `"{\"d\": \"a"`, 1) + "," + resNineC},
		{"chat, a list as arguments", "openai-chat", "arguments-json", askC + "," + strings.Replace(nineC, `"{}"`, `"[1]"`, 1) + "," + resNineC},
		{"chat, no arguments", "openai-chat", "", askC + "," + strings.Replace(nineC, `"{}"`, `""`, 1) + "," + resNineC},
		{"chat, the text of a custom tool", "openai-chat", "",
			askC + `,{"role":"assistant","tool_calls":[{"id":"a1b2c3d4e","type":"custom","custom":{"name":"ls","input":"a b"}}]},` + resNineC},
		{"llama.cpp takes all", "llama.cpp", "", askC + "," + twoC + "," + askC},
	} {
		key := "messages"
		if got := rulesOf(t, test.target, `{"`+key+`":[`+test.messages+`]}`); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
	for _, test := range []struct{ name, want, input string }{
		{"answered anywhere behind", "", askC + "," + callR + "," + askC + "," + resR},
		{"no output", "call-answered", askC + "," + callR + "," + askC},
		{"the call is last", "", askC + "," + callR},
		{"only a call", "", callR},
		{"arguments as an object", "arguments-string", strings.Replace(callR, `"{}"`, `{}`, 1) + "," + resR},
		{"cut arguments", "arguments-json", strings.Replace(callR, `"{}"`, `"{"`, 1) + "," + resR},
		{"the text of a custom tool", "", `{"type":"custom_tool_call","id":"ctc_1","call_id":"call_p1","name":"ls","input":"a b"},{"type":"custom_tool_call_output","call_id":"call_p1","output":"x"}`},
		{"the action of a shell", "", `{"type":"local_shell_call","id":"lsh_1","call_id":"call_p1","action":{"type":"exec","command":["ls"]}},{"type":"local_shell_call_output","call_id":"call_p1","output":"x"}`},
		{"output alone", "result-has-call", askC + "," + resR},
		{"the provider keeps the call", "", `{"type":"item_reference","id":"fc_k1"},` + resR},
		{"the call is compacted", "", `{"type":"compaction","encrypted_content":"x"},` + resR},
		{"an item twice", "item-unique", askC + "," + callR + "," + callR + "," + resR},
		{"reasoning alone", "reasoning-alone", askC + `,{"type":"reasoning","id":"rs_1","summary":[]},` + askC},
		{"reasoning before a call", "", askC + `,{"type":"reasoning","id":"rs_1","summary":[]},` + callR + "," + resR},
		{"reasoning without an id", "", askC + `,{"type":"reasoning","summary":[],"encrypted_content":"x"},` + askC},
	} {
		if got := rulesOf(t, "openai-responses", `{"input":[`+test.input+`]}`); got != test.want {
			t.Errorf("responses, %s: %q, want %q", test.name, got, test.want)
		}
	}
	for _, test := range []struct{ name, want, contents string }{
		{"by name, in another order", "", askG + "," + callG + "," + contents(catG, lsG)},
		{"one missing", "call-answered", askG + "," + callG + "," + contents(lsG)},
		{"one too many", "result-has-call", askG + "," + callG + "," + contents(lsG, catG, lsG)},
		{"two results with one id", "result-once", askG + "," + withID(callG) + "," + contents(withID(lsG), withID(lsG), withID(catG))},
		{"two calls and two results with one id", "", askG + "," + sameID(callG) + "," + contents(sameID(lsG), sameID(catG))},
		{"the same id in a later step", "", askG + "," + withID(callG) + "," + contents(withID(lsG), withID(catG)) + "," + withID(callG) + "," + contents(withID(lsG), withID(catG))},
		{"a late result", "result-follows", askG + "," + onlyLsG + "," + askG + "," + contents(lsG)},
		{"two late results", "result-has-call result-follows", askG + "," + onlyLsG + "," + askG + "," + contents(lsG) + "," + contents(lsG)},
		{"the model begins", "turn-order", callG + "," + contents(lsG, catG)},
		{"calls after calls", "call-answered+", askG + "," + callG + "," + callG + "," + contents(lsG, catG)},
		{"calls after calls, with late results", "result-follows+", askG + "," + callG + "," + callG + "," + contents(lsG, catG) + "," + contents(lsG, catG)},
		{"a call after text", "turn-order", askG + `,{"role":"model","parts":[{"text":"a"}]},` + callG + "," + contents(lsG, catG)},
		{"text after text", "", askG + `,{"role":"model","parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"}]}`},
	} {
		if got := rulesOf(t, "gemini", `{"contents":[`+test.contents+`]}`); got != test.want {
			t.Errorf("gemini, %s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestPartial checks that calls and results may be in earlier messages that the provider keeps.
func TestPartial(t *testing.T) {
	to, _ := providers.FindTarget("openai-responses")
	messages, _ := to.Decode([]byte(`{"input":[` + resR + `]}`))
	if all := requestrules.Check(&requestrules.Request{Messages: messages, Target: to, Partial: true}); len(all) > 0 {
		t.Errorf("%s", all[0].Rule)
	}
}

// TestPlaceOfMarks checks that the finding about cache marks names the message with the first mark above the limit, or
// no message if the system prompt has too many.
func TestPlaceOfMarks(t *testing.T) {
	to, _ := providers.FindTarget("anthropic")
	system := `"system":[` + strings.Repeat(markedTextA+",", 4)
	for body, want := range map[string]int{ // the system prompt is message 0
		`{"messages":[` + strings.Repeat(markedA+",", 6) + askA + `]}`:                                                        4,
		`{"messages":[{"content":[` + strings.Repeat(markedTextA+",", 4) + markedTextA + `],"role":"user"},` + markedA + `]}`: 0,
		`{` + system + `{"type":"text","text":"b"}],"messages":[` + askA + "," + markedA + `]}`:                               2,
		`{` + system + markedTextA + `],"messages":[` + askA + `]}`:                                                           requestrules.NoMessage,
	} {
		messages, _ := to.Decode([]byte(body))
		all := requestrules.Check(&requestrules.Request{Body: []byte(body), Messages: messages, Target: to})
		if len(all) != 1 || len(all[0].Spots) != 1 || all[0].Spots[0].Message != want {
			t.Errorf("%s: %+v, want message %d", body, all, want)
		}
	}
}

// TestMessages checks the messages of breaches: two places are named, all others are counted, and the length of an id
// is given.
func TestMessages(t *testing.T) {
	to, _ := providers.FindTarget("anthropic")
	call := func(id string) string {
		return `{"role":"assistant","content":[{"type":"tool_use","id":"` + id + `","name":"ls","input":{}}]}`
	}
	for history, want := range map[string]string{
		askA + "," + twoA + "," + call("toolu_q3") + "," + askA: "the request has no result for a call: toolu_q1 (ls), toolu_q2 (ls) and 1 other (messages[1])",
		askA + "," + call("functions.ls:0"):                     "an id has more than 64 bytes, or characters other than a-zA-Z0-9_-: functions.ls:0 (ls), 14 bytes long (messages[1])",
	} {
		messages, _ := to.Decode([]byte(`{"messages":[` + history + `]}`))
		all := requestrules.Check(&requestrules.Request{Messages: messages, Target: to})
		if len(all) != 1 || all[0].Message("messages[1]").Text != want {
			t.Errorf("%+v, want %s", all, want)
		}
	}
}

// TestNamelessPlaces checks that places without a name are counted, and that they don't hide the names of others.
func TestNamelessPlaces(t *testing.T) {
	named := func(name string) requestrules.Spot {
		return requestrules.Spot{Words: stream.Messagef("%s", stream.Fact(name))}
	}
	for _, test := range []struct {
		spots []requestrules.Spot
		want  string
	}{
		{[]requestrules.Spot{named("a"), {}}, "a and 1 other"},
		{[]requestrules.Spot{{}, named("a"), {}}, "a and 2 others"},
		{[]requestrules.Spot{named("a"), {}, named("b")}, "a, b and 1 other"},
		{[]requestrules.Spot{named("a"), named("b"), named("c"), {}}, "a, b and 2 others"},
		{[]requestrules.Spot{named("a"), named("b")}, "a, b"},
		{[]requestrules.Spot{{}, {}}, ""},
	} {
		b := requestrules.Breach{Spots: test.spots}
		m := b.Message("")
		if m.Text != test.want {
			t.Errorf("got %q, want %q", m.Text, test.want)
		}
	}
}

// withID gives each call and result in Gemini's protocol an id, which is the name of its tool.
func withID(text string) string {
	return strings.NewReplacer(`"name":"ls"`, `"id":"ls","name":"ls"`, `"name":"cat"`, `"id":"cat","name":"cat"`).Replace(text)
}

// sameID gives each call and result in Gemini's protocol the same id.
func sameID(text string) string {
	return strings.ReplaceAll(text, `"name":`, `"id":"x","name":`)
}
