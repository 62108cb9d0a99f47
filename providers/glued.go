package providers

import (
	"bytes"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// isGlued reports whether a frame of an event stream is several events. Without blank lines between
// them, as in logs that somebody filtered for data, the framing takes them for one. The first line
// is then a whole object, and no JSON text goes on after that.
func isGlued(f stream.Frame) bool {
	line, _, more := bytes.Cut(f.Data, []byte("\n"))
	if !more {
		return false
	}
	s := protocol.Scan(line)
	return s.Kind() == '{' && s.Value() != nil && s.End() == nil
}

// splitGlued takes each line as the frame it was meant to be. None gets a name: of the events' names
// only the last is left, and which line it belongs to is not known.
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

// reportGlued reports that events were glued, once, when all has come.
func (x *Exchange) reportGlued() {
	if x.glued && x.decoder != nil {
		x.handleEvent(findingEvent(x.lastTurn(), blankLinesMissing,
			"no blank line stands between the events: clients take them for one and cannot read it; here each line is read as one"))
	}
}
