package replay

import (
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// TestJudgedAgain checks that a cached verdict is used only for the same text, in the same form and for the
// same target.
func TestJudgedAgain(t *testing.T) {
	s := new(stream.Session)
	s.Apply(stream.Event{Kind: stream.TurnOpen})
	s.Apply(stream.Event{Kind: stream.CallOpen, What: &stream.CallInfo{ID: "call_1", Name: "f"}})
	s.Apply(stream.Event{Kind: stream.Args, Text: `{"a":1}`})
	c := s.Turn(0).Calls[0]
	objects, texts := &protocol.Target{Form: protocol.ObjectForm}, &protocol.Target{Form: protocol.TextForm}
	var by Observer
	for _, test := range []struct {
		args string
		form protocol.ArgsForm
		to   *protocol.Target
		want Treatment
	}{
		{`{"a": 1}`, protocol.TextForm, objects, WasEncoded},
		{`{"a": 1}`, protocol.ObjectForm, objects, WasReformatted},
		{`{"a": 1}`, protocol.TextForm, texts, WasReformatted},
		{`{"a": 1}`, protocol.TextForm, objects, WasEncoded},
		{`{"a": 2}`, protocol.TextForm, objects, WasAltered},
		{`{"a": 1}`, protocol.TextForm, objects, WasEncoded},
	} {
		if v := by.judgeCall(&earlierCall{callIdentity: calledOf(c), call: c}, &protocol.Part{Args: []byte(test.args), Form: test.form}, test.to); v.treatment != test.want {
			t.Errorf("%s in form %d to form %d: %s, want %s", test.args, test.form, test.to.Form, v.treatment, test.want)
		}
		if j := by.judged[c.Ref()]; len(by.judged) != 1 || j.form != test.form || j.to != test.to {
			t.Errorf("%s: %+v is remembered", test.args, j)
		}
	}
}

// TestWrapped checks that arguments are recognised anywhere in a wrapper, and that nothing else is recognised as
// wrapped arguments.
func TestWrapped(t *testing.T) {
	cut := `{"path":"a/b`
	long := `{"text":"` + strings.Repeat("lorem ipsum ", 400)
	quoted := func(text string) string { return string(json.AppendQuoted(nil, []byte(text))) }
	for _, test := range []struct {
		name, raw, sent string
		want            Treatment
		says            string
	}{
		{"the only field", cut, `{"INVALID":` + quoted(cut) + `}`, WasWrapped, ""},
		{"inside another object", cut, `{"bad":{"raw":` + quoted(cut) + `,"n":12}}`, WasWrapped, ""},
		{"beside other fields", cut, `{"n":12,"raw":` + quoted(cut) + `}`, WasWrapped, ""},
		{"only the beginning", long, `{"bad":{"raw":` + quoted(long[:2048]) + `,"n":4809}}`, WasWrapped, "first 2048 bytes"},
		{"a short beginning", cut, `{"bad":{"raw":` + quoted(cut[:5]) + `}}`, WasRepaired, ""},
		{"other text", cut, `{"bad":{"raw":` + quoted(`{"path":"a/c`) + `}}`, WasRepaired, ""},
		{"in a list", cut, `{"bad":[` + quoted(cut) + `]}`, WasRepaired, ""},
		{"too deep", cut, `{"a":{"b":{"c":{"d":` + quoted(cut) + `}}}}`, WasRepaired, ""},
	} {
		sent := &protocol.Part{Args: []byte(test.sent), Form: protocol.ObjectForm}
		v := judgeText([]byte(test.raw), false, sent, &protocol.Target{Form: protocol.ObjectForm})
		if v.treatment != test.want || !strings.Contains(v.loss.Message, test.says) {
			t.Errorf("%s: %s, %q", test.name, v.treatment, v.loss.Message)
		}
		if test.want == WasRepaired && !v.doubtful {
			t.Errorf("%s: no known repair makes it, and it is not doubtful", test.name)
		}
	}
}

// TestKnownRepair checks objects that were sent instead of broken arguments. Such an object counts as repaired if a
// known repair produces it, and otherwise as altered.
func TestKnownRepair(t *testing.T) {
	s := new(stream.Session)
	s.Apply(stream.Event{Kind: stream.TurnOpen})
	s.Apply(stream.Event{Kind: stream.CallOpen, What: &stream.CallInfo{ID: "call_1", Name: "f"}})
	s.Apply(stream.Event{Kind: stream.Args, Text: `{"path":"a/b`})
	s.Apply(stream.Event{Kind: stream.TurnClose})
	to := &protocol.Target{Name: "test", Protocol: "test", Form: protocol.ObjectForm, Encode: func([]protocol.Message) [][]byte { return nil }}
	c := s.Turn(0).Calls[0]
	for sent, want := range map[string]Treatment{
		`{"path":"a/b"}`:         WasRepaired,
		`{"path":"a/c"}`:         WasAltered,
		`{"path":"a/b","all":1}`: WasAltered,
	} {
		var by Observer
		e := &earlierCall{callIdentity: calledOf(c), call: c, turn: &candidateTurn{Candidate: &Candidate{Turn: s.Turn(0), Target: to}}}
		if v := by.judgeCall(e, &protocol.Part{Args: []byte(sent), Form: protocol.ObjectForm}, to); v.treatment != want {
			t.Errorf("%s: %s, want %s", sent, v.treatment, want)
		}
	}
}

// TestHashesOf checks that reading arguments once has the same results as valueOf and sameHash.
func TestHashesOf(t *testing.T) {
	for _, text := range []string{`{"a":"x"}`, `{"a":1.0,"b":2}`, `{"a":"","a":"x"}`, `"\ud800"`, ` {} `, `null`, ``, `{"a`, "\u00a0{}"} {
		value, same := hashesOf([]byte(text))
		if wantValue, wantSame := valueOf([]byte(text)), sameHash([]byte(text)); value != wantValue || same != wantSame {
			t.Errorf("%q: %x and %x, want %x and %x", text, value, same, wantValue, wantSame)
		}
	}
}
