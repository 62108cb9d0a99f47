package ui

import (
	"toolscope/providers/host"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
)

// A Place is a host that requests can be sent to.
type Place struct {
	Host    *host.Host
	Address string // its URL, "" where that is not known
	Trouble string // why nothing can be sent there, such as a key that is missing; "" when it can
	Warning string // what is to be said before it is
}

// A SendRequest is a request that is ready to be sent.
type SendRequest struct {
	Host     *host.Host
	Model    string
	URL      string
	Body     []byte
	Exchange int // its number, which the records have to carry
}

// Send sends a request. What is sent and what comes back arrives in the inbox of
// answers, as records of its exchange, the last of them with End; that takes its
// time, and Send does not wait for it. The error says why it cannot be sent at all.
type Send func(SendRequest) error

// post is what was sent from here. Its exchanges are numbered -1, -2, …: sources
// count from 1, so none is ever named twice.
type post struct {
	sent    int
	flying  map[int]bool // exchanges that have not ended
	awaited int          // the exchange to look at once its turn opens, 0 for none
}

// send sends a request and reports whether it could. Its turn is looked at as
// soon as it opens, unless the user goes elsewhere meanwhile.
func (m *Model) send(r SendRequest) bool {
	p := &m.post
	r.Exchange = -(p.sent + 1)
	if err := m.opt.Send(r); err != nil {
		m.say(m.draw.Clean(err.Error()).Between("not sent: ", ""))
		return false
	}
	p.sent++
	p.flying[r.Exchange] = true
	m.setFollow(false)
	p.awaited = r.Exchange
	m.say(m.draw.Clean(r.Host.Name).Between("sent to ", ": waiting for the answer"))
	return true
}

// landed takes notice of records of what was sent from here.
func (m *Model) landed(batch []stream.Record) {
	for _, r := range batch {
		if r.End {
			delete(m.post.flying, r.Exchange)
		}
	}
	if m.post.awaited == 0 {
		return
	}
	if t := panes.TurnOf(m.in.Session(), m.post.awaited); t != nil {
		m.notice = display.Text{}
		m.setFollow(true)
	}
}

// endSource is told that the source brings no more: what it left open was cut.
// What was sent from here goes on.
func (m *Model) endSource(err error) {
	m.ended, m.failure = true, err
	if len(m.post.flying) == 0 {
		m.in.Close()
		return
	}
	for _, x := range m.in.Exchanges() {
		if !m.post.flying[x.Number] {
			m.in.End(x.Number)
		}
	}
}

// settled reports whether the source brings no more.
func (m *Model) settled() bool { return m.ended || m.opt.Inbox == nil }

// moving reports whether more may come, from the source or in answer to what was
// sent from here.
func (m *Model) moving() bool { return !m.settled() || len(m.post.flying) > 0 }

// waiting is how many records wait to be read.
func (m *Model) waiting() int {
	n := 0
	for _, inbox := range m.inboxes() {
		n += inbox.Waiting()
	}
	return n
}

// inboxes are those that records come from.
func (m *Model) inboxes() (all []Inbox) {
	for _, inbox := range []Inbox{m.opt.Inbox, m.opt.Answers} {
		if inbox != nil {
			all = append(all, inbox)
		}
	}
	return all
}
