package providers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

const (
	citySchema  = `{"type":"object","properties":{"city":{"type":"string"}},"additionalProperties":false}`
	cityRequest = `{"model":"claude-x","tools":[{"name":"get_weather","input_schema":` + citySchema + `}]}`
	otherTools  = `{"model":"claude-x","tools":[{"name":"get_time"}]}`
)

// messages returns the wire of responses with one call each, with the given arguments.
func messages(args ...string) []byte {
	s := ""
	for _, a := range args {
		s += string(data(`{"type":"message_start","message":{"id":"m"}}`)) +
			string(data(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"get_weather","input":{}}}`)) +
			string(data(fmt.Sprintf(`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":%q}}`, a))) +
			string(data(`{"type":"content_block_stop","index":0}`)) +
			string(data(`{"type":"message_stop"}`))
	}
	return []byte(s)
}

// warnings returns the codes of findings above info, in the order of the turns.
func warnings(in *Inspector) string {
	var codes []string
	for _, f := range loud(in.Session()) {
		codes = append(codes, f.Code)
	}
	return strings.Join(codes, " ")
}

// TestRequestFirst checks that the request may come in several chunks, between other exchanges, and that it
// applies to every turn of its own exchange only.
func TestRequestFirst(t *testing.T) {
	in := new(Inspector)
	in.Write(stream.Record{Exchange: 1, Request: true, Data: []byte(cityRequest[:30])})
	in.Write(stream.Record{Exchange: 2, Request: true, Data: []byte(otherTools)})
	in.Write(stream.Record{Exchange: 1, Request: true, Data: []byte(cityRequest[30:])})
	in.Write(stream.Record{Exchange: 3, Data: messages(`{"town":1}`)})
	in.Write(stream.Record{Exchange: 2, Data: messages(`{"town":1}`)})
	in.Write(stream.Record{Exchange: 1, Data: messages(`{"city":"Oslo"}`, `{"town":1}`, `{"city":1}`)})
	in.Close()
	got := ""
	for _, turn := range in.Session().Turns {
		got += fmt.Sprint(turn.Exchange, ":")
		for _, f := range turn.Calls[0].Findings {
			if f.Severity == stream.Warn {
				got += " " + f.Code
			}
		}
		got += "\n"
	}
	want := "3:\n2: NO_SUCH_TOOL\n1:\n1: SCHEMA_UNKNOWN_KEY\n1: SCHEMA_WRONG_TYPE\n"
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestRequestLate checks that a request that continues after its response began is read again.
func TestRequestLate(t *testing.T) {
	in := new(Inspector)
	in.Write(stream.Record{Request: true, Data: []byte(cityRequest[:30])})
	in.Write(stream.Record{Data: messages(`{"town":1}`)})
	in.Write(stream.Record{Request: true, Data: []byte(cityRequest[30:])})
	in.Write(stream.Record{Data: messages(`{"town":1}`)})
	in.Close()
	if got := warnings(in); got != "SCHEMA_UNKNOWN_KEY" {
		t.Errorf("found %q", got)
	}
}

// TestRequestGiven checks that a given request is used if no request was captured, and only then.
func TestRequestGiven(t *testing.T) {
	in := &Inspector{Request: []byte(cityRequest)}
	in.Write(stream.Record{Exchange: 1, Data: messages(`{"town":1}`)})
	in.Write(stream.Record{Exchange: 2, Request: true, Data: []byte(otherTools)})
	in.Write(stream.Record{Exchange: 2, Data: messages(`{"town":1}`)})
	in.Close()
	if got := warnings(in); got != "SCHEMA_UNKNOWN_KEY NO_SUCH_TOOL" {
		t.Errorf("found %q", got)
	}

	in = &Inspector{Request: []byte(`{"tools":[{"type":"function","function":{"name":"f"}}]}`)}
	in.Write(stream.Record{Data: messages(`{"town":1}`, `{}`)})
	in.Close()
	if got := turnLines(in.Session()); strings.Count(got, "SCHEMA_UNCHECKED info") != 1 || warnings(in) != "" {
		t.Errorf("with tools of another protocol: %s", got)
	}
}

// TestFindingsInPlace checks that a finding follows the event that caused it, with the same time and frame.
func TestFindingsInPlace(t *testing.T) {
	in := new(Inspector)
	in.Write(stream.Record{Request: true, Data: []byte(cityRequest)})
	in.Write(stream.Record{At: time.Millisecond, Data: messages(`{"town":1}`)})
	for n := range in.Timeline.Len() {
		e := in.View().Event(n)
		if e.Kind != stream.Found || e.Slot == stream.NoSlot {
			continue
		}
		cause := in.View().Event(n - 1)
		if cause.Kind != stream.Args || e.Frame != cause.Frame || e.At != time.Millisecond || stream.PayloadOf[stream.Finding](e).Offset != 2 {
			t.Errorf("%s behind %s: %+v", e, cause, e.What)
		}
		if found := in.Timeline.At(n + 1).Turns[0].Calls[0].Findings; len(found) != 1 || found[0].Event != n {
			t.Errorf("folded: %+v", found)
		}
	}
	if got := warnings(in); got != "SCHEMA_UNKNOWN_KEY" {
		t.Errorf("found %q", got)
	}
}

// TestSetsAreShared checks that requests with the same tools share the compiled schemas.
func TestSetsAreShared(t *testing.T) {
	in := new(Inspector)
	for n := range 3 * maxRecentSets {
		request := cityRequest
		if n%2 == 1 {
			request = fmt.Sprintf(`{"tools":[{"name":"f%d"}]}`, n)
		}
		in.Write(stream.Record{Exchange: n, Request: true, Data: []byte(request)})
		in.Write(stream.Record{Exchange: n, Data: messages(`{"city":"Oslo"}`)})
	}
	if in.Exchange(0).check.set != in.Exchange(2).check.set || len(in.sets) != maxRecentSets {
		t.Errorf("%d sets", len(in.sets))
	}
}

func TestTools(t *testing.T) {
	for _, test := range []struct{ dialect, request, want string }{
		{"anthropic", `{"tools":[{"name":"a","input_schema":{"type":"object"}},{"type":"custom","name":"b"},{"type":"web_search_20250305","name":"web_search"},
			{"type":"bash_20250124","name":"bash"},{"type":"mcp_toolset","mcp_server_name":"m"},{"type":"box_2099","name":"box"}]}`,
			`a function {"type":"object"}|b function |web_search server |bash function | mcp |box box_2099 |`},
		{"anthropic", `{"tools":[{"type":"function","function":{"name":"a"}}]}`, ""},
		{"anthropic", `{"tools":{"a":1}}`, ""},
		{"anthropic", `{"tools":[{"functionDeclarations":[{"name":"a"}]}]}`, ""},
		{"openai-chat", `{"tools":[{"type":"function","function":{"name":"a","parameters":{"type":"object"}}},{"type":"custom","custom":{"name":"b"}},{"function":{"name":"c"}},
			{"type":"function","name":"d","parameters":{}},{"type":"web_search"}],"functions":[{"name":"e","parameters":null}]}`,
			`a function {"type":"object"}|b custom |c function |d function {}| web_search |e function |`},
		{"openai-chat", `{"tools":[{"name":"a","input_schema":{}}]}`, ""},
		{"openai-chat", `{"tools":[{"type":"function","function":{"name":"a"`, ""},
		{"openai-chat", `no`, ""},
	} {
		got := ""
		for _, d := range All {
			if d.Name == test.dialect {
				for _, tool := range d.Tools([]byte(test.request)) {
					got += fmt.Sprintf("%s %s %s|", tool.Name, tool.Kind, tool.Schema)
				}
			}
		}
		if got != test.want {
			t.Errorf("%s: %s: got %q, want %q", test.dialect, test.request, got, test.want)
		}
	}
	if DeclaresTools([]byte(`{"model":"x"}`)) || !DeclaresTools([]byte(cityRequest)) {
		t.Error("DeclaresTools")
	}
}

// TestAllocationsWithTools checks that checking a call against its schema needs no allocation per delta.
func TestAllocationsWithTools(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	c := newLongCall("anthropic", 1<<20)
	in := new(Inspector)
	in.Write(stream.Record{Request: true, Data: []byte(`{"tools":[{"name":"write_file","input_schema":{"type":"object","properties":{
		"path":{"type":"string","maxLength":99},"overwrite":{"type":"boolean"},"mode":{"type":"integer"},"content":{"type":"string","maxLength":9999999}},"additionalProperties":false}}]}`)})
	warm := len(c.ends) / 4
	c.write(in, 0, warm)
	before := allocated().Mallocs
	c.write(in, warm, len(c.ends)-3)
	got := float64(allocated().Mallocs-before) / float64(len(c.ends)-warm)
	if got > 0.02 {
		t.Errorf("%.3f allocations a delta", got)
	}
	c.write(in, len(c.ends)-3, len(c.ends))
	if in.Exchange(0).check.set == nil || warnings(in) != "" {
		t.Errorf("found %q", warnings(in))
	}
}

// TestCauseOfNothing checks the party at fault for a call without the arguments that its schema requires. If no byte
// arrived, the model is at fault only at the protocol's own host: elsewhere, a translation may have lost the bytes.
func TestCauseOfNothing(t *testing.T) {
	request := `{"model":"claude-x","tools":[{"name":"get_weather","input_schema":{"type":"object","required":["city"]}}],"messages":[]}`
	for _, test := range []struct {
		url, args string
		want      stream.Party
	}{
		{"https://api.anthropic.com/v1/messages", "", stream.Model},
		{"https://models.example/v1/messages", "", stream.UnknownParty},
		{"", "", stream.UnknownParty},
		{"https://models.example/v1/messages", "{}", stream.Model},
	} {
		in := new(Inspector)
		in.Write(stream.Record{Exchange: 1, Request: true, Data: []byte(request), Head: &stream.Head{Method: "POST", URL: test.url}})
		answer := strings.Replace(string(messages(test.args)), `{"type":"message_stop"}`, `{"type":"message_delta","delta":{"stop_reason":"tool_use"}}`+"\n\ndata: "+`{"type":"message_stop"}`, 1)
		in.Write(stream.Record{Exchange: 1, Data: []byte(answer)})
		in.Close()
		found := findingsOf(in, "SCHEMA_INVALID")
		if len(found) != 1 || found[0].By != test.want {
			t.Errorf("%s with %q: %+v, want one by %s", test.url, test.args, found, test.want)
		}
	}
}
