package openairesponses

import (
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// item is one output item of a turn.
type item struct {
	turn    *turn
	place   int // position in the turn
	slot    int32
	index   int64 // output_index, or noIndex
	id      string
	kind    string // type of the item
	done    bool   // output_item.done came
	rotates bool   // the call's id changed before the arguments were final

	call     *protocol.Call // nil if the item is not a call
	callKind callKind
	callID   string
	kept     stream.CallInfo // Item, Namespace and Signature, which a replay of the call needs

	args []byte // the arguments as reported
	held []byte // deltas that may not belong to the arguments; see holdDelta
	// holds is set while deltas are held back, because earlier deltas are missing or the first delta doesn't begin
	// JSON.
	holds  bool
	deltas bool   // deltas have arrived
	same   int    // number of equal copies after the first
	from   string // name of the copy that contains the arguments; "" before the first copy
	grow   growingObject

	textSeen map[part]bool // parts of the item's text that have arrived
	signed   bool          // the item's signature was reported
	named    bool          // the id of a reasoning item was reported
	added    bool          // output_item.added came
	partial  bool          // earlier events of the item are missing
}

const (
	noIndex   = int64(-1)
	extraSlot = int32(1 << 20) // first slot for items whose index is missing, repeated or too large
)

// These events begin and end an item. The copies of the arguments in them are named after the events.
const (
	itemAdded = "output_item.added"
	itemDone  = "output_item.done"
)

// outputIndex returns an event's output_index, or noIndex. The result ok is false if the event has none.
func (t *turn) outputIndex(ev *event) (index int64, ok bool) {
	if index, ok = t.ReadIndex(ev.index); !ok {
		index = noIndex
	}
	return index, ok
}

// ensureItem returns the item of the given kind that an event is about. If the event comes before output_item.added,
// ensureItem adds the item.
func (t *turn) ensureItem(ev *event, kind string) *item {
	it := t.findItem(ev, kind)
	if it == nil {
		it = t.findMistyped(ev, kind)
	}
	if it == nil {
		index, _ := t.outputIndex(ev)
		it = t.addItem(&wireItem{id: ev.itemID}, index)
	}
	if it.call == nil {
		if call, ok := callKinds[kind]; ok {
			it.kind = kind
			it.openCall(new(wireItem), call)
			if t.incomplete {
				it.holds, it.partial = true, true
			} else {
				it.call.Find(stream.ProtocolViolation, "arguments arrived before output_item.added")
			}
		}
	}
	return it
}

// itemAdded reads response.output_item.added.
func (d *decoder) itemAdded(t *turn) {
	w := &d.item
	w.read(d.ev.item)
	index, indexed := t.outputIndex(&d.ev)
	if !indexed && !d.ev.index.IsPresent() {
		t.Once(protocol.IndexMissing, "the items have no output_index: only their ids tell them apart")
	}
	var it *item
	if there := t.items.at[index]; indexed && len(there) > 0 {
		if it = t.items.findAnnounced(w, index); it != there[0] {
			t.Once(protocol.IndexReused,
				"several items have output_index %d: clients that merge by index join these items", index)
		}
	}
	if it == nil {
		it = t.addItem(w, index)
	}
	it.added = true
	it.updateItem(w, itemAdded)
}

// itemDone reads response.output_item.done, which contains the final item.
func (d *decoder) itemDone(t *turn) {
	w := &d.item
	w.read(d.ev.item)
	named := d.ev.itemID
	d.ev.itemID = w.id
	it := t.findItem(&d.ev, w.kind.Text())
	d.ev.itemID = named // the shape doesn't clear what it didn't set
	index, indexed := t.outputIndex(&d.ev)
	if it != nil && (it.kind != "" && !w.kind.Is(it.kind) || (it.done || !indexed) && it.id != "" && !w.id.Is(it.id)) {
		it = nil // another item, which has no index or the index of an earlier item
	}
	if it == nil {
		it = t.addItem(w, index)
		if it.call != nil && !t.incomplete {
			it.call.Find(stream.ProtocolViolation.WithSeverity(stream.Warn), "output_item.done arrived without output_item.added")
		}
	}
	it.endItem(w, itemDone)
}

// openCall opens the call for an item that is a call.
func (it *item) openCall(w *wireItem, kind callKind) {
	it.callKind = kind
	it.turn.items.setCallID(it, w.callID.Text())
	if it.kind == "tool_search_call" {
		it.turn.search = it
	}
	info := it.newInfo(w, itemAdded)
	info.ID, info.Name, info.Kind = it.resultID(), w.name.Text(), kind.word
	if info.Name == "" && kind.word == "server" {
		info.Name = it.kind
	}
	info.RunByProvider, info.Freeform = kind.byProvider(w), kind.freeform
	info.Parent, info.MCPServer = w.caller.Text(), w.host.Text()
	it.turn.last = nil
	it.call = it.turn.OpenCall(it.slot, info)
}

// newInfo returns the changed metadata that a replay of the call needs. Some providers change ids from event to
// event. In that case, the first id stays until the item is done, because the provider stores the item under the id
// in the final item.
func (it *item) newInfo(w *wireItem, from string) (news stream.CallInfo) {
	id := it.idOf(w)
	if it.callID != "" && id != it.callID && id != it.kept.Item && (it.kept.Item == "" || from == itemDone && !it.done) {
		it.kept.Item, news.Item = id, id
	}
	if it.kept.Namespace == "" || !it.done {
		news.Namespace = updateString(&it.kept.Namespace, w.space)
	}
	if it.kept.Signature == "" || !it.done {
		news.Signature = updateString(&it.kept.Signature, w.fingerprint)
	}
	return news
}

// idOf returns the id in a copy of the item. If the copy has no id, it returns the item's known id.
func (it *item) idOf(w *wireItem) string {
	if id := w.id.Text(); id != "" {
		return id
	}
	return it.id
}

// resultID returns the id to which a result must refer: the call_id, or the item's own id if there is no call_id.
func (it *item) resultID() string {
	if it.callID != "" {
		return it.callID
	}
	return it.id
}

// updateItem reads a later copy of an item.
func (it *item) updateItem(w *wireItem, from string) {
	if it.kind == "" {
		it.kind = w.kind.Text()
	}
	if id := w.id.Text(); id != "" && id != it.id {
		if callID := w.callID.Text(); it.id != "" && !(it.done && it.callID != "" && callID != "" && callID != it.callID) {
			it.turn.reportRotatedID() // otherwise the call itself has a different id, which is reported with both values
		}
		if !it.done {
			if s := &it.turn.items; s.isListed(it) {
				moveItem(s.byID, it, it.id, id)
			}
			it.id = id
		}
	}
	if it.call == nil {
		return
	}
	it.updateCall(w, from)
	if value, wrap := w.callArguments(); value.IsPresent() {
		it.addCopy(value, wrap, from)
	}
}

// updateCall reads the ids and the name of a call from a later copy. After the arguments are final, it adds missing
// values but only compares known values.
func (it *item) updateCall(w *wireItem, from string) {
	if id := w.callID.Text(); id != "" && id != it.callID {
		switch {
		case it.callID == "":
		case it.done && it.rotates:
			it.call.Find(protocol.CallIDChanged.WithSeverity(stream.Info),
				"the call's id in %s is %q, but it was %q in the stream: the provider uses a different id in each event", stream.OwnFact(from), id, it.callID)
		case it.done:
			it.call.Find(protocol.CallIDChanged,
				"the call's id in %s is %q, but it was %q in the stream: the provider refuses a result with the wrong id", stream.OwnFact(from), id, it.callID)
		default:
			it.rotates = true
			it.call.Find(protocol.CallIDChanged.WithSeverity(stream.Info),
				"the call's id in %s is %q, but it was %q before: the id in output_item.done is the valid one", stream.OwnFact(from), id, it.callID)
		}
		if it.callID == "" || !it.done {
			it.turn.items.setCallID(it, id)
		}
	}
	news := it.newInfo(w, from)
	if name, before := w.name.Text(), it.call.Name; name != "" && name != before {
		if before != "" && before != it.kind {
			it.call.Find(nameChanged, "the call's name in %s is %q, but it was %q before", stream.OwnFact(from), name, before)
		}
		if before == "" || !it.done {
			news.Name = name
		}
	}
	if id := it.resultID(); id != it.call.ID {
		news.ID = id
	}
	if news != (stream.CallInfo{}) {
		it.call.Meta(news)
	}
}

// endItem reads the final copy of an item.
func (it *item) endItem(w *wireItem, from string) {
	it.updateItem(w, from)
	switch it.kind {
	case "message":
		it.appendMissingSection(contentText, w.content)
	case "reasoning":
		it.appendMissingSection(reasoningText, w.content)
		it.appendMissingSection(summaryText, w.summary)
	}
	it.signReasoning(w)
	again := it.done
	it.done = true
	switch {
	case again:
	case it.call != nil:
		it.endCall(w)
	case strings.HasSuffix(it.kind, "_output"):
		id := w.callID.Text()
		if search := it.turn.search; id == "" && w.kind.Is("tool_search_output") && search != nil {
			id = search.resultID() // the result of the provider's tool search doesn't contain the id of its call
		}
		it.turn.AddResult(id, "", w.hasFailed())
	}
}

func (it *item) endCall(w *wireItem) {
	kind := it.callKind
	it.releaseDeltas()
	if kind.word == "function" && it.added && !it.deltas && len(it.args) > 0 && it.from != itemAdded {
		it.call.Find(DeltasMissing, "no deltas of the arguments arrived, only %s: clients that join deltas run the call with {}", stream.OwnFact(it.from))
	}
	it.call.Seal()
	if it.callID == "" && (kind.word == "function" || kind.word == "custom") {
		it.call.Find(protocol.IDMissing, "the call has no call_id: a result can't refer to the call; toolscope shows the item's own id")
	}
	if len(it.args) == 0 && kind.member == "arguments" && w.args[0].Kind() == 'n' {
		it.call.Find(protocol.ArgsNull, "the arguments are null: toolscope uses {} instead")
	}
	if kind.runner == byProvider && (w.hasFailed() || w.status.Is("completed") || w.output.IsPresent()) {
		it.turn.AddResult(it.resultID(), "", w.hasFailed())
	}
}

// hasFailed reports whether the item has an error or the status failed.
func (w *wireItem) hasFailed() bool { return w.err.IsPresent() || w.status.Is("failed") }

// items contains the items of a turn, with indexes. The cost of finding an item doesn't depend on the number of
// items, unless many items have the same id or index, or events have no index.
type items struct {
	all    []*item
	at     map[int64][]*item // items by output_index: one per index, if the provider counts correctly
	byID   map[string][]*item
	byCall map[string][]*item // items by call_id
}

func (s *items) setCallID(it *item, id string) {
	if s.isListed(it) {
		moveItem(s.byCall, it, it.callID, id)
	}
	it.callID = id
}

func (s *items) isListed(it *item) bool { return it.place < len(s.all) && s.all[it.place] == it }

// moveItem moves an item from the list for one id to the list for another. There is no list for an empty id.
func moveItem(lists map[string][]*item, it *item, from, to string) {
	if i := slices.Index(lists[from], it); i >= 0 {
		lists[from] = slices.Delete(lists[from], i, i+1)
	}
	if to != "" {
		lists[to] = append(lists[to], it)
	}
}

// latestWhere returns the last item of a list for which is(item) is true, or nil.
func latestWhere(list []*item, is func(*item) bool) *item {
	for _, it := range slices.Backward(list) {
		if is(it) {
			return it
		}
	}
	return nil
}

// findItem returns the item of the given kind that an event is about, or nil. It first looks for an item with both
// the output_index and the item id. Then it looks for an item with the id, for providers that count wrongly. Last, it
// looks for an item with the index, for providers that change ids. If the event has no index, it instead returns the
// latest item that is not done.
func (t *turn) findItem(ev *event, kind string) *item {
	may := func(it *item) bool { return it.kind == "" || it.kind == kind }
	n, indexed := t.ReadIndex(ev.index)
	id := ev.itemID.OrDefault(nil)
	named := t.items.byID[string(id)]
	if it := latestWhere(named, func(it *item) bool { return it.index == n && may(it) }); indexed && it != nil {
		return it
	}
	if it := latestWhere(named, may); it != nil {
		if indexed {
			t.Once(indexWrong, "an event has the id of one item and the output_index of another: clients that merge by index join the items")
		}
		return it
	}
	var it *item
	if indexed {
		it = latestWhere(t.items.at[n], may)
	} else {
		it = latestWhere(t.items.all, func(it *item) bool { return !it.done && may(it) })
	}
	if it != nil && it.id != "" && len(id) > 0 {
		t.reportRotatedID()
	}
	return it
}

// mistypedEvent is the finding about events for another kind of call.
var mistypedEvent = stream.ProtocolViolation.WithSeverity(stream.Warn)

// argumentKinds contains the types of items whose arguments come in deltas of their own type.
var argumentKinds = map[string]bool{"function_call": true, "custom_tool_call": true, "mcp_call": true}

// findMistyped looks for the call that an event about arguments names, if that call is of another kind. The event names
// the call by its id, or by its index. If findMistyped finds the call, it reports the event. Otherwise, it returns nil.
func (t *turn) findMistyped(ev *event, kind string) *item {
	if !argumentKinds[kind] {
		return nil
	}
	list := t.items.byID[ev.itemID.Text()]
	if index, indexed := t.ReadIndex(ev.index); indexed && ev.itemID.Text() == "" {
		list = t.items.at[index]
	}
	it := latestWhere(list, func(it *item) bool { return it.call != nil && argumentKinds[it.kind] })
	if it != nil {
		it.call.Once(mistypedEvent,
			"arguments of this %s arrived in events for a %s: clients that read the events of the item's type miss them", stream.OwnFact([]byte(it.kind)), stream.OwnFact([]byte(kind)))
	}
	return it
}

func (t *turn) reportRotatedID() {
	t.Once(itemIDRotated,
		"the id of an item changes from event to event: only output_index shows which item an event belongs to; clients that merge by item_id lose deltas")
}

// findAnnounced returns the existing item that output_item.added announces. The item exists if a delta came first, or
// if the event came twice. If the item at the index is a different item, findAnnounced returns nil.
func (s *items) findAnnounced(w *wireItem, index int64) *item {
	if it := latestWhere(s.byID[w.id.Text()], func(it *item) bool { return it.index == index }); it != nil {
		return it
	}
	it := latestWhere(s.at[index], func(it *item) bool { return it.kind == "" || w.kind.Is(it.kind) })
	if it != nil && (it.kind == "" || it.id == "" && !it.done) {
		return it
	}
	return nil
}

// matchItem returns the item that the complete response repeats at position i, or nil.
func (s *items) matchItem(w *wireItem, i int64) (found *item) {
	same := func(it *item) bool { return w.kind.Is(it.kind) }
	if twins := s.byCall[w.callID.Text()]; len(twins) > 1 { // several calls have this call_id
		for _, is := range [...]func(*item) bool{
			func(it *item) bool { return same(it) && it.id != "" && w.id.Is(it.id) },
			func(it *item) bool { return same(it) && it.index == i },
		} {
			if found = latestWhere(twins, is); found != nil {
				return found
			}
		}
	}
	for _, list := range [...][]*item{s.byID[w.id.Text()], s.byCall[w.callID.Text()]} {
		n := slices.IndexFunc(list, same)
		if n >= 0 && (found == nil || list[n].place < found.place) {
			found = list[n]
		}
	}
	if found == nil {
		found = latestWhere(s.at[i], same)
	}
	return found
}

// readResult reads the item of a result. If the provider ran the call, the result is also the provider's.
func (h *history) readResult(w *wireItem) protocol.Part {
	p := protocol.Part{Kind: protocol.ResultPart, ID: w.callID.Text(), Item: w.id.Text(), Raw: w.raw}
	p.Failed = w.status.Is("failed") || w.err.IsPresent()
	switch kind := w.kind.Text(); kind {
	case "shell_call_output":
		readShell(&p, w.output)
	case "local_shell_call_output":
		if p.ID == "" {
			p.ID, p.Item = p.Item, ""
		}
		p.Text = w.output.Append(nil)
	case "tool_search_output":
		p.Text, p.RunByProvider = w.raw.Get("tools").Append(nil), !w.execution.Is("client")
	case "program_output":
		p.Text, p.RunByProvider = w.raw.Get("result").Append(nil), true
		p.Failed = p.Failed || w.status.Is("incomplete")
	case "mcp_approval_response":
		p.ID = w.raw.Get("approval_request_id").Text()
		p.Text, p.Failed = []byte(w.raw.Get("reason").Text()), string(w.raw.Get("approve")) == "false"
	default:
		if p.Text, p.Media = protocol.ResultText(w.output); w.output.Kind() == '{' {
			p.Text, p.Media = nil, 1 // the output is a screenshot
		}
	}
	if call := h.callOf(&p, w); call != nil {
		p.ID, p.RunByProvider = call.ID, call.RunByProvider
	}
	return p
}

// callOf returns the call that a result belongs to, or nil. Some results contain the id of the call's item instead of
// the call_id. A result of the provider's own tool search contains no call id.
func (h *history) callOf(p *protocol.Part, w *wireItem) *protocol.Part {
	for i := len(h.calls) - 1; i >= 0; i-- {
		switch c := &h.calls[i]; {
		case p.ID != "" && (c.ID == p.ID || c.Item == p.ID),
			p.ID == "" && w.kind.Is("tool_search_output") && c.Name == "tool_search_call":
			return c
		}
	}
	return nil
}

// readShell reads the output of shell commands. The result counts as failed if a command failed or timed out.
func readShell(p *protocol.Part, output json.Value) {
	if output.Kind() != '[' {
		p.Text = output.Append(nil)
		return
	}
	for v := range output.Elements() {
		p.Text = v.Get("stderr").Append(v.Get("stdout").Append(p.Text))
		outcome := v.Get("outcome")
		code, exited := outcome.Get("exit_code").Int()
		p.Failed = p.Failed || outcome.Get("type").Is("timeout") || exited && code != 0
	}
}
