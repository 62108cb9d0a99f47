package providers

import (
	"slices"
	"strings"
	"testing"

	"toolscope/stream"
)

// TestUnknownFinish replaces each documented finish reason in the fixtures of all protocols with an undocumented one.
// The new reason must not count as a normal end. The reasons of AI Studio are numbers.
func TestUnknownFinish(t *testing.T) {
	const unknown = "solar-flare"
	also := map[string][]string{"ai-gateway": {"stop", "tool-calls"}} // the SDK's finish reasons, in addition to the provider's
	finishes, checked := map[string]bool{}, map[string]bool{}
	for _, f := range fixtures(t) {
		words := map[string]bool{}
		for _, e := range finishEvents(f.inspect(f.wire)) {
			if e.Code == stream.FinishDone && f.dialect.Name != "aistudio" {
				words[e.Text], finishes[f.dialect.Name] = true, true
			}
		}
		for word := range words {
			a := f.archive
			a.sections = slices.Clone(a.sections)
			for i := range a.sections {
				if s := &a.sections[i]; strings.HasPrefix(s.name, "wire") {
					for _, w := range append(also[f.dialect.Name], word) {
						s.text = strings.ReplaceAll(s.text, `"`+w+`"`, `"`+unknown+`"`)
					}
				}
			}
			for _, e := range finishEvents(f.inspect(wireOf(t, f.name, a))) {
				if e.Text != unknown {
					continue
				}
				checked[f.dialect.Name] = true
				if e.Code != stream.FinishOther {
					t.Errorf("%s: %s instead of %s has code %d, want %d", f.name, unknown, word, e.Code, stream.FinishOther)
				}
			}
		}
	}
	for name := range finishes {
		if !checked[name] {
			t.Errorf("%s: no fixture has a finish reason that was replaced", name)
		}
	}
}

func finishEvents(in *Inspector) (all []stream.Event) {
	for n := range in.Timeline.Len() {
		if e := in.View().Event(n); e.Kind == stream.Finish {
			all = append(all, e)
		}
	}
	return all
}

// TestEmptyResponse checks that a complete response without text and calls is reported, if the request has tools.
func TestEmptyResponse(t *testing.T) {
	tools := `,"tools":[{"name":"netstat","input_schema":{"type":"object"}}]}`
	request := strings.TrimSuffix(portsRequest(portsAsk), "}") + tools
	tokens := func(n string, response string) string {
		return strings.Replace(response, `"output_tokens":1}`, `"output_tokens":`+n+`}`, 1)
	}
	for _, test := range []struct{ name, request, response, want string }{
		{"nothing", request, portsAnswer("end_turn"), "the response is complete (end_turn), but has no text and no call"},
		{"an empty text", request, portsAnswer("end_turn", `{"type":"text","text":""}`), "the response is complete (end_turn), but has no text and no call"},
		{"only reasoning", request, portsAnswer("end_turn", portsThought), "the response is complete (end_turn), but has only reasoning: no text and no call"},
		{"a call in the reasoning", request, portsAnswer("end_turn", `{"type":"thinking","thinking":"<tool_call>{\"name\":\"netstat\",\"arguments\":{}}</tool_call>"}`), ""},
		{"a text", request, portsAnswer("end_turn", `{"type":"text","text":"22"}`), ""},
		{"a call", request, portsAnswer("tool_use", portsCall), ""},
		{"a request without tools", portsRequest(portsAsk), portsAnswer("end_turn"), ""},
		{"a stop sequence", request, portsAnswer("stop_sequence"), ""},
		{"a paused turn", request, portsAnswer("pause_turn"), ""},
		{"a refusal", request, portsAnswer("refusal"), ""},
		{"content that is not read", request, tokens("400", portsAnswer("end_turn", `{"type":"video"}`)), ""},
	} {
		in, _ := play(otherHost, asked{test.request, test.response, 200})
		var found string
		for _, f := range in.Session().Turns[0].Findings {
			if f.Code == "RESPONSE_EMPTY" {
				found = f.Message
			}
		}
		if found != test.want {
			t.Errorf("%s: %q, want %q", test.name, found, test.want)
		}
	}
}
