package stream

import (
	"fmt"
	"slices"

	"toolscope/stream/count"
)

// RecordGap is found of a turn, and of each of its calls that bytes may be missing from. It is a
// warning, not an error: the response itself may be as it should be.
var RecordGap = &Diagnosis{
	Code: "RECORD_GAP", Severity: Warn, By: Toolscope,
	Meaning: "Toolscope could not keep up, or a recording lacks bytes: they passed unseen, and what was not sealed before them is not known.",
	Advice:  "Record again if this call matters, and see what held toolscope up; nothing is said of the model or the provider.",
}

// applyGap says that bytes of the turn were not seen. Calls that were sealed before them stay as they
// are; of all others nothing can be said any more.
func (t *Turn) applyGap(e Event, n int) {
	t.keepBase()
	missed := PayloadOf[BytesMissed](e).Bytes
	t.Missed += max(0, missed)
	t.blind = t.blind || !t.closed
	if t.gaps++; t.gaps == 1 {
		t.reportFinding(RecordGap, n, "%s", e.Text)
	} else { // one finding, however many gaps
		t.Findings = slices.Clone(t.Findings) // the past has it as it was
		i := slices.IndexFunc(t.Findings, func(f Finding) bool { return f.Diagnosis == RecordGap })
		t.Findings[i].Message = fmt.Sprintf("%s, in %s, passed and were not recorded: of what was not sealed before them nothing is known", count.Of(t.Missed, "byte"), count.Of(t.gaps, "place"))
	}
	t.sendBroadcast(broadcastGap, AllChoices, func(c *Call) {
		if c.phase <= PhaseOpen {
			c.markUnseen(n, missed)
		}
		c.frozen = true
	})
}

// HasGap reports whether bytes of the turn were not seen.
func (t *Turn) HasGap() bool { return t.gaps > 0 }

// markUnseen makes the call Unseen: bytes of it may be missing, so nothing can be said of it.
func (c *Call) markUnseen(event int, bytes int64) {
	c.phase, c.settled, c.frozen = PhaseUnseen, true, true
	c.lex.Close()
	where := "before the first byte of its arguments"
	if len(c.args.s) > 0 {
		where = "after " + count.Of(len(c.args.s), "byte") + " of its arguments"
	}
	c.reportOnce(RecordGap, event, "%s were not seen, %s: whether it is whole is not known", unseenBytes(bytes), where)
}

// openUnseen makes a call that begins behind a gap Unseen: what looks like its beginning may be its
// middle.
func (c *Call) openUnseen(event int, bytes int64) {
	c.phase, c.settled = PhaseUnseen, true
	c.reportOnce(RecordGap, event, "it begins behind %s that were not seen: it may have begun in them", unseenBytes(bytes))
}

// unseenBytes is how many bytes, in words. Where nobody knows how many a gap has, it has one.
func unseenBytes(n int64) string {
	if n <= 1 {
		return "some bytes"
	}
	return count.Of(n, "byte")
}

// applyBehindGap handles an event about a call in a turn of which bytes were not seen. A slot may
// belong to another call by now, so only calls that began behind the gap take anything. Their bytes
// are kept, and nothing is concluded from them.
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
