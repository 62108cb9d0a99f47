package providers

import (
	"bytes"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// isGlued reports whether a frame of an event stream contains several events. Without blank lines between
// them, e.g. in logs filtered for data lines, the framing reads them as one event. Then the first line is
// a complete object, which no JSON text continues.
func isGlued(f stream.Frame) bool {
	line, _, more := bytes.Cut(f.Data, []byte("\n"))
	if !more {
		return false
	}
	s := protocol.Scan(line)
	return s.Kind() == '{' && s.Value() != nil && s.End() == nil
}

// splitGlued handles each line as a frame of its own, without a name: only the last event name is left, and
// its line is unknown.
func (x *Exchange) splitGlued(f stream.Frame, number int32) {
	x.glued = true
	for rest := f.Data; len(rest) > 0; {
		part := f
		part.Event = nil
		part.Data, rest, _ = bytes.Cut(rest, []byte("\n"))
		part.Truncated = f.Truncated && len(rest) == 0
		if len(bytes.TrimSpace(part.Data)) > 0 {
			x.handleOne(&part, number)
		}
	}
}

// reportGlued reports glued events, once, at the end of the exchange.
func (x *Exchange) reportGlued() {
	if x.glued && x.decoder != nil {
		x.handleEvent(findingEvent(x.lastTurn(), blankLinesMissing,
			"no blank lines between the events: clients read them as one event and can't decode it; toolscope reads each line as one event"))
	}
}
