package openairesponses

import (
	"toolscope/providers/dialect"
	"toolscope/stream"
)

// turn is one response.
type turn struct {
	number    int32
	lane      string // stream_id, "" for the one lane that needs none
	id, model string
	items     items
	last      *item // whose text came last, nil if a call did

	open    bool
	failed  bool // an error was reported
	whole   bool // a body: everything comes at once
	waiting bool // a snapshot: the end of the bytes is no cut

	failure string
	said    dialect.Told // findings that are made once
}

// is reports whether r is this turn's response.
func (t *turn) is(r wireResponse) bool { return t.id != "" && r.id.Is(t.id) }

// meta takes what a later copy of the response object says of it. Copilot
// changes even the id of the response from event to event.
func (d *decoder) meta(t *turn, r wireResponse) {
	id, model := r.id.Text(), r.model.Text()
	if id == "" || id == t.id {
		id = ""
	} else {
		t.id = id
	}
	if model == "" || model == t.model {
		model = ""
	} else {
		t.model = model
	}
	if id != "" || model != "" {
		d.emit(stream.Event{Kind: stream.TurnMeta, Turn: t.number, More: &stream.Detail{ID: id, Model: model}})
	}
}

// finish ends a turn with the response as a whole, which repeats its items.
func (d *decoder) finish(t *turn, r wireResponse, from, word string) {
	d.meta(t, r)
	d.output(t, r, from)
	status := r.status.Text()
	code, known := finishCodes[status]
	switch {
	case status == "", status == "in_progress", status == "queued", code == stream.FinishDone && known:
		code, known = finishCodes[word] // the event says no less
	default:
		if !known {
			code = finishCodes[word]
		}
		word = status
	}
	if code == stream.FinishDone {
		d.sealRest(t, from)
	}
	d.usage(t, r)
	if r.err.Given() && !t.failed {
		d.fail(t, r.err, r.err.Get("message"), r.err.Get("code"))
	}
	if reason := r.incomplete.Get("reason").Text(); reason != "" {
		d.diagnose(t, finishIncomplete, "the response is incomplete: %s", reason)
	}
	if word != "" {
		d.emit(stream.Event{Kind: stream.Finish, Turn: t.number, Slot: stream.AllChoices, Text: word, Code: code})
		if !known {
			d.diagnose(t, dialect.FinishUnknown, "the status %q is not documented", word)
		}
	}
	d.close(t, "")
}

// output compares the items of the response as a whole with those that came. It
// is empty or absent on hosts that keep nothing.
func (d *decoder) output(t *turn, r wireResponse, from string) {
	streamed := len(t.items.all) > 0
	list := r.output.Scan()
	for i, ok := int64(0), list.Array(); ok; i, ok = i+1, list.Element() {
		w := parseItem(list.Value())
		var it *item
		if streamed {
			it = t.items.match(&w, i)
		}
		fresh := it == nil
		if fresh {
			it = d.addItem(t, &w, i)
		}
		if fresh && streamed && it.isCall {
			d.about(t, it, dialect.ItemNotStreamed,
				"the call stands only in the response as a whole: clients that go by the items of the stream miss it")
		}
		if fresh && !(t.waiting && w.status.Is("in_progress")) {
			d.endItem(t, it, &w, from)
		} else {
			d.updateItem(t, it, &w, from)
		}
		if !fresh {
			d.sign(t, it, &w)
		}
	}
}

// sealRest seals the calls whose item was never said to be done.
func (d *decoder) sealRest(t *turn, from string) {
	for _, it := range t.items.all {
		if !it.isCall || it.done {
			continue
		}
		it.done = true
		if !t.whole {
			d.about(t, it, dialect.ItemDoneMissing,
				"no response.output_item.done came for the call: only %s says that it is complete", from)
		}
		d.emit(stream.Event{Kind: stream.Seal, Turn: t.number, Slot: it.slot})
	}
}

// usage takes the token counts, which contain the cached and the reasoning
// tokens, and the tier that answered.
func (d *decoder) usage(t *turn, r wireResponse) {
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
	n.CostUSD, n.CostTold = u.Get("cost").Float()
	d.emit(stream.Event{Kind: stream.UsageEvent, Turn: t.number, More: &stream.Detail{Usage: n}})
}

// failEvent takes an error event: its fields stand in the event itself, as
// documented, or in an error object, as seen on wires. response.failed may follow
// and repeat it, or have come before.
func (d *decoder) failEvent(ev *wireEvent, data dialect.Raw) {
	err, message, code := data, ev.message, ev.code
	if ev.err.Given() {
		err, message, code = ev.err, ev.err.Get("message"), ev.err.Get("code")
		if !code.Given() {
			code = ev.err.Get("type")
		}
	}
	t := d.lane(ev)
	if t != nil && !t.open && t.failed && t.failure == words(err, message) {
		return
	}
	if t == nil || !t.open {
		t = d.begin(ev, wireResponse{})
	}
	d.fail(t, err, message, code)
}

func (d *decoder) fail(t *turn, err, message, code dialect.Raw) {
	t.failed, t.failure = true, words(err, message)
	id := ""
	if code.Given() {
		id = string(code.Append(nil))
	}
	d.emit(stream.Event{Kind: stream.Failure, Turn: t.number, Text: t.failure, More: &stream.Detail{ID: id}})
}

// words are what an error says, or the error itself if it has no message.
func words(err, message dialect.Raw) string {
	if text := message.Text(); text != "" {
		return text
	}
	return string(err.Append(nil))
}

// close ends a turn; missing is what did not come, "" if everything did.
func (d *decoder) close(t *turn, missing string) {
	e := stream.Event{Kind: stream.TurnClose, Turn: t.number, Text: missing}
	if missing != "" {
		e.Code = stream.CloseCut
	}
	d.emit(e)
	t.open, t.items, t.last, t.said = false, items{}, nil, nil
}

// once makes a finding about the turn unless it was made before.
func (d *decoder) once(t *turn, of *stream.Diagnosis, format string, args ...any) {
	if t.said.First(of) {
		d.diagnose(t, of, format, args...)
	}
}

func (d *decoder) about(t *turn, it *item, of *stream.Diagnosis, format string, args ...any) {
	d.emit(dialect.Diagnose(t.number, it.slot, of, format, args...))
}
