package fix

import "slices"

// pieces is a text with changes: a list of parts of the original text and of inserted texts.
type pieces struct {
	original []byte
	list     []piece
}

// piece is a part of the original text, or an inserted text.
type piece struct {
	from, to int // range of the original text
	text     []byte
	isNew    bool
}

func (p *piece) pieceSize() int {
	if p.isNew {
		return len(p.text)
	}
	return p.to - p.from
}

// edit replaces a range of a text.
type edit struct {
	valueRange
	text []byte
}

// applyEdit applies an edit whose range refers to the changed text.
func (t *pieces) applyEdit(e edit) {
	var list []piece
	at, isDone := 0, false
	insert := func() {
		if !isDone {
			list, isDone = append(list, piece{text: e.text, isNew: true}), true
		}
	}
	for _, p := range t.list {
		end := at + p.pieceSize()
		if before := min(end, e.from) - at; before > 0 {
			list = append(list, p.slicePiece(0, before))
		}
		if end > e.from {
			insert()
		}
		if after := max(at, e.to); after < end {
			list = append(list, p.slicePiece(after-at, end-at))
		}
		at = end
	}
	insert()
	t.list = list
}

// slicePiece returns a part of a piece.
func (p *piece) slicePiece(from, to int) piece {
	if p.isNew {
		return piece{text: p.text[from:to], isNew: true}
	}
	return piece{from: p.from + from, to: p.from + to}
}

// joinPieces returns the changed text.
func (t *pieces) joinPieces() (text []byte) {
	for _, p := range t.list {
		if p.isNew {
			text = append(text, p.text...)
		} else {
			text = append(text, t.original[p.from:p.to]...)
		}
	}
	return text
}

// originalOffset converts an offset in the changed text to one in the original text. The offset of new text is the
// offset at which it was inserted.
func (t *pieces) originalOffset(offset int) int {
	at, original := 0, 0
	for _, p := range t.list {
		if !p.isNew {
			original = p.from
		}
		if offset < at+p.pieceSize() {
			if p.isNew {
				return original
			}
			return p.from + offset - at
		}
		if at += p.pieceSize(); !p.isNew {
			original = p.to
		}
	}
	return original
}

// A Change replaces the range from Start to End of the original text with Text.
type Change struct {
	Line       int // the line of Start
	Start, End int
	Text       []byte
}

// listChanges returns the differences from the original text, in order.
func (t *pieces) listChanges() (list []Change) {
	at, open := 0, Change{}
	for _, p := range append(slices.Clip(t.list), piece{from: len(t.original), to: len(t.original)}) {
		if p.isNew {
			open.Text = append(open.Text, p.text...)
			continue
		}
		if open.Start, open.End = at, p.from; open.End > open.Start || len(open.Text) > 0 {
			open.Line = lineOf(t.original, at)
			list = append(list, open)
		}
		at, open = p.to, Change{}
	}
	return list
}
