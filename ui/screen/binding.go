package screen

import (
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"toolscope/ui/display"
)

// A Binding is one or more keys with an action. The footer, the help and the key handling are all made from
// bindings.
type Binding struct {
	Keys []string     // "a", "G", "enter", "alt+enter", "ctrl+u", " "
	Hint display.Text // text in the footer, the keys and a word; empty if only the help lists the keys
	Does display.Text // text in the help; empty for an alias of a listed key
	Do   func()       // nil if the binding only shows a hint for a key that works everywhere
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

// keyNames maps keys to their displayed names, in Unicode and ASCII, where these differ from the key. A
// key with an empty name works but is not listed.
var keyNames = map[string][2]display.Text{
	"up": keyTexts("↑", "up"), "down": keyTexts("↓", "down"), "left": keyTexts("←", "left"), "right": keyTexts("→", "right"),
	"shift+tab": keyTexts("⇧tab", "shift-tab"), " ": keyTexts("space", "space"), "pgup": keyTexts("PgUp", "PgUp"), "pgdown": keyTexts("PgDn", "PgDn"),
	"home": keyTexts("Home", "Home"), "end": keyTexts("End", "End"), "ctrl+c": keyTexts("^C", "^C"), "ctrl+z": keyTexts("^Z", "^Z"),
	"ctrl+b": {}, "ctrl+f": {},
}

func keyTexts(name, ascii string) [2]display.Text {
	return [2]display.Text{display.Clean(name), display.Clean(ascii)}
}

// Name returns the displayed names of the keys, in Unicode or ASCII.
func (b Binding) Name(draw display.Drawer) (name display.Text) {
	for _, key := range b.Keys {
		written, known := keyNames[key]
		one := written[0]
		if draw.ASCII {
			one = written[1]
		}
		if !known {
			if letter, ok := strings.CutPrefix(key, "ctrl+"); ok {
				key = "^" + letter
			}
			one = draw.Clean(key)
		}
		if !name.Empty() && !one.Empty() {
			one = one.Between(" ", "")
		}
		name = display.Join(name, one)
	}
	return name
}

// splitHint splits the hint into its keys and its text.
func (b Binding) splitHint() (keys, does display.Text) {
	s := b.Hint.String()
	n := max(0, strings.IndexByte(s, ' '))
	for one := utf8.RuneCountInString(s[:n]) == 1; one; {
		next := strings.IndexByte(s[n+1:], ' ')
		if one = next > 0 && utf8.RuneCountInString(s[n+1:n+1+next]) == 1; one {
			n += 1 + next
		}
	}
	keys = display.Clean(s[:n])
	return keys, display.Skip(b.Hint, keys.Width())
}

// fittingHints yields the hints that fit into so many cells, each with its first cell.
func fittingHints(of []Binding, cells int) iter.Seq2[int, *Binding] {
	return func(yield func(int, *Binding) bool) {
		for i, at := 0, 0; i < len(of); i++ {
			if of[i].Hint.Empty() {
				continue
			}
			at += min(at, 1) + 1
			if at+of[i].Hint.Width() > cells || !yield(at, &of[i]) {
				return
			}
			at += of[i].Hint.Width()
		}
	}
}

// HintAt returns the key whose hint is at cell x of a row of so many cells, or "". If the hint has several
// keys, it returns the key at that cell.
func HintAt(of []Binding, cells, x int) (key string) {
	for at, b := range fittingHints(of, cells) {
		if x < at || x >= at+b.Hint.Width() {
			continue
		}
		names, _ := b.splitHint()
		for name := range strings.FieldsSeq(names.String()) {
			width := display.Clean(name).Width()
			if key := keyNamed(name); x >= at && x < at+width && FindBinding(of, key) != nil {
				return key
			}
			at += width + 1
		}
		return b.Keys[0]
	}
	return ""
}

// keyNamed returns the key with a displayed name.
func keyNamed(name string) string {
	for key, written := range keyNames {
		if written[0].String() == name || written[1].String() == name {
			return key
		}
	}
	return name
}

// Remap returns the binding with other keys: to maps each key, also those in the hint.
func (b Binding) Remap(to func(key string) string, draw display.Drawer) Binding {
	keys := make([]string, len(b.Keys))
	for i, k := range b.Keys {
		keys[i] = to(k)
	}
	if !b.Hint.Empty() {
		names, does := b.splitHint()
		var all display.Text
		changed := false
		for name := range strings.FieldsSeq(names.String()) {
			built := keyNamed(name)
			one := display.Clean(name)
			if k := to(built); k != built {
				one, changed = Binding{Keys: []string{k}}.Name(draw), true
			}
			if !all.Empty() {
				one = one.Between(" ", "")
			}
			all = display.Join(all, one)
		}
		if changed {
			b.Hint = display.Join(all, does)
		}
	}
	b.Keys = keys
	return b
}

// CursorKeys returns the bindings that move the cursor. They call to with the new row. The last binding goes
// to the end.
func (w *Window) CursorKeys(hint display.Text, to func(row int)) []Binding {
	return w.moveKeys(hint, func() int { return w.At }, to)
}

// ScrollKeys returns the bindings that move the view of a list without a cursor.
func (w *Window) ScrollKeys(hint display.Text) []Binding {
	return w.moveKeys(hint, func() int { return w.Top }, w.Scroll)
}

func (w *Window) moveKeys(hint display.Text, at func() int, to func(row int)) []Binding {
	page := func() int { return max(1, w.Height-1) }
	return []Binding{
		{Keys: []string{"up", "k"}, Does: display.Lit("up"), Do: func() { to(at() - 1) }},
		{Keys: []string{"down", "j"}, Hint: hint, Does: display.Lit("down"), Do: func() { to(at() + 1) }},
		{Keys: []string{"pgup", "ctrl+u", "ctrl+b"}, Does: display.Lit("a page up"), Do: func() { to(at() - page()) }},
		{Keys: []string{"pgdown", "ctrl+d", "ctrl+f"}, Does: display.Lit("a page down"), Do: func() { to(at() + page()) }},
		{Keys: []string{"g", "home"}, Does: display.Lit("to the start"), Do: func() { to(0) }},
		{Keys: []string{"G", "end"}, Does: display.Lit("to the end"), Do: func() { to(w.Rows - 1) }},
	}
}
