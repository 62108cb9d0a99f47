package panes

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream/jsonbytes"
)

// RemovedSpans are the bytes of a call's arguments that have no place in what is sent. Of a call that
// was not seen whole, nobody knows them.
func RemovedSpans(c *replay.Sent) (gone []Span) {
	if c.Outcome == replay.Unknown {
		return nil
	}
	if len(c.Original) > 0 && (c.Args == nil || isReplacedByEmpty(c)) {
		return []Span{{0, len(c.Original)}}
	}
	if _, held := stringSpan(c); held || c.Args == nil {
		return nil
	}
	for _, e := range editsOf(c) {
		if e.End > e.Start {
			gone = append(gone, Span{e.Start, e.End})
		}
	}
	return gone
}

// DiffSpans are the bytes of what the model wrote that have no place in what was sent instead, and
// of that those that the model did not write.
func DiffSpans(wrote, sent []byte, form protocol.ArgsForm) (gone, added []Span) {
	c := &replay.Sent{Original: wrote, Args: sent, Form: form}
	return RemovedSpans(c), addedSpans(c)
}

// addedSpans are the bytes of what is sent of a call's arguments that the model did not write.
func addedSpans(c *replay.Sent) (added []Span) {
	if c.Args == nil {
		return nil
	}
	if isReplacedByEmpty(c) {
		return []Span{{0, len(c.Args)}}
	}
	if inner, held := stringSpan(c); held {
		return []Span{{0, inner.Start}, {inner.End, len(c.Args)}}
	}
	moved := 0
	for _, e := range editsOf(c) {
		start := e.Start + moved
		if len(e.To) > 0 {
			added = append(added, Span{start, start + len(e.To)})
		}
		moved += len(e.To) - (e.End - e.Start)
	}
	return added
}

// isReplacedByEmpty reports whether {} stands in place of what the model wrote. That both begin with a brace
// is then no likeness.
func isReplacedByEmpty(c *replay.Sent) bool {
	return protocol.Raw(c.Args).EmptyObject() && !protocol.Raw(bytes.TrimSpace(c.Original)).EmptyObject()
}

// editsOf is what differs between what the model wrote and what is sent, without what tokens that
// differ begin and end with alike: a string that was cut and is closed is the same but for its
// quote.
func editsOf(c *replay.Sent) []replay.Edit {
	edits := replay.Diff(c.Original, c.Args)
	for i := range edits {
		e := &edits[i]
		old := c.Original[e.Start:e.End]
		n := 0
		for n < min(len(old), len(e.To)) && old[n] == e.To[n] {
			n++
		}
		n = completeUnits(old, n)
		e.Start, e.To, old = e.Start+n, e.To[n:], old[n:]
		n = 0
		for n < min(len(old), len(e.To)) && old[len(old)-1-n] == e.To[len(e.To)-1-n] && old[len(old)-1-n] < utf8.RuneSelf {
			n++
		}
		for n > 0 && jsonbytes.TrailingBackslashes(old[:len(old)-n]) > 0 { // an escape is not split
			n--
		}
		e.End, e.To = e.End-n, e.To[:len(e.To)-n]
	}
	return edits
}

// completeUnits is n, or less where that would split a character or an escape.
func completeUnits(b []byte, n int) int {
	for n > 0 && n < len(b) && !utf8.RuneStart(b[n]) {
		n--
	}
	if n < len(b) {
		n = jsonbytes.CompleteEscapes(b[:n])
	}
	return n
}

// stringSpan is where in what is sent all that the model wrote stands, as the text of a string.
func stringSpan(c *replay.Sent) (inner Span, held bool) {
	if len(c.Original) == 0 || len(c.Args) <= len(c.Original) {
		return Span{}, false
	}
	text := protocol.AppendString(nil, c.Original)
	at := bytes.Index(c.Args, text)
	return Span{at + 1, at + len(text) - 1}, at >= 0
}

// ArgsPlace is where a call's arguments stand in what would be sent.
type ArgsPlace struct {
	Call            int // as replay numbers it
	Message, Offset int
	Marks           []Span // in the message: what the model did not write
	length          int
}

// maxUnfound is after how many calls that are not found no more are looked for: in arrays, for
// one, arguments stand as something else.
const maxUnfound = 3

// FindArgs finds the arguments of calls in what would be sent, and says how many of their bytes the
// model did not write.
func FindArgs(body [][]byte, calls []replay.Sent) (found []ArgsPlace, added int) {
	at, unfound := ArgsPlace{}, 0
	for i := range calls {
		c := &calls[i]
		if c.Args == nil || unfound == maxUnfound {
			continue
		}
		next, ok := at.findNext(body, c)
		if !ok {
			unfound++
			continue
		}
		spans := addedSpans(c)
		for _, s := range spans {
			added += s.End - s.Start
		}
		for _, s := range writtenSpans(c, spans) {
			next.Marks = append(next.Marks, Span{next.Offset + s.Start, next.Offset + s.End})
		}
		found, at = append(found, next), next
	}
	return found, added
}

// findNext looks for a call's arguments after another's. They stand after the tool's name, whatever
// they are called there; some clients write them before it toward Gemini.
func (a ArgsPlace) findNext(body [][]byte, c *replay.Sent) (ArgsPlace, bool) {
	args := c.Args
	if c.Form == protocol.TextForm {
		args = protocol.AppendString(nil, args)
	}
	name := protocol.AppendString(nil, []byte(c.Name))
	for i := a.Message; i < len(body); i++ {
		start := 0
		if i == a.Message {
			start = a.Offset + a.length
		}
		n := bytes.Index(body[i][start:], name)
		if n < 0 {
			continue
		}
		if before := bytes.Index(body[i][start:start+n], slices.Concat([]byte(`"args":`), args, []byte(`,"name":`))); before >= 0 {
			return ArgsPlace{Call: c.Call, Message: i, Offset: start + before + len(`"args":`), length: len(args)}, true
		}
		start += n + len(name)
		if n = bytes.Index(body[i][start:], args); n >= 0 {
			return ArgsPlace{Call: c.Call, Message: i, Offset: start + n, length: len(args)}, true
		}
	}
	return ArgsPlace{}, false
}

// writtenSpans is where spans of a call's arguments are in the form they are written in.
func writtenSpans(c *replay.Sent, spans []Span) (out []Span) {
	if c.Form != protocol.TextForm {
		return spans
	}
	from, at := 0, 1 // after the quote
	var buf []byte
	until := func(n int) int {
		buf = protocol.AppendString(buf[:0], c.Args[from:n])
		from, at = n, at+len(buf)-2
		return at
	}
	for _, s := range spans {
		start := until(s.Start)
		out = append(out, Span{start, until(s.End)})
	}
	return out
}
