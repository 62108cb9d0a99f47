package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// TestArrange checks that at every size, columns and rules fill the width, the panes in a column fill its
// height, and the focused pane is among them.
func TestArrange(t *testing.T) {
	var desks []*paneLayout
	for i := range 16 {
		desks = append(desks, arranged(i%4, 2+i/4%2, i > 7))
	}
	for w := range 301 {
		for h := range 101 {
			for _, d := range desks {
				if columns := d.arrangeBody(w, h); d.isBoxed(w, h) {
					checkArrangement(t, columns, w-2, h-1, d.focus)
				} else {
					checkArrangement(t, columns, w, h, d.focus)
				}
			}
		}
	}
}

// arranged returns a layout whose focus has moved from one of the side panes to another pane. The wire has a hundred
// rows, the other panes have none.
func arranged(focus, side int, zoom bool) *paneLayout {
	m := new(Model)
	d := &paneLayout{m: m}
	d.setPanes(m.newPanes())
	m.wire.Events = make([]int32, 100)
	d.turnTo(d.table[side].Pane)
	d.turnTo(d.table[focus].Pane)
	d.zoom = zoom
	return d
}

func checkArrangement(t *testing.T, columns []column, w, h int, focus panes.Pane) {
	t.Helper()
	width, seen := len(columns)-1, map[panes.Pane]bool{}
	for _, c := range columns {
		width += c.width
		height := 0
		for _, s := range c.panes {
			if height += s.height; seen[s.pane] {
				t.Fatalf("%dx%d: pane %T twice", w, h, s.pane)
			}
			if s.pane == nil {
				continue
			}
			seen[s.pane] = true
			if pw, ph, shown := paneSize(columns, s.pane); !shown || pw != c.width || ph != s.height {
				t.Fatalf("%dx%d: pane %T is said to be %dx%d", w, h, s.pane, pw, ph)
			}
		}
		if height != h || c.width < 20 && w >= 20 {
			t.Fatalf("%dx%d: a column of %dx%d", w, h, c.width, height)
		}
	}
	if width != w || !seen[focus] {
		t.Fatalf("%dx%d: the columns take %d; pane %T is shown: %t", w, h, width, focus, seen[focus])
	}
}

func TestArrangements(t *testing.T) {
	for _, c := range []struct {
		w, h        int
		focus, side int
		zoom        bool
		want        string
	}{
		{40, 8, 1, 2, false, "40: 1x1 2x1 3x6"},
		{60, 16, 1, 2, false, "60: 1x3 2x1 3x2 4x10"},
		{80, 22, 1, 3, false, "80: 1x3 2x1 4x18"},
		{20, 3, 1, 2, false, "20: 1x1 2x2"},
		{20, 3, 2, 2, false, "20: 1x1 3x2"},
		{99, 30, 1, 2, false, "99: 1x3 2x1 3x2 4x24"},
		{100, 30, 1, 2, false, "44: 1x29 | 53: 2x1 3x2 4x26"},
		{140, 38, 0, 3, false, "65: 1x37 | 72: 2x1 4x36"},
		{199, 43, 0, 2, false, "86: 1x42 | 110: 2x1 3x2 4x39"},
		{250, 58, 0, 3, false, "86: 1x57 | 86: 2x1 3x2 7x54 | 74: 4x57"},
		{250, 78, 2, 2, true, "250: 3x78"},
	} {
		var got []string
		d := arranged(c.focus, c.side, c.zoom)
		for _, col := range d.arrangeBody(c.w, c.h) {
			text := fmt.Sprintf("%d:", col.width)
			for _, s := range col.panes {
				text += fmt.Sprintf(" %dx%d", d.index(s.pane)+1, s.height)
			}
			got = append(got, text)
		}
		if got := strings.Join(got, " | "); got != c.want {
			t.Errorf("%dx%d: %s, want %s", c.w, c.h, got, c.want)
		}
	}
}

// TestKeys checks that every action is in the help exactly once, and that no key has two actions.
func TestKeys(t *testing.T) {
	listed, bound := map[string]int{}, map[string]string{}
	for _, g := range keyGroups {
		for name := range strings.FieldsSeq(g.actions) {
			a := screen.ActionNamed(name)
			if listed[name]++; a.Does == "" || len(a.KeyList()) == 0 {
				t.Errorf("%+v has no help or keys", a)
			}
			for _, k := range a.KeyList() {
				if bound[k] != "" {
					t.Errorf("%s does %s and %s", k, bound[k], a.Does)
				}
				bound[k] = a.Does
			}
		}
	}
	for _, a := range screen.Actions {
		if listed[a.Name] != 1 {
			t.Errorf("%q is %d times in the help", a.Name, listed[a.Name])
		}
	}
	words := newScreen(t, 80, 24).typedCommands()
	if table := Keys(nil); len(table) != len(screen.Actions)+len(words) || !slices.Contains(table, Key{"Words", ":log", "show toolscope's log"}) || !slices.Contains(table, Key{"Find problems", "/", "find in the pane"}) {
		t.Errorf("%d keys in the table, %d are bound: %v", len(table), len(screen.Actions), table)
	}
}
