package cli

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
)

const malformedArgs = `{"path": "notes.md", "text": "a "quoted" word"}`

// TestReplayMalformed checks the previews of a malformed call for every target and policy. The losses must depend
// only on the target's form of arguments and on the client's behaviour.
func TestReplayMalformed(t *testing.T) {
	type fate struct{ outcome, loss, sent string }
	emptied := fate{"emptied", replay.ArgsEmptied.Code, "{}"}
	kept := fate{"verbatim", "", malformedArgs}
	throws := fate{"throws", "", ""}
	lit, _ := json.Marshal(malformedArgs)
	wrapped := fate{"wrapped", replay.ArgsWrapped.Code, `{"INVALID_JSON":` + string(lit) + `}`}
	wrappedRaw := fate{"wrapped", replay.ArgsWrapped.Code, `{"rawInvalidInput":` + string(lit) + `}`}
	repaired := fate{"repaired", replay.ArgsRepaired.Code, `{"path":"notes.md","text":"a "}`}
	dropped := fate{"dropped", replay.CallDropped.Code, ""}
	encoded := fate{"wrapped", replay.DoubleEncoded.Code, string(lit)}
	wants := map[string]struct{ text, json, object fate }{ // the targets' forms of arguments: text, text that must be JSON, or an object
		"preserve":      {kept, kept, emptied},
		"wrap":          {wrapped, wrapped, wrapped},
		"wrap-raw":      {wrappedRaw, wrappedRaw, wrappedRaw},
		"empty":         {emptied, emptied, emptied},
		"empty-warn":    {kept, kept, emptied},
		"drop":          {dropped, dropped, dropped},
		"repair":        {repaired, repaired, repaired},
		"double-encode": {encoded, encoded, encoded},
		"strict":        {throws, throws, throws},
	}
	list := previews(t, "--policy", "all", "testdata/malformed.sse")
	same(t, 0, "lines", len(list), previewsOfOne())
	for _, p := range list {
		if _, ok := wants[p.Policy]; !ok {
			continue // policy of a client
		}
		to, err := providers.FindTarget(p.To)
		if err != nil {
			t.Fatal(err)
		}
		want := wants[p.Policy].object
		switch {
		case to.Form == protocol.TextForm && to.JSONOnly:
			want = wants[p.Policy].json
		case to.Form == protocol.TextForm:
			want = wants[p.Policy].text
		}
		what := p.Policy + " to " + p.To + ": "
		same(t, 0, what+"outcome", p.Outcome, want.outcome)
		taken := "accepted"
		switch {
		case want.outcome == "dropped" && !to.TakesUnpaired, want.outcome == "verbatim" && to.JSONOnly, want == encoded && to.Form != protocol.TextForm:
			taken = "refused"
		case want == throws, want == dropped, want == kept, want == encoded:
			taken = "unknown"
		}
		same(t, 0, what+"accepted", p.accepted(), taken)
		same(t, 0, what+"refused", p.Refused != "", taken == "refused" || want == throws)
		if want.loss != "" && !slices.Contains(p.codes(), want.loss) || want.loss == "" && slices.Contains(p.codes(), replay.ArgsEmptied.Code) {
			t.Errorf("%slosses %v, want %q", what, p.codes(), want.loss)
		}
		if want.sent != "" {
			same(t, 0, what+"arguments", sentText(t, to, p.Sent), want.sent)
			same(t, 0, what+"diff", applied(t, malformedArgs, p.Diff), want.sent)
		}
		same(t, 0, what+"sends nothing", string(p.Body) == "null", p.Policy == "strict" || p.Policy == "drop")
	}
}

// previewsOfOne returns the number of previews of one Chat Completions call, for all targets and policies.
func previewsOfOne() (n int) {
	from := providers.TargetOf("openai-chat")
	for _, to := range providers.Targets() {
		for _, p := range replay.Policies {
			if p.Knows(from, to) {
				n++
			}
		}
	}
	return n
}

// TestReplayNested checks a call inside a function object, with null content and with arguments in a string. A client
// that drops undecodable calls must lose the second call.
func TestReplayNested(t *testing.T) {
	list := previews(t, "--to", "openai-chat", "testdata/nested.json")
	same(t, 0, "calls", len(list), 2)
	for i, p := range list {
		var body struct {
			Content *string
			Calls   []struct {
				ID       string
				Function struct{ Name, Arguments string }
			} `json:"tool_calls"`
		}
		if err := json.Unmarshal(p.Body, &body); err != nil || len(body.Calls) != 1 || body.Content != nil {
			t.Fatalf("%v: body %s", err, p.Body)
		}
		same(t, i, "number", p.Call, i+1)
		same(t, i, "outcome", p.Outcome, "verbatim")
		same(t, i, "id", body.Calls[0].ID, []string{"call_a", "call_b"}[i])
		same(t, i, "name", body.Calls[0].Function.Name, "get_weather")
		same(t, i, "arguments", body.Calls[0].Function.Arguments, []string{`{"location":"NYC", "units":"metric"}`, `{"location":"Oslo", "units":`}[i])
	}
	first := previews(t, "--to", "anthropic", "--call", "1", "testdata/nested.json")[0]
	same(t, 0, "outcome", first.Outcome, "parsed")
	same(t, 0, "object", string(first.Sent), `{"location":"NYC", "units":"metric"}`)
	whole := previews(t, "--to", "anthropic", "--policy", "drop", "--whole", "testdata/nested.json")[0]
	same(t, 0, "outcome", whole.Outcome, "dropped")
	same(t, 0, "calls", whole.Calls[0].Outcome+", "+whole.Calls[1].Outcome, "parsed, dropped")
	if i := slices.Index(whole.codes(), replay.CallDropped.Code); i < 0 || whole.Losses[i].Call != 2 || whole.Refused == "" {
		t.Errorf("losses %+v, refused %q", whole.Losses, whole.Refused)
	}
}

// TestReplayWhole checks which parts of a turn are sent in one message.
func TestReplayWhole(t *testing.T) {
	whole := previews(t, "--whole", "--to", "anthropic", "demo/parallel.tsc")
	same(t, 0, "lines", len(whole), 1)
	same(t, 0, "scope", whole[0].Scope, "turn")
	same(t, 0, "call", whole[0].Call, 0)
	same(t, 0, "calls", len(whole[0].Calls), 2)
	same(t, 0, "messages", strings.Count(string(whole[0].Body), `"role":`), 1)
	if text := string(whole[0].Body); text[0] != '{' || !strings.Contains(text, "I'll write the program") {
		t.Errorf("body %s", text)
	}
	same(t, 0, "results", len(whole[0].Results), 1)
	split := previews(t, "--one-by-one", "--to", "anthropic", "demo/parallel.tsc")
	same(t, 0, "scope", split[0].Scope, "turn")
	same(t, 0, "one by one", split[0].OneByOne, true)
	same(t, 0, "messages", strings.Count(string(split[0].Body), `"role":"assistant"`), 2)
	same(t, 0, "losses", split[0].codes(), []string{replay.ParallelSplit.Code})
	each := previews(t, "--to", "anthropic", "--turn", "1", "demo/parallel.tsc")
	same(t, 0, "calls by themselves", len(each), 2)
	same(t, 1, "number", each[1].Call, 2)
}

// TestReplayConversation checks a turn that follows the history in its request. The request may be captured, or come
// from --request.
func TestReplayConversation(t *testing.T) {
	list := previews(t, "--conversation", "--to", "openai-chat", "testdata/emptied.tsc")
	same(t, 0, "turns", len(list), 2)
	for i, p := range list {
		var body []struct{ Role string }
		if err := json.Unmarshal(p.Body, &body); err != nil {
			t.Fatal(err)
		}
		var roles []string
		for _, m := range body {
			roles = append(roles, m.Role)
		}
		same(t, i, "scope", p.Scope, "conversation")
		same(t, i, "turn", p.Turn, i+1)
		same(t, i, "roles", roles, [][]string{{"user", "assistant"}, {"user", "assistant", "tool", "assistant"}}[i])
		same(t, i, "calls", len(p.Calls), 1)
		same(t, i, "arguments", sentText(t, providers.TargetOf("openai-chat"), p.Calls[0].Sent), []string{malformedArgs, "{}"}[i])
	}
	given := previews(t, "--conversation", "--to", "anthropic", "--request", "testdata/request.json", "testdata/malformed.sse")[0]
	same(t, 0, "calls", len(given.Calls), 2)
	same(t, 0, "outcomes", given.Calls[0].Outcome+", "+given.Calls[1].Outcome, "parsed, emptied")
	if i := slices.Index(given.codes(), replay.ArgsEmptied.Code); i < 0 || given.Losses[i].Call != 2 {
		t.Errorf("losses %+v", given.Losses)
	}
}

// TestReplayExitCodes checks that errors name the valid values, and that losses make replay fail only with
// --fail-on-loss.
func TestReplayExitCodes(t *testing.T) {
	const bad, good, two = "testdata/malformed.sse", "demo/schema.tsc", "demo/parallel.tsc"
	for _, c := range []struct {
		args   string
		code   int
		stderr string // expected part of standard error
	}{
		{bad, 0, ""},
		{"--to anthropic " + bad, 0, ""},
		{"--fail-on-loss critical --to openai-chat " + bad, 0, ""},
		{"--fail-on-loss critical --to anthropic " + bad, 1, ": 1 of 1\n"},
		{"--fail-on-loss critical --to llama.cpp " + bad, 1, "would be refused"},
		{"--fail-on-loss critical --to openai-chat testdata/oneid.sse", 1, ": 2 of 2\n"},
		{"--fail-on-loss critical --to openai-chat --call 1 testdata/oneid.sse", 1, ": 1 of 1\n"},
		{"--fail-on-loss low --to mistral " + good, 1, "severity low or worse"},
		{"--fail-on-loss medium --to mistral " + good, 0, ""},
		{"--fail-on-loss info --to anthropic,mistral " + good, 2, "unknown target"},
		{"--fail-on-loss error " + good, 2, "info, low, medium, high, critical"},
		{"--to klingon " + good, 2, "anthropic, openai-chat"},
		{"--policy nice " + good, 2, "preserve, wrap, wrap-raw"},
		{"--format xml " + good, 2, "one of text, jsonl"},
		{"--dialect klingon " + good, 2, "klingon"},
		{"--turn 3 " + two, 2, "demo/parallel.tsc has calls in turn 1\n"},
		{"--turn 0 " + two, 2, "numbers start at 1"},
		{"--call 3 " + two, 2, "turn 1 of demo/parallel.tsc has calls 1 to 2\n"},
		{"--call -1 " + two, 2, "numbers start at 1"},
		{"--call 1 --whole " + two, 2, "all calls of a turn"},
		{"--whole --conversation " + two, 2, "use one of them"},
		{"--turn 2 testdata/emptied.tsc", 2, "has calls in turn 1"},
		{"--turn 2 --conversation testdata/emptied.tsc", 0, ""},
		{"--turn 3 --conversation testdata/emptied.tsc", 2, "has turns 1 to 2"},
		{"--conversation " + bad, 1, "--request FILE"},
		{"testdata/text.sse", 1, "testdata/text.sse: no calls"},
		{"--conversation --request testdata/plain.json testdata/text.sse", 1, "neither does the conversation before it"},
		{"testdata/text.sse " + good, 1, "no calls"},
		{"testdata/none.sse " + good, 1, "no such file"},
		{os.DevNull, 1, "no bytes arrived"},
		{"", 2, "FILE"},
	} {
		out := command(t, nil, append([]string{"replay"}, strings.Fields(c.args)...)...)
		if out.code != c.code || !strings.Contains(out.stderr, c.stderr) || c.stderr == "" && out.stderr != "" {
			t.Errorf("%s: exit code %d, stderr %q; want %d, %q", c.args, out.code, out.stderr, c.code, c.stderr)
		}
		if n := strings.Count(out.stderr, "\n"); n > 3 {
			t.Errorf("%s: %d lines of error", c.args, n)
		}
		if shown := strings.Contains(out.stdout, " call 1 "); c.code == 2 && out.stdout != "" || strings.HasSuffix(c.args, good) && c.code != 2 && !shown {
			t.Errorf("%s: stdout %q", c.args, out.stdout)
		}
	}
}
