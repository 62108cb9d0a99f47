package providers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolscope/providers/requestrules"
	"toolscope/stream"
)

// asked is a request with its response, as input for play.
type asked struct {
	request, response string
	status            int
}

// play reads exchanges with a host. It returns the turn, code, severity and party of each finding.
func play(url string, exchanges ...asked) (in *Inspector, found []string) {
	in = new(Inspector)
	for i, a := range exchanges {
		in.Write(stream.Record{Exchange: i + 1, Request: true, Data: []byte(a.request), Head: &stream.Head{Method: "POST", URL: url}})
		head := &stream.Head{Status: a.status, Header: map[string][]string{"Content-Type": {"application/json"}}}
		in.Write(stream.Record{Exchange: i + 1, Data: []byte(a.response), Head: head})
		in.Write(stream.Record{Exchange: i + 1, End: true})
	}
	for _, t := range in.Session().Turns {
		for _, f := range t.Findings {
			found = append(found, fmt.Sprintf("%d %s %s %s", t.Number+1, f.Code, f.Severity, f.By))
		}
	}
	return in, found
}

// Parts of conversations with Anthropic.
const (
	portsAsk     = `{"role":"user","content":"which ports are open?"}`
	portsThought = `{"type":"thinking","thinking":"ask netstat first","signature":"QUJDREVG"}`
	portsCall    = `{"type":"tool_use","id":"toolu_net1","name":"netstat","input":{"all":true}}`
	portsResult  = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_net1","content":"22, 80"}]}`
)

// portsRequest returns a request with the given messages.
func portsRequest(messages ...string) string {
	return `{"model":"claude-opus-4","max_tokens":9,"thinking":{"type":"enabled"},"messages":[` + strings.Join(messages, ",") + `]}`
}

// portsAnswer returns a response with the given blocks.
func portsAnswer(stop string, blocks ...string) string {
	return `{"id":"msg_1","type":"message","role":"assistant","model":"claude-opus-4-1","content":[` + strings.Join(blocks, ",") +
		`],"stop_reason":"` + stop + `","usage":{"input_tokens":1,"output_tokens":1}}`
}

// refusedWith returns an error of Anthropic.
func refusedWith(words string) string {
	return `{"type":"error","error":{"type":"invalid_request_error","message":"` + words + `"}}`
}

// model returns a message of the model.
func model(blocks ...string) string {
	return `{"role":"assistant","content":[` + strings.Join(blocks, ",") + `]}`
}

// adaptive turns the thinking of a request into adaptive thinking.
func adaptive(request string) string {
	return strings.Replace(request, `"enabled"`, `"adaptive"`, 1)
}

const (
	ownHost   = "https://api.anthropic.com/v1/messages"
	otherHost = "https://models.example/v1/messages"
)

// TestRequestOutcome checks that the finding about a broken rule depends on the outcome of the request.
func TestRequestOutcome(t *testing.T) {
	first := asked{portsRequest(portsAsk), portsAnswer("tool_use", portsThought, portsCall), 200}
	done := portsAnswer("end_turn", `{"type":"text","text":"22 and 80 are open"}`)
	orphan := portsRequest(portsAsk, portsResult)
	for _, test := range []struct {
		name, url string
		next      asked
		want      string
	}{
		{"all came back", ownHost, asked{portsRequest(portsAsk, model(portsThought, portsCall), portsResult), done, 200}, ""},
		{"thinking gone, refused", otherHost,
			asked{portsRequest(portsAsk, model(portsCall), portsResult), refusedWith("messages.1.content.0.type: Expected `thinking`, but found `tool_use`"), 400},
			"2 REQUEST_REFUSED info client, 2 REASONING_DROPPED error client"},
		{"thinking gone, another host accepts it", otherHost, asked{portsRequest(portsAsk, model(portsCall), portsResult), done, 200}, "2 REASONING_DROPPED info client"},
		{"thinking gone, its own host accepts it", ownHost, asked{portsRequest(portsAsk, model(portsCall), portsResult), done, 200}, ""},
		{"thinking gone, overloaded", otherHost,
			asked{portsRequest(portsAsk, model(portsCall), portsResult), `{"type":"error","error":{"type":"overloaded_error","message":"busy"}}`, 529},
			"2 PROVIDER_ERROR error provider, 2 REASONING_DROPPED info client"},
		{"adaptive thinking gone, refused", otherHost,
			asked{adaptive(portsRequest(portsAsk, model(portsCall), portsResult)), refusedWith("messages.1.content.0.type: Expected `thinking`, but found `tool_use`"), 400},
			"2 REQUEST_REFUSED info client, 2 REASONING_DROPPED error client"},
		{"adaptive thinking gone, another host accepts it", otherHost,
			asked{adaptive(portsRequest(portsAsk, model(portsCall), portsResult)), done, 200}, ""},
		{"adaptive thinking changed, another host accepts it", otherHost,
			asked{adaptive(portsRequest(portsAsk, model(strings.Replace(portsThought, "first", "later", 1), portsCall), portsResult)), done, 200},
			"2 REASONING_ALTERED info client"},
		{"a new question", otherHost,
			asked{portsRequest(portsAsk, model(portsCall), portsResult, model(`{"type":"text","text":"22 and 80"}`), `{"role":"user","content":"thanks"}`), done, 200}, ""},
		{"thinking off", otherHost,
			asked{strings.Replace(portsRequest(portsAsk, model(portsCall), portsResult), "enabled", "disabled", 1), done, 200}, ""},
		{"another model", otherHost,
			asked{strings.Replace(portsRequest(portsAsk, model(portsCall), portsResult), "opus", "haiku", 1), done, 200}, ""},
		{"a blank more", otherHost,
			asked{portsRequest(portsAsk, model(strings.Replace(portsThought, "first", "first ", 1), portsCall), portsResult), refusedWith("messages.1.content.0: `thinking` blocks in the latest assistant message cannot be modified"), 400},
			"2 REQUEST_REFUSED info client, 2 REASONING_ALTERED error client"},
		{"no signature", otherHost,
			asked{portsRequest(portsAsk, model(strings.Replace(portsThought, "QUJDREVG", "", 1), portsCall), portsResult), refusedWith("messages.1.content.0: Invalid `signature` in `thinking` block"), 400},
			"2 REQUEST_REFUSED info client, 2 SIGNATURE_DROPPED error client"},
		{"moved", otherHost,
			asked{portsRequest(portsAsk, model(portsCall, portsThought), portsResult), refusedWith("messages.1.content.1: `thinking` blocks in the latest assistant message cannot be modified"), 400},
			"2 REQUEST_REFUSED info client, 2 REASONING_ALTERED error client"},
		{"refused for another reason", otherHost,
			asked{orphan, refusedWith("max_tokens: 9 is too few"), 400}, "2 REQUEST_REFUSED error client"},
		{"refused, and a key is wrong", otherHost, asked{portsRequest(portsAsk), refusedWith("invalid x-api-key"), 401}, "2 REQUEST_REFUSED error client"},
		{"a limit", otherHost, asked{portsRequest(portsAsk), `{"type":"error","error":{"type":"rate_limit_error","message":"later"}}`, 429}, "2 PROVIDER_ERROR error provider"},
	} {
		in, found := play(test.url, first, test.next)
		if strings.Join(found, ", ") != test.want {
			t.Errorf("%s: %q, want %q", test.name, strings.Join(found, ", "), test.want)
		}
		if twice := placesFoundTwice(in); twice != nil {
			t.Errorf("%s: several findings for one place: %q", test.name, twice)
		}
	}
}

// TestPlacesOfRefusals checks which places in the request are named by refusals and by the findings about them.
func TestPlacesOfRefusals(t *testing.T) {
	const (
		chat      = "https://models.example/v1/chat/completions"
		gemini    = "https://models.example/v1beta/models/gemini-3-pro:generateContent"
		wantsSign = "Function call is missing a thought_signature in functionCall parts. Additional data, function call "
	)
	thinks := func(kind string) string {
		return refusedWith("messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `" + kind + "`")
	}
	// systemLast puts a system prompt after the messages of a request.
	systemLast := func(request string) string {
		return strings.TrimSuffix(request, "}") + `,"system":[{"type":"text","text":"be short"}]}`
	}
	text := `{"type":"text","text":"I look."}`
	anthropic := asked{portsRequest(portsAsk), portsAnswer("tool_use", portsThought, text, portsCall), 200}
	tool := `{"role":"tool","tool_call_id":"call_net1","content":"22"}`
	invalid := func(param string) string {
		return `{"error":{"message":"messages with role 'tool' must be a response to a message with 'tool_calls'","type":"invalid_request_error","param":` + param + `}}`
	}
	call, signed := `{"functionCall":{"name":"netstat","args":{}}}`, `{"functionCall":{"name":"netstat","args":{}},"thoughtSignature":"QUJD"}`
	open := `{"role":"user","parts":[{"text":"ports?"}]}`
	contents := func(parts ...string) string {
		return `{"contents":[` + open + `,{"role":"model","parts":[` + strings.Join(parts, ",") + `]},{"role":"user","parts":[{"functionResponse":{"name":"netstat","response":{"a":1}}}]}],` +
			`"systemInstruction":{"parts":[{"text":"be short"}]}}`
	}
	first := asked{`{"contents":[` + open + `]}`, `{"candidates":[{"content":{"role":"model","parts":[` + signed + `]},"finishReason":"STOP"}]}`, 200}
	unsigned := func(name, rest string) string {
		return `{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"` + wantsSign + name + rest + `. Please refer to the docs."}}`
	}
	for _, test := range []struct {
		name, url    string
		first, next  asked
		path, reason string // reason is the path in the finding about the cause
	}{
		{"found instead of thinking", otherHost, anthropic,
			asked{portsRequest(portsAsk, model(text, portsCall), portsResult), thinks("text"), 400}, "messages[1].content[0]", "messages[1]"},
		{"another kind is there", otherHost, anthropic,
			asked{portsRequest(portsAsk, model(text, portsCall), portsResult), thinks("image"), 400}, "", "messages[1]"},
		{"the system prompt is last", otherHost, anthropic,
			asked{systemLast(portsRequest(portsAsk, model(text, portsCall), portsResult)), thinks("text"), 400}, "messages[1].content[0]", "messages[1]"},
		{"place in param", chat, asked{}, asked{`{"model":"m","messages":[` + portsAsk + `,` + tool + `]}`, invalid(`"messages.[1].role"`), 400}, "messages[1]", "messages[1]"},
		{"no such place in param", chat, asked{}, asked{`{"model":"m","messages":[` + portsAsk + `,` + tool + `]}`, invalid(`"messages.[7].role"`), 400}, "", "messages[1]"},
		{"no place", chat, asked{}, asked{`{"model":"m","messages":[` + portsAsk + `,` + tool + `]}`, invalid(`null`), 400}, "", "messages[1]"},
		{"position in a list", gemini, first, asked{contents(`{"text":"I look."}`, call), unsigned("`default_api:netstat` ", ", position 2"), 400}, "contents[1].parts[1]", "contents[1].parts[1]"},
		{"position without quotes", gemini, first, asked{contents(call), unsigned("default_api:netstat ", ", position 2"), 400}, "contents[1].parts[0]", "contents[1].parts[0]"},
		{"position of a second call", gemini, first, asked{contents(signed, strings.Replace(call, "{}", `{"a":1}`, 1)), unsigned("`default_api:netstat` ", ", position 2"), 400}, "contents[1].parts[1]", "contents[1].parts[1]"},
		{"position in words", gemini, first, asked{contents(`{"text":"I look."}`, call), unsigned("`default_api:netstat` ", "in the 2. content block"), 400}, "contents[1].parts[1]", "contents[1].parts[1]"},
		{"position of another tool", gemini, first, asked{contents(call), unsigned("`default_api:ping` ", ", position 2"), 400}, "", "contents[1].parts[0]"},
	} {
		exchanges := []asked{test.next}
		if test.first.request != "" {
			exchanges = []asked{test.first, test.next}
		}
		in, _ := play(test.url, exchanges...)
		turns := in.Session().Turns
		turn := turns[len(turns)-1]
		if turn.Refusal == nil || turn.Refusal.Path != test.path {
			t.Errorf("%s: the refusal is at %+v, want %q", test.name, turn.Refusal, test.path)
		}
		if places := placesOf(turn.Findings); !slices.Equal(places, []string{test.reason}) {
			t.Errorf("%s: the findings are at %q, want %q", test.name, places, test.reason)
		}
	}
}

// TestGeminiPairsOnce checks that a call without its result, or a result without its call, has one finding above
// info, for each of Google's error messages about pairs.
func TestGeminiPairsOnce(t *testing.T) {
	const url = "https://models.example/v1beta/models/gemini-3-pro:generateContent"
	const (
		ask    = `{"role":"user","parts":[{"text":"ports?"}]}`
		call   = `{"role":"model","parts":[{"functionCall":{"name":"netstat","args":{}},"thoughtSignature":"QUJD"}]}`
		text   = `{"role":"model","parts":[{"text":"I look."}]}`
		result = `{"role":"user","parts":[{"functionResponse":{"name":"netstat","response":{"a":1}}}]}`
		again  = `{"role":"user","parts":[{"functionResponse":{"name":"netstat","response":{"a":1}}},{"functionResponse":{"name":"netstat","response":{"a":2}}}]}`
	)
	first := asked{`{"contents":[` + ask + `]}`, `{"candidates":[{"content":` + call + `,"finishReason":"STOP"}]}`, 200}
	for _, words := range []string{
		"Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
		"Please ensure that function response turn comes immediately after a function call turn.",
		"Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
	} {
		for _, test := range []struct{ name, contents, want string }{
			{"no result", ask + "," + call + "," + ask, "ORPHAN_CALL"},
			{"a call after a call", ask + "," + call + "," + call + "," + result, "ORPHAN_CALL"},
			{"results after both calls", ask + "," + call + "," + call + "," + again, "ADJACENCY_FIX"},
			{"a result after a question", ask + "," + call + "," + ask + "," + text + "," + result, "ADJACENCY_FIX"},
			{"no call", ask + "," + text + "," + result, "CALL_DROPPED"},
			{"two results", ask + "," + call + "," + again, "ORPHAN_RESULT"},
		} {
			refusal := `{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"` + words + `"}}`
			in, _ := play(url, first, asked{`{"contents":[` + test.contents + `]}`, refusal, 400})
			var found []string
			add := func(f stream.Finding) {
				if f.Severity > stream.Info {
					found = append(found, f.Code)
				}
			}
			for _, turn := range in.Session().Turns {
				for _, f := range turn.Findings {
					add(f)
				}
				for _, c := range turn.Calls {
					for _, f := range c.Findings {
						add(f)
					}
				}
			}
			if !slices.Equal(found, []string{test.want}) {
				t.Errorf("%s, %q: %q, want only %s", test.name, words, found, test.want)
			}
		}
	}
}

// placesOf returns the places in the request that findings about rules name.
func placesOf(findings []stream.Finding) (places []string) {
	for _, f := range findings {
		if f.Detail != nil && f.Detail.Name == "illegal" {
			places = append(places, fmt.Sprint(f.Detail.Value("path")))
		}
	}
	return places
}

// TestBreachOnce checks that a broken rule that the host accepts is reported once per conversation, and that
// a refusal is reported each time.
func TestBreachOnce(t *testing.T) {
	done := portsAnswer("end_turn", `{"type":"text","text":"ok"}`)
	more := `,{"role":"assistant","content":"ok"},{"role":"user","content":"more"}`
	bad := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_lost","content":"x"}]}`
	_, found := play(otherHost, asked{portsRequest(bad), done, 200}, asked{portsRequest(bad + more), done, 200})
	if want := []string{"1 ORPHAN_RESULT info client"}; !slices.Equal(found, want) {
		t.Errorf("%q, want %q", found, want)
	}
	refusal := refusedWith("messages.0.content.0: unexpected `tool_use_id` found in `tool_result` blocks: toolu_lost")
	_, found = play(otherHost, asked{portsRequest(bad), refusal, 400}, asked{portsRequest(bad), refusal, 400})
	want := []string{"1 REQUEST_REFUSED info client", "1 ORPHAN_RESULT error client", "2 REQUEST_REFUSED info client", "2 ORPHAN_RESULT error client"}
	if !slices.Equal(found, want) {
		t.Errorf("%q, want %q", found, want)
	}
}

// TestBreachAtClose checks that the broken rules of a request are reported when its turn ends, before the
// connection ends.
func TestBreachAtClose(t *testing.T) {
	in := new(Inspector)
	bad := portsRequest(`{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_lost","content":"x"}]}`)
	bad = strings.Replace(bad, "{", `{"stream":true,`, 1)
	in.Write(stream.Record{Exchange: 1, Request: true, Data: []byte(bad), Head: &stream.Head{Method: "POST", URL: otherHost}})
	head := &stream.Head{Status: 200, Header: map[string][]string{"Content-Type": {"text/event-stream"}}}
	var body strings.Builder
	for _, event := range []string{
		`{"type":"message_start","message":{"id":"msg_1","role":"assistant","model":"m","content":[],"usage":{}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"ok"}}`, `{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{}}`, `{"type":"message_stop"}`,
	} {
		body.WriteString("data: " + event + "\n\n")
	}
	in.Write(stream.Record{Exchange: 1, Data: []byte(body.String()), Head: head})
	if turn := in.Session().Turns[0]; !turn.Closed() || len(turn.Findings) == 0 || turn.Findings[len(turn.Findings)-1].Code != "ORPHAN_RESULT" {
		t.Errorf("%v %+v", turn.Closed(), turn.Findings)
	}
}

// TestRefusalPlace checks the place in the request that is found for an error. It must be empty if the request doesn't
// contain the place, or if the error names none.
func TestRefusalPlace(t *testing.T) {
	question := func(text string) string { return `{"role":"user","content":[{"type":"text","text":"` + text + `"}]}` }
	request := `{"model":"claude-opus-4","max_tokens":9,"tools":[{"name":"ls","input_schema":{}},{"name":"fs.rm","input_schema":{}}],"messages":[` +
		strings.Join([]string{question("a"), question("b"), model(portsCall), portsResult, question("c")}, ",") + `],` +
		`"system":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"toolConfig":{"tools":[{"toolSpec":{"name":"a"}}]}}`
	for _, test := range []struct{ words, path, found string }{
		{"messages.2.content.0: no", "messages[2].content[0]", stream.FoundAsSent},
		{"messages.2.content.0.tool_use.input: Input should be a valid dictionary", "messages[2].content[0]", stream.FoundAsSent},
		{"messages[3]: no", "messages[3]", stream.FoundAsSent},
		{"tools.1.custom.name: String should match pattern", "tools[1]", stream.FoundAsSent},
		{"messages.0.content.1: no", "messages[1].content[0]", stream.FoundJoined},
		{"messages.1.content.0: `tool_use` is wrong", "messages[2].content[0]", stream.FoundJoined},
		{"messages.2.content.1: `tool_result` is wrong", "", stream.FoundNowhere},
		{"messages.9: no", "", stream.FoundNowhere},
		{"at index 4 it is wrong", "messages[4]", stream.FoundAsSent},
		{"something about toolu_net1", "messages[2].content[0]", stream.FoundByID},
		{"nothing is named; call_id is only a word", "", stream.FoundNowhere},
		{"toolu_unknown1 is not in the request", "", stream.FoundNowhere},
		{"messages.2.content: no", "messages[2]", stream.FoundAsSent},
		{"messages.2.content.0: Input tag 'tool_use' does not match any of the expected tags: 'text', 'thinking', 'tool_result'", "messages[2].content[0]", stream.FoundAsSent},
		{"messages.2: `web_search` tool use was found without a corresponding `web_search_tool_result` block", "messages[2]", stream.FoundAsSent},
		{"messages.2: Expected `redacted_thinking`", "", stream.FoundNowhere},
		{"system.1.text: cache_control cannot be set for empty text blocks", "system[1]", stream.FoundAsSent},
		{"system.7.text: no", "", stream.FoundNowhere},
		{"the value at toolConfig.tools.0.toolSpec.name is wrong", "toolConfig.tools[0].toolSpec", stream.FoundAsSent},
		{"Value 'a' at 'toolConfig.tools.1.member.toolSpec.name' failed to satisfy constraint", "toolConfig.tools[0].toolSpec", stream.FoundAsSent},
		{"Value 'a' at 'messages.3.member.content.1.member.name' failed to satisfy constraint", "messages[2].content[0]", stream.FoundAsSent},
		{"Value 'a' at 'messages.0.member.content' failed to satisfy constraint", "", stream.FoundNowhere},
		{"[{'loc': ('body', 'messages', 3, 'typed-dict', 'content'), 'msg': 'Input should be a valid string'}]", "messages[3]", stream.FoundAsSent},
		{"the operating system.Please reduce your messages.Then", "", stream.FoundNowhere},
	} {
		in, _ := play(otherHost, asked{request, refusedWith(test.words), 400})
		r := in.Session().Turns[0].Refusal
		if r == nil || r.Path != test.path || r.Found != test.found {
			t.Errorf("%s: %+v, want %q %q", test.words, r, test.path, test.found)
		}
	}
}

// TestPlaceWords checks what the finding says about the place that an error names: the words that providers and servers
// use are never said to name a place that the request doesn't have, if it has it.
func TestPlaceWords(t *testing.T) {
	request := portsRequest(portsAsk, model(portsCall), portsResult)
	for _, test := range []struct{ words, want string }{
		{"messages.2: `thinking` is wrong", "refused (HTTP 400): the error names a place where the request as it was sent has something else; the"},
		{"messages.7: no", "refused (HTTP 400): the error names a place that is not in the request as it was sent; the"},
		{"messages: no", "refused (HTTP 400); the"},
	} {
		in, _ := play(otherHost, asked{request, refusedWith(test.words), 400})
		if got := in.Session().Turns[0].Findings[0].Message; !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %q, want %q", test.words, got, test.want)
		}
	}
}

// TestWordsOfRefusals checks the reasons and the words of refusals, and the party at fault, for errors whose status or
// form says something else.
func TestWordsOfRefusals(t *testing.T) {
	const chat = "https://models.example/v1/chat/completions"
	call := func(arguments string) string {
		return `{"model":"m","messages":[` + portsAsk + `,{"role":"assistant","tool_calls":[{"id":"call_net1","type":"function","function":{"name":"netstat","arguments":"` +
			arguments + `"}}]},{"role":"tool","tool_call_id":"call_net1","content":"22"}]}`
	}
	said := func(message, code string) string {
		return `{"error":{"message":"` + message + `","type":"invalid_request_error","code":"` + code + `"}}`
	}
	broken := asked{`{"model":"m","messages":[` + portsAsk + `]}`, `{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"tool_calls",` +
		`"message":{"role":"assistant","tool_calls":[{"id":"call_net1","type":"function","function":{"name":"netstat","arguments":"{\"a\":x}"}}]}}]}`, 200}
	for _, test := range []struct {
		name  string
		first asked
		next  asked
		want  string
	}{
		{"no such model", asked{}, asked{call("{}"), said("The model m does not exist", "model_not_found"), 404}, "REQUEST_REFUSED error client: refused (HTTP 404): no such model or path;"},
		{"an error in a list", asked{}, asked{call("{}"), `[{"error":{"code":404,"message":"Publisher Model x was not found","status":"NOT_FOUND"}}]`, 404},
			"REQUEST_REFUSED error client: refused (HTTP 404): no such model or path; the provider reports 404: Publisher Model x was not found"},
		{"no such path", asked{}, asked{call("{}"), `{"detail":"Not Found"}`, 404}, "REQUEST_REFUSED error client: refused (HTTP 404): no such model or path;"},
		{"an item that is not kept", asked{}, asked{call("{}"), said("Item with id 'rs_0a1b2c' not found. Items are not persisted when `store` is set to false.", ""), 404},
			"REQUEST_REFUSED error client: refused (HTTP 404): the provider doesn't keep this item;"},
		{"a response that is not kept", asked{}, asked{call("{}"), said("Previous response with id 'resp_1' not found.", "previous_response_not_found"), 400},
			"REQUEST_REFUSED error client: refused (HTTP 400): the provider doesn't keep this item;"},
		{"a model without tools", asked{}, asked{call("{}"), said("No endpoints found that support tool use.", ""), 404},
			"REQUEST_REFUSED error client: refused (HTTP 404): no endpoint for the model fits the request;"},
		{"FastAPI", asked{}, asked{call("{}"), `{"detail":[{"type":"missing","loc":["body","messages",1,"content"],"msg":"Field required"}]}`, 422},
			"REQUEST_REFUSED error client: refused (HTTP 422): messages[1]; the provider reports 422: messages[1].content: Field required"},
		{"Mistral", asked{}, asked{call("{}"), `{"object":"error","message":{"detail":[{"loc":["body","top_p"],"msg":"Input should be a valid number"},{"loc":["body"],"msg":"No"}]},"type":"invalid_request_error"}`, 422},
			"REQUEST_REFUSED error client: refused (HTTP 422); the provider reports invalid_request_error: top_p: Input should be a valid number; No"},
		{"Cloudflare", asked{}, asked{call("{}"), `{"success":false,"errors":[{"code":5006,"message":"oneOf at '/' not met"}],"result":{},"messages":[]}`, 400},
			"REQUEST_REFUSED error client: refused (HTTP 400); the provider reports 400: oneOf at '/' not met"},
		{"a list without problems", asked{}, asked{call("{}"), `{"detail":[{"a":1}]}`, 422}, "REQUEST_REFUSED error client: refused (HTTP 422); the provider reports 422: HTTP status 422, without a reason"},
		{"the model's output", asked{}, asked{call("{}"), `{"error":{"message":"Failed to call a function.","type":"invalid_request_error","code":"tool_use_failed","failed_generation":"<function=netstat>"}}`, 400},
			"PROVIDER_ERROR error provider: the provider reports tool_use_failed: Failed to call a function."},
		{"the model's call", asked{}, asked{call("{}"), said("tool call validation failed: parameters for tool netstat did not match schema", "tool_use_failed"), 400},
			"PROVIDER_ERROR error provider: the provider reports tool_use_failed: tool call validation failed"},
		{"a status as the code", asked{}, asked{call("{}"), `{"error":{"message":"tool result's tool id(x) not found","code":400}}`, 200},
			"REQUEST_REFUSED error client: refused; the provider reports 400: tool result's tool id(x) not found"},
		{"a limit as the code", asked{}, asked{call("{}"), `{"error":{"message":"slow down","code":429}}`, 200}, "PROVIDER_ERROR error provider: the provider reports 429: slow down"},
		{"a failure as the code", asked{}, asked{call("{}"), `{"error":{"message":"no worker","code":502}}`, 200}, "PROVIDER_ERROR error provider: the provider reports 502: no worker"},
		{"MiniMax's status", asked{}, asked{call("{}"), `{"id":"","choices":null,"base_resp":{"status_code":2013,"status_msg":"invalid params, tool result's tool id(x) not found (2013)"}}`, 200},
			"REQUEST_REFUSED error client: refused; the provider reports 2013: invalid params"},
		{"MiniMax's key", asked{}, asked{call("{}"), `{"base_resp":{"status_code":1004,"status_msg":"login fail: Please carry the API secret key"}}`, 200},
			"REQUEST_REFUSED error client: refused: the key or its permissions; the provider reports 1004: login fail"},
		{"MiniMax's limit", asked{}, asked{call("{}"), `{"base_resp":{"status_code":1002,"status_msg":"rate limit exceeded(RPM)"}}`, 200},
			"PROVIDER_ERROR error provider: the provider reports 1002: rate limit exceeded(RPM)"},
		{"a filter", asked{}, asked{call("{}"), `{"error":{"message":"The model requires moderation and your input was flagged","code":403}}`, 403},
			"REQUEST_REFUSED error client: refused (HTTP 403): a filter stopped the prompt;"},
		{"broken arguments", asked{}, asked{call(`{\"a\":`), said("Expecting value: line 1 column 6 (char 5)", ""), 400},
			"REQUEST_ILLEGAL error client: the arguments are not a JSON object: call_net1 (netstat) (messages[1].tool_calls[0])"},
		{"arguments that the model broke", broken, asked{call(`{\"a\":x}`), said("Expecting value: line 1 column 6 (char 5)", ""), 400},
			"REQUEST_ILLEGAL error model: the arguments are not a JSON object: call_net1 (netstat) (messages[1].tool_calls[0])"},
		{"broken arguments, llama.cpp", asked{}, asked{call(`{\"a\":`), said("Failed to parse tool call arguments as JSON: parse error at line 1", ""), 500},
			"REQUEST_ILLEGAL error client: the arguments are not a JSON object: call_net1 (netstat) (messages[1].tool_calls[0])"},
		{"llama.cpp's own failure", asked{}, asked{call("{}"), said("Failed to parse tool call arguments as JSON: parse error at line 1", ""), 500},
			"PROVIDER_ERROR error provider: the provider reports"},
		{"broken arguments, another failure", asked{}, asked{call(`{\"a\":`), said("The server is out of memory", ""), 500},
			"PROVIDER_ERROR error provider: the provider reports"},
		{"the same words about something else", asked{}, asked{call("{}"), said("Expecting value: line 1 column 6 (char 5)", ""), 400},
			"REQUEST_REFUSED error client: refused (HTTP 400); the provider"},
		{"broken arguments, refused for another reason", asked{}, asked{call(`{\"a\":`), said("temperature is too high", ""), 400},
			"REQUEST_REFUSED error client: refused (HTTP 400); the provider"},
	} {
		exchanges := []asked{test.next}
		if test.first.request != "" {
			exchanges = []asked{test.first, test.next}
		}
		in, _ := play(chat, exchanges...)
		turns := in.Session().Turns
		var found []string
		for _, f := range turns[len(turns)-1].Findings {
			if f.Severity == stream.Error && f.Code != "GENERATION_REJECTED" {
				found = append(found, fmt.Sprintf("%s %s %s: %s", f.Code, f.Severity, f.By, f.Message))
			}
		}
		if len(found) != 1 || !strings.HasPrefix(found[0], test.want) {
			t.Errorf("%s: %q, want %q", test.name, found, test.want)
		}
	}
}

// TestGreetingInChat checks that a request with only texts that begins with the model's message is legal in Chat
// Completions, but not in Anthropic's protocol.
func TestGreetingInChat(t *testing.T) {
	const messages = `{"role":"assistant","content":"Hello!"},` + portsAsk
	for request, want := range map[string]string{
		`{"model":"m","messages":[` + messages + `]}`:                                                                        "anthropic",
		`{"model":"m","messages":[` + messages + `],"max_completion_tokens":9}`:                                              "openai-chat",
		`{"model":"m","max_tokens":9,"messages":[{"role":"system","content":"be brief"},` + messages + `]}`:                  "openai-chat",
		`{"model":"m","max_tokens":9,"messages":[` + messages + `],"tools":[{"type":"function","function":{"name":"a"}}]}`:   "openai-chat",
		`{"model":"m","max_tokens":9,"messages":[` + messages + `],"tools":[{"name":"a","input_schema":{"type":"object"}}]}`: "anthropic",
	} {
		r, err := ReadRequest([]byte(request), nil)
		if err != nil || r.Target == nil || r.Target.Protocol != want {
			t.Fatalf("%s: %+v, %v", request, r.Target, err)
		}
		if breaches := requestrules.Check(r); (len(breaches) > 0) != (want == "anthropic") {
			t.Errorf("%s: %+v", request, breaches)
		}
	}
}

// TestInvokeOfBedrock checks that a request for Bedrock's InvokeModel is read in the protocol of its model, although the
// error is in Bedrock's own form.
func TestInvokeOfBedrock(t *testing.T) {
	chat := `{"messages":[` + portsAsk + `]}`
	claude := `{"anthropic_version":"bedrock-2023-05-31","max_tokens":9,"messages":[` + portsAsk + `]}`
	open := `{"anthropic_version":"bedrock-2023-05-31","max_tokens":9,"messages":[` + portsAsk + `,` + model(portsCall) + `,` + portsAsk + `]}`
	const words = `{"message":"messages.1: ` + "`tool_use` ids were found without `tool_result`" + ` blocks immediately after: toolu_net1."}`
	for _, test := range []struct {
		path, request, response string
		status                  int
		want                    string
	}{
		{"us.anthropic.claude-opus-4-7/invoke-with-response-stream", claude, `{"message":"Too many tokens"}`, 429, "1 PROVIDER_ERROR error provider"},
		{"us.anthropic.claude-opus-4-7/invoke", open, words, 400, "1 REQUEST_REFUSED info client, 1 ORPHAN_CALL error client"},
		{"arn:aws:bedrock:us-east-1:1:application-inference-profile%2Fx/invoke", claude, `{"message":"Too many tokens"}`, 429, "1 PROVIDER_ERROR error provider"},
		{"openai.gpt-oss-120b-1:0/invoke", chat, `{"message":"Too many tokens"}`, 429, "1 PROVIDER_ERROR error provider"},
		{"us.anthropic.claude-opus-4-7/converse", `{"messages":[{"role":"user","content":[]}]}`, `{"message":"The content field in the Message object at messages.0 is empty."}`, 400,
			"1 REQUEST_REFUSED info client, 1 REQUEST_ILLEGAL error client"},
	} {
		_, found := play("https://bedrock-runtime.us-east-1.amazonaws.com/model/"+test.path, asked{test.request, test.response, test.status})
		if got := strings.Join(found, ", "); got != test.want {
			t.Errorf("%s: %q, want %q", test.path, got, test.want)
		}
	}
}

// TestSignaturesInChat checks what is said if a client of Chat Completions leaves out the signatures of Google's models,
// which Google's endpoint has in the calls, and OpenRouter in reasoning_details. Only a refusal proves that they were
// needed.
func TestSignaturesInChat(t *testing.T) {
	const (
		missing = `[{"error":{"code":400,"message":"Function call is missing a thought_signature in functionCall parts. Additional data, function call ` +
			"`default_api:netstat`" + ` , position 2. Please refer to the docs.","status":"INVALID_ARGUMENT"}}]`
		invalid = `{"error":{"code":400,"message":"Thought signature is not valid","status":"INVALID_ARGUMENT"}}`
		other   = `{"error":{"code":400,"message":"temperature is too high","status":"INVALID_ARGUMENT"}}`
		system  = `{"role":"system","content":"be brief"}`
		signed  = `,"extra_content":{"google":{"thought_signature":"QUJDREVG"}}`
		hidden  = `,"reasoning_details":[{"type":"reasoning.encrypted","data":"QUJDREVG","id":"call_net1"}]`
	)
	answer := func(message, finish string) string {
		return `{"id":"c","object":"chat.completion","model":"gemini-3-pro","choices":[{"index":0,"finish_reason":"` + finish + `","message":` + message + `}]}`
	}
	call := func(inCall, inMessage string) string {
		return `{"role":"assistant","tool_calls":[{"id":"call_net1","type":"function","function":{"name":"netstat","arguments":"{}"}` + inCall + `}]` + inMessage + `}`
	}
	done := answer(`{"role":"assistant","content":"22"}`, "stop")
	for _, test := range []struct {
		name, came, sent, response string
		status                     int
		want, sentBack             string
	}{
		{"all came back", call(signed, ""), call(signed, ""), done, 200, "", ""},
		{"refused", call(signed, ""), call("", ""), missing, 400, "2 REQUEST_REFUSED info client, 2 SIGNATURE_DROPPED error client", "gone"},
		{"altered", call(signed, ""), call(strings.Replace(signed, "QUJD", "QUJE", 1), ""), invalid, 400, "2 REQUEST_REFUSED info client, 2 REASONING_ALTERED error client", "altered"},
		{"accepted", call(signed, ""), call("", ""), done, 200, "", "gone"},
		{"refused for another reason", call(signed, ""), call("", ""), other, 400, "2 REQUEST_REFUSED error client", "gone"},
		{"nothing was signed", call("", ""), call("", ""), done, 200, "", ""},
		{"hidden, all came back", call("", hidden), call("", hidden), done, 200, "", ""},
		{"hidden, refused", call("", hidden), call("", ""), missing, 400, "2 REQUEST_REFUSED info client, 2 SIGNATURE_DROPPED error client", "gone"},
		{"hidden, only the text came back", call("", hidden+`,"reasoning":"hm"`), call("", `,"reasoning":"hm"`), done, 200, "", "gone"},
	} {
		request := func(more string) string {
			return `{"model":"gemini-3-pro","messages":[` + system + `,` + portsAsk + more + `]}`
		}
		result := `,{"role":"tool","tool_call_id":"call_net1","content":"22"}`
		in, found := play("https://models.example/v1/chat/completions", asked{request(""), answer(test.came, "tool_calls"), 200}, asked{request("," + test.sent + result), test.response, test.status})
		found = slices.DeleteFunc(found, func(s string) bool { return strings.HasPrefix(s, "1 ") })
		if got := strings.Join(found, ", "); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if r := in.Session().Turns[1].Refusal; r != nil && test.response == missing && r.Path != "messages[2].tool_calls[0]" {
			t.Errorf("%s: refused at %q", test.name, r.Path)
		}
		if got := in.Session().Turns[0].Calls[0].SentBack[0].Signature; got != test.sentBack {
			t.Errorf("%s: the signature was sent back as %q, want %q", test.name, got, test.sentBack)
		}
	}
}

// TestReasoningOfDeepSeek checks that a refusal because of missing reasoning names the turn whose reasoning is missing, in
// an earlier step as well, and in a request of Anthropic's protocol that doesn't mention thinking. Without the refusal,
// nothing proves that the reasoning was needed.
func TestReasoningOfDeepSeek(t *testing.T) {
	const (
		words  = `{"error":{"message":"The reasoning in the thinking mode must be passed back to the API.","type":"invalid_request_error","param":null}}`
		other  = `{"error":{"message":"temperature is too high","type":"invalid_request_error","param":null}}`
		netted = `{"id":"call_net1","type":"function","function":{"name":"netstat","arguments":"{}"}}`
		called = `{"role":"assistant","content":"","reasoning_content":"ask netstat","tool_calls":[` + netted + `]}`
		result = `,{"role":"tool","tool_call_id":"call_net1","content":"22"},{"role":"assistant","content":"22"},{"role":"user","content":"and now?"}`
	)
	chat := func(more string) string { return `{"model":"ds","messages":[` + portsAsk + more + `]}` }
	answer := `{"id":"c","object":"chat.completion","model":"ds","choices":[{"index":0,"finish_reason":"tool_calls","message":` + called + `}]}`
	done := `{"id":"c","object":"chat.completion","model":"ds","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":"443"}}]}`
	bare := strings.Replace(called, `"reasoning_content":"ask netstat",`, "", 1)
	claude := func(messages ...string) string {
		return strings.Replace(portsRequest(messages...), `"thinking":{"type":"enabled"},`, "", 1)
	}
	for _, test := range []struct {
		name, url, first, came, second, response string
		status                                   int
		want                                     string
	}{
		{"an earlier step", "https://api.deepseek.com/chat/completions", chat(""), answer, chat("," + bare + result), words, 400, "2 REQUEST_REFUSED info client, 2 REASONING_DROPPED error client"},
		{"an earlier step, accepted", "https://api.deepseek.com/chat/completions", chat(""), answer, chat("," + bare + result), done, 200, ""},
		{"an earlier step, another reason", "https://api.deepseek.com/chat/completions", chat(""), answer, chat("," + bare + result), other, 400, "2 REQUEST_REFUSED error client"},
		{"an earlier step, sent back", "https://api.deepseek.com/chat/completions", chat(""), answer, chat("," + called + result), words, 400, "2 REQUEST_REFUSED error client"},
		{"Anthropic's protocol", "https://api.deepseek.com/anthropic/v1/messages", claude(portsAsk), portsAnswer("tool_use", portsThought, portsCall),
			claude(portsAsk, model(portsCall), portsResult), words, 400, "2 REQUEST_REFUSED info client, 2 REASONING_DROPPED error client"},
		{"Anthropic's protocol, another reason", "https://api.deepseek.com/anthropic/v1/messages", claude(portsAsk), portsAnswer("tool_use", portsThought, portsCall),
			claude(portsAsk, model(portsCall), portsResult), other, 400, "2 REQUEST_REFUSED error client"},
		{"Anthropic's protocol, accepted", "https://api.deepseek.com/anthropic/v1/messages", claude(portsAsk), portsAnswer("tool_use", portsThought, portsCall),
			claude(portsAsk, model(portsCall), portsResult), portsAnswer("end_turn", `{"type":"text","text":"22"}`), 200, ""},
	} {
		in, found := play(test.url, asked{test.first, test.came, 200}, asked{test.second, test.response, test.status})
		if got := strings.Join(found, ", "); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if r := in.Session().Turns[1].Refusal; r != nil && r.Type != "invalid_request_error" {
			t.Errorf("%s: the type of the error is %q", test.name, r.Type)
		}
	}
}

// TestCallElsewhere checks that a refusal that names a call of an earlier response says so if the request continues this
// response without the result.
func TestCallElsewhere(t *testing.T) {
	const (
		url      = "https://api.openai.com/v1/responses"
		response = `{"id":"resp_1","object":"response","model":"m","status":"completed","output":[{"type":"function_call","id":"fc_4f1c09a3","call_id":"call_Hq3vTz8m","name":"netstat","arguments":"{}"}]}`
	)
	for id, want := range map[string]string{
		"call_Hq3vTz8m": "refused (HTTP 400): the request has neither the call call_Hq3vTz8m (netstat) of turn 1 nor its result; the provider reports",
		"call_Aa0Bb1Cc": "refused (HTTP 400); the provider reports",
	} {
		in, _ := play(url, asked{`{"model":"m","input":[` + portsAsk + `]}`, response, 200},
			asked{`{"model":"m","previous_response_id":"resp_1","input":[` + portsAsk + `]}`, `{"error":{"message":"No tool output found for function call ` + id + `.","type":"invalid_request_error"}}`, 400})
		if f := in.Session().Turns[1].Findings; len(f) != 1 || !strings.HasPrefix(f[0].Message, want) {
			t.Errorf("%s: %+v, want %s", id, f, want)
		}
	}
}

// TestServerCalls checks what is said if Anthropic refuses a history in which a call that it runs has no result. If the
// client only continues the turn that Anthropic paused, Anthropic is the cause.
func TestServerCalls(t *testing.T) {
	const search = `{"type":"server_tool_use","id":"srvtoolu_net1","name":"web_search","input":{"query":"ports"}}`
	refused := refusedWith("messages.1: `web_search` tool use with id `srvtoolu_net1` was found without a corresponding `web_search_tool_result` block")
	paused := asked{portsRequest(portsAsk), portsAnswer("pause_turn", search), 200}
	done := portsAnswer("end_turn", `{"type":"text","text":"22"}`)
	for _, test := range []struct {
		name   string
		second asked
		want   string
	}{
		{"continued", asked{portsRequest(portsAsk, model(search)), refused, 400}, "2 REQUEST_REFUSED info client, 2 ORPHAN_CALL error provider"},
		{"continued and accepted", asked{portsRequest(portsAsk, model(search)), done, 200}, ""},
		{"the user goes on", asked{portsRequest(portsAsk, model(search), portsAsk), refused, 400}, "2 REQUEST_REFUSED info client, 2 ORPHAN_CALL error client"},
		{"the user goes on, accepted", asked{portsRequest(portsAsk, model(search), portsAsk), done, 200}, ""},
		{"another reason", asked{portsRequest(portsAsk, model(search), portsAsk), refusedWith("max_tokens is too large"), 400}, "2 REQUEST_REFUSED error client"},
	} {
		_, found := play(ownHost, paused, test.second)
		if got := strings.Join(found, ", "); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestReasoningOfItem checks that a reasoning item of which only the id is known is named if a request is refused because
// it lacks this item. A call that is sent back without its own item id doesn't need it.
func TestReasoningOfItem(t *testing.T) {
	const (
		url      = "https://api.openai.com/v1/responses"
		thought  = `{"type":"reasoning","id":"rs_4f1c09a2","summary":[]}`
		call     = `{"type":"function_call","id":"fc_4f1c09a3","call_id":"call_Hq3vTz8m","name":"netstat","arguments":"{}"}`
		result   = `{"type":"function_call_output","call_id":"call_Hq3vTz8m","output":"22"}`
		missing  = `{"error":{"message":"Item 'fc_4f1c09a3' of type 'function_call' was provided without its required 'reasoning' item: 'rs_4f1c09a2'.","type":"invalid_request_error","param":"input"}}`
		response = `{"id":"resp_1","object":"response","model":"m","status":"completed","output":[` + thought + `,` + call + `]}`
		done     = `{"id":"resp_2","object":"response","model":"m","status":"completed","output":[{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"22"}]}]}`
	)
	request := func(items ...string) string {
		return `{"model":"m","input":[` + strings.Join(append([]string{portsAsk}, items...), ",") + `]}`
	}
	for _, test := range []struct {
		name   string
		second asked
		want   string
	}{
		{"left out", asked{request(call, result), missing, 400}, "2 REQUEST_REFUSED info client, 2 REASONING_DROPPED error client"},
		{"left out and accepted", asked{request(call, result), done, 200}, ""},
		{"sent back", asked{request(thought, call, result), done, 200}, ""},
		{"another reason", asked{request(call, result), `{"error":{"message":"temperature is too high","type":"invalid_request_error"}}`, 400}, "2 REQUEST_REFUSED error client"},
	} {
		_, found := play(url, asked{request(), response, 200}, test.second)
		if got := strings.Join(found, ", "); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

// TestItemOfReasoning checks that encrypted reasoning under another id than its own is the cause of a refusal. There is
// no finding if the request is accepted, or refused for another reason, or if the id is left out.
func TestItemOfReasoning(t *testing.T) {
	const url = "https://models.example/v1/responses"
	thought := func(id string) string {
		return `{"type":"reasoning",` + id + `"summary":[],"encrypted_content":"gAAAAABqVRWuOag0"}`
	}
	const (
		own  = `"id":"rs_4f1c09a2",`
		call = `{"type":"function_call","id":"fc_4f1c09a3","call_id":"call_Hq3vTz8m","name":"netstat","arguments":"{}"}`
	)
	request := func(items ...string) string {
		return `{"model":"m","store":false,"input":[` + strings.Join(append([]string{portsAsk}, items...), ",") + `]}`
	}
	response := func(items ...string) string {
		return `{"id":"resp_1","object":"response","model":"m","status":"completed","output":[` + strings.Join(items, ",") + `]}`
	}
	said := func(words string) string {
		return `{"error":{"message":"` + words + `","type":"invalid_request_error","code":"invalid_encrypted_content"}}`
	}
	unverified := said("The encrypted content for item rs_0be7d5aa could not be verified. Reason: Encrypted content item_id did not match the target item id.")
	done := response(`{"type":"message","id":"msg_1","role":"assistant","status":"completed","content":[{"type":"output_text","text":"22"}]}`)
	for _, test := range []struct {
		name, id, answer string
		status           int
		want             string
	}{
		{"another id", `"id":"rs_0be7d5aa",`, unverified, 400, "REQUEST_REFUSED info client, REASONING_ALTERED error client"},
		{"another id, accepted", `"id":"rs_0be7d5aa",`, done, 200, ""},
		{"another id, refused for another reason", `"id":"rs_0be7d5aa",`, said("the input is too long"), 400, "REQUEST_REFUSED error client"},
		{"its own id", own, said("The encrypted content could not be verified."), 400, "REQUEST_REFUSED error client"},
		{"no id", "", said("The encrypted content could not be verified."), 400, "REQUEST_REFUSED error client"},
	} {
		output := `{"type":"function_call_output","call_id":"call_Hq3vTz8m","output":"22"}`
		in, found := play(url, asked{request(), response(thought(own), call), 200}, asked{request(thought(test.id), call, output), test.answer, test.status})
		for i := range found {
			found[i] = strings.TrimPrefix(found[i], "2 ")
		}
		if got := strings.Join(found, ", "); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
		if sent := in.Session().Turns[0].Calls[0].SentBack; len(sent) != 1 || sent[0].Reasoning != "" {
			t.Errorf("%s: the reasoning is %+v", test.name, sent)
		}
	}
}

// TestRefusalInside checks that an error inside other errors is attributed to the provider.
func TestRefusalInside(t *testing.T) {
	inner := `{\"error\":{\"message\":\"messages.0: no\"}}`
	for name, test := range map[string]struct{ body, via string }{
		"litellm":    {`{"error":{"message":"litellm.BadRequestError: ` + inner + `","type":"x"}}`, "litellm"},
		"openrouter": {`{"error":{"message":"Provider returned error","code":400,"metadata":{"raw":"` + inner + `"}}}`, "openrouter"},
		"plain":      {`{"error":{"message":"messages.0: no","type":"x"}}`, ""},
	} {
		in, _ := play("https://models.example/v1/chat/completions", asked{`{"model":"m","messages":[` + portsAsk + `]}`, test.body, 400})
		r := in.Session().Turns[0].Refusal
		if r == nil || r.Path != "messages[0]" || strings.Join(r.Via, " ") != test.via {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// TestRefusalOnSocket checks that an error that refuses a request on a WebSocket is attributed to the client, also
// after a response with calls. If an id was used in two responses, the error is attributed to the party that used the
// id. Errors of a busy provider are not refusals.
func TestRefusalOnSocket(t *testing.T) {
	const (
		ask   = `{"type":"response.create","model":"m","input":[{"role":"user","content":"ports?"}]}`
		next  = `{"type":"response.create","model":"m","previous_response_id":"resp_1","input":[{"type":"function_call_output","call_id":"call_1","output":"22"}]}`
		error = `{"type":"error","status":%d,"error":{"type":%q,"message":"Duplicate item found with id %s."}}`
	)
	for _, test := range []struct {
		status         int
		kind, id, want string
	}{
		{400, "invalid_request_error", "fc_call_1", "REQUEST_REFUSED gateway"}, // two responses have the id
		{400, "invalid_request_error", "fc_call_2", "REQUEST_REFUSED client"},
		{429, "rate_limit_exceeded", "fc_call_1", "PROVIDER_ERROR provider"},
		{503, "server_error", "fc_call_1", "PROVIDER_ERROR provider"},
	} {
		in := new(Inspector)
		socket(1, in, ask, answers("resp_1", "call_1", "", `{}`), next, answers("resp_2", "call_1", "", `{"a":1}`),
			strings.Replace(next, "resp_1", "resp_2", 1), fmt.Sprintf(error, test.status, test.kind, test.id))
		turns := in.Session().Turns
		var found []string
		for _, f := range turns[len(turns)-1].Findings {
			found = append(found, f.Code+" "+f.By.String())
		}
		if got := strings.Join(found, ", "); len(turns) != 3 || got != test.want {
			t.Errorf("%s: %d turns, %q, want %q", test.kind, len(turns), got, test.want)
		}
	}
}

// TestOriginOfSameID checks the party at fault for two calls with the same id in a request: the party that used the
// id in two responses, or the client if the responses don't show this.
func TestOriginOfSameID(t *testing.T) {
	second := strings.Replace(portsCall, `"all":true`, `"all":false`, 1)
	request := portsRequest(portsAsk, model(portsCall), portsResult, model(second), portsResult)
	refusal := refusedWith("messages.3.content.0: `tool_use` ids must be unique")
	first := asked{portsRequest(portsAsk), portsAnswer("tool_use", portsCall), 200}
	for _, test := range []struct {
		name, url, call, want string
	}{
		{"two responses, another host", otherHost, second, "gateway"},
		{"two responses, its own host", ownHost, second, "gateway"},
		{"the client renamed a call", otherHost, strings.Replace(second, "toolu_net1", "toolu_net2", 1), "client"},
	} {
		in, _ := play(test.url, first, asked{portsRequest(portsAsk, model(portsCall), portsResult), portsAnswer("tool_use", test.call), 200},
			asked{request, refusal, 400})
		found := findingsOf(in, "ID_COLLISION")
		if len(found) != 1 || found[0].By.String() != test.want {
			t.Errorf("%s: %+v, want %s", test.name, found, test.want)
		}
	}
}

// TestReasoningWords checks that the report about a sent-back call describes the changes to the reasoning and to its
// signature.
func TestReasoningWords(t *testing.T) {
	unsigned := `{"type":"thinking","thinking":"ask netstat first","signature":""}`
	other := `{"type":"thinking","thinking":"ask nobody","signature":"QUJDREVG"}`
	without := strings.Replace(portsRequest(portsAsk, model(portsCall), portsResult), `"enabled"`, `"disabled"`, 1)
	for _, test := range []struct{ want, request string }{
		{"intact  ", portsRequest(portsAsk, model(portsThought, portsCall), portsResult)},
		{"intact gone ", portsRequest(portsAsk, model(portsCall), portsResult)},
		{"intact altered ", portsRequest(portsAsk, model(other, portsCall), portsResult)},
		{"intact  gone", portsRequest(portsAsk, model(unsigned, portsCall), portsResult)},
		{"intact not needed ", without},
	} {
		in, _ := play("https://api.anthropic.com/v1/messages",
			asked{portsRequest(portsAsk), portsAnswer("tool_use", portsThought, portsCall), 200},
			asked{test.request, portsAnswer("end_turn", `{"type":"text","text":"Two."}`), 200})
		sent := in.Session().Turns[0].Calls[0].SentBack
		if len(sent) != 1 {
			t.Fatalf("%d reports", len(sent))
		}
		if got := sent[0].Outcome + " " + sent[0].Reasoning + " " + sent[0].Signature; got != test.want {
			t.Errorf("%q, not %q", got, test.want)
		}
	}
}

// placesFoundTwice returns the places in requests with several findings of the severity warn or error.
func placesFoundTwice(in *Inspector) (twice []string) {
	seen := map[string]string{}
	for _, t := range in.Session().Turns {
		for _, f := range t.Findings {
			if f.Severity == stream.Info || f.Detail == nil || f.Detail.Name != "illegal" {
				continue
			}
			at := fmt.Sprint(t.Number+1, " ", f.Detail.Value("path"))
			if before := seen[at]; before != "" {
				twice = append(twice, at+" "+before+" "+f.Code)
			}
			seen[at] = f.Code
		}
	}
	return twice
}

// TestBreachDetail checks that a finding about a request contains the rule and its place in the body.
func TestBreachDetail(t *testing.T) {
	request := portsRequest(portsAsk, portsResult)
	in, _ := play(otherHost, asked{request, portsAnswer("end_turn", `{"type":"text","text":"22"}`), 200})
	found := findingsOf(in, "ORPHAN_RESULT")
	if len(found) != 1 {
		t.Fatalf("%+v", found)
	}
	d := found[0].Detail
	if d.Value("rule") != "result-has-call" || d.Value("path") != "messages[1].content[0]" || d.Value("id") != "toolu_net1" {
		t.Errorf("%+v", d)
	}
	start, end := d.Value("start").(int), d.Value("end").(int)
	if want := `{"type":"tool_result","tool_use_id":"toolu_net1","content":"22, 80"}`; request[start:end] != want {
		t.Errorf("%q", request[start:end])
	}
}

// TestOnePlaceOnce checks that each place in a request has at most one finding of the severity warn or error.
func TestOnePlaceOnce(t *testing.T) {
	user := func(blocks ...string) string { return `{"role":"user","content":[` + strings.Join(blocks, ",") + `]}` }
	result := func(id string) string {
		return `{"type":"tool_result","tool_use_id":"` + id + `","content":"22, 80"}`
	}
	badCall := `{"type":"tool_use","id":"a b","name":"no name","input":"{}"}`
	empty := `{"type":"text","text":""}`
	pool := []string{
		portsAsk, model(portsCall), model(portsThought, portsCall), model(portsCall, portsCall), model(badCall), model(empty, badCall), user(empty),
		portsResult, user(result("toolu_net1"), result("toolu_net1")), user(empty, result("toolu_lost")), user(result("a b"), empty, result("a b")),
	}
	first := asked{portsRequest(portsAsk), portsAnswer("tool_use", portsThought, portsCall), 200}
	places, twice := 0, map[string]string{}
	for i := range len(pool) * len(pool) {
		body := portsRequest(portsAsk, pool[i%len(pool)], pool[i/len(pool)])
		in, found := play(ownHost, first, asked{body, refusedWith("messages.1.content.0: not allowed"), 400})
		places += len(found)
		for _, at := range placesFoundTwice(in) {
			codes := strings.Join(strings.Fields(at)[2:], " ")
			twice[codes] = at + " in " + body
		}
	}
	if places < 300 {
		t.Errorf("only %d findings", places)
	}
	for codes, at := range twice {
		t.Errorf("%s: %s", codes, at)
	}
}
