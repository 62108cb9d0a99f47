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
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/capture/fault"
)

// Exchange is one recorded request and its response. What the source did not show is zero. Of a
// WebSocket, each message of the client's is a request, and those that came before its next one are
// the response.
type Exchange struct {
	File      string // as the user wrote it
	Number    int    // of the exchange in its source
	Method    string
	URL       string // at least the path; empty for a bare body
	Asked     []byte // the body of the request, or the message; as it came
	Socket    bool   // this is of a WebSocket: the chunks are messages
	Status    int
	Header    http.Header   // of the response
	HeadAfter time.Duration // when the response began, since the request
	Chunks    []Chunk
	EndAfter  time.Duration // when it ended
	Cut       bool          // it did not end properly
}

// Chunk is bytes of a response as they were received at once, so long after the request.
type Chunk struct {
	After time.Duration
	Data  []byte
}

// Read groups the records of a source into exchanges, in the order in which they began. Exchanges
// of which there is nothing to serve are left out. notes is what happened to the source itself. On
// an error, what came before is returned with it.
func Read(src capture.Source) (list []Exchange, notes []string, err error) {
	var order []*exchangeBuilder
	byNumber := map[int]*exchangeBuilder{}
	for r, readErr := range src {
		if readErr != nil {
			err = readErr
			break
		}
		if r.Note != "" && (r.Head == nil || r.Lost > 0) { // one with a head is about a detail of an exchange
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
	base    time.Duration // when the request was sent or, if nobody knows, when the response began
	last    time.Duration // since then, of the latest record
	started bool          // the response has begun
	ended   bool
	by      capture.Party // who ended it
	sides   []sideBytes   // what both sides said, in order
}

// sideBytes is bytes of one side, so long after the exchange began.
type sideBytes struct {
	side  capture.Side
	after time.Duration
	data  []byte
}

func (g *exchangeBuilder) add(r capture.Record) {
	g.addHead(r)
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

// noteTime says how late it is.
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

// splitSocket makes exchanges of the messages of a WebSocket. What its server says first answers no
// message. Where the client went away behind an answer, nothing has to break.
func (g *exchangeBuilder) splitSocket() []Exchange {
	x := g.Exchange
	x.Socket, x.Asked, x.Chunks, x.HeadAfter, x.Cut = true, nil, nil, 0, false
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

// isHalf reports whether an answer on a WebSocket was not seen to its end. Who waits for the rest
// would wait forever.
func (x *Exchange) isHalf() bool {
	return fault.IsRequest(x.Asked) && (len(x.Chunks) == 0 || !fault.IsFinal(x.Chunks[len(x.Chunks)-1].Data))
}

func (g *exchangeBuilder) addHead(r capture.Record) {
	h := r.Head
	if h == nil {
		return
	}
	g.File, g.Method, g.URL = cmp.Or(g.File, h.File), cmp.Or(g.Method, h.Method), cmp.Or(g.URL, h.URL)
	if r.Side == capture.Response {
		g.Status, g.Header = h.Status, h.Header
	}
}

// undoChunking undoes chunked transfer coding that is still on the bytes, as curl --raw leaves it: the
// server does its own.
func (g *exchangeBuilder) undoChunking() {
	if !strings.EqualFold(g.Header.Get("Transfer-Encoding"), "chunked") || len(g.Chunks) == 0 {
		return
	}
	plain, err := io.ReadAll(httputil.NewChunkedReader(bytes.NewReader(g.Body())))
	if err == nil {
		g.Chunks = []Chunk{{g.Chunks[0].After, plain}}
	}
}

// Body is all bytes of the response.
func (x *Exchange) Body() []byte { return x.firstBytes(math.MaxInt) }

// firstBytes is the chunks of the body that bring its first n bytes.
func (x *Exchange) firstBytes(n int) (p []byte) {
	for _, c := range x.Chunks {
		if len(p) >= n {
			break
		}
		p = append(p, c.Data...)
	}
	return p
}

// Path is the path of the URL, without what makes no difference to a server; empty for a bare body.
func (x *Exchange) Path() string {
	if x.URL == "" {
		return ""
	}
	u, err := url.Parse(x.URL)
	if err != nil { // whoever sent it, somebody answered
		text, _, _ := strings.Cut(x.URL, "?")
		u = &url.URL{Path: text}
	}
	return cleanPath(u.Path)
}

// Query is what follows the question mark of the URL.
func (x *Exchange) Query() string {
	_, query, _ := strings.Cut(x.URL, "?")
	query, _, _ = strings.Cut(query, "#")
	return query
}

func cleanPath(p string) string { return path.Clean("/" + p) }

// How well an exchange answers a request by where it went.
const (
	fitsBare = 1 + iota // it shows no request, and answers any POST
	fitsEnd             // the paths end alike: one has the beginning of a provider's address, or a name a proxy took off
	fitsPath
)

// pathFit is one of those, or 0.
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

// endAlike reports whether of two paths all is the same but how they begin, in at most two names
// each: "/v1/responses" and "/openai/responses" are.
func endAlike(a, b string) bool {
	as, bs := strings.Split(a[1:], "/"), strings.Split(b[1:], "/")
	for len(as) > 0 && len(bs) > 0 && as[len(as)-1] == bs[len(bs)-1] {
		as, bs = as[:len(as)-1], bs[:len(bs)-1]
	}
	whole := len(as) + len(bs) // what differs
	return max(len(as), len(bs)) <= 2 && whole < len(strings.Split(a[1:], "/"))+len(strings.Split(b[1:], "/"))
}

// statusCode is what the answer begins with.
func (x *Exchange) statusCode() int {
	if x.Status < 100 || x.Status > 999 { // what net/http can send
		return http.StatusOK
	}
	return x.Status
}

// isUnanswered reports whether the provider never answered.
func (x *Exchange) isUnanswered() bool { return x.Cut && x.Status == 0 && len(x.Chunks) == 0 }
