package protocol

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// A Turn is one model response, whose content the decoder reports. A nil *Turn is a turn that has not begun: it is
// not open, and End and Cut do nothing.
type Turn struct {
	ID, Model string // from Open and UpdateIDs

	out      *Out
	number   int32
	open     bool
	reported reportedOnce
	calls    map[int32]*Call
	latest   *Call // last result of FindCall, Call or OpenCall
	opened   int   // number of calls, including calls that are only counted
	client   int   // number of calls that the client has to run
	lost     bool  // a call was used without being opened

	thinking bool  // the latest text is reasoning, with no signature so far
	block    int32 // number of the block with the latest reasoning
}

// IsOpen reports whether the turn has begun and has not ended.
func (t *Turn) IsOpen() bool { return t != nil && t.open }

// Number returns the number of the turn in its exchange, or stream.NoTurn for a nil Turn.
func (t *Turn) Number() int32 {
	if t == nil {
		return stream.NoTurn
	}
	return t.number
}

// Update reports new metadata of the turn.
func (t *Turn) Update(news stream.Opening) {
	t.emit(stream.Event{Kind: stream.TurnMeta, What: &news})
}

// UpdateIDs reads an id and a model from a frame that may repeat them. It reports each of them only once,
// when it first has a value.
func (t *Turn) UpdateIDs(id, model json.Value) {
	news := false
	for _, f := range [...]struct {
		known *string
		said  json.Value
	}{{&t.ID, id}, {&t.Model, model}} {
		if *f.known == "" {
			*f.known = f.said.Text()
			news = news || *f.known != ""
		}
	}
	if news {
		t.Update(stream.Opening{ID: t.ID, Model: t.Model})
	}
}

// Unknown reports a part of the turn with an unknown type, and the name of the type.
func (t *Turn) Unknown(what string) { t.emit(stream.Event{Kind: stream.Unknown, Text: what}) }

// NoteRefusal records that the text of the turn is in a field for refusals.
func (t *Turn) NoteRefusal() { t.out.Refused = true }

// AppendText appends the content of a JSON string to the text.
func (t *Turn) AppendText(v json.Value) {
	if !v.HasText() {
		return
	}
	t.emit(stream.Event{Kind: stream.TextDelta, Text: t.out.holdText(v)})
	t.thinking = false
}

// AppendReasoning appends the content of a JSON string to the reasoning. The parameter block is the number of
// the block that contains it.
func (t *Turn) AppendReasoning(block int32, v json.Value) {
	if v.HasText() {
		t.emit(stream.Event{Kind: stream.ThinkDelta, Text: t.out.holdText(v)})
		t.thinking, t.block = true, block
	}
}

// AddSignature reports the signature of a block of reasoning, which may have no text.
func (t *Turn) AddSignature(block int32, signature json.Value) {
	if !signature.HasText() {
		return
	}
	t.BeginThinking(block)
	t.SignLast(signature, "", stream.SignedShown)
}

// BeginThinking begins a block of reasoning, even if it has no text.
func (t *Turn) BeginThinking(block int32) {
	if !t.thinking || t.block != block {
		t.emit(stream.Event{Kind: stream.ThinkDelta})
		t.thinking, t.block = true, block
	}
}

// SignLast reports the signature of the latest content. With stream.SignedHidden, the signature belongs to
// reasoning that is not shown. The parameter item is the id of the item with the signature, or "". An item may have
// only an id.
func (t *Turn) SignLast(signature json.Value, item string, code stream.Code) {
	if !signature.HasText() && item == "" {
		return
	}
	e := stream.Event{Kind: stream.Signed, Code: code, Text: signature.Text()}
	if item != "" {
		e.What = &stream.Signature{Item: item}
	}
	t.emit(e)
	t.thinking = false
}

// Part reads a part in Google's protocols: a text, a thought, or only a signature. The signature of a thought
// may come later in an empty part. An empty part with a signature after a text stays separate: Google
// requires that signed parts are sent back unchanged and not merged with other parts ("Thought signatures" at
// ai.google.dev).
func (t *Turn) Part(text, signature json.Value, thought bool) {
	code := stream.SignedShown
	if !text.HasText() && !(thought && t.thinking) {
		code = stream.SignedHidden
	}
	if thought {
		t.AppendReasoning(0, text)
	} else {
		t.AppendText(text)
	}
	t.SignLast(signature, "", code)
}

// EndThinking records that content other than text and reasoning follows.
func (t *Turn) EndThinking() { t.thinking = false }

// Usage reports the usage that the turn has so far.
func (t *Turn) Usage(u stream.Usage) {
	t.emit(stream.Event{Kind: stream.UsageEvent, What: &u})
}

// Finish reports the finish reason of the turn. The parameter word is the provider's word for it.
func (t *Turn) Finish(word string, code stream.Code) {
	t.FinishChoice(stream.AllChoices, word, "", code)
}

// FinishChoice reports the finish reason of one choice. If word is a number, the parameter means is the number's
// meaning.
func (t *Turn) FinishChoice(choice int32, word, means string, code stream.Code) {
	e := stream.Event{Kind: stream.Finish, Slot: choice, Text: word, Code: code}
	if means != "" {
		e.What = &stream.FinishMeaning{Text: means}
	}
	t.emit(e)
}

// HasClientCalls reports whether the turn has a call that the client must run.
func (t *Turn) HasClientCalls() bool { return t.client > 0 }

// Fail reports an error of the provider. The parameter id is the error's code or type.
func (t *Turn) Fail(id, message string) {
	t.emit(stream.Event{Kind: stream.Failure, Text: message, What: &stream.FailureInfo{Code: id}})
}

// AddResult reports the result of a call. The call is identified by id or, if id is empty, by the name of the tool.
func (t *Turn) AddResult(id, name string, failed bool) {
	t.emit(stream.Event{Kind: stream.CallResult, Slot: stream.NoSlot, Code: answerCode(failed), What: &stream.ResultFor{ID: id, Name: name}})
}

// AddResultContent does the same as AddResult for a call with an id, and also reports the content of the
// result.
func (t *Turn) AddResultContent(id string, failed bool, content json.Value) {
	t.emit(stream.Event{
		Kind: stream.CallResult, Slot: stream.NoSlot, Code: answerCode(failed),
		What: &stream.ResultFor{ID: id, HasContent: true, Result: stream.ResultOf(ResultText(content))},
	})
}

func answerCode(failed bool) stream.Code {
	if failed {
		return stream.ResultFailed
	}
	return stream.ResultOK
}

// Find reports a finding about the turn.
func (t *Turn) Find(d *stream.Diagnosis, format string, args ...any) {
	t.out.emitFinding(t.number, d, format, args)
}

// Once does the same as Find, but only for the first finding with the diagnosis d about the turn.
func (t *Turn) Once(d *stream.Diagnosis, format string, args ...any) {
	if t.reported.isFirst(d) {
		t.Find(d, format, args...)
	}
}

// OpenCall begins a call in a slot, so that Call can find it by the slot. If the turn is full, the call is
// only counted: it has no events, and Call doesn't find it.
func (t *Turn) OpenCall(slot int32, info stream.CallInfo) *Call {
	c := &Call{turn: t, Slot: slot, ID: info.ID, Name: info.Name, RunByProvider: info.RunByProvider, silent: t.IsFull()}
	t.opened++
	if !info.RunByProvider {
		t.client++
	}
	if c.silent {
		return c
	}
	if t.calls == nil {
		t.calls = map[int32]*Call{}
	}
	t.calls[slot], t.latest = c, c
	c.emit(stream.Event{Kind: stream.CallOpen, What: &info})
	return c
}

// IsFull reports whether the turn has the maximum number of calls that toolscope keeps.
func (t *Turn) IsFull() bool { return t.opened >= stream.MaxCalls }

// Latest returns the call that was last opened or found, or nil.
func (t *Turn) Latest() *Call { return t.latest }

// OpenCalls returns the calls that are not final, in the order of their slots.
func (t *Turn) OpenCalls() (open []*Call) {
	for _, slot := range slices.Sorted(maps.Keys(t.calls)) {
		if c := t.calls[slot]; !c.Sealed {
			open = append(open, c)
		}
	}
	return open
}

// NextCall does the same as OpenCall, with the next slot. It is for protocols that don't number their calls.
func (t *Turn) NextCall(info stream.CallInfo) *Call {
	return t.OpenCall(int32(t.opened), info)
}

// Call returns the latest call in a slot. It never returns nil: if no call was opened in the slot, it returns
// a new call. The session reports the events of such a call, but adds no call for them.
func (t *Turn) Call(slot int32) *Call {
	c := t.FindCall(slot)
	if c == nil {
		c = &Call{turn: t, Slot: slot, silent: t.IsFull()}
		t.lost = true
	}
	return c
}

// ReadIndex returns the index of a call, block, item or choice. A string that contains an integer counts as this integer,
// as it does in JavaScript. The result ok is false if there is no index.
func (t *Turn) ReadIndex(v json.Value) (index int64, ok bool) {
	if index, ok = v.Int(); ok || !v.IsPresent() {
		return index, ok
	}
	n, err := strconv.ParseInt(v.Text(), 10, 64)
	if v.IsString() && err == nil {
		t.Once(IndexType, "the index is the string %q, not a number: toolscope reads it as %d; clients that check types refuse the response", v.Text(), n)
		return n, true
	}
	t.Once(IndexType, "the index is %s, not an integer: toolscope doesn't use it; clients that check types refuse the response", Clip(v))
	return 0, false
}

// ReadSlot returns the same index as ReadIndex, or 0 if there is none.
func (t *Turn) ReadSlot(v json.Value) int32 {
	index, _ := t.ReadIndex(v)
	return int32(index)
}

// FindCall returns the latest call in a slot, or nil.
func (t *Turn) FindCall(slot int32) *Call {
	if c := t.latest; c != nil && c.Slot == slot {
		return c
	}
	c := t.calls[slot]
	if c != nil {
		t.latest = c
	}
	return c
}

// End ends the turn with the protocol's terminator. It does nothing if the turn is not open.
func (t *Turn) End() { t.close(stream.CloseEnd, "", nil) }

// Cut ends a turn without its terminator. The parameter missing describes the missing part. Cut does nothing
// if the turn is not open.
func (t *Turn) Cut(missing string) { t.close(stream.CloseCut, missing, nil) }

// CutByClient ends a turn that the client stopped, and says why. It does nothing if the turn is not open.
func (t *Turn) CutByClient(why string) {
	t.close(stream.CloseCut, why, &stream.Ending{By: stream.Client})
}

func (t *Turn) close(code stream.Code, missing string, by *stream.Ending) {
	if t.IsOpen() {
		t.open = false
		if n := t.opened - stream.MaxCalls; n > 0 {
			t.Find(CountedOnly, "toolscope keeps at most %d calls per turn, and only counts the others: %s", stream.MaxCalls, stream.Own(count.Of(n, "call")))
		}
		t.out.removeTurn(t)
		e := stream.Event{Kind: stream.TurnClose, Code: code, Text: missing}
		if by != nil {
			e.What = by
		}
		t.emit(e)
		t.calls, t.latest = nil, nil
	}
}

func (t *Turn) emit(e stream.Event) {
	e.Turn = t.number
	t.out.emit(e)
}

// reportedOnce lists the diagnoses that Once has reported.
type reportedOnce []*stream.Diagnosis

// isFirst reports whether d is not in the list yet, and adds it.
func (t *reportedOnce) isFirst(d *stream.Diagnosis) bool {
	declared := d.Base()
	for _, made := range *t {
		if made == declared {
			return false
		}
	}
	*t = append(*t, declared)
	return true
}

// A Call is one call of a Turn. It keeps the facts that its decoder reported, so that the decoder doesn't
// need to keep them.
type Call struct {
	Slot          int32
	ID, Name      string
	RunByProvider bool // the provider runs the call
	Bytes         int  // number of argument bytes so far
	LastByte      byte // last byte of the arguments so far; 0 before the first byte
	Sealed        bool

	turn     *Turn
	silent   bool // see IsCounted
	reported reportedOnce
	unsealed int  // length of the list reported at the latest Seal
	null     bool // the arguments so far are the beginning of the word null
	keeps    bool
	kept     []byte
}

// Turn returns the turn that the call belongs to.
func (c *Call) Turn() *Turn { return c.turn }

// IsCounted reports whether the call is only counted, because its turn is full. Such a call has no events,
// and decoders don't list it.
func (c *Call) IsCounted() bool { return c.silent }

// Keep makes the call keep its arguments for Matches. Keep must be called before any arguments arrive.
func (c *Call) Keep() { c.keeps = true }

// Matches reports whether whole is the same JSON value as the arguments so far, or a string that contains the
// same value. The call must keep its arguments.
func (c *Call) Matches(whole json.Value) bool {
	came := JoinSurrogates(c.kept)
	return json.Same(came, whole) || whole.IsString() && json.Same(came, whole.Append(nil))
}

// Meta reports new metadata of the call.
func (c *Call) Meta(news stream.CallInfo) {
	if news.ID != "" {
		c.ID = news.ID
	}
	if news.Name != "" {
		c.Name = news.Name
	}
	c.emit(stream.Event{Kind: stream.CallMeta, What: &news})
}

// Args appends a delta: the content of a string, or the bytes of any other value. A null or missing
// value is an empty delta.
func (c *Call) Args(v json.Value) { c.appendDelta(c.turn.out.holdText(v), nil) }

// ArgsText appends a delta that is already text. The parameter from is the form on the wire from which toolscope
// derived the text, or nil if the text was not derived.
func (c *Call) ArgsText(text, from []byte) { c.appendDelta(c.turn.out.text.StringOf(text), from) }

func (c *Call) appendDelta(text string, from []byte) {
	if text != "" {
		c.noteArgs(text)
		c.turn.thinking = false
	}
	c.emitArgs(stream.Args, text, from)
}

// noteArgs records a delta of the arguments, whose text is not empty.
func (c *Call) noteArgs(text string) {
	n := len(text)
	c.null = (c.null || c.Bytes == 0) && c.Bytes+n <= len(null) && null[c.Bytes:c.Bytes+n] == text
	c.Bytes += n
	c.LastByte = text[n-1]
	if c.keeps {
		c.kept = append(c.kept, text...)
	}
}

const null = "null"

// IsNull reports whether the arguments so far are the word null, in one delta or several.
func (c *Call) IsNull() bool { return c.null && c.Bytes == len(null) }

// Rewrite replaces the arguments, for derived text that changes with a later frame. The parameter from is the
// same as for ArgsText.
func (c *Call) Rewrite(text, from []byte) {
	c.Bytes, c.LastByte, c.null, c.kept = 0, 0, false, nil
	held := c.turn.out.text.StringOf(text)
	if held != "" {
		c.noteArgs(held)
	}
	c.emitArgs(stream.Rewrite, held, from)
}

func (c *Call) emitArgs(kind stream.EventKind, text string, from []byte) {
	e := stream.Event{Kind: kind, Text: text}
	if len(from) > 0 {
		e.What = c.turn.out.originOf(from)
	}
	c.emit(e)
}

// Seal reports that the arguments are final.
func (c *Call) Seal() {
	c.Sealed, c.unsealed = true, len(c.reported)
	c.emit(stream.Event{Kind: stream.Seal})
}

// Unseal reports that the arguments were not final after all: more arguments follow. It withdraws the
// findings since Seal. They may be reported again.
func (c *Call) Unseal() {
	c.Sealed, c.reported = false, c.reported[:min(c.unsealed, len(c.reported))]
	c.emit(stream.Event{Kind: stream.Seal, Code: stream.SealWithdrawn})
}

// SealUnshown reports that the call has arguments that the source doesn't show.
func (c *Call) SealUnshown() {
	c.Sealed = true
	c.emit(stream.Event{Kind: stream.Seal, Code: stream.SealUnshown})
}

// Reject reports that the call was refused or cancelled, with the reason.
func (c *Call) Reject(why string) {
	c.Sealed = true
	c.emit(stream.Event{Kind: stream.Seal, Code: stream.SealRejected, Text: why})
}

// AddResult reports the result of the call, for protocols that send a result together with its call. For
// protocols that refer to calls by id, use Turn.AddResult.
func (c *Call) AddResult(failed bool) {
	c.emit(stream.Event{Kind: stream.CallResult, Code: answerCode(failed)})
}

// Find reports a finding about the call.
func (c *Call) Find(d *stream.Diagnosis, format string, args ...any) {
	c.Found(d.Finding(format, args...))
}

// Once does the same as Find, but only for the first finding with the diagnosis d about the call.
func (c *Call) Once(d *stream.Diagnosis, format string, args ...any) {
	if c.reported.isFirst(d) {
		c.Find(d, format, args...)
	}
}

// FindAt reports a finding about the byte of the arguments at the given offset.
func (c *Call) FindAt(offset int, d *stream.Diagnosis, format string, args ...any) {
	f := d.Finding(format, args...)
	f.Offset = offset
	c.Found(f)
}

// Found reports a finding whose message is already written.
func (c *Call) Found(f stream.Finding) {
	c.emit(stream.Event{Kind: stream.Found, What: &f})
}

func (c *Call) emit(e stream.Event) {
	if c.silent {
		return
	}
	e.Slot = c.Slot
	c.turn.emit(e)
}

// JoinSurrogates joins surrogate pairs that deltas have split. In the text, each half is three bytes long.
func JoinSurrogates(text []byte) []byte {
	if bytes.IndexByte(text, 0xed) < 0 {
		return text
	}
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if h := text[i:]; len(h) >= 6 && h[0] == 0xed && h[1]&0xf0 == 0xa0 && h[3] == 0xed && h[4]&0xf0 == 0xb0 {
			high, low := rune(h[1]&0x0f)<<6|rune(h[2]&0x3f), rune(h[4]&0x0f)<<6|rune(h[5]&0x3f)
			out = utf8.AppendRune(out, 0x10000+high<<10+low)
			i += 5
			continue
		}
		out = append(out, text[i])
	}
	return out
}

// Calls maps ids to the calls of an exchange, for protocols whose frames contain the id of the call.
type Calls map[string]*Call

// Ensure returns the call with the id in info. If the call is new, Ensure opens it in t. The name may arrive
// in a later frame than the id.
func (k Calls) Ensure(t *Turn, info stream.CallInfo) *Call {
	c := k[info.ID]
	if c == nil {
		if c = t.NextCall(info); !c.IsCounted() {
			c.Keep()
			k[info.ID] = c
		}
	} else if c.Name == "" && info.Name != "" {
		c.Meta(stream.CallInfo{Name: info.Name})
	}
	return c
}

// SealWhole makes the arguments final with their complete value, which is a JSON value or a string that
// contains one. It returns false if earlier deltas differ from the value. The call then keeps the deltas.
func (c *Call) SealWhole(whole json.Value) (same bool) {
	if c.Sealed {
		return !whole.IsPresent() || c.Matches(whole)
	}
	same = true
	switch {
	case !whole.IsPresent():
	case c.Bytes == 0:
		c.Args(whole)
	default:
		same = c.Matches(whole)
	}
	c.Seal()
	return same
}

// Clock converts the time of each frame to the time since the first frame, for Out.Stamp.
type Clock struct{ first time.Time }

// StampAt sets the time of the current frame from an RFC 3339 time, the format that JavaScript writes.
func (k *Clock) StampAt(o *Out, text json.Value) {
	var at time.Time
	if at.UnmarshalText(text.OrDefault(nil)) != nil {
		return
	}
	if k.first.IsZero() {
		k.first = at
	}
	o.Stamp(max(o.LastStamp(), at.Sub(k.first)))
}
