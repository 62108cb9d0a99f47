package fleet

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// State is how a view is doing. Of the machines it says what has to be said; Hosts lists them.
type State struct {
	Hosts   int           // machines that send, or did lately
	Silent  int           // those that should be heard and are not
	First   string        // of these the first by name
	Skewed  Host          // whose clock differs most
	Waiting Host          // who has most to send
	Rate    float64       // records a second, lately
	Lag     time.Duration // how old what is read is; 0 where nothing waits
	Lost    int64         // bytes of captures that never came
	Gaps    int64         // places where they are missing
	Missed  int64         // messages that the hub let go of unread
	Perhaps int64         // messages that it let go of, and that may have been wanted
	Forgot  int64         // times that the hub forgot what was still to be read
	Spoilt  int64         // messages that make no sense
	Newer   int64         // messages of another version
	Down    bool          // the hub is not reached
	Trouble string        // what else keeps the view from reading
}

// Whole reports whether nothing is missing of what was wanted, as far as anybody knows.
func (s *State) Whole() bool {
	return s.Lost == 0 && s.Missed == 0 && s.Perhaps == 0 && s.Forgot == 0 && s.Spoilt == 0
}

// Host is a machine that sends.
type Host struct {
	Name    string
	Heard   time.Time     // the last sign of it, by our clock
	Spooled int64         // bytes that the hub did not have then, of all its captures
	Skew    time.Duration // by how much its clock is ahead of the hub's
	Silent  bool          // it should be heard and is not
	Ended   bool          // all that sent there ended as it should
	Read    bool          // it was never heard, and only read of: Heard is when it sent that
}

// sumEvery is how old what the machines do may be in a State.
const sumEvery = time.Second

// State is how the view is doing. It takes no longer with many machines than with one, but for once a second.
func (v *View) State() State {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.now()
	if now.Sub(v.summed).Abs() >= sumEvery {
		v.sum(now)
	}
	s := v.state
	if v.closed.Load() {
		s.Lag, s.Trouble = 0, "" // it is read as far as it will be
	}
	s.Rate, s.Down = v.rate.value(now), !v.closed.Load() && !v.link.IsConnected()
	return s
}

// Hosts are the machines, by name.
func (v *View) Hosts() []Host {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sum(v.now())
	all := make([]Host, 0, len(v.machines))
	for _, m := range v.machines {
		h := m.Host
		h.Read = !m.alive
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b Host) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// count takes what a message tells beside its bytes.
func (v *View) count(msg jetstream.Msg, meta *jetstream.MsgMetadata) {
	o, ok := originOf(msg.Subject())
	v.mu.Lock()
	defer v.mu.Unlock()
	now, at := v.now(), v.clock.own(meta.Timestamp)
	v.rate.add(now, len(v.recs))
	age := max(0, now.Sub(at))
	if v.state.Lag, v.state.Trouble = 0, ""; meta.NumPending > 0 || age > leastLag { // it may have waited here
		v.state.Lag = age
	}
	if ok {
		v.sign(o, msg.Headers(), now, at)
		if msg.Headers().Get(headSent) != "" {
			v.machines[o.host].compare(skewOf(msg.Headers(), meta.Timestamp))
		}
	}
}

// leastLag is how old the last message there is may be when it is read, and the view not be behind.
const leastLag = time.Second

// health takes what a sender says of itself.
func (v *View) health(msg *nats.Msg) {
	o, ok := originOf(msg.Subject)
	if !ok {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.now()
	v.sign(o, msg.Header, now, now)
}

// machine is a host, and what of it sends.
type machine struct {
	Host
	of    map[string]*sending // by the id of its capture
	read  time.Time           // when something of it was read last
	alive bool                // it was heard, and not only read of what it sent before we looked
	owes  bool                // something of it was open when it was not heard any more
	skews [4]time.Duration    // what its last messages said of its clock
	said  int                 // how many have
}

// compare takes by how much its clock was ahead of the hub's when a message came there. One that was long on its way,
// as the hub stood still, says less than is true: the largest of the last few counts.
func (m *machine) compare(skew time.Duration) {
	m.skews[m.said%len(m.skews)] = skew
	m.said++
	m.Skew = slices.Max(m.skews[:min(m.said, len(m.skews))])
}

// sending is what sends a capture.
type sending struct {
	heard   time.Time
	read    time.Time // when something of it was read last, however old that was
	spooled int64
	over    time.Time // when it said that it ended as it should; zero if it did not
}

// sign takes a sign of a host that it gave at some time; all times are by our clock.
func (v *View) sign(of origin, head nats.Header, now, at time.Time) {
	m, s := v.known(of)
	if n, err := strconv.ParseInt(head.Get(headSpooled), 10, 64); err == nil && n >= 0 && n <= mostCapture {
		m.Spooled += n - s.spooled
		s.spooled = n
	}
	switch {
	case head.Get(headOver) != "":
		s.over = at
	case at.After(s.over):
		s.over = time.Time{}
	}
	v.hear(m, s, now, at)
}

// signCall takes that a host told of a call. It may do so behind its last other sign.
func (v *View) signCall(of origin, at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	m, s := v.known(of)
	v.hear(m, s, v.now(), v.clock.own(at))
}

// known is the host of an origin, and what sends there.
func (v *View) known(of origin) (*machine, *sending) {
	m := v.machines[of.host]
	if m == nil {
		m = &machine{Host: Host{Name: of.host}, of: map[string]*sending{}}
		v.machines[of.host] = m
	}
	s := m.of[of.id]
	if s == nil {
		s = &sending{}
		m.of[of.id] = s
	}
	return m, s
}

// hear takes when there was a sign.
func (v *View) hear(m *machine, s *sending, now, at time.Time) {
	heard := now
	s.read, m.read = now, now
	if now.Sub(at) > v.quiet { // it is history, and no sign of life
		heard = at
	} else {
		m.owes = false
		m.alive = m.alive || !at.Before(v.opened) // else it may have said that it ended before we could hear that
	}
	if heard.After(m.Heard) {
		m.Heard = heard
	}
	if heard.After(s.heard) {
		s.heard = heard
	}
}

// listens reports whether nothing kept us from hearing signs for as long as it takes a host to be silent.
func (v *View) listens(now time.Time) bool {
	return now.Sub(v.listening) >= v.quiet && now.Sub(v.looked) <= stood && v.link.IsConnected() && v.link.made.Load() == v.made
}

// sum makes the state of what the machines do. One that was only read of, and had nothing open, need not be
// heard.
func (v *View) sum(now time.Time) {
	s, listens := &v.state, v.listens(now)
	v.summed = now
	s.Hosts, s.Silent, s.First, s.Skewed, s.Waiting = len(v.machines), 0, "", Host{}, Host{}
	for _, m := range v.machines {
		m.Ended = m.ended()
		if listens || now.Sub(m.Heard) <= v.quiet {
			m.Silent = !m.Ended && (m.alive || m.owes) && now.Sub(m.Heard) > v.quiet
		}
		if m.Silent {
			if s.Silent++; s.Silent == 1 || m.Name < s.First {
				s.First = m.Name
			}
		}
		if m.Skew.Abs() > s.Skewed.Skew.Abs() {
			s.Skewed = m.Host
		}
		if m.Spooled > s.Waiting.Spooled {
			s.Waiting = m.Host
		}
	}
}

// ended reports whether all that sent there ended as it should. Of what was forgotten it is as it was.
func (m *machine) ended() bool {
	if len(m.of) == 0 {
		return m.Ended
	}
	for _, s := range m.of {
		if s.over.IsZero() {
			return false
		}
	}
	return true
}
