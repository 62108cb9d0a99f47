package openairesponses

import (
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// turn is one response.
type turn struct {
	*protocol.Turn
	streamID string // stream_id, "" for the one lane that needs none
	items    items
	last     *item // whose text came last, nil if a call did
	search   *item // the latest call of the provider's own tool search
	isBody   bool  // a body: everything comes at once
	waiting  bool  // a snapshot: the end of the bytes is no cut
	buf      []byte

	failed  bool // an error was reported
	failure string
}

// isFor reports whether r is this turn's response.
func (t *turn) isFor(r *wireResponse) bool { return t.Turn != nil && t.ID != "" && r.id.Is(t.ID) }

// close ends a turn that is open; missing is what did not come, "" if everything did.
func (t *turn) close(missing string) {
	if missing == "" {
		t.End()
	} else {
		t.Cut(missing)
	}
	t.items, t.last, t.search = items{}, nil, nil
}

// updateString keeps what the wire says, and returns it if that is news.
func updateString(known *string, said protocol.Raw) string {
	text := said.Text()
	if text == "" || text == *known {
		return ""
	}
	*known = text
	return text
}

// updateTurn takes what a later copy of the response object says of it. Copilot changes even the id of
// the response from event to event.
func (t *turn) updateTurn(r *wireResponse) {
	news := stream.Opening{ID: updateString(&t.ID, r.id), Model: updateString(&t.Model, r.model)}
	if news != (stream.Opening{}) {
		t.Update(news)
	}
}

// finishTurn ends a turn with the response as a whole, which repeats its items. word is the status that
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
		t.Find(finishIncomplete, "the response is incomplete: %s", reason)
	}
	if word != "" {
		t.Finish(word, code)
		if !known {
			t.Find(protocol.FinishUnknown, "the status %q is not documented", word)
		}
	}
	t.close("")
}

// compareOutput compares the items of the response as a whole with those that came. It is empty or absent
// on hosts that keep nothing.
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
				"the call stands only in the response as a whole: clients that go by the items of the stream miss it")
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

// sealRest seals the calls whose item was never said to be done.
func (t *turn) sealRest(from string) {
	for _, it := range t.items.all {
		if it.call == nil || it.done {
			continue
		}
		it.done = true
		if !t.isBody {
			it.call.Find(protocol.ItemDoneMissing,
				"no response.output_item.done came for the call: only %s says that it is complete", from)
		}
		it.call.Seal()
	}
}

// reportUsage takes the token counts, which contain the cached and the reasoning tokens, and the tier
// that answered.
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
		n.Output.N = total.N - n.Input.N // a host that counts reasoning apart
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

// errorText are what an error says, or the error itself if it has no message.
func errorText(err, message protocol.Raw) string {
	if text := message.Text(); text != "" {
		return text
	}
	return string(err.Append(nil))
}

// reportResult takes an item that is the result of a call; one of a tool search in the provider does not
// say of which.
func (t *turn) reportResult(w *wireItem) {
	id := w.callID.Text()
	if id == "" && w.kind.Is("tool_search_output") && t.search != nil {
		id = t.search.resultID()
	}
	t.AddResult(id, "", w.hasFailed())
}

// addItem begins an item, and a call if it proposes one.
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
