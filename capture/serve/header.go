package serve

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"hash/crc32"
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"
)

// ownHeaders are those of the connection (RFC 9110, section 7.6.1) and those that net/http writes
// by itself.
var ownHeaders = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "Content-Length", "Date",
}

// copyHeader sets the headers of a response as they were recorded.
func copyHeader(to http.Header, x *Exchange) {
	skip := slices.Clone(ownHeaders)
	for _, named := range x.Header.Values("Connection") {
		for name := range strings.SplitSeq(named, ",") {
			skip = append(skip, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
	if !x.encoded() {
		skip = append(skip, "Content-Encoding")
	}
	for name, values := range x.Header {
		if name = http.CanonicalHeaderKey(name); !slices.Contains(skip, name) {
			to[name] = append(to[name], values...)
		}
	}
	if to.Get("Content-Type") == "" && len(x.Chunks) > 0 {
		to.Set("Content-Type", contentTypes[x.framing()])
	}
}

// encoded reports whether the bytes are still in the content encoding that the header names. What
// recorded them may have decoded them: curl --compressed does, and leaves the header.
func (x *Exchange) encoded() bool {
	switch coding := strings.ToLower(x.Header.Get("Content-Encoding")); coding {
	case "", "identity":
		return false
	case "gzip", "x-gzip": // RFC 1952, section 2.3.1
		return bytes.HasPrefix(x.start(), []byte("\x1f\x8b"))
	case "zstd": // RFC 8878, section 3.1.1
		return bytes.HasPrefix(x.start(), []byte("\x28\xb5\x2f\xfd"))
	}
	return !isText(x.start()) // others have no mark
}

// isText reports whether p can be read. No encoding leaves text without controls, unless by chance
// a very short one.
func isText(p []byte) bool {
	for len(p) > 0 {
		r, n := utf8.DecodeRune(p)
		switch {
		case r == utf8.RuneError && n == 1 && utf8.FullRune(p): // the end of p may be half a character
			return false
		case r < ' ' && r != '\n' && r != '\r' && r != '\t':
			return false
		}
		p = p[n:]
	}
	return true
}

// startSize is how many bytes tell what a body is.
const startSize = 64 << 10

// start is the first bytes of the body.
func (x *Exchange) start() []byte { return x.first(startSize) }

// framing is how a body is cut into events.
type framing int

const (
	otherBytes  framing = iota // not known, or compressed
	otherText                  // not known
	jsonText                   // one JSON text
	jsonLines                  // JSON texts, one a line
	eventStream                // server-sent events
	awsFrames                  // messages of the AWS event stream encoding
)

var contentTypes = [...]string{
	otherBytes: "application/octet-stream", otherText: "text/plain; charset=utf-8", jsonText: "application/json",
	jsonLines: "application/x-ndjson", eventStream: "text/event-stream; charset=utf-8",
	awsFrames: "application/vnd.amazon.eventstream",
}

// framing goes by the bytes alone: a recorded header may be wrong, and the bytes are what is cut.
func (x *Exchange) framing() framing {
	if x.encoded() {
		return otherBytes
	}
	p := x.start()
	if awsLength(p) > 0 {
		return awsFrames
	}
	p = bytes.TrimLeft(bytes.TrimPrefix(p, []byte("\ufeff")), " \t\r\n")
	for _, field := range []string{"data:", "event:", "id:", "retry:", ":"} {
		if bytes.HasPrefix(p, []byte(field)) {
			return eventStream
		}
	}
	line, rest, _ := bytes.Cut(p, []byte("\n"))
	switch {
	case len(p) > 0 && p[0] == '{' && json.Valid(line) && bytes.HasPrefix(bytes.TrimSpace(rest), []byte("{")):
		return jsonLines
	case len(p) > 0 && (p[0] == '{' || p[0] == '['):
		return jsonText
	case isText(p):
		return otherText
	}
	return otherBytes
}

// awsLength is the length of the AWS message that p begins with, or 0. The checksum of the first
// eight bytes follows them:
// https://docs.aws.amazon.com/transcribe/latest/dg/streaming-setting-up.html#streaming-event-stream
func awsLength(p []byte) int {
	if len(p) < 12 || crc32.ChecksumIEEE(p[:8]) != binary.BigEndian.Uint32(p[8:]) {
		return 0
	}
	return int(binary.BigEndian.Uint32(p))
}
