package stream

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"toolscope/stream/count"
)

// EventStream frames the binary event stream of AWS: length-prefixed messages with headers, a payload and two
// checksums. A frame's Event is the type of the event, exception or error. An exception or error is a Failed
// frame. The Data of an error without a payload is its message as plain text. The zero value is ready to use.
// If a message is invalid, for example because a checksum doesn't match, the start of the next message is
// unknown. The invalid message and all later bytes are then residue.
//
// Layout and limits: "Event stream encoding" in the Smithy and AWS SDK sources (botocore/eventstream.py).
type EventStream struct {
	pos int64
	buf []byte
	bad string // the reason why reading stopped; "" if it didn't
}

const (
	preludeLen            = 12
	trailerLen            = 4
	maxEventStreamHeaders = 128 << 10
	maxEventStreamMessage = 24<<20 + maxEventStreamHeaders + preludeLen + trailerLen
)

// IsEventStream reports whether head could begin a message, and whether it certainly does. It certainly does if the
// first bytes of a message are there and their checksum is right. If head is too short to decide, only the first
// result can be true.
func IsEventStream(head []byte) (could, is bool) {
	if len(head) < preludeLen {
		return len(head) == 0 || head[0] <= maxEventStreamMessage>>24, false
	}
	_, _, why := readPrelude(head)
	return why == "", why == ""
}

// readPrelude reads the first bytes of a message. If they are wrong, it returns the reason.
func readPrelude(p []byte) (total, headers int, why string) {
	total, headers = int(binary.BigEndian.Uint32(p)), int(binary.BigEndian.Uint32(p[4:]))
	switch got := crc32.ChecksumIEEE(p[:8]); {
	case got != binary.BigEndian.Uint32(p[8:]):
		why = fmt.Sprintf("the checksum of a message's first 8 bytes is %08x, but the message states %08x", got, binary.BigEndian.Uint32(p[8:]))
	case total > maxEventStreamMessage || headers > maxEventStreamHeaders || headers+preludeLen+trailerLen > total:
		why = fmt.Sprintf("a message can't have %d bytes with %d bytes of headers", total, headers)
	}
	return total, headers, why
}

// Write appends p to the stream, and emits each message that is now complete.
func (e *EventStream) Write(p []byte, emit func(Frame)) {
	e.buf = append(e.buf, p...)
	at := 0
	for e.bad == "" && len(e.buf)-at >= preludeLen {
		total, headers, why := readPrelude(e.buf[at:])
		if why != "" {
			e.bad = why
			break
		}
		if len(e.buf)-at < total {
			break
		}
		f, why := readMessage(e.buf[at:at+total], headers)
		if why != "" {
			e.bad = why
			break
		}
		at += total
		e.pos += int64(total)
		f.End = e.pos
		emit(f)
	}
	e.buf = e.buf[:copy(e.buf, e.buf[at:])]
}

// Close emits the remaining bytes as residue. It marks them Truncated if they are an unfinished message.
func (e *EventStream) Close(emit func(Frame)) {
	if len(e.buf) == 0 {
		return
	}
	f := Frame{Kind: FrameResidue, Data: e.buf, End: e.pos + int64(len(e.buf)), Truncated: e.bad == "", Why: e.bad}
	if f.Truncated {
		f.Why = fmt.Sprintf("the stream was cut %s into a message", count.Of(len(e.buf), "byte"))
	}
	emit(f)
	e.pos, e.buf = f.End, nil
}

// readMessage reads one complete message. If the message is invalid, it returns the reason.
func readMessage(p []byte, headers int) (f Frame, why string) {
	body := p[:len(p)-trailerLen]
	if got, want := crc32.ChecksumIEEE(body), binary.BigEndian.Uint32(p[len(body):]); got != want {
		return f, fmt.Sprintf("the checksum of a message of %d bytes is %08x, but the message states %08x", len(p), got, want)
	}
	f.Data = body[preludeLen+headers:]
	var kind, note []byte
	for h := body[preludeLen : preludeLen+headers]; len(h) > 0; {
		name, value, rest, ok := readHeader(h)
		if !ok {
			return f, fmt.Sprintf("the headers of a message of %d bytes don't match their declared length", len(p))
		}
		switch h = rest; string(name) {
		case ":message-type":
			kind = value
		case ":event-type", ":exception-type", ":error-code":
			f.Event = value
		case ":error-message":
			note = value
		}
	}
	f.Failed = string(kind) == "exception" || string(kind) == "error"
	if string(kind) == "error" && len(f.Data) == 0 {
		f.Data = note
	}
	return f, ""
}

// headerSizes are the lengths of a header's value by type. -1 is for bytes and text, whose length precedes
// them.
var headerSizes = [...]int{0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 6: -1, 7: -1, 8: 8, 9: 16}

// readHeader reads the first header of h. The result ok is false if h contains no complete, known header.
func readHeader(h []byte) (name, value, rest []byte, ok bool) {
	take := func(n int) (part []byte) {
		if ok = ok && n <= len(h); ok {
			part, h = h[:n], h[n:]
		}
		return part
	}
	ok = true
	if n := take(1); ok {
		name = take(int(n[0]))
	}
	kind := take(1)
	if !ok || int(kind[0]) >= len(headerSizes) {
		return nil, nil, nil, false
	}
	size := headerSizes[kind[0]]
	if size < 0 {
		n := take(2)
		if !ok {
			return nil, nil, nil, false
		}
		size = int(binary.BigEndian.Uint16(n))
	}
	value = take(size)
	return name, value, h, ok
}
