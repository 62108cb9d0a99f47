package providers

import (
	"bytes"
	"net/url"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// frameFormat is how a body is split into frames, and its name.
type frameFormat struct {
	name   string
	framer stream.Framer
}

// sniffFraming decides by the first bytes. The content type only breaks ties, because error bodies come
// with any type. ok is false while it needs more bytes.
func sniffFraming(contentType string, head []byte, ended bool) (f frameFormat, ok bool) {
	if could, is := stream.IsEventStream(head); is {
		return frameFormat{"AWS event stream", new(stream.EventStream)}, true
	} else if could && !ended {
		return f, false
	}
	text := textOf(head)
	if len(text) == 0 || !ended && len(head) < len(bom) && string(head) == bom[:len(head)] {
		return f, false
	}
	switch text[0] {
	case '[', ')':
		return sniffArray(text, ended)
	case '{':
		return sniffObjects(text, ended)
	}
	if text[0] < ' ' && strings.HasPrefix(contentType, "application/vnd.amazon.eventstream") {
		return frameFormat{"AWS event stream", new(stream.EventStream)}, true // damaged from its first bytes on
	}
	if could, is := looksLikeSSE(text); is || strings.HasPrefix(contentType, "text/event-stream") {
		return frameFormat{"SSE", new(stream.SSE)}, true
	} else if could && !ended {
		return f, false
	}
	return frameFormat{"lines", new(stream.Lines)}, true
}

const bom = "\xef\xbb\xbf"

// textOf returns head without a byte order mark and leading white space.
func textOf(head []byte) []byte {
	return trimSpace(bytes.TrimPrefix(head, []byte(bom)))
}

func beginsObject(head []byte) bool { return bytes.HasPrefix(textOf(head), []byte("{")) }

// sniffObjects distinguishes one object per line from objects without lines or over several lines: it
// checks whether the first line is a complete JSON text. Objects without line ends between them are
// usually the messages of a WebSocket.
func sniffObjects(text []byte, ended bool) (frameFormat, bool) {
	line, _, whole := bytes.Cut(text, []byte("\n"))
	s := protocol.Scan(line)
	switch first := s.Value() != nil; {
	case first && s.Kind() != 0:
		return frameFormat{"JSON objects", new(stream.Values)}, true
	case !whole && !ended:
		return frameFormat{}, false
	case first:
		return frameFormat{"NDJSON", new(stream.Lines)}, true
	}
	return frameFormat{"JSON body", new(stream.Values)}, true
}

// isWebSocket reports whether a response consists of the messages of a WebSocket.
func isWebSocket(h *stream.Head) bool {
	return h.Status == 101 || strings.HasPrefix(h.URL, "wss:") || strings.HasPrefix(h.URL, "ws:")
}

// firstJSONObject follows the object at the start of a body until the byte after it is known.
type firstJSONObject struct {
	values    stream.Values
	size, end int64
}

// sawEnd reports whether p contains a line end, or the first byte after the object: only these show how
// the body is framed.
func (o *firstJSONObject) sawEnd(p []byte) bool {
	line := bytes.IndexByte(p, '\n') >= 0
	if o.end < 0 {
		return line
	}
	o.values.Write(p, func(f stream.Frame) {
		if o.end == 0 {
			o.end = f.End
		}
	})
	start := o.size
	o.size += int64(len(p))
	if o.end == 0 || len(bytes.TrimSpace(p[max(0, o.end-start):])) == 0 {
		return line
	}
	*o = firstJSONObject{end: -1} // once is enough
	return true
}

var sseFields = []string{"data", "event", "id", "retry"}

// looksLikeSSE reports whether text begins with a line of an event stream, and whether it could with more
// bytes.
func looksLikeSSE(text []byte) (could, is bool) {
	if text[0] == ':' {
		return true, true
	}
	for _, name := range sseFields {
		n := min(len(name), len(text))
		if string(text[:n]) != name[:n] {
			continue
		}
		if len(text) <= len(name) {
			return true, false
		}
		switch text[len(name)] {
		case ':', '\r', '\n':
			return true, true
		}
	}
	return false, false
}

// bestProtocol returns the protocol with the highest score for the evidence, nil if none claims it.
func bestProtocol(e protocol.SniffInput) (best *protocol.Protocol, score protocol.SniffScore) {
	for i := range All {
		if s := All[i].Sniff(e); s.Points > score.Points {
			best, score = &All[i], s
		}
	}
	return best, score
}

// pathOf returns the path of a URL, or rawURL if it is not a URL.
func pathOf(rawURL string) string {
	if u, err := url.Parse(rawURL); err == nil {
		return u.Path
	}
	return rawURL
}
