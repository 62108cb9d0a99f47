package ui

import (
	"toolscope/ui/display"
	"toolscope/ui/send"
)

// SendRequest sends a request as the exchange of a number, which its records have to carry. What is sent
// and what comes back arrives in the inbox of answers, the last record with End; that takes its
// time, and Send does not wait for it. The error says why it cannot be sent at all.
type SendRequest func(r send.Request, exchange int) error

// outbox is what was sent from here. Its exchanges are numbered -1, -2, …: sources count from 1, so
// none is ever named twice.
type outbox struct {
	sent    int
	flying  map[int]bool // exchanges that have not ended
	awaited int          // the exchange to look at once its turn opens, 0 for none
}

// sendDependencies is what the modes need from which something is sent.
func (m *Model) sendDependencies() send.Dependencies {
	means := send.Dependencies{
		Places: m.opt.Places, Results: m.results, Outlet: m.newExport(), Draw: m.draw,
	}
	if m.opt.Send != nil {
		means.Send = m.sendRequest
	}
	return means
}

// sendRequest sends a request. Its turn is looked at as soon as it opens, unless the user goes elsewhere
// meanwhile.
func (m *Model) sendRequest(r send.Request) error {
	p := &m.outbox
	exchange := -(p.sent + 1)
	if err := m.opt.Send(r, exchange); err != nil {
		return err
	}
	m.goNow()
	p.sent++
	p.flying[exchange] = true
	m.setFollow(false)
	p.awaited = exchange
	return nil
}

// followSentTurn takes notice of what came in answer to what was sent from here.
func (m *Model) followSentTurn() {
	if m.outbox.awaited == 0 {
		return
	}
	if t := m.view.TurnOf(m.outbox.awaited); t != nil {
		m.notice = display.Text{}
		m.setFollow(true)
	}
}

// endSource is told that the source brings no more: what it left open was cut. What was sent from
// here goes on.
func (m *Model) endSource(err error) {
	m.ended, m.failure = true, err
	if len(m.outbox.flying) == 0 {
		m.in.Close()
		return
	}
	for _, x := range m.in.Exchanges() {
		if !m.outbox.flying[x.Number] {
			m.in.End(x.Number)
		}
	}
}

// hasSourceEnded reports whether the source brings no more.
func (m *Model) hasSourceEnded() bool { return m.ended || m.opt.Inbox == nil }

// isLive reports whether more may come, from the source or in answer to what was sent from here.
func (m *Model) isLive() bool { return !m.hasSourceEnded() || len(m.outbox.flying) > 0 }
