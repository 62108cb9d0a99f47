package openairesponses

import (
	"bytes"
	"fmt"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// growing is how the object of a patch or shell call becomes text while one of
// its members still comes in deltas: everything before that member as it was
// announced, then the member. Each delta is a string of its own, so what it has
// between its quotes can stand in the object's text as it is. The item that is
// done has the object's exact bytes.
type growing struct {
	object dialect.Raw // as announced, the growing member empty
	begun  bool
	off    bool  // parts come in no order that can be appended: the item has to tell
	inside bool  // a part is open
	next   int64 // number of the next part
	start  int   // where the open part's text begins
	list   bool  // the member is a list of texts
	tail   []byte
}

// member is a growing member: a text, or a list of them.
type member struct {
	name string
	path string // in the item
	list bool
}

var (
	patchDiff     = member{"diff", "operation.diff", false}
	shellCommands = member{"commands", "action.commands", true}
)

// partDelta takes a delta of part n of a growing member.
func (d *decoder) partDelta(t *turn, it *item, m member, n int64, delta dialect.Raw) {
	if !delta.IsString() {
		return
	}
	text := d.openPart(it, m, n)
	if !it.grow.inside {
		return
	}
	d.args(t, it, append(text, delta[1:len(delta)-1]...), source(m, n, delta))
	it.from = theDeltas
}

// openPart is the text before part n, if that is not open yet.
func (d *decoder) openPart(it *item, m member, n int64) (text []byte) {
	g := &it.grow
	if g.off || g.inside && n == g.next || it.done {
		return nil
	}
	text = d.buf[:0]
	switch {
	case g.inside || n != g.next:
		g.off, g.inside = true, false
		return nil
	case g.begun:
		text = append(text, ',')
	default:
		head, tail, ok := cut(g.object, m)
		if !ok {
			g.off = true
			return nil
		}
		g.begun, g.list, g.tail = true, m.list, tail
		text = append(text, head...)
	}
	text = append(text, '"')
	g.inside, g.start = true, len(it.args)+len(text)
	d.buf = text
	return text
}

// partDone takes the whole text of part n.
func (d *decoder) partDone(t *turn, it *item, m member, n int64, text dialect.Raw, from string) {
	g := &it.grow
	if !g.inside && text.IsString() {
		d.partDelta(t, it, m, n, text)
	}
	if !g.inside || n != g.next {
		return
	}
	if lit := literal(it.args[g.start:]); text.IsString() && !lit.Is(text.Text()) {
		fixed := append(bytes.Clone(it.args[:g.start]), text[1:len(text)-1]...)
		d.mismatch(t, it, fixed, from, false)
		it.args, it.from = fixed, from
		d.emit(stream.Event{Kind: stream.Rewrite, Turn: t.number, Slot: it.slot, Text: d.text.Hold(fixed),
			More: &stream.Detail{Source: source(m, n, text)}})
	}
	g.inside = false
	g.next++
	end := []byte{'"'}
	if !g.list {
		end = append(end, g.tail...)
		g.tail = nil
	}
	d.args(t, it, end, "")
}

// literal is the JSON string with that inside.
func literal(inside []byte) dialect.Raw {
	return append(append(dialect.Raw{'"'}, inside...), '"')
}

// closed is text as if the announced rest of the object followed it.
func (g *growing) closed(text []byte) []byte {
	text = bytes.Clone(text)
	if g.inside {
		text = append(text, '"')
	}
	return append(text, g.tail...)
}

// source is a delta of part n as the wire has it.
func source(m member, n int64, delta dialect.Raw) string {
	if m.list {
		return fmt.Sprintf("%s[%d] %s", m.path, n, delta)
	}
	return m.path + " " + string(delta)
}

// cut parts an object where its growing member grows.
func cut(object dialect.Raw, m member) (head, tail []byte, ok bool) {
	value := object.Get(m.name)
	at := cap(object) - cap(value) // both are of the same bytes
	switch {
	case value == nil:
		return cutAtEnd(object, m)
	case m.list && value.Kind() == '[':
		s := value.Scan()
		return object[:at+1], object[at+len(value)-1:], !s.Array()
	case !m.list && value.Empty():
		return object[:at], object[at+2:], true
	}
	return nil, nil, false
}

// cutAtEnd makes room for the growing member behind all others.
func cutAtEnd(object dialect.Raw, m member) (head, tail []byte, ok bool) {
	s := object.Scan()
	head = []byte{'{'}
	if s.Object() {
		head = append(bytes.TrimRight(bytes.Clone(object[:len(object)-1]), " \t\r\n"), ',')
	}
	head = append(append(append(head, '"'), m.name...), `":`...)
	if m.list {
		return append(head, '['), []byte("]}"), true
	}
	return head, []byte{'}'}, true
}
