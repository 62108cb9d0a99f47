package report

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"toolscope/stream"
)

// said returns a turn that has a response with the given text and one call.
func said(id, text, tool, args string) *TracedTurn {
	s := new(stream.Session)
	for _, e := range []stream.Event{
		{Kind: stream.TurnOpen}, {Kind: stream.TextDelta, Text: text},
		{Kind: stream.CallOpen, What: &stream.CallInfo{ID: "call_1", Name: tool, Kind: "function"}}, {Kind: stream.Args, Text: args},
		{Kind: stream.TurnClose},
	} {
		s.Apply(e)
	}
	t := s.Turns[0]
	t.ID, t.Protocol = id, "openai-chat"
	return &TracedTurn{
		Turn: t, URL: "https://api.openai.com/v1/chat/completions", RequestedModel: "gpt-5",
		Clock:   func(at time.Duration) time.Time { return time.Unix(1_000_000, 0).Add(at) },
		EventAt: func(int) time.Duration { return stream.NoTime },
	}
}

// has returns an attribute of a span, or nil.
func has(s *Span, key string) any {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value
		}
	}
	return nil
}

// TestTraceParent checks that a header must match the format of traceparent exactly.
func TestTraceParent(t *testing.T) {
	const trace, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for text, want := range map[string]bool{
		"00-" + trace + "-" + span + "-01":                      true,
		"00-" + trace + "-" + span + "-00":                      true,
		"01-" + trace + "-" + span + "-01-more":                 true,
		"00-" + trace + "-" + span + "-01-more":                 false,
		"ff-" + trace + "-" + span + "-01":                      false,
		"0x-" + trace + "-" + span + "-01":                      false,
		"00-" + strings.ToUpper(trace) + "-" + span + "-01":     false,
		"00-" + strings.Repeat("0", 32) + "-" + span + "-01":    false,
		"00-" + trace + "-0000000000000000-01":                  false,
		"00-" + trace + "-" + span:                              false,
		"00-" + trace + "-" + span + "-1":                       false,
		"00-" + trace + "-" + span + "-zz":                      false,
		" 00-" + trace + "-" + span + "-01":                     false,
		"00-" + trace[:31] + "-" + span + "-01":                 false,
		"00-" + strings.Replace(trace, "0", "g", 1) + span + "": false,
	} {
		of := said("r", "x", "f", "{}")
		of.TraceParent, of.TraceState = text, "vendor=1"
		all := (&Tracer{}).Spans(of)
		turn, call := all[0], all[1]
		switch {
		case (turn.Parent != [8]byte{}) != want:
			t.Errorf("%q: %x", text, turn.Parent)
		case want && (turn.State != "vendor=1" || turn.Flags&isRemote == 0 || (turn.Flags&1 == 1) != strings.Contains(text, "-01") || call.State != turn.State || call.Flags != turn.Flags&^isRemote):
			t.Errorf("%q: %+v\n%+v", text, turn, call)
		case !want && (turn.State != "" || turn.Flags != 0):
			t.Errorf("%q: %+v", text, turn)
		}
	}
}

// TestTurnNames checks that the ids of a turn depend on its response. Two responses without an id that arrive at the
// same time get different ids. Those ids are the same in each run.
func TestTurnNames(t *testing.T) {
	id := func(id, text, args string) [8]byte { return (&Tracer{}).Spans(said(id, text, "f", args))[0].ID }
	for _, of := range []string{"", "r"} {
		if one, again := id(of, "one", "{}"), id(of, "one", "{}"); one != again {
			t.Error("a turn has two names")
		}
	}
	if id("", "one", "{}") == id("", "two", "{}") || id("", "one", "{}") == id("", "one", `{"a":1}`) || id("r", "", "{}") == id("s", "", "{}") {
		t.Error("two turns have one name")
	}
}

// TestToolNames checks the names of tools, which are text from a model. An unusual name is left out of spans without
// content, and cut in spans with content.
func TestToolNames(t *testing.T) {
	for _, name := range []string{"get_weather", "mcp:a/b.c-d", strings.Repeat("x", maxNameBytes)} {
		call := (&Tracer{}).Spans(said("r", "", name, "{}"))[1]
		if call.Name != "toolscope.tool_call "+name || has(&call, semTool) != name || has(&call, ownOddName) != nil {
			t.Errorf("%q: %+v", name, call)
		}
	}
	for _, name := range []string{"I will tell a secret", "é", strings.Repeat("x", maxNameBytes+1)} {
		call := (&Tracer{}).Spans(said("r", "", name, "{}"))[1]
		if call.Name != "toolscope.tool_call" || has(&call, semTool) != nil || has(&call, ownOddName) != true {
			t.Errorf("%q: %+v", name, call)
		}
		call = (&Tracer{Content: true, Clean: func(s string) string { return strings.ReplaceAll(s, "secret", "[redacted]") }}).Spans(said("r", "", name, "{}"))[1]
		if want := strings.ReplaceAll(name, "secret", "[redacted]"); has(&call, semTool) != want[:min(len(want), maxNameBytes)] {
			t.Errorf("%q with contents: %+v", name, call)
		}
	}
}

// TestWho checks that the conversation and the agent have the names that the client sent. toolscope does not
// generate names.
func TestWho(t *testing.T) {
	of := said("r", "", "f", "{}")
	of.Turn.Request = &stream.RequestInfo{Session: "s-1", Agent: "agent-7", Title: "Explore"}
	if turn := (&Tracer{}).Spans(of)[0]; has(&turn, semAgent) != "Explore" {
		t.Errorf("%+v", turn)
	}
	of.Turn.Request.Title = "Find the bug"
	turn := (&Tracer{}).Spans(of)[0]
	if has(&turn, semConversation) != "s-1" || has(&turn, ownParty) != "agent-7" || has(&turn, semAgent) != nil {
		t.Errorf("%+v", turn)
	}
	if turn := (&Tracer{Content: true}).Spans(of)[0]; has(&turn, semAgent) != "Find the bug" {
		t.Errorf("%+v", turn)
	}
	of.Turn.Request = &stream.RequestInfo{Session: "conversation-1", GeneratedSession: true, Agent: "main"}
	if turn := (&Tracer{Content: true}).Spans(of)[0]; has(&turn, semConversation) != nil || has(&turn, ownParty) != "main" || has(&turn, semAgent) != nil {
		t.Errorf("%+v", turn)
	}
}

// TestOperation checks that operations have the names in the conventions, and that a span has the given name of the
// provider.
func TestOperation(t *testing.T) {
	for _, test := range []struct{ dialect, url, name, provider string }{
		{"openai-chat", "https://api.openai.com/v1/chat/completions", "chat", "openai"},
		{"openai-chat", "https://api.groq.com/openai/v1/completions", "text_completion", "groq"},
		{"gemini", "https://generativelanguage.googleapis.com/v1beta/models/x:streamGenerateContent", "generate_content", "gcp.gemini"},
		{"ollama", "http://127.0.0.1:11434/api/generate", "text_completion", "ollama"},
		{"anthropic", "https://bedrock-runtime.eu-west-1.amazonaws.com/model/x/invoke", "chat", "aws.bedrock"},
		{"anthropic", "https://s3.amazonaws.com/x", "chat", "anthropic"},
		{"unknown", "https://a/x", "chat", ""},
	} {
		of := said("r", "", "f", "{}")
		of.Turn.Protocol, of.URL, of.Provider = test.dialect, test.url, test.provider
		turn := (&Tracer{}).Spans(of)[0]
		provider, _ := has(&turn, semProvider).(string)
		if turn.Name != test.name+" gpt-5" || has(&turn, semOperation) != test.name || provider != test.provider {
			t.Errorf("%+v: %+v", test, turn)
		}
	}
}

// TestLargeTexts checks that texts that are too large for a collector are cut and marked as cut. Cut messages are
// still valid JSON.
func TestLargeTexts(t *testing.T) {
	of := said("r", strings.Repeat("é", maxTextBytes/3), "f", `{"a":"`+strings.Repeat("b", maxTextBytes)+`"}`)
	for i, s := range (&Tracer{Content: true}).Spans(of) {
		size := 0
		for _, a := range s.Attributes {
			text, _ := a.Value.(string)
			size += len(text)
		}
		if size < maxTextBytes/2 || size > maxTextBytes+4096 || has(&s, ownCut) != true {
			t.Errorf("span %d has %d bytes", i, size)
		}
		if text, _ := has(&s, semMessages).(string); i == 0 && !json.Valid([]byte(text)) {
			t.Error("what was said is no JSON")
		}
	}
	long := strings.Repeat("é", 2_000_000)
	of = said(long, "x", "f", "{}")
	of.RequestedModel, of.URL, of.Turn.Model, of.Turn.Finish, of.Turn.Request = long, "https://"+strings.Repeat("h", 2_000_000), long, long, &stream.RequestInfo{Session: long}
	of.Turn.Calls[0].ID, of.Turn.Calls[0].Kind = long, long
	for _, content := range []bool{false, true} {
		for i, s := range (&Tracer{Content: content}).Spans(of) {
			size := len(s.Name)
			for _, a := range s.Attributes {
				text, _ := a.Value.(string)
				list, _ := a.Value.([]string)
				size += len(text) + len(strings.Join(list, ""))
			}
			if size > 6000 || has(&s, ownCut) != true {
				t.Errorf("span %d with long names has %d bytes", i, size)
			}
		}
	}
	if s := (&Tracer{Content: true}).Spans(said("r", "x", "f", "{}"))[0]; has(&s, ownCut) != nil {
		t.Errorf("%+v", s)
	}
}

// TestUnanswered checks that the span of a request without a response ends when it starts, and not in 1970. Its
// findings have the same time.
func TestUnanswered(t *testing.T) {
	s := new(stream.Session)
	s.Apply(stream.Event{Kind: stream.Failure, At: stream.NoTime, Text: "x", What: &stream.FailureInfo{By: stream.Network}})
	s.Apply(stream.Event{Kind: stream.TurnClose, At: stream.NoTime, Code: stream.CloseCut, What: &stream.Ending{By: stream.Network}})
	of := said("r", "", "f", "{}")
	of.Turn, of.RequestAt = s.Turns[0], time.Second
	turn := (&Tracer{}).Spans(of)[0]
	if at := time.Unix(1_000_001, 0); !turn.Began.Equal(at) || !turn.Ended.Equal(at) || len(turn.Events) != 1 || !turn.Events[0].At.Equal(at) {
		t.Errorf("%+v", turn)
	}
}

// TestGivenUp checks that the span of a turn with an unknown end covers all bytes that arrived.
func TestGivenUp(t *testing.T) {
	s := new(stream.Session)
	for _, e := range []stream.Event{
		{Kind: stream.TurnOpen, At: 1}, {Kind: stream.CallOpen, At: 2, What: &stream.CallInfo{ID: "call_1", Name: "f", Kind: "function"}}, {Kind: stream.Args, At: 3, Text: "{"},
		{Kind: stream.TurnClose, At: stream.NoTime, Code: stream.CloseCut, What: &stream.Ending{By: stream.Toolscope}},
	} {
		s.Apply(e)
	}
	of := said("r", "", "f", "{}")
	of.Turn, of.LastBytesAt = s.Turns[0], 4
	turn := (&Tracer{}).Spans(of)[0]
	if want := of.Clock(4); !turn.Ended.Equal(want) || len(turn.Events) != 0 && !turn.Events[0].At.Equal(want) {
		t.Errorf("it ends at %s: %+v", turn.Ended, turn)
	}
}

// TestFailed checks that a turn counts as failed if the provider or the network ended it, or if toolscope answered
// instead. It does not count as failed if the client left, or if its end was not seen.
func TestFailed(t *testing.T) {
	for _, test := range []struct {
		by     stream.Party
		own    bool
		failed any
	}{{stream.Client, false, nil}, {stream.Toolscope, false, nil}, {stream.Toolscope, true, "aborted"}, {stream.Network, false, "aborted"}, {stream.Provider, false, "aborted"}} {
		s := new(stream.Session)
		s.Apply(stream.Event{Kind: stream.TurnOpen})
		s.Apply(stream.Event{Kind: stream.TurnClose, Code: stream.CloseCut, Text: "x", What: &stream.Ending{By: test.by}})
		of := said("r", "", "f", "{}")
		of.Turn, of.AnsweredHere = s.Turns[0], test.own
		if turn := (&Tracer{}).Spans(of)[0]; turn.Failed != (test.failed != nil) || has(&turn, semError) != test.failed {
			t.Errorf("%+v: %+v", test, turn)
		}
	}
}
