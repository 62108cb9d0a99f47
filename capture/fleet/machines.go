package fleet

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// State is the state of a view, with a summary of the machines. View.Hosts lists them.
type State struct {
	Hosts       int           // number of machines that send, or sent lately
	Silent      int           // number of machines whose expected signs of life are missing
	First       string        // name of the alphabetically first silent machine
	Skewed      Host          // the machine whose clock differs most from the hub's
	Waiting     Host          // the machine with the most unsent bytes
	Rate        float64       // current number of records per second
	Lag         time.Duration // age of the data that is being read; 0 if no data is waiting and the last message was recent
	Lost        int64         // number of bytes of captures that never arrived
	Gaps        int64         // number of places where bytes are missing
	Missed      int64         // number of messages that the hub deleted unread
	MaybeMissed int64         // number of deleted messages that may have been meant for this view
	Resets      int64         // number of times that the hub lost messages; counted only for a view with an end
	Invalid     int64         // number of invalid messages
	Newer       int64         // number of messages of a newer version
	Unreachable bool          // the hub can't be reached
	Trouble     string        // another reason why the view can't read
}

// Complete reports whether no data is known to be missing.
func (s *State) Complete() bool {
	return s.Lost == 0 && s.Missed == 0 && s.MaybeMissed == 0 && s.Resets == 0 && s.Invalid == 0
}

// Host is a machine that sends, or has sent, captures.
type Host struct {
	Name        string
	LastSeen    time.Time     // its last sign of life, by our clock
	Spooled     int64         // number of unsent bytes of all its captures at that time
	Skew        time.Duration // how far its clock is ahead of the hub's clock
	Silent      bool          // expected signs of life are missing
	Ended       bool          // all its senders ended normally
	FromRecords bool          // known only from stored data; LastSeen is then the time when the hub got the data
}

// sumEvery is the maximum age of the summary of machines in a State.
const sumEvery = time.Second

// State returns the state of the view. It summarises the machines at most once a second.
func (v *View) State() State {
	v.mu.Lock()
	defer v.mu.Unlock()
	now := v.now()
	if now.Sub(v.summed).Abs() >= sumEvery {
		v.summariseMachines(now)
	}
	s := v.state
	if v.closed.Load() {
		s.Lag, s.Trouble = 0, "" // nothing more will be read
	}
	s.Rate, s.Unreachable = v.rate.perSecond(now), !v.closed.Load() && !v.link.IsConnected()
	return s
}

// Hosts returns the machines, sorted by name.
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

// countMessage updates the state from a message's headers and time.
func (v *View) countMessage(msg jetstream.Msg, meta *jetstream.MsgMetadata) {
	o, ok := originOf(msg.Subject())
	v.mu.Lock()
	defer v.mu.Unlock()
	now, at := v.now(), v.clock.toLocal(meta.Timestamp)
	v.rate.add(now, len(v.recs))
	age := max(0, now.Sub(at))
	if v.state.Lag, v.state.Trouble = 0, ""; meta.NumPending > 0 || age > minLag { // if neither is true, the message may only have waited in this process
		v.state.Lag = age
	}
	if ok {
		v.noteSign(o, msg.Headers(), now, at)
		if msg.Headers().Get(headSent) != "" {
			v.machines[o.host].noteSkew(skewOf(msg.Headers(), meta.Timestamp))
		}
	}
}

// minLag is the age above which even the last message on the hub counts as lag.
const minLag = time.Second

// onHeartbeat updates the state from a sender's heartbeat.
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

// machine is the state of a machine and of its senders.
type machine struct {
	Host
	of        map[string]*senderState // the machine's senders, by the id of their capture
	read      time.Time               // time when its data was last read
	alive     bool                    // whether it gave a sign of life after the view opened
	owes      bool                    // whether it had open exchanges when its signs of life stopped
	skews     [4]time.Duration        // skews of its last messages
	skewCount int                     // number of skews so far
}

// noteSkew records how far the machine's clock was ahead of the hub's when a message arrived at the hub. A delayed
// message makes the value too small, so the largest of the last few values counts.
func (m *machine) noteSkew(skew time.Duration) {
	m.skews[m.skewCount%len(m.skews)] = skew
	m.skewCount++
	m.Skew = slices.Max(m.skews[:min(m.skewCount, len(m.skews))])
}

// senderState is the state of a capture's sender.
type senderState struct {
	heard   time.Time
	read    time.Time // time when its data was last read, regardless of the data's age
	spooled int64
	over    time.Time // time when it reported its normal end, or zero
}

// noteSign updates a sender from a message that it sent at a given time. All times are by our clock.
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

// signCall records an indexed call as a sign of life of its machine. The call may be newer than all other signs.
func (v *View) signCall(of subjectParts, at time.Time) {
	v.mu.Lock()
	defer v.mu.Unlock()
	m, s := v.senderOf(of)
	v.noteSignTime(m, s, v.now(), v.clock.toLocal(at))
}

// senderOf returns the machine and the sender of an origin. It adds them if they are new.
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

// noteSignTime records the time of a sign of life, or of data that is too old to be one.
func (v *View) noteSignTime(m *machine, s *senderState, now, at time.Time) {
	heard := now
	s.read, m.read = now, now
	if now.Sub(at) > v.quiet { // stored data, not a sign of life
		heard = at
	} else {
		m.owes = false
		m.alive = m.alive || !at.Before(v.opened) // an earlier sign doesn't count: the sender may have ended before we subscribed
	}
	if heard.After(m.LastSeen) {
		m.LastSeen = heard
	}
	if heard.After(s.heard) {
		s.heard = heard
	}
}

// couldHear reports whether we could receive signs of life during the whole period after which a machine counts as
// silent.
func (v *View) couldHear(now time.Time) bool {
	return now.Sub(v.listening) >= v.quiet && now.Sub(v.looked) <= stood && v.link.IsConnected() && v.link.made.Load() == v.made
}

// summariseMachines updates the summary of the machines. A machine does not count as silent if it is known only
// from stored data and has no open exchanges.
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

// hasEnded reports whether all senders of the machine ended normally. If no senders are left, it returns its last
// result.
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

// An Agent is an agent that publishes captures from a machine.
type Agent struct {
	Host, Name string
	Bytes      int64     // size of its captures
	Latest     time.Time // time when the hub got its latest data, by the hub's clock
}

// Agents lists the agents with data in the address's period. It reads only the headers of each capture's last
// message, and then closes the view.
func (v *View) Agents(ctx context.Context) ([]Agent, error) {
	defer v.closed.Store(true)
	defer v.link.Close()
	config := v.consumerConfig()
	config.DeliverPolicy, config.HeadersOnly = jetstream.DeliverLastPerSubjectPolicy, true
	consumer, err := v.stream.CreateConsumer(ctx, config)
	if err != nil {
		return nil, plainReason(err)
	}
	info := consumer.CachedInfo()
	defer v.deleteConsumer(info.Name)
	all := map[[2]string]Agent{}
	for left := int(info.NumPending); left > 0; {
		batch, err := consumer.Fetch(min(left, maxPulledMessages), jetstream.FetchMaxWait(answerTimeout))
		if err != nil {
			return nil, plainReason(err)
		}
		before := left
		for msg := range batch.Messages() {
			left--
			meta, err := msg.Metadata()
			o, ok := originOf(msg.Subject())
			if err != nil || !ok || o.version != version || meta.Timestamp.Before(v.since) || !v.until.IsZero() && meta.Timestamp.After(v.until) {
				continue
			}
			span, _ := parseSpan(msg.Headers().Get(headSpan)) // an invalid message has no size
			a := all[[2]string{o.host, o.agent}]
			a.Host, a.Name, a.Bytes = o.host, o.agent, a.Bytes+span.to
			if meta.Timestamp.After(a.Latest) {
				a.Latest = meta.Timestamp
			}
			all[[2]string{o.host, o.agent}] = a
		}
		if err := batch.Error(); err != nil {
			return nil, plainReason(err)
		}
		if left == before {
			return nil, errors.New("the hub does not send its messages")
		}
	}
	var list []Agent
	for _, a := range all {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b Agent) int {
		return cmp.Or(b.Latest.Compare(a.Latest), cmp.Compare(a.Host, b.Host), cmp.Compare(a.Name, b.Name))
	})
	return list, nil
}
