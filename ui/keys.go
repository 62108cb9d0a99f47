package ui

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"

	"toolscope/ui/display"
	"toolscope/ui/modes"
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
