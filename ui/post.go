package ui

import (
	"toolscope/ui/display"
	"toolscope/ui/send"
)

// SendRequest sends a request. Its records must have the given exchange number. They arrive in the inbox
// Options.Answers, the last one with End set. SendRequest does not wait for the response. An error says
// why the request can't be sent.
type SendRequest func(r send.Request, exchange int) error

// outbox tracks the requests that toolscope sends. Their exchanges have the numbers -1, -2, …, which no
// source uses.
type outbox struct {
	sent    int
	flying  map[int]bool // exchanges that have not ended
	awaited int          // the exchange to select once its turn opens, 0 for none
}

// sendDependencies returns the dependencies of the modes in package send.
func (m *Model) sendDependencies() send.Dependencies {
	means := send.Dependencies{
		Places: m.opt.Places, Results: m.results, Outlet: m.newExport(), Draw: m.draw,
	}
	if m.opt.Send != nil {
		means.Send = m.sendRequest
	}
	return means
}

// sendRequest sends a request. Its turn is selected when it opens, unless the user goes elsewhere meanwhile.
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

// followSentTurn updates the outbox, and selects the awaited turn once it opens.
func (m *Model) followSentTurn() {
	if m.outbox.awaited == 0 {
		return
	}
	if t := m.view.TurnOf(m.outbox.awaited); t != nil {
		m.notice = display.Text{}
		m.setFollow(true)
	}
}

// endSource handles the end of the source, which cuts its open exchanges. Requests that toolscope sent
// continue.
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

// hasSourceEnded reports whether the source has ended.
func (m *Model) hasSourceEnded() bool { return m.ended || m.opt.Inbox == nil }

// isLive reports whether more data may arrive, from the source or for requests that toolscope sent.
func (m *Model) isLive() bool { return !m.hasSourceEnded() || len(m.outbox.flying) > 0 }
