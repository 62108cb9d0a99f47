package replay_test

import (
	"bytes"
	stdjson "encoding/json"
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/protocol/historytest"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/json"
)

// answered returns a history of calls, with results that refer to them.
func answered(from *protocol.Target, ids ...string) []protocol.Message {
	m := calls(from, make([]string, len(ids))...)
	results := user()
	for i, id := range ids {
		m[0].Parts[i].ID, m[0].Parts[i].Args = id, []byte(`{"a":1}`)
		results.Parts = append(results.Parts, result(id, "ok"))
	}
	return append(m, results)
}

func body(p replay.Preview) string {
	return string(bytes.Join(append(p.Body, p.Results...), []byte("\n")))
}

// TestVectors checks the replay cases in the protocol reference, under the numbers that they have there.
func TestVectors(t *testing.T) {
	chat, anthropic := target(t, "openai-chat"), target(t, "anthropic")
	t.Run("54 malformed arguments to Anthropic", func(t *testing.T) {
		src := replay.SourceOfHistory(calls(chat, `{"a":1`), chat)
		if p := src.Preview(anthropic, policy(t, "preserve")); string(p.Calls[0].Args) != `{}` || codes(p.Losses) != replay.ArgsEmptied.Code {
			t.Errorf("%s, %s", p.Calls[0].Args, codes(p.Losses))
		}
		if p := src.Preview(anthropic, policy(t, "wrap")); string(p.Calls[0].Args) != `{"INVALID_JSON":"{\"a\":1"}` {
			t.Errorf("%s", p.Calls[0].Args)
		}
	})
	t.Run("55 an id of two to Anthropic", func(t *testing.T) {
		p := replay.SourceOfHistory(answered(chat, "call_a|fc_b"), chat).Preview(anthropic, policy(t, "preserve"))
		if codes(p.Losses) != replay.IDRewritten.Code || strings.Count(body(p), `"call_a"`) != 2 {
			t.Errorf("%s: %s", codes(p.Losses), body(p))
		}
	})
	t.Run("56 ids cut to nine characters for Mistral", func(t *testing.T) {
		p := replay.SourceOfHistory(answered(chat, "tooluse_ABx", "tooluse_ABy"), chat).Preview(target(t, "mistral"), policy(t, "wrap-raw"))
		if !strings.HasSuffix(codes(p.Losses), replay.IDCollision.Code) {
			t.Errorf("%s: %s", codes(p.Losses), body(p))
		}
	})
	t.Run("57 an id with a dot and a colon", func(t *testing.T) {
		src := replay.SourceOfHistory(answered(chat, "functions.search:0"), chat)
		if p := src.Preview(anthropic, policy(t, "preserve")); codes(p.Losses) != replay.IDRewritten.Code {
			t.Errorf("to Anthropic: %s", codes(p.Losses))
		}
		if p := src.Preview(target(t, "bedrock"), policy(t, "preserve")); codes(p.Losses) != "" || p.Calls[0].ID != "functions.search:0" {
			t.Errorf("to Bedrock: %s, %s", codes(p.Losses), p.Calls[0].ID)
		}
	})
	t.Run("58 a batch of which the first call is signed", func(t *testing.T) {
		gemini := target(t, "gemini")
		batch := answered(gemini, "", "")
		batch[0].Parts[0].Signature = "c2ln"
		batch[0].Parts[1].Name, batch[1].Parts[0].Name, batch[1].Parts[1].Name = "other", batch[0].Parts[0].Name, "other"
		src := replay.SourceOfHistory(batch, gemini)
		if p := src.Preview(gemini, policy(t, "preserve")); p.Refused != "" || len(p.Losses) > 0 || len(p.Body) != 2 {
			t.Errorf("together: %s, refused %q: %s", codes(p.Losses), p.Refused, body(p))
		}
		p := src.Split().Preview(gemini, policy(t, "preserve"))
		if codes(p.Losses) != replay.ParallelSplit.Code || !strings.Contains(p.Refused, "thought_signature") || p.Outcome != replay.Verbatim || p.Acceptance.Verdict != replay.Refused {
			t.Errorf("split: %s, %s, refused %q", p.Outcome, codes(p.Losses), p.Refused)
		}
	})
}

// turnOf returns the first turn of a response.
func turnOf(t *testing.T, wire string) *stream.Turn {
	t.Helper()
	in := new(providers.Inspector)
	in.Write(stream.Record{Exchange: 1, Data: []byte(wire)})
	in.Close()
	if len(in.Session().Turns) == 0 || len(in.Session().Turns[0].Calls) == 0 {
		t.Fatal("no call")
	}
	return in.Session().Turns[0]
}

// sentArguments returns the value of the arguments as the target's own protocol reads it from a preview's body.
func sentArguments(t *testing.T, p replay.Preview) (args []byte, form protocol.ArgsForm) {
	t.Helper()
	request := historytest.Request(p.To, p.Body)
	messages, err := p.To.Decode(request)
	if err != nil {
		t.Fatalf("%s: %v in %s", p.To.Name, err, request)
	}
	for _, m := range messages {
		for _, part := range m.Parts {
			if part.Kind == protocol.CallPart {
				return part.Args, part.Form
			}
		}
	}
	return nil, 0
}

// TestArraysTravel checks AI Studio's arguments, which are nested arrays. They must have the same value for every
// target, and must be in AI Studio's form again when they are sent back to it.
func TestArraysTravel(t *testing.T) {
	wire := `[[[[[[null,null,null,null,null,null,null,null,null,null,["todo_write",[[["todos",[null,null,null,null,null,[[[null,null,null,null,` +
		`[[["id",[null,null,"1"]],["done",[null,null,null,0]],["n",[null,9007199254740991]]]]]]]]]]],"c1"]]],"model"],1]],null,[1,2,3]]]`
	const want = `{"todos":[{"id":"1","done":false,"n":9007199254740991}]}`
	turn := turnOf(t, wire)
	from := target(t, "aistudio")
	for _, to := range providers.Targets() {
		p := replay.SourceOfCalls(turn, from).Preview(to, policy(t, "preserve"))
		args, _ := sentArguments(t, p)
		if !json.Same(args, []byte(want)) || p.Refused != "" {
			t.Errorf("%s: %s, %s, refused %q", to.Name, args, codes(p.Losses), p.Refused)
		}
		back := replay.SourceOfHistory(calls(to, string(args)), to).Preview(from, policy(t, "preserve"))
		if args, _ := sentArguments(t, back); string(args) != want && !json.Same(args, []byte(want)) {
			t.Errorf("from %s and back: %s", to.Name, args)
		}
	}
}

// TestNestedFunction checks that every target keeps a call in the field function, with a string as its arguments, in
// a message whose content is null. A client that filters out calls that it can't decode would lose a malformed call,
// and leave the call's result without a call.
func TestNestedFunction(t *testing.T) {
	wire := `{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"call_abc123","type":"function","function":{"name":"get_weather",` +
		`"arguments":"{\"location\":\"NYC\", \"units\":\"metric\"}"}}]},"finish_reason":"tool_calls"}]}`
	turn := turnOf(t, wire)
	for _, to := range providers.Targets() {
		p := replay.SourceOfCalls(turn, target(t, "openai-chat")).Preview(to, policy(t, "drop"))
		args, form := sentArguments(t, p)
		if !json.Same(args, []byte(`{"location":"NYC","units":"metric"}`)) || form == protocol.TextForm != (to.Form == protocol.TextForm) {
			t.Errorf("%s: %s", to.Name, body(p))
		}
	}
	broken := turnOf(t, strings.Replace(wire, `metric\"}`, `metric`, 1))
	for _, to := range providers.Targets() {
		p := replay.SourceOfCalls(broken, target(t, "openai-chat")).Preview(to, policy(t, "drop"))
		if args, _ := sentArguments(t, p); args != nil || codes(p.Losses) != "CALL_DROPPED ORPHAN_RESULT" || (p.Refused == "") != to.TakesUnpaired {
			t.Errorf("%s: %s, refused %q: %s", to.Name, codes(p.Losses), p.Refused, body(p))
		}
	}
}

// TestMalformedEverywhere checks arguments that don't parse, with each policy for every target.
func TestMalformedEverywhere(t *testing.T) {
	const raw = `{"path":"/etc/hosts","content":"line1`
	from := target(t, "openai-chat")
	src := replay.SourceOfHistory(calls(from, raw), from)
	for _, to := range providers.Targets() {
		takesText := to.Form == protocol.TextForm
		for name, want := range map[string]struct{ text, object string }{
			"empty":    {`{}`, `{}`},                     // as before
			"preserve": {raw, `{}`},                      // the text stays if the target accepts text
			"wrap":     {`INVALID_JSON`, `INVALID_JSON`}, // no target loses anything
		} {
			p := src.Preview(to, policy(t, name))
			args, _ := sentArguments(t, p)
			expect := want.object
			if takesText {
				expect = want.text
			}
			if !bytes.Contains(args, []byte(expect)) {
				t.Errorf("%s under %s: %s", to.Name, name, args)
			}
			emptied := strings.Contains(codes(p.Losses), replay.ArgsEmptied.Code)
			if emptied != (string(args) == "{}") {
				t.Errorf("%s under %s: sends %s and tells %s", to.Name, name, args, codes(p.Losses))
			}
			for _, message := range append(p.Body, p.Results...) {
				if !stdjson.Valid(message) {
					t.Errorf("%s under %s: %s", to.Name, name, message)
				}
			}
		}
	}
}
