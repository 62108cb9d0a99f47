package panes

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream/json"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// RemovedSpans returns the spans of a call's arguments that are not sent. It returns nil if they are unknown
// because toolscope missed bytes of the call.
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

// DiffSpans compares the arguments that the model wrote with the arguments that were sent. It returns the
// written spans that were not sent, and the sent spans that the model did not write.
func DiffSpans(wrote, sent []byte, form protocol.ArgsForm) (gone, added []Span) {
	c := &replay.Sent{Original: wrote, Args: sent, Form: form}
	return RemovedSpans(c), addedSpans(c)
}

// addedSpans returns the sent bytes of a call's arguments that the model did not write. It returns nil if no
// arguments are sent.
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

// isReplacedByEmpty reports whether {} replaces the arguments. In that case, the opening brace that both texts share
// does not count as kept.
func isReplacedByEmpty(c *replay.Sent) bool {
	return json.Value(c.Args).EmptyObject() && !json.Value(bytes.TrimSpace(c.Original)).EmptyObject()
}

// editsOf returns the edits that turn the written arguments into the sent arguments. It leaves out the common
// start and end of tokens that differ. If a string was cut off and then closed, only the quotation mark is an
// edit.
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
		for n > 0 && json.TrailingBackslashes(old[:len(old)-n]) > 0 { // an escape is not split
			n--
		}
		e.End, e.To = e.End-n, e.To[:len(e.To)-n]
	}
	return edits
}

// completeUnits returns n, or less if n would split a character or an escape.
func completeUnits(b []byte, n int) int {
	for n > 0 && n < len(b) && !utf8.RuneStart(b[n]) {
		n--
	}
	if n < len(b) {
		n = json.CompleteEscapes(b[:n])
	}
	return n
}

// stringSpan returns the span of a string's content in the sent bytes, if that string contains the complete
// arguments. The result held reports whether it does.
func stringSpan(c *replay.Sent) (inner Span, held bool) {
	if len(c.Original) == 0 || len(c.Args) <= len(c.Original) {
		return Span{}, false
	}
	text := json.AppendQuoted(nil, c.Original)
	at := bytes.Index(c.Args, text)
	return Span{at + 1, at + len(text) - 1}, at >= 0
}

// ArgsPlace is the position of a call's arguments in the messages that would be sent.
type ArgsPlace struct {
	Call            int // number of the call in the replay
	Message, Offset int
	Marks           []Span // spans in the message that the model did not write
	length          int
}

// maxUnfound is the maximum number of calls whose arguments are not found before the search stops. Some protocols
// send arguments in another form, for example as arrays.
const maxUnfound = 3

// FindArgs finds the arguments of calls in the messages that would be sent. It also counts the argument bytes
// that the model did not write.
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

// findNext finds a call's arguments after the place of another call. The arguments follow the tool's name,
// under any key. For Gemini, some clients write them before the name. The second result is false if the
// arguments are not found.
func (a ArgsPlace) findNext(body [][]byte, c *replay.Sent) (ArgsPlace, bool) {
	args := c.Args
	if c.Form == protocol.TextForm {
		args = json.AppendQuoted(nil, args)
	}
	name := json.AppendQuoted(nil, []byte(c.Name))
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

// writtenSpans maps spans of a call's arguments to spans of their text in the message.
func writtenSpans(c *replay.Sent, spans []Span) (out []Span) {
	if c.Form != protocol.TextForm {
		return spans
	}
	from, at := 0, 1 // after the opening quotation mark
	var buf []byte
	until := func(n int) int {
		buf = json.AppendQuoted(buf[:0], c.Args[from:n])
		from, at = n, at+len(buf)-2
		return at
	}
	for _, s := range spans {
		start := until(s.Start)
		out = append(out, Span{start, until(s.End)})
	}
	return out
}

// LossNote is a row about a loss.
type LossNote struct {
	Role screen.Role
	Text display.Text
}

// lossSigns are the signs of losses, the same as for findings.
var lossSigns = [...]string{replay.Info: "i", replay.Low: "i", replay.Medium: "!", replay.High: "!!", replay.Critical: "!!"}

// maxNotes limits how many losses are shown. A long conversation may have one for each call.
const maxNotes = 200

// LossNotes returns rows about refusals and losses. Refusals come first. The losses are sorted by severity, the worst
// first, each with a sign in the gutter. If codes is set, the code of a loss follows its words.
func LossNotes(p *replay.Preview, s replay.Scope, width int, codes bool, draw display.Drawer) (notes []LossNote) {
	add := func(r screen.Role, sign string, text display.Text) {
		for i, line := range display.Wrap(text, max(width-5, 8)) {
			if i > 0 {
				sign = ""
			}
			notes = append(notes, LossNote{r, draw.Format("%-3s%s", sign, line)})
		}
	}
	if p.Refused != "" {
		who := "the client fails"
		if p.Acceptance.Verdict == replay.Refused {
			who = p.Acceptance.String()
		}
		add(screen.Bad, "!!", draw.Format("%s: %s", who, draw.Clean(screen.ShortName(p.Refused))))
	}
	switch {
	case p.Outcome == replay.Unknown:
	case p.Body == nil && p.Results == nil:
		add(screen.Plain, "", display.Lit("nothing is sent"))
	}
	for i := range p.Calls {
		c := &p.Calls[i]
		if c.Encoded == "" || i == maxNotes {
			continue
		}
		text := display.Text{}
		if s != replay.OneCall {
			text = draw.Format("call %d: ", c.Call)
		}
		add(screen.Caution, "!", display.Join(text, draw.Clean(c.Encoded)))
	}
	losses := slices.Clone(p.Losses)
	slices.SortStableFunc(losses, func(a, b replay.Loss) int { return cmp.Compare(b.Severity, a.Severity) })
	for i, l := range losses {
		if i == maxNotes {
			add(screen.Muted, "", screen.Count(len(losses)-i).Between("and ", " more"))
			break
		}
		text := draw.Clean(cmp.Or(l.Message, l.Code))
		if s != replay.OneCall && l.Call > 0 {
			text = display.Join(draw.Format("call %d: ", l.Call), text)
		}
		if codes && l.Message != "" {
			text = display.Join(text, draw.Clean(l.Code).Between("  ", ""))
		}
		add(screen.LossRoles[l.Severity], lossSigns[l.Severity], text)
	}
	if len(notes) == 0 {
		add(screen.Muted, "", display.Lit("nothing is lost"))
	}
	return notes
}

// DrawLossNotes draws row y of the notes. The parameter room is the number of available rows. If there are more
// notes, the last row shows how many more, and where to see them.
func DrawLossNotes(p *screen.Pen, notes []LossNote, y, room int, where display.Text) {
	switch {
	case y >= len(notes) || y >= room:
	case y == room-1 && len(notes) > room:
		p.Text(screen.Muted, p.Format("   +%s%s", screen.Plural(len(notes)-y, "line"), where))
	default:
		p.TextOn(notes[y].Role, screen.Bare, notes[y].Text)
	}
}
