package mock

import (
	"bytes"
	"cmp"
	"io"
	"math"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/capture/fault"
)

// Exchange is one recorded request and its response. Unknown fields are zero. On a WebSocket, each message of the
// client is a request, and the provider's messages before the client's next one are the response.
type Exchange struct {
	File      string // name of the source, as the user wrote it
	Number    int    // number of the exchange in its source
	Method    string
	URL       string // at least the path; empty for a bare body
	Asked     []byte // the body of the request, or the message, undecoded
	Socket    bool   // from a WebSocket: the chunks are messages
	Status    int
	Header    http.Header   // header of the response
	HeadAfter time.Duration // time from the request to the start of the response
	Chunks    []Chunk
	EndAfter  time.Duration // time from the request to the end of the response
	Cut       bool          // the response was cut off
}

// Chunk is bytes of a response that arrived at once, with their time since the request.
type Chunk struct {
	After time.Duration
	Data  []byte
}

// Read groups the records of a source into exchanges, in the order in which they began. It leaves out exchanges with
// nothing to serve. The result notes contains all notes, except those in a record with a head and without a loss. If
// the source fails, Read returns the error with the exchanges before it.
func Read(src capture.Source) (list []Exchange, notes []string, err error) {
	var order []*exchangeBuilder
	byNumber := map[int]*exchangeBuilder{}
	for r, readErr := range src {
		if readErr != nil {
			err = readErr
			break
		}
		if r.Note != "" && (r.Head == nil || r.Lost > 0) { // a note with a head is about a detail of an exchange
			notes = append(notes, r.Note)
		}
		g := byNumber[r.Exchange]
		if g == nil {
			g = &exchangeBuilder{base: capture.NoTime}
			g.Number, byNumber[r.Exchange] = r.Exchange, g
			order = append(order, g)
		}
		g.add(r)
	}
	for _, g := range order {
		if g.URL == "" && g.Method == "" && g.Status == 0 && len(g.Chunks) == 0 {
			continue
		}
		g.Cut = g.Cut || !g.ended
		if g.Status == http.StatusSwitchingProtocols {
			list = append(list, g.splitSocket()...)
			continue
		}
		g.undoChunking()
		list = append(list, g.Exchange)
	}
	return list, notes, err
}

// exchangeBuilder is an exchange whose records are being read.
type exchangeBuilder struct {
	Exchange
	base    time.Duration // when the request was sent or, if unknown, when the response began
	last    time.Duration // time of the latest record since base
	started bool          // the response has begun
	ended   bool
	by      capture.Party // the party that ended it
	sides   []sideBytes   // bytes of both sides, in order
}

// sideBytes contains bytes of one side, with their time since the exchange began.
type sideBytes struct {
	side  capture.Side
	after time.Duration
	data  []byte
}

func (g *exchangeBuilder) add(r capture.Record) {
	if h := r.Head; h != nil {
		g.File, g.Method, g.URL = cmp.Or(g.File, h.File), cmp.Or(g.Method, h.Method), cmp.Or(g.URL, h.URL)
		if r.Side == capture.Response {
			g.Status, g.Header = h.Status, h.Header
		}
	}
	if r.Side == capture.Request {
		if !g.started && r.At >= 0 {
			g.base = r.At
		}
		g.noteTime(r.At)
		g.addBytes(r)
		g.Asked = append(g.Asked, r.Data...)
		return
	}
	if g.base < 0 {
		g.base = r.At
	}
	g.noteTime(r.At)
	g.addBytes(r)
	if r.Head == nil && len(r.Data) == 0 && r.End == "" {
		return
	}
	if !g.started {
		g.started, g.HeadAfter = true, g.last
	}
	if len(r.Data) > 0 {
		g.Chunks = append(g.Chunks, Chunk{g.last, r.Data})
	}
	if r.End != "" {
		g.ended, g.EndAfter, g.Cut, g.by = true, g.last, r.End == capture.EndCut, r.By
	}
}

// noteTime advances the time of the latest record.
func (g *exchangeBuilder) noteTime(at time.Duration) {
	if at >= 0 && g.base >= 0 {
		g.last = max(g.last, at-g.base)
	}
}

func (g *exchangeBuilder) addBytes(r capture.Record) {
	if len(r.Data) > 0 {
		g.sides = append(g.sides, sideBytes{r.Side, g.last, r.Data})
	}
}

// splitSocket splits a WebSocket into exchanges, one per message of the client. The first exchange has
// the server's messages before any request. If the client left after a complete response, the last
// exchange is not cut.
func (g *exchangeBuilder) splitSocket() []Exchange {
	x := g.Exchange
	x.Socket, x.Asked, x.Chunks, x.HeadAfter, x.EndAfter, x.Cut = true, nil, nil, 0, 0, false
	list := []Exchange{x}
	var base time.Duration
	for _, m := range g.sides {
		if m.side == capture.Request {
			x.Asked, base = m.data, m.after
			list = append(list, x)
			continue
		}
		last := &list[len(list)-1]
		last.Chunks = append(last.Chunks, Chunk{m.after - base, m.data})
		last.EndAfter = m.after - base
	}
	last := &list[len(list)-1]
	last.Cut = g.Cut && g.by != capture.Client || last.isHalf()
	return list
}

// isHalf reports whether a response on a WebSocket has no end. A client would wait for the rest
// forever.
func (x *Exchange) isHalf() bool {
	return fault.IsRequest(x.Asked) && (len(x.Chunks) == 0 || !fault.IsFinal(x.Chunks[len(x.Chunks)-1].Data))
}

// undoChunking undoes chunked transfer coding that is still in the bytes, as curl --raw leaves it. The server
// applies its own coding.
func (g *exchangeBuilder) undoChunking() {
	if !strings.EqualFold(g.Header.Get("Transfer-Encoding"), "chunked") || len(g.Chunks) == 0 {
		return
	}
	plain, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(g.Body())))
	if err == nil {
		g.Chunks = []Chunk{{g.Chunks[0].After, plain}}
	}
}

// Body returns all bytes of the response.
func (x *Exchange) Body() []byte { return x.firstBytes(math.MaxInt) }

// firstBytes returns the joined chunks that contain the first n bytes of the body.
func (x *Exchange) firstBytes(n int) (p []byte) {
	for _, c := range x.Chunks {
		if len(p) >= n {
			break
		}
		p = append(p, c.Data...)
	}
	return p
}

// Path returns the cleaned path of the URL, or "" for a bare body.
func (x *Exchange) Path() string {
	if x.URL == "" {
		return ""
	}
	u, err := url.Parse(x.URL)
	if err != nil { // the URL is invalid, but the server answered the request
		text, _, _ := strings.Cut(x.URL, "?")
		u = &url.URL{Path: text}
	}
	return cleanPath(u.Path)
}

// Query returns the URL's query, without the question mark.
func (x *Exchange) Query() string {
	_, query, _ := strings.Cut(x.URL, "?")
	query, _, _ = strings.Cut(query, "#")
	return query
}

func cleanPath(p string) string { return path.Clean("/" + p) }

// Degrees to which an exchange's path fits a request, the worst first.
const (
	fitsBare = 1 + iota // a bare body: it answers any POST
	fitsEnd             // the paths end alike: one has a provider's base path, or a route prefix that a proxy removed
	fitsPath
)

// pathFit returns the degree to which the exchange fits a request, or 0 if it doesn't fit.
func (x *Exchange) pathFit(method string, u *url.URL) int {
	switch own, asked := x.Path(), cleanPath(u.Path); {
	case x.URL == "" && method == http.MethodPost:
		return fitsBare
	case x.URL == "" || x.Method != "" && x.Method != method:
	case own == asked:
		return fitsPath
	case method != http.MethodGet && endAlike(own, asked), x.Socket && endAlike(own, asked):
		return fitsEnd
	}
	return 0
}

// endAlike reports whether two paths differ only in at most two leading segments each, as
// "/v1/responses" and "/openai/responses" do.
func endAlike(a, b string) bool {
	as, bs := strings.Split(a[1:], "/"), strings.Split(b[1:], "/")
	for len(as) > 0 && len(bs) > 0 && as[len(as)-1] == bs[len(bs)-1] {
		as, bs = as[:len(as)-1], bs[:len(bs)-1]
	}
	whole := len(as) + len(bs) // number of differing segments in both paths together
	return max(len(as), len(bs)) <= 2 && whole < len(strings.Split(a[1:], "/"))+len(strings.Split(b[1:], "/"))
}

// statusCode returns the status to send.
func (x *Exchange) statusCode() int {
	if x.Status < 100 || x.Status > 999 { // net/http can't send these
		return http.StatusOK
	}
	return x.Status
}

// isUnanswered reports whether the provider never answered.
func (x *Exchange) isUnanswered() bool { return x.Cut && x.Status == 0 && len(x.Chunks) == 0 }

// ownHeaders are the headers of a connection (RFC 9110, section 7.6.1) and those that net/http
// writes.
var ownHeaders = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade", "Content-Length", "Date",
}

// copyHeader copies the recorded headers of a response.
func copyHeader(to http.Header, x *Exchange) {
	skip := slices.Clone(ownHeaders)
	for _, named := range x.Header.Values("Connection") {
		for name := range strings.SplitSeq(named, ",") {
			skip = append(skip, http.CanonicalHeaderKey(strings.TrimSpace(name)))
		}
	}
	if !x.isEncoded() {
		skip = append(skip, "Content-Encoding")
	}
	for name, values := range x.Header {
		if name = http.CanonicalHeaderKey(name); !slices.Contains(skip, name) {
			to[name] = append(to[name], values...)
		}
	}
	if to.Get("Content-Type") == "" && len(x.Chunks) > 0 {
		to.Set("Content-Type", fault.ContentType(x.startBytes(), x.isEncoded()))
	}
}

// isEncoded reports whether the bytes still have the content encoding that the header names. The program that
// recorded them may have decoded them: curl --compressed decodes the bytes but keeps the header.
func (x *Exchange) isEncoded() bool {
	switch coding := strings.ToLower(x.Header.Get("Content-Encoding")); coding {
	case "", "identity":
		return false
	case "gzip", "x-gzip": // RFC 1952, section 2.3.1
		return bytes.HasPrefix(x.startBytes(), []byte("\x1f\x8b"))
	case "zstd": // RFC 8878, section 3.1.1
		return bytes.HasPrefix(x.startBytes(), []byte("\x28\xb5\x2f\xfd"))
	}
	return !fault.IsText(x.startBytes()) // other encodings have no magic number
}

// startSize is a number of bytes that is always enough to recognise a body.
const startSize = 64 << 10

// startBytes returns the first bytes of the body.
func (x *Exchange) startBytes() []byte { return x.firstBytes(startSize) }
