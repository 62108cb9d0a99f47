package screen

import (
	"iter"
	"slices"
	"strings"

	"toolscope/ui/display"
)

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

// CursorKeys returns the bindings that move the cursor. Each binding calls the function to with the new row. The last
// binding moves to the end. The footer shows hint after the keys j and k, unless hint is empty.
func (w *Window) CursorKeys(hint string, to func(row int)) []Binding {
	return w.moveKeys(hint, &w.At, to)
}

// ScrollKeys returns the bindings that move the view of a list without a cursor.
func (w *Window) ScrollKeys(hint string) []Binding { return w.moveKeys(hint, &w.Top, w.Scroll) }

func (w *Window) moveKeys(hint string, at *int, to func(row int)) []Binding {
	by := func(rows int) func() { return func() { to(*at + rows) } }
	page := func(by int) func() { return func() { to(*at + by*max(1, w.Height-1)) } }
	down := Key("down j", hint, "down", by(1))
	if hint != "" {
		down = down.Show("j k")
	}
	return []Binding{
		Key("up k", "", "up", by(-1)), down, Key("pgup ctrl+u ctrl+b", "", "a page up", page(-1)), Key("pgdown ctrl+d ctrl+f", "", "a page down", page(1)),
		Key("g home", "", "to the start", func() { to(0) }), Key("G end", "", "to the end", func() { to(w.Rows - 1) }),
	}
}
