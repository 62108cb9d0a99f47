package ui

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/themes"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// keyMap has the keys that the help and the key table list in groups. Other keys of a pane or an entry
// follow them.
type keyMap struct {
	Up, Down, Left, Right            key.Binding
	PageUp, PageDown, Top, Bottom    key.Binding
	Next, Back, Enter, Escape        key.Binding
	Pane, Tab                        key.Binding
	Zoom, Raw, Follow, Pause, Speed  key.Binding
	Step, Stop, Change, Restart      key.Binding
	EndHere, Fold                    key.Binding
	Search, Again, Palette, Filter   key.Binding
	NextFinding, Theme, Demo         key.Binding
	Side, Dialect, Clock             key.Binding
	Mouse, Size, Bookmark, Marks     key.Binding
	TurnPanes                        key.Binding
	Replay, Scope                    key.Binding
	Copy, Save, Edit, Pipe           key.Binding
	Onward                           key.Binding
	Mark, Compare, Resend, Result    key.Binding
	Streams, Break                   key.Binding
	Help, Suspend, Quit, Interrupted key.Binding
}

func newKeyBinding(help, does string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(help, does))
}

func newKeyMap() keyMap {
	return keyMap{
		Up:          newKeyBinding("↑ k", "up", "up", "k"),
		Down:        newKeyBinding("↓ j", "down", "down", "j"),
		Left:        newKeyBinding("← h", "previous token; back to the list", "left", "h"),
		Right:       newKeyBinding("→ l", "next token; into the call", "right", "l"),
		PageUp:      newKeyBinding("PgUp ^u", "a page up", "pgup", "ctrl+u", "ctrl+b"),
		PageDown:    newKeyBinding("PgDn ^d", "a page down", "pgdown", "ctrl+d", "ctrl+f"),
		Top:         newKeyBinding("g Home", "to the start", "g", "home"),
		Bottom:      newKeyBinding("G End", "to the end, and follow", "G", "end"),
		Next:        newKeyBinding("tab", "next pane", "tab"),
		Back:        newKeyBinding("⇧tab", "previous pane", "shift+tab"),
		Enter:       newKeyBinding("enter", "open the selection", "enter"),
		Escape:      newKeyBinding("esc", "close, or step back", "esc"),
		Pane:        newKeyBinding("1 2", "the list, the document", "1", "2"),
		Tab:         newKeyBinding("3 4 5 6 7", "open or close a tab", "3", "4", "5", "6", "7"),
		Zoom:        newKeyBinding("z", "zoom the pane", "z"),
		Fold:        newKeyBinding("- + *", "fold; unfold; all", "-", "+", "*"),
		Raw:         newKeyBinding("r", "raw text, deltas marked", "r"),
		Follow:      newKeyBinding("F", "follow new events", "F"),
		Pause:       newKeyBinding("space", "pause; resume", " "),
		Step:        newKeyBinding(", .", "previous, next delta", ",", "."),
		Stop:        newKeyBinding("< >", "previous, next marker", "<", ">"),
		Change:      newKeyBinding("{ }", "previous, next finding or state change", "{", "}"),
		Bookmark:    newKeyBinding("B", "add a bookmark for this session", "B"),
		Marks:       newKeyBinding("'", "go to a bookmark", "'"),
		Size:        newKeyBinding("( )", "shrink, grow the pane", "(", ")"),
		TurnPanes:   newKeyBinding("\\", "toggle: panes side by side or stacked", "\\"),
		Mouse:       newKeyBinding("M", "toggle the mouse", "M"),
		Restart:     newKeyBinding("0", "start of the turn; start of all", "0"),
		EndHere:     newKeyBinding("x", "show it as if it ended here", "x"),
		Speed:       newKeyBinding("[ ]", "play slower, faster", "[", "]"),
		Search:      newKeyBinding("/", "find in the pane", "/"),
		Again:       newKeyBinding("n N", "next, previous match", "n", "N"),
		Filter:      newKeyBinding("f", "filter the turns", "f"),
		Palette:     newKeyBinding(":", "all keys and commands", ":"),
		NextFinding: newKeyBinding("!", "next finding", "!"),
		Side:        newKeyBinding("H", "toggle background requests", "H"),
		Clock:       newKeyBinding("T", "toggle clock or elapsed time", "T"),
		Dialect:     newKeyBinding("D", "read as another protocol", "D"),
		Replay:      newKeyBinding("p P", "replay; pick a client", "p", "P"),
		Scope:       newKeyBinding("s", "scope: call, turn or all", "s"),
		Copy:        newKeyBinding("y", "copy it, or a part of it", "y"),
		Save:        newKeyBinding("w", "save to a new file", "w"),
		Edit:        newKeyBinding("e", "open it in $EDITOR", "e"),
		Pipe:        newKeyBinding("|", "pipe to a command", "|"),
		Onward:      newKeyBinding("o", "show how it was sent back", "o"),
		Mark:        newKeyBinding("m", "mark a turn; in R, the model", "m"),
		Compare:     newKeyBinding("=", "compare marked turns", "="),
		Resend:      newKeyBinding("R", "send the request again", "R"),
		Result:      newKeyBinding("a", "enter the result of a call", "a"),
		Theme:       newKeyBinding("t", "choose a theme", "t"),
		Demo:        newKeyBinding("d", "play the demo", "d"),
		Streams:     newKeyBinding("L", "open streams", "L"),
		Break:       newKeyBinding("b", "set a breakpoint: hold responses", "b"),
		Help:        newKeyBinding("?", "this help", "?"),
		Suspend:     newKeyBinding("^Z", "suspend", "ctrl+z"),
		Quit:        newKeyBinding("q", "back, then quit", "q"),
		Interrupted: newKeyBinding("^C", "quit", "ctrl+c"),
	}
}

// keyGroup is a group of the help and of the key table.
type keyGroup struct {
	title string
	keys  []key.Binding
}

func (k keyMap) keyGroups() []keyGroup {
	return []keyGroup{
		{"Move", []key.Binding{k.Up, k.Down, k.Left, k.Right, k.PageUp, k.PageDown, k.Top, k.Bottom}},
		{"Panes", []key.Binding{k.Next, k.Back, k.Pane, k.Tab, k.Zoom, k.Size, k.TurnPanes, k.Enter, k.Escape}},
		{"Look", []key.Binding{k.Raw, k.Fold, k.Filter, k.Search, k.Again, k.NextFinding, k.Bookmark, k.Marks, k.Mark, k.Compare, k.Side, k.Clock, k.Dialect}},
		{"Time", []key.Binding{k.Follow, k.Break, k.Pause, k.Step, k.Stop, k.Change, k.Restart, k.EndHere, k.Speed}},
		{"Replay", []key.Binding{k.Replay, k.Scope, k.Onward}},
		{"Export", []key.Binding{k.Copy, k.Save, k.Edit, k.Pipe}},
		{"Send", []key.Binding{k.Resend, k.Result}},
		{"Program", []key.Binding{k.Demo, k.Theme, k.Mouse, k.Streams, k.Help, k.Palette, k.Suspend, k.Quit, k.Interrupted}},
	}
}

// groupBindings groups bindings for the help: in the order of the key table, then all others. elsewhere
// has the keys of the table that are not bound here.
func (m *Model) groupBindings(bound []screen.Binding) (groups, elsewhere []modes.KeyGroup) {
	listed := map[string]bool{}
	for _, g := range newKeyMap().keyGroups() {
		here, other := modes.KeyGroup{Title: display.Clean(g.title)}, modes.KeyGroup{Title: display.Clean(g.title)}
		for _, b := range g.keys {
			as := m.asUser([]screen.Binding{bindAction(b, nil)}, false)[0]
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

// Keys returns the key table of the help, with the user's keys, and then the commands after ":".
func Keys(user UserKeys) (table []Key) {
	listed := map[string]bool{}
	for _, g := range newKeyMap().keyGroups() {
		for _, b := range g.keys {
			table = append(table, Key{g.title, user.keyLabel(b), b.Help().Desc})
			for _, key := range b.Keys() {
				listed[key] = true
			}
		}
	}
	m := New(Options{})
	for _, e := range m.newEntries() {
		if !listed[e.Keys[0]] {
			table = append(table, Key{"More", e.Remap(user.replacementFor, display.Drawer{}).Name(display.Drawer{}).String(), e.Does.String()})
		}
	}
	for _, c := range m.typedCommands() {
		table = append(table, Key{"Words", strings.TrimRight(":"+c.Word+" "+c.Arg.String(), " "), c.Does.String()})
	}
	return table
}

// UserKeys maps built-in keys to the user's keys.
type UserKeys map[string]string

// Action is a line of the key table. The user can change its keys.
type Action struct {
	Name, Does string
	Keys       []string
}

// Actions returns all lines of the key table, named after its fields.
func Actions() (all []Action) {
	table := reflect.ValueOf(newKeyMap())
	for i := range table.NumField() {
		b := table.Field(i).Interface().(key.Binding)
		all = append(all, Action{actionName(table.Type().Field(i).Name), b.Help().Desc, b.Keys()})
	}
	return all
}

// actionName returns the name of a field in the configuration: NextFinding is next-finding.
func actionName(field string) string {
	var name strings.Builder
	for i, r := range field {
		if i > 0 && unicode.IsUpper(r) {
			name.WriteByte('-')
		}
		name.WriteRune(unicode.ToLower(r))
	}
	return name.String()
}

// ErrNoAction says that an action is unknown.
var ErrNoAction = errors.New("unknown action")

// Set replaces the keys of an action by the same number of others. It does not check for conflicts. Call
// Clash after all actions are set.
func (u UserKeys) Set(action string, keys []string) error {
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
		return fmt.Errorf("%w; 'toolscope config show' lists them", ErrNoAction)
	}
	of := all[at]
	switch {
	case slices.Contains(of.Keys, "ctrl+c"):
		return errors.New("^C always quits")
	case len(keys) != len(of.Keys):
		return fmt.Errorf("give a list of as many keys as the default, %q", of.Keys)
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
	}
	return nil
}

// Clash returns two actions with the same key, or "".
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

// replacementFor returns the user's key for a built-in one.
func (u UserKeys) replacementFor(built string) string {
	if k, ok := u[built]; ok {
		return k
	}
	return built
}

// keyLabel returns the label of an action's keys; built-in keys have their own label.
func (u UserKeys) keyLabel(b key.Binding) string {
	keys, mine := slices.Clone(b.Keys()), false
	for i, k := range keys {
		_, moved := u[k]
		mine = mine || moved
		if keys[i] = u.replacementFor(k); keys[i] == " " {
			keys[i] = "space"
		}
	}
	if !mine {
		return b.Help().Key
	}
	return strings.Join(keys, " ")
}

// named has the names of special keys.
var named = strings.Fields("up down left right enter esc tab shift+tab pgup pgdown home end backspace delete insert")

// isKey reports whether name is a key.
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

// keysOf returns the keys of a mode, with the user's keys. While an input is active, and for letters of a
// menu, they are the built-in ones.
func (m *Model) keysOf(mode modes.Mode) []screen.Binding {
	all := mode.Keys()
	if activeInput(mode) != nil {
		return all
	}
	menu := isMenu(mode)
	if help := (screen.Binding{Keys: []string{"?"}, Hint: display.Lit("? help")}); !menu && !slices.ContainsFunc(all, help.SharesKey) {
		all = append([]screen.Binding{help}, all...)
	}
	return m.asUser(all, menu)
}

// isMenu reports whether a mode is a menu: most of the screen stays visible, and only its keys are shown.
func isMenu(mode modes.Mode) bool {
	switch mode.(type) {
	case *quitDialog, modes.OverlayMode:
		return true
	}
	return false
}

// userGlobalKeys returns the keys that work in every mode, with the user's keys.
func (m *Model) userGlobalKeys() []screen.Binding { return m.asUser(m.globalKeys(), false) }

// asUser returns bindings with the user's keys. In a menu it replaces only named keys. If a replacement
// conflicts with another binding's own key, the other binding keeps its key, and the replaced one keeps
// its built-in key.
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
		out[i] = out[i].Remap(to, m.draw)
	}
	return out
}

// showNotice shows a notice in the last row until the next key.
func (m *Model) showNotice(text display.Text) {
	m.notice = text
	m.addJournalLine(screen.Plain, text)
}

// stepBack closes the zoom, else the pane, else the program.
func (m *Model) stepBack(last tea.Cmd) {
	switch {
	case m.search.query != "":
		m.search.clearSearch()
	case m.zoom:
		m.zoom = false
	case m.focus == m.doc && m.doc.HasOpenString() && m.backInPane():
	case m.from != nil && m.from.to == m.selected:
		if m.focus == m.findings && m.from.chosen != m.selected {
			m.showNotice(display.Lit("back to where you were before !"))
		}
		m.selected = m.from.chosen
		m.turnTo(m.from.pane)
	case m.backInPane():
	case m.focus != m.last[panes.Left] && m.selectedTurn() != nil:
		m.turnTo(m.last[panes.Left])
	case m.turnFilter.Active():
		m.applyFilter("")
	case last != nil:
		m.quitOrAsk(last)
		return
	default:
		return
	}
	m.refreshPanes()
}

// backInPane closes something that is open in the focused pane, and reports whether there was anything.
func (m *Model) backInPane() bool {
	p, ok := m.focus.(panes.Closer)
	return ok && p.Back()
}

func (m *Model) focusOn(p panes.Pane) {
	m.turnTo(p)
	if c := m.selectedCall(); m.follow && c != nil && c.MayGrow() {
		m.followEnd(true)
	}
	m.refreshPanes()
}

// focusNext focuses another pane. If the screen shows only one pane, it selects another call.
func (m *Model) focusNext(step int) {
	if m.large {
		m.goToNextCall(step)
		return
	}
	m.focusOn(m.nextPane(step, m.frame.paneColumns()))
}

// setFollow sets whether the selection follows new traffic.
func (m *Model) setFollow(on bool) {
	m.follow, m.outbox.awaited = on, 0
	if !on {
		m.followEnd(false)
		return
	}
	m.selected = m.newestShown()
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
			m.showNotice(display.Lit("no clock times here: times count from the start"))
			return
		}
	}
	m.context.Clock = !m.context.Clock
	m.refreshPanes()
}

func (m *Model) changeSpeed(faster bool) {
	p := m.opt.Playback
	if m.moment.isPaused() {
		m.moment.setSpeed(faster)
		return
	}
	if p == nil {
		m.showNotice(display.Lit("live traffic has no speed: space pauses"))
		return
	}
	factor := 0.5
	if faster {
		factor = 2
	}
	p.SetSpeed(p.Speed() * factor)
}

// canDemo reports whether there is a demo and nothing else to show.
func (m *Model) canDemo() bool { return m.opt.Demo != nil && len(m.in.Session().Turns) == 0 }

// playDemo starts the demo if there is nothing else to show. A source without traffic stays open, and its
// later traffic follows the demo.
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
	m.selected, m.context.Alarms, m.marks = stream.NoRef, panes.WorstSeverities{}, nil
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
