package shrink

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"maps"
	"slices"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/capture/fault"
	"toolscope/stream/json"
)

// A node is a part of an event that can be removed or replaced: a JSON value, a payload that is not JSON, a line of
// a server-sent event, a header field, or a text about the exchange.
type node struct {
	kind byte   // '{', '[' or '"' as in JSON, '1' for other scalars, or one of the kinds below
	key  string // key of a field, as it is written, without quotes
	path string // keys that lead to it, each after a dot; # for an element
	lit  string // a scalar as it is written; for other kinds, the text
	kids []*node
	up   *node
	in   *event
}

// The kinds of nodes that are not JSON values.
const (
	packedJSON = 'b' // JSON in base64, in a string
	plainText  = 't' // a payload that is not JSON
	eventLine  = 'l' // a line of a server-sent event without data
	attribute  = 'a' // a header field, a note, a URL or a reason
)

// An event is a unit that is removed at once: the bytes of one event, or a record without bytes.
type event struct {
	record   capture.Record // the record without bytes
	data     []byte         // the original bytes
	suffix   []byte         // line break after the payload
	aws      []byte         // headers of an AWS message
	wrongSum bool           // the checksum of the AWS message is wrong
	fixed    bool           // a head or an end, which is removed only together with its exchange
	isSSE    bool
	payload  *node
	lines    []*node
	header   []*node
	note     *node
	reason   *node
	url      *node
	numbers  []*node // values that number blocks, calls or events
	edits    int     // number of its nodes that are removed or replaced
}

// readEvents divides the records of a capture into events.
func readEvents(records []capture.Record) []*event {
	var all []*event
	open := map[capture.Stream]*body{}
	sockets := map[int]bool{}
	for _, r := range records {
		if r.OfSource() && r.Note == "" || r.IsArrival() {
			continue
		}
		if r.Head != nil && (r.Head.Status == 101 || strings.HasPrefix(r.Head.URL, "ws")) {
			sockets[r.Exchange] = true
		}
		b := open[r.Stream()]
		if b == nil {
			stdio := r.Head != nil && r.Head.Method == capture.Stdio
			b = &body{whole: r.Side == capture.Request && !sockets[r.Exchange] && !stdio}
			if !sockets[r.Exchange] && !b.whole {
				var header map[string][]string
				if r.Head != nil {
					header = r.Head.Header
				}
				b.cutter = fault.NewCutter(header, false)
			}
			open[r.Stream()] = b
		}
		all = b.addRecord(all, r)
	}
	for _, r := range records {
		if b := open[r.Stream()]; b != nil {
			all = b.close(all)
			delete(open, r.Stream())
		}
	}
	return all
}

// A body divides one side of an exchange into events.
type body struct {
	cutter *fault.Injector // nil if each record is one event, or all records together are one
	whole  bool            // all records are one event
	one    *event          // that event
	last   capture.Record  // the latest record with bytes
	note   string          // note of a record whose bytes are not in an event yet
}

// addRecord appends the events of a record.
func (b *body) addRecord(all []*event, r capture.Record) []*event {
	data, end := r.Data, r
	r.Data, r.Location, r.Before, r.After, r.Others, r.OtherLines, r.Chunks = nil, capture.Location{}, nil, nil, 0, nil, nil
	r.End, r.Why, r.Damaged = "", "", false
	if r.Head == nil {
		r.By = ""
	}
	if r.Head != nil || r.Lost > 0 || len(data) == 0 && r.Note != "" {
		all = append(all, newEvent(r, nil, false))
	} else {
		b.note = capture.JoinNotes(b.note, r.Note)
	}
	r.Head, r.Lost, r.By, r.Note = nil, 0, "", ""
	if len(data) > 0 {
		b.last = r
		all = b.addBytes(all, data)
	}
	if end.End != "" {
		all = b.close(all)
		r.End, r.Why, r.By, r.Note = end.End, end.Why, end.By, b.note
		all = append(all, newEvent(r, nil, false))
	}
	return all
}

// addBytes appends the events that end in a record's bytes.
func (b *body) addBytes(all []*event, data []byte) []*event {
	switch {
	case b.whole && b.one != nil:
		b.one.data = append(b.one.data[:len(b.one.data):len(b.one.data)], data...)
	case b.whole:
		b.one = &event{record: b.last, data: data}
		all = append(all, b.one)
	case b.cutter == nil:
		all = b.addEvent(all, data)
	default:
		chunks := b.cutter.Write(data, 0)
		if len(chunks) > 0 && !b.cutter.IsStream() {
			b.whole = true
			data = nil
			for _, c := range chunks {
				data = append(data, c.Data...)
			}
			return b.addBytes(all, data)
		}
		for _, c := range chunks {
			all = b.addEvent(all, c.Data)
		}
	}
	return all
}

func (b *body) addEvent(all []*event, data []byte) []*event {
	r := b.last
	r.Note, b.note = b.note, ""
	return append(all, newEvent(r, data, b.cutter != nil && b.cutter.IsSSE()))
}

// close appends the last event of a body.
func (b *body) close(all []*event) []*event {
	if b.one != nil {
		*b.one = *newEvent(b.one.record, b.one.data, false)
		b.one.adoptNodes()
		b.one = nil
	} else if b.cutter != nil {
		last, _ := b.cutter.Close()
		for _, c := range last {
			all = b.addEvent(all, c.Data)
		}
		b.cutter = nil
	}
	return all
}

// newEvent parses the bytes of an event, and the facts of its record.
func newEvent(r capture.Record, data []byte, isSSE bool) *event {
	e := &event{record: r, data: data, isSSE: isSSE, fixed: r.Head != nil || r.End != ""}
	if r.Head != nil {
		for _, name := range slices.Sorted(maps.Keys(r.Head.Header)) {
			e.header = append(e.header, &node{kind: attribute, key: name, path: ".header"})
		}
		if r.Head.URL != "" {
			e.url = &node{kind: attribute, lit: r.Head.URL, path: ".url"}
		}
	}
	if r.Note != "" {
		e.note = &node{kind: attribute, lit: r.Note, path: ".note"}
	}
	if r.Why != "" {
		e.reason = &node{kind: attribute, lit: r.Why, path: ".reason"}
	}
	switch {
	case len(data) == 0:
	case isSSE:
		e.parseSSE(data)
	case !e.parseAWS(data):
		text := bytes.TrimRight(data, "\r\n")
		e.suffix = data[len(text):]
		e.payload = parsePayload(text)
	}
	e.adoptNodes()
	return e
}

// adoptNodes links the nodes to the event, and finds the nodes with numbers.
func (e *event) adoptNodes() {
	e.numbers = nil
	for n := range e.eachNode {
		n.in = e
		if n.kind == '1' && isNumberKey(n.key) && strings.Trim(n.lit, "0123456789") == "" && len(n.lit) < 10 && !isContent(n.path) {
			e.numbers = append(e.numbers, n)
		}
	}
}

// eachNode yields all nodes of the event, an outer one before those inside it.
func (e *event) eachNode(yield func(*node) bool) {
	for _, n := range append([]*node{e.note, e.reason, e.url}, append(e.header, e.lines...)...) {
		if n != nil && !yield(n) {
			return
		}
	}
	if e.payload != nil {
		e.payload.eachInside(yield)
	}
}

func (n *node) eachInside(yield func(*node) bool) bool {
	if !yield(n) {
		return false
	}
	for _, kid := range n.kids {
		if !kid.eachInside(yield) {
			return false
		}
	}
	return true
}

// parseSSE reads the lines of a server-sent event. Its data lines are one payload.
func (e *event) parseSSE(data []byte) {
	var payload []string
	for line := range strings.SplitSeq(strings.TrimPrefix(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data)), "\ufeff"), "\n") {
		value, isData := strings.CutPrefix(line, "data:")
		switch {
		case isData:
			payload = append(payload, strings.TrimPrefix(value, " "))
		case line != "":
			e.lines = append(e.lines, &node{kind: eventLine, lit: line, path: ".line"})
		}
	}
	if payload != nil {
		e.payload = parsePayload([]byte(strings.Join(payload, "\n")))
	}
	if bytes.HasSuffix(data, []byte("\n\n")) || bytes.HasSuffix(data, []byte("\r\n\r\n")) || bytes.HasSuffix(data, []byte("\r\r")) {
		e.suffix = []byte("\n\n")
	}
}

// The parts of an AWS message before its headers and after its payload.
const awsPrelude, awsTrailer = 12, 4

// parseAWS reads a message of the AWS event stream. It reports whether the bytes are such a message.
func (e *event) parseAWS(data []byte) bool {
	if len(data) < awsPrelude+awsTrailer || crc32.ChecksumIEEE(data[:8]) != binary.BigEndian.Uint32(data[8:]) {
		return false
	}
	size, headers := int(binary.BigEndian.Uint32(data)), int(binary.BigEndian.Uint32(data[4:]))
	if size != len(data) || headers > size-awsPrelude-awsTrailer {
		return false
	}
	end := size - awsTrailer
	e.aws = data[awsPrelude : awsPrelude+headers : awsPrelude+headers]
	e.wrongSum = crc32.ChecksumIEEE(data[:end]) != binary.BigEndian.Uint32(data[end:])
	e.payload = parsePayload(data[awsPrelude+headers : end])
	return true
}

// parsePayload returns the tree of a JSON text, or a node with the text itself.
func parsePayload(text []byte) *node {
	if trimmed := bytes.TrimSpace(text); json.Valid(trimmed) {
		return parseValue(trimmed, "", "", nil)
	}
	return &node{kind: plainText, lit: string(text)}
}

// parseValue returns the tree of a valid JSON value.
func parseValue(text []byte, key, path string, up *node) *node {
	n := &node{kind: text[0], key: key, path: path, up: up}
	switch n.kind {
	case '{':
		for r := json.ReadFields(text); r.Next(); {
			n.kids = append(n.kids, parseValue(r.Value(), string(r.Key), path+"."+string(r.Key), n))
		}
	case '[':
		for value := range json.Elements(text) {
			n.kids = append(n.kids, parseValue(value, "", path+".#", n))
		}
	case '"':
		n.lit = string(text)
		if key == "bytes" {
			if plain, err := base64.StdEncoding.DecodeString(json.Value(text).Text()); err == nil && json.Valid(plain) {
				n.kind, n.lit = packedJSON, ""
				n.kids = []*node{parseValue(bytes.TrimSpace(plain), "", path, n)}
			}
		}
	default:
		n.kind, n.lit = '1', string(text)
	}
	return n
}

// A draft says which nodes and events are removed or replaced.
type draft struct {
	gone    map[any]bool     // removed events and nodes
	texts   map[*node]string // replaced scalars and texts
	numbers map[*node]string // numbers that close gaps; they replace scalars as well
	even    bool             // events are 10 ms apart
}

// textOf returns the current text of a scalar.
func (d *draft) textOf(n *node) string {
	if text, ok := d.texts[n]; ok {
		return text
	}
	return n.lit
}

// appendValue appends the current form of a value.
func (d *draft) appendValue(to []byte, n *node) []byte {
	switch n.kind {
	case '{', '[':
		to = append(to, n.kind)
		first := true
		for _, kid := range n.kids {
			if d.gone[kid] {
				continue
			}
			if !first {
				to = append(to, ',')
			}
			if first = false; n.kind == '{' {
				to = append(append(append(to, '"'), kid.key...), `":`...)
			}
			to = d.appendValue(to, kid)
		}
		return append(to, n.kind+2) // } is two after {, and ] is two after [, in ASCII
	case packedJSON:
		to = append(to, '"')
		to = base64.StdEncoding.AppendEncode(to, d.appendValue(nil, n.kids[0]))
		return append(to, '"')
	}
	if text, ok := d.numbers[n]; ok {
		return append(to, text...)
	}
	return append(to, d.textOf(n)...)
}

// bytesOf returns the current bytes of an event.
func (d *draft) bytesOf(e *event) []byte {
	if e.edits == 0 || e.data == nil {
		changed := false
		for _, n := range e.numbers {
			text, is := d.numbers[n]
			changed = changed || is && text != d.textOf(n)
		}
		if !changed {
			return e.data
		}
	}
	var out, payload []byte
	if e.payload != nil {
		payload = d.appendValue(nil, e.payload)
	}
	switch {
	case e.isSSE:
		for _, line := range e.lines {
			if !d.gone[line] {
				out = append(append(out, d.textOf(line)...), '\n')
			}
		}
		if e.payload != nil {
			for line := range bytes.SplitSeq(payload, []byte("\n")) {
				out = append(append(append(out, "data: "...), line...), '\n')
			}
		}
		if len(e.suffix) > 0 {
			return append(out, '\n')
		}
		return bytes.TrimSuffix(out, []byte("\n"))
	case e.aws != nil:
		out = binary.BigEndian.AppendUint32(out, uint32(awsPrelude+len(e.aws)+len(payload)+awsTrailer))
		out = binary.BigEndian.AppendUint32(out, uint32(len(e.aws)))
		out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
		out = append(append(out, e.aws...), payload...)
		sum := crc32.ChecksumIEEE(out)
		if e.wrongSum {
			sum ^= 1
		}
		return binary.BigEndian.AppendUint32(out, sum)
	}
	return append(payload, e.suffix...)
}

// recordOf returns the current record of an event. The parameter n is the number of events before it.
func (d *draft) recordOf(e *event, n int) capture.Record {
	r := e.record
	r.Data = d.bytesOf(e)
	if d.even && r.At >= 0 {
		r.At = time.Duration(n) * 10 * time.Millisecond
	}
	if r.Head != nil {
		head := *r.Head
		if e.url != nil {
			head.URL = d.textOf(e.url)
		}
		head.Header = nil
		for _, n := range e.header {
			if !d.gone[n] {
				if head.Header == nil {
					head.Header = map[string][]string{}
				}
				head.Header[n.key] = r.Head.Header[n.key]
			}
		}
		if head.File = ""; d.even {
			head.Start = time.Time{}
		}
		r.Head = &head
	}
	if e.note != nil && d.gone[e.note] {
		r.Note = ""
	}
	if e.reason != nil && d.gone[e.reason] {
		r.Why = ""
	}
	return r
}
