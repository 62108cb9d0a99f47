package stream

import (
	"slices"

	"toolscope/stream/count"
)

// RecordGap is found in a turn, and in each of its calls that may lack bytes. It is a warning, not an
// error: the response itself may be correct.
var RecordGap = &Diagnosis{
	Code: "RECORD_GAP", Severity: Warn, By: Toolscope,
	Meaning: "Bytes are missing: toolscope could not keep up, or a capture lacks them. The state of calls that were not final before the gap is unknown.",
	Advice:  "Record again if you need this call, and check what slowed toolscope down. This finding says nothing about the model or the provider.",
}

// applyGap applies missed bytes of the turn. Calls whose arguments were final before stay as they are;
// the state of all others is unknown from then on.
func (t *Turn) applyGap(e Event, n int) {
	t.keepBase()
	missed := PayloadOf[BytesMissed](e).Bytes
	t.Missed += max(0, missed)
	t.blind = t.blind || !t.closed
	if t.gaps++; t.gaps == 1 {
		t.reportFinding(RecordGap, n, "%s", e.Text)
	} else { // one finding for all gaps
		t.Findings = slices.Clone(t.Findings) // past sessions keep the old one
		i := slices.IndexFunc(t.Findings, func(f Finding) bool { return f.Diagnosis == RecordGap })
		t.Findings[i].SetMessage(Messagef("%s in %s were not recorded: the state of calls that were not final before them is unknown",
			Own(count.Of(t.Missed, "byte")), Own(count.Of(t.gaps, "place"))))
	}
	t.sendBroadcast(broadcastGap, AllChoices, func(c *Call) {
		if c.phase <= PhaseOpen {
			c.markUnseen(n, missed)
		}
		c.frozen = true
	})
}

// HasGap reports whether bytes of the turn were missed.
func (t *Turn) HasGap() bool { return t.gaps > 0 }

// markUnseen makes the call Unseen: it may lack bytes, so its state is unknown.
func (c *Call) markUnseen(event int, bytes int64) {
	c.phase, c.settled, c.frozen = PhaseUnseen, true, true
	c.lex.Close()
	where := "before the first byte of its arguments"
	if len(c.args.s) > 0 {
		where = "after " + count.Of(len(c.args.s), "byte") + " of its arguments"
	}
	c.reportOnce(RecordGap, event, "%s were missed %s: it is unknown whether the call is complete", Own(unseenBytes(bytes)), Own(where))
}

// openUnseen makes a call that begins after a gap Unseen: its apparent beginning may be its middle.
func (c *Call) openUnseen(event int, bytes int64) {
	c.phase, c.settled = PhaseUnseen, true
	c.reportOnce(RecordGap, event, "the call begins after %s that were missed: its real beginning may be among them", Own(unseenBytes(bytes)))
}

// unseenBytes formats a number of missed bytes. A gap of unknown size counts as one byte.
func unseenBytes(n int64) string {
	if n <= 1 {
		return "some bytes"
	}
	return count.Of(n, "byte")
}

// applyBehindGap handles an event about a call in a turn with missed bytes. A slot may belong to another
// call by now, so only calls that began after the gap take events. Their bytes are kept, but nothing is
// concluded from them.
func (s *Session) applyBehindGap(t *Turn, e Event, n int) {
	c, info := t.inSlot(e.Slot), PayloadOf[CallInfo](e)
	switch {
	case e.Kind == CallOpen, c == nil && e.Kind == Args && e.Text != "", c == nil && e.Kind == CallMeta && info.Name != "":
		c = newCall(len(t.Calls)+1, t.Number, e.Slot, info)
		c.OpenedAt, c.OpenedBy = e.At, int32(n)
		c.openUnseen(n, t.Missed)
		t.placeCall(c)
	case c == nil || c.frozen:
		return
	default:
		c = t.editCall(c)
	}
	t.markChanged(c)
	switch e.Kind {
	case CallOpen, CallMeta:
		c.updateInfo(info, n)
		t.updateLookups(c, info)
	case Args:
		c.appendDelta(e.Text, int32(n))
	}
}
