package protocol

import "toolscope/stream"

// A Call is one call of a Turn, as its decoder tells of it. It remembers what was told, so that the
// decoder need not.
type Call struct {
	Slot          int32
	ID, Name      string
	RunByProvider bool // the provider runs it
	Bytes         int  // how many bytes of arguments came
	LastByte      byte // the last of those bytes, 0 before any
	Sealed        bool

	turn     *Turn
	reported reportedOnce
	null     bool // the arguments are the word null, as far as they came
	keeps    bool
	kept     []byte
}

// Turn is the turn the call is of.
func (c *Call) Turn() *Turn { return c.turn }

// Keep has the call keep its arguments, for Matches. It is called before any came.
func (c *Call) Keep() { c.keeps = true }

// Matches reports whether whole is what came of the arguments, in a call that keeps them: the same
// JSON value, or a string that holds a JSON text of it.
func (c *Call) Matches(whole Raw) bool {
	came := JoinSurrogates(c.kept)
	return Same(came, whole) || whole.IsString() && Same(came, whole.Append(nil))
}

// Meta tells news of the call.
func (c *Call) Meta(news stream.CallInfo) {
	if news.ID != "" {
		c.ID = news.ID
	}
	if news.Name != "" {
		c.Name = news.Name
	}
	c.emit(stream.Event{Kind: stream.CallMeta, What: &news})
}

// Args appends a delta: the content of a string, the bytes of any other value. A value that is null
// or not there is an empty delta.
func (c *Call) Args(v Raw) { c.appendDelta(c.turn.out.holdText(v), nil) }

// ArgsText appends a delta that is text already. from is the wire's own form of it, where the text
// was derived, or nil.
func (c *Call) ArgsText(text, from []byte) { c.appendDelta(c.turn.out.text.StringOf(text), from) }

func (c *Call) appendDelta(text string, from []byte) {
	if text != "" {
		c.noteArgs(text)
		c.turn.thinking = false
	}
	c.emitArgs(stream.Args, text, from)
}

// noteArgs notes what came of the arguments.
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

// IsNull reports whether the arguments that came are the word null, in one piece or several.
func (c *Call) IsNull() bool { return c.null && c.Bytes == len(null) }

// Rewrite replaces the arguments, where news changed what was derived before. from is as in
// ArgsText.
func (c *Call) Rewrite(text, from []byte) {
	c.Bytes, c.LastByte, c.null, c.kept = 0, 0, false, nil
	held := c.turn.out.text.StringOf(text)
	if held != "" {
		c.noteArgs(held)
	}
	c.emitArgs(stream.Rewrite, held, from)
}

func (c *Call) emitArgs(kind stream.EventKind, text string, from []byte) {
	c.turn.out.emit(stream.Event{Kind: kind, Turn: c.turn.number, Slot: c.Slot, Text: text, What: c.turn.out.originOf(from)})
}

// Seal says that the arguments can change no more.
func (c *Call) Seal() {
	c.Sealed = true
	c.emit(stream.Event{Kind: stream.Seal})
}

// Reject says that whoever checks the arguments refuses the call, and why.
func (c *Call) Reject(why string) {
	c.Sealed = true
	c.emit(stream.Event{Kind: stream.Seal, Code: stream.SealRejected, Text: why})
}

// AddResult tells that the call has its result, where the wire knows the call by its place.
// Turn.Answer is for a wire that has ids.
func (c *Call) AddResult(failed bool) {
	c.emit(stream.Event{Kind: stream.CallResult, Code: answerCode(failed)})
}

// Find makes a finding about the call.
func (c *Call) Find(d *stream.Diagnosis, format string, args ...any) {
	c.Found(d.Finding(format, args...))
}

// Once is Find, but only the first time d is found of the call.
func (c *Call) Once(d *stream.Diagnosis, format string, args ...any) {
	if c.reported.isFirst(d) {
		c.Find(d, format, args...)
	}
}

// FindAt makes a finding that points at a byte of the arguments.
func (c *Call) FindAt(offset int, d *stream.Diagnosis, format string, args ...any) {
	f := d.Finding(format, args...)
	f.Offset = offset
	c.Found(f)
}

// Found makes a finding that was worded before.
func (c *Call) Found(f stream.Finding) {
	c.emit(stream.Event{Kind: stream.Found, What: &f})
}

func (c *Call) emit(e stream.Event) {
	e.Slot = c.Slot
	c.turn.emit(e)
}
