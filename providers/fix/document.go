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

// Codex is the form of Codex's session files. The facts are from running Codex 0.169.0 with damaged sessions.
var Codex = &Form{
	Title: "session of Codex", Client: "Codex", DefaultTarget: "openai-responses", ItemTitle: "item",
	RuleWords: map[string]string{
		"call-answered":   `Codex adds the result "aborted"`,
		"result-has-call": "Codex leaves this result out",
	},
	ignored: []string{"trailing-space"},
	history: "input",
	read:    readCodex,
	newLine: newCodexLine,
}

// codexNotes are items that Codex doesn't send.
var codexNotes = []string{"ghost_snapshot", "compaction", "compaction_summary", "compaction_trigger", "context_compaction", "other"}

// eachLine calls the function do with each line of the file that is a JSON object, and with the line's range,
// including the line end. It counts the other lines.
func (d *document) eachLine(do func(entry json.Value, from, to int)) {
	text := d.text
	for from, number := 0, 1; from < len(text); number++ {
		to := len(text)
		if n := bytes.IndexByte(text[from:], '\n'); n >= 0 {
			to = from + n + 1
		}
		line := bytes.Trim(bytes.TrimPrefix(text[from:to], []byte("\ufeff")), " \t\r\n")
		switch {
		case len(line) == 0:
		case json.IsObject(line):
			do(line, from, to)
		default:
			if d.Damaged++; d.Damaged == 1 {
				d.FirstDamaged = number
			}
		}
		from = to
	}
}

// readCodex finds the items of a session. A compaction replaces the items before it.
func readCodex(d *document) error {
	d.eachLine(func(entry json.Value, from, to int) {
		kind, payload := entry.Get("type").Text(), entry.Get("payload")
		if payload == nil && kind != "" && entry.Get("record_type") == nil { // an older version, whose entries have no wrapper
			kind, payload = "response_item", entry
		}
		switch {
		case kind == "compacted":
			d.items = d.items[:0]
			d.addElements(payload.Get("replacement_history"))
		case kind == "response_item" && payload.Kind() == '{' && !slices.Contains(codexNotes, payload.Get("type").Text()):
			d.items = append(d.items, item{d.rangeOf(payload), from, to})
		}
	})
	return nil
}

// newCodexLine returns a line with a new item. The line has the same time as the item before it.
func newCodexLine(d *document, after int, value []byte) []byte {
	entry := json.Value(d.text[d.items[after].line:d.items[after].end])
	var w json.Writer
	if entry.Get("payload") == nil {
		return append(w.Raw(value).Text, '\n')
	}
	w.Open('{')
	if stamp := entry.Get("timestamp"); stamp != nil {
		w.Key("timestamp").Raw(stamp)
	}
	return append(w.Member("type", "response_item").Key("payload").Raw(value).Close('}').Text, '\n')
}

// ClaudeCode is the form of Claude Code's session files. The facts are from running Claude Code 2.1.197 and 2.1.332
// with damaged sessions.
var ClaudeCode = &Form{
	Title: "session of Claude Code", Client: "Claude Code", DefaultTarget: "anthropic", ItemTitle: "message",
	RuleWords: map[string]string{
		"call-answered":   "Claude Code leaves this call out",
		"result-has-call": "Claude Code leaves this result out",
		"result-once":     "Claude Code leaves the second result out",
		"result-follows":  "Claude Code replaces this result",
		"id-unique":       "Claude Code leaves one of the calls and its result out",
	},
	ignored: []string{"trailing-space", "cache-marks", "turn-order"},
	history: "messages",
	read:    readClaude,
}

// claudeEntry is an entry of a Claude Code session.
type claudeEntry struct {
	uuid, parent, id string // id is the id of the model's message
	message          json.Value
	line, end        int
	isBoundary       bool // whether the history before this entry was compacted
	carries          bool // whether the next request contains the entry's message
	isResult, isSent bool
}

// readClaude finds the messages that Claude Code sends: the path from the latest message back to the first one, or
// back to the latest compaction. Claude Code also sends the other blocks of the messages on that path, and their
// results.
func readClaude(d *document) error {
	var all []claudeEntry
	byUUID, leaf := map[string]int{}, -1
	d.eachLine(func(entry json.Value, from, to int) {
		e := claudeEntry{uuid: entry.Get("uuid").Text(), parent: entry.Get("parentUuid").Text(), message: entry.Get("message"), line: from, end: to}
		kind := entry.Get("type").Text()
		e.isBoundary = entry.Get("subtype").Is("compact_boundary")
		model := kind == "assistant"
		isMessage := (model || kind == "user") && e.message.Kind() == '{' && !entry.Get("isSidechain").IsTrue()
		e.carries = isMessage && !entry.Get("isApiErrorMessage").IsTrue() && !e.message.Get("model").Is("<synthetic>")
		if model {
			e.id = e.message.Get("id").Text()
		}
		for block := range e.message.Get("content").Elements() {
			e.isResult = e.isResult || kind == "user" && block.Get("type").Is("tool_result")
		}
		if _, twice := byUUID[e.uuid]; e.uuid == "" || twice {
			return
		}
		byUUID[e.uuid] = len(all)
		if isMessage {
			leaf = len(all)
		}
		all = append(all, e)
	})
	sent, onPath := map[string]bool{}, leaf >= 0
	for at := leaf; onPath && !all[at].isSent && !all[at].isBoundary; {
		all[at].isSent = true
		sent[all[at].id] = all[at].id != ""
		before := at
		if at, onPath = byUUID[all[at].parent]; !onPath && all[before].parent != "" {
			d.Torn = lineOf(d.text, all[before].line)
		}
	}
	for i := range all {
		e := &all[i]
		parent, known := byUUID[e.parent]
		e.isSent = e.isSent || sent[e.id] || e.isResult && known && all[parent].isSent && sent[all[parent].id]
	}
	blocks := map[string][]*claudeEntry{} // entries of each message of the model
	for i := range all {
		if e := &all[i]; e.id != "" && e.isSent && e.carries {
			blocks[e.id] = append(blocks[e.id], e)
		}
	}
	add := func(e *claudeEntry) { d.items = append(d.items, item{d.rangeOf(e.message), e.line, e.end}) }
	for i := range all {
		switch e := &all[i]; {
		case !e.isSent || !e.carries:
		case e.id == "":
			add(e)
		default: // all blocks of a message are kept together
			for _, block := range blocks[e.id] {
				add(block)
			}
			delete(blocks, e.id)
		}
	}
	return nil
}
