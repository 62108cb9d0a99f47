package ui

import (
	"toolscope/providers"
	"toolscope/providers/dialect"
	"toolscope/providers/replay"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"

	tea "github.com/charmbracelet/bubbletea"
)

// replayView is the mode that shows what requests to other providers, by
// clients of other habits, would carry of a call: a table of them, and one of
// them in full. It follows its call while that arrives.
type replayView struct {
	screen.Window // of the table: its cursor is the target or the policy that is asked for
	ask
	of       panes.Choice
	exchange *providers.Exchange
	targets  []*dialect.Target
	follow   bool // what the program does when it comes back

	rowsWanted tableKey
	cellWanted pageKey
	src        source
	table      *table
	page       *page
	pageLast   bool // the latest job made a page
	made       int  // how often something was made

	raw   bool // the body is shown byte by byte
	full  bool // one face is shown alone
	face  face
	faces [numFaces]screen.Window
}

// face is a part of what there is to see of one cell.
type face uint8

const (
	sentFace face = iota
	wroteFace
	lostFace
	numFaces
)

func (f face) String() string {
	return [numFaces]string{"would be sent", "what the model wrote", "what is lost"}[f]
}

// openReplay shows what would be sent back of what is chosen.
func (m *Model) openReplay() {
	c := panes.LookAt(m.in.Session(), m.chosen)
	switch {
	case c.Turn == nil || len(c.Turn.Calls) == 0:
		m.say(display.Lit("no call to replay"))
		return
	case c.Call != nil && c.Call.Attempt:
		m.say(display.Lit("the provider threw this call away: there is nothing to send back"))
		return
	}
	r := &replayView{
		of: c, ask: m.asked, exchange: m.in.Exchange(c.Turn.Exchange), targets: providers.Targets(), follow: m.follow,
	}
	if len(r.targets) == 0 {
		m.say(display.Lit("nowhere to replay to"))
		return
	}
	if r.to == unasked { // at first to where it came from
		r.to = 0
		for i, t := range r.targets {
			if t == providers.TargetOf(c.Turn.Dialect) {
				r.to = i
			}
		}
	}
	if !r.can(r.scope) {
		r.scope = replay.OneCall
		if c.Call == nil {
			r.scope = replay.WholeTurn
		}
	}
	m.setFollow(false)
	r.point()
	m.openOld(r)
}

// close goes back to where the view was opened from.
func (r *replayView) close(m *Model) {
	m.asked = r.ask
	m.closeTop()
	if r.follow {
		m.setFollow(true)
	}
}

// can reports whether there is as much to send back.
func (r *replayView) can(s replay.Scope) bool {
	switch s {
	case replay.OneCall:
		return r.of.Call != nil
	case replay.WholeConversation:
		if r.exchange == nil {
			return false
		}
		before, from := r.exchange.History()
		return from != nil && len(before) > 0
	}
	return true
}

// point puts the cursor of the table on what is asked for.
func (r *replayView) point() {
	r.Rows = len(r.targets)
	at := r.to
	if r.policies {
		r.Rows, at = len(replay.Policies), r.policy
	}
	r.MoveTo(at)
}

// step goes on by so many targets or policies, from the last to the first.
func (r *replayView) step(policy bool, by int) {
	at, n := &r.to, len(r.targets)
	if policy {
		at, n = &r.policy, len(replay.Policies)
	}
	*at = (*at + by + n) % n
	r.point()
	r.faces = [numFaces]screen.Window{}
}

func (r *replayView) update(m *Model, k tea.KeyMsg) tea.Cmd {
	km := m.keys
	switch {
	case km.is(k, km.Escape, km.Quit):
		if r.full {
			r.full = false
		} else {
			r.close(m)
		}
	case km.is(k, km.Help):
		m.openHelp()
	case km.is(k, km.Replay) && k.String() == "P":
		r.step(true, -1)
	case km.is(k, km.Replay):
		r.step(true, 1)
	case km.is(k, km.Scope):
		r.widen(m)
	case km.is(k, km.Raw):
		r.raw = !r.raw
	case km.is(k, km.Copy):
		return m.copyBody(r)
	case km.is(k, km.Save):
		return m.saveBody(r)
	case km.is(k, km.Pause, km.Speed, km.Theme):
		m.elsewhere(k)
	case r.full:
		r.moveFace(m, k)
	default:
		r.moveTable(m, k)
	}
	return nil
}

// widen goes on to the next scope that there is something to send of.
func (r *replayView) widen(m *Model) {
	before := r.scope
	for r.scope = (r.scope + 1) % replay.NumScopes; !r.can(r.scope); r.scope = (r.scope + 1) % replay.NumScopes {
	}
	if r.faces = [numFaces]screen.Window{}; before == replay.WholeTurn && !r.can(replay.WholeConversation) {
		m.say(display.Lit("no request is there that tells the conversation"))
	}
}

func (r *replayView) moveTable(m *Model, k tea.KeyMsg) {
	km := m.keys
	if row, ok := km.move(k, r.Window); ok {
		if r.MoveTo(row); r.policies {
			r.policy = r.At
		} else {
			r.to = r.At
		}
		r.faces = [numFaces]screen.Window{}
		return
	}
	switch {
	case km.is(k, km.Next, km.Back):
		r.policies = !r.policies
		r.point()
	case km.is(k, km.Right):
		r.step(!r.policies, 1)
	case km.is(k, km.Left):
		r.step(!r.policies, -1)
	case km.is(k, km.Enter):
		r.full = true
	}
}

func (r *replayView) moveFace(m *Model, k tea.KeyMsg) {
	km := m.keys
	w := &r.faces[r.face]
	switch row, ok := km.move(k, w.Pages()); {
	case ok:
		w.Scroll(row)
	case km.is(k, km.Next, km.Right):
		r.face = (r.face + 1) % numFaces
	case km.is(k, km.Back, km.Left):
		r.face = (r.face + numFaces - 1) % numFaces
	}
}

func (r *replayView) policyName() string { return replay.Policies[r.policy].Name }

// footer shows the keys worth knowing, as many as fit.
func (r *replayView) footer(m *Model, p *screen.Pen) {
	if !m.notice.Empty() {
		p.Put(screen.Caution, screen.Bare, m.draw.Truncate(m.notice.Between(" ", ""), p.Left))
		return
	}
	other, across := "tab all policies", "h l policy"
	if r.policies {
		other, across = "tab all targets", "h l target"
	}
	keys := []string{"esc close", "enter body", "p policy", other, "s scope", "y copy", "w save", across, "? help"}
	if r.full {
		keys = []string{"esc back", "j k scroll", "h l next", "p policy", "r raw", "y copy", "w save", "? help"}
	}
	oldHints(p, keys)
}
