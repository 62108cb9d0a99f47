package replay

import (
	"testing"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// TestJudgedAgain: a cached verdict is used only for the same text in the same form and the same target.
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
