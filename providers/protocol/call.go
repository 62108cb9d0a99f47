package protocol

import (
	"bytes"
	"toolscope/stream"
	"unicode/utf8"
)

// A Call is one call of a Turn. It remembers what its decoder reported, so that the decoder need not.
type Call struct {
	Slot          int32
	ID, Name      string
	RunByProvider bool // the provider runs the call
	Bytes         int  // bytes of arguments so far
	LastByte      byte // last of those bytes, 0 before any
	Sealed        bool

	turn     *Turn
	silent   bool // see IsCounted
	reported reportedOnce
	null     bool // the arguments so far begin the word null
	keeps    bool
	kept     []byte
}

// Turn returns the turn of the call.
func (c *Call) Turn() *Turn { return c.turn }

// IsCounted reports whether the call is only counted, because its turn is full. It has no events, and
// decoders don't list it.
func (c *Call) IsCounted() bool { return c.silent }

// Keep makes the call keep its arguments, for Matches. Call it before any arguments come.
func (c *Call) Keep() { c.keeps = true }

// Matches reports whether whole equals the arguments so far: whole is the same JSON value, or a string
// that contains it. The call must keep its arguments.
func (c *Call) Matches(whole Raw) bool {
	came := JoinSurrogates(c.kept)
	return Same(came, whole) || whole.IsString() && Same(came, whole.Append(nil))
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
func (c *Call) Args(v Raw) { c.appendDelta(c.turn.out.holdText(v), nil) }

// ArgsText appends a delta that is already text. If the text was derived, from is its form on the wire;
// else nil.
func (c *Call) ArgsText(text, from []byte) { c.appendDelta(c.turn.out.text.StringOf(text), from) }

func (c *Call) appendDelta(text string, from []byte) {
	if text != "" {
		c.noteArgs(text)
		c.turn.thinking = false
	}
	c.emitArgs(stream.Args, text, from)
}

// noteArgs records a delta of the arguments.
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

// Rewrite replaces the arguments, for derived text that a later frame changes. from is as in ArgsText.
func (c *Call) Rewrite(text, from []byte) {
	c.Bytes, c.LastByte, c.null, c.kept = 0, 0, false, nil
	held := c.turn.out.text.StringOf(text)
	if held != "" {
		c.noteArgs(held)
	}
	c.emitArgs(stream.Rewrite, held, from)
}

func (c *Call) emitArgs(kind stream.EventKind, text string, from []byte) {
	c.emit(stream.Event{Kind: kind, Text: text, What: c.turn.out.originOf(from)})
}

// Seal reports that the arguments are final.
func (c *Call) Seal() {
	c.Sealed = true
	c.emit(stream.Event{Kind: stream.Seal})
}

// Reject reports that a check of the arguments refused the call, and why.
func (c *Call) Reject(why string) {
	c.Sealed = true
	c.emit(stream.Event{Kind: stream.Seal, Code: stream.SealRejected, Text: why})
}

// AddResult reports the result of the call, for protocols that place results at their calls.
// Turn.AddResult is for protocols that refer to calls by id.
func (c *Call) AddResult(failed bool) {
	c.emit(stream.Event{Kind: stream.CallResult, Code: answerCode(failed)})
}

// Find reports a finding about the call.
func (c *Call) Find(d *stream.Diagnosis, format string, args ...any) {
	c.Found(d.Finding(format, args...))
}

// Once is Find, but only for the first finding of d about the call.
func (c *Call) Once(d *stream.Diagnosis, format string, args ...any) {
	if c.reported.isFirst(d) {
		c.Find(d, format, args...)
	}
}

// FindAt reports a finding that points at a byte of the arguments.
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

// JoinSurrogates joins surrogate pairs that deltas have split. In text each half is three bytes long.
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
