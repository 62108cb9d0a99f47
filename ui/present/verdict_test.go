package present

import (
	"fmt"
	"slices"
	"testing"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
)

// TestVerdictWords checks that each finding that can be a warning or an error has words for a verdict, and that no
// words are too wide.
func TestVerdictWords(t *testing.T) {
	for _, d := range providers.Findings() {
		loud := d.Severity > stream.Info || slices.ContainsFunc(d.OtherSeverities, func(s stream.Severity) bool { return s > stream.Info })
		switch width := display.Clean(d.Verdict).Width(); {
		case loud && width == 0:
			t.Errorf("%s has no words for a verdict", d.Code)
		case width > VerdictCells:
			t.Errorf("%s: %q has %d cells", d.Code, d.Verdict, width)
		}
	}
	for st := range stream.Status(stream.NumStatus) {
		if width := display.Clean(stateWords(st)).Width(); width > VerdictCells {
			t.Errorf("%s: %d cells", st, width)
		}
	}
}

// response returns the view of one response in the Chat Completions protocol.
func response(status int, body string) *providers.View {
	var in providers.Inspector
	in.Write(stream.Record{Head: &stream.Head{Status: status}})
	in.Write(stream.Record{Data: []byte(body)})
	in.Write(stream.Record{End: true})
	return in.View()
}

// chat returns a stream with one call, followed by end.
func chat(args, end string) string {
	return fmt.Sprintf("data: {\"id\":\"r1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{"+
		"\"role\":\"assistant\",\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"type\":\"function\",\"function\":{\"name\":\"f\",\"arguments\":%q}}]}}]}\n\n", args) + end
}

// finish returns the end of a stream that chat begins, with a finish reason.
func finish(reason string) string {
	return fmt.Sprintf("data: {\"id\":\"r1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{},"+
		"\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", reason)
}

func TestVerdictOfCall(t *testing.T) {
	for _, c := range []struct {
		args, end string
		harm      Harm
		words     string
	}{
		{`{"a":1}`, finish("tool_calls"), Healthy, ""},
		{``, finish("tool_calls"), Healthy, ""},
		{`{"a":1`, finish("length"), HarmCut, "cut short"},
		{`{"a":1`, finish("tool_calls"), HarmCut, "cut short"},
		{`{"a":s`, finish("tool_calls"), HarmMalformed, "malformed"},
		{`{"a":1} and`, finish("tool_calls"), HarmMalformed, "malformed"},
		{`[1]`, finish("tool_calls"), HarmNotObject, "not an object"},
		{`{"a":1`, "", HarmAborted, "aborted"},
		{`{"a":1,"a":2}`, finish("tool_calls"), HarmWarn, "duplicate key"},
		{`{"a":1,"a":2`, finish("length"), HarmCut, "cut short"},
	} {
		v := VerdictOfCall(response(200, chat(c.args, c.end)).Session().Turns[0].Calls[0])
		if v.Harm != c.harm || v.Words != c.words || (v.Finding != nil) != (c.harm == HarmWarn || c.harm == HarmError) {
			t.Errorf("%s: %+v, want %d %q", c.args, v, c.harm, c.words)
		}
	}
}

func TestVerdictOfTurn(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		harm   Harm
		words  string
	}{
		{200, "data: {\"id\":\"r1\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"yes\"}}]}\n\n" + finish("stop"), Healthy, ""},
		{400, `{"error":{"message":"no","type":"invalid_request_error"}}`, HarmRejected, "refused 400"},
		{429, `{"error":{"message":"slow down","type":"rate_limit"}}`, HarmRejected, "failed 429"},
		{500, `{"error":{"message":"oh","type":"server_error"}}`, HarmRejected, "failed 500"},
	} {
		v := response(c.status, c.body)
		turn := v.Session().Turns[0]
		if got := VerdictOfTurn(v.Exchange(turn.Exchange), turn); got.Harm != c.harm || got.Words != c.words || got.Refused != (c.status == 400) {
			t.Errorf("%d: %+v, want %d %q", c.status, got, c.harm, c.words)
		}
	}
}

// TestTroubledCalls checks that equal verdicts are counted together, worst first, and that healthy calls are not counted.
func TestTroubledCalls(t *testing.T) {
	s := new(stream.Session)
	s.Apply(stream.Event{Kind: stream.TurnOpen, What: &stream.Opening{Protocol: "openai-chat"}})
	for i, args := range []string{`{"a":1}`, `[1]`, `{"a":s`, `{"a":1} x`, ``, `{"b":s`} {
		s.Apply(stream.Event{Kind: stream.CallOpen, Slot: int32(i), What: &stream.CallInfo{ID: fmt.Sprint("c", i), Name: "f"}})
		if args != "" {
			s.Apply(stream.Event{Kind: stream.Args, Slot: int32(i), Text: args})
		}
		s.Apply(stream.Event{Kind: stream.Seal, Slot: int32(i)})
	}
	words, worst := TroubledCalls(s.Turns[0])
	if want := []string{"3 calls malformed", "1 call not an object"}; !slices.Equal(words, want) || worst.Harm != HarmMalformed {
		t.Errorf("%q, worst %+v; want %q", words, worst, want)
	}
	s = new(stream.Session)
	s.Apply(stream.Event{Kind: stream.TurnOpen, What: &stream.Opening{}})
	if words, worst := TroubledCalls(s.Turns[0]); words != nil || worst.Harm != Healthy {
		t.Errorf("%q, %+v", words, worst)
	}
}

// TestBadAndCaution checks that no harm is both bad and a caution, and that arguments that are not an object are a
// caution.
func TestBadAndCaution(t *testing.T) {
	var n VerdictCounts
	for h := HarmMalformed; h < NumHarm; h++ {
		n[h]++
		if h.IsBad() && h.IsCaution() {
			t.Errorf("%d is bad and caution", h)
		}
	}
	if n.Bad() != 5 || HarmNotObject.IsBad() || !HarmNotObject.IsCaution() || HarmOpen.IsCaution() {
		t.Errorf("%d are bad", n.Bad())
	}
}
