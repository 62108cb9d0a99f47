package protocol

import "toolscope/stream"

// A Turn is one model response, as its decoder tells of it. A nil *Turn stands for none yet: it is
// not open, and End and Cut do nothing.
type Turn struct {
	ID, Model string // as Open and Learn told them

	out      *Out
	number   int32
	open     bool
	reported reportedOnce
	calls    map[int32]*Call
	latest   *Call           // the one that CallIn, Call or OpenCall returned last
	client   int             // how many calls are for the client to run
	lost     bool            // a call was used that was never opened
	leak     *textCallFinder // looks for calls in the answer, if it is not nil

	thinking bool  // the latest text is reasoning that is not signed yet
	block    int32 // the block it is in
}

// IsOpen reports whether the turn began and was not ended.
func (t *Turn) IsOpen() bool { return t != nil && t.open }

// Number is the turn's number within its exchange, stream.NoTurn of a nil Turn.
func (t *Turn) Number() int32 {
	if t == nil {
		return stream.NoTurn
	}
	return t.number
}

// Update tells news of the turn.
func (t *Turn) Update(news stream.Opening) {
	t.emit(stream.Event{Kind: stream.TurnMeta, What: &news})
}

// UpdateIDs takes an id and a model from a frame that may repeat them, and tells only what was not
// known.
func (t *Turn) UpdateIDs(id, model Raw) {
	news := false
	for _, f := range [...]struct {
		known *string
		said  Raw
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

// Unknown tells of a part of the turn whose type, what, this version does not know.
func (t *Turn) Unknown(what string) { t.emit(stream.Event{Kind: stream.Unknown, Text: what}) }

// WatchText has Text look for calls in the answer. Hosts of open models parse calls out of text,
// and a call that their parser misses stays there.
func (t *Turn) WatchText() { t.leak = new(textCallFinder) }

// AppendText appends the content of a string to the answer.
func (t *Turn) AppendText(v Raw) {
	if !v.HasText() {
		return
	}
	text := t.out.holdText(v)
	if t.leak != nil && t.leak.showsCall(text) {
		t.Once(TextToolCall, "a tool call leaked into the text: the host's parser missed it")
	}
	t.emit(stream.Event{Kind: stream.TextDelta, Text: text})
	t.thinking = false
}

// AppendReasoning appends the content of a string to the reasoning. block numbers the block of reasoning it
// is in.
func (t *Turn) AppendReasoning(block int32, v Raw) {
	if v.HasText() {
		t.emit(stream.Event{Kind: stream.ThinkDelta, Text: t.out.holdText(v)})
		t.thinking, t.block = true, block
	}
}

// AddSignature takes the signature of a block of reasoning, which may be one that is not shown.
func (t *Turn) AddSignature(block int32, signature Raw) {
	if !signature.HasText() {
		return
	}
	t.BeginThinking(block)
	t.SignLast(signature, "", stream.SignedShown)
}

// BeginThinking says that what comes next is of a block of reasoning, even if none of that is
// shown.
func (t *Turn) BeginThinking(block int32) {
	if !t.thinking || t.block != block {
		t.emit(stream.Event{Kind: stream.ThinkDelta})
		t.thinking, t.block = true, block
	}
}

// SignLast takes the signature of what came last. With stream.SignedHidden it is all there is of some
// reasoning. item is the id of the item that it stands in, or "".
func (t *Turn) SignLast(signature Raw, item string, code stream.Code) {
	if !signature.HasText() {
		return
	}
	e := stream.Event{Kind: stream.Signed, Code: code, Text: signature.Text()}
	if item != "" {
		e.What = &stream.Signature{Item: item}
	}
	t.emit(e)
	t.thinking = false
}

// Part takes a part of Google's protocols that is text or a thought, or nothing but a signature.
// The signature of a thought may come in an empty part behind it. After a text such a part is kept
// apart: Google wants signed parts back as they were, not merged with others ("Thought signatures"
// at ai.google.dev).
func (t *Turn) Part(text, signature Raw, thought bool) {
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

// EndThinking says that something came that is neither text nor reasoning.
func (t *Turn) EndThinking() { t.thinking = false }

// Usage tells what the turn has cost so far.
func (t *Turn) Usage(u stream.Usage) {
	t.emit(stream.Event{Kind: stream.UsageEvent, What: &u})
}

// Finish tells why the turn ended, in the provider's own word.
func (t *Turn) Finish(word string, code stream.Code) {
	t.FinishChoice(stream.AllChoices, word, "", code)
}

// FinishChoice tells why one choice ended; means is what the word stands for, if that is a number.
func (t *Turn) FinishChoice(choice int32, word, means string, code stream.Code) {
	e := stream.Event{Kind: stream.Finish, Slot: choice, Text: word, Code: code}
	if means != "" {
		e.What = &stream.FinishMeaning{Text: means}
	}
	t.emit(e)
}

// FinishReasons are the words of a protocol that say why a turn ended.
type FinishReasons struct {
	What        string // what the words are called: a "stop reason"
	Calls, Done string // of a turn that waits for results of its calls, and of one that does not
	Codes       map[string]stream.Code
}

// FinishAndCheck is Finish, in a protocol whose word tells whether calls are to be run. It checks that
// against the calls that came, and returns the word's code.
func (t *Turn) FinishAndCheck(word string, of *FinishReasons) stream.Code {
	code := of.Codes[word]
	t.Finish(word, code)
	t.CheckStop(word, of)
	return code
}

// CheckStop checks the word of a turn that finished against the calls that came.
func (t *Turn) CheckStop(word string, of *FinishReasons) {
	_, known := of.Codes[word]
	switch {
	case !known:
		t.Find(FinishUnknown, "%s %q is not documented", of.What, word)
	case word == of.Calls && t.client == 0 && !t.lost:
		t.Find(FinishWithoutCall, "the %s is %s, but no call came: it was dropped on the way", of.What, word)
	case word == of.Done && t.client > 0:
		t.Find(FinishStop, "the %s is %s although calls came: clients that wait for %s never run them", of.What, word, of.Calls)
	}
}

// HasClientCalls reports whether a call came that is for the client to run.
func (t *Turn) HasClientCalls() bool { return t.client > 0 }

// Fail tells an error that the provider reports: its code or type, and its message.
func (t *Turn) Fail(id, message string) {
	t.emit(stream.Event{Kind: stream.Failure, Text: message, What: &stream.FailureInfo{Code: id}})
}

// AddResult tells the result of a call that has an id, or of tool name where the wire gives none.
func (t *Turn) AddResult(id, name string, failed bool) {
	t.emit(stream.Event{Kind: stream.CallResult, Slot: stream.NoSlot, Code: answerCode(failed), What: &stream.ResultFor{ID: id, Name: name}})
}

// AddResultContent is Answer for a call that has an id, with what its tool gave.
func (t *Turn) AddResultContent(id string, failed bool, content Raw) {
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

// Find makes a finding about the turn.
func (t *Turn) Find(d *stream.Diagnosis, format string, args ...any) {
	t.out.emitFinding(t.number, d, format, args)
}

// Once is Find, but only the first time d is found of the turn.
func (t *Turn) Once(d *stream.Diagnosis, format string, args ...any) {
	if t.reported.isFirst(d) {
		t.Find(d, format, args...)
	}
}

// OpenCall begins a call in a slot: Call finds it by that.
func (t *Turn) OpenCall(slot int32, info stream.CallInfo) *Call {
	c := t.newCall(slot)
	c.ID, c.Name, c.RunByProvider = info.ID, info.Name, info.RunByProvider
	if !info.RunByProvider {
		t.client++
	}
	c.emit(stream.Event{Kind: stream.CallOpen, What: &info})
	return c
}

// NextCall is OpenCall in the next slot, for a protocol that does not number its calls.
func (t *Turn) NextCall(info stream.CallInfo) *Call {
	return t.OpenCall(int32(len(t.calls)), info)
}

// Call is the latest call of a slot, never nil. If none was opened there it is a call that nothing
// announced, and the session reports that.
func (t *Turn) Call(slot int32) *Call {
	c := t.FindCall(slot)
	if c == nil {
		c = t.newCall(slot)
		t.lost = true
	}
	return c
}

// FindCall is the latest call of a slot, nil if there is none.
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

func (t *Turn) newCall(slot int32) *Call {
	c := &Call{turn: t, Slot: slot}
	if t.calls == nil {
		t.calls = map[int32]*Call{}
	}
	t.calls[slot], t.latest = c, c
	return c
}

// End ends the turn as its protocol does. It does nothing to a turn that is not open.
func (t *Turn) End() { t.close(stream.CloseEnd, "") }

// Cut ends a turn without its terminator: missing says what did not come. It does nothing to a turn
// that is not open.
func (t *Turn) Cut(missing string) { t.close(stream.CloseCut, missing) }

func (t *Turn) close(code stream.Code, missing string) {
	if t.IsOpen() {
		t.open = false
		t.out.removeTurn(t)
		t.emit(stream.Event{Kind: stream.TurnClose, Code: code, Text: missing})
		t.calls, t.latest = nil, nil
	}
}

func (t *Turn) emit(e stream.Event) {
	e.Turn = t.number
	t.out.emit(e)
}

// reportedOnce are the findings that Once has made.
type reportedOnce []*stream.Diagnosis

// isFirst reports whether d is new, and notes it.
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
