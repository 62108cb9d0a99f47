package providers

import (
	"fmt"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// unknown shows a stream of no known dialect: every frame is kept and seen,
// none is interpreted.
var unknown = dialect.Dialect{
	Name:  "unknown",
	Title: "no known dialect",
	New:   func() dialect.Decoder { return new(unknownDecoder) },
}

type unknownDecoder struct {
	frames int
	empty  bool // there was no body
}

func (d *unknownDecoder) Turn() int32 { return 0 }

func (d *unknownDecoder) Decode(f stream.Frame, emit func(stream.Event)) error {
	d.frames++
	emit(stream.Event{Kind: stream.Unknown, Text: string(f.Event)})
	return nil
}

// Close leaves the turn open: nobody knows whether it ended.
func (d *unknownDecoder) Close(emit func(stream.Event)) {
	if d.empty {
		return
	}
	emit(dialect.Diagnose(0, stream.NoSlot, "DIALECT_UNKNOWN", stream.Warn,
		fmt.Sprintf("%d frames of no known dialect: shown as they came, not interpreted", d.frames)))
}
