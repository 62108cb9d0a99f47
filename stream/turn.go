package stream

import (
	"bytes"
	"slices"
	"time"

	"toolscope/stream/json"
	"toolscope/stream/list"
)

// A Turn is one model response. Only the fold may set its fields.
type Turn struct {
	Number   int32 // number within the timeline, from 0
	OpenedBy int32 // number of its first event
	Exchange int
	Protocol string
	ID       string
	Model    string
	Parent   string       // id of the call that started the turn's agent
	Request  *RequestInfo // facts about its request, nil if none was captured
	Calls    []*Call
	Usage    Usage
	Failure  string   // message of the error that ended the response, or the reason why no provider responded
	Refusal  *Refusal // set if the provider refused the request

	FromHistory bool // the response is known only from a later request that sends it back
	Shown       bool // the turn is an agent's report of its own work: the responses of the agent's model contain the same calls
	Findings    []Finding
	Missed      int64 // number of its bytes that were missed: toolscope's own gap

	OpenedAt   time.Duration
	FirstFrame int32

	session         *Session
	droppedCounts   *[NumStatus]int32 // see DroppedCounts; nil for none
	unopened        int32             // number of events for calls that were never opened
	firstUnopened   int32             // the first of these events
	gaps            int32             // number of gaps in its bytes
	evictedTextLens [2]int32          // bytes of Text and Thinking while they are evicted
	Retention       Retention

	turnState
	changeStamp
	snapshotEra int32 // the checkpoint of its latest snapshot, or the checkpoint after which the turn began
	before      *turnSnapshot
	blocks      []int32 // blocks that contain its events

	*turnContent
}

// turnState is the part of a turn that changes often. Each snapshot has a copy of it.
type turnState struct {
	Finish        string // the finish reason, in the provider's own word
	FinishMeaning string // the meaning of Finish, if that is a number
	ClosedAt      time.Duration
	Events        int
	SentBackIn    int // if SentBack: the exchange whose request was the first to send one of the calls back
	LastFrame     int32
	lastArgs      int32 // number of the call that got the latest arguments, 0 if none did
	SentBack      bool
	EndedBy       Party // the party that ended it, 0 while unknown
	finished      bool
	finishCode    Code
	finishSlot    int32 // the choice to which Finish belongs
	failed        bool
	closed        bool
	closer        Party // the party that closed it first
	cut           bool  // closed without the protocol's terminator
	cutUnfinished bool  // the first close came with neither the terminator nor an earlier finish reason
	blind         bool  // its end may be among bytes that were missed, or that the source lacks
}

// TurnPhase says whether and how a turn ended.
type TurnPhase uint8

const (
	TurnIsOpen    TurnPhase = iota // still open, or the end may be among bytes that were missed or that the source lacks
	TurnComplete                   // ended as the protocol ends a response
	TurnTruncated                  // a limit cut the response
	TurnAborted                    // an error ended the response, or its bytes ended without a terminator
	TurnRejected                   // the provider refuses to answer
	TurnRefused                    // the provider refuses the request
)

func (p TurnPhase) String() string {
	return [...]string{"open", "complete", "truncated", "aborted", "rejected", "refused"}[p]
}

// Phase returns whether and how the turn ended.
func (t *Turn) Phase() TurnPhase {
	switch {
	case t.Refusal != nil:
		return TurnRefused
	case t.failed || t.finished && (t.finishCode == FinishFailed || t.finishCode == FinishCancelled):
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

// TextLens returns the lengths of the turn's text and reasoning, even while they are evicted.
func (t *Turn) TextLens() (text, thinking int) {
	if t.Retention == Evicted {
		return int(t.evictedTextLens[0]), int(t.evictedTextLens[1])
	}
	return len(t.Text), len(t.Thinking)
}

// DroppedCounts returns the number of calls in each status for a dropped turn, and zeros for any other turn.
func (t *Turn) DroppedCounts() [NumStatus]int32 {
	if t.droppedCounts == nil {
		return [NumStatus]int32{}
	}
	return *t.droppedCounts
}

// Closed reports whether the turn's TurnClose has arrived.
func (t *Turn) Closed() bool { return t.closed }

// callByNumber returns the call with that number, or nil.
func (t *Turn) callByNumber(number int32) *Call {
	if number < 1 || int(number) > len(t.Calls) {
		return nil
	}
	return t.Calls[number-1]
}

// InSlot returns the latest call in a slot, or nil.
func (t *Turn) InSlot(key int32) *Call {
	if at, found := t.slots.findSlot(key); found {
		return t.callByNumber(t.slots[at].call)
	}
	return nil
}

// MaxCalls is the maximum number of calls of a turn that a session keeps. A packed event can't name more.
const MaxCalls = 1<<16 - 1

// reportUnopened reports an event for a call that was never opened. All such events of a turn cause a single finding,
// and create no call. At the end of the turn, the number of the other events is added to the finding.
func (t *Turn) reportUnopened(e *Event, n int) {
	t.keepBase()
	if t.unopened++; t.unopened == 1 {
		t.firstUnopened = int32(n)
		t.reportFinding(ProtocolViolation, n, "%s for index %d, at which no call had begun", OwnFact(e.Kind.String()), e.Slot)
	}
}

// openCall starts a call in e.Slot.
func (t *Turn) openCall(e Event, n int) *Call {
	c := newCall(len(t.Calls)+1, t.Number, e.Slot, PayloadOf[CallInfo](e))
	c.OpenedAt, c.OpenedBy = e.At, int32(n)
	old := t.InSlot(e.Slot)
	if old != nil {
		t.editCall(old).ClosedBy = int32(n)
	}
	if old != nil && old.phase <= PhaseOpen {
		c.reportFinding(ProtocolViolation, n, NoOffset,
			"a new call began at index %d before the arguments of call %d were final", e.Slot, old.Number)
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

// leaveLatestCall records that the rule NextSlot runs the latest call, because the stream continues with another call
// or with text. The parameter to is the other call, or nil for text.
func (t *Turn) leaveLatestCall(to *Call, n int) {
	last := t.callByNumber(t.lastArgs)
	if last == nil && len(t.Calls) > 0 {
		last = t.Calls[len(t.Calls)-1]
	}
	if last != nil && (to == nil || last.Number != to.Number) && last.runs[NextSlot].event == 0 {
		t.editCall(last).noteRuleRun(NextSlot, n)
	}
}

// addArgsDelta adds the delta of event n to c. It reports a delta that comes too late or between deltas of
// another call.
func (t *Turn) addArgsDelta(c *Call, e *Event, n int) {
	if e.Text != "" {
		if c.phase > PhaseOpen {
			c.reportOnce(ProtocolViolation, n, "argument bytes arrived after the call was %s", OwnFact(c.phase.String()))
		}
		c.noteArrival(e, n)
		t.leaveLatestCall(c, n)
		if t.lastArgs != 0 && t.lastArgs != int32(c.Number) && len(c.args.s) > 0 {
			c.reportOnce(Interleaved, n, "deltas of this call alternate with those of another call: only the index or id shows which call a delta belongs to")
		}
		t.lastArgs = int32(c.Number)
		c.checkBorder(e.Text, n)
		// The delta may begin with all arguments so far and add to them.
		if size := len(c.args.s); c.repeated == 0 && size > 0 && c.args.s[0] == '{' && len(e.Text) > size && e.Text[:size] == string(c.args.s) {
			c.repeated = int32(n)
		}
	}
	c.appendDelta(e.Text, int32(n))
	c.checkBroken(n)
	c.noteArgsRuns(n)
}

// noteArrival records the time and the frame of a delta that is not empty.
func (c *Call) noteArrival(e *Event, n int) {
	if c.FirstArgAt == NoTime {
		c.FirstArgAt = e.At
	}
	c.LastArgAt = e.At
	if e.Frame != c.argsFrame || c.argsFrom == 0 {
		c.argsFrame, c.argsFrom = e.Frame, int32(n)
	}
}

// applyEvent applies an event about the turn itself, or about a later use of one of its calls.
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

// maxRepeatDistance limits how many earlier calls are compared with a call whose id isn't new.
const maxRepeatDistance = 256

// checkRepeated reports a final call that repeats an earlier call of the turn with the same id.
func (t *Turn) checkRepeated(c *Call, n int) {
	if c.phase != PhaseSealed || !c.reusesID {
		return
	}
	for i := c.Number - 1; i >= max(1, c.Number-maxRepeatDistance); i-- {
		first := t.Calls[i-1]
		if first.ID == c.ID && first.Name == c.Name && first.phase == PhaseSealed && bytes.Equal(first.Args(), c.Args()) {
			c.reportOnce(CallRepeated, n, "the call repeats call number %d, with the same id, name and argument bytes: a client that runs each call runs the tool again", first.Number)
			return
		}
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
	t.FromHistory, t.Shown = t.FromHistory || d.FromHistory, t.Shown || d.Shown
}

// applyFinish applies the finish reason of the response, or of one choice of it.
func (t *Turn) applyFinish(e Event, n int) {
	// A good end replaces only an earlier good end for the same choice.
	if isBadEnd(e.Code) || !t.finished || e.Slot == t.finishSlot && !isBadEnd(t.finishCode) {
		t.Finish, t.FinishMeaning, t.finishCode, t.finishSlot = e.Text, PayloadOf[FinishMeaning](e).Text, e.Code, e.Slot
	}
	t.finished = true
	if t.blind {
		return // its calls may be among the missed bytes
	}
	t.sendBroadcast(broadcastOf(e), e.Slot, func(c *Call) {
		if c.phase != PhaseAborted { // clients stop reading at an error
			c.noteRuleRun(NextSlot, n) // no other call follows: a rule that waits for one runs the last call now
		}
		switch e.Code {
		case FinishDone:
			if toolWords[e.Text] {
				c.noteRuleRun(FinishReason, n)
			}
			c.checkSeal(Messagef("the provider reported %q", Fact(e.Text)), n)
		case FinishCut:
			c.endByLimit(e, n)
		case FinishRefused:
			if c.ResultCode == 0 && c.phase <= PhaseTruncated {
				c.endUnsealed(PhaseRejected, n, ArgsCut, Messagef("the provider refused (%s)", Fact(e.Text)), "refused")
			}
		case FinishCancelled: // some providers also make the calls of a cancelled response final
			if c.phase <= PhaseOpen || c.phase == PhaseSealed && c.Syntax() == json.SyntaxPrefix {
				c.endUnsealed(PhaseAborted, n, cutBy[Client].cut, Messagef("the response ended with %s", Fact(e.Text)), "cut: "+e.Text)
			}
		case FinishFailed:
			if c.phase <= PhaseOpen || c.phase == PhaseSealed && c.Syntax() == json.SyntaxPrefix {
				c.endUnsealed(PhaseAborted, n, ArgsCut, Messagef("the response ended with %s", Fact(e.Text)), "cut: "+e.Text)
			}
		}
	})
}

// isBadEnd reports whether a finish reason with this code keeps the response from being complete.
func isBadEnd(code Code) bool { return code != FinishDone && code != FinishOther }

// toolWords are the finish reasons that are about tools.
var toolWords = map[string]bool{
	"tool_calls": true, "function_call": true, "tool_use": true, "TOOL_CALL": true, "requires_action": true, "tool-calls": true,
}

func (t *Turn) applyFinding(e Event, n int) {
	f := PayloadOf[Finding](e)
	if f.Diagnosis == nil {
		return // nothing was found
	}
	if f.Replaces { // the finding with the same diagnosis and event
		t.keepBase()
		t.Findings = slices.Clone(t.Findings)
		for i, old := range t.Findings {
			if old.Event == f.Event && old.Base() == f.Base() {
				f.Replaces = false
				t.Findings[i] = f
			}
		}
		return
	}
	if c := t.InSlot(e.Slot); e.Slot != NoSlot && c != nil {
		f.Event = n
		t.editCall(c).addFinding(f)
		return
	}
	f.Event = n
	t.Findings = append(t.Findings, f)
}

// turnContent is the part of a turn that is evicted and dropped. All turns without content share an empty
// turnContent. It must not be changed: see Turn.ensureContent.
type turnContent struct {
	Text     []byte // text of the response
	Thinking []byte // reasoning
	Parts    []Part // text, reasoning and calls, in the order of arrival

	slots       slotTable
	byID        map[string]int32 // numbers of calls; nil until the first lookup
	waiting     map[string]int   // by tool name: no call before this index of Calls is waiting for a result by that name
	choices     []choiceCalls    // in the order of arrival
	visited     []*Call          // calls that the broadcast of the current event visited
	text        eventText        // Text, with its deltas
	thinking    eventText        // Thinking, with its deltas
	deltaStates []deltaState
	shared      bool // shared by turns without content: it must not be changed
}

// ensureContent replaces the shared empty content of the turn with its own content, which may be changed.
func (t *Turn) ensureContent() {
	if !t.turnContent.shared {
		return
	}
	t.turnContent = &turnContent{slots: slotsOf(t.Calls)}
	for _, c := range t.Calls {
		t.addToChoice(c)
	}
}

// callContent is the part of a call that is evicted and dropped with its turn. All calls without content share
// an empty callContent. It must not be changed: see Call.ensureContent.
type callContent struct {
	deltaProgress
	args       appendText
	deltas     list.List[Delta]
	from       int // number of the first delta of args
	lex        json.Lexer
	double     doubleEncodingCheck
	savedArgs  []argsState // earlier states that a Rewrite replaced
	runs       [NumRunRules]ruleRunState
	diagnoses  []*Diagnosis // the diagnoses of Findings, each once
	hasProblem bool         // a finding is above Info
	exact      bool         // the latest delta is exactly the text of its event
	shared     bool         // shared by calls without content: it must not be changed
}

// deltaProgress is the part of a call's content that changes with its deltas. Each snapshot has a copy of it.
type deltaProgress struct {
	half      string // half of a surrogate pair, waiting for the other half
	argsFrame int32  // number of the frame of the latest delta
	argsFrom  int32  // number of the first event with a delta of that frame
	repeated  int32  // number of the event with the first delta that began with all earlier arguments, 0 if none
}

// ensureContent replaces the shared empty content of the call with its own content, which may be changed.
func (c *Call) ensureContent() {
	if c.callContent.shared {
		c.callContent = new(callContent)
	}
}

// PartKind says whether a Part is text, reasoning or a call.
type PartKind uint8

const (
	PartText PartKind = iota
	PartThinking
	PartCall
)

// A Part is a run of a turn's text or reasoning, or one of its calls. Runs of one kind tile the turn's
// Text or Thinking: each begins where the previous one ended.
type Part struct {
	Kind          PartKind
	End           int    // offset in Text or Thinking; for a call, its Number
	ID            string // id of its item, "" if it has none
	Signature     string // must be sent back with it unchanged
	SignatureOnly bool   // reasoning that is known only by its signature
}

// extendPart extends the latest part to the offset end if it has that kind and no signature. Otherwise it
// begins a part.
func (t *Turn) extendPart(kind PartKind, end int) {
	if n := len(t.Parts) - 1; n >= 0 && t.Parts[n].Kind == kind && t.Parts[n].Signature == "" {
		t.Parts[n].End = end
		return
	}
	t.Parts = append(t.Parts, Part{Kind: kind, End: end})
}

// attachSignature attaches a signature to the latest part. It adds an empty part of reasoning for the
// signature if the latest part is a call or has a signature already, if there is no part, or if the code is
// SignedHidden. A part that has only the id of its item gets the signature of this item.
func (t *Turn) attachSignature(e Event) {
	n, item := len(t.Parts)-1, PayloadOf[Signature](e).Item
	if i := slices.IndexFunc(t.Parts, func(p Part) bool { return p.ID == item && p.ID != "" && p.Signature == "" }); i >= 0 {
		n = i
	} else if e.Code == SignedHidden || n < 0 || t.Parts[n].Kind == PartCall || t.Parts[n].Signature != "" {
		t.Parts = append(t.Parts, Part{Kind: PartThinking, End: len(t.Thinking), SignatureOnly: e.Code == SignedHidden})
		n++
	}
	t.Parts[n].Signature, t.Parts[n].ID = e.Text, item
}

// applySentBack records how a later request carries one of the turn's calls in its history.
func (t *Turn) applySentBack(e Event, n int) {
	r := PayloadOf[SentBackReport](e)
	if !t.SentBack {
		t.SentBackIn, t.SentBack = r.Exchange, true
	}
	if e.Slot < 1 || int(e.Slot) > len(t.Calls) {
		return
	}
	c := t.editCall(t.Calls[e.Slot-1])
	c.SentBack = append(c.SentBack, SentBackCall{r.Exchange, r.ID, e.Text, r.Policies, e.Code, n, r.KeptByProvider, r.Result, r.Reasoning, r.Signature})
	if e.Code != 0 {
		c.ResultCode = e.Code
	}
	if f := r.Finding; f.Diagnosis != nil {
		f.Event = n
		c.addFinding(f)
	}
}

// applyToolRun records a tool run that was matched to one of the turn's calls, or a finding about it.
func (t *Turn) applyToolRun(e Event, n int) {
	if e.Slot < 1 || int(e.Slot) > len(t.Calls) {
		return
	}
	c, ran := t.editCall(t.Calls[e.Slot-1]), PayloadOf[ToolExecution](e)
	if ran.Join != 0 {
		c.Runs = append(c.Runs, ToolRun{ran.Request, ran.Join, ran.Of, n})
	}
	if f := ran.Finding; f.Diagnosis != nil {
		f.Event = n
		c.addFinding(f)
	}
}
