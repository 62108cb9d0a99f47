package stream

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"time"
	"unicode"
	"unicode/utf16"

	"toolscope/stream/count"
	"toolscope/stream/json"
	"toolscope/stream/list"
)

// A Call is one tool call that the model makes, as far as it has arrived. Only the fold may set its fields.
type Call struct {
	Number    int   // number within its turn, from 1
	OpenedBy  int32 // number of the event that opened it
	Turn      int32
	Slot      int32
	ID        string // the id that a tool result must repeat
	Name      string
	Kind      string // function, custom, mcp, server, …
	Parent    string // id of the call whose code made this one
	MCPServer string
	Item      string // id of its item, if that differs from ID
	Namespace string // namespace of the tool, if it is not part of Name
	Rewrites  int    // how often Args were replaced; each time, earlier offsets become invalid

	Signature string         // opaque; must be sent back with the call
	SentBack  []SentBackCall // how later requests carry the call in their history
	Runs      []ToolRun      // tool runs that are matched to it
	Findings  []Finding

	OpenedAt time.Duration // NoTime if unknown

	evicted       *evictedCall // state of the call's content; nil unless its turn is evicted
	Choice        int32
	RunByProvider bool // the provider runs the call
	Discarded     bool // the provider discarded the call, so the call isn't on the wire; Args are from the provider's report
	freeform      bool
	nullNone      bool // null arguments mean that the call has no arguments

	callState
	changeStamp
	before *callSnapshot

	*callContent
}

// callState is the part of a call that changes often. Each snapshot has a copy of it.
type callState struct {
	FirstArgAt, SealedAt, LastArgAt time.Duration // NoTime if it is unknown or has not happened yet

	Copies     int    // number of equal copies of the arguments that arrived; 0 if there is only one
	ClosedBy   int32  // number of the event that assigned its slot to another call; 0 if there is none
	sealedBy   int32  // number of the frame that made the arguments final
	sealEvent  int32  // number of the event that made the arguments final, or of the first delta in the same frame; 0 if they are not final
	visitedBy  uint16 // one bit for each broadcast that visited the call since the call last changed
	ResultCode Code   // ResultOK or ResultFailed once the response or a later request contains its result
	phase      Phase
	stopped    bool // aborted by the client
	frozen     bool // later events don't apply to the call, because bytes before these events were missed
	settled    bool // no more findings about the syntax are made
	lateStart  bool // the source lacks the call's beginning
	broken     bool // the first wrong byte has been reported
	reusesID   bool // an earlier call of this or another turn has the same id
	counted    bool // the session's Counts include the call, under countedAs
	countedAs  Status
}

// A SentBackCall describes how a later request carries a call in its history.
type SentBackCall struct {
	Exchange       int    // number of the request's exchange
	ID             string // the id of the call in the request
	Outcome        string // the outcome of the call in that request, as one word
	Policies       string // the replay policies with this outcome, separated by commas
	ResultCode     Code   // ResultOK, ResultFailed, or 0 if the request has no result for it
	Event          int    // number of the event that reports it
	KeptByProvider bool   // the history doesn't contain the call: the provider keeps it
	Result         Result // the tool's result, if ResultCode is not 0
	Reasoning      string // state of the turn's reasoning: "gone", "altered" or "not needed"; "" if there is none or it is intact
	Signature      string // state of the signature of the turn or the call, in the same words as Reasoning
}

// A ToolRun describes a tool run that is matched to a call.
type ToolRun struct {
	Request int // number of the request to the tool's server
	Join    MatchBasis
	Of      int // number of equal calls that the run may belong to
	Event   int // number of the event that reports it
}

// LatestResult returns the last element of SentBack that has a result, or nil if none has one.
func (c *Call) LatestResult() *SentBackCall {
	for i := len(c.SentBack) - 1; i >= 0; i-- {
		if c.SentBack[i].ResultCode != 0 {
			return &c.SentBack[i]
		}
	}
	return nil
}

// A Delta is one fragment of a call's arguments, or of a turn's text. The start is not stored: a delta begins
// where the previous delta ends.
type Delta struct {
	End   uint32
	Event int32 // number of the event that contained it
}

// doubleEncodingCheck records whether args[:size] is one string that contains an object or array.
type doubleEncodingCheck struct {
	size int
	yes  bool
}

func newCall(number int, turn, slot int32, d CallInfo) *Call {
	return &Call{
		Number: number, Turn: turn, Slot: slot, ID: d.ID, Name: d.Name, Kind: d.Kind, RunByProvider: d.RunByProvider,
		Choice: d.Choice, Parent: d.Parent, MCPServer: d.MCPServer, Item: d.Item, Namespace: d.Namespace, Discarded: d.Discarded, freeform: d.Freeform, nullNone: d.NullIsNone,
		OpenedAt: NoTime, callState: callState{FirstArgAt: NoTime, SealedAt: NoTime, LastArgAt: NoTime}, callContent: new(callContent),
	}
}

// Args returns the exact bytes of the arguments so far. Bytes are only appended, except when a protocol derives the
// arguments from other data. Rewrites counts how often the arguments were replaced. Args is empty while the bytes are
// evicted.
func (c *Call) Args() []byte { return c.args.s }

// ArgsLen returns the number of argument bytes that have arrived, even while they are evicted.
func (c *Call) ArgsLen() int {
	if c.evicted != nil {
		return int(c.evicted.size)
	}
	return len(c.args.s)
}

// Deltas returns how many deltas have arrived, including empty ones, or 0 while the turn is evicted.
func (c *Call) Deltas() int { return c.deltas.Len() }

// DeltasBefore returns the number of deltas from events before the given event.
func (c *Call) DeltasBefore(event int) int {
	return sort.Search(c.deltas.Len(), func(i int) bool { return int(c.deltas.At(i).Event) >= event })
}

// DeltaEvent returns the number of the event that contained delta n.
func (c *Call) DeltaEvent(n int) int32 { return c.deltas.At(n).Event }

// Lexer returns the lexer of the arguments. It has read exactly Args(), or nothing if the arguments are not
// JSON by design.
func (c *Call) Lexer() *json.Lexer { return &c.lex }

// Phase returns the stage of the call according to the provider.
func (c *Call) Phase() Phase { return c.phase }

// MayGrow reports whether more argument bytes may come. Status doesn't show this: the stream of a call
// that looks done may have ended, and a malformed call may still grow.
func (c *Call) MayGrow() bool { return c.phase <= PhaseOpen }

// StoppedByClient reports whether the client ended the response while the call was open. This alone is not a fault:
// the user may have stopped the client.
func (c *Call) StoppedByClient() bool { return c.stopped }

// Freeform reports whether the arguments are not JSON by design.
func (c *Call) Freeform() bool { return c.freeform }

// DeltaAt returns the number of the delta that contained the argument byte at off, or Deltas() if there is no such
// byte.
func (c *Call) DeltaAt(off int) int {
	return c.from + sort.Search(c.deltas.Len()-c.from, func(i int) bool { return int(c.deltas.At(c.from+i).End) > off })
}

// DeltaSpan returns the range of the arguments that delta n added. The range is empty if the arguments have been
// replaced since, or if there is no delta n.
func (c *Call) DeltaSpan(n int) (start, end int) {
	if n < c.from || n >= c.deltas.Len() {
		return 0, 0
	}
	if n > c.from {
		start = int(c.deltas.At(n - 1).End)
	}
	return start, int(c.deltas.At(n).End)
}

// appendDelta appends the text of one delta. Half of a surrogate pair at the end of the text waits for the next
// delta.
func (c *Call) appendDelta(text string, event int32) {
	c.exact = c.half == ""
	if c.half != "" && text != "" {
		if char, ok := joinSurrogates(c.half, text); ok {
			c.appendText(char)
			text = text[3:]
		} else {
			c.appendText(c.half)
		}
		c.half = ""
	}
	n := len(text) - highHalfLen(text)
	c.appendText(text[:n])
	if n < len(text) {
		c.half += text[n:]
		c.exact = false
	}
	c.deltas.Add(Delta{uint32(len(c.args.s)), event})
}

// replaceArgs replaces the arguments. All bytes of the new arguments count as one delta. Earlier deltas stay in the
// list but become empty. Findings stay too, but lose an offset that is beyond the new end.
func (c *Call) replaceArgs(e Event, n int) {
	if c.phase > PhaseOpen {
		c.reportOnce(ProtocolViolation, n, "argument bytes arrived after the call was %s", OwnFact(c.phase.String()))
	}
	c.saveArgsState()
	if c.runs[Repaired].event == 0 && c.runs[ParsableObject].event != 0 { // the rule Repaired has run the call too: record its run before the arguments are replaced
		c.runs[Repaired] = c.repairedRun()
	}
	c.Rewrites++
	c.args, c.half, c.lex, c.double, c.repeated, c.broken = appendText{}, "", json.Lexer{}, doubleEncodingCheck{}, 0, false
	c.from = c.deltas.Len()
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

// DeltaOf returns the number of the delta that an event contained, or -1 if it contained none.
func (c *Call) DeltaOf(event int32) int { return deltaOf(&c.deltas, event, c.deltas.Len()-1) }

// deltaOf returns the number of the delta that an event contained, or -1 if it contained none. It tries guess first.
func deltaOf(deltas *list.List[Delta], event int32, guess int) int {
	n := guess
	if n < 0 || n >= deltas.Len() || deltas.At(n).Event != event {
		n = sort.Search(deltas.Len(), func(i int) bool { return deltas.At(i).Event >= event })
	}
	if n < deltas.Len() && deltas.At(n).Event == event {
		return n
	}
	return -1
}

// holdsJSON reports whether the arguments are double-encoded: one string whose content is an object or
// array.
func (c *Call) holdsJSON() bool {
	if c.lex.First() != json.String {
		return false
	}
	if c.double.size != len(c.args.s) {
		var inner json.Lexer
		text := bytes.TrimSpace(c.args.s)
		inner.Write(json.AppendUnquoted(nil, bytes.TrimSuffix(bytes.TrimPrefix(text, []byte(`"`)), []byte(`"`))))
		c.double = doubleEncodingCheck{len(c.args.s), inner.Syntax() == json.SyntaxObject ||
			inner.Syntax() == json.SyntaxOther && inner.First() == json.ArrayOpen}
	}
	return c.double.yes
}

// chunkBuffer collects bytes that arrive in chunks and are needed in one buffer later. Up to maxSmallBytes
// are kept in one buffer. More bytes are kept in blocks until they are needed, because a large buffer that
// grows is copied again and again. The zero value is ready to use.
type chunkBuffer struct {
	small  []byte
	blocks [][]byte // the bytes after small; the last block is filling up
}

const (
	maxSmallBytes = 1 << 20
	chunkBlock    = 256 << 10
)

func (t *chunkBuffer) add(p []byte) {
	if t.blocks == nil && len(t.small)+len(p) <= maxSmallBytes {
		t.small = append(t.small, p...)
		return
	}
	for len(p) > 0 {
		n := len(t.blocks) - 1
		if n < 0 || len(t.blocks[n]) == chunkBlock {
			t.blocks = append(t.blocks, make([]byte, 0, chunkBlock))
			n++
		}
		k := min(len(p), chunkBlock-len(t.blocks[n]))
		t.blocks[n] = append(t.blocks[n], p[:k]...)
		p = p[k:]
	}
}

func (t *chunkBuffer) appendByte(c byte) {
	if t.blocks == nil && len(t.small) < maxSmallBytes {
		t.small = append(t.small, c)
		return
	}
	t.add([]byte{c})
}

func (t *chunkBuffer) isEmpty() bool { return len(t.small) == 0 && t.blocks == nil }

// joinBytes returns all bytes in one buffer. The buffer still belongs to t.
func (t *chunkBuffer) joinBytes() []byte {
	if t.blocks == nil {
		return t.small
	}
	size := len(t.small)
	for _, b := range t.blocks {
		size += len(b)
	}
	all := append(make([]byte, 0, size), t.small...)
	for i, b := range t.blocks {
		all = append(all, b...)
		t.blocks[i] = nil
	}
	t.small, t.blocks = all, nil
	return all
}

// reset empties the buffer for reuse.
func (t *chunkBuffer) reset() { t.small, t.blocks = resetBuffer(t.small), nil }

// highHalfLen returns the number of bytes at the end of s that are the high half of a surrogate pair: 3 or 0. A provider
// that cuts text by UTF-16 units may cut an emoji between its halves.
func highHalfLen(s string) int {
	n := len(s)
	if n >= 3 && s[n-3] == 0xed && s[n-2]&0xf0 == 0xa0 {
		return 3
	}
	return 0
}

// joinSurrogates joins the surrogate high and the first three bytes of s into one character. It returns false if these
// bytes are not a low surrogate.
func joinSurrogates(high, s string) (string, bool) {
	if len(s) < 3 || s[0] != 0xed || s[1]&0xf0 != 0xb0 {
		return "", false
	}
	unit := func(t string) rune { return 0xd000 | rune(t[1]&0x3f)<<6 | rune(t[2]&0x3f) }
	return string(utf16.DecodeRune(unit(high), unit(s))), true
}

// updateInfo applies new facts about the call from event n.
func (c *Call) updateInfo(d CallInfo, n int) {
	if d != (CallInfo{Copies: d.Copies}) {
		c.keepBase()
	}
	if d.ID != "" {
		c.ID = d.ID
	}
	if d.Name != "" {
		c.Name = d.Name
	}
	if d.Item != "" {
		c.Item = d.Item
	}
	if d.Namespace != "" {
		c.Namespace = d.Namespace
	}
	if d.Signature != "" {
		c.Signature = d.Signature
	}
	if d.Copies != 0 {
		c.Copies = d.Copies
	}
	if d.Kind != "" {
		c.Kind = d.Kind
	}
	if c.Name != "" && c.phase == PhaseAnnounced {
		c.phase = PhaseOpen
		c.noteArgsRuns(n)
	}
	if HasMarkup(c.Name) {
		c.reportOnce(NameMarkup, n, "the name contains model markup: the server's parser should have removed it")
	}
	const words = "the name or id contains characters that a terminal hides or treats as commands"
	switch {
	case hasUnprintable(c.Name):
		c.reportOnce(HiddenCharacters, n, words)
	case hasUnprintable(c.ID): // the provider writes the id, not the model
		c.reportOnce(HiddenCharacters.WithCause(Provider), n, words)
	}
}

// HasMarkup reports whether a name contains model markup.
func HasMarkup(name string) bool {
	return strings.ContainsAny(name, "<>｜") || strings.Contains(name, "[ARGS]") || strings.Contains(name, "[TOOL_CALLS]")
}

// SplitGluedName returns the first part of a name that consists of two or more known names of at least three bytes.
// Otherwise, it returns "".
func SplitGluedName(name string, known func(string) bool) string {
	if len(name) > MaxGluedName {
		return ""
	}
	from := make([]string, len(name)+1) // the first part of a split that ends at this index, or ""
	for i := range name {
		if i > 0 && from[i] == "" {
			continue
		}
		for end := i + 3; end <= len(name); end++ {
			if part := name[i:end]; from[end] == "" && part != name && known(part) {
				from[end] = part
				if i > 0 {
					from[end] = from[i]
				}
			}
		}
	}
	return from[len(name)]
}

// MaxGluedName is the maximum number of bytes of a name that is split. No provider allows more than 128.
const MaxGluedName = 256

func hasUnprintable(s string) bool {
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return true
		}
	}
	return false
}

// sealArgs applies a Seal: the arguments are final, refused or, with SealWithdrawn, no longer final. A second
// seal changes nothing. A refusal overrules a seal.
func (c *Call) sealArgs(e Event, n int) {
	if e.Code == SealWithdrawn {
		c.withdrawSeal()
		return
	}
	if e.Code == SealRejected && c.phase <= PhaseSealed {
		c.endUnsealed(PhaseRejected, n, ArgsCut.WithCause(UnknownParty), Messagef("the call was refused: %s", e.Text), "refused")
		return
	}
	if c.phase > PhaseOpen {
		return
	}
	if e.Code == SealUnshown {
		c.phase, c.settled = PhaseUnseen, true
		return
	}
	c.phase, c.sealedBy, c.SealedAt, c.sealEvent = PhaseSealed, e.Frame, e.At, int32(n)
	if c.argsFrom > 0 && c.argsFrame == e.Frame {
		// The frame that contained the last delta also made the arguments final. A client that received the delta
		// received the end as well.
		c.sealEvent = c.argsFrom
	}
	c.checkFinalArgs(n)
	c.noteRuleRun(AtSeal, n)
}

// withdrawSeal reopens a sealed call. It removes the findings since the seal, because they are about arguments that
// were not final.
func (c *Call) withdrawSeal() {
	if c.phase != PhaseSealed {
		return
	}
	c.keepBase()
	var kept []Finding
	c.diagnoses = nil
	for _, f := range c.Findings {
		if f.Event < int(c.sealEvent) {
			kept = append(kept, f)
			c.noteFinding(&f)
		}
	}
	c.Findings, c.phase, c.settled = kept, PhaseOpen, false
	c.sealedBy, c.sealEvent, c.SealedAt = 0, 0, NoTime
}

// endByLimit ends a call of a response that a limit cut. A call whose final arguments are a complete object stays as
// it is. Empty arguments and free text look complete wherever they are cut. So such a call stays as it is only if an
// earlier frame made its arguments final. If this is the frame directly before, the limit cut off empty arguments:
// Anthropic ends the block of a call that it cut, and a model rarely reaches the limit exactly at the end of a call.
func (c *Call) endByLimit(e Event, n int) {
	syntax := c.Syntax()
	switch {
	case c.phase == PhaseSealed && syntax == json.SyntaxObject,
		c.phase == PhaseSealed && syntax == json.SyntaxEmpty && c.sealedBy != e.Frame && c.sealedBy+1 != e.Frame,
		c.phase == PhaseSealed && syntax == json.SyntaxFreeform && c.sealedBy != e.Frame,
		c.phase > PhaseSealed:
		return
	}
	hint, by, reason := "cut: "+e.Text, "the provider's limit", strings.ToLower(e.Text)
	if strings.Contains(reason, "length") || strings.Contains(reason, "max") && strings.Contains(reason, "token") {
		hint = "cut by the token limit"
	}
	if strings.Contains(reason, "filter") || strings.Contains(reason, "guardrail") || reason == "sensitive" {
		by = "a filter"
	}
	c.endUnsealed(PhaseTruncated, n, ArgsCut, Messagef("%s cut the response (%s)", Own(by), Fact(e.Text)), hint)
}

// endUnsealed ends a call whose arguments were not final, or whose seal is overruled. It adds a finding if the
// arguments were cut. The parameter found is the finding's diagnosis, why is the reason, and here is the hint.
func (c *Call) endUnsealed(p Phase, event int, found *Diagnosis, why Message, here string) {
	c.phase = p
	c.checkFinalArgs(event)
	where := "before the first byte"
	if n := len(c.args.s); n > 0 {
		where = "after " + count.Of(n, "byte")
		if c.lex.Open() {
			where += ", inside a " + openWord(c.lex.Last())
		}
	}
	s := c.Syntax()
	if cut := p == PhaseTruncated || p == PhaseAborted && s != json.SyntaxObject || s == json.SyntaxPrefix; cut && !c.hasFinding(ArgsCut) {
		stop := found.Finding("the arguments stop %s: %s", Own(where), why)
		c.addFinding(stop.withHint(here).withEvidence(event, len(c.args.s)))
	}
}

func openWord(k json.TokenKind) string {
	switch k {
	case json.Key:
		return "key"
	case json.String:
		return "string"
	case json.Number:
		return "number"
	}
	return "literal"
}

// keySet has a map for each depth of open containers, from the hash of a key to the start and end of the key in the
// arguments. When a container closes, its map is reused.
type keySet []map[uint64][2]int

// checkKeys reports the first duplicate key in an object. Parsers keep the last value or the first, and only
// the kept value is sent back.
func (c *Call) checkKeys(event int) {
	var sets keySet
	var buf []byte
	depth, start := 0, 0
	for _, t := range c.lex.Tokens().All() {
		switch t.Kind {
		case json.ObjectOpen, json.ArrayOpen:
			if depth++; depth > len(sets) {
				sets = append(sets, map[uint64][2]int{})
			}
			clear(sets[depth-1])
		case json.ObjectClose, json.ArrayClose:
			depth--
		case json.Key:
			from, to := start+1, int(t.End)-1
			buf = json.AppendUnquoted(buf[:0], c.args.s[from:to])
			hash := uint64(14695981039346656037) // FNV-1a
			for _, b := range buf {
				hash = (hash ^ uint64(b)) * 1099511628211
			}
			if old, ok := sets[depth-1][hash]; ok && bytes.Equal(json.AppendUnquoted(nil, c.args.s[old[0]:old[1]]), buf) {
				c.reportFinding(DupKeys, event, start,
					"an object has the key %q twice: most parsers keep the last value, and some keep the first", Fact(Clip(buf, 0, 64)))
				return
			}
			sets[depth-1][hash] = [2]int{from, to}
		}
		start = int(t.End)
	}
}
