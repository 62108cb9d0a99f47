package ollama

import (
	"bytes"
	"time"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// decoder reads one exchange, which may have several responses. Between responses, turn is the latest turn.
type decoder struct {
	*protocol.Out
	line *line
	turn *protocol.Turn

	first time.Time // the first time stamp in a line
	lines int       // number of lines of the open turn
	last  []byte    // the last line of the latest turn that had several lines
}

// Frame reads one line.
func (d *decoder) Frame(f stream.Frame) error {
	d.Stamp(stream.NoTime)
	l := d.line
	if err := l.shape.Read(f.Data); err != nil {
		return err
	}
	if !d.turn.IsOpen() && len(d.last) > 0 && bytes.Equal(f.Data, d.last) {
		d.Heartbeat() // the last line arrived again
		return nil
	}
	d.readTimestamp(l.created)
	done := l.done.IsTrue()
	switch {
	case protocol.IsError(l.err):
		t, message := d.ensureTurn(), l.err.Text()
		if message == "" {
			_, message = protocol.ErrorOf(l.err)
		}
		t.Fail("", message)
		t.Cut("an error ended the response")
	case l.message.Kind() != '{' && !l.response.IsString() && l.calls.Kind() != '[' && !done:
		d.Unknown("a line without a response")
	default:
		t := d.ensureTurn()
		t.AppendReasoning(0, l.thinking)
		t.AppendText(l.content)
		t.AppendText(l.response)
		for call := range l.calls.Elements() {
			var w protocol.FunctionCall
			w.Read(call)
			reportCall(t, &w)
		}
		if done {
			d.endTurn(t)
		}
	}
	d.countLine(f.Data)
	return nil
}

// Close ends the stream. A turn without "done":true is cut off.
func (d *decoder) Close() { d.turn.Cut(`the lines ended without "done":true`) }

// readTimestamp sets the frame's time to the time between the creation of the first line and that of this line.
func (d *decoder) readTimestamp(created json.Value) {
	var made time.Time
	if made.UnmarshalText(created.OrDefault(nil)) != nil {
		return
	}
	if d.first.IsZero() {
		d.first = made
	}
	d.Stamp(max(0, made.Sub(d.first)))
}

// countLine counts the lines of a turn. If a turn had several lines, countLine keeps its last line.
func (d *decoder) countLine(line []byte) {
	switch d.lines++; {
	case d.turn.IsOpen():
		return
	case d.lines > 1:
		d.last = append(d.last[:0], line...)
	}
	d.lines = 0
}

// ensureTurn returns the open turn. If there is none, it opens a turn.
func (d *decoder) ensureTurn() *protocol.Turn {
	if !d.turn.IsOpen() {
		d.turn = d.Open(stream.Opening{Model: d.line.model.Text()})
	}
	return d.turn
}

// reportCall reports a call, which is always complete in its line.
func reportCall(t *protocol.Turn, w *protocol.FunctionCall) {
	c := t.NextCall(stream.CallInfo{ID: w.ID.Text(), Name: w.Name.Text(), Kind: "function"})
	if c.ID == "" {
		c.Find(protocol.IDMissing.WithSeverity(stream.Info).WithCause(stream.Provider),
			"the call has no id, as in old versions: Ollama matches a result to its call by the tool's name or by the result's position")
	}
	switch {
	case w.Args == nil:
		c.Find(protocol.ArgsMissing, "the call has no arguments field: toolscope uses {} instead")
	case !w.Args.IsPresent():
		c.Find(protocol.ArgsNull, "the arguments are null: toolscope uses {} instead")
	default:
		if w.Args.IsString() {
			c.Find(protocol.ArgsString, "the arguments are a string, not an object: Ollama's own clients fail on a string")
		}
		c.Args(w.Args)
	}
	c.Seal()
}

// endTurn reads the last line of a response. prompt_eval_count includes the cached tokens.
func (d *decoder) endTurn(t *protocol.Turn) {
	l := d.line
	u := stream.Usage{Input: protocol.CountOf(l.promptCount), CacheRead: protocol.CountOf(l.cachedCount), Output: protocol.CountOf(l.outCount)}
	if u != (stream.Usage{}) {
		t.Usage(u)
	}
	if reason := l.doneReason.Text(); reason != "" { // old versions send no reason
		code, known := finishCodes.Of(reason)
		t.Finish(reason, code)
		if !known {
			t.Find(protocol.FinishUnknown, "done reason %q is not documented", stream.Fact(reason))
		}
	}
	t.End()
}
