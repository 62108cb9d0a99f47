package mcp

import (
	"net/url"
	"regexp"
	"strings"
	"time"

	"toolscope/stream"
)

// In version 2024-11-05, the transport HTTP+SSE splits a session into several exchanges. The client opens an event
// stream. The first event, "endpoint", contains the URL for the client's messages. The server answers each message
// with status 202 and a word, and sends its own messages over the stream.

// EventStreamStart is the beginning of an event stream that contains the URL for messages, without spaces.
const EventStreamStart = "event:endpoint"

// endpoint is the state of the URL that an event stream announces for the client's messages.
type endpoint struct {
	server *Server
	early  map[string]earlyResponse // responses that were read before their requests, by id
	forgot bool                     // some of the early responses were not kept

	// The redactor may hold back the end of a response. A response may therefore have been sent before a cancellation
	// that is read first. A cancellation counts only if the stream ends without the response.
	cancelled []cancellation
}

// earlyResponse is a response that was read before its request. In an archive, the complete stream comes
// before the client's messages.
type earlyResponse struct {
	message
	at    time.Duration
	known int32
}

// Limits on the early responses in a log.
const (
	maxEarly      = 4096
	maxEarlyBytes = 16 << 20
)

// IsEndpoint reports whether an event stream announced the URL of the request as the URL for messages.
func (l *Log) IsEndpoint(h *stream.Head) bool { return l.endpoints[endpointKey(h.Run, h.URL)] != nil }

// endpointKey returns the key of an endpoint. If a session id was redacted in a capture, its placeholders in the
// stream and in the URL may have different labels, but they have the same digest.
func endpointKey(run, url string) string {
	return run + " " + redactedName.ReplaceAllString(url, "[redacted:")
}

var redactedName = regexp.MustCompile(`\[redacted:[a-z0-9_-]+:`)

// setEndpoint reads the event with the URL for messages. Clients resolve this URL against the stream's own
// URL.
func (t *dialogue) setEndpoint(text string) {
	base, err := url.Parse(t.url)
	if err != nil {
		return
	}
	to, err := base.Parse(strings.TrimSpace(text))
	if err != nil || len(t.log.endpoints) >= maxWaiting {
		return
	}
	t.scope = endpointKey(t.server.Run, to.String())
	if t.endpoint = t.log.endpoints[t.scope]; t.endpoint == nil {
		t.endpoint = &endpoint{server: t.server, early: map[string]earlyResponse{}}
		t.log.endpoints[t.scope] = t.endpoint
	}
}

// noteAccepted reports once that a server answered with status 202 and a body. According to the protocol, such a
// response has no body, and clients ignore a body. Over HTTP+SSE, a body is usual, so noteAccepted reports nothing.
func (t *dialogue) noteAccepted(at time.Duration) {
	if t.endpoint != nil {
		return
	}
	f := strayBody.Finding("a response with status 202 has a body that is not a message: clients ignore it")
	f.Severity = stream.Info
	for _, n := range t.server.Notes {
		if n.Finding != nil && n.Finding.Diagnosis == strayBody && n.Finding.Severity == stream.Info {
			return
		}
	}
	t.server.addNote(ServerNote{At: at, Finding: &f, Text: f.Message})
}
