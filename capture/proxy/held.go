package proxy

import (
	"cmp"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"toolscope/capture"
	"toolscope/capture/bend"
	"toolscope/capture/websocket"
)

// held is the body of an answer that may be held.
type held struct {
	x     *exchange
	from  io.ReadCloser
	limit time.Duration
	alive time.Duration // between words that tell the client to wait; 0 where there are none
	spoke time.Time     // when the client was told to wait last
	now   []byte        // of the event that passes
	wake  chan struct{}

	mu      sync.Mutex
	events  [][]byte // that the client was not given
	looked  bool     // the watch has seen the first of them
	waiting int64    // bytes of events
	given   int64
	kept    int64 // words that the client was given besides
	err     error // what the body ended with
	why     string
	since   time.Time
	steps   int
	free    bool // nothing holds it any more
	broke   bool
	room    chan struct{} // who reads waits for it
	told    []string
}

// hold has an answer held when its watch says so.
func (x *exchange) hold(res *http.Response) {
	if x.watch == nil || res.StatusCode != http.StatusOK {
		return
	}
	coding := strings.ToLower(res.Header.Get("Content-Encoding"))
	h := &held{
		x: x, from: res.Body, limit: cmp.Or(x.p.options.HoldTime, holdTime),
		wake: make(chan struct{}, 1), room: make(chan struct{}, 1),
	}
	packed := coding != "" && coding != "identity"
	if !packed && strings.HasPrefix(res.Header.Get("Content-Type"), "text/event-stream") {
		h.alive = cmp.Or(x.p.options.alive, aliveTime)
	}
	cutter := bend.NewCutter(res.Header, packed)
	res.Header.Del("Content-Length")
	res.ContentLength = -1
	res.Body, x.held = h, h
	x.p.mu.Lock()
	x.p.watched[x.number] = h
	x.p.mu.Unlock()
	go h.fill(cutter)
}

// fill reads what the provider sends, also while nothing passes.
func (h *held) fill(cutter *bend.Bender) {
	buffer := make([]byte, copyBytes)
	for {
		n, err := h.from.Read(buffer)
		pieces := cutter.Write(slices.Clone(buffer[:n]), 0)
		if err != nil {
			last, _ := cutter.Close()
			pieces = append(pieces, last...)
			h.x.received.handOver() // nobody reads it again, and it is long until it ends
		}
		h.mu.Lock()
		for _, piece := range pieces {
			h.events = append(h.events, piece.Data)
			h.waiting += int64(len(piece.Data))
		}
		h.err = err
		full := h.waiting > mostHeld && !h.broke
		h.mu.Unlock()
		ring(h.wake)
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

func ring(bell chan struct{}) {
	select {
	case bell <- struct{}{}:
	default:
	}
}

// Close ends the body.
func (h *held) Close() error {
	h.x.p.mu.Lock()
	delete(h.x.p.watched, h.x.number)
	h.x.p.mu.Unlock()
	return h.from.Close()
}

// Read gives the client what may pass, and waits for it.
func (h *held) Read(p []byte) (int, error) {
	for len(h.now) == 0 {
		var err error
		var wait time.Duration
		if h.now, wait, err = h.next(); err != nil {
			return 0, err
		}
		if len(h.now) > 0 {
			break
		}
		if !h.await(wait) {
			return 0, h.x.ctx.Err()
		}
	}
	n := copy(p, h.now)
	h.now = h.now[n:]
	return n, nil
}

// await waits for something to happen, at most that long; zero is for as long as it takes. It
// reports false when the exchange ended first.
func (h *held) await(most time.Duration) bool {
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

// next is what passes now; if nothing does, how long to wait before it is worth another look.
func (h *held) next() (event []byte, wait time.Duration, err error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.broke {
		h.x.gate.shut()
		return nil, 0, errLeft
	}
	if h.why == "" && len(h.events) > 0 && !h.looked && !h.free {
		h.looked = true
		if why := h.x.watch.Look(h.events[0]); why != "" {
			h.begin(why)
		}
	}
	now := h.x.p.options.Now()
	if h.why != "" && now.Sub(h.since) >= h.limit {
		h.free = true
		h.end(fmt.Sprintf("was let go after %v, the limit", h.limit))
	}
	switch {
	case h.why != "" && h.steps == 0:
		return h.stall(now)
	case len(h.events) == 0:
		return nil, 0, h.err
	}
	return h.pass(), 0, nil
}

// stall is what a client gets while its answer is held: words to wait, now and then.
func (h *held) stall(now time.Time) (words []byte, wait time.Duration, err error) {
	left := h.limit - now.Sub(h.since)
	if h.alive == 0 {
		return nil, left, nil
	}
	if now.Sub(h.spoke) >= h.alive {
		h.spoke = now
		h.kept += int64(len(aliveWords))
		return []byte(aliveWords), 0, nil
	}
	return nil, min(left, h.alive-now.Sub(h.spoke)), nil
}

// pass takes the next event off. With steps, the watch is told of it when it has not been.
func (h *held) pass() []byte {
	event := h.events[0]
	if !h.looked && !h.free {
		h.x.watch.Look(event) // it is held as it is: what it says is of no more use
	}
	h.events[0], h.events, h.looked = nil, h.events[1:], false
	h.steps = max(0, h.steps-1)
	h.waiting -= int64(len(event))
	h.given += int64(len(event))
	if h.waiting <= mostHeld {
		ring(h.room)
	}
	return event
}

// begin holds the answer.
func (h *held) begin(why string) {
	h.why, h.since, h.spoke = why, h.x.p.options.Now(), h.x.p.options.Now()
	h.x.received.mention(fmt.Sprintf("%s: %s; the client has %d bytes of what is shown, and waits", capture.Held, why, h.given))
}

// end lets the answer go, and says how.
func (h *held) end(how string) {
	took := h.x.p.options.Now().Sub(h.since).Round(time.Millisecond)
	h.told = append(h.told, fmt.Sprintf("%s: the client waited %v for what comes behind byte %d; then the answer %s", capture.Held, took, h.given, how))
	h.why, h.steps = "", 0
}

func (h *held) release(how Release) bool {
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
		h.end("was broken off")
		ring(h.room)
	default:
		h.end("was let go")
	}
	ring(h.wake)
	return true
}

// state is what there is to know of an answer that is held.
func (h *held) state() (hold Hold, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	hold = Hold{
		Exchange: h.x.number, Why: h.why, Since: h.since, Until: h.since.Add(h.limit),
		Given: h.given, Waiting: h.waiting, Ended: h.err != nil,
	}
	if len(h.events) > 0 {
		hold.Next = h.events[0]
	}
	return hold, h.why != ""
}

// words is what the client had to wait for.
func (h *held) words() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.why != "" {
		h.end("was not given to the end")
	}
	if h.kept > 0 {
		h.told = append(h.told, fmt.Sprintf("it was told to wait by %d bytes of comments, which are toolscope's", h.kept))
	}
	return joined(h.x.received.unsaid(), strings.Join(h.told, "; "))
}

// beWatched gives a request a watch for its answer, where somebody wants one.
func (x *exchange) beWatched(r *http.Request) {
	if x.p.options.Watch != nil && !bend.IsAside(r) && !websocket.IsRequest(r) {
		x.watch = x.p.options.Watch()
	}
}

// left reports whether the answer was broken off by whoever held it.
func (h *held) left() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.broke
}
