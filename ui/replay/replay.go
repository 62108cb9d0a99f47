// Package replay is the mode that shows what requests to other providers, by clients of other
// habits, would carry of a call: a table of them, and one of them in full. It follows its call
// while that arrives.
package replay

import (
	"fmt"
	"slices"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/screen"
)

// replayMode is the mode while it is open.
type replayMode struct {
	screen.Window // of the table: its cursor is the target or the policy that is asked for
	*previewKey
	host   modes.Host
	outlet modes.Exporter
	draw   display.Drawer
	large  bool // few rows of the table, and much of what goes
	w, h   int  // of the body

	of       stream.Ref
	exchange *providers.Exchange // of the turn
	targets  []*protocol.Target
	name     display.Text // of the call
	growing  bool         // more may come of what is sent back

	rowsWanted tableKey
	cellWanted pageKey
	src        source
	table      *table
	page       *page
	working    bool // something is being made beside the screen
	pageLast   bool // the latest that was made there is a page
	made       int  // how often something was made

	picking bool // the rows are policies, to pick one of them
	picked  int  // the policy before

	raw      bool // the body is shown byte by byte
	full     bool // one face is shown alone
	section  pageSection
	sections [numSections]screen.Window
}

// Entry opens it for what is chosen. It asks again what was asked last.
func Entry(outlet modes.Exporter, draw display.Drawer, large bool) modes.Entry {
	last := &previewKey{to: noTarget}
	key := screen.Binding{Keys: []string{"p", "P"}, Does: display.Lit("replay")}
	return modes.Entry{Binding: key, New: func(h modes.Host) (modes.Mode, display.Text) {
		t, c := h.View().Find(h.Chosen())
		switch {
		case t == nil || len(t.Calls) == 0:
			return nil, display.Lit("no call to replay")
		case t.Retention != stream.InMemory:
			return nil, display.Lit("the arguments of its calls are not kept")
		case c != nil && c.Discarded:
			return nil, display.Lit("the provider threw this call away: there is nothing to send back")
		}
		m := &replayMode{
			previewKey: last, host: h, outlet: outlet, draw: draw, large: large, of: h.Chosen(),
			exchange: h.View().Exchange(t.Exchange), targets: providers.Targets(),
		}
		if len(m.targets) == 0 {
			return nil, display.Lit("nowhere to replay to")
		}
		if m.to == noTarget { // at first to where it came from
			m.to = max(0, slices.Index(m.targets, providers.TargetOf(t.Protocol)))
		}
		if !m.hasScope(m.scope) {
			m.scope = replay.OneCall
			if c == nil {
				m.scope = replay.WholeTurn
			}
		}
		m.placeCursor()
		return m, display.Text{}
	}}
}

// hasScope reports whether there is as much to send back.
func (m *replayMode) hasScope(s replay.Scope) bool {
	switch s {
	case replay.OneCall:
		return m.of.Call != 0
	case replay.WholeConversation:
		if m.exchange == nil {
			return false
		}
		before, from := m.exchange.History()
		return from != nil && len(before) > 0
	}
	return true
}

// placeCursor puts the cursor of the table on what is asked for.
func (m *replayMode) placeCursor() {
	m.Rows = len(m.targets)
	at := m.to
	if m.policies {
		m.Rows, at = len(replay.Policies), m.policy
	}
	m.MoveTo(at)
}

// moveTo asks for what a row of the table is about.
func (m *replayMode) moveTo(row int) {
	m.MoveTo(row)
	if m.policies {
		m.policy = m.At
	} else {
		m.to = m.At
	}
	m.sections = [numSections]screen.Window{}
}

// Click asks for what the row of the table that is there is about.
func (m *replayMode) Click(x, y int) (again bool) {
	row, plan := m.RowAt(y), m.layoutBody()
	if m.full || row < 0 || x >= plan.tableW {
		return false
	}
	again = row == m.At
	m.moveTo(row)
	return again
}

// Roll moves the view of the face that fills the screen, or else of the table.
func (m *replayMode) Roll(rows int) {
	if m.full {
		m.sections[m.section].Roll(rows)
		return
	}
	m.Window.Roll(rows)
}

// stepSelection goes on by so many targets or policies, from the last to the first.
func (m *replayMode) stepSelection(policy bool, by int) {
	at, n := &m.to, len(m.targets)
	if policy {
		at, n = &m.policy, len(replay.Policies)
	}
	*at = (*at + by + n) % n
	m.placeCursor()
	m.sections = [numSections]screen.Window{}
}

// switchScope goes on to the next scope that there is something to send of.
func (m *replayMode) switchScope() {
	before := m.scope
	for m.scope = (m.scope + 1) % replay.NumScopes; !m.hasScope(m.scope); m.scope = (m.scope + 1) % replay.NumScopes {
	}
	if m.sections = [numSections]screen.Window{}; before == replay.WholeTurn && !m.hasScope(replay.WholeConversation) {
		m.host.Say(display.Lit("no request is there that tells the conversation"))
	}
}

// Extend takes what has come of it, and has made what is to be shown and is not there yet.
func (m *replayMode) Extend(v *providers.View, w, h int) {
	m.w, m.h = w, h
	m.update(v)
}

func (m *replayMode) update(v *providers.View) {
	t, c := v.Find(m.of)
	if t == nil || t.Retention != stream.InMemory || c == nil && m.scope == replay.OneCall {
		return // what was made of it stays
	}
	m.growing = !t.Closed()
	if m.scope == replay.OneCall {
		m.growing, m.name = c.MayGrow(), m.draw.Clean(screen.ShortName(c.Name))
	}
	m.setWantedPreviews(t, c)
	m.makePreviews(t, c)
	m.resizeSections()
}

// shownBody is that of the cell that is asked for.
func (m *replayMode) shownBody() modes.Body {
	m.update(m.host.View()) // other keys may have come with this one
	page := m.currentPage()
	switch {
	case page == nil:
		return modes.Body{What: display.Lit("not there yet")}
	case page.body == nil:
		return modes.Body{What: display.Lit("nothing would be sent")}
	}
	to, which := m.targets[m.to].Name, m.scope.String()
	if m.scope == replay.OneCall {
		which = fmt.Sprint(m.of.Call)
	}
	return modes.Body{
		Data: page.body,
		What: m.draw.Format("%s, %s for %s,", screen.Bytes(len(page.body)), screen.Plural(page.messages, "message"), to),
		File: fmt.Sprintf("replay-%d-%s-%s.json", m.of.Turn+1, which, to),
	}
}

func (m *replayMode) policyName() string { return replay.Policies[m.policy].Name }
