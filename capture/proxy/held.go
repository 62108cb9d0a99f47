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

// heldBody is the body of an answer that may be held.
type heldBody struct {
	x        *exchange
	from     io.ReadCloser
	recorder noteTaker
	limit    time.Duration
	plea     clientKeepAlive
	alive    time.Duration // between two pleas; 0 where none can be made
	spoke    time.Time     // when the client was told to wait last
	shut     func()        // breaks the client's connection, where an error of Read does not
	now      []byte        // of what passes
	wake     chan struct{}

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
	notes   []string
}

// startReading begins to read. cut adds the events that bytes bring; they are its own.
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

// readUpstream reads what the provider sends, also while nothing passes.
func (h *heldBody) readUpstream(cut func(p []byte, ended bool)) {
	buffer := make([]byte, copyBytes)
	for {
		n, err := h.from.Read(buffer)
		if err != nil {
			h.recorder.handOver() // nobody reads it again, and it is long until it ends
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

// Read gives the client what may pass, and waits for it.
func (h *heldBody) Read(p []byte) (int, error) {
	for len(h.now) == 0 {
		var err error
		var wait time.Duration
		if h.now, wait, err = h.nextBytes(); err != nil {
			return 0, err
		}
		if len(h.now) > 0 {
			break
		}
		if !h.waitEvent(wait) {
			return 0, h.x.ctx.Err()
		}
	}
	n := copy(p, h.now)
	h.now = h.now[n:]
	return n, nil
}

// waitEvent waits for something to happen, at most that long; zero is for as long as it takes. It
// reports false when the exchange ended first.
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

// nextBytes is what passes now; if nothing does, how long to wait before it is worth another look.
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
			h.holdResponse(why)
		}
	}
	now := h.x.p.options.Now()
	if h.why != "" && now.Sub(h.since) >= h.limit {
		h.free = true
		h.resumeResponse(fmt.Sprintf("was let go after %v, the limit", h.limit))
	}
	switch {
	case h.why != "" && h.steps == 0:
		return h.keepWaiting(now)
	case len(h.events) == 0:
		return nil, 0, h.err
	}
	return h.takeEvent(), 0, nil
}

// keepWaiting is what a client gets while its answer is held: words to wait, now and then.
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

// takeEvent takes the next event off. With steps, the watch is told of it when it has not been.
func (h *heldBody) takeEvent() []byte {
	h.askWatch() // if it is held as it is, what this says is of no more use
	e := h.events[0]
	h.events[0], h.events, h.looked = heldEvent{}, h.events[1:], false
	h.steps = max(0, h.steps-1)
	h.countPassed(e)
	return e.data
}

// countPassed counts an event that passes.
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

// askWatch tells the watch of the next event, once.
func (h *heldBody) askWatch() (why string) {
	if says := h.events[0].says; says != nil && !h.looked && !h.free {
		h.looked = true
		return h.x.watch.Look(says)
	}
	return ""
}

// holdResponse holds the answer.
func (h *heldBody) holdResponse(why string) {
	h.why, h.since, h.spoke = why, h.x.p.options.Now(), h.x.p.options.Now()
	h.recorder.addNote(fmt.Sprintf("%s: %s; the client has %s of what is shown, and waits", capture.HeldNote, why, count.Of(h.given, "byte")))
}

// resumeResponse lets the answer go, and says how.
func (h *heldBody) resumeResponse(how string) {
	took := h.x.p.options.Now().Sub(h.since).Round(time.Millisecond)
	h.notes = append(h.notes, fmt.Sprintf("%s: the client waited %v for what comes behind byte %d; then the answer %s", capture.HeldNote, took, h.given, how))
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
		h.resumeResponse("was broken off")
		wakeReader(h.room)
	default:
		h.resumeResponse("was let go")
	}
	wakeReader(h.wake)
	return true
}

// holdState is what there is to know of an answer that is held.
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

// holdNote is what the client had to wait for.
func (h *heldBody) holdNote() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.why != "" {
		h.resumeResponse("was not given to the end")
	}
	if h.kept > 0 {
		h.notes = append(h.notes, fmt.Sprintf("it was told to wait by %s of %s", count.Of(h.kept, "byte"), h.plea.words))
	}
	return joinWords(h.recorder.pendingNotes(), strings.Join(h.notes, "; "))
}

// wasAborted reports whether the answer was broken off by whoever held it.
func (h *heldBody) wasAborted() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.broke
}
