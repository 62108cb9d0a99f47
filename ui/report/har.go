package report

import (
	"encoding/base64"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// An Exchange is a request and its response, as input for an HTTP Archive.
type Exchange struct {
	Method, URL                   string // "" if the request was not captured
	Status                        int    // 0 if unknown
	RequestHeader, ResponseHeader map[string][]string
	RequestBody, ResponseBody     []byte    // the bodies, decoded
	Sent                          int       // size of the response body as sent, in bytes
	Start                         time.Time // zero if unknown
	Wait, Receive                 time.Duration
	Why                           string    // why the exchange ended abnormally; "" otherwise
	Messages                      []Message // WebSocket messages
}

// A Message is a WebSocket message.
type Message struct {
	Sent bool // the client sent it
	At   time.Time
	Data []byte
}

// harLog is the root of an HTTP Archive. This type and the types below are the part of HAR 1.2 that toolscope
// writes: http://www.softwareishard.com/blog/har-12-spec/
type harLog struct {
	Log struct {
		Version string     `json:"version"`
		Creator harCreator `json:"creator"`
		Entries []harEntry `json:"entries"`
	} `json:"log"`
}

type harCreator struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type harPair struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

type harEntry struct {
	Started  string       `json:"startedDateTime"`
	Time     float64      `json:"time"`
	Request  harRequest   `json:"request"`
	Response harResponse  `json:"response"`
	Cache    struct{}     `json:"cache"`
	Timings  harTimings   `json:"timings"`
	Comment  string       `json:"comment,omitempty"`
	Messages []harMessage `json:"_webSocketMessages,omitempty"`
}

type harRequest struct {
	Method      string    `json:"method"`
	URL         string    `json:"url"`
	Version     string    `json:"httpVersion"`
	Cookies     []harPair `json:"cookies"`
	Headers     []harPair `json:"headers"`
	Query       []harPair `json:"queryString"`
	Post        *harBody  `json:"postData,omitempty"`
	HeadersSize int       `json:"headersSize"`
	BodySize    int       `json:"bodySize"`
}

type harResponse struct {
	Status      int       `json:"status"`
	StatusText  string    `json:"statusText"`
	Version     string    `json:"httpVersion"`
	Cookies     []harPair `json:"cookies"`
	Headers     []harPair `json:"headers"`
	Content     harBody   `json:"content"`
	Redirect    string    `json:"redirectURL"`
	HeadersSize int       `json:"headersSize"`
	BodySize    int       `json:"bodySize"`
	Error       string    `json:"_error,omitempty"`
}

type harBody struct {
	Size     *int   `json:"size,omitempty"`
	Type     string `json:"mimeType"`
	Text     string `json:"text"`
	Encoding string `json:"encoding,omitempty"`
}

type harTimings struct {
	Send    float64 `json:"send"`
	Wait    float64 `json:"wait"`
	Receive float64 `json:"receive"`
}

type harMessage struct {
	Type   string  `json:"type"`
	Time   float64 `json:"time"`
	Opcode int     `json:"opcode"`
	Data   string  `json:"data"`
}

// HAR returns exchanges as an HTTP Archive. If a required value in an entry is unknown, the entry has a
// substitute, and a comment that names the value.
func HAR(version string, all []Exchange) []byte {
	var log harLog
	log.Log.Version = "1.2"
	log.Log.Creator = harCreator{"toolscope", version}
	log.Log.Entries = []harEntry{}
	for i := range all {
		log.Log.Entries = append(log.Log.Entries, all[i].toHAR())
	}
	return encodeJSON(log)
}

func (x *Exchange) toHAR() harEntry {
	query := []harPair{}
	if u, err := url.Parse(x.URL); err == nil {
		query = harPairs(u.Query())
	}
	e := harEntry{
		Started:  x.Start.UTC().Format("2006-01-02T15:04:05.000Z07:00"),
		Timings:  harTimings{0, toMillis(x.Wait), toMillis(x.Receive)},
		Request:  harRequest{Method: x.Method, URL: x.URL, Version: "HTTP/1.1", Headers: harPairs(x.RequestHeader), Cookies: []harPair{}, Query: query, HeadersSize: -1, BodySize: len(x.RequestBody)},
		Response: harResponse{Status: x.Status, Version: "HTTP/1.1", Headers: harPairs(x.ResponseHeader), Cookies: []harPair{}, HeadersSize: -1, BodySize: x.Sent, Error: x.Why},
	}
	var unknown []string
	if x.Start.IsZero() {
		e.Started = "1970-01-01T00:00:00.000Z"
		unknown = append(unknown, "times")
	}
	if x.URL == "" {
		e.Request.Method, e.Request.URL = "POST", "about:blank"
		unknown = append(unknown, "request")
	}
	if x.Status == 0 && len(x.ResponseBody) > 0 {
		e.Response.Status = 200
		unknown = append(unknown, "status")
	}
	if len(unknown) > 0 {
		e.Comment = "unknown: " + strings.Join(unknown, ", ")
	}
	e.Time = e.Timings.Wait + e.Timings.Receive
	size := len(x.ResponseBody)
	e.Response.Content = harBodyOf(x.ResponseBody, x.ResponseHeader)
	e.Response.Content.Size = &size
	if len(x.RequestBody) > 0 {
		post := harBodyOf(x.RequestBody, x.RequestHeader)
		e.Request.Post = &post
	}
	for _, m := range x.Messages {
		e.Messages = append(e.Messages, m.toHAR())
	}
	return e
}

func (m *Message) toHAR() harMessage {
	e := harMessage{Type: "receive", Opcode: 1, Data: string(m.Data)}
	if m.Sent {
		e.Type = "send"
	}
	if !m.At.IsZero() {
		e.Time = float64(m.At.UnixMicro()) / 1e6
	}
	if !utf8.Valid(m.Data) {
		e.Opcode, e.Data = 2, base64.StdEncoding.EncodeToString(m.Data)
	}
	return e
}

func harBodyOf(p []byte, header map[string][]string) harBody {
	b := harBody{Text: string(p)}
	if v := header["Content-Type"]; len(v) > 0 {
		b.Type = v[0]
	}
	if !utf8.Valid(p) {
		b.Text, b.Encoding = base64.StdEncoding.EncodeToString(p), "base64"
	}
	return b
}

func toMillis(d time.Duration) float64 { return float64(max(0, d).Microseconds()) / 1000 }

func harPairs(header map[string][]string) []harPair {
	list := []harPair{}
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			list = append(list, harPair{name, value})
		}
	}
	return list
}
