package report

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"strings"
)

// A Body is a response as a repro is made of.
type Body struct {
	Bytes  []byte
	Events bool  // it is framed as server-sent events
	Ends   []int // of its frames, in order
	Calls  []Args
	Models map[string]bool // those that everybody knows: their names stay
}

// Args are the arguments of a call, and which frames brought which of them.
type Args struct {
	Text     []byte
	Freeform bool
	Deltas   []Delta
}

// A Delta is a part of arguments that a frame brought.
type Delta struct{ Start, End, Frame int }

// A DeltaStandIn is such a part, and what stands in for it.
type DeltaStandIn struct{ Text, StandIn string }

// Repro is the body with stand-ins in place of all that it says: texts, names, ids, values. They are
// as long, spelled the same way, and equal where what they stand for is, so that the stream stays
// malformed in the way it is. The words of protocols stay.
func (b *Body) Repro() []byte {
	w := &standInWalker{names: new(node), models: b.Models}
	pieces := map[int][]DeltaStandIn{}
	for _, c := range b.Calls {
		stand := w.standInFor(c)
		for _, d := range c.Deltas {
			pieces[d.Frame] = append(pieces[d.Frame], DeltaStandIn{string(c.Text[d.Start:d.End]), string(stand[d.Start:d.End])})
		}
	}
	out := bytes.Clone(b.Bytes)
	start := 0
	for n, end := range append(b.Ends[:len(b.Ends):len(b.Ends)], len(out)) {
		w.standIns = pieces[n]
		frame := out[start:end]
		switch {
		case b.Events:
			w.replaceEvent(frame)
		case !w.replaceMessage(frame):
			w.replacePayload(frame)
		}
		start = end
	}
	return out
}

// standInFor is what stands in for the arguments of a call, as long as they are.
func (w *standInWalker) standInFor(c Args) []byte {
	stand := bytes.Clone(c.Text)
	if c.Freeform {
		replaceText(stand)
	} else {
		w.replaceJSON(stand, true)
	}
	return stand
}

// replacePayload replaces what a frame says: JSON, or what came in its place.
func (w *standInWalker) replacePayload(p []byte) {
	begin := bytes.TrimLeft(p, " \t\r\n,\ufeff")
	if len(begin) > 0 && strings.IndexByte("{[\"-0123456789])", begin[0]) < 0 && !bytes.HasPrefix(begin, []byte("null")) && !bytes.HasPrefix(begin, []byte("[DONE]")) {
		replaceText(p)
		return
	}
	w.replaceJSON(p, false)
}

// replaceEvent replaces what a server-sent event says. The lines of its data are one payload.
func (w *standInWalker) replaceEvent(frame []byte) {
	var payload []byte
	var from []int // where in the frame each of its bytes stands, -1 for line breaks between
	for start := 0; start < len(frame); {
		end := start + lineLen(frame[start:])
		line := bytes.TrimRight(frame[start:end], "\r\n")
		name, value, _ := bytes.Cut(bytes.TrimPrefix(line, []byte("\ufeff")), []byte(":"))
		switch string(name) {
		case "data":
			if payload != nil {
				payload, from = append(payload, '\n'), append(from, -1)
			}
			payload = append(payload, value...)
			for i := range value {
				from = append(from, start+len(line)-len(value)+i)
			}
		case "event", "retry":
		case "", "id": // a comment
			replaceText(value)
		default:
			w.replacePayload(line)
		}
		start = end
	}
	w.replacePayload(payload)
	for i, at := range from {
		if at >= 0 {
			frame[at] = payload[i]
		}
	}
}

// lineLen is the length of the line that p begins with, its line break included.
func lineLen(p []byte) int {
	n := bytes.IndexAny(p, "\r\n")
	switch {
	case n < 0:
		return len(p)
	case p[n] == '\r' && n+1 < len(p) && p[n+1] == '\n':
		return n + 2
	}
	return n + 1
}

// replaceMessage replaces what a message of AWS's binary event stream says, and sums it up anew if the sum
// was right. It reports whether the frame is one. Its headers are words of the protocol.
func (w *standInWalker) replaceMessage(frame []byte) bool {
	const prelude, trailer = 12, 4
	if len(frame) < prelude+trailer {
		return false
	}
	total, headers := int(binary.BigEndian.Uint32(frame)), int(binary.BigEndian.Uint32(frame[4:]))
	if crc32.ChecksumIEEE(frame[:8]) != binary.BigEndian.Uint32(frame[8:]) || total != len(frame) || headers > total-prelude-trailer {
		return false
	}
	end := total - trailer
	right := crc32.ChecksumIEEE(frame[:end]) == binary.BigEndian.Uint32(frame[end:])
	w.replacePayload(frame[prelude+headers : end])
	if right {
		binary.BigEndian.PutUint32(frame[end:], crc32.ChecksumIEEE(frame[:end]))
	}
	return true
}
