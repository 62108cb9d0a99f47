package stream

// turnContent is the part of a turn that is evicted and dropped. All turns without content share an empty
// one, which must not be changed: see Turn.ensureContent.
type turnContent struct {
	Text     []byte // text of the response
	Thinking []byte // reasoning
	Parts    []Part // text, reasoning and calls, in the order of arrival

	slots       slotTable
	byID        map[string]int32 // numbers of calls; nil until the first lookup
	waiting     map[string]int   // by name: no call before this index of Calls waits for a result by that name
	choices     []choiceCalls    // in the order of arrival
	visited     []*Call          // by the broadcast of the current event
	text        eventText        // Text
	thinking    eventText        // Thinking
	deltaStates []deltaState
	shared      bool // by turns without content
}

// ensureContent gives a turn without content a content of its own, which may be changed.
func (t *Turn) ensureContent() {
	if !t.turnContent.shared {
		return
	}
	t.turnContent = &turnContent{slots: slotsOf(t.Calls)}
	for _, c := range t.Calls {
		t.addToChoice(c)
	}
}

// callContent is the part of a call that is evicted and dropped with its turn. All calls without content
// share an empty one, which must not be changed: see Call.ensureContent.
type callContent struct {
	deltaProgress
	args      appendText
	deltas    appendList[Delta]
	from      int // number of the first delta of args
	lex       Lexer
	double    doubleEncodingCheck
	savedArgs []argsState // earlier states that a Rewrite replaced
	runs      [NumRunRules]ruleRunState
	diagnoses []*Diagnosis // the diagnoses of Findings, each once
	exact     bool         // the latest delta is exactly the text of its event
	shared    bool         // by calls without content
}

// deltaProgress is the part of a call's content that changes with its deltas. A snapshot has a copy of it.
type deltaProgress struct {
	half      string // half of a surrogate pair, waiting for the other half
	argsFrame int32  // frame of the latest delta
	argsFrom  int32  // number of the first event with a delta of that frame
	repeated  int32  // event of the first delta that began with all earlier text, 0 if none
}

// ensureContent gives a call without content a content of its own, which may be changed.
func (c *Call) ensureContent() {
	if c.callContent.shared {
		c.callContent = new(callContent)
	}
}
