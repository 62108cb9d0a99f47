package providers

import (
	"strings"
	"testing"

	"toolscope/stream"
)

// talk returns an inspector that has read some chat turns, each after a request with the given messages.
func talk(exchanges ...[2]string) *Inspector {
	in := new(Inspector)
	for i, x := range exchanges {
		in.Write(stream.Record{Exchange: i + 1, Request: true, Data: []byte(`{"messages":[` + x[0] + `]}`)})
		in.Write(stream.Record{Exchange: i + 1, Data: []byte(x[1])})
		in.Write(stream.Record{Exchange: i + 1, End: true})
	}
	in.Close()
	return in
}

// says returns a response with one call.
func says(id, name, args string) string {
	return `{"object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[` +
		made(id, name, args) + `]},"finish_reason":"tool_calls"}]}`
}

func made(id, name, args string) string {
	return `{"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":"` + strings.ReplaceAll(args, `"`, `\"`) + `"}}`
}

const (
	asks  = `{"role":"user","content":"go"}`
	first = `{"role":"assistant","content":null,"tool_calls":[`
)

func tool(id, text string) string {
	return `{"role":"tool","tool_call_id":"` + id + `","content":"` + text + `"}`
}

// TestSentBackIsReportedOnce checks that a sent-back call is reported once, although every later request contains
// the same history, and again when its treatment changes.
func TestSentBackIsReportedOnce(t *testing.T) {
	good := asks + `,` + first + made("a", "f", `{"n":1}`) + `]},` + tool("a", "ok")
	lost := asks + `,` + first + made("a", "f", `{}`) + `]},` + tool("a", "ok")
	in := talk([2]string{asks, says("a", "f", `{"n":1}`)}, [2]string{good, says("b", "f", `{}`)}, [2]string{good, says("c", "f", `{}`)}, [2]string{lost, says("d", "f", `{}`)})
	c := in.Session().Turns[0].Calls[0]
	if len(c.SentBack) != 2 || c.SentBack[0].Outcome != "intact" || c.SentBack[0].Exchange != 2 || c.SentBack[1].Outcome != "emptied" || c.SentBack[1].Exchange != 4 {
		t.Errorf("%+v", c.SentBack)
	}
	if turn := in.Session().Turns[0]; !turn.SentBack || turn.SentBackIn != 2 {
		t.Errorf("answered by request %d", turn.SentBackIn)
	}
	if r, ok := in.View().Result(c); !ok || string(r.Text) != "ok" {
		t.Errorf("its result is %q", r.Text)
	}
}

// TestOtherConversation checks that a request without any part of a turn leads to no report about the turn.
func TestOtherConversation(t *testing.T) {
	in := talk([2]string{asks, says("a", "f", `{"n":1}`)},
		[2]string{`{"role":"user","content":"something else"},` + first + made("z", "g", `{}`) + `]},` + tool("z", "ok"), says("b", "f", `{}`)})
	if c := in.Session().Turns[0].Calls[0]; len(c.SentBack) != 0 || len(c.Findings) != 0 {
		t.Errorf("%+v %+v", c.SentBack, c.Findings)
	}
}

// TestReturnAcrossProtocols checks that a conversation that continues at another provider is one
// conversation.
func TestReturnAcrossProtocols(t *testing.T) {
	in := new(Inspector)
	in.Write(stream.Record{Exchange: 1, Data: []byte(says("call_1", "f", `{"n": 1`))})
	in.Write(stream.Record{Exchange: 1, End: true})
	in.Write(stream.Record{Exchange: 2, Request: true, Data: []byte(`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"call_1","name":"f","input":{"INVALID_JSON":"{\"n\": 1"}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"call_1","content":"no","is_error":true}]}]}`)})
	in.Close()
	c := in.Session().Turns[0].Calls[0]
	if len(c.SentBack) != 1 || c.SentBack[0].Outcome != "wrapped" || c.SentBack[0].Policies != "wrap, pydantic-ai" || c.ResultCode != stream.ResultFailed {
		t.Errorf("%+v, answered %d", c.SentBack, c.ResultCode)
	}
}

// TestWhatToolsGave checks the kept result of a call: the beginning of a long text in complete characters,
// with its length; the number of parts that are not text; and the names of tools that were found.
func TestWhatToolsGave(t *testing.T) {
	long := strings.Repeat("é", stream.MaxResultBytes)
	for _, test := range []struct {
		content string
		want    stream.Result
	}{
		{`"ok"`, stream.Result{Bytes: 2, Text: "ok"}},
		{`"a` + long + `"`, stream.Result{Bytes: 1 + len(long), Text: "a" + long[:stream.MaxResultBytes-2]}},
		{`[{"type":"text","text":"see "},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]`, stream.Result{Bytes: 4, Media: 1, Text: "see "}},
		{`[{"type":"tool_reference","tool_name":"WebFetch"},{"type":"tool_reference","tool_name":"Edit"}]`, stream.Result{Bytes: 14, Text: "WebFetch\nEdit\n"}},
		{`[]`, stream.Result{}},
	} {
		in := new(Inspector)
		in.Write(stream.Record{Exchange: 1, Data: messages(`{}`)})
		in.Write(stream.Record{Exchange: 1, End: true})
		in.Write(stream.Record{Exchange: 2, Request: true, Data: []byte(`{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"get_weather","input":{}}]},` +
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":` + test.content + `}]}]}`)})
		in.Close()
		if r := in.Session().Turns[0].Calls[0].LatestResult(); r == nil || r.Result != test.want {
			t.Errorf("%.60s: %+v", test.content, r)
		}
	}
}
