package panes

import (
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// requestEdits is the table of the differences between a request and the previous request of its conversation. The key
// o shows it in place of the breakdown.
type requestEdits struct {
	shown bool
	key   requestKey // the request that was compared
	title display.Text
	rows  []present.RequestEdit
}

// rowCount returns the number of rows: the title, the differences, and the title of the body.
func (e *requestEdits) rowCount() int { return len(e.rows) + 2 }

// partAt returns the offset in the body of the part that a row shows, or -1 if the body doesn't have the part.
func (e *requestEdits) partAt(row int) int {
	if row < 1 || row > len(e.rows) {
		return -1
	}
	return e.rows[row-1].At
}

// updateEdits compares the shown request with the previous one. Large requests are compared in the background.
func (r *Request) updateEdits(v *providers.View, c Selection, x *providers.Exchange, draw display.Drawer) {
	if !r.edits.shown || r.doc == nil || r.edits.key == r.key {
		return
	}
	r.edits = requestEdits{shown: true, key: r.key}
	before, title := previousRequest(v, c.Turn, x, draw)
	if r.edits.title = title; before == nil {
		return
	}
	key, now := r.key, json.Value(r.doc.text)
	set := func(rows []present.RequestEdit) {
		if r.edits.key == key {
			r.edits.rows = rows
		}
	}
	if max(len(before), len(now)) <= maxSyncBytes {
		set(present.CompareRequests(before, now))
		return
	}
	r.host.Do(func() func() {
		rows := present.CompareRequests(before, now)
		return func() { set(rows) }
	})
}

// previousRequest returns the body of the previous request in a turn's conversation, and the title of the differences.
// The body is nil if it is unknown, and then the title is the reason.
func previousRequest(v *providers.View, t *stream.Turn, x *providers.Exchange, draw display.Drawer) (body json.Value, title display.Text) {
	if t == nil || t.Request == nil || !t.Request.Change.Comparable || x.HasManyRequests() {
		return nil, display.Lit("The previous request of this conversation is unknown")
	}
	number := t.Request.Change.PreviousExchange
	before := v.Exchange(number)
	if before == nil || before.Evicted || len(before.RequestBody()) == 0 {
		return nil, display.Lit("The previous request of this conversation is not in memory")
	}
	return before.RequestBody(), draw.Clean(RequestName(v, number)).Between("What changed since ", "")
}

// editNameCells is the minimum width, in cells, of the column with the names of the request's parts.
const editNameCells = 20

// drawRow draws a row of the table.
func (e *requestEdits) drawRow(p *screen.Pen, row int) {
	switch row--; {
	case row < 0:
		p.Text(screen.Plain, e.title)
	case row < len(e.rows):
		edit := &e.rows[row]
		role, sign := screen.Plain, display.Lit("+ ")
		switch edit.Kind {
		case present.KeptPart:
			role, sign = screen.Muted, p.Glyph.Side[screen.Same]
		case present.AlteredPart:
			sign = p.Glyph.Side[screen.Differs]
		case present.RemovedPart:
			sign = display.Lit("- ")
		}
		p.Spaces(screen.Bare, 2)
		p.Text(role, p.Pad(sign, 3))
		name := p.Name(edit.Name)
		p.Text(role, p.Pad(name, max(editNameCells, name.Width()+2)))
		p.Text(role, p.Name(edit.Text))
	default:
		p.Caption(screen.Muted, display.Lit("Body"))
	}
}
