// Package replay implements the mode that previews how a request would send a call back. The request can go to
// another provider or come from another client. The mode shows a table of previews, and one preview in full. The
// previews update while the call arrives.
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

// replayMode is the open mode.
type replayMode struct {
	screen.Window // the table; its cursor is at the selected target or policy
	*previewKey
	host   modes.Host
	outlet modes.Exporter
	draw   display.Drawer
	large  bool // fewer rows for the table and more for the body
	w, h   int  // size of the body of the screen, in cells
	beside bool // the table is drawn below another one, without the ground of the selection

	noteRows int // the most rows that notes have needed at this size, so that the panes don't move with the cursor

	of       stream.Ref
	exchange *providers.Exchange // exchange of the turn
	targets  []*protocol.Target
	name     display.Text // name of the call
	growing  bool         // the previewed data may still grow

	rowsWanted  tableKey
	otherWanted tableKey
	cellWanted  pageKey
	src         source
	table       *table
	other       *table // the table that tab shows; nil until there is room for it
	page        *page
	working     bool // another goroutine is making a preview
	pageLast    bool // the last job in that goroutine made a page
	made        int  // number of results that have arrived so far

	picking bool // the rows are policies, and the user picks one
	picked  int  // policy that was selected before the user opened the list

	raw      bool // the body is shown byte by byte
	full     bool // one section fills the screen
	section  pageSection
	sections [numSections]screen.Window
}

// Entry returns the entry that opens the mode for the selected call or turn, with the last target and policy.
func Entry(outlet modes.Exporter, draw display.Drawer, large bool) modes.Entry {
	last := &previewKey{to: noTarget}
	key := screen.Key("p P", "", "replay", nil)
	return modes.Entry{Binding: key, New: func(h modes.Host) (modes.Mode, display.Text) {
		t, c := h.View().Find(h.Chosen())
		switch {
		case t == nil || len(t.Calls) == 0:
			return nil, display.Lit("no call to replay")
		case t.Retention != stream.InMemory:
			return nil, display.Lit("the arguments of the turn's calls are not kept")
		case c != nil && c.Discarded:
			return nil, display.Lit("the provider discarded this call: there is nothing to send back")
		}
		m := &replayMode{
			previewKey: last, host: h, outlet: outlet, draw: draw, large: large, of: h.Chosen(),
			exchange: h.View().Exchange(t.Exchange), targets: providers.Targets(),
		}
		if len(m.targets) == 0 {
			return nil, display.Lit("no replay target")
		}
		if m.to == noTarget { // the first target is the turn's own protocol
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

// hasScope reports whether there is data for a scope.
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

// placeCursor moves the table's cursor to the selected target or policy.
func (m *replayMode) placeCursor() {
	m.Rows = len(m.targets)
	at := m.to
	if m.policies {
		m.Rows, at = len(replay.Policies), m.policy
	}
	m.MoveTo(at)
}

// moveTo selects the target or policy in a row.
func (m *replayMode) moveTo(row int) {
	m.MoveTo(row)
	if m.policies {
		m.policy = m.At
	} else {
		m.to = m.At
	}
	m.sections = [numSections]screen.Window{}
}

// Click selects the clicked row of the table, and reports whether it was already selected.
func (m *replayMode) Click(x, y int) (again bool) {
	row, plan := m.RowAt(y), m.layoutBody()
	if m.full || row < 0 || x >= plan.tableW {
		return false
	}
	again = row == m.At
	m.moveTo(row)
	return again
}

// Roll scrolls the section that fills the screen or, if no section does, the table.
func (m *replayMode) Roll(rows int) {
	if m.full {
		m.sections[m.section].Roll(rows)
		return
	}
	m.Window.Roll(rows)
}

// stepSelection moves the selected target or policy by the given number of places. It wraps around at the ends.
func (m *replayMode) stepSelection(policy bool, by int) {
	at, n := &m.to, len(m.targets)
	if policy {
		at, n = &m.policy, len(replay.Policies)
	}
	*at = (*at + by + n) % n
	m.placeCursor()
	m.sections = [numSections]screen.Window{}
}

// Extend makes the shown previews that are missing or outdated.
func (m *replayMode) Extend(v *providers.View, w, h int) {
	if w != m.w || h != m.h {
		m.w, m.h, m.noteRows = w, h, 0
	}
	m.update(v)
}

func (m *replayMode) update(v *providers.View) {
	t, c := v.Find(m.of)
	if t == nil || t.Retention != stream.InMemory || c == nil && m.scope == replay.OneCall {
		return // keep the existing previews
	}
	m.growing = !t.Closed()
	if m.scope == replay.OneCall {
		m.growing, m.name = c.MayGrow(), m.draw.Clean(screen.ShortName(c.Name))
	}
	m.setWantedPreviews(t, c)
	m.makePreviews(t, c)
	m.resizeSections()
}

// shownBody returns the body of the selected cell.
func (m *replayMode) shownBody() modes.Body {
	m.update(m.host.View()) // earlier keys in the same batch may have changed the selection
	page := m.currentPage()
	switch {
	case page == nil:
		return modes.Body{What: display.Lit("not ready yet")}
	case page.body == nil:
		return modes.Body{What: display.Lit("nothing would be sent")}
	}
	to, which := m.targets[m.to].Name, m.scope.String()
	if m.scope == replay.OneCall {
		which = fmt.Sprint(m.of.Call)
	}
	return modes.Body{
		Data: page.body,
		What: m.draw.Format("%s, %s for %s", screen.Bytes(len(page.body)), screen.Plural(page.messages, "message"), to),
		File: fmt.Sprintf("replay-%d-%s-%s.json", m.of.Turn+1, which, to),
	}
}

func (m *replayMode) policyName() string { return replay.Policies[m.policy].Name }

// Keys returns the key bindings for the table, or for the section that fills the screen.
func (m *replayMode) Keys() []screen.Binding {
	if m.full {
		turn := func(by pageSection) func() { return func() { m.section = (m.section + by) % numSections } }
		keys := []screen.Binding{
			screen.Key("esc q", "back", "back to the table", func() { m.full = false }),
		}
		keys = append(keys, m.sections[m.section].ScrollKeys("scroll")...)
		keys = append(keys,
			screen.Key("right l tab", "next", "next section: sent, wrote, lost", turn(1)).Show("h l"),
			screen.Key("left h shift+tab", "", "previous section: lost, wrote, sent", turn(numSections-1)),
			screen.Key("p", "client", "next client", func() { m.stepSelection(true, 1) }), m.rawKey(),
		)
		keys = append(keys, m.outlet.Keys(m.host, m.draw, m.shownBody)...)
		return append(keys, m.previousPolicyKey(), m.scopeKey().WithoutHint())
	}
	if m.picking {
		return m.pickKeys()
	}
	across, other := "client", "all clients"
	if m.policies {
		across, other = "target", "all targets"
	}
	keys := []screen.Binding{
		// The list of clients shows the outcome for each client. If the rows are clients already, select the next client.
		screen.Key("p", "other client", "pick a client", func() {
			if m.policies {
				m.stepSelection(true, 1)
				return
			}
			m.picking, m.picked, m.policies = true, m.policy, true
			m.placeCursor()
		}),
		screen.Key("tab shift+tab", other, "list targets or clients", func() {
			m.policies = !m.policies
			m.placeCursor()
		}),
		m.scopeKey(),
		screen.Key("enter", "body", "show the body alone", func() { m.full = true }),
	}
	keys = append(keys, m.outlet.Keys(m.host, m.draw, m.shownBody)...)
	keys = append(keys,
		screen.Key("esc q", "close", "close", m.host.Close),
		screen.Key("left h", "", "previous "+across, func() { m.stepSelection(!m.policies, -1) }),
		screen.Key("right l", "", "next "+across, func() { m.stepSelection(!m.policies, 1) }),
		m.previousPolicyKey(), m.rawKey().WithoutHint(),
	)
	return append(keys, m.CursorKeys("", m.moveTo)...)
}

// pickKeys returns the key bindings for the list in which the user picks a client.
func (m *replayMode) pickKeys() []screen.Binding {
	pick := func(policy int) func() {
		return func() {
			m.policy, m.policies, m.picking = policy, false, false
			m.placeCursor()
		}
	}
	keys := []screen.Binding{
		screen.Key("enter p", "pick", "replay as this client", pick(m.policy)),
		screen.Key("esc q", "cancel", "cancel", pick(m.picked)),
	}
	return append(keys, m.CursorKeys("client", m.moveTo)...)
}

func (m *replayMode) previousPolicyKey() screen.Binding {
	return screen.Key("P", "", "previous client", func() { m.stepSelection(true, -1) })
}

func (m *replayMode) scopeKey() screen.Binding {
	return screen.Key("s", "scope", "change the scope", func() { // select the next scope with data
		before := m.scope
		for m.scope = (m.scope + 1) % replay.NumScopes; !m.hasScope(m.scope); m.scope = (m.scope + 1) % replay.NumScopes {
		}
		if m.sections = [numSections]screen.Window{}; before == replay.WholeTurn && !m.hasScope(replay.WholeConversation) {
			m.host.Say(display.Lit("the conversation has no captured history"))
		}
	})
}

func (m *replayMode) rawKey() screen.Binding {
	return screen.Key("r", "raw", "toggle raw text", func() { m.raw = !m.raw })
}
