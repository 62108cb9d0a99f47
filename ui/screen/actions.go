package screen

import (
	"iter"
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

// A Binding is one or more keys with an action. The footer, the help and the key handling are all made from
// bindings.
type Binding struct {
	Keys  []string     // "a", "G", "enter", "alt+enter", "ctrl+u", " "
	Shown []string     // keys of the hint in the footer; none if the footer doesn't show the binding
	Hint  string       // word after the keys in the hint
	Last  bool         // the hint has the last place in the footer; a wide row always has room for it
	Does  display.Text // text in the help and the palette; empty for an alias of a listed key
	Do    func()       // nil if the binding only shows a hint for a key that works everywhere
}

// Key returns a binding for keys, which are separated by spaces. The hint in the footer shows the first key and the
// given word. If hint is empty, the binding has no hint.
func Key(keys, hint, does string, do func()) Binding {
	b := Binding{Keys: keyList(keys), Does: display.Clean(does), Do: do}
	if hint != "" {
		b = b.Hinted(hint)
	}
	return b
}

// keyList splits a list of keys. It replaces the word "space" with the space key.
func keyList(keys string) []string {
	list := strings.Fields(keys)
	if i := slices.Index(list, "space"); i >= 0 {
		list[i] = " "
	}
	return list
}

// Hinted returns the binding with a hint: its first key and a word.
func (b Binding) Hinted(word string) Binding {
	b.Shown, b.Hint = b.Keys[:1], word
	return b
}

// Show returns the binding with other keys in its hint, for example to add the key of the opposite action.
func (b Binding) Show(keys string) Binding {
	b.Shown = keyList(keys)
	return b
}

// WithoutHint returns the binding without a hint in the footer.
func (b Binding) WithoutHint() Binding {
	b.Shown, b.Hint = nil, ""
	return b
}

// HasHint reports whether the footer shows the binding.
func (b Binding) HasHint() bool { return len(b.Shown) > 0 || b.Hint != "" }

// HintText returns the text of the hint: its keys and its word.
func (b Binding) HintText(draw display.Drawer) display.Text {
	keys, word := b.hintParts(draw)
	return display.Join(keys, word)
}

func (b Binding) hintParts(draw display.Drawer) (keys, word display.Text) {
	keys, word = NameKeys(b.Shown, draw), display.Clean(b.Hint)
	if !keys.Empty() && !word.Empty() {
		word = word.Between(" ", "")
	}
	return keys, word
}

// FindBinding returns the binding of a key, or nil.
func FindBinding(all []Binding, key string) *Binding {
	for i := range all {
		if all[i].Do != nil && slices.Contains(all[i].Keys, key) {
			return &all[i]
		}
	}
	return nil
}

// SharesKey reports whether the bindings have a key in common.
func (b Binding) SharesKey(other Binding) bool {
	return slices.ContainsFunc(b.Keys, func(k string) bool { return slices.Contains(other.Keys, k) })
}

// keyNames maps a key to its displayed name, in Unicode and in ASCII, if the name differs from the key. A key with an
// empty name works but is not listed.
var keyNames = map[string][2]string{
	"up": {"↑", "up"}, "down": {"↓", "down"}, "left": {"←", "left"}, "right": {"→", "right"}, "shift+tab": {"⇧tab", "shift-tab"},
	" ": {"space", "space"}, "pgup": {"PgUp", "PgUp"}, "pgdown": {"PgDn", "PgDn"}, "home": {"Home", "Home"}, "end": {"End", "End"},
	"ctrl+c": {"^C", "^C"}, "ctrl+z": {"^Z", "^Z"},
}

// Name returns the displayed names of the keys, in Unicode or ASCII.
func (b Binding) Name(draw display.Drawer) display.Text { return NameKeys(b.Keys, draw) }

// NameKeys returns the displayed names of keys, in Unicode or ASCII.
func NameKeys(keys []string, draw display.Drawer) display.Text {
	var names []string
	for _, key := range keys {
		written, known := keyNames[key]
		one := written[0]
		if draw.ASCII {
			one = written[1]
		}
		if letter, ok := strings.CutPrefix(key, "ctrl+"); ok && !known {
			one = "^" + letter
		} else if !known {
			one = key
		}
		if one != "" {
			names = append(names, one)
		}
	}
	return draw.Clean(strings.Join(names, " "))
}

// fittingHints yields the hints that fit into the given number of cells, each with its first cell. If the hint for
// the last place does not fit after the other hints, fittingHints shortens it.
func fittingHints(of []Binding, draw display.Drawer, cells int) iter.Seq2[int, *Binding] {
	return func(yield func(int, *Binding) bool) {
		room, at := cells, 0
		last := slices.IndexFunc(of, func(b Binding) bool { return b.Last && b.HasHint() })
		if last >= 0 && cells >= minLastHint {
			room -= of[last].Hinted(briefLastHint).HintText(draw).Width() + hintGap
		}
		for i := range of {
			if !of[i].HasHint() || i == last {
				continue
			}
			from := at + min(at, 1) + 1
			width := of[i].HintText(draw).Width()
			if from+width > room {
				break
			}
			if at = from + width; !yield(from, &of[i]) {
				return
			}
		}
		if last < 0 {
			return
		}
		b, from := of[last], at+min(at, 1)+1
		if from+b.HintText(draw).Width() > cells {
			b = b.Hinted(briefLastHint)
		}
		if from+b.HintText(draw).Width() <= cells {
			yield(from, &b)
		}
	}
}

// briefLastHint is the short word of the hint for the last place. hintGap is the number of blanks before a hint.
// minLastHint is the minimum row width at which room is reserved for the last hint.
const (
	briefLastHint = "all"
	hintGap       = 2
	minLastHint   = 60
)

// HintAt returns the key of the hint at cell x of a row with the given number of cells, or "". If the hint has
// several keys, it returns the key drawn at that cell.
func HintAt(of []Binding, draw display.Drawer, cells, x int) (key string) {
	for at, b := range fittingHints(of, draw, cells) {
		if x < at || x >= at+b.HintText(draw).Width() {
			continue
		}
		for _, key := range b.Shown {
			width := NameKeys([]string{key}, draw).Width()
			if x >= at && x < at+width && FindBinding(of, key) != nil {
				return key
			}
			at += width + 1
		}
		return b.Keys[0]
	}
	return ""
}

// Remap returns the binding with each key replaced by another, including the keys of the hint. The parameter to
// returns the other key.
func (b Binding) Remap(to func(key string) string) Binding {
	b.Keys, b.Shown = slices.Clone(b.Keys), slices.Clone(b.Shown)
	for _, keys := range [][]string{b.Keys, b.Shown} {
		for i, k := range keys {
			keys[i] = to(k)
		}
	}
	return b
}

// MergeBindings appends the bindings of others to first, without the keys that first already binds.
func MergeBindings(first, others []Binding) []Binding {
	all := first
	for _, b := range others {
		b.Keys = slices.DeleteFunc(slices.Clone(b.Keys), func(k string) bool {
			return slices.ContainsFunc(first, func(f Binding) bool { return slices.Contains(f.Keys, k) })
		})
		if len(b.Keys) > 0 {
			all = append(all, b)
		}
	}
	return all
}

// MergeHints returns the bindings of a pane, then the bindings of the program for other keys. If the pane only has a hint
// for one of the program's keys, MergeHints returns the program's binding for that key, with the pane's hint.
func MergeHints(pane, program []Binding) (all []Binding) {
	for _, b := range pane {
		if b.Do == nil {
			of := FindBinding(program, b.Keys[0])
			if of == nil {
				continue
			}
			hint := b
			b, of.Do = *of, nil
			b.Shown, b.Hint, b.Last = hint.Shown, hint.Hint, hint.Last
		}
		all = append(all, b)
	}
	for _, b := range program {
		taken := func(of Binding) bool { return of.Do != nil && slices.Equal(of.Keys, b.Keys) }
		if b.Do != nil && !slices.ContainsFunc(pane, taken) {
			all = append(all, b)
		}
	}
	return all
}
