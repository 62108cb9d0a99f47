package screen

import (
	"slices"
	"strings"

	"toolscope/ui/display"
)

// Action is a command that the user starts with a key. The hints, the help, the palette, the configuration and the
// rebinding of keys all read the table of actions.
type Action struct {
	Name  string // name in the configuration
	Keys  string // the built-in keys, separated by spaces
	Hint  string // word in the footer; empty if no pane shows a hint for the action
	Does  string // text in the help; for two opposite actions, both texts: "previous, next delta"
	Brief string // text in at most 18 cells, for narrow columns; empty if Does is that short
}

// Actions lists all actions, in the order of the configuration.
var Actions = []Action{
	{"up", "up k", "", "up", ""},
	{"down", "down j", "", "down", ""},
	{"left", "left h", "", "previous token, or back to the list", "previous token"},
	{"right", "right l", "", "next token, or into the call", "next token"},
	{"page-up", "pgup ctrl+u ctrl+b", "", "a page up", ""},
	{"page-down", "pgdown ctrl+d ctrl+f", "", "a page down", ""},
	{"top", "g home", "", "to the start", ""},
	{"bottom", "G end", "now", "to the end, and follow", "to the end"},
	{"next", "tab", "pane", "next pane", ""},
	{"back", "shift+tab", "", "previous pane", ""},
	{"enter", "enter", "", "open the selection", "open it"},
	{"escape", "esc", "close", "close, or step back", "close, step back"},
	{"pane", "1 2", "", "show the list, the document", "list, document"},
	{"tab", "3 4 5 6 7", "", "open or close a tab", "open, close a tab"},
	{"time", "8", "", "open or close the timeline", "the timeline"},
	{"zoom", "z", "zoom", "zoom the pane", ""},
	{"raw", "r", "raw", "show raw text, with the deltas marked", "raw text, deltas"},
	{"follow", "F", "", "follow new events", "follow the end"},
	{"pause", "space", "pause", "pause or resume", ""},
	{"speed", "[ ]", "speed", "play slower, faster", "slower, faster"},
	{"step", ", .", "step", "previous, next delta", "step by a delta"},
	{"stop", "< >", "marker", "previous, next marker", "step by a marker"},
	{"change", "{ }", "scene", "previous, next finding or state change", "step by a change"},
	{"restart", "0", "", "to the start of the turn, then of all turns", "the turn's start"},
	{"end-here", "x", "end it here", "show the turn as if it ended here", "end it here"},
	{"fold", "- + *", "", "fold, unfold, toggle all", "fold, unfold"},
	{"search", "/", "find", "find in the pane", ""},
	{"again", "n N", "previous", "next match, previous match or error", "next match, back"},
	{"palette", ":", "all", "list all keys and commands", "all keys, commands"},
	{"filter", "f", "filter", "filter the turns", ""},
	{"next-finding", "!", "next error", "next error", ""},
	{"order", "s", "order", "sort worst first or by time; in replay: scope", "worst, or by time"},
	{"sort", "S", "", "sort by a column", ""},
	{"theme", "t", "", "choose a theme", ""},
	{"demo", "d", "restart", "play the demo", ""},
	{"side", "H", "", "toggle background requests", "background turns"},
	{"dialect", "D", "", "read the response as another protocol", "another protocol"},
	{"clock", "T", "clock", "toggle clock or elapsed time", "clock or elapsed"},
	{"mouse", "M", "", "toggle the mouse", ""},
	{"size", "( )", "", "shrink, grow the pane", "shrink, grow it"},
	{"bookmark", "B", "", "bookmark this place", "add a bookmark"},
	{"marks", "'", "", "go to a bookmark", ""},
	{"turn-panes", `\`, "", "toggle: panes side by side or stacked", "side by side"},
	{"replay", "p P", "replay", "replay (P: as a client)", "replay, as client"},
	{"copy", "y", "copy", "copy the selection, or a part of it", "copy it, or a part"},
	{"save", "w", "save", "save to a new file", ""},
	{"edit", "e", "", "open the selection in $EDITOR", "open in $EDITOR"},
	{"pipe", "|", "", "pipe to a command", ""},
	{"onward", "o", "sent back", "show how the call was sent back; in Request: changes", "how it was sent"},
	{"mark", "m", "mark", "mark a turn; in Resend: set the model", "mark a turn"},
	{"compare", "=", "compare", "compare marked turns", "compare marked"},
	{"resend", "R", "resend", "send the request again", "send it again"},
	{"result", "a", "result", "enter the result of a call", "enter a result"},
	{"streams", "L", "streams", "list open streams", ""},
	{"break", "b", "", "set a breakpoint: hold responses", "hold responses"},
	{"help", "?", "keys", "show keys and symbols of this view", "keys and symbols"},
	{"suspend", "ctrl+z", "", "suspend", ""},
	{"quit", "q", "quit", "back, then quit", ""},
	{"interrupted", "ctrl+c", "", "quit", ""},
}

// ActionNamed returns the action with the given name. It panics if the name is unknown.
func ActionNamed(name string) Action {
	i := slices.IndexFunc(Actions, func(a Action) bool { return a.Name == name })
	if i < 0 {
		panic("no action " + name)
	}
	return Actions[i]
}

// Brief returns the brief description of the action whose description is does. If there is no such action, it returns
// does.
func Brief(does display.Text) display.Text {
	i := slices.IndexFunc(Actions, func(a Action) bool { return a.Brief != "" && a.Does == does.String() })
	if i < 0 {
		return does
	}
	return display.Clean(Actions[i].Brief)
}

// KeyList returns the built-in keys as a list.
func (a Action) KeyList() []string { return keyList(a.Keys) }

// Can returns hints for actions. The footer shows a hint if the program binds the key of the action.
func Can(names ...string) (hints []Binding) {
	for _, name := range names {
		a := ActionNamed(name)
		b := Binding{Keys: a.KeyList()[:1]}.Hinted(a.Hint)
		if len(a.Keys) == len("[ ]") && strings.Contains(a.Does, ", ") { // two keys with opposite effects
			b.Shown = a.KeyList()
		}
		hints = append(hints, b)
	}
	return hints
}

// Do binds an action, without a hint in the footer.
func Do(name string, do func()) Binding {
	a := ActionNamed(name)
	return Key(a.Keys, "", a.Does, do)
}

// DoBoth binds an action that has two keys with opposite effects, and completes the description of each:
// "previous, next delta" becomes "previous delta" and "next delta".
func DoBoth(name string, do func(step int)) []Binding {
	one, other, does := Do(name, func() { do(1) }), Do(name, func() { do(-1) }), ActionNamed(name).Does
	one.Keys, other.Keys = one.Keys[:1], one.Keys[1:]
	first, second, two := strings.Cut(does, ", ")
	switch {
	case !two:
		first, second = "previous: "+does, "next: "+does
	case !strings.Contains(second, " "):
		second = first[:strings.LastIndexByte(first, ' ')+1] + second
	case !strings.Contains(first, " "):
		first += second[strings.IndexByte(second, ' '):]
	}
	one.Does, other.Does = display.Clean(first), display.Clean(second)
	return []Binding{one, other}
}
