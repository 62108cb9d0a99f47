package openairesponses

import (
	"bytes"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// decoder reads one exchange: one response over HTTP, or many over a WebSocket. A WebSocket has several
// streams, each of which may have an open response.
type decoder struct {
	*protocol.Out
	ev       event
	kind     []byte       // type of the event
	item     wireItem     // the item in an event or in a response
	response wireResponse // the response in the event, or the complete body
	turns    []*turn      // the latest turn of each stream_id
}

func newDecoder(o *protocol.Out) protocol.Decoder {
	d := &decoder{Out: o}
	d.ev.bindShape()
	return d
}

// Frame reads one event or one complete body. The event type is in the body. If the body has no type, the
// name of the server-sent event is the type.
func (d *decoder) Frame(f stream.Frame) error {
	if protocol.IsDone(f.Data) { // not part of this protocol, but providers add it; no event follows it
		for _, t := range d.turns {
			if t.IsOpen() && !t.failed {
				t.Find(protocol.FinishMissing,
					"[DONE] arrived without response.completed: clients that wait for response.completed never finish, and the usage is missing")
			}
			t.close("")
		}
		return nil
	}
	ev := &d.ev
	if err := ev.shape.Read(f.Data); err != nil {
		return err
	}
	d.kind = ev.kind.OrDefault(f.Event)
	isBare := !ev.kind.IsPresent() && !ev.response.IsPresent() && ev.object.Is("response") && bytes.HasPrefix(f.Event, []byte("response."))
	if isBare {
		ev.response = f.Data
	}
	d.checkNumber()
	switch string(d.kind) {
	case "response.created":
		d.startResponse()
	case "response.queued", "response.in_progress":
		d.updateResponse()
	case "response.completed", "response.done": // Codex's back end sends response.done over a WebSocket
		d.endResponse("completed")
	case "response.incomplete":
		d.endResponse("incomplete")
	case "response.failed":
		d.endResponse("failed")
	case "response.cancelled":
		d.endResponse("cancelled")
	case "response.output_item.added":
		d.itemAdded(d.ensureTurn())
	case "response.output_item.done":
		d.itemDone(d.ensureTurn())
	case "error":
		d.reportError(f.Data)
	case "keepalive":
		d.Heartbeat()
	case "rate_limits.updated", "codex.rate_limits":
	case "":
		d.readNonEvent(f.Data)
	default:
		e, ok := itemEvents[string(d.kind)]
		switch {
		case !ok:
			d.Unknown(string(d.kind))
		case e.does != nil:
			e.does(d, d.ensureTurn().ensureItem(&d.ev, e.item))
		}
	}
	if isBare {
		ev.response = nil // the shape doesn't clear what it didn't set
	}
	if isBare && d.latestTurn().Turn != nil {
		d.latestTurn().Once(responseIsBare,
			"the data of %s is the response itself, without a type: clients that read the type, such as Codex, ignore the event", stream.OwnFact(d.kind))
	}
	if d.Last() != nil { // OpenRouter omits the event names, which CheckName reports; WebSocket messages have no event names
		d.CheckName(f.Event, d.kind, f.Named && bytes.HasPrefix(d.kind, []byte("response.")))
	}
	return nil
}

// responseIsBare is the finding about an event whose data is a response instead of an object that contains it.
var responseIsBare = stream.ProtocolViolation.WithSeverity(stream.Warn)

// checkNumber compares the sequence_number of an event with that of the event before it. After a gap, the
// deltas of open function and custom calls are held back until a copy of the complete arguments arrives.
func (d *decoder) checkNumber() {
	n, numbered := d.ev.number.Int()
	t := d.latestTurn()
	if !numbered || !t.IsOpen() {
		return
	}
	before := t.number
	if t.number = n; !t.numbered || n <= before+1 || string(d.kind) == "response.created" {
		t.numbered = true
		return
	}
	found := numbersMissing.WithSeverity(stream.Info)
	for _, it := range t.items.all {
		if it.call != nil && !it.done {
			it.holds, it.partial = it.callKind.word == "function" || it.callKind.word == "custom", true
			found = numbersMissing
		}
	}
	t.incomplete = true
	t.Once(found, "sequence_number jumps from %d to %d: %s missing", before, n, stream.Own(count.Of(n-before-1, "event")))
}

// Close ends the stream. Each open response is cut off, except snapshots of background responses.
func (d *decoder) Close() {
	for _, t := range d.turns {
		if t.IsOpen() && !t.waiting {
			t.close("the stream ended without response.completed")
		}
	}
}

// readNonEvent reads an object that is not an event: a body or an error.
func (d *decoder) readNonEvent(data json.Value) {
	switch ev := &d.ev; {
	case ev.object.Is("response"), ev.output.Kind() == '[':
		d.latestTurn().close("the stream ended without response.completed: a complete response follows")
		r := d.response.read(data)
		t := d.openTurn(r)
		t.isBody = true
		if r.status.Is("queued") || r.status.Is("in_progress") {
			t.waiting = true
			d.compareOutput(t, r, bodyCopy)
			t.Find(responseNotOver, "the response is %s: the body is a snapshot of the response so far", stream.Fact(r.status.Text()))
			return
		}
		d.finishTurn(t, r, bodyCopy, r.status.Text())
	case protocol.IsError(ev.err), ev.message.IsString():
		d.reportError(data)
	default:
		d.Unknown("")
	}
}

// eventName returns the type of the event without "response.". Findings use this name for the copy of the arguments
// that the event contains.
func (d *decoder) eventName() string { return strings.TrimPrefix(string(d.kind), "response.") }

// latestTurn returns the latest turn with the event's stream_id. If there is none, it returns a new turn that
// has not begun.
func (d *decoder) latestTurn() *turn {
	for _, t := range d.turns {
		if t.streamID == "" && !d.ev.streamID.IsString() || d.ev.streamID.Is(t.streamID) {
			return t
		}
	}
	return new(turn)
}

// openTurn opens a turn with the event's stream_id.
func (d *decoder) openTurn(r *wireResponse) *turn {
	t := d.latestTurn()
	if t.Turn == nil {
		d.turns = append(d.turns, t)
	}
	*t = turn{Turn: d.Open(stream.Opening{ID: r.id.Text(), Model: r.model.Text()}), streamID: d.ev.streamID.Text()}
	return t
}

// ensureTurn returns the open turn with the event's stream_id. If no turn is open, it opens one and reports
// that the beginning of the response is missing.
func (d *decoder) ensureTurn() *turn {
	t := d.latestTurn()
	if !t.IsOpen() {
		t = d.openTurn(d.response.read(d.ev.response))
		if n, numbered := d.ev.number.Int(); numbered && n > 1 {
			t.incomplete = true
			t.Find(resumed, "the capture begins at event %d of the response: the stream was resumed, or its beginning was not recorded", n)
			return t
		}
		t.Find(stream.ProtocolViolation.WithSeverity(stream.Warn),
			"%s arrived before response.created: the beginning of the stream is missing", stream.OwnFact(d.kind))
	}
	return t
}

func (d *decoder) startResponse() {
	r := d.response.read(d.ev.response)
	switch t := d.latestTurn(); {
	case !t.IsOpen():
	case t.isFor(r): // the same event arrived again
		t.updateTurn(r)
		return
	default:
		if !t.failed {
			t.Find(protocol.ResponseRestarted,
				"another response began before this response ended: a gateway inserted a retry into the body, or the end of this response was lost")
		}
		t.close("the response ended without response.completed: another response began instead")
	}
	d.openTurn(r)
}

func (d *decoder) updateResponse() {
	r := d.response.read(d.ev.response)
	switch t := d.latestTurn(); {
	case t.IsOpen():
		t.updateTurn(r)
	case !t.isFor(r):
		d.openTurn(r)
	}
}

// endResponse reads the event that ends a response. The parameter status is the status that the event implies. The
// event may arrive twice.
func (d *decoder) endResponse(status string) {
	r := d.response.read(d.ev.response)
	if t := d.latestTurn(); t.Turn == nil || t.IsOpen() || !t.isFor(r) && r.id.Text() != "" {
		d.finishTurn(d.ensureTurn(), r, string(d.kind), status)
	}
}

// bodyCopy is the name for the copy of the arguments in a complete body.
const bodyCopy = "the body"

// reportError reports an error event. The error's fields are in the event itself, as documented, or in an error
// object, as seen in recorded streams. A response.failed event may repeat the error before or after this event.
func (d *decoder) reportError(data json.Value) {
	err, message, code := data, d.ev.message, d.ev.code
	if protocol.IsError(d.ev.err) {
		err, message, code = d.ev.err, d.ev.err.Get("message"), d.ev.err.Get("code")
		if !code.IsPresent() {
			code = d.ev.err.Get("type")
		}
	}
	t := d.latestTurn()
	switch {
	case t.IsOpen():
	case t.failed && t.failure == errorText(err, message):
		return
	default:
		t = d.openTurn(new(wireResponse))
	}
	t.reportError(err, message, code)
}

// turn is one response.
type turn struct {
	*protocol.Turn
	streamID string // stream_id of the events; "" if they have none
	items    items
	last     *item  // the item of the latest text; nil after a call
	search   *item  // the latest tool search, which the provider or the client runs
	isBody   bool   // the response arrived as a body, not as events
	waiting  bool   // the body is a snapshot: the end of the stream doesn't cut it off
	copyName string // the name of the copy that replaces held deltas

	incomplete bool  // events are missing, because the stream was resumed or its numbers have a gap
	numbered   bool  // number is known
	number     int64 // sequence_number of the latest event
	buf        []byte

	failed  bool // an error was reported
	failure string
}

// isFor reports whether r is this turn's response.
func (t *turn) isFor(r *wireResponse) bool { return t.Turn != nil && t.ID != "" && r.id.Is(t.ID) }

// close ends an open turn. The parameter missing says what is missing, or is "" if the turn is complete.
func (t *turn) close(missing string) {
	if missing == "" {
		t.End()
	} else {
		t.Cut(missing)
	}
	t.items, t.last, t.search = items{}, nil, nil
}

// updateString stores the text of a value in the string known. It returns the text if it is new and not empty, and
// otherwise "".
func updateString(known *string, said json.Value) string {
	text := said.Text()
	if text == "" || text == *known {
		return ""
	}
	*known = text
	return text
}

// updateTurn reads a later copy of the response object. Copilot changes even the response's id from event
// to event.
func (t *turn) updateTurn(r *wireResponse) {
	news := stream.Opening{ID: updateString(&t.ID, r.id), Model: updateString(&t.Model, r.model)}
	if news != (stream.Opening{}) {
		t.Update(news)
	}
}

// finishTurn ends a turn with the complete response, which repeats the turn's items. The parameter word is the
// status that the event implies, or the status in the body.
func (d *decoder) finishTurn(t *turn, r *wireResponse, from, word string) {
	t.updateTurn(r)
	d.compareOutput(t, r, from)
	code, known := finishCodes.Of(word)
	switch told, ok := finishCodes.Of(r.status.Text()); {
	case ok && told != stream.FinishDone:
		word, code, known = r.status.Text(), told, true
	case !ok && r.status.Text() != "" && !r.status.Is("in_progress") && !r.status.Is("queued"):
		word, known = r.status.Text(), false
		if code == stream.FinishDone {
			code = told
		}
	}
	if code == stream.FinishDone || word == "" {
		t.sealRest(from)
	}
	t.reportUsage(r)
	if protocol.IsError(r.err) && !t.failed {
		t.reportError(r.err, r.err.Get("message"), r.err.Get("code"))
	}
	if reason := r.reason.Text(); reason != "" {
		t.Find(finishIncomplete, "the response is incomplete: %s", stream.Fact(reason))
	}
	if word != "" {
		t.Finish(word, code)
		if !known {
			t.Find(protocol.FinishUnknown, "status %q is not documented", stream.Fact(word))
		}
	}
	t.close("")
}

// compareOutput compares the items in the complete response with the streamed items, and adds items that were not
// streamed. If a provider doesn't store the response, the output may be empty or missing.
func (d *decoder) compareOutput(t *turn, r *wireResponse, from string) {
	streamed := len(t.items.all) > 0
	w, list := &d.item, r.output.Scan()
	for i, ok := int64(0), list.Array(); ok; i, ok = i+1, list.Element() {
		w.read(list.Value())
		var it *item
		if streamed {
			it = t.items.matchItem(w, i)
		}
		fresh := it == nil
		if fresh {
			it = t.addItem(w, i)
		}
		if fresh && it.call != nil && !t.isBody && !t.incomplete {
			it.call.Find(protocol.ItemNotStreamed,
				"the call is only in the complete response at the end: clients that read the streamed items never see the call")
		}
		if fresh && !(t.waiting && w.status.Is("in_progress")) {
			it.endItem(w, from)
		} else {
			it.updateItem(w, from)
		}
		if !fresh {
			it.signReasoning(w)
		}
	}
}

// sealRest makes the arguments final for calls without an output_item.done event.
func (t *turn) sealRest(from string) {
	for _, it := range t.items.all {
		if it.call == nil || it.done {
			continue
		}
		it.releaseDeltas()
		if !t.isBody && !t.incomplete {
			it.call.Find(protocol.ItemDoneMissing,
				"the call has no response.output_item.done: only %s shows that the call is complete", stream.Own(from))
		}
		it.call.Seal()
	}
}

// reportUsage reports the token counts and the service tier. The input count includes the cached tokens. The output
// count includes the reasoning tokens, even if the provider reports them separately.
func (t *turn) reportUsage(r *wireResponse) {
	u := r.usage
	if u.Kind() != '{' {
		return
	}
	in, out := u.Get("input_tokens_details"), u.Get("output_tokens_details")
	n := stream.Usage{
		Input: protocol.CountOf(u.Get("input_tokens")), Output: protocol.CountOf(u.Get("output_tokens")),
		CacheRead: protocol.CountOf(in.Get("cached_tokens")), CacheWrite: protocol.CountOf(in.Get("cache_write_tokens")),
		Reasoning: protocol.CountOf(out.Get("reasoning_tokens")), Tier: r.tier.Text(),
		InputAudio: protocol.PositiveCount(in.Get("audio_tokens")), OutputAudio: protocol.PositiveCount(out.Get("audio_tokens")),
	}
	if total := protocol.CountOf(u.Get("total_tokens")); n.Reasoning.N > 0 && total.N == n.Input.N+n.Output.N+n.Reasoning.N {
		n.Output.N = total.N - n.Input.N // this provider doesn't include reasoning in the output count
	}
	n.CostUSD, n.CostReported = u.Get("cost").Float()
	for _, it := range t.items.all {
		switch {
		case it.kind == "web_search_call" && it.isSearch():
			n.WebSearches = stream.Tokens(n.WebSearches.N + 1)
		case billedTools[it.kind]:
			n.Doubt = "the provider's own tools are billed in addition to the tokens"
		}
	}
	t.Usage(n)
}

// billedTools contains the item types of the provider's tools that have a price of their own, except web searches.
var billedTools = map[string]bool{"code_interpreter_call": true, "file_search_call": true, "image_generation_call": true}

// isSearch reports whether the item is a billed web search. Opening a page is free.
func (it *item) isSearch() bool {
	var kind json.Value
	_ = json.Read(it.args, json.Field("type", &kind))
	return !kind.IsPresent() || kind.Is("search")
}

func (t *turn) reportError(err, message, code json.Value) {
	t.failed, t.failure = true, errorText(err, message)
	id := ""
	if code.IsPresent() {
		id = string(code.Append(nil))
	}
	t.Fail(id, t.failure)
}

// errorText returns the message of an error, or the error itself if it has no message.
func errorText(err, message json.Value) string {
	if text := message.Text(); text != "" {
		return text
	}
	return string(err.Append(nil))
}

// addItem adds an item to the turn, and opens a call if the item is a call.
func (t *turn) addItem(w *wireItem, index int64) *item {
	it := &item{turn: t, index: index, id: w.id.Text(), kind: w.kind.Text(), slot: int32(index)}
	if index < 0 || index >= int64(extraSlot) || len(t.items.at[index]) > 0 {
		it.slot = extraSlot + int32(len(t.items.all))
	}
	if s := &t.items; len(s.all) < stream.MaxCalls {
		if s.at == nil {
			s.at, s.byID, s.byCall = map[int64][]*item{}, map[string][]*item{}, map[string][]*item{}
		}
		it.place = len(s.all)
		s.all = append(s.all, it)
		s.at[index] = append(s.at[index], it)
		moveItem(s.byID, it, "", it.id)
	}
	if _, known := callKinds[it.kind]; !known && !otherItems[it.kind] && !strings.HasSuffix(it.kind, "_output") && it.kind != "" {
		t.Unknown("item " + it.kind)
	}
	if kind, ok := callOf(it.kind, w); ok {
		it.openCall(w, kind)
	}
	return it
}

// deltasCopy is the name of the copy of the arguments that consists of the deltas. A copy in an event has the name of
// the event.
const deltasCopy = "the deltas"

// readArgsDelta reads a delta of a call's arguments.
func (d *decoder) readArgsDelta(it *item) {
	if it.holdDelta(d.ev.delta) {
		return
	}
	came := len(it.args)
	if d.ev.delta.IsPresent() {
		it.args = d.ev.delta.Append(it.args)
	}
	it.call.ArgsText(it.args[came:], nil)
	it.from = deltasCopy
}

// holdDelta holds back a delta that may not belong to the arguments, because earlier deltas are missing or the first
// delta doesn't begin JSON. A later copy of the complete arguments shows whether it belongs to them. holdDelta
// reports whether it held the delta back.
func (it *item) holdDelta(delta json.Value) bool {
	if !delta.HasText() {
		return false
	}
	if !it.deltas && len(it.args) == 0 && it.callKind.word == "function" && !beginsJSON(delta.Append(nil)) {
		it.holds = true
	}
	it.deltas = true
	if !it.holds || it.done {
		return false
	}
	it.held = delta.Append(it.held)
	return true
}

// beginsJSON reports whether text can begin the JSON of a call's arguments, or is blank.
func beginsJSON(text []byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) == 0 || strings.IndexByte(`{["ntf-0123456789`, text[0]) >= 0 && !isCipher(text)
}

// isCipher reports whether text consists only of base64 characters and is longer than the literal false.
func isCipher(text []byte) bool {
	return len(text) > len("false") && bytes.IndexFunc(text, func(r rune) bool {
		return !('0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z' || r == '+' || r == '/' || r == '=' || r == '-' || r == '_')
	}) < 0
}

// dropDeltas drops the held deltas. The parameter whole is the copy of the complete arguments that replaces them.
func (it *item) dropDeltas(whole []byte) {
	held := it.held
	it.held, it.holds = nil, false
	switch {
	case len(held) == 0 || it.turn.incomplete:
	case json.Valid(whole) && !bytes.Equal(held, whole):
		it.call.Find(deltasEncrypted, "the deltas are not the arguments; only %s contains the arguments, so clients that join deltas can't run the call", stream.OwnFact(it.turn.copyName))
	case bytes.Equal(held, whole):
		it.from = deltasCopy
	}
}

// releaseDeltas appends the held deltas. No copy of the complete arguments has arrived.
func (it *item) releaseDeltas() {
	if len(it.held) > 0 {
		it.appendArguments(it.held, nil)
		it.from = deltasCopy
	}
	it.held, it.holds = nil, false
}

// readArgsDone reads the event that repeats the complete arguments.
func (d *decoder) readArgsDone(it *item) {
	if it.call.Name == "" && d.ev.name.HasText() {
		it.call.Meta(stream.CallInfo{Name: d.ev.name.Text()})
	}
	if d.ev.whole.IsPresent() {
		it.addCopy(d.ev.whole, "", d.eventName())
	}
}

// appendArguments appends text to the arguments. If toolscope derived the text, source is the form in which it was
// sent; otherwise source is nil.
func (it *item) appendArguments(text, source []byte) {
	it.args = append(it.args, text...)
	it.call.ArgsText(text, source)
}

// addCopy reads the arguments in a copy of the item. The parameters value and wrap are the results of callArguments,
// and from is the name of the copy.
func (it *item) addCopy(value json.Value, wrap, from string) {
	switch {
	case from != itemAdded:
	case len(it.args) > 0:
		return // the arguments in output_item.added are not complete, and deltas have already arrived
	case !value.IsString():
		it.grow.object = bytes.Clone(value) // the object is incomplete: output_item.done contains the complete object
		return
	}
	if !value.IsString() && it.callKind.word != "server" {
		it.call.Once(protocol.ArgsObject, "the arguments are a JSON value, not a string of JSON: clients that expect the string fail")
	}
	if wrap == "" {
		it.turn.buf = value.Append(it.turn.buf[:0])
		it.compareCopy(it.turn.buf, from, nil)
		return
	}
	var list json.Writer
	it.compareCopy(list.Open('{').Key(wrap).Raw(value).Close('}').Text, from, value)
}

// compareCopy reads another copy of the complete arguments. Before the arguments are final, the latest copy replaces
// the earlier ones, because it is the copy that must be sent back. After that, a copy is only compared.
func (it *item) compareCopy(text []byte, from string, source []byte) {
	if it.holds && len(text) > 0 && from != itemAdded {
		it.turn.copyName = from
		it.dropDeltas(text)
		if len(it.args) > 0 && !bytes.Equal(it.args, text) { // some of the arguments came before the gap
			it.args, it.from, it.same = append(it.args[:0], text...), from, 0
			it.call.Rewrite(text, source)
			return
		}
	}
	growing := it.grow.begun && !it.done
	switch {
	case len(it.args) == 0 && !it.done:
		if len(text) > 0 {
			it.appendArguments(text, source)
			it.from = from
		}
		return
	case bytes.Equal(text, it.args), bytes.Equal(text, protocol.JoinSurrogates(it.args)):
		if len(text) > 0 {
			it.same++
			it.call.Meta(stream.CallInfo{Copies: it.same + 1})
		}
		return
	case growing && bytes.HasPrefix(text, it.args):
		it.appendArguments(text[len(it.args):], nil)
		return
	}
	came := it.args
	if growing {
		came = it.grow.closeText(came)
	}
	equal := !it.callKind.freeform && json.Same(protocol.JoinSurrogates(came), text)
	if !equal || !it.grow.begun && it.callKind.word != "server" {
		it.reportMismatch(text, from, equal)
	}
	if len(text) > 0 && !it.done {
		it.args, it.from, it.same = append(it.args[:0], text...), from, 0
		it.grow.off, it.grow.inside = true, false // the object no longer has an open part
		it.call.Rewrite(text, source)
	}
}

// reportMismatch reports that text differs from the earlier copy of the arguments, and at which byte. The parameter
// from is the name of the copy that contains text, and equal is set if the copies are equal as JSON values. If deltas
// are missing, reportMismatch reports nothing.
func (it *item) reportMismatch(text []byte, from string, equal bool) {
	if it.partial {
		return
	}
	before := it.from
	if before == "" {
		before = itemDone
	}
	at := 0
	for at < len(text) && at < len(it.args) && text[at] == it.args[at] {
		at++
	}
	bad, odd := protocol.DoneMismatch.WithSeverity(stream.Error), protocol.DoneMismatch.WithSeverity(stream.Info)
	switch c := it.call; {
	case equal:
		c.FindAt(at, odd, "the arguments in %s equal those in %s, but are written differently from byte %d on", stream.OwnFact(from), stream.OwnFact(before), at)
	case c.RunByProvider:
		c.FindAt(at, odd, "the arguments in %s differ from those in %s at byte %d: the provider ran one of the copies, but toolscope can't tell which one", stream.OwnFact(from), stream.OwnFact(before), at)
	case len(text) == 0:
		c.FindAt(at, bad, "the arguments in %s are empty, but those in %s are not: clients run different arguments, depending on the copy that they read", stream.OwnFact(from), stream.OwnFact(before))
	default:
		c.FindAt(at, bad, "the arguments in %s differ from those in %s at byte %d: clients run different arguments, depending on the copy that they read", stream.OwnFact(from), stream.OwnFact(before), at)
	}
}
