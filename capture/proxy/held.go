package proxy

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"toolscope/capture"
	"toolscope/stream/count"
)

// held is the body of an answer that may be held.
type held struct {
	x     *exchange
	from  io.ReadCloser
	said  sayer
	limit time.Duration
	plea  plea
	alive time.Duration // between two pleas; 0 where none can be made
	spoke time.Time     // when the client was told to wait last
	shut  func()        // breaks the client's connection, where an error of Read does not
	now   []byte        // of what passes
	wake  chan struct{}

	mu      sync.Mutex
	events  []heldEvent // that the client was not given
	past    int         // of the events: those that go past what is held
	looked  bool        // the watch has seen the first of the events
	waiting int64       // bytes of events
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

// start begins to read. cut adds the events that bytes bring; they are its own.
func (h *held) start(cut func(p []byte, ended bool)) {
	h.x.held = h
	h.x.p.mu.Lock()
	h.x.p.watched[h.x.number] = h
	h.x.p.mu.Unlock()
	go h.fill(cut)
}

func (h *held) add(e heldEvent) {
	h.events = append(h.events, e)
	if e.past {
		h.past++
	}
	h.waiting += int64(len(e.data))
}

// fill reads what the provider sends, also while nothing passes.
func (h *held) fill(cut func(p []byte, ended bool)) {
	buffer := make([]byte, copyBytes)
	for {
		n, err := h.from.Read(buffer)
		if err != nil {
			h.said.handOver() // nobody reads it again, and it is long until it ends
		}
		h.mu.Lock()
		cut(slices.Clone(buffer[:n]), err != nil)
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
		if h.shut != nil {
			h.shut()
		}
		return nil, 0, errLeft
	}
	if h.why == "" && len(h.events) > 0 {
		if why := h.look(); why != "" {
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
	if h.past > 0 {
		i := slices.IndexFunc(h.events, func(e heldEvent) bool { return e.past })
		e := h.events[i]
		h.events = slices.Delete(h.events, i, i+1)
		h.gone(e)
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

// pass takes the next event off. With steps, the watch is told of it when it has not been.
func (h *held) pass() []byte {
	h.look() // if it is held as it is, what this says is of no more use
	e := h.events[0]
	h.events[0], h.events, h.looked = heldEvent{}, h.events[1:], false
	h.steps = max(0, h.steps-1)
	h.gone(e)
	return e.data
}

// gone counts an event that passes.
func (h *held) gone(e heldEvent) {
	if e.past {
		h.past--
	}
	h.waiting -= int64(len(e.data))
	h.given += int64(len(e.data))
	if h.waiting <= mostHeld {
		ring(h.room)
	}
}

// look tells the watch of the next event, once.
func (h *held) look() (why string) {
	if says := h.events[0].says; says != nil && !h.looked && !h.free {
		h.looked = true
		return h.x.watch.Look(says)
	}
	return ""
}

// begin holds the answer.
func (h *held) begin(why string) {
	h.why, h.since, h.spoke = why, h.x.p.options.Now(), h.x.p.options.Now()
	h.said.mention(fmt.Sprintf("%s: %s; the client has %s of what is shown, and waits", capture.HeldNote, why, count.Of(h.given, "byte")))
}

// end lets the answer go, and says how.
func (h *held) end(how string) {
	took := h.x.p.options.Now().Sub(h.since).Round(time.Millisecond)
	h.told = append(h.told, fmt.Sprintf("%s: the client waited %v for what comes behind byte %d; then the answer %s", capture.HeldNote, took, h.given, how))
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
		hold.Next = h.events[0].says
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
		h.told = append(h.told, fmt.Sprintf("it was told to wait by %s of %s", count.Of(h.kept, "byte"), h.plea.words))
	}
	return joined(h.said.unsaid(), strings.Join(h.told, "; "))
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
