package fault

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"mime"
	"net/http"
	"strings"
	"unicode/utf8"
)

// framing is how a body is divided into events.
type framing int

const (
	otherBytes  framing = iota // unknown, or compressed
	otherText                  // unknown
	jsonText                   // one JSON text
	jsonLines                  // JSON texts, one per line; this and the following are streams
	eventStream                // server-sent events
	awsFrames                  // messages of the AWS event stream encoding
	messages                   // of a WebSocket
)

var contentTypes = [...]string{
	otherBytes: "application/octet-stream", otherText: "text/plain; charset=utf-8", jsonText: "application/json",
	jsonLines: "application/x-ndjson", eventStream: "text/event-stream; charset=utf-8",
	awsFrames: "application/vnd.amazon.eventstream",
}

// ContentType returns the media type of a body that begins with p, as its bytes show it.
func ContentType(p []byte, packed bool) string {
	f, _ := sniffFraming(p, packed, otherBytes, true)
	return contentTypes[f]
}

// framingOfHeader returns the framing that a header names, if sniffFraming may need it.
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

// startSize is how many bytes are enough to detect the framing.
const startSize = 64 << 10

// sniffFraming detects the framing from the bytes, because a recorded header may be wrong. The header
// (hint) decides only while the bytes allow several framings. It reports false if more bytes are
// needed.
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

// sniffObject detects whether more lines with objects follow.
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

// IsText reports whether p, the beginning of a body, is plain text. Compressed bytes contain control
// characters, except by chance if they are very short.
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

// eventSplitter finds the ends of events in a body that arrives in chunks, cut anywhere.
type eventSplitter interface {
	// next returns how many bytes of p belong to the open event, and whether it ends with them.
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

// awsSplitter splits AWS messages. From the first bytes that are not a message, the rest is one event.
type awsSplitter struct {
	prelude []byte
	left    int  // bytes still to come of the open message
	lost    bool // the rest is not messages
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

// eachLine yields the lines of server-sent events without their line ends, and the offset after each.
func eachLine(p []byte) func(yield func(line []byte, end int) bool) {
	return func(yield func([]byte, int) bool) {
		for at := 0; at < len(p); {
			n := bytes.IndexAny(p[at:], "\r\n")
			if n < 0 {
				yield(p[at:], len(p))
				return
			}
			end := at + n + 1
			if p[end-1] == '\r' && end < len(p) && p[end] == '\n' {
				end++
			}
			if !yield(p[at:at+n], end) {
				return
			}
			at = end
		}
	}
}
