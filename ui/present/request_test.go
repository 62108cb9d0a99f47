package present

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/stream/json"
)

// madeBodies are requests with the same content in several protocols.
var madeBodies = map[string]string{
	"anthropic": `{"model":"m","system":"Answer in one short sentence.","tools":[{"name":"mcp__git__log","input_schema":{}},{"name":"read","input_schema":{}}],
		"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":[{"type":"tool_use","id":"t1","name":"read","input":{"path":"a"}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"text"},{"type":"text","text":"and now?"}]}]}`,
	"openai-chat": `{"model":"m","tools":[{"type":"function","function":{"name":"mcp__git__log","parameters":{}}},{"type":"function","function":{"name":"read","parameters":{}}}],
		"messages":[{"role":"system","content":"Answer in one short sentence."},{"role":"user","content":"hello"},{"role":"assistant","content":null,"tool_calls":[{"id":"t1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}]},
		{"role":"tool","tool_call_id":"t1","content":"text"},{"role":"user","content":"and now?"}]}`,
	"openai-responses": `{"model":"m","instructions":"Answer in one short sentence.","tools":[{"type":"namespace","name":"mcp__git","tools":[{"type":"function","name":"log","parameters":{}}]},{"type":"function","name":"read","parameters":{}}],
		"input":[{"role":"user","content":"hello"},{"type":"function_call","call_id":"t1","name":"read","arguments":"{\"path\":\"a\"}"},{"type":"function_call_output","call_id":"t1","output":"text"},{"role":"user","content":"and now?"}]}`,
	"gemini": `{"systemInstruction":{"parts":[{"text":"Answer in one short sentence."}]},"tools":[{"functionDeclarations":[{"name":"mcp__git__log"},{"name":"read"}]}],
		"contents":[{"role":"user","parts":[{"text":"hello"}]},{"role":"model","parts":[{"functionCall":{"name":"read","args":{"path":"a"}}}]},{"role":"user","parts":[{"functionResponse":{"name":"read","response":{"output":"text"}}},{"text":"and now?"}]}]}`,
	"bedrock": `{"system":[{"text":"Answer in one short sentence."}],"toolConfig":{"tools":[{"toolSpec":{"name":"mcp__git__log"}},{"toolSpec":{"name":"read"}}]},
		"messages":[{"role":"user","content":[{"text":"hello"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"t1","name":"read","input":{"path":"a"}}}]},
		{"role":"user","content":[{"toolResult":{"toolUseId":"t1","content":[{"text":"text"}]}},{"text":"and now?"}]}]}`,
}

// TestBreakdown checks that each byte of a request is in one row, whatever the protocol. Tokens and costs must add up
// to those of the turn, and the cached tokens must be those at the beginning.
func TestBreakdown(t *testing.T) {
	rates := price.Rates{Input: price.Rate{USD: 3, Known: true}, CacheRead: price.Rate{USD: 0.3, Known: true}, CacheWrite: price.Rate{USD: 3.75, Known: true}}
	for name, body := range madeBodies {
		change := stream.RequestChange{Comparable: true, Same: 2} // the first text and the call
		if name == "openai-chat" {
			change.Same++ // the system prompt is a message
		}
		b := ReadBreakdown(append(make([]byte, 0, len(body)+7), body...), providers.TargetOf(name), change)
		if b == nil {
			t.Errorf("%s: no breakdown", name)
			continue
		}
		sizes := map[BodyClass]int{}
		bytes := 0
		for _, row := range b.Rows {
			sizes[row.Class] += row.Bytes
			bytes += row.Bytes
			if row.Bytes <= 0 {
				t.Errorf("%s: %+v", name, row)
			}
		}
		if bytes != len(body) || b.Total.Bytes != len(body) {
			t.Errorf("%s: rows of %d and %d bytes, want %d", name, bytes, b.Total.Bytes, len(body))
		}
		for _, class := range []BodyClass{ToolsClass, SystemClass, ResultClass, CallClass, UserTextClass} {
			if sizes[class] == 0 {
				t.Errorf("%s: no row of class %d: %+v", name, class, b.Rows)
			}
		}
		if unused, all, size := b.UnusedTools(nil); unused != 1 || all != 2 || size == 0 {
			t.Errorf("%s: %d of %d tools in %d bytes are unused, want 1 of 2", name, unused, all, size)
		}
		servers := 0
		for _, row := range b.Rows {
			if row.Class == ToolsClass && slices.Equal(row.Names, []string{"git"}) {
				servers++
			}
			if class := row.Class; (class == ResultClass || class == SystemClass) && (row.Change == NewPart) != (class == ResultClass) || class == CallClass && row.Change == NewPart {
				t.Errorf("%s: wrong change: %+v", name, row)
			}
		}
		if servers != 1 {
			t.Errorf("%s: %d rows for the tools of git, want 1: %+v", name, servers, b.Rows)
		}
		u := stream.Usage{Input: stream.Tokens(1001), CacheRead: stream.Tokens(301), CacheWrite: stream.Tokens(100)}
		b.SetUsage(u, &rates)
		tokens, cost := int64(0), 0.0
		for _, row := range b.Rows {
			tokens, cost = tokens+row.Tokens, cost+row.Cost
			if row.Class == ToolsClass && row.Cost > float64(row.Tokens+1)*0.3/1e6 {
				t.Errorf("%s: tools at the beginning were cached, but cost $%g", name, row.Cost)
			}
		}
		want := (600*3 + 301*0.3 + 100*3.75) / 1e6
		if tokens != 1001 || math.Abs(cost-want) > 1e-12 || math.Abs(b.Total.Cost-want) > 1e-12 || math.Abs(b.Uncached-1001*3/1e6) > 1e-12 {
			t.Errorf("%s: %d tokens, cost $%g and $%g, uncached $%g; want 1001 and $%g", name, tokens, cost, b.Total.Cost, b.Uncached, want)
		}
	}
}

// TestBreakdownWithoutTokens checks that tokens are unknown if the response has no usage, or if media are a large part
// of the body. Without rates, there are no costs.
func TestBreakdownWithoutTokens(t *testing.T) {
	to := providers.TargetOf("anthropic")
	text := ReadBreakdown([]byte(madeBodies["anthropic"]), to, stream.RequestChange{})
	picture := ReadBreakdown(fmt.Appendf(nil, `{"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"%0300d"}}]}]}`, 1), to, stream.RequestChange{})
	u := stream.Usage{Input: stream.Tokens(1000)}
	text.SetUsage(u, nil)
	picture.SetUsage(u, nil)
	if !text.Counted || text.Priced || picture.Counted {
		t.Errorf("counted %t, priced %t, counted with a picture %t; want true, false, false", text.Counted, text.Priced, picture.Counted)
	}
	if text.SetUsage(stream.Usage{}, nil); text.Counted || text.Total.Tokens != 0 || text.Rows[0].Tokens != 0 {
		t.Errorf("without usage: %+v", text)
	}
	for _, body := range []string{``, `{}`, `[1]`, `{"messages":[]}`, `{"messages":[{"role":"user"`} {
		if b := ReadBreakdown([]byte(body), to, stream.RequestChange{}); b != nil {
			t.Errorf("%s: %+v", body, b)
		}
	}
}

// TestOffsetOf checks the place of a value in the body: of a part of the body exactly, and of a copy after the previous
// one, or else anywhere.
func TestOffsetOf(t *testing.T) {
	body := json.Value(`{"a":"x","b":"y","c":"x"}`)
	r := &breakdownReader{body: body}
	copied := func(text string) json.Value { return json.Value(strings.Clone(text)) }
	for i, test := range []struct {
		value json.Value
		want  int
	}{
		{body.Get("c"), 21}, {body.Get("a"), 5}, {body.Get("b"), 13}, {slices.Clip(body.Get("c")), 21}, {slices.Clip(body.Get("a")), 5},
		{copied(`"x"`), 5}, {copied(`"y"`), 13}, {copied(`"x"`), 21}, {copied(`"y"`), 13}, {copied(`"z"`), -1}, {nil, -1},
	} {
		if got := r.offsetOf(test.value); got != test.want {
			t.Errorf("%d: %s: %d, want %d", i, test.value, got, test.want)
		}
	}
}

// TestBreakdownRows checks that a request with many parts has few rows, and that no byte is lost.
func TestBreakdownRows(t *testing.T) {
	body := `{"tools":[`
	for i := range 12 {
		body += fmt.Sprintf(`{"name":"mcp__s%d__t","description":"%0*d"},`, i, 10*i+1, 0)
	}
	body += `{"name":"mcp__last__t"}],"messages":[{"role":"user","content":"hello"}]}`
	b := ReadBreakdown([]byte(body), providers.TargetOf("anthropic"), stream.RequestChange{})
	size := 0
	for _, row := range b.Rows {
		size += row.Bytes
	}
	if last := b.Rows[len(b.Rows)-1]; len(b.Rows) != maxBreakdownRows || last.Class != OtherClass || size != len(body) {
		t.Errorf("%d rows, the last of class %d, %d of %d bytes", len(b.Rows), last.Class, size, len(body))
	}
	if b.Rows[0].Names[0] != "s5" {
		t.Errorf("the smallest parts must share the last row: %+v", b.Rows)
	}
}

// TestCompareRequests checks that each difference between two requests is listed once, with its place in the later
// body, and that white space, the order of fields and cache marks don't count.
func TestCompareRequests(t *testing.T) {
	const tools = `[{"name":"a","description":"x"},{"name":"b"}]`
	for _, c := range []struct{ was, is, want string }{
		{`{"model":"m","messages":[{"role":"user","content":"hi"}]}`, `{"messages":[{"content": "hi", "role": "user"}], "model":"m"}`, "= messages[0]"},
		{`{"messages":[{"role":"user","content":"hi"}]}`, `{"messages":[{"role":"user","content":"hi","cache_control":{"type":"ephemeral"}},{"role":"assistant","content":"yes"}]}`, "= messages[0], + messages[1] assistant  \"yes\""},
		{`{"messages":[1,2,3,4]}`, `{"messages":[1,2,9,4]}`, "= messages[0] to [1], ≠ messages[2] messages[2] changed from 3 to 9, = messages[3]"},
		{`{"messages":[1,2,3,4,5]}`, `{"messages":[7,4,5]}`, "≠ messages[0] messages[0] changed from 1 to 7, - messages[1] 2, - messages[2] 3, = messages[1] to [2]"},
		{`{"max_tokens":1,"stream":true,"temperature":0}`, `{"max_tokens":2,"temperature":0,"top_k":5}`, "≠ max_tokens max_tokens changed from 1 to 2, + top_k 5, - stream true"},
		{`{"system":"You help."}`, `{"system":"You find."}`, `≠ system system changed at byte 4 from "help." to "find."`},
		{`{"tools":` + tools + `}`, `{"tools":[{"name":"a","description":"y"},{"name":"c"}]}`, `≠ tools.a tools.a.description changed at byte 0 from "x" to "y", + tools.c , - tools.b `},
		{`{"tools":` + tools + `}`, `{"tools":[{"name":"b"},{"name":"a","description":"x"}]}`, "≠ tools in another order"},
		{`{"tools":[{"type":"web"}]}`, `{"tools":[{"type":"code"}]}`, `≠ tools tools[0].type changed at byte 0 from "web" to "code"`},
		{`{"messages":[1]`, `not JSON`, "- messages [1]"},
	} {
		var got []string
		for _, e := range CompareRequests(json.Value(c.was), json.Value(c.is)) {
			line := fmt.Sprintf("%c %s", []rune("=≠+-")[e.Kind], e.Name)
			if e.Kind != KeptPart {
				line += " " + e.Text
			}
			if got = append(got, line); (e.At < 0) != (e.Kind == RemovedPart) || e.At >= len(c.is) {
				t.Errorf("%s → %s: %s is at %d", c.was, c.is, line, e.At)
			}
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s → %s:\n%s\nwant\n%s", c.was, c.is, text, c.want)
		}
	}
}
