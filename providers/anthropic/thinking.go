package anthropic

import (
	"toolscope/providers/dialect"
	"toolscope/stream"
)

// think takes reasoning and its signature, as far as they are there. The
// signature may be of a text that is not shown.
func (d *decoder) think(index int64, text, signature dialect.Raw, emit func(stream.Event)) {
	if text.IsString() && !text.Empty() {
		d.emitText(stream.ThinkDelta, 0, text, emit)
		d.thinking, d.thought = true, index
	}
	if !signature.IsString() || signature.Empty() {
		return
	}
	if !d.thinking || d.thought != index {
		emit(stream.Event{Kind: stream.ThinkDelta, Turn: d.Number})
	}
	d.sign(signature, stream.SignedShown, emit)
}

func (d *decoder) sign(signature dialect.Raw, code stream.Code, emit func(stream.Event)) {
	d.thinking = false
	d.buf = signature.Append(d.buf[:0])
	emit(stream.Event{Kind: stream.Signed, Turn: d.Number, Code: code, Text: d.text.Hold(d.buf)})
}
