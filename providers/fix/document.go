// Package fix corrects the histories of requests that a provider would refuse. It reads a history from a
// request body or an agent's session file, checks the history with the rules of package requestrules, and
// changes only the bytes that break a rule.
package fix

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sort"

	"toolscope/providers/protocol"
	"toolscope/providers/requestrules"
	"toolscope/stream/json"
)

// A Form is a kind of file that contains a history.
type Form struct {
	Title         string
	Client        string // the program that reads the file; "" for a request body
	DefaultTarget string // target of the requests that the client sends; "" if the protocol shows the target
	ItemTitle     string // name for an element of the history
	// RuleWords describes what the client sends instead, for each rule that the client itself enforces.
	RuleWords map[string]string
	ignored   []string // rules that don't apply, because the next request contains more messages
	history   string   // field of the request that contains the items; "" for a request body
	read      func(*document) error
	newLine   func(d *document, after int, item []byte) []byte // nil if items can't be added or removed
}

// A Reader is a function that reads a request body.
type Reader func(body []byte) (*requestrules.Request, error)

// document is a file with a history.
type document struct {
	*Form
	*requestrules.Request        // the request that the client would send next, as far as the file contains it
	text                  []byte // content of the file
	spans                 []span // parts of the request that are copied from the file, in the request's order
	items                 []item // elements of the history, in the request's order
	places                []messagePlace
	unanswered            map[partPlace]bool // calls without a result, from the latest check
	given                 map[string]bool    // ids and tool names that this pass's corrections add
	Notes
}

// Notes are facts about a session file that no correction changes.
type Notes struct {
	Damaged, FirstDamaged int // number of lines that are not JSON, and the first such line
	Torn                  int // line of the first entry that the agent reads, if the entry before it is missing; otherwise 0
}

// span is a part of the request that is copied from the file.
type span struct{ inRequest, inText, size int }

// item is an element of the history: a message, or an item of the Responses API.
type item struct {
	valueRange     // the value
	line, end  int // range of the item's line in the file, including the line end; end is 0 if the item has no line
}

// valueRange is the range of a value in the file. If the range is unknown, the field to is 0.
type valueRange struct{ from, to int }

func (r valueRange) isKnown() bool { return r.to > 0 }

// messagePlace contains the ranges of a message and its parts.
type messagePlace struct {
	message valueRange
	parts   []valueRange
}

// openDocument reads a file.
func openDocument(text []byte, form *Form, read Reader) (*document, error) {
	d := &document{Form: form, text: text}
	if err := form.read(d); err != nil {
		return nil, err
	}
	request := text
	if form != Body { // the request has the items as its history
		request = []byte(`{"` + d.history + `":[`)
		for i, it := range d.items {
			if i > 0 {
				request = append(request, ',')
			}
			d.spans = append(d.spans, span{len(request), it.from, it.to - it.from})
			request = append(request, d.text[it.from:it.to]...)
		}
		request = append(request, "]}"...)
	}
	var err error
	if d.Request, err = read(request); err != nil {
		return nil, err
	}
	if d.Target == nil {
		return nil, errors.New("it has no messages in a known protocol")
	}
	d.locateParts()
	return d, nil
}

// Body is the form of a request body.
var Body = &Form{Title: "request body", ItemTitle: "message", read: readBody}

// readBody finds the history in a request body.
func readBody(d *document) error {
	s := json.Scan(d.text)
	if s.Value(); s.End() != nil {
		return fmt.Errorf("not one complete JSON value: %w", s.End())
	}
	d.spans = []span{{0, 0, len(d.text)}}
	d.findItems(d.text)
	return nil
}

// findItems adds the elements of the history in an object. Some clients put the request inside a field.
func (d *document) findItems(object json.Value) {
	s := object.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "request", "response":
			if s.Kind() == '{' {
				d.findItems(s.Value())
			}
		case "messages", "input", "contents":
			d.addElements(s.Value())
		}
	}
}

// addElements adds the elements of an array as items without a line.
func (d *document) addElements(array json.Value) {
	for v := range array.Elements() {
		d.items = append(d.items, item{valueRange: d.rangeOf(v)})
	}
}

// rangeOf returns the range of a value that is a slice of the file's text.
func (d *document) rangeOf(v json.Value) valueRange {
	at := cap(d.text) - cap(v)
	return valueRange{at, at + len(v)}
}

// inText converts a range of the request to a range of the file. If the file doesn't contain all of it in one place,
// the result is an empty range.
func (d *document) inText(from, size int) valueRange {
	i := sort.Search(len(d.spans), func(i int) bool { return d.spans[i].inRequest > from }) - 1
	if i < 0 || from+size > d.spans[i].inRequest+d.spans[i].size {
		return valueRange{}
	}
	at := d.spans[i].inText + from - d.spans[i].inRequest
	return valueRange{at, at + size}
}

// locateParts finds the messages and their parts in the file. Messages, and parts outside messages, are in the same
// order as in the request. The parts inside a message may be in any order.
func (d *document) locateParts() {
	d.places = make([]messagePlace, len(d.Messages))
	if len(d.items) == 0 {
		return
	}
	next := d.spans[0].inRequest // offset at which the search for the next message, or part outside a message, begins
	if d.Form == Body {
		next = d.items[0].from
	}
	for i := range d.Messages {
		m, place := &d.Messages[i], &d.places[i]
		place.parts = make([]valueRange, len(m.Parts))
		from, to := next, len(d.Body)
		if m.Raw != nil {
			n := bytes.Index(d.Body[next:], m.Raw)
			if n < 0 {
				continue
			}
			from, to = next+n, next+n+len(m.Raw)
			place.message, next = d.inText(from, len(m.Raw)), to
		}
		taken := map[int]bool{}
		for j := range m.Parts {
			raw := m.Parts[j].Raw
			for at := from; raw != nil; at++ {
				n := bytes.Index(d.Body[at:to], raw)
				if at += n; n < 0 {
					break
				}
				if taken[at] {
					continue
				}
				place.parts[j], taken[at] = d.inText(at, len(raw)), true
				if m.Raw == nil && m.Role != protocol.System { // instructions may be anywhere in the request
					from, next = at+len(raw), at+len(raw)
				}
				break
			}
		}
	}
}

// itemAt returns the index of the item that contains an offset of the file, or -1.
func (d *document) itemAt(offset int) int {
	for i := range d.items {
		if it := &d.items[i]; it.from <= offset && offset < it.to {
			return i
		}
	}
	return -1
}

// placeOf returns the range of a part, or of the whole message if part is -1.
func (d *document) placeOf(message, part int) valueRange {
	switch {
	case message < 0 || message >= len(d.places):
		return valueRange{}
	case part < 0 && d.places[message].message.isKnown():
		return d.places[message].message
	case part < 0:
		if i := d.itemOf(message); i >= 0 {
			return d.items[i].valueRange
		}
		return valueRange{}
	case part >= len(d.places[message].parts): // an empty message has no parts
		return valueRange{}
	}
	return d.places[message].parts[part]
}

// itemOf returns the index of the first item of a message, or -1.
func (d *document) itemOf(message int) int {
	at := d.places[message].message
	for _, p := range d.places[message].parts {
		if !at.isKnown() {
			at = p
		}
	}
	if !at.isKnown() {
		return -1
	}
	return d.itemAt(at.from)
}

// partPlace identifies a part of the history.
type partPlace struct{ message, part int }

// isBefore reports whether a part comes before another one.
func (at partPlace) isBefore(other partPlace) bool {
	return at.message < other.message || at.message == other.message && at.part < other.part
}

// eachPart yields the parts of all messages in order.
func (d *document) eachPart(yield func(partPlace, *protocol.Part) bool) {
	for i := range d.Messages {
		for j := range d.Messages[i].Parts {
			if !yield(partPlace{i, j}, &d.Messages[i].Parts[j]) {
				return
			}
		}
	}
}

// rawOf returns the text of a range.
func (d *document) rawOf(r valueRange) json.Value { return d.text[r.from:r.to] }

// lineOf returns the number of the line that contains an offset, counted from 1.
func lineOf(text []byte, offset int) int {
	return bytes.Count(text[:min(offset, len(text))], []byte("\n")) + 1
}

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
