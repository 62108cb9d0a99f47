package fleet

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"toolscope/capture"
)

// State is how a view is doing.
type State struct {
	Hosts  []Host        // by name
	Rate   float64       // records a second, lately
	Lag    time.Duration // how old what is read is; 0 where nothing waits
	Lost   int64         // bytes of captures that never came
	Gaps   int64         // places where they are missing
	Spoilt int64         // messages that make no sense
	Newer  int64         // messages of another version
	Down   bool          // the hub is not reached
}

// Host is a machine that sends.
type Host struct {
	Name    string
	Heard   time.Time     // the last sign of it
	Spooled int64         // bytes that the hub did not have then
	Skew    time.Duration // by how much its clock is ahead of the hub's
	Silent  bool
}

// State is how the view is doing.
func (v *View) State() State {
	v.mu.Lock()
	defer v.mu.Unlock()
	s := v.state
	s.Rate, s.Down = v.rate.value(time.Now()), !v.link.IsConnected()
	for _, h := range v.hosts {
		s.Hosts = append(s.Hosts, *h)
	}
	slices.SortFunc(s.Hosts, func(a, b Host) int { return cmp.Compare(a.Name, b.Name) })
	return s
}

// count takes what a message tells beside its bytes.
func (v *View) count(msg jetstream.Msg, meta *jetstream.MsgMetadata) {
	o, ok := originOf(msg.Subject())
	v.mu.Lock()
	defer v.mu.Unlock()
	now := time.Now()
	v.rate.add(now, len(v.recs))
	if v.state.Lag = 0; meta.NumPending > 0 {
		v.state.Lag = max(0, now.Sub(meta.Timestamp))
	}
	if ok {
		v.sign(o, msg.Headers(), now, meta.Timestamp)
	}
}

// health takes what a sender says of itself.
func (v *View) health(msg *nats.Msg) {
	o, ok := originOf(msg.Subject)
	if !ok {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sign(o, msg.Header, time.Now(), time.Time{})
}

// sign takes a sign of a host.
func (v *View) sign(of origin, head nats.Header, now, at time.Time) {
	h := v.hosts[of.host]
	if h == nil {
		h = &Host{Name: of.host}
		v.hosts[of.host] = h
	}
	if n, err := strconv.ParseInt(head.Get(headSpooled), 10, 64); err == nil && n >= 0 {
		h.Spooled = n
	}
	if !at.IsZero() {
		h.Skew = skewOf(head, at)
		if now.Sub(at) > v.quiet { // it is history, and no sign of life
			now = at
		}
	}
	if now.After(h.Heard) {
		h.Heard = now
	}
	if now.After(v.heard[of.id]) {
		v.heard[of.id] = now
	}
	h.Silent = time.Since(h.Heard) > v.quiet
}

// lookForSilent ends what is open of captures of whose senders there was no sign for a while.
func (v *View) lookForSilent(now time.Time, yield func(capture.Record, error) bool) bool {
	if v.until > 0 || v.link.made.Load() != v.made || !v.link.IsConnected() {
		return true // it is not the host's silence
	}
	var recs []capture.Record
	v.mu.Lock()
	for _, h := range v.hosts {
		h.Silent = now.Sub(h.Heard) > v.quiet
	}
	for _, f := range v.order {
		if f.silent || v.state.Lag > v.quiet || now.Sub(v.opened) < v.quiet || now.Sub(v.heard[f.id]) < v.quiet {
			continue
		}
		if f.silent = true; f.feed.Open() > 0 {
			recs = f.feed.Cut(recs, "nothing was heard of "+f.host+" for "+v.quiet.String())
		}
	}
	v.mu.Unlock()
	return v.deliver(yield, recs, true)
}

// meter measures how many come in a second, over the last few.
type meter struct {
	second int64
	counts [4]int
}

func (m *meter) add(now time.Time, n int) {
	m.turn(now)
	m.counts[m.second%int64(len(m.counts))] += n
}

func (m *meter) turn(now time.Time) {
	second := now.Unix()
	for s := max(m.second+1, second-int64(len(m.counts))+1); s <= second; s++ {
		m.counts[s%int64(len(m.counts))] = 0
	}
	m.second = max(m.second, second)
}

// value is that of the seconds that are over.
func (m *meter) value(now time.Time) float64 {
	m.turn(now)
	sum := 0
	for i, n := range m.counts {
		if int64(i) != m.second%int64(len(m.counts)) {
			sum += n
		}
	}
	return float64(sum) / float64(len(m.counts)-1)
}
