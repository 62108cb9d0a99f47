package stream

import (
	"fmt"
	"time"
)

// A Turn is one model response. Its fields are the fold's: read them, do not set them.
type Turn struct {
	Number        int32 // within the timeline, from 0
	OpenedBy      int32 // number of its first event
	Exchange      int
	Protocol      string
	ID            string
	Model         string
	Parent        string       // id of the call whose agent it is of
	Request       *RequestInfo // of the request that it answers, nil where none was seen
	Calls         []*Call
	SentBackIn    int // if Returned: the exchange whose request was the first to send one of the calls back
	Usage         Usage
	Finish        string // the provider's own word, unmapped
	FinishMeaning string // what Finish stands for, where that is a number
	Failure       string // the provider's own error message
	Findings      []Finding
	Events        int
	Missed        int64 // at most so many bytes of it passed unseen: toolscope's own gap

	OpenedAt, ClosedAt    time.Duration
	FirstFrame, LastFrame int32

	session         *Session
	droppedCounts   *[NumStatus]int32 // see Was; nil for none
	lastArgs        int32             // number of the call that got arguments last, 0 if none did
	gaps            int32             // how often bytes of it were not seen
	evictedTextLens [2]int32          // bytes of Text and Thinking while they are not there
	SentBack        bool
	EndedBy         Party // who ended it, 0 while that is not known
	Retention       Retention
	finished        bool
	finishCode      Code
	failed          bool
	closed          bool
	closer          Party // who closed it first
	cut             bool  // closed without the protocol's terminator
	blind           bool  // bytes of it were missed while it was open, so its end may be among them

	changeStamp
	snapshotEra int32 // the checkpoint at which all of it was set aside last, or after which it began
	before      *turnSnapshot
	blocks      []int32 // that facts of it are in

	*turnContent
}

// TurnPhase is what became of a turn.
type TurnPhase uint8

const (
	TurnIsOpen    TurnPhase = iota // or its end may be among bytes that were not seen
	TurnComplete                   // ended as the protocol ends a response
	TurnTruncated                  // a limit cut it
	TurnAborted                    // an error, or the bytes ended without a terminator
	TurnRejected                   // the provider refuses
)

func (p TurnPhase) String() string {
	return [...]string{"open", "complete", "truncated", "aborted", "rejected"}[p]
}

// Phase says what became of the turn.
func (t *Turn) Phase() TurnPhase {
	switch {
	case t.failed || t.finished && t.finishCode == FinishFailed:
		return TurnAborted
	case t.blind:
		return TurnIsOpen
	case t.finished && t.finishCode == FinishRefused:
		return TurnRejected
	case t.finished && t.finishCode == FinishCut:
		return TurnTruncated
	case t.closed && t.cut:
		return TurnAborted
	case t.closed:
		return TurnComplete
	}
	return TurnIsOpen
}

// DroppedCounts is, of a dropped turn, how many of its calls were in each status.
func (t *Turn) DroppedCounts() [NumStatus]int32 {
	if t.droppedCounts == nil {
		return [NumStatus]int32{}
	}
	return *t.droppedCounts
}

// Closed reports whether the turn's last event has come.
func (t *Turn) Closed() bool { return t.closed }

// callByNumber is the call of that number, or nil.
func (t *Turn) callByNumber(number int32) *Call {
	if number < 1 || int(number) > len(t.Calls) {
		return nil
	}
	return t.Calls[number-1]
}

// InSlot is the latest call in a slot, or nil.
func (t *Turn) InSlot(key int32) *Call { return t.inSlot(key) }

// inSlot is the latest call in a slot, or nil.
func (t *Turn) inSlot(key int32) *Call {
	if at, found := t.slots.findSlot(key); found {
		return t.callByNumber(t.slots[at].call)
	}
	return nil
}

// openCall starts a call in e.Slot.
func (t *Turn) openCall(e Event, n int) *Call {
	c := newCall(len(t.Calls)+1, t.Number, e.Slot, PayloadOf[CallInfo](e))
	c.OpenedAt, c.OpenedBy = e.At, int32(n)
	old := t.inSlot(e.Slot)
	if old != nil {
		t.editCall(old).ClosedBy = int32(n)
	}
	if old != nil && old.phase <= PhaseOpen {
		c.reportFinding(ProtocolViolation, n, NoOffset,
			"slot %d was opened again before call %d was sealed", e.Slot, old.Number)
	}
	t.leaveLatestCall(c, n)
	t.placeCall(c)
	return c
}

// placeCall gives a new call its slot and its place among the parts.
func (t *Turn) placeCall(c *Call) {
	c.changeStamp = t.session.currentStamp()
	t.slots.set(c.Slot, int32(c.Number))
	t.Calls = append(t.Calls, c)
	t.addToChoice(c)
	t.Parts = append(t.Parts, Part{Kind: PartCall, End: c.Number})
}

// leaveLatestCall says that the stream turns from the latest call to another one, or with nil to text.
func (t *Turn) leaveLatestCall(to *Call, n int) {
	last := t.callByNumber(t.lastArgs)
	if last == nil && len(t.Calls) > 0 {
		last = t.Calls[len(t.Calls)-1]
	}
	if last != nil && (to == nil || last.Number != to.Number) && last.runs[NextSlot].event == 0 {
		t.editCall(last).noteRuleRun(NextSlot, n)
	}
}

// addArgsDelta adds a delta to c.
func (t *Turn) addArgsDelta(c *Call, e *Event, n int) {
	if e.Text != "" {
		if c.phase > PhaseOpen {
			c.reportOnce(ProtocolViolation, n, "argument bytes after the call was %s", c.phase)
		}
		if c.FirstArgAt == NoTime {
			c.FirstArgAt = e.At
		}
		c.LastArgAt = e.At
		t.leaveLatestCall(c, n)
		if t.lastArgs != 0 && t.lastArgs != int32(c.Number) && len(c.args.s) > 0 {
			c.reportOnce(Interleaved, n, "deltas of this call alternate with those of another: only the slot tells them apart")
		}
		t.lastArgs = int32(c.Number)
		if c.repeated == 0 && c.repeatedBy(e.Text) {
			c.repeated = int32(n)
		}
		if e.Frame != c.argsFrame || c.argsFrom == 0 {
			c.argsFrame, c.argsFrom = e.Frame, int32(n)
		}
	}
	c.appendDelta(e.Text, int32(n))
	c.checkBroken(n)
	c.noteArgsRuns(n)
}

// applyEvent takes an event about the turn itself.
func (t *Turn) applyEvent(e Event, n int) {
	switch e.Kind {
	case TurnOpen, TurnMeta:
		t.updateInfo(PayloadOf[Opening](e))
	case TextDelta:
		t.leaveLatestCall(nil, n)
		t.Text = t.text.add(e.Text, n)
		t.extendPart(PartText, len(t.Text))
	case ThinkDelta:
		t.Thinking = t.thinking.add(e.Text, n)
		t.extendPart(PartThinking, len(t.Thinking))
	case Signed:
		t.attachSignature(e)
	case UsageEvent:
		t.Usage = t.Usage.Merge(PayloadOf[Usage](e))
	case Finish:
		t.applyFinish(e, n)
	case Failure:
		t.applyFailure(e, n)
	case TurnClose:
		t.applyClose(e, n)
	case Gap:
		t.applyGap(e, n)
	case SentBack:
		t.applySentBack(e, n)
	case Ran:
		t.applyToolRun(e, n)
	case Found:
		t.applyFinding(e, n)
	case Fault:
		t.Findings = append(t.Findings, faultFinding(e, n))
	}
}

func (t *Turn) updateInfo(d Opening) {
	t.keepBase()
	if d.ID != "" {
		t.ID = d.ID
	}
	if d.Model != "" {
		t.Model = d.Model
	}
	if d.Parent != "" {
		t.Parent = d.Parent
	}
	if d.Protocol != "" {
		t.Protocol = d.Protocol
	}
	if d.Request != nil {
		t.Request = d.Request
	}
}

// applyFinish takes the provider's word on why the response, or one choice of it, ended.
func (t *Turn) applyFinish(e Event, n int) {
	if !t.finished || e.Code != FinishDone {
		t.Finish, t.FinishMeaning, t.finishCode = e.Text, PayloadOf[FinishMeaning](e).Text, e.Code
	}
	t.finished = true
	if t.blind {
		return // the calls it is about may be among the missing bytes
	}
	t.sendBroadcast(broadcastOf(e), e.Slot, func(c *Call) {
		if c.phase != PhaseAborted { // who was told of an error reads no further
			c.noteRuleRun(NextSlot, n) // no other call comes: an executor that waits for the next one runs the last now
		}
		switch e.Code {
		case FinishDone:
			if toolWords[e.Text] {
				c.noteRuleRun(FinishReason, n)
			}
			c.checkSeal(fmt.Sprintf("the provider says %q", e.Text), n)
		case FinishCut:
			c.endByLimit(e, n)
		case FinishRefused:
			if c.ResultCode == 0 && c.phase <= PhaseTruncated {
				c.endUnsealed(PhaseRejected, n, ArgsCut, "the provider refused: "+e.Text, "refused")
			}
		case FinishFailed:
			if c.phase <= PhaseOpen {
				c.endUnsealed(PhaseAborted, n, ArgsCut, "the response ended in "+e.Text, "cut: "+e.Text)
			}
		}
	})
}

// toolWords are the finish words that speak of tools.
var toolWords = map[string]bool{
	"tool_calls": true, "function_call": true, "tool_use": true, "TOOL_CALL": true, "requires_action": true, "tool-calls": true,
}

func (t *Turn) applyFinding(e Event, n int) {
	f := PayloadOf[Finding](e)
	if f.Diagnosis == nil {
		return // nothing was found
	}
	if c := t.inSlot(e.Slot); e.Slot != NoSlot && c != nil {
		f.Event = n
		t.editCall(c).addFinding(f)
		return
	}
	f.Event = n
	t.Findings = append(t.Findings, f)
}
