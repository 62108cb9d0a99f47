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

// This file is the breakpoint: an answer is held back from the client, from the event on that
// somebody waits for. What the provider sends is read and recorded as it comes meanwhile.

// A Watch says when one answer is to be held. Its methods are called one after the other.
type Watch interface {
	// See is told what is known before the answer's body: the request, and both heads.
	See(capture.Record)
	// Look is told of each event of the body, whole, before the client gets it. Words say why the
	// answer is held from this event on; none let it pass.
	Look(event []byte) (why string)
}

// Resume is what becomes of an answer that is held.
type Resume uint8

// The ways to go on.
const (
	GoOn   Resume = iota // until the watch has words again
	Step                 // one event passes
	CutOff               // the client's connection is broken, and so is the provider's
)

// Hold is an answer that is held.
type Hold struct {
	Exchange  int
	Why       string    // the watch's words
	Since     time.Time // it is held
	Until     time.Time // when it is let go by itself
	Delivered int64     // bytes that the client has
	Waiting   int64     // bytes that it has not, and that have come
	Next      []byte    // the event that it gets next, nil while none has come
	Ended     bool      // the provider has sent all of it
}

// errLeft: whoever held an answer broke the client's connection.
var errLeft = errors.New("the answer was held, and then broken off")

// Limits of what is held.
const (
	holdTime     = 5 * time.Minute
	aliveTime    = 5 * time.Second // between words that tell a client to wait
	maxHeldBytes = 64 << 20        // bytes of one answer; the provider waits then
)

// aliveWords is what keeps a client waiting that reads an event stream: a comment, which everybody
// drops who reads one (https://html.spec.whatwg.org/multipage/server-sent-events.html).
const aliveWords = ": toolscope holds this answer\n\n"

// Holds lists what is held, the longest first.
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

// ResumeHeld lets what is held of an exchange go on. It reports false when nothing is.
func (p *Proxy) ResumeHeld(exchange int, how Resume) bool {
	p.mu.Lock()
	h := p.watched[exchange]
	p.mu.Unlock()
	return h != nil && h.applyResume(how)
}

// heldEvent is an event of an answer: the bytes that bring it, and what they say, which is nothing where
// there is nothing to look at.
type heldEvent struct {
	data, says []byte
	past       bool // it goes past what is held
}

// noteTaker is what records the answer, to which words can be put.
type noteTaker interface {
	handOver()
	addNote(string)
	pendingNotes() string
}

// clientKeepAlive is what has a client wait, and the words for it.
type clientKeepAlive struct{ bytes, words string }

// beWatched gives a request a watch for its answer, where somebody wants one.
func (x *exchange) beWatched(r *http.Request) {
	if x.p.options.Watch != nil && !fault.IsAside(r) {
		x.watch = x.p.options.Watch()
	}
}

// holdIfWatched has an answer held when its watch says so.
func (x *exchange) holdIfWatched(res *http.Response) {
	if x.watch == nil || res.StatusCode != http.StatusOK {
		return
	}
	coding := strings.ToLower(res.Header.Get("Content-Encoding"))
	h := x.newHeldBody(res.Body, x.received)
	h.shut, h.plea = x.gate.breakConnection, clientKeepAlive{aliveWords, "comments, which are toolscope's"}
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

func (x *exchange) newHeldBody(from io.ReadCloser, said noteTaker) *heldBody {
	return &heldBody{
		x: x, from: from, recorder: said, limit: cmp.Or(x.p.options.HoldTime, holdTime),
		wake: make(chan struct{}, 1), room: make(chan struct{}, 1),
	}
}
