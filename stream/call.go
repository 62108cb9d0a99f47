package stream

import (
	"bytes"
	"slices"
	"sort"
	"time"

	"toolscope/stream/jsonbytes"
)

// A Call is one tool invocation the model proposes, as far as it has arrived. Its fields are the
// fold's: read them, do not set them.
type Call struct {
	Number    int   // within its turn, from 1
	OpenedBy  int32 // number of the event that opened it
	ClosedBy  int32 // number of the event that gave its slot to another call, 0 if none did
	Turn      int32
	Slot      int32
	ID        string // what a tool result must echo
	Name      string
	Kind      string // function, custom, mcp, server, …
	Parent    string // id of the call whose code made this one
	MCPServer string // MCP server
	Item      string // id of its item, where that has one besides ID
	Namespace string // namespace of the tool, where that is not part of Name
	Rewrites  int    // how often Args were replaced: offsets from before mean nothing now

	Copies    int            // how often the arguments were said, and were the same, where that is more than once
	Signature string         // opaque, must come back with the call when it is replayed
	SentBack  []SentBackCall // what later requests made of it
	Runs      []ToolRun      // when tools were seen to get it
	Findings  []Finding

	OpenedAt, FirstArgAt, SealedAt, LastArgAt time.Duration // or NoTime

	evicted       *evictedCall // while its turn is cold
	Choice        int32
	sealedBy      int32  // frame of the seal
	sealEvent     int32  // the arguments could not change from this event on; 0 if they were not sealed
	visitedBy     uint16 // a bit for each sweep that visited it and since which it did not change
	RunByProvider bool   // the provider runs it
	ResultCode    Code   // AnswerOK or AnswerFailed when the wire brought its result
	Discarded     bool   // no call of the wire: the provider threw it away, Args are its account of it
	phase         Phase
	stopped       bool // aborted by the client
	frozen        bool // it takes nothing more: bytes between it and what comes were not seen
	freeform      bool
	nullNone      bool // null stands for no arguments
	settled       bool // findings about the syntax have been made
	broken        bool // the first byte that is wrong has been reported
	counted       bool // in the session's Counts, as countedAs
	countedAs     Status

	changeStamp
	before *callSnapshot

	*callContent
}

// A SentBackCall is how a later request carries a call in its history.
type SentBackCall struct {
	Exchange       int    // of the request
	ID             string // the call's there
	Outcome        string // what became of the call there, in a word
	Policies       string // the replay policies that do so, separated by commas
	ResultCode     Code   // AnswerOK, AnswerFailed, or 0 when the request has no result for it
	Event          int    // number of the event that tells
	KeptByProvider bool   // it is not there itself: the provider keeps it
	Result         Result // what its tool gave, where Result is not 0
}

// ToolRun says that a tool was seen to get the call.
type ToolRun struct {
	Request int // the number of what its server was asked
	Join    MatchBasis
	Of      int // how many equal calls it may be one of
	Event   int // number of the event that tells
}

// LatestResult is the latest that a request has as the result of the call; nil where none has any.
func (c *Call) LatestResult() *SentBackCall {
	for i := len(c.SentBack) - 1; i >= 0; i-- {
		if c.SentBack[i].ResultCode != 0 {
			return &c.SentBack[i]
		}
	}
	return nil
}

// A Delta is one fragment of a call's arguments, or of a turn's text, named by where it ends: it
// begins where the one before ended.
type Delta struct {
	End   uint32
	Event int32 // number of the event that brought it
}

// doubleEncodingCheck remembers whether args[:size] is a string that holds JSON.
type doubleEncodingCheck struct {
	size int
	yes  bool
}

func newCall(number int, turn, slot int32, d CallInfo) *Call {
	return &Call{
		Number: number, Turn: turn, Slot: slot, ID: d.ID, Name: d.Name, Kind: d.Kind, RunByProvider: d.RunByProvider,
		Choice: d.Choice, Parent: d.Parent, MCPServer: d.MCPServer, Item: d.Item, Namespace: d.Namespace, Discarded: d.Discarded, freeform: d.Freeform, nullNone: d.NullIsNone,
		OpenedAt: NoTime, FirstArgAt: NoTime, SealedAt: NoTime, LastArgAt: NoTime, callContent: new(callContent),
	}
}

// Args are the exact bytes of the arguments so far. They are only appended to, unless a dialect
// derives them from something else: Rewrites counts how often it had to replace them.
func (c *Call) Args() []byte { return c.args.s }

// ArgsLen is how many bytes of arguments have come. While its turn is cold they are not there.
func (c *Call) ArgsLen() int {
	if c.evicted != nil {
		return int(c.evicted.size)
	}
	return len(c.args.s)
}

// Deltas is how many fragments have come, empty ones included.
func (c *Call) Deltas() int { return c.deltas.n }

// DeltasBefore is how many fragments events before that one brought.
func (c *Call) DeltasBefore(event int) int {
	return sort.Search(c.deltas.n, func(i int) bool { return int(c.deltas.at(i).Event) >= event })
}

// DeltaEvent is the number of the event that brought delta n.
func (c *Call) DeltaEvent(n int) int32 { return c.deltas.at(n).Event }

// Lexer has read exactly Args(); its tokens are the arguments' tokens.
func (c *Call) Lexer() *Lexer { return &c.lex }

// Phase is what the provider said.
func (c *Call) Phase() Phase { return c.phase }

// MayGrow reports whether more argument bytes may come. The status does not tell: a call that
// looks done may be one whose stream has ended, and a malformed one may still go on.
func (c *Call) MayGrow() bool { return c.phase <= PhaseOpen }

// Status joins what the provider said with what the bytes say.
func (c *Call) Status() Status { return statusOf[c.phase][c.Syntax()] }

// StoppedByClient reports whether the client ended the response while the call was open. That is no fault:
// its user stopped it.
func (c *Call) StoppedByClient() bool { return c.stopped }

// Freeform reports whether the arguments are not JSON by design.
func (c *Call) Freeform() bool { return c.freeform }

// Syntax is what the bytes say.
func (c *Call) Syntax() Syntax {
	if c.evicted != nil {
		return c.evicted.syntax
	}
	if c.freeform {
		if len(c.args.s) == 0 {
			return SyntaxEmpty
		}
		return SyntaxFreeform
	}
	s := c.lex.Syntax()
	switch {
	case s != SyntaxOther:
	case c.nullNone && string(bytes.TrimSpace(c.args.s)) == "null":
		return SyntaxEmpty
	case c.holdsJSON():
		return SyntaxDouble
	}
	return s
}

// DeltaAt is the number of the delta that brought the argument byte at off.
func (c *Call) DeltaAt(off int) int {
	return c.from + sort.Search(c.deltas.n-c.from, func(i int) bool { return int(c.deltas.at(c.from+i).End) > off })
}

// DeltaSpan is the part of the arguments that delta n brought; none, if they have been rewritten since.
func (c *Call) DeltaSpan(n int) (start, end int) {
	if n < c.from || n >= c.deltas.n {
		return 0, 0
	}
	if n > c.from {
		start = int(c.deltas.at(n - 1).End)
	}
	return start, int(c.deltas.at(n).End)
}

// appendDelta appends the text of one delta.
func (c *Call) appendDelta(text string, event int32) {
	c.exact = c.half == ""
	if c.half != "" && text != "" {
		if char, ok := joinPair(c.half, text); ok {
			c.appendText(char)
			text = text[3:]
		} else {
			c.appendText(c.half)
		}
		c.half = ""
	}
	n := len(text) - halfPair(text)
	c.appendText(text[:n])
	if n < len(text) {
		c.half += text[n:]
		c.exact = false
	}
	c.deltas.add(Delta{uint32(len(c.args.s)), event})
}

// replaceArgs replaces the arguments. All their bytes now count as brought by this delta; those before
// it stay, as empty ones. Findings stay too, but not an offset beyond the new end.
func (c *Call) replaceArgs(e Event, n int) {
	if c.phase > PhaseOpen {
		c.reportOnce(ProtocolViolation, n, "argument bytes after the call was %s", c.phase)
	}
	c.saveArgsState()
	if c.runs[Repaired].event == 0 && c.runs[ParsableObject].event > 0 { // it has been run then
		c.runs[Repaired] = c.repairedRun()
	}
	c.Rewrites++
	c.args, c.half, c.lex, c.double, c.repeated, c.broken = appendText{}, "", Lexer{}, doubleEncodingCheck{}, 0, false
	c.from = c.deltas.n
	if c.FirstArgAt == NoTime {
		c.FirstArgAt = e.At
	}
	c.LastArgAt = e.At
	c.appendDelta(e.Text, int32(n))
	c.Findings = slices.Clone(c.Findings)
	for i := range c.Findings {
		if c.Findings[i].Offset > len(c.args.s) {
			c.Findings[i].Offset = NoOffset
		}
	}
	c.checkBroken(n)
	c.noteArgsRuns(n)
}

func (c *Call) appendText(text string) {
	if text == "" {
		return
	}
	n := len(c.args.s)
	c.args.add(text)
	if !c.freeform {
		c.lex.Write(c.args.s[n:])
	}
}

// DeltaOf is the number of the delta that an event brought, or -1.
func (c *Call) DeltaOf(event int32) int { return deltaOf(&c.deltas, event, c.deltas.n-1) }

// deltaOf is the number of the delta that an event brought, or -1; guess is what it may be.
func deltaOf(list *appendList[Delta], event int32, guess int) int {
	n := guess
	if n < 0 || n >= list.n || list.at(n).Event != event {
		n = sort.Search(list.n, func(i int) bool { return list.at(i).Event >= event })
	}
	if n < list.n && list.at(n).Event == event {
		return n
	}
	return -1
}

// endArgs says that no more bytes are expected.
func (c *Call) endArgs() {
	if c.half != "" {
		c.saveArgsState()
		c.appendText(c.half)
		c.deltas = c.deltas.copy()
		c.deltas.of.at(c.deltas.n - 1).End = uint32(len(c.args.s))
		c.half = ""
	}
	c.lex.Close()
}

// holdsJSON reports whether the arguments are one string whose content is itself an object or
// array: encoded twice.
func (c *Call) holdsJSON() bool {
	if c.lex.first != String {
		return false
	}
	if c.double.size != len(c.args.s) {
		var inner Lexer
		inner.Write(jsonbytes.AppendUnquoted(nil, stringContent(c.args.s)))
		c.double = doubleEncodingCheck{len(c.args.s), inner.Syntax() == SyntaxObject ||
			inner.Syntax() == SyntaxOther && inner.first == ArrayOpen}
	}
	return c.double.yes
}
