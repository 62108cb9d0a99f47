package openairesponses

import (
	"bytes"
	"fmt"
	"strconv"

	"toolscope/providers/protocol"
)

// growingObject builds the object of a patch or shell call as text while one of its fields arrives in
// deltas: first everything before that field as announced, then the field. Each delta is a string, so
// the bytes between its quotes can be appended to the text unchanged. The final item has the exact
// bytes of the object.
type growingObject struct {
	object protocol.Raw // as announced, with the growing field empty
	begun  bool
	off    bool   // the order of parts can't be appended: only the final item counts
	inside bool   // a part is open
	next   int64  // number of the next part
	start  int    // start of the open part's text
	tail   []byte // text after the last part
}

// growingMember is a growing field: a text, or a list of texts.
type growingMember struct {
	name string
	path string // path in the item
	list bool
}

var (
	patchDiff     = growingMember{"diff", "operation.diff", false}
	shellCommands = growingMember{"commands", "action.commands", true}
)

func (d *decoder) readDiffDelta(it *item)    { it.partDelta(patchDiff, 0, d.ev.delta) }
func (d *decoder) readDiffDone(it *item)     { it.partDone(patchDiff, 0, d.ev.whole, d.eventName()) }
func (d *decoder) readCommandAdded(it *item) { it.partDelta(shellCommands, d.partNumber(), d.ev.whole) }
func (d *decoder) readCommandDelta(it *item) { it.partDelta(shellCommands, d.partNumber(), d.ev.delta) }
func (d *decoder) readCommandDone(it *item) {
	it.partDone(shellCommands, d.partNumber(), d.ev.whole, d.eventName())
}

// partNumber returns the number of a part. Some providers omit the number of the first.
func (d *decoder) partNumber() int64 {
	n, _ := d.ev.part.Int()
	return n
}

// partDelta reads a delta of part n of a growing field.
func (it *item) partDelta(m growingMember, n int64, delta protocol.Raw) {
	came := len(it.args)
	if delta.IsString() && it.openPart(m, n) {
		it.args = append(it.args, delta[1:len(delta)-1]...)
		it.call.ArgsText(it.args[came:], it.wireSource(m, n, delta))
		it.from = deltasCopy
	}
}

// openPart appends the text before part n, unless the part is open. It reports whether the part can
// grow.
func (it *item) openPart(m growingMember, n int64) bool {
	g := &it.grow
	switch {
	case g.off || it.done:
		return g.inside
	case g.inside && n == g.next:
		return true
	case g.inside || n != g.next:
		g.off, g.inside = true, false
		return false
	case g.begun:
		it.args = append(it.args, ',')
	default:
		var head []byte
		if head, g.tail, g.begun = m.splitObject(g.object); !g.begun {
			g.off = true
			return false
		}
		it.args = append(it.args, head...)
	}
	it.args = append(it.args, '"')
	g.inside, g.start = true, len(it.args)
	return true
}

// partDone reads the complete text of part n.
func (it *item) partDone(m growingMember, n int64, text protocol.Raw, from string) {
	g := &it.grow
	if !g.inside {
		it.partDelta(m, n, text)
	}
	if !g.inside || n != g.next {
		return
	}
	came := protocol.Raw(`"` + string(it.args[g.start:]) + `"`)
	if text.IsString() && !came.Is(text.Text()) {
		fixed := append(it.args[:g.start:g.start], text[1:len(text)-1]...)
		it.reportMismatch(fixed, from, false)
		it.args, it.from = fixed, from
		it.call.Rewrite(fixed, it.wireSource(m, n, text))
	}
	g.inside = false
	g.next++
	end := []byte{'"'}
	if !m.list {
		end, g.tail = append(end, g.tail...), nil
	}
	it.appendArguments(end, nil)
}

// closeText returns text with the rest of the announced object after it.
func (g *growingObject) closeText(text []byte) []byte {
	text = bytes.Clone(text)
	if g.inside {
		text = append(text, '"')
	}
	return append(text, g.tail...)
}

// wireSource returns the wire form of a delta of part n.
func (it *item) wireSource(m growingMember, n int64, delta protocol.Raw) []byte {
	buf := append(it.turn.buf[:0], m.path...)
	if m.list {
		buf = append(strconv.AppendInt(append(buf, '['), n, 10), ']')
	}
	it.turn.buf = append(append(buf, ' '), delta...)
	return it.turn.buf
}

// splitObject splits an object where the field grows: at the field, or after all others if it was not
// announced. ok is false if the field is not empty.
func (m growingMember) splitObject(object protocol.Raw) (head, tail []byte, ok bool) {
	value := object.Get(m.name)
	if value != nil {
		at := cap(object) - cap(value) // both are of the same bytes
		head, tail = object[:at:at], object[at+len(value):]
	} else if s := object.Scan(); s.Object() {
		head = fmt.Appendf(bytes.TrimRight(object[:len(object)-1:len(object)-1], " \t\r\n"), `,"%s":`, m.name)
		tail = []byte{'}'}
	} else {
		head, tail = fmt.Appendf(nil, `{"%s":`, m.name), []byte{'}'}
	}
	if !m.list {
		return head, tail, value == nil || value.Empty()
	}
	s := value.Scan()
	return append(head, '['), append([]byte{']'}, tail...), value == nil || s.Kind() == '[' && !s.Array()
}
