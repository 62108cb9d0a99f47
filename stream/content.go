package stream

// turnContent is what is there of a turn while it is whole. All turns that are not share one that is
// empty, and which nobody changes: see Turn.mind.
type turnContent struct {
	Text     []byte // answer text
	Thinking []byte // reasoning text
	Parts    []Part // text, reasoning and calls, in the order they came

	slots       slotTable
	byID        map[string]int32 // numbers of calls, once they are looked for
	waiting     map[string]int   // by name: no call before this index of Calls waits for a result by that name
	choices     []choiceCalls    // in the order they came
	visited     []*Call          // by the sweep of the event being applied
	text        eventText        // Text
	thinking    eventText        // Thinking
	deltaStates []deltaState
	shared      bool // by those that are not whole
}

// ensureContent has a turn that is not whole have a content of its own, which may be changed.
func (t *Turn) ensureContent() {
	if !t.turnContent.shared {
		return
	}
	t.turnContent = &turnContent{slots: slotsOf(t.Calls)}
	for _, c := range t.Calls {
		t.addToChoice(c)
	}
}

// callContent is what is there of a call while its turn is whole. All others share one that is empty, and
// which nobody changes: see Call.mind.
type callContent struct {
	args      appendText
	half      string // half of a surrogate pair, waiting for the other half
	deltas    appendList[Delta]
	from      int // number of the first delta of args
	lex       Lexer
	double    doubleEncodingCheck
	savedArgs []argsState // what was there before it was replaced
	runs      [NumRunRules]ruleRunState
	diagnoses []*Diagnosis // those of Findings, each once
	argsFrame int32        // frame of the latest delta
	argsFrom  int32        // number of the first event with a delta of that frame
	repeated  int32        // event of the first delta that began with all before it, if not 0
	exact     bool         // the latest delta is what its event said
	shared    bool         // by those whose turn is not whole
}

// ensureContent has a call whose turn is not whole have a writing of its own, which may be changed.
func (c *Call) ensureContent() {
	if c.callContent.shared {
		c.callContent = new(callContent)
	}
}
