package proxy

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"toolscope/capture"
	"toolscope/capture/fault"
	"toolscope/stream/count"
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

// heldBody is the body of a response that may be held.
type heldBody struct {
	x        *exchange
	from     io.ReadCloser
	recorder bytesRecorder
	limit    time.Duration
	plea     clientKeepAlive
	alive    time.Duration // time between keep-alives; 0 if the body allows none
	spoke    time.Time     // time of the last keep-alive or, before the first one, of the start of the hold
	shut     func()        // breaks the client's connection; nil if an error from Read does that
	now      []byte        // bytes to forward next
	wake     chan struct{}

	mu      sync.Mutex
	events  []heldEvent // events that have not been sent to the client yet
	past    int         // number of those events that may pass while others are held
	looked  bool        // the watch has seen the first of the events
	waiting int64       // bytes in events
	given   int64
	kept    int64 // number of keep-alive bytes that were sent to the client
	err     error // the error with which the body ended
	why     string
	since   time.Time
	steps   int
	free    bool // the response can't be held any more
	broke   bool
	room    chan struct{} // signals readUpstream that there is room for more events
}

// startReading begins to read the body. The parameter cut is a function that takes ownership of bytes and adds the
// events in them.
func (h *heldBody) startReading(cut func(p []byte, ended bool)) {
	h.x.held = h
	h.x.p.mu.Lock()
	h.x.p.watched[h.x.number] = h
	h.x.p.mu.Unlock()
	go h.readUpstream(cut)
}

func (h *heldBody) addEvent(e heldEvent) {
	h.events = append(h.events, e)
	if e.past {
		h.past++
	}
	h.waiting += int64(len(e.data))
}

// readUpstream reads the provider's bytes, even while the response is held.
func (h *heldBody) readUpstream(cut func(p []byte, ended bool)) {
	buffer := make([]byte, copyBytes)
	for {
		n, err := h.from.Read(buffer)
		if err != nil {
			h.recorder.handOver() // nothing more is read through the recorder, and the end of the exchange may come much later
		}
		h.mu.Lock()
		cut(slices.Clone(buffer[:n]), err != nil)
		h.err = err
		full := h.waiting > maxHeldBytes && !h.broke
		h.mu.Unlock()
		wakeReader(h.wake)
		if err != nil {
			return
		}
		if full {
			select {
			case <-h.room:
			case <-h.x.ctx.Done():
			}
		}
	}
}

func wakeReader(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

// Close ends the body.
func (h *heldBody) Close() error {
	h.x.p.mu.Lock()
	delete(h.x.p.watched, h.x.number)
	h.x.p.mu.Unlock()
	return h.from.Close()
}

// Read returns bytes that may be forwarded. It waits until there are some.
func (h *heldBody) Read(p []byte) (int, error) {
	for len(h.now) == 0 {
		var err error
		var wait time.Duration
		if h.now, wait, err = h.nextBytes(); err != nil {
			return 0, err
		}
		if len(h.now) == 0 && !h.waitEvent(wait) {
			return 0, h.x.ctx.Err()
		}
	}
	n := copy(p, h.now)
	h.now = h.now[n:]
	return n, nil
}

// waitEvent waits for a change, at most for the time in the parameter most. Zero means no limit. It returns false if
// the exchange ended first.
func (h *heldBody) waitEvent(most time.Duration) bool {
	var late <-chan time.Time
	if most > 0 {
		timer := time.NewTimer(most)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-h.wake:
	case <-late:
	case <-h.x.ctx.Done():
		return false
	}
	return true
}

// nextBytes returns the bytes to forward now. If there are none, the result wait is the maximum time until the next
// call; 0 means no limit.
func (h *heldBody) nextBytes() (event []byte, wait time.Duration, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.broke {
		if h.shut != nil {
			h.shut()
		}
		return nil, 0, errLeft
	}
	if h.why == "" && len(h.events) > 0 {
		if why := h.askWatch(); why != "" {
			h.why, h.since, h.spoke = why, h.x.p.options.Now(), h.x.p.options.Now()
			h.recordNote(fmt.Sprintf("%s: %s; the client has %s of this response, and waits", capture.HeldNote, why, count.Of(h.given, "byte")))
		}
	}
	now := h.x.p.options.Now()
	if h.why != "" && now.Sub(h.since) >= h.limit {
		h.free = true
		h.resumeResponse(fmt.Sprintf("resumed after %v, which is the limit", h.limit))
	}
	switch {
	case h.why != "" && h.steps == 0:
		return h.keepWaiting(now)
	case len(h.events) == 0:
		return nil, 0, h.err
	}
	return h.takeEvent(), 0, nil
}

// keepWaiting returns the next bytes for a client whose response is held: an event that may pass, or a keep-alive. If
// there are none yet, it returns the time until it must be called again.
func (h *heldBody) keepWaiting(now time.Time) (words []byte, wait time.Duration, err error) {
	if h.past > 0 {
		i := slices.IndexFunc(h.events, func(e heldEvent) bool { return e.past })
		e := h.events[i]
		h.events = slices.Delete(h.events, i, i+1)
		h.countPassed(e)
		return e.data, 0, nil
	}
	left := h.limit - now.Sub(h.since)
	if h.alive == 0 {
		return nil, left, nil
	}
	if now.Sub(h.spoke) >= h.alive {
		h.spoke = now
		h.kept += int64(len(h.plea.bytes))
		return []byte(h.plea.bytes), 0, nil
	}
	return nil, min(left, h.alive-now.Sub(h.spoke)), nil
}

// takeEvent removes the next event and returns its bytes. It first shows the event to the watch, unless the watch has
// seen the event before.
func (h *heldBody) takeEvent() []byte {
	h.askWatch() // the response was already held, so the result has no effect
	e := h.events[0]
	h.events[0], h.events, h.looked = heldEvent{}, h.events[1:], false
	h.steps = max(0, h.steps-1)
	h.countPassed(e)
	return e.data
}

// countPassed counts an event that is forwarded.
func (h *heldBody) countPassed(e heldEvent) {
	if e.past {
		h.past--
	}
	h.waiting -= int64(len(e.data))
	h.given += int64(len(e.data))
	if h.waiting <= maxHeldBytes {
		wakeReader(h.room)
	}
}

// askWatch shows the next event to the watch, once. It returns the reason to hold the response, or "".
func (h *heldBody) askWatch() (why string) {
	if says := h.events[0].says; says != nil && !h.looked && !h.free {
		h.looked = true
		return h.x.watch.Look(says)
	}
	return ""
}

// recordNote records a note after the bytes that have arrived. It doesn't wait for more bytes, so a reader of the
// capture sees at once that the response is held.
func (h *heldBody) recordNote(words string) {
	h.recorder.handOver()
	h.x.putRecord(capture.Record{At: h.x.p.recordTime(), Note: words})
}

// resumeResponse resumes the response and records a note about it.
func (h *heldBody) resumeResponse(how string) {
	took := h.x.p.options.Now().Sub(h.since).Round(time.Millisecond)
	h.recordNote(fmt.Sprintf("%s%v after byte %d; then the response %s", capture.ResumedNote, took, h.given, how))
	h.why, h.steps = "", 0
}

func (h *heldBody) applyResume(how Resume) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.why == "" {
		return false
	}
	switch how {
	case Step:
		h.steps++
	case CutOff:
		h.broke = true
		h.resumeResponse("was cut off")
		wakeReader(h.room)
	default:
		h.resumeResponse("resumed")
	}
	wakeReader(h.wake)
	return true
}

// holdState returns the state of the response. The result ok reports whether the response is held.
func (h *heldBody) holdState() (hold Hold, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	hold = Hold{
		Exchange: h.x.number, Why: h.why, Since: h.since, Until: h.since.Add(h.limit),
		Delivered: h.given, Waiting: h.waiting, Ended: h.err != nil,
	}
	if len(h.events) > 0 {
		hold.Next = h.events[0].says
	}
	return hold, h.why != ""
}

// keepAliveNote describes the keep-alives that the client got, for the last record. It returns "" if there were
// none.
func (h *heldBody) keepAliveNote() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.why != "" {
		h.resumeResponse("was not sent completely")
	}
	if h.kept == 0 {
		return ""
	}
	return fmt.Sprintf("%s: meanwhile the client got %s of %s", capture.HeldNote, count.Of(h.kept, "byte"), h.plea.words)
}

// wasAborted reports whether the response was cut off at a breakpoint.
func (h *heldBody) wasAborted() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.broke
}

// heldSocket is the upstream's end of a WebSocket whose messages may be held. Messages are forwarded unchanged, in
// the same frames. A Ping or a Pong passes while messages are held, so that each end knows that the other is still
// there. Such a frame may be between any two frames (RFC 6455 §5.4). A Close is the last frame from an end, so it
// waits for its turn.
type heldSocket struct {
	*heldBody
	up     *upgraded
	reader capture.WebSocketReader
	came   []byte // bytes that have not been split into messages yet
	from   int64  // offset of these bytes among all bytes from the upstream
	open   []byte // frames of the open message, without the control frames that passed
	raw    bool   // the bytes can't be split into messages
}

// socketPlea keeps a WebSocket client waiting. The client's WebSocket library answers a Ping (RFC 6455 §5.5.2), and
// the client's own code doesn't see the Ping.
var socketPlea = clientKeepAlive{
	string(capture.AppendWebSocketFrame(nil, capture.OpPing, []byte("toolscope"))),
	"pings from toolscope; the provider got the pongs",
}

// newHeldSocket returns a heldSocket. It holds messages of the upstream if the exchange's watch requests it.
func newHeldSocket(u *upgraded) *heldSocket {
	s := &heldSocket{heldBody: u.x.newHeldBody(u, u), up: u}
	s.plea, s.alive = socketPlea, cmp.Or(u.x.p.options.alive, aliveTime)
	s.reader.Control = func(opcode byte, _ []byte) {
		s.open = append(s.open, s.upTo(s.reader.Start)...)
		s.addEvent(heldEvent{data: s.upTo(s.reader.End), past: opcode != capture.OpClose})
	}
	s.startReading(s.splitMessages)
	return s
}

// upTo removes the bytes before an offset and returns them.
func (s *heldSocket) upTo(end int64) []byte {
	n := end - s.from
	taken := bytes.Clone(s.came[:n])
	s.came, s.from = s.came[n:], end
	return taken
}

// splitMessages splits bytes into messages. After the first bytes that can't be split, everything passes and no
// message is held.
func (s *heldSocket) splitMessages(p []byte, ended bool) {
	s.came = append(s.came, p...)
	if !s.raw {
		s.reader.Write(p, func(message []byte, _ uint64) {
			s.addEvent(heldEvent{data: append(s.open, s.upTo(s.reader.End)...), says: message})
			s.open = nil
		})
	}
	if !s.raw && (s.reader.Broken != "" || s.reader.Length > capture.MaxWebSocketMessage) {
		s.raw = true
		s.giveUp("resumed: later messages can't be read")
	}
	if rest := append(s.open, s.came...); len(rest) > 0 && (s.raw || ended) {
		s.addEvent(heldEvent{data: rest})
		s.open, s.came = nil, nil
	}
}

// giveUp resumes the response and holds no more messages.
func (s *heldSocket) giveUp(how string) {
	s.free = true
	if s.why != "" {
		s.resumeResponse(how)
	}
}

func (s *heldSocket) Write(p []byte) (int, error) { return s.up.Write(p) }

// CloseWrite tells the upstream that the client has closed its side. It then resumes the response, because the client
// doesn't wait for more.
func (s *heldSocket) CloseWrite() error {
	if err := s.up.CloseWrite(); err != nil {
		return err
	}
	s.mu.Lock()
	s.giveUp("resumed, because the client closed its side")
	s.mu.Unlock()
	wakeReader(s.wake)
	return nil
}
