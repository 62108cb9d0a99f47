package present

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strconv"

	"toolscope/providers"
	"toolscope/providers/conversation"
	"toolscope/providers/price"
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// Breakdown lists the parts of a request's body. Each byte of the body is in exactly one row, so the sizes
// add up to the size of the body.
type Breakdown struct {
	Rows     []BreakdownRow
	Total    BreakdownRow
	Cached   int64   // tokens that the provider read from its cache
	Uncached float64 // cost of all tokens without a cache, in US dollars
	Counted  bool    // the rows have tokens
	Priced   bool    // the rows have costs

	pieces  []bodyPiece
	tools   []conversation.DeclaredTool
	carried map[string]bool // the names of the calls in the history
	media   int             // bytes of parts whose size has no relation to their tokens
}

// BreakdownRow is a part of a request. Its tokens are its share of the input tokens, by bytes.
type BreakdownRow struct {
	Class       BodyClass
	Names       []string // server of the tools, or the names of tools without a server
	Change      BodyChange
	First, Last int // numbers of the tool results, from 1
	At          int // offset of its first byte in the body
	Bytes       int
	Tokens      int64
	Cost        float64 // in US dollars, taking the cache into account
}

// BodyClass is a kind of content in a request.
type BodyClass uint8

const (
	ToolsClass BodyClass = iota
	SystemClass
	ResultClass
	CallClass
	ReasoningClass
	UserTextClass
	ModelTextClass
	MediaClass
	OtherClass
)

// BodyChange is the difference between a part of a request and the previous request of its conversation.
type BodyChange uint8

const (
	NoChange BodyChange = iota
	NewPart
	ChangedPart
)

// maxBreakdownRows is the maximum number of rows. The smallest parts share the last row.
const maxBreakdownRows = 8

// maxMediaShare is the maximum share of media in a body whose tokens are estimated by bytes.
const maxMediaShare = 0.1

// bodyPiece is a range of the body that belongs to one row. It does not include the pieces inside it.
type bodyPiece struct {
	at, end, own int
	row          int
}

// ReadBreakdown reads the parts of a request in the protocol of a target. It returns nil if the body contains no
// messages.
func ReadBreakdown(body []byte, to *protocol.Target, change stream.RequestChange) *Breakdown {
	if to == nil {
		return nil
	}
	messages, err := to.Decode(body)
	if err != nil || len(messages) == 0 {
		return nil
	}
	r := breakdownReader{body: body, b: &Breakdown{carried: map[string]bool{}}, change: change}
	r.addPiece(body, BreakdownRow{Class: OtherClass})
	r.addTools()
	r.addMessages(messages)
	r.b.measurePieces()
	r.b.orderRows()
	return r.b
}

// breakdownReader reads the parts of a request.
type breakdownReader struct {
	body    []byte
	b       *Breakdown
	change  stream.RequestChange
	results int // number of tool results so far
	from    int // offset of the last value that was found by a search for its text

	hasSystem bool // the system prompt has a field of its own
}

// addPiece adds a value of the body to the row of the same kind. It ignores values that are not in the body.
func (r *breakdownReader) addPiece(value json.Value, as BreakdownRow) {
	at := r.offsetOf(value)
	if at < 0 {
		return
	}
	row := slices.IndexFunc(r.b.Rows, func(o BreakdownRow) bool {
		server := as.Class != ToolsClass || len(as.Names) == len(o.Names) && slices.Equal(o.Names, as.Names)
		return o.Class == as.Class && o.Change == as.Change && server
	})
	if row < 0 {
		as.At, row = at, len(r.b.Rows)
		r.b.Rows = append(r.b.Rows, as)
	}
	of := &r.b.Rows[row]
	of.Last = max(of.Last, as.Last)
	r.b.pieces = append(r.b.pieces, bodyPiece{at: at, end: at + len(value), row: row})
}

// offsetOf returns the offset of a value in the body, or -1. Most values are slices of the body. The others are copies,
// in the order of the body.
func (r *breakdownReader) offsetOf(value json.Value) int {
	if len(value) == 0 {
		return -1
	}
	if at := cap(r.body) - cap(value); at >= 0 && at+len(value) <= len(r.body) && &r.body[at] == &value[0] {
		return at
	}
	for from := 0; ; { // the slice may have a smaller capacity
		n := bytes.Index(r.body[from:], value)
		if n < 0 {
			break
		}
		if &r.body[from+n] == &value[0] {
			return from + n
		}
		from += n + 1
	}
	copied := bytes.Index(r.body[r.from:], value)
	if copied >= 0 {
		copied += r.from
	} else {
		copied = bytes.Index(r.body, value)
	}
	r.from = max(r.from, copied)
	return copied
}

// addTools adds the declared tools and the system prompt.
func (r *breakdownReader) addTools() {
	fields := conversation.ReadBody(r.body)
	r.hasSystem = fields.System != nil
	r.addPiece(fields.System, BreakdownRow{Class: SystemClass, Change: r.changeIf(r.change.System)})
	tools := fields.Tools
	if tools == nil {
		tools = json.Value(r.body).Get("toolConfig").Get("tools")
	}
	r.b.tools = conversation.DeclaredTools(tools)
	var own []string
	for _, tool := range r.b.tools {
		if tool.Server == "" && tool.Name != "" {
			own = append(own, tool.Name)
		}
	}
	for _, tool := range r.b.tools {
		as := BreakdownRow{Class: ToolsClass, Change: r.changeIf(r.change.Tools), Names: own}
		if tool.Server != "" {
			as.Names = []string{tool.Server}
		}
		r.addPiece(tool.Raw, as)
	}
}

// changeIf returns ChangedPart if the part has changed and the requests can be compared. Otherwise, it returns
// NoChange.
func (r *breakdownReader) changeIf(is bool) BodyChange {
	if is && r.change.Comparable {
		return ChangedPart
	}
	return NoChange
}

// addMessages adds the messages and their parts. The bytes around the parts of a message belong to its first part.
func (r *breakdownReader) addMessages(messages []protocol.Message) {
	same := r.change.Same
	for i := range messages {
		m := &messages[i]
		change := NoChange
		if r.hasSystem && i == same-r.change.Same && m.Role == protocol.System {
			same++ // Same doesn't count system prompts in a field of their own
		}
		if r.change.Comparable && i >= same {
			change = NewPart
		}
		var rows []BreakdownRow
		for j := range m.Parts {
			rows = append(rows, r.rowOf(m.Role, &m.Parts[j], change))
		}
		if len(rows) > 0 {
			r.addPiece(m.Raw, rows[0])
		}
		for j := range rows {
			r.addPiece(m.Parts[j].Raw, rows[j])
		}
	}
}

// rowOf returns the row of a part of a message. It also counts results and the bytes of media, and notes the
// names of calls.
func (r *breakdownReader) rowOf(role protocol.Role, p *protocol.Part, change BodyChange) BreakdownRow {
	as := BreakdownRow{Change: change}
	switch {
	case p.Kind == protocol.ResultPart:
		r.results++
		as.Class, as.First, as.Last = ResultClass, r.results, r.results
		if p.Media > 0 {
			r.b.media += len(p.Raw)
		}
	case p.Kind == protocol.CallPart:
		as.Class, r.b.carried[p.Name] = CallClass, true
	case p.Kind == protocol.ReasoningPart:
		as.Class = ReasoningClass
	case p.Kind == protocol.OtherPart:
		as.Class = MediaClass
		r.b.media += len(p.Raw)
	case role == protocol.System:
		as.Class, as.Change = SystemClass, r.changeIf(r.change.System)
	case role == protocol.Assistant:
		as.Class = ModelTextClass
	default:
		as.Class = UserTextClass
	}
	return as
}

// measurePieces computes the size of each piece without the pieces inside it, and sorts the pieces in the order in
// which providers cache them.
func (b *Breakdown) measurePieces() {
	slices.SortStableFunc(b.pieces, func(a, c bodyPiece) int { return cmp.Or(a.at-c.at, c.end-a.end) })
	var around []int
	for i := range b.pieces {
		p := &b.pieces[i]
		p.own = p.end - p.at
		for len(around) > 0 && b.pieces[around[len(around)-1]].end <= p.at {
			around = around[:len(around)-1]
		}
		if len(around) > 0 {
			b.pieces[around[len(around)-1]].own -= p.own
		}
		around = append(around, i)
	}
	for _, p := range b.pieces {
		b.Rows[p.row].Bytes += p.own
		b.Total.Bytes += p.own
	}
	rank := func(p bodyPiece) int {
		switch class := b.Rows[p.row].Class; class {
		case ToolsClass, SystemClass:
			return int(class)
		case OtherClass:
			return int(OtherClass)
		}
		return int(ResultClass)
	}
	slices.SortStableFunc(b.pieces, func(a, c bodyPiece) int { return rank(a) - rank(c) })
}

// orderRows sorts the rows by class, and moves the smallest rows to the last one if there are too many.
func (b *Breakdown) orderRows() {
	order := make([]int, 0, len(b.Rows))
	for i := range b.Rows {
		order = append(order, i)
	}
	slices.SortStableFunc(order, func(i, j int) int { return int(b.Rows[i].Class) - int(b.Rows[j].Class) })
	bySize := slices.Clone(order)
	slices.SortStableFunc(bySize, func(i, j int) int { return b.Rows[i].Bytes - b.Rows[j].Bytes })
	var others []int // row 0 has the bytes around all parts
	for n := len(b.Rows) - maxBreakdownRows; n > 0; bySize = bySize[1:] {
		if bySize[0] != 0 {
			others = append(others, bySize[0])
			n--
		}
	}
	rows, place := make([]BreakdownRow, 0, maxBreakdownRows), make([]int, len(b.Rows))
	for _, i := range order {
		if slices.Contains(others, i) {
			continue
		}
		place[i] = len(rows)
		rows = append(rows, b.Rows[i])
	}
	for _, i := range others {
		place[i] = place[0]
		rows[place[0]].Bytes += b.Rows[i].Bytes
	}
	for i := range b.pieces {
		b.pieces[i].row = place[b.pieces[i].row]
	}
	b.Rows = rows
}

// SetUsage divides the input tokens of the response among the rows, and computes their costs if rates is not nil.
// The tokens are unknown if media are a large part of the body.
func (b *Breakdown) SetUsage(u stream.Usage, rates *price.Rates) {
	b.Counted = u.Input.Reported && u.Input.N > 0 && float64(b.media) <= maxMediaShare*float64(b.Total.Bytes)
	b.Priced = b.Counted && rates != nil && rates.Input.Known
	for i := range b.Rows {
		b.Rows[i].Tokens, b.Rows[i].Cost = 0, 0
	}
	b.Total.Tokens, b.Total.Cost, b.Cached, b.Uncached = 0, 0, 0, 0
	if !b.Counted {
		return
	}
	all, read, write := float64(u.Input.N), float64(u.CacheRead.N), float64(u.CacheWrite.N)
	b.Total.Tokens, b.Cached = u.Input.N, u.CacheRead.N
	if u.SeenInput.Reported { // these are counts of processed tokens, not of billed tokens
		read, write, b.Cached = 0, 0, 0
	}
	within := func(from, to, start, size float64) float64 { return max(0, min(to, start+size)-max(from, start)) }
	size := 0
	for _, p := range b.pieces {
		row := &b.Rows[p.row]
		from := all * float64(size) / float64(b.Total.Bytes)
		size += p.own
		to := all * float64(size) / float64(b.Total.Bytes)
		row.Tokens += int64(math.Round(to)) - int64(math.Round(from))
		if !b.Priced {
			continue
		}
		cached, written := within(from, to, 0, read), within(from, to, read, write)
		row.Cost += rates.InputCost(to-from, cached, written, float64(u.CacheWriteHour.N)/max(1, write))
	}
	if b.Priced {
		for _, row := range b.Rows {
			b.Total.Cost += row.Cost
		}
		b.Uncached = rates.InputCost(all, 0, 0, 0)
	}
}

// UnusedTools returns the number of named tools that the request declares, and the number and size of those that are
// neither in called nor in the request's history.
func (b *Breakdown) UnusedTools(called map[string]bool) (unused, all, size int) {
	for _, tool := range b.tools {
		if tool.Name == "" {
			continue
		}
		all++
		if !called[tool.Name] && !b.carried[tool.Name] {
			unused++
			size += len(tool.Raw)
		}
	}
	return unused, all, size
}

// A RequestEdit is a difference between a request and the previous request of its conversation, or a run of messages
// that are the same.
type RequestEdit struct {
	Kind EditKind
	Name string // path of the field or message
	Text string
	At   int // offset in the body of the later request; -1 if the part is not in it
}

// EditKind is the kind of a difference between two requests.
type EditKind uint8

const (
	KeptPart EditKind = iota
	AlteredPart
	AddedPart
	RemovedPart
)

// messageLists are the keys of a request's messages.
var messageLists = []string{"messages", "input", "contents"}

// CompareRequests lists the differences between the bodies of two requests, in the order of the later one. It ignores
// differences in white space, in the order of fields, and in cache marks.
func CompareRequests(was, is json.Value) (edits []RequestEdit) {
	d := requestDiff{body: is}
	s := is.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		key, now := string(s.Key()), s.Value()
		before := was.Get(key)
		switch lists := before.Kind() == '[' && now.Kind() == '['; {
		case lists && slices.Contains(messageLists, key):
			d.compareMessages(key, slices.Collect(before.Elements()), slices.Collect(now.Elements()))
		case lists && key == "tools":
			d.compareTools(before, now)
		default:
			d.addPair(key, before, now)
		}
	}
	s = was.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		if key, before := string(s.Key()), s.Value(); is.Get(key) == nil {
			d.addPair(key, before, nil)
		}
	}
	return d.edits
}

// requestDiff collects the differences between two requests.
type requestDiff struct {
	body  json.Value // of the later request
	edits []RequestEdit
}

// addEdit adds a difference. The parameter now is a value in the body of the later request, or nil.
func (d *requestDiff) addEdit(kind EditKind, name, text string, now json.Value) {
	at := -1
	if now != nil {
		at = cap(d.body) - cap(now)
	}
	d.edits = append(d.edits, RequestEdit{kind, name, text, at})
}

// addPair adds the difference between two values, one of which may be nil. Equal values add nothing.
func (d *requestDiff) addPair(name string, before, now json.Value) {
	switch words := providers.DescribeDifference(name, before, now); {
	case words == "":
	case before == nil:
		d.addEdit(AddedPart, name, partText(now), now)
	case now == nil:
		d.addEdit(RemovedPart, name, partText(before), nil)
	default:
		d.addEdit(AlteredPart, name, words, now)
	}
}

// partText describes a value: a message by its role and blocks, and other values by their first bytes.
func partText(v json.Value) string {
	if role := v.Get("role").Text(); role != "" {
		return role + "  " + messageText(v)
	}
	return blockText(v)
}

// compareMessages adds the differences between two lists of messages. The messages that are the same at the beginning
// of both lists are one row, and so are those that are the same at the end.
func (d *requestDiff) compareMessages(key string, before, now []json.Value) {
	same := func(a, b json.Value) bool { return providers.DescribeDifference(key, a, b) == "" }
	most := min(len(before), len(now))
	head, tail := 0, 0
	for head < most && same(before[head], now[head]) {
		head++
	}
	for tail < most-head && same(before[len(before)-1-tail], now[len(now)-1-tail]) {
		tail++
	}
	name := func(n int) string { return key + "[" + strconv.Itoa(n) + "]" }
	addKept := func(from, to int) {
		switch {
		case to == from+1:
			d.addEdit(KeptPart, name(from), "the same", now[from])
		case to > from:
			d.addEdit(KeptPart, name(from)+" to ["+strconv.Itoa(to-1)+"]", "the same", now[from])
		}
	}
	addKept(0, head)
	before, end := before[head:len(before)-tail], len(now)-tail
	for n := head; n < max(end, head+len(before)); n++ {
		var a, b json.Value
		if n-head < len(before) {
			a = before[n-head]
		}
		if n < end {
			b = now[n]
		}
		d.addPair(name(n), a, b)
	}
	addKept(end, len(now))
}

// compareTools adds the tools that were added, removed or changed. If only their order changed, it adds one
// difference for the whole list. Lists with entries without a name are compared as a whole.
func (d *requestDiff) compareTools(before, now json.Value) {
	old, tools, edits := conversation.DeclaredTools(before), conversation.DeclaredTools(now), len(d.edits)
	find := func(list []conversation.DeclaredTool, name string) json.Value {
		if i := slices.IndexFunc(list, func(t conversation.DeclaredTool) bool { return t.Name == name }); i >= 0 {
			return list[i].Raw
		}
		return nil
	}
	if find(old, "") != nil || find(tools, "") != nil {
		d.addPair("tools", before, now)
		return
	}
	for _, tool := range tools {
		if was := find(old, tool.Name); was != nil {
			d.addPair("tools."+tool.Name, was, tool.Raw)
		} else {
			d.addEdit(AddedPart, "tools."+tool.Name, "", tool.Raw)
		}
	}
	for _, tool := range old {
		if find(tools, tool.Name) == nil {
			d.addEdit(RemovedPart, "tools."+tool.Name, "", nil)
		}
	}
	if len(d.edits) == edits && providers.DescribeDifference("tools", before, now) != "" {
		d.addEdit(AlteredPart, "tools", "in another order", now)
	}
}
