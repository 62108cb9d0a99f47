package providers

import (
	"bytes"
	"net/url"
	"strings"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// framing is how a body is split into frames, and how we know.
type framing struct {
	name   string
	framer stream.Framer
}

// sniffFraming decides by the first bytes; the content type only breaks ties,
// because error bodies come under any. ok is false while more bytes are needed.
func sniffFraming(contentType string, head []byte, ended bool) (f framing, ok bool) {
	if could, is := stream.IsEventStream(head); is {
		return framing{"AWS event stream", new(stream.EventStream)}, true
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
		return framing{"AWS event stream", new(stream.EventStream)}, true // damaged from its first bytes on
	}
	if could, is := looksLikeSSE(text); is || strings.HasPrefix(contentType, "text/event-stream") {
		return framing{"SSE", new(stream.SSE)}, true
	} else if could && !ended {
		return f, false
	}
	return framing{"lines", new(stream.Lines)}, true
}

const bom = "\xef\xbb\xbf"

// textOf is what follows a byte order mark and white space.
func textOf(head []byte) []byte {
	return trimSpace(bytes.TrimPrefix(head, []byte(bom)))
}

// sniffObjects tells one object a line from objects over many lines, or none:
// the first line is a whole JSON text or it is not.
func sniffObjects(text []byte, ended bool) (framing, bool) {
	line, _, whole := bytes.Cut(text, []byte("\n"))
	if !whole && !ended {
		return framing{}, false
	}
	if s := dialect.Scan(line); s.Value() != nil && s.End() == nil {
		return framing{"NDJSON", new(stream.Lines)}, true
	}
	return framing{"JSON body", new(stream.Values)}, true
}

var sseFields = []string{"data", "event", "id", "retry"}

// looksLikeSSE reports whether text begins with a line of an event stream, or
// could when more of it comes.
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

// recognise asks every dialect about the evidence.
func recognise(e dialect.Evidence) (best *dialect.Dialect, score dialect.Score) {
	for i := range All {
		if s := All[i].Sniff(e); s.Points > score.Points {
			best, score = &All[i], s
		}
	}
	return best, score
}

// pathOf is the path of a URL, or the whole if it is none.
func pathOf(rawURL string) string {
	if u, err := url.Parse(rawURL); err == nil {
		return u.Path
	}
	return rawURL
}
