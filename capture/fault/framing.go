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
