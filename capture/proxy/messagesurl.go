package proxy

import (
	"io"
	"net/http"
	"regexp"
	"strings"
)

// messagesURL is the body of an event stream whose first event may name the URL for the client's messages. MCP
// servers over HTTP+SSE send such an event. Clients refuse a URL whose origin differs from the origin of the stream.
// If the URL is absolute and has the upstream's address, that address is replaced with the proxy's. The records
// contain the original.
type messagesURL struct {
	io.ReadCloser
	from, to string // "http://host:port" of the upstream and of the proxy
	head     []byte // the beginning of the body, while it may be the event with the URL
	passed   bool   // the event has been read, or the body begins with something else
	err      error  // the error with which the body ended
	note     string
}

// redirectMessages makes the proxy replace the URL in an event stream if the listener has only one upstream.
func (x *exchange) redirectMessages(res *http.Response) {
	isOnly := x.client.Context().Value(onlyKey{}) != nil
	isStream := strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") && res.Header.Get("Content-Encoding") == ""
	if !isOnly || !isStream || x.client.Method != http.MethodGet {
		return
	}
	x.messages = &messagesURL{ReadCloser: res.Body, from: x.target.url.Scheme + "://" + x.target.url.Host, to: "http://" + x.client.Host}
	res.Body = x.messages
	res.Header.Del("Content-Length")
	res.ContentLength = -1
}

// endpointEvent matches an endpoint event that has an absolute URL.
var endpointEvent = regexp.MustCompile(`^(event: ?endpoint\r?\ndata: ?)(https?://[^/\s]+)/[^\n]*\n\r?\n`)

const (
	endpointStart = "event:endpoint" // without spaces
	maxEvent      = 4096             // maximum size of the event in bytes
)

// Read holds back only the event with the URL, until the event is complete.
func (m *messagesURL) Read(p []byte) (int, error) {
	for !m.passed {
		n, err := m.ReadCloser.Read(p)
		m.head, m.err = append(m.head, p[:n]...), err
		text := strings.NewReplacer(" ", "", "\r", "").Replace(string(m.head))
		may := strings.HasPrefix(endpointStart, text) || strings.HasPrefix(text, endpointStart)
		if m.passed = err != nil || !may || strings.Contains(text, "\n\n") || len(m.head) > maxEvent; !m.passed {
			continue
		}
		if at := endpointEvent.FindSubmatchIndex(m.head); at != nil && string(m.head[at[4]:at[5]]) == m.from {
			m.head = []byte(string(m.head[:at[4]]) + m.to + string(m.head[at[5]:]))
			m.note = "the client got the endpoint's address as " + m.to + " instead of " + m.from
		}
	}
	switch {
	case len(m.head) > 0:
		n := copy(p, m.head)
		m.head = m.head[n:]
		return n, nil
	case m.err != nil:
		return 0, m.err
	}
	return m.ReadCloser.Read(p)
}
