package capture

import (
	"context"
	"math"
	"sync"
	"time"
)

// The limits of a player's speed.
const (
	MinSpeed = 0.25
	MaxSpeed = 16
)

// Player is a clock with a variable speed, which can be paused. It starts when it is created, and is safe for
// concurrent use. Waiting goroutines notice a change at once.
type Player struct {
	mu      sync.Mutex
	speed   float64
	paused  bool
	played  time.Duration // the player's time at the last change
	since   time.Time     // time of the last change of the speed or of the field paused
	changed chan struct{} // closed at the next change
}

// NewPlayer returns a player that runs speed times as fast as the clock, within MinSpeed and MaxSpeed.
func NewPlayer(speed float64) *Player {
	return &Player{speed: clampSpeed(speed), since: time.Now(), changed: make(chan struct{})}
}

// SetSpeed changes the speed, within MinSpeed and MaxSpeed.
func (p *Player) SetSpeed(speed float64) { p.applyChange(func() { p.speed = clampSpeed(speed) }) }

// Pause pauses or resumes the player.
func (p *Player) Pause(paused bool) { p.applyChange(func() { p.paused = paused }) }

// Speed returns the speed, even while the player is paused.
func (p *Player) Speed() float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.speed
}

// Paused reports whether the player is paused.
func (p *Player) Paused() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.paused
}

func clampSpeed(speed float64) float64 {
	if !(speed > MinSpeed) { // also for NaN
		return MinSpeed
	}
	return min(speed, MaxSpeed)
}

func (p *Player) applyChange(set func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.played, p.since = p.timeLocked(), time.Now()
	set()
	close(p.changed)
	p.changed = make(chan struct{})
}

// timeLocked returns the player's time. The caller holds the lock.
func (p *Player) timeLocked() time.Duration {
	if p.paused {
		return p.played
	}
	return p.played + time.Duration(float64(time.Since(p.since))*p.speed)
}

// timeUntil returns the time until the player's time is t, if nothing changes before then. While the player is
// paused, it returns the maximum duration. The channel changed is closed at the next change.
func (p *Player) timeUntil(t time.Duration) (left time.Duration, changed <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	missing := t - p.timeLocked()
	switch {
	case missing <= 0:
		return 0, p.changed
	case p.paused:
		return math.MaxInt64, p.changed
	}
	// Rounded up: waking a nanosecond early would mean waking twice.
	return time.Duration(min(math.Ceil(float64(missing)/p.speed), math.MaxInt64/2)), p.changed
}

// waitUntil waits until the player's time is t. It returns false if ctx is done first.
func (p *Player) waitUntil(ctx context.Context, t time.Duration) bool {
	for ctx.Err() == nil {
		left, changed := p.timeUntil(t)
		if left == 0 {
			return true
		}
		timer := time.NewTimer(left)
		select {
		case <-timer.C:
		case <-changed:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return false
}

// jitter is the largest step back in the times of records that counts as normal. A reader of several
// connections sets a record's time and passes the record on a moment later.
const jitter = 10 * time.Millisecond

// Play passes records on at the times at which they were received, by p's clock, counted from the start of
// reading. Records without a time are passed on at once. If time goes back, as it does between two captures,
// the later record is passed on at once too, and the following ones keep their distance from it. A step back
// of at most jitter is ignored: it comes from concurrent exchanges. When ctx is done, the source ends.
func Play(ctx context.Context, src Source, p *Player) Source {
	return func(yield func(Record, error) bool) {
		p.mu.Lock()
		zero := p.timeLocked() // the player's time at which the source began
		p.mu.Unlock()
		latest := time.Duration(0)
		for r, err := range src {
			if err == nil && r.At >= 0 {
				if r.At < latest-jitter {
					zero += latest - r.At
					latest = r.At
				}
				latest = max(latest, r.At)
				if !p.waitUntil(ctx, zero+r.At) {
					return
				}
			}
			if ctx.Err() != nil || !yield(r, err) {
				return
			}
		}
	}
}

// aheadBytes is the approximate number of bytes that are read ahead: the data of the records, and recordBytes
// for each record.
const (
	aheadBytes  = 1 << 20
	recordBytes = 320
)

// ReadAhead reads src in its own goroutine, some records ahead of the consumer. No record waits for a later
// one. A panic in src is raised in the consumer.
func ReadAhead(src Source) Source {
	return func(yield func(Record, error) bool) {
		a := &readAhead{}
		a.turn.L = &a.mu
		defer a.stop()
		go a.readSource(src)
		var recs []Record
		for {
			clear(recs)
			var more bool
			recs, more = a.takeAll(recs[:0])
			for i := range recs {
				if !yield(recs[i], nil) {
					return
				}
			}
			if !more {
				break
			}
		}
		switch {
		case a.panicked != nil:
			panic(a.panicked)
		case a.err != nil:
			yield(Record{}, a.err)
		}
	}
}

// readAhead holds the records that were read but not yet taken, and how the source ended.
type readAhead struct {
	mu       sync.Mutex
	turn     sync.Cond // signals any change
	recs     []Record
	bytes    int
	ended    bool // the source ended
	left     bool // the consumer stopped
	err      error
	panicked any
}

func (a *readAhead) readSource(src Source) {
	defer func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.ended, a.panicked = true, recover()
		a.turn.Broadcast()
	}()
	for r, err := range src {
		if err != nil {
			a.err = err
			return
		}
		if !a.enqueue(r) {
			return
		}
	}
}

// enqueue adds a record when there is room. It reports whether the consumer wants more.
func (a *readAhead) enqueue(r Record) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.bytes >= aheadBytes && !a.left {
		a.turn.Wait()
	}
	a.recs = append(a.recs, r)
	a.bytes += recordBytes + len(r.Data)
	if len(a.recs) == 1 {
		a.turn.Broadcast()
	}
	return !a.left
}

// takeAll waits for records and returns all of them. The slice in the parameter room becomes the next buffer. takeAll
// reports whether more may come.
func (a *readAhead) takeAll(room []Record) (recs []Record, more bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.recs) == 0 && !a.ended {
		a.turn.Wait()
	}
	recs, a.recs = a.recs, room
	if a.bytes >= aheadBytes {
		a.turn.Broadcast()
	}
	a.bytes = 0
	return recs, !a.ended
}

// stop notes that the consumer has stopped.
func (a *readAhead) stop() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.left = true
	a.turn.Broadcast()
}
