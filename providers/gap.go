package providers

import (
	"bytes"
	"fmt"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// gaps describes the bytes of a response that toolscope itself missed. Invariants:
//
//   - The two sides of a gap are never joined. The open frame is not decoded, and reading resumes at the next
//     certain start of a frame.
//   - For the turns that were open, and for turns that begin before a turn has certainly ended, only calls that
//     were final before the gap are known: see stream.Gap.
//   - Findings of the decoder after the gap are not reported: the gap may cause them.
type gaps struct {
	x            *Exchange
	missed       int64 // total number of missed bytes in the response
	hidden       bool  // a turn that began unseen may still be open
	first        int32 // number of the decoder's first turn after the gap
	undecoded    bool  // the codings can't be decoded after the gap
	base         int64 // offset in the response at which the framer began
	seeking      bool  // the next start of a frame has not been found yet
	requestBytes int64 // number of missed bytes in the request
	lookedAt     int64 // size that the response must reach before the next search

	firstFrame  int32 // number of the first decoded frame, from 1; 0 before it
	beganBefore bool  // the log begins in the middle of the response
	endsFirst   bool  // the first event of the stream has the finish reason, and nothing else
}

// checkBeginning reports that the beginning of the response is missing, if an event shows this. Logs are rotated, or
// read from their last lines, so they may begin anywhere in a response. No party is at fault for that. A source that has
// the status of the response also has its beginning.
func (g *gaps) checkBeginning(e *stream.Event) {
	if g.x.Head.Wrappers == "" && !g.x.Head.EndUnknown || g.x.Head.Status != 0 || e.Turn > 0 {
		return
	}
	first := g.firstFrame == g.x.frame+1
	if e.Kind == stream.Found && !g.beganBefore && g.mayCause(e, first) {
		g.beganBefore = true
		g.x.emit(findingEvent(e.Turn, stream.ProtocolViolation.WithSeverity(stream.Info).WithCause(stream.UnknownParty),
			"the log begins in the middle of the response, or its first lines are missing"))
	}
	if !first && !g.beganBefore {
		return
	}
	switch e.Kind {
	case stream.Finish:
		t := g.turnOf(e.Turn)
		g.endsFirst = g.x.Framing == "SSE" && (t == nil || len(t.Calls) == 0 && !hasText(t))
	case stream.CallOpen:
		if info := stream.PayloadOf[stream.CallInfo](*e); info.Name == "" && !info.Discarded && (info.ID == "" || g.beganBefore) {
			g.beganBefore, info.LateStart = true, true
			e.What = &info
		}
	case stream.Args, stream.Seal:
		if t := g.turnOf(e.Turn); t == nil || t.InSlot(e.Slot) == nil {
			g.beganBefore = true
			g.x.emit(stream.Event{Kind: stream.CallOpen, Turn: e.Turn, Slot: e.Slot, What: &stream.CallInfo{LateStart: true}})
		}
	}
}

// mayCause reports whether the missing beginning of a log may cause a finding. The parameter first is true if the
// finding is about the first frame.
func (g *gaps) mayCause(e *stream.Event, first bool) bool {
	switch stream.PayloadOf[stream.Finding](*e).Diagnosis.Base() {
	case stream.ProtocolViolation, protocol.IndexSparse:
		return first
	case protocol.FinishWithoutCall:
		return g.endsFirst // the calls may be in the missing lines
	}
	return false
}

// hasText reports whether a turn has text or reasoning.
func hasText(t *stream.Turn) bool {
	text, thinking := t.TextLens()
	return text+thinking > 0
}

// turnOf returns the turn with the decoder's number n, or nil.
func (g *gaps) turnOf(n int32) *stream.Turn {
	if n < 0 || int(n) >= len(g.x.turns) {
		return nil
	}
	return g.x.in.Session().Turn(g.x.turns[n])
}

// noteMissed records that n bytes of the response were missed.
func (g *gaps) noteMissed(n int64) {
	g.missed += n
	if !g.x.Ended {
		g.leaveCodings()
		// End the open frame, and begin the search for the next start of a frame.
		g.endFrame(g.x.Response.Size())
		g.base, g.seeking, g.lookedAt = g.x.Response.Size(), true, 0
		g.x.framer, g.x.first = nil, nil
	}
	if g.x.decoder == nil && !g.x.Ended {
		g.x.pending = append(g.x.pending, pendingFrame{at: g.x.at, missed: n})
		return
	}
	g.reportMissed(n)
}

// leaveCodings passes on the bytes decoded so far, and then stops decoding. A coding can't be decoded from
// its middle.
func (g *gaps) leaveCodings() {
	if g.undecoded {
		return
	}
	coded := len(g.x.Head.Header["Content-Encoding"]) > 0
	if g.x.chain != nil {
		rest, _ := g.x.chain.Close()
		g.x.Coding = g.x.chain.Name()
		g.x.appendBody(rest)
		coded = coded || g.x.Coding != ""
	}
	g.x.begun, g.undecoded = true, coded
	if g.x.trouble = nil; !coded {
		g.x.chain, g.x.Sent = nil, stream.Wire{}
	}
}

// endFrame makes the bytes before end a separate frame, which is not decoded.
func (g *gaps) endFrame(end int64) {
	last := int64(0)
	if n := g.x.Response.Frames(); n > 0 {
		_, last = g.x.Response.FrameSpan(int32(n - 1))
	}
	if end > last {
		g.x.frame = g.x.Response.EndFrame(end)
	}
}

// resync searches for the next certain start of a frame, and resumes reading there.
func (g *gaps) resync(ended bool) {
	size := g.x.Response.Size()
	if !ended && size < g.lookedAt {
		return
	}
	g.lookedAt = size + (size-g.base)/4
	tail := g.x.Response.Bytes(g.base, size)
	f, at := g.nextFrameStart(tail)
	if f.framer == nil {
		return
	}
	g.endFrame(g.base + int64(at))
	g.base += int64(at)
	g.seeking, g.x.Framing, g.x.framer = false, f.name, f.framer
	g.x.framer.Write(tail[at:], g.x.onFrame)
}

// nextFrameStart returns the framer, and the offset in tail at which the next frame begins. The framer is nil if the
// offset is not yet known. In a body that is one JSON text, the offset stays unknown.
func (g *gaps) nextFrameStart(tail []byte) (f frameFormat, at int) {
	contentType := ""
	if v := g.x.Head.Header["Content-Type"]; len(v) > 0 {
		contentType = v[0]
	}
	switch {
	case isWebSocket(g.x.Head):
		return frameFormat{"WebSocket messages", new(stream.Values)}, 0 // each record is a message
	case g.x.Framing == "SSE", g.x.Framing == "" && strings.HasPrefix(contentType, "text/event-stream"):
		if at = blankLine(tail); at > 0 {
			return frameFormat{"SSE", new(stream.SSESplitter)}, at
		}
	case g.x.Framing == awsFraming, g.x.Framing == "" && strings.HasPrefix(contentType, "application/vnd.amazon.eventstream"):
		if at, found := messageIn(tail); found {
			return frameFormat{awsFraming, new(stream.EventStream)}, at
		}
	case g.x.Framing == "lines", g.x.Framing == "NDJSON":
		if at = bytes.IndexByte(tail, '\n') + 1; at > 0 {
			return frameFormat{g.x.Framing, new(stream.Lines)}, at
		}
	case g.x.Framing == "":
		if at = blankLine(tail); at > 0 && at < len(tail) {
			if _, is := looksLikeSSE(tail[at:]); is {
				return frameFormat{"SSE", new(stream.SSESplitter)}, at
			}
		}
	}
	return frameFormat{}, 0
}

// blankLine returns the start of the line after the first blank line, or 0 if there is no blank line.
func blankLine(text []byte) int {
	best := 0
	for _, blank := range []string{"\n\n", "\n\r\n", "\r\r"} {
		if i := bytes.Index(text, []byte(blank)); i >= 0 && (best == 0 || i+len(blank) < best) {
			best = i + len(blank)
		}
	}
	return best
}

// messageIn returns the start of the first message in bytes of an AWS event stream. The result found is false
// if there is none. The checksum identifies the message.
func messageIn(p []byte) (at int, found bool) {
	for ; len(p)-at >= 12; at++ {
		if _, is := stream.IsEventStream(p[at:]); is {
			return at, true
		}
	}
	return 0, false
}

// reportMissed reports missed bytes for every open turn. If no turn is open, it reports the bytes for the last turn.
func (g *gaps) reportMissed(n int64) {
	words := fmt.Sprintf("toolscope missed %s of the response: the state of calls that were not final before the gap is unknown", count.Of(n, "byte"))
	open := g.x.openTurns()
	if len(open) == 0 {
		open = append(open, g.x.lastTurn())
	}
	for _, turn := range open {
		g.emitGap(turn, n, words)
	}
	g.hidden, g.first = true, int32(len(g.x.turns))
}

func (g *gaps) emitGap(turn int32, n int64, words string) {
	g.x.emit(stream.Event{Kind: stream.Gap, Turn: turn, Text: words, What: &stream.BytesMissed{Bytes: n}})
}

// openTurns returns the decoder's turns that have not ended.
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

// isDoubtful reports whether an event of the decoder may be wrong because of a gap. After a gap, any finding is
// doubtful, but a fault or a signature is doubtful only in a turn with a gap. If the beginning of a log is missing,
// findings about the first turn are doubtful.
func (g *gaps) isDoubtful(e *stream.Event) bool {
	switch e.Kind {
	case stream.Found:
		return g.missed > 0 || e.Turn <= 0
	case stream.Fault, stream.Signed:
		if g.missed == 0 {
			return false
		}
		if e.Turn < 0 || int(e.Turn) >= len(g.x.turns) {
			return g.hidden
		}
		return g.x.in.Session().Turn(g.x.turns[e.Turn]).HasGap()
	}
	return false
}

// afterEvent reports the gap in turns that open after it. A turn may have begun in the gap. Until a turn has
// certainly ended, each turn that seems to begin may be the rest of that unseen turn.
func (g *gaps) afterEvent(e *stream.Event, turn int32) {
	switch {
	case !g.hidden:
	case e.Kind == stream.TurnOpen:
		g.emitGap(turn, g.missed, fmt.Sprintf("toolscope missed %s of the response before this turn: the turn may have begun in the gap", count.Of(g.missed, "byte")))
	case e.Kind == stream.TurnClose && e.Code == stream.CloseEnd && !g.x.Protocol.ParallelTurns:
		open := g.x.openTurns()
		g.hidden = len(open) > 0 && open[len(open)-1] >= g.first
	}
}

// isGlued reports whether a frame of an event stream contains several events. If events have no blank lines between
// them, for example in logs filtered for data lines, the framing reads them as one event. The first line of such a
// frame is a complete object, so the next line can't belong to the same JSON text.
func isGlued(f stream.Frame) bool {
	line, _, more := bytes.Cut(f.Data, []byte("\n"))
	return more && json.IsObject(line)
}
