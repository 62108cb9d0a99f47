// Package fault injects faults into a response while it is forwarded: for a mock provider, which reads
// the response from a capture, and for a proxy, which receives it at the same time.
//
//	chunks ─▶ events ─▶ stage ─▶ stage ─▶ output chunks, each written at once
//
// Terms. A [Fault] is one deliberate error. An event is a server-sent event with data, a line of
// JSON, a binary message, a WebSocket message, or a chunk of a body that has none of these. A stage
// applies one fault to the events, one after another. An [OutChunk] is bytes that are written at
// once.
//
// Invariants:
//   - An event is forwarded as soon as it ends, and a chunk of a body without events as soon as it
//     arrives, unless a fault needs to see the bytes that follow.
//   - Bytes that no fault changes are forwarded unchanged.
//   - Bodies are not trusted: no body makes an injector panic.
package fault

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// An Injector injects faults into the body of one response. The zero value can't be used; see [New].
type Injector struct {
	hint    framing // from the header, until the bytes show the framing
	whole   bool    // a JSON text is one event, because a fault needs that
	packed  bool    // the bytes are compressed
	known   bool    // the framing is known
	framing framing
	ends    eventSplitter
	event   bodyEvent // the open event, so far
	start   []byte    // start of the body, until the framing is known
	chunk   int
	stages  []faultStage
	pause   time.Duration // wait before each event
	split   bool          // each byte is its own output chunk
	apart   bool          // each event is its own output chunk
	broken  bool          // the connection breaks after the bytes returned so far
	out     []OutChunk
}

// A faultStage applies one fault to the events of a body.
type faultStage struct {
	fault Fault
	event func(e bodyEvent, emit func(bodyEvent))
	close func(emit func(bodyEvent)) (why string) // called once, after the last event; why is set if the fault changed nothing
}

// OutChunk is bytes that are written at once. A chunk of the body may become several OutChunks.
type OutChunk struct {
	Chunk int           // number of the chunk that contained the bytes
	After time.Duration // time of that chunk
	Pause time.Duration // wait before writing, at any speed
	Data  []byte
}

// bodyEvent contains the bytes of one event, or of one chunk if the body has no events.
type bodyEvent struct {
	parts []eventPart
	full  bool // it has data: it is not just a comment or an empty line
}

// eventPart contains the bytes of an event that arrived in one chunk.
type eventPart struct {
	chunk int
	after time.Duration
	data  []byte
}

// Unused is a fault that changed nothing in a response, and the reason why.
type Unused struct {
	Fault Fault
	Why   string
}

// New returns an injector for the body of a response with this header. The parameter packed means that the body is
// compressed, so nothing can be found in it.
func New(faults []Fault, header http.Header, packed bool) *Injector {
	b := &Injector{hint: framingOfHeader(header), packed: packed}
	return b.withFaults(faults)
}

// NewCutter returns an injector that changes nothing. Each output chunk is one complete event, or
// one chunk of a body without events.
func NewCutter(header http.Header, packed bool) *Injector {
	return &Injector{hint: framingOfHeader(header), packed: packed, apart: true}
}

// NewMessages returns an injector for WebSocket messages. Each Write takes one complete message.
func NewMessages(faults []Fault) *Injector {
	b := &Injector{known: true, framing: messages, ends: chunkSplitter{}}
	return b.withFaults(faults)
}

func (b *Injector) withFaults(faults []Fault) *Injector {
	for _, f := range inOrder(faults) {
		if f.kind.setUp != nil {
			f.kind.setUp(b, f)
		}
	}
	return b
}

// inOrder returns the faults in the order in which they take effect.
func inOrder(faults []Fault) []Fault {
	sorted := slices.Clone(faults)
	slices.SortStableFunc(sorted, func(a, b Fault) int { return cmp.Compare(a.orderIndex(), b.orderIndex()) })
	return sorted
}

func (b *Injector) addStage(f Fault, event func(bodyEvent, func(bodyEvent)), close func(func(bodyEvent)) string) {
	b.stages = append(b.stages, faultStage{f, event, close})
}

// BreaksHere reports whether the connection is to break after the bytes returned so far. Later
// writes return nothing.
func (b *Injector) BreaksHere() bool { return b.broken }

// Write takes a chunk of the body and returns the bytes that are to be sent now, from this chunk and
// earlier ones. It keeps p, which must not change afterwards.
func (b *Injector) Write(p []byte, after time.Duration) []OutChunk {
	if len(p) == 0 {
		return nil
	}
	chunk := eventPart{b.chunk, after, p}
	b.chunk++
	if !b.known {
		if b.start = append(b.start, p...); !b.detectFraming(false) {
			b.event.parts = append(b.event.parts, chunk)
			return nil
		}
		b.start = nil
		waited := append(b.event.parts, chunk)
		b.event = bodyEvent{}
		for _, one := range waited {
			b.splitEvents(one)
		}
		return b.takeOutput()
	}
	b.splitEvents(chunk)
	return b.takeOutput()
}

// Close ends the body. The result unfit lists the faults that changed nothing in it.
func (b *Injector) Close() (last []OutChunk, unfit []Unused) {
	if !b.known {
		b.detectFraming(true)
		waited := b.event.parts
		b.event = bodyEvent{}
		for _, one := range waited {
			b.splitEvents(one)
		}
	}
	if len(b.event.parts) > 0 {
		b.endEvent()
	}
	for i, s := range b.stages {
		if why := s.close(func(e bodyEvent) { b.sendThrough(i+1, e) }); why != "" {
			unfit = append(unfit, Unused{s.fault, why})
		}
	}
	return b.takeOutput(), unfit
}

// detectFraming sets the framing if the bytes so far show it, and reports whether they do.
func (b *Injector) detectFraming(ended bool) bool {
	f, ok := sniffFraming(b.start, b.packed, b.hint, ended)
	if ok {
		b.known, b.framing, b.ends = true, f, endsOf(f, b.whole)
	}
	return ok
}

// splitEvents splits a chunk into events.
func (b *Injector) splitEvents(chunk eventPart) {
	for p := chunk.data; len(p) > 0; {
		n, ended := b.ends.next(p)
		b.event.parts = append(b.event.parts, eventPart{chunk.chunk, chunk.after, p[:n]})
		p = p[n:]
		if ended {
			b.endEvent()
		}
	}
}

func (b *Injector) endEvent() {
	e := b.event
	e.full = hasData(b.framing, e.allData())
	b.event = bodyEvent{}
	b.sendThrough(0, e)
}

// sendThrough passes an event to stage n, or to the output after the last stage.
func (b *Injector) sendThrough(n int, e bodyEvent) {
	switch {
	case n < len(b.stages):
		b.stages[n].event(e, func(e bodyEvent) { b.sendThrough(n+1, e) })
	case !b.broken:
		b.emitEvent(e)
	}
}

func (b *Injector) emitEvent(e bodyEvent) {
	pause := b.pause
	if !e.full {
		pause = 0
	}
	if b.apart {
		e = e.withData(e.allData())
	}
	for _, p := range e.parts {
		step := len(p.data)
		if b.split {
			step = 1
		}
		// Chunk limits the capacity of each slice, so that Joined appends to a copy and not to the body.
		for data := range slices.Chunk(p.data, max(1, step)) {
			b.out = append(b.out, OutChunk{p.chunk, p.after, pause, data})
			pause = 0
		}
	}
}

func (b *Injector) takeOutput() []OutChunk {
	out := b.out
	b.out = nil
	return b.Joined(out)
}

// Joined joins output chunks that come from one chunk and have no pause between them. WebSocket messages, and chunks
// that the injector keeps apart, are not joined.
func (b *Injector) Joined(list []OutChunk) []OutChunk {
	if b.split || b.apart {
		return list
	}
	var out []OutChunk
	for _, p := range list {
		if n := len(out) - 1; n >= 0 && out[n].Chunk == p.Chunk && p.Pause == 0 && b.framing != messages {
			out[n].Data = append(out[n].Data, p.Data...)
		} else {
			out = append(out, p)
		}
	}
	return out
}

// hasEvents reports whether the body is a stream of events.
func (b *Injector) hasEvents() bool { return b.framing >= jsonLines }

// IsStream reports whether the body is known to be a stream of events.
func (b *Injector) IsStream() bool { return b.known && b.hasEvents() }

// IsSSE reports whether the body is known to be a stream of server-sent events.
func (b *Injector) IsSSE() bool { return b.known && b.framing == eventStream }

func (e bodyEvent) allData() []byte {
	if len(e.parts) == 1 {
		return e.parts[0].data
	}
	var all []byte
	for _, p := range e.parts {
		all = append(all, p.data...)
	}
	return all
}

// withData returns the event with other bytes. All of them have the time of the event's last chunk.
func (e bodyEvent) withData(p []byte) bodyEvent {
	last := e.parts[len(e.parts)-1]
	last.data = p
	return bodyEvent{[]eventPart{last}, e.full}
}

// eventSplitter finds the ends of events in a body that arrives in chunks, which are cut at arbitrary places.
type eventSplitter interface {
	// next returns the number of bytes of p that belong to the open event, and whether the event ends with them.
	next(p []byte) (n int, ended bool)
}

func endsOf(f framing, whole bool) eventSplitter {
	switch {
	case f == eventStream:
		return new(sseSplitter)
	case f == jsonLines:
		return lineSplitter{}
	case f == awsFrames:
		return new(awsSplitter)
	case f == jsonText && whole:
		return bodySplitter{}
	}
	return chunkSplitter{}
}

// chunkSplitter makes each chunk an event.
type chunkSplitter struct{}

func (chunkSplitter) next(p []byte) (int, bool) { return len(p), true }

// bodySplitter makes the body one event.
type bodySplitter struct{}

func (bodySplitter) next(p []byte) (int, bool) { return len(p), false }

// lineSplitter makes each line an event.
type lineSplitter struct{}

func (lineSplitter) next(p []byte) (int, bool) {
	i := bytes.IndexByte(p, '\n')
	if i < 0 {
		return len(p), false
	}
	return i + 1, true
}

// sseSplitter ends an event after an empty line. Lines end with LF, CR, or both.
// https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream
type sseSplitter struct {
	text bool // the open line is not empty
	cr   bool // the latest byte was a CR: an LF only completes it
}

func (s *sseSplitter) next(p []byte) (int, bool) {
	for i, c := range p {
		half := c == '\n' && s.cr
		s.cr = c == '\r'
		switch {
		case half:
		case c != '\n' && c != '\r':
			s.text = true
		case s.text:
			s.text = false
		case s.cr && i+1 < len(p) && p[i+1] == '\n':
			s.cr = false
			return i + 2, true
		default:
			return i + 1, true
		}
	}
	return len(p), false
}

// awsSplitter splits AWS messages. All bytes from the first invalid message on are one event.
type awsSplitter struct {
	prelude []byte
	left    int  // number of remaining bytes of the open message
	lost    bool // the remaining bytes are not messages
}

func (m *awsSplitter) next(p []byte) (int, bool) {
	taken := 0
	if m.left == 0 && !m.lost {
		taken = min(awsPrelude-len(m.prelude), len(p))
		if m.prelude = append(m.prelude, p[:taken]...); len(m.prelude) < awsPrelude {
			return len(p), false
		}
		m.left = awsLength(m.prelude) - awsPrelude
		m.lost = m.left < 4 // a message has at least its prelude and its checksums
		m.prelude = m.prelude[:0]
	}
	if m.lost {
		return len(p), false
	}
	n := min(m.left, len(p)-taken)
	m.left -= n
	return taken + n, m.left == 0
}

// eachLine yields the lines of server-sent events without their line breaks, and the offset after each. A line break is
// CR, LF, or CR and LF.
func eachLine(p []byte) func(yield func(line []byte, end int) bool) {
	return func(yield func([]byte, int) bool) {
		for at := 0; at < len(p); {
			n := bytes.IndexAny(p[at:], "\r\n")
			if n < 0 {
				yield(p[at:], len(p))
				return
			}
			end := at + n + 1
			if bytes.HasPrefix(p[end-1:], []byte("\r\n")) {
				end++
			}
			if !yield(p[at:at+n], end) {
				return
			}
			at = end
		}
	}
}

// framing is the form of a body, which decides how the body is divided into events.
type framing int

const (
	otherBytes  framing = iota // unknown, or compressed
	otherText                  // text without known events
	jsonText                   // one JSON text
	jsonLines                  // JSON values, one per line; this and the following framings are streams
	eventStream                // server-sent events
	awsFrames                  // messages of the AWS event stream encoding
	messages                   // WebSocket messages
)

var contentTypes = [...]string{
	otherBytes: "application/octet-stream", otherText: "text/plain; charset=utf-8", jsonText: "application/json",
	jsonLines: "application/x-ndjson", eventStream: "text/event-stream; charset=utf-8",
	awsFrames: "application/vnd.amazon.eventstream",
}

// ContentType returns the media type of a body that begins with p, as detected from its bytes.
func ContentType(p []byte, packed bool) string {
	f, _ := sniffFraming(p, packed, otherBytes, true)
	return contentTypes[f]
}

// framingOfHeader returns the framing that a header names. It returns otherBytes if the bytes alone show the framing
// to sniffFraming.
func framingOfHeader(h http.Header) framing {
	kind, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	switch kind {
	case "application/x-ndjson", "application/jsonl", "application/ndjson":
		return jsonLines
	case "application/json":
		return jsonText
	}
	return otherBytes
}

// startSize is a number of bytes that is always enough to detect the framing.
const startSize = 64 << 10

// sniffFraming detects the framing from the bytes, because a recorded header may be wrong. The header (hint)
// decides only while the bytes allow several framings. It returns false if more bytes are needed.
func sniffFraming(p []byte, packed bool, hint framing, ended bool) (framing, bool) {
	ended = ended || len(p) >= startSize
	switch {
	case packed:
		return otherBytes, true
	case awsLength(p) > 0:
		return awsFrames, true
	case len(p) < awsPrelude && len(p) > 0 && p[0] == 0 && !ended:
		return 0, false
	}
	p = bytes.TrimLeft(bytes.TrimPrefix(p, []byte("\ufeff")), " \t\r\n")
	for _, field := range []string{"data:", "event:", "id:", "retry:", ":"} {
		if bytes.HasPrefix(p, []byte(field)) {
			return eventStream, true
		}
		if strings.HasPrefix(field, string(p)) && !ended {
			return 0, false
		}
	}
	switch {
	case len(p) > 0 && p[0] == '{':
		return sniffObject(p, hint, ended)
	case len(p) > 0 && p[0] == '[':
		return jsonText, true
	case isText(p):
		return otherText, true
	}
	return otherBytes, true
}

// sniffObject distinguishes JSON lines from one JSON text. It returns false if more bytes are needed.
func sniffObject(p []byte, hint framing, ended bool) (framing, bool) {
	line, rest, isLine := bytes.Cut(p, []byte("\n"))
	rest = bytes.TrimSpace(rest)
	switch {
	case !isLine && !ended:
		return jsonText, hint == jsonText
	case isLine && len(rest) == 0 && !ended && json.Valid(line):
		return hint, hint != otherBytes
	case json.Valid(line) && bytes.HasPrefix(rest, []byte("{")):
		return jsonLines, true
	}
	return jsonText, true
}

// IsText reports whether p, the beginning of a body, is plain text. Compressed data contains control characters,
// unless it is so short that it may have none by chance.
func IsText(p []byte) bool { return isText(p) }

func isText(p []byte) bool {
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		switch {
		case r == utf8.RuneError && n == 1 && utf8.FullRune(p): // p may end inside a character
			return false
		case r < ' ' && r != '\n' && r != '\r' && r != '\t':
			return false
		}
		p = p[n:]
	}
	return true
}

// awsPrelude is the size of an AWS message's prelude: the message's length, the headers' length, and
// the checksum of both.
const awsPrelude = 12

// awsLength returns the length of the AWS message that p begins with, or 0.
// https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html#streaming-event-stream
func awsLength(p []byte) int {
	if len(p) < awsPrelude || crc32.ChecksumIEEE(p[:8]) != binary.BigEndian.Uint32(p[8:]) {
		return 0
	}
	return int(binary.BigEndian.Uint32(p))
}

// hasData reports whether an event has data.
func hasData(f framing, p []byte) bool {
	switch f {
	case eventStream:
		for line := range eachLine(p) {
			if line = bytes.TrimPrefix(line, []byte("\ufeff")); bytes.HasPrefix(line, []byte("data")) {
				return true
			}
		}
		return false
	case jsonLines:
		return len(bytes.TrimSpace(p)) > 0
	}
	return true
}

// Sleep waits for d. It returns false if ctx ended first.
func Sleep(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
