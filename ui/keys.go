package ui

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/themes"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// keyGroups are the groups of actions in the help and in the key table.
var keyGroups = []struct{ title, actions string }{
	{"Find problems", "next-finding change order sort filter search again"},
	{"Look", "enter escape zoom raw fold clock side dialect mark compare bookmark marks"},
	{"Take", "copy save edit pipe resend result"},
	{"Time", "time pause step stop restart end-here speed follow break"},
	{"Sent back", "replay onward"},
	{"Program", "palette help theme mouse streams demo suspend quit interrupted"},
	{"Move", "up down left right page-up page-down top bottom"},
	{"Panes", "next back pane tab size turn-panes"},
}

// moveGroups are the groups that work alike in every pane. The help lists them after the others, so that the others and
// the signs fit on an 80x24 screen.
var moveGroups = []string{"Move", "Panes"}

// groupBindings groups bindings for the help: first those in the key table, in the table's order, then all others.
// The result elsewhere has the keys in the table that are not bound here.
func (m *Model) groupBindings(bound []screen.Binding) (groups, elsewhere []modes.KeyGroup) {
	listed := map[string]bool{}
	for _, g := range keyGroups {
		here, other := modes.KeyGroup{Title: display.Clean(g.title)}, modes.KeyGroup{Title: display.Clean(g.title)}
		for name := range strings.FieldsSeq(g.actions) {
			as := m.asUser([]screen.Binding{screen.Do(name, nil)}, false)[0]
			if screen.FindBinding(bound, as.Keys[0]) != nil {
				here.Keys = append(here.Keys, as)
			} else {
				other.Keys = append(other.Keys, as)
			}
			for _, key := range as.Keys {
				listed[key] = true
			}
		}
		groups, elsewhere = append(groups, here), append(elsewhere, other)
	}
	more := modes.KeyGroup{Title: display.Lit("More")}
	for _, b := range bound {
		if !listed[b.Keys[0]] {
			more.Keys = append(more.Keys, b)
		}
	}
	return append(groups, more), elsewhere
}

// Key is one line of the key table.
type Key struct{ Group, Keys, Does string }

// Keys returns the key table for the help, with the user's keys, followed by the commands after ":".
func Keys(user UserKeys) (table []Key) {
	listed := map[string]bool{}
	for _, g := range keyGroups {
		for name := range strings.FieldsSeq(g.actions) {
			a := screen.ActionNamed(name)
			table = append(table, Key{g.title, user.keyLabel(a.KeyList()), a.Does})
			for _, key := range a.KeyList() {
				listed[key] = true
			}
		}
	}
	m := New(Options{})
	for _, e := range m.newEntries() {
		if !listed[e.Keys[0]] {
			table = append(table, Key{"More", e.Remap(user.replacementFor).Name(display.Drawer{}).String(), e.Does.String()})
		}
	}
	for _, c := range m.typedCommands() {
		table = append(table, Key{"Words", strings.TrimRight(":"+c.Word+" "+c.Arg.String(), " "), c.Does.String()})
	}
	return table
}

// UserKeys maps built-in keys to the user's keys.
type UserKeys map[string]string

// Action is an action whose keys the user can change.
type Action struct {
	Name, Does string
	Keys       []string
}

// Actions returns all actions.
func Actions() (all []Action) {
	for _, a := range screen.Actions {
		all = append(all, Action{a.Name, a.Does, a.KeyList()})
	}
	return all
}

// ErrNoAction means that an action is unknown.
var ErrNoAction = errors.New("unknown action")

// Set replaces the keys for an action with the same number of other keys. It does not check for conflicts.
// Call Clash after all actions are set.
func (u UserKeys) Set(action string, keys []string) error {
	if action == "scope" { // the action's name in older versions
		action = "order"
	}
	all := Actions()
	at := slices.IndexFunc(all, func(a Action) bool { return a.Name == action })
	if at < 0 {
		names := make([]string, len(all))
		for i := range all {
			names[i] = all[i].Name
		}
		if near := themes.Near(action, names); len(near) > 0 {
			return fmt.Errorf("%w: did you mean %s?", ErrNoAction, strings.Join(near, ", "))
		}
		return fmt.Errorf("%w; 'toolscope config show' lists the actions", ErrNoAction)
	}
	of := all[at]
	switch {
	case slices.Contains(of.Keys, "ctrl+c"):
		return errors.New("^C always quits")
	case len(keys) != len(of.Keys):
		return fmt.Errorf("use a list with as many keys as the default, %q", of.Keys)
	}
	for i, k := range keys {
		if k == "space" {
			k = " "
		}
		if !isKey(k) {
			return fmt.Errorf("unknown key %q: use a key such as %s", k, `"z", "ctrl+t", "alt+x", "f5", "space", "enter" or "pgup"`)
		}
		if k != of.Keys[i] {
			u[of.Keys[i]] = k
		}
		if k == "S" && action != "sort" { // S was free in older versions: move its action to another key
			u["S"] = "alt+S"
		}
	}
	return nil
}

// Clash returns two actions with the same key, and a message about them. The message is "" if no actions clash.
func (u UserKeys) Clash() (text string, actions [2]string) {
	whose := map[string]string{}
	for _, a := range Actions() {
		for _, k := range a.Keys {
			k = u.replacementFor(k)
			if other, taken := whose[k]; taken {
				return fmt.Sprintf("%s and %s have the same key, %q", other, a.Name, k), [2]string{other, a.Name}
			}
			whose[k] = a.Name
		}
	}
	return "", actions
}

// replacementFor returns the user's key for a built-in key.
func (u UserKeys) replacementFor(built string) string {
	if k, ok := u[built]; ok {
		return k
	}
	return built
}

// keyLabel returns the label for an action's keys. If the user changed none of the keys, it returns the built-in
// label.
func (u UserKeys) keyLabel(keys []string) string {
	if !slices.ContainsFunc(keys, func(k string) bool { return u[k] != "" }) {
		return screen.NameKeys(keys, display.Drawer{}).String()
	}
	var mine []string
	for _, k := range keys {
		mine = append(mine, strings.Replace(u.replacementFor(k), " ", "space", 1))
	}
	return strings.Join(mine, " ")
}

// named lists the names of special keys.
var named = strings.Fields("up down left right enter esc tab shift+tab pgup pgdown home end backspace delete insert")

// isKey reports whether the user can bind an action to the key with this name.
func isKey(name string) bool {
	if rest, ok := strings.CutPrefix(name, "alt+"); ok {
		name = rest
	}
	if letter, ok := strings.CutPrefix(name, "ctrl+"); ok {
		return len(letter) == 1 && 'a' <= letter[0] && letter[0] <= 'z' && letter != "c" && letter != "i" && letter != "m"
	}
	var n int
	if _, err := fmt.Sscanf(name, "f%d", &n); err == nil && name == fmt.Sprintf("f%d", n) {
		return 1 <= n && n <= 20
	}
	r, size := utf8.DecodeRuneInString(name)
	return slices.Contains(named, name) || size == len(name) && unicode.IsPrint(r) && r != utf8.RuneError
}

// keysOf returns a mode's keys, with the user's replacements. While an input is active, and for letters in a
// menu, the built-in keys stay.
func (m *Model) keysOf(mode modes.Mode) []screen.Binding {
	all := mode.Keys()
	if activeInput(mode) != nil {
		return all
	}
	menu := isMenu(mode)
	if help := screen.Can("help")[0]; !menu && !slices.ContainsFunc(all, help.SharesKey) {
		all = append([]screen.Binding{help}, all...)
	}
	return m.asUser(all, menu)
}

// isMenu reports whether a mode is a menu, which leaves most of the screen visible and shows only its own
// keys.
func isMenu(mode modes.Mode) bool {
	switch mode.(type) {
	case *quitDialog, modes.OverlayMode:
		return true
	}
	return false
}

// userGlobalKeys returns the keys that work in every mode, with the user's keys.
func (m *Model) userGlobalKeys() []screen.Binding { return m.asUser(m.globalKeys(), false) }

// asUser returns bindings with the user's keys. In a menu, it replaces only keys with names, such as esc. If
// a replacement is already the built-in key of another binding, both bindings keep their built-in keys.
func (m *Model) asUser(all []screen.Binding, menu bool) []screen.Binding {
	if len(m.opt.Keys) == 0 {
		return all
	}
	stays := map[string]bool{}
	for _, b := range all {
		for _, k := range b.Keys {
			if _, moved := m.opt.Keys[k]; !moved {
				stays[k] = true
			}
		}
	}
	to := func(k string) string {
		user := m.opt.Keys.replacementFor(k)
		if stays[user] || menu && utf8.RuneCountInString(k) == 1 {
			return k
		}
		return user
	}
	out := slices.Clone(all)
	for i := range out {
		out[i] = out[i].Remap(to)
	}
	return out
}

// showNotice shows a notice in the last row until the next key press.
func (m *Model) showNotice(text display.Text) {
	m.notice = text
	m.addJournalLine(screen.Plain, text)
}

// unknownKeyTime is the time for which a notice says that a key does nothing.
const unknownKeyTime = 3 * time.Second

// showUnknownKey shows a notice that a key does nothing here. If the key works elsewhere, the notice says
// where.
func (m *Model) showUnknownKey(name string) {
	key := screen.NameKeys([]string{name}, m.draw)
	text := key.Between("", " does nothing here")
	if where := m.keyElsewhere(name); !where.Empty() {
		text = display.Join(key, display.Lit("  only "), where)
	}
	for _, hint := range []struct{ action, word string }{{"help", "keys"}, {"palette", "commands"}} {
		b := m.asUser(screen.Can(hint.action), false)[0]
		more := display.Join(text, m.pen.Glyph.Dot.Between(" ", " "), b.Hinted(hint.word).HintText(m.draw))
		if more.Width() < m.w {
			text = more
		}
	}
	m.notice, m.isKeyUnknown = text, true
	m.modeStack.queueCmd(tea.Tick(unknownKeyTime, func(time.Time) tea.Msg {
		return workDone{then: func() {
			if m.isKeyUnknown && m.notice == text {
				m.notice, m.isKeyUnknown = display.Text{}, false
			}
		}}
	}))
}

// keyElsewhere returns the name of a place where a key does something. It is empty if there is no such place.
func (m *Model) keyElsewhere(name string) display.Text {
	for _, p := range m.table {
		if p.Pane != m.focus && screen.FindBinding(m.asUser(p.Keys(), false), name) != nil {
			return placeName(p.Pane)
		}
	}
	for _, a := range screen.Actions {
		if b := m.asUser([]screen.Binding{screen.Do(a.Name, func() {})}, false)[0]; slices.Contains(b.Keys, name) {
			return b.Does.Between("elsewhere: ", "")
		}
	}
	return display.Text{}
}

// stepBack undoes one step: it clears the search, closes the zoom, goes back, or clears the filter. If there
// is nothing to undo, it quits with last, unless that is nil.
func (m *Model) stepBack(last tea.Cmd) {
	switch {
	case m.search.query != "":
		m.search.clearSearch()
	case m.zoom:
		m.zoom = false
	case m.focus == m.doc && m.doc.HasOpenString() && m.focus.Back():
	case m.from != nil && m.from.to == m.selected:
		if m.focus == m.from.pane && m.from.chosen != m.selected {
			m.showNotice(display.Lit("back to where you were before !"))
		}
		m.selected = m.from.chosen
		m.turnTo(m.from.pane)
	case m.focus.Back():
	case m.focus != m.last[panes.Left] && m.selectedTurn() != nil:
		m.turnTo(m.last[panes.Left])
	case m.filtering.turns.Active():
		m.filtering.applyFilter("")
	case last != nil:
		m.quitOrAsk(last)
		return
	default:
		return
	}
	m.refreshPanes()
}

func (m *Model) focusOn(p panes.Pane) {
	m.turnTo(p)
	if c := m.selectedCall(); m.follow && c != nil && c.MayGrow() {
		m.followEnd(true)
	}
	m.refreshPanes()
}

// focusNext focuses another pane. In the large layout, it selects another call instead.
func (m *Model) focusNext(step int) {
	if m.large {
		m.goToNextCall(step)
		return
	}
	// Go through the shown panes, or through all panes if only one is shown.
	var all []panes.Pane
	for _, c := range m.frame.paneColumns() {
		for _, s := range c.panes {
			if s.pane != nil && s.pane != m.time {
				all = append(all, s.pane)
			}
		}
	}
	if len(all) < 2 {
		all = all[:0]
		for _, p := range m.table {
			if p.Pane != m.time {
				all = append(all, p.Pane)
			}
		}
	}
	m.focusOn(all[(slices.Index(all, m.focus)+step+len(all))%len(all)])
}

// setFollow sets whether the selection follows new traffic.
func (m *Model) setFollow(on bool) {
	m.follow, m.outbox.awaited = on, 0
	if !on {
		m.followEnd(false)
		return
	}
	m.selected = m.filtering.newestShown()
	m.refreshPanes()
	m.followEnd(true)
	m.refreshPanes()
}

// markTurn marks the selected turn for a comparison, or removes the mark.
func (m *Model) markTurn() {
	t := m.selectedTurn()
	if t == nil {
		m.showNotice(display.Lit("no turn to mark"))
		return
	}
	m.showNotice(m.marks.Toggle(t.Ref()))
	m.refreshPanes()
}

// toggleBackground hides or shows background requests.
func (m *Model) toggleBackground() {
	m.context.Quiet = !m.context.Quiet
	if m.refreshPanes(); m.context.Quiet {
		m.list.GoTo(m.list.At) // the selection may be hidden now
		m.refreshPanes()
		m.showNotice(display.Lit("hidden: H shows background requests"))
	}
}

// toggleClock toggles between clock and elapsed time. If the source has no clock times, it only shows a
// notice.
func (m *Model) toggleClock() {
	if t := m.selectedTurn(); t != nil {
		if _, ok := m.view.WallClock(t.Exchange, t.OpenedAt); !ok {
			m.showNotice(display.Lit("no clock times: times are measured from the start"))
			return
		}
	}
	m.context.Clock = !m.context.Clock
	m.refreshPanes()
}

// canDemo reports whether there is a demo and nothing else to show.
func (m *Model) canDemo() bool { return m.opt.Demo != nil && len(m.in.Session().Turns) == 0 }

// playDemo starts the demo if there is nothing else to show, or restarts the open tour. A source without
// traffic stays open, and any later traffic follows the demo.
func (m *Model) playDemo() {
	if m.tour != nil {
		m.startTour()
		return
	}
	if !m.canDemo() {
		return
	}
	own := m.hasSourceEnded()
	inbox := m.opt.Demo(own)
	if own {
		m.opt.Inbox, m.ended, m.failure = inbox, false, nil
		m.modeStack.queueCmd(waitForInbox(inbox, 0))
	}
	m.opt.Source, m.opt.Demo = "demo tour", nil
	m.startTour()
}

func (m *Model) suspendProgram() {
	if m.opt.Suspend == nil {
		return
	}
	m.modeStack.queueCmd(func() tea.Msg {
		m.opt.Suspend()
		return nil
	})
}

// rereadExchange reads an exchange again as another protocol, and shows the result.
func (m *Model) rereadExchange(exchange int, as *protocol.Protocol) {
	if err := m.in.Reread(exchange, as); err != nil {
		m.showNotice(m.draw.Clean(err.Error()))
		return
	}
	m.moment, m.tour = pausedMoment{m: m, playState: playState{speed: m.moment.speed}}, nil // the event numbers changed
	m.view = m.in.View()
	m.context.View = m.view
	m.setPanes(m.newPanes())
	m.selected, m.marks = stream.NoRef, nil
	clear(m.results)
	m.bill, m.news = panes.Costs{Prices: m.opt.Prices}, panes.Changes{}
	m.bookmarks.updateBookmarks()
	m.search.clearSearch()
	for _, t := range m.in.Session().Turns {
		if t.Exchange == exchange {
			m.selected = t.Ref()
			break
		}
	}
	m.setFollow(false)
	m.refreshPanes()
}
