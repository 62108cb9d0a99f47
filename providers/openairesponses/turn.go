package openairesponses

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// turn is one response.
type turn struct {
	*protocol.Turn
	streamID string // stream_id, "" for the one stream without an id
	items    items
	last     *item // item of the latest text; nil after a call
	search   *item // the latest call of the provider's own tool search
	isBody   bool  // the response is a body: everything comes at once
	waiting  bool  // a snapshot: the end of the bytes doesn't cut it off
	buf      []byte

	failed  bool // an error was reported
	failure string
}

// isFor reports whether r is this turn's response.
func (t *turn) isFor(r *wireResponse) bool { return t.Turn != nil && t.ID != "" && r.id.Is(t.ID) }

// close ends an open turn; missing says what is missing, or is "".
func (t *turn) close(missing string) {
	if missing == "" {
		t.End()
	} else {
		t.Cut(missing)
	}
	t.items, t.last, t.search = items{}, nil, nil
}

// updateString stores a value from the wire, and returns it if it is new.
func updateString(known *string, said protocol.Raw) string {
	text := said.Text()
	if text == "" || text == *known {
		return ""
	}
	*known = text
	return text
}

// updateTurn reads a later copy of the response object. Copilot changes even the id of the response
// from event to event.
func (t *turn) updateTurn(r *wireResponse) {
	news := stream.Opening{ID: updateString(&t.ID, r.id), Model: updateString(&t.Model, r.model)}
	if news != (stream.Opening{}) {
		t.Update(news)
	}
}

// finishTurn ends a turn with the complete response, which repeats its items. word is the status that
// the event implies.
func (d *decoder) finishTurn(t *turn, r *wireResponse, from, word string) {
	t.updateTurn(r)
	d.compareOutput(t, r, from)
	code, known := finishCodes[word]
	switch told, ok := finishCodes[r.status.Text()]; {
	case ok && told != stream.FinishDone:
		word, code, known = r.status.Text(), told, true
	case !ok && r.status.Text() != "" && !r.status.Is("in_progress") && !r.status.Is("queued"):
		word, known = r.status.Text(), false
	}
	if code == stream.FinishDone {
		t.sealRest(from)
	}
	t.reportUsage(r)
	if r.err.IsPresent() && !t.failed {
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

// compareOutput compares the items in the complete response with the streamed items. The output is
// empty or missing on providers that store nothing.
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
		if fresh && streamed && it.call != nil {
			it.call.Find(protocol.ItemNotStreamed,
				"the call is only in the complete response at the end: clients that read the streamed items never see it")
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

// sealRest seals the calls whose item has no output_item.done.
func (t *turn) sealRest(from string) {
	for _, it := range t.items.all {
		if it.call == nil || it.done {
			continue
		}
		it.done = true
		if !t.isBody {
			it.call.Find(protocol.ItemDoneMissing,
				"the call has no response.output_item.done: only %s says that the call is complete", stream.Own(from))
		}
		it.call.Seal()
	}
}

// reportUsage reports the token counts, which include the cached and the reasoning tokens, and the
// service tier.
func (t *turn) reportUsage(r *wireResponse) {
	u := r.usage
	if u.Kind() != '{' {
		return
	}
	in, out := u.Get("input_tokens_details"), u.Get("output_tokens_details")
	n := stream.Usage{
		Input: u.Get("input_tokens").Count(), Output: u.Get("output_tokens").Count(),
		CacheRead: in.Get("cached_tokens").Count(), CacheWrite: in.Get("cache_write_tokens").Count(),
		Reasoning: out.Get("reasoning_tokens").Count(), Tier: r.tier.Text(),
	}
	if total := u.Get("total_tokens").Count(); n.Reasoning.N > 0 && total.N == n.Input.N+n.Output.N+n.Reasoning.N {
		n.Output.N = total.N - n.Input.N // a provider that counts reasoning separately
	}
	n.CostUSD, n.CostReported = u.Get("cost").Float()
	t.Usage(n)
}

func (t *turn) reportError(err, message, code protocol.Raw) {
	t.failed, t.failure = true, errorText(err, message)
	id := ""
	if code.IsPresent() {
		id = string(code.Append(nil))
	}
	t.Fail(id, t.failure)
}

// errorText returns the message of an error, or the error itself if it has none.
func errorText(err, message protocol.Raw) string {
	if text := message.Text(); text != "" {
		return text
	}
	return string(err.Append(nil))
}

// reportResult reads an item that is the result of a call. The result of the provider's tool search
// doesn't name its call.
func (t *turn) reportResult(w *wireItem) {
	id := w.callID.Text()
	if id == "" && w.kind.Is("tool_search_output") && t.search != nil {
		id = t.search.resultID()
	}
	t.AddResult(id, "", w.hasFailed())
}

// addItem begins an item, and a call if the item is one.
func (t *turn) addItem(w *wireItem, index int64) *item {
	it := &item{turn: t, index: index, id: w.id.Text(), kind: w.kind.Text(), slot: int32(index)}
	if index < 0 || index >= int64(extraSlot) || len(t.items.at[index]) > 0 {
		it.slot = extraSlot + int32(len(t.items.all))
	}
	t.items.add(it)
	if _, known := callKinds[it.kind]; !known && !otherItems[it.kind] && !strings.HasSuffix(it.kind, "_output") && it.kind != "" {
		t.Unknown("item " + it.kind)
	}
	if kind, ok := callOf(it.kind, w); ok {
		it.openCall(w, kind)
	}
	return it
}
