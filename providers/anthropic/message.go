package anthropic

import (
	"toolscope/providers/dialect"
	"toolscope/stream"
)

// messageDelta takes the stop reason and usage; there may be several, each
// with the totals so far.
func (d *decoder) messageDelta(ev *wireEvent, emit func(stream.Event)) {
	d.ensure("message_delta", emit)
	d.tell(ev.usage, emit)
	d.finish(ev.delta.stopReason, ev.delta.stopDetails, emit)
}

// finish takes a stop reason, unless it is null or absent.
func (d *decoder) finish(stopReason, details dialect.Raw, emit func(stream.Event)) {
	reason := stopReason.Text()
	if reason == "" || d.Stop(reason, finishCodes, d.calls, emit) != stream.FinishRefused {
		return
	}
	why := details.Get("explanation").Text()
	if why == "" {
		why = "no explanation given"
	}
	d.Diagnose(emit, stream.ProviderError, "refused: %s", why)
}

// fail takes an error envelope. The HTTP status was already 200 when it comes
// inside a stream.
func (d *decoder) fail(err dialect.Raw, emit func(stream.Event)) {
	if !d.Open {
		d.begin(nil, emit)
	}
	message := err.Get("message").Text()
	if message == "" {
		message = string(err)
	}
	emit(stream.Event{Kind: stream.Failure, Turn: d.Number, Text: message,
		More: &stream.Detail{ID: err.Get("type").Text()}})
}

// body takes a response that was not streamed.
func (d *decoder) body(message dialect.Raw, emit func(stream.Event)) {
	d.close(stream.CloseCut, emit)
	d.begin(message, emit)
	content := message.Get("content").Scan()
	for slot, ok := int32(0), content.Array(); ok; slot, ok = slot+1, content.Element() {
		d.wholeBlock(slot, content.Value(), emit)
	}
	d.tell(message.Get("usage"), emit)
	d.finish(message.Get("stop_reason"), message.Get("stop_details"), emit)
	d.close(stream.CloseEnd, emit)
}

// Close says that the bytes have ended: without message_stop that is a cut.
func (d *decoder) Close(emit func(stream.Event)) {
	d.close(stream.CloseCut, emit)
}

func (d *decoder) close(code stream.Code, emit func(stream.Event)) {
	why := ""
	if code == stream.CloseCut {
		why = "the stream ended without message_stop"
	}
	d.closeAs(code, why, emit)
}

func (d *decoder) closeAs(code stream.Code, why string, emit func(stream.Event)) {
	if d.Open {
		d.Open = false
		emit(stream.Event{Kind: stream.TurnClose, Turn: d.Number, Code: code, Text: why})
	}
}
