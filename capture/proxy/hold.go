package proxy

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/capture/fault"
)

// A Watch decides when a response is held. Its methods are called one at a time.
type Watch interface {
	// See is called with the records before the response's body: the request and both heads.
	See(capture.Record)
	// Look is called with each complete event of the body before the client gets the event. It returns the reason to
	// hold the response from this event on, or "" to let the event pass.
	Look(event []byte) (why string)
}

// Resume says how a held response continues.
type Resume uint8

// Values of Resume.
const (
	GoOn   Resume = iota // resume until the watch holds the response again
	Step                 // let one event pass
	CutOff               // break the connections of the client and the provider
)

// Hold is the state of a held response.
type Hold struct {
	Exchange  int
	Why       string    // the reason given by the watch
	Since     time.Time // time when the response was held
	Until     time.Time // time when the response resumes automatically
	Delivered int64     // number of bytes that the client has received
	Waiting   int64     // number of bytes that have arrived but are not yet forwarded to the client
	Next      []byte    // the event that the client gets next; nil if none has arrived
	Ended     bool      // the response has arrived completely
}

// errLeft means that a held response was ended with CutOff.
var errLeft = errors.New("the response was held at a breakpoint and then cut off")

// These are limits for held responses.
const (
	holdTime     = 5 * time.Minute
	aliveTime    = 5 * time.Second // between keep-alives
	maxHeldBytes = 64 << 20        // maximum number of unsent bytes of one response; above it, the provider must wait
)

// aliveWords keeps a client of an event stream waiting. The text is a comment, which all clients ignore
// (https://html.spec.whatwg.org/multipage/server-sent-events.html).
const aliveWords = ": toolscope holds this response\n\n"

// Holds lists the held responses, starting with the one that has been held the longest.
func (p *Proxy) Holds() (all []Hold) {
	p.mu.Lock()
	watched := make([]*heldBody, 0, len(p.watched))
	for _, h := range p.watched {
		watched = append(watched, h)
	}
	p.mu.Unlock()
	for _, h := range watched {
		if hold, ok := h.holdState(); ok {
			all = append(all, hold)
		}
	}
	slices.SortFunc(all, func(a, b Hold) int { return cmp.Or(a.Since.Compare(b.Since), a.Exchange-b.Exchange) })
	return all
}

// ResumeHeld resumes the held response of an exchange. It returns false if that exchange has no held response.
func (p *Proxy) ResumeHeld(exchange int, how Resume) bool {
	p.mu.Lock()
	h := p.watched[exchange]
	p.mu.Unlock()
	return h != nil && h.applyResume(how)
}

// heldEvent is an event of a response: its bytes as sent, and its content for the watch. The content is nil if the
// watch doesn't see the event.
type heldEvent struct {
	data, says []byte
	past       bool // the event passes while others are held
}

// bytesRecorder can record the bytes of a response that have arrived.
type bytesRecorder interface{ handOver() }

// clientKeepAlive has the bytes that are sent to a waiting client, and the words for these bytes in notes.
type clientKeepAlive struct{ bytes, words string }

// holdWatchedResponse lets the watch hold a successful response.
func (x *exchange) holdWatchedResponse(res *http.Response) {
	if x.watch == nil || res.StatusCode != http.StatusOK {
		return
	}
	coding := strings.ToLower(res.Header.Get("Content-Encoding"))
	h := x.newHeldBody(res.Body, x.received)
	h.shut, h.plea = x.gate.breakConnection, clientKeepAlive{aliveWords, "comments from toolscope"}
	packed := coding != "" && coding != "identity"
	if !packed && strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		h.alive = cmp.Or(x.p.options.alive, aliveTime)
	}
	cutter := fault.NewCutter(res.Header, packed)
	res.Header.Del("Content-Length")
	res.ContentLength = -1
	res.Body = h
	h.startReading(func(p []byte, ended bool) {
		pieces := cutter.Write(p, 0)
		if ended {
			last, _ := cutter.Close()
			pieces = append(pieces, last...)
		}
		for _, piece := range pieces {
			h.addEvent(heldEvent{data: piece.Data, says: piece.Data})
		}
	})
}

func (x *exchange) newHeldBody(from io.ReadCloser, said bytesRecorder) *heldBody {
	return &heldBody{
		x: x, from: from, recorder: said, limit: cmp.Or(x.p.options.HoldTime, holdTime),
		wake: make(chan struct{}, 1), room: make(chan struct{}, 1),
	}
}
