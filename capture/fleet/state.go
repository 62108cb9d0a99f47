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
	Hosts       int           // machines that send, or did lately
	Silent      int           // those that should be heard and are not
	First       string        // of these the first by name
	Skewed      Host          // whose clock differs most
	Waiting     Host          // who has most to send
	Rate        float64       // records a second, lately
	Lag         time.Duration // how old what is read is; 0 where nothing waits
	Lost        int64         // bytes of captures that never came
	Gaps        int64         // places where they are missing
	Missed      int64         // messages that the hub let go of unread
	MaybeMissed int64         // messages that it let go of, and that may have been wanted
	Resets      int64         // times that the hub forgot what was still to be read
	Invalid     int64         // messages that make no sense
	Newer       int64         // messages of another version
	Unreachable bool          // the hub is not reached
	Trouble     string        // what else keeps the view from reading
}

// Complete reports whether nothing is missing of what was wanted, as far as anybody knows.
func (s *State) Complete() bool {
	return s.Lost == 0 && s.Missed == 0 && s.MaybeMissed == 0 && s.Resets == 0 && s.Invalid == 0
}

// Host is a machine that sends.
type Host struct {
	Name        string
	LastSeen    time.Time     // the last sign of it, by our clock
	Spooled     int64         // bytes that the hub did not have then, of all its captures
	Skew        time.Duration // by how much its clock is ahead of the hub's
	Silent      bool          // it should be heard and is not
	Ended       bool          // all that sent there ended as it should
	FromRecords bool          // it was never heard, and only read of: Heard is when it sent that
}

// sumEvery is how old what the machines do may be in a State.
const sumEvery = time.Second

// State is how the view is doing. It takes no longer with many machines than with one, but for once a second.
func (v *View) State() State {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.now()
	if now.Sub(v.summed).Abs() >= sumEvery {
		v.summariseMachines(now)
	}
	s := v.state
	if v.closed.Load() {
		s.Lag, s.Trouble = 0, "" // it is read as far as it will be
	}
	s.Rate, s.Unreachable = v.rate.perSecond(now), !v.closed.Load() && !v.link.IsConnected()
	return s
}

// Hosts are the machines, by name.
func (v *View) Hosts() []Host {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.summariseMachines(v.now())
	all := make([]Host, 0, len(v.machines))
	for _, m := range v.machines {
		h := m.Host
		h.FromRecords = !m.alive
		all = append(all, h)
	}
	slices.SortFunc(all, func(a, b Host) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// countMessage takes what a message tells beside its bytes.
func (v *View) countMessage(msg jetstream.Msg, meta *jetstream.MsgMetadata) {
	o, ok := originOf(msg.Subject())
	v.mu.Lock()
	defer v.mu.Unlock()
	now, at := v.now(), v.clock.toLocal(meta.Timestamp)
	v.rate.add(now, len(v.recs))
	age := max(0, now.Sub(at))
	if v.state.Lag, v.state.Trouble = 0, ""; meta.NumPending > 0 || age > minLag { // it may have waited here
		v.state.Lag = age
	}
	if ok {
		v.noteSign(o, msg.Headers(), now, at)
		if msg.Headers().Get(headSent) != "" {
			v.machines[o.host].noteSkew(skewOf(msg.Headers(), meta.Timestamp))
		}
	}
}

// minLag is how old the last message there is may be when it is read, and the view not be behind.
const minLag = time.Second

// onHeartbeat takes what a sender says of itself.
func (v *View) onHeartbeat(msg *nats.Msg) {
	o, ok := originOf(msg.Subject)
	if !ok {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.now()
	v.noteSign(o, msg.Header, now, now)
}

// machine is a host, and what of it sends.
type machine struct {
	Host
	of        map[string]*senderState // by the id of its capture
	read      time.Time               // when something of it was read last
	alive     bool                    // it was heard, and not only read of what it sent before we looked
	owes      bool                    // something of it was open when it was not heard any more
	skews     [4]time.Duration        // what its last messages said of its clock
	skewCount int                     // how many have
}

// noteSkew takes by how much its clock was ahead of the hub's when a message came there. One that was long on its way,
// as the hub stood still, says less than is true: the largest of the last few counts.
func (m *machine) noteSkew(skew time.Duration) {
	m.skews[m.skewCount%len(m.skews)] = skew
	m.skewCount++
	m.Skew = slices.Max(m.skews[:min(m.skewCount, len(m.skews))])
}

// senderState is what sends a capture.
type senderState struct {
	heard   time.Time
	read    time.Time // when something of it was read last, however old that was
	spooled int64
	over    time.Time // when it said that it ended as it should; zero if it did not
}

// noteSign takes a sign of a host that it gave at some time; all times are by our clock.
func (v *View) noteSign(of subjectParts, head nats.Header, now, at time.Time) {
	m, s := v.senderOf(of)
	if n, err := strconv.ParseInt(head.Get(headSpooled), 10, 64); err == nil && n >= 0 && n <= maxCaptureBytes {
		m.Spooled += n - s.spooled
		s.spooled = n
	}
	switch {
	case head.Get(headOver) != "":
		s.over = at
	case at.After(s.over):
		s.over = time.Time{}
	}
	v.noteSignTime(m, s, now, at)
}

// signCall takes that a host told of a call. It may do so behind its last other sign.
func (v *View) signCall(of subjectParts, at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	m, s := v.senderOf(of)
	v.noteSignTime(m, s, v.now(), v.clock.toLocal(at))
}

// senderOf is the host of an origin, and what sends there.
func (v *View) senderOf(of subjectParts) (*machine, *senderState) {
	m := v.machines[of.host]
	if m == nil {
		m = &machine{Host: Host{Name: of.host}, of: map[string]*senderState{}}
		v.machines[of.host] = m
	}
	s := m.of[of.id]
	if s == nil {
		s = &senderState{}
		m.of[of.id] = s
	}
	return m, s
}

// noteSignTime takes when there was a sign.
func (v *View) noteSignTime(m *machine, s *senderState, now, at time.Time) {
	heard := now
	s.read, m.read = now, now
	if now.Sub(at) > v.quiet { // it is history, and no sign of life
		heard = at
	} else {
		m.owes = false
		m.alive = m.alive || !at.Before(v.opened) // else it may have said that it ended before we could hear that
	}
	if heard.After(m.LastSeen) {
		m.LastSeen = heard
	}
	if heard.After(s.heard) {
		s.heard = heard
	}
}

// couldHear reports whether nothing kept us from hearing signs for as long as it takes a host to be silent.
func (v *View) couldHear(now time.Time) bool {
	return now.Sub(v.listening) >= v.quiet && now.Sub(v.looked) <= stood && v.link.IsConnected() && v.link.made.Load() == v.made
}

// summariseMachines makes the state of what the machines do. One that was only read of, and had nothing open, need not be
// heard.
func (v *View) summariseMachines(now time.Time) {
	s, listens := &v.state, v.couldHear(now)
	v.summed = now
	s.Hosts, s.Silent, s.First, s.Skewed, s.Waiting = len(v.machines), 0, "", Host{}, Host{}
	for _, m := range v.machines {
		m.Ended = m.hasEnded()
		if listens || now.Sub(m.LastSeen) <= v.quiet {
			m.Silent = !m.Ended && (m.alive || m.owes) && now.Sub(m.LastSeen) > v.quiet
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

// hasEnded reports whether all that sent there ended as it should. Of what was forgotten it is as it was.
func (m *machine) hasEnded() bool {
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
