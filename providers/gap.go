package providers

import (
	"bytes"
	"fmt"
	"strings"

	"toolscope/stream"
	"toolscope/stream/count"
)

// A gap is bytes of a response that passed unseen, which is toolscope's own fault. Invariants:
//
//   - What stands on its two sides is never read as one. The frame that was open
//     belongs to none, and reading goes on with the next that surely begins.
//   - Of the turns that were open, and of those that begin before one has surely
//     ended, only what was sealed before it is known: stream.Gap says so.
//   - What a decoder finds wrong behind it is not told: it may be the gap.
type gaps struct {
	missed       int64 // bytes of the response, in all
	hidden       bool  // a turn that began unseen may still be open
	first        int32 // number of the decoder's first turn behind the gap
	undecoded    bool  // the codings cannot be undone behind the gap
	base         int64 // where in the response the framer began
	seeking      bool  // it looks for where frames begin again
	requestBytes int64 // bytes of the request that were not seen
	lookedAt     int64 // size of the response when it last looked
}

// noteGap says that n bytes of the response passed unseen.
func (x *Exchange) noteGap(n int64) {
	x.gap.missed += n
	if !x.Ended {
		x.leaveCodings()
		x.leaveFrame()
	}
	if x.decoder == nil && !x.Ended {
		x.pending = append(x.pending, pendingFrame{at: x.at, missed: n})
		return
	}
	x.reportGap(n)
}

// leaveCodings passes on what was decoded, and then decodes no more: a coding cannot be undone from
// its middle.
func (x *Exchange) leaveCodings() {
	if x.gap.undecoded {
		return
	}
	coded := len(x.Head.Header["Content-Encoding"]) > 0
	if x.chain != nil {
		rest, _ := x.chain.Close()
		x.Coding = x.chain.Name()
		x.appendBody(rest)
		coded = coded || x.Coding != ""
	}
	x.begun, x.gap.undecoded = true, coded
	if x.trouble = nil; !coded {
		x.chain, x.Sent = nil, stream.Wire{}
	}
}

// leaveFrame ends the frame that is open.
func (x *Exchange) leaveFrame() {
	x.endFrame(x.Response.Size())
	x.gap.base, x.gap.seeking, x.gap.lookedAt = x.Response.Size(), true, 0
	x.framer, x.first = nil, nil
}

// endFrame makes what is left before end a frame of its own, which nobody decodes.
func (x *Exchange) endFrame(end int64) {
	last := int64(0)
	if n := x.Response.Frames(); n > 0 {
		_, last = x.Response.FrameSpan(int32(n - 1))
	}
	if end > last {
		x.frame = x.Response.EndFrame(end)
	}
}

// resync looks for the next place where a frame surely begins, and reads on there.
func (x *Exchange) resync(ended bool) {
	size := x.Response.Size()
	if !ended && size < x.gap.lookedAt {
		return
	}
	x.gap.lookedAt = size + (size-x.gap.base)/4
	tail := x.Response.Bytes(x.gap.base, size)
	f, at := x.nextFrameStart(tail)
	if f.framer == nil {
		return
	}
	x.endFrame(x.gap.base + int64(at))
	x.gap.base += int64(at)
	x.gap.seeking, x.Framing, x.framer = false, f.name, f.framer
	x.framer.Write(tail[at:], x.onFrame)
}

// nextFrameStart is where in tail frames begin again, and how they are framed. The framer is nil while
// that is not known; in a body that is one JSON text it never is.
func (x *Exchange) nextFrameStart(tail []byte) (f frameFormat, at int) {
	contentType := ""
	if v := x.Head.Header["Content-Type"]; len(v) > 0 {
		contentType = v[0]
	}
	switch {
	case isWebSocket(x.Head):
		return frameFormat{"WebSocket messages", new(stream.Values)}, 0 // a record is a message
	case x.Framing == "SSE", x.Framing == "" && strings.HasPrefix(contentType, "text/event-stream"):
		if at = blankLine(tail); at > 0 {
			return frameFormat{"SSE", new(stream.SSE)}, at
		}
	case x.Framing == "AWS event stream", x.Framing == "" && strings.HasPrefix(contentType, "application/vnd.amazon.eventstream"):
		if at, found := messageIn(tail); found {
			return frameFormat{"AWS event stream", new(stream.EventStream)}, at
		}
	case x.Framing == "lines", x.Framing == "NDJSON":
		if at = bytes.IndexByte(tail, '\n') + 1; at > 0 {
			return frameFormat{x.Framing, new(stream.Lines)}, at
		}
	case x.Framing == "":
		if at = blankLine(tail); at > 0 && at < len(tail) {
			if _, is := looksLikeSSE(tail[at:]); is {
				return frameFormat{"SSE", new(stream.SSE)}, at
			}
		}
	}
	return frameFormat{}, 0
}

// blankLine is where the line after the first blank one begins, 0 while there is none.
func blankLine(text []byte) int {
	best := 0
	for _, blank := range []string{"\n\n", "\n\r\n", "\r\r"} {
		if i := bytes.Index(text, []byte(blank)); i >= 0 && (best == 0 || i+len(blank) < best) {
			best = i + len(blank)
		}
	}
	return best
}

// messageIn is where a message of an AWS event stream begins: its checksum tells.
func messageIn(p []byte) (at int, found bool) {
	for ; len(p)-at >= 12; at++ {
		if _, is := stream.IsEventStream(p[at:]); is {
			return at, true
		}
	}
	return 0, false
}

// reportGap says of every turn that is open, or else of the last one, that bytes of it were not seen.
func (x *Exchange) reportGap(n int64) {
	words := fmt.Sprintf("%s of the response passed and were not recorded: of what was not sealed before them nothing is known", count.Of(n, "byte"))
	open := x.openTurns()
	if len(open) == 0 {
		open = append(open, x.lastTurn())
	}
	for _, turn := range open {
		x.emitGap(turn, n, words)
	}
	x.gap.hidden, x.gap.first = true, int32(len(x.turns))
}

func (x *Exchange) emitGap(turn int32, n int64, words string) {
	x.emit(stream.Event{Kind: stream.Gap, Turn: turn, Text: words, What: &stream.BytesMissed{Bytes: n}})
}

// openTurns are the decoder's turns that have not been closed.
func (x *Exchange) openTurns() (open []int32) {
	for n := x.closedTurns; n < len(x.turns); n++ {
		t := x.in.Session().Turn(x.turns[n])
		switch {
		case t == nil:
		case !t.Closed():
			open = append(open, int32(n))
		case n == x.closedTurns:
			x.closedTurns++
		}
	}
	return open
}

// isDoubtful reports whether an event of the decoder may be wrong because of a gap. A finding rests on
// all that the decoder has read. A fault or a signature is of one turn.
func (x *Exchange) isDoubtful(e stream.Event) bool {
	switch e.Kind {
	case stream.Found:
		return true
	case stream.Fault, stream.Signed:
		if e.Turn < 0 || int(e.Turn) >= len(x.turns) {
			return x.gap.hidden
		}
		return x.in.Session().Turn(x.turns[e.Turn]).HasGap()
	}
	return false
}

// afterGap follows the events that are emitted after a gap. A turn may have begun unseen. Until a
// turn has surely ended, each that seems to begin may be the rest of that one.
func (x *Exchange) afterGap(e stream.Event, turn int32) {
	switch {
	case !x.gap.hidden:
	case e.Kind == stream.TurnOpen:
		x.emitGap(turn, x.gap.missed, fmt.Sprintf("%s of the response passed and were not recorded before this turn: it may have begun in them", count.Of(x.gap.missed, "byte")))
	case e.Kind == stream.TurnClose && e.Code == stream.CloseEnd && !x.Protocol.ParallelTurns:
		open := x.openTurns()
		x.gap.hidden = len(open) > 0 && open[len(open)-1] >= x.gap.first
	}
}
