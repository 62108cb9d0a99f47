package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestArrange: whatever the size, columns and rules fill the width, the panes
// of a column its height, and the focused pane is among them.
func TestArrange(t *testing.T) {
	for w := range 301 {
		for h := range 101 {
			for focus := listPane; focus <= findingsPane; focus++ {
				for i := range 4 {
					lower := wirePane + paneID(i%2)
					if focus >= wirePane {
						lower = focus
					}
					checkArrangement(t, arrange(w, h, focus, lower, i > 1), w, h, focus)
				}
			}
		}
	}
}

func checkArrangement(t *testing.T, columns []column, w, h int, focus paneID) {
	t.Helper()
	width, seen := len(columns)-1, map[paneID]bool{}
	for _, c := range columns {
		width += c.width
		height := 0
		for _, s := range c.panes {
			if height += s.height; seen[s.pane] {
				t.Fatalf("%dx%d: pane %d twice", w, h, s.pane)
			}
			seen[s.pane] = true
			if pw, ph, shown := place(columns, s.pane); !shown || pw != c.width || ph != s.height {
				t.Fatalf("%dx%d: pane %d is said to be %dx%d", w, h, s.pane, pw, ph)
			}
		}
		if height != h || c.width < 20 && w >= 20 {
			t.Fatalf("%dx%d: a column of %dx%d", w, h, c.width, height)
		}
	}
	if width != w || !seen[focus] {
		t.Fatalf("%dx%d: the columns take %d; pane %d is shown: %t", w, h, width, focus, seen[focus])
	}
}

func TestArrangements(t *testing.T) {
	for _, c := range []struct {
		w, h         int
		focus, lower paneID
		zoom         bool
		want         string
	}{
		{71, 30, docPane, wirePane, false, "71: 2x30"},
		{72, 30, docPane, wirePane, false, "32: 1x30 | 39: 2x21 3x9"},
		{72, 13, docPane, wirePane, false, "32: 1x13 | 39: 2x13"},
		{72, 13, findingsPane, findingsPane, false, "32: 1x13 | 39: 4x13"},
		{140, 38, listPane, findingsPane, false, "42: 1x38 | 97: 2x27 4x11"},
		{160, 43, listPane, wirePane, false, "48: 1x43 | 61: 2x43 | 49: 3x31 4x12"},
		{250, 78, wirePane, wirePane, true, "250: 3x78"},
	} {
		var got []string
		for _, col := range arrange(c.w, c.h, c.focus, c.lower, c.zoom) {
			text := fmt.Sprintf("%d:", col.width)
			for _, s := range col.panes {
				text += fmt.Sprintf(" %dx%d", int(s.pane)+1, s.height)
			}
			got = append(got, text)
		}
		if got := strings.Join(got, " | "); got != c.want {
			t.Errorf("%dx%d: %s, want %s", c.w, c.h, got, c.want)
		}
	}
}

// TestKeys: every binding is in the help exactly once, and while browsing no
// key does two things.
func TestKeys(t *testing.T) {
	km := newKeyMap()
	listed, bound := map[string]int{}, map[string]string{}
	for _, g := range km.groups() {
		for _, b := range g.keys {
			if listed[b.Help().Desc]++; b.Help().Key == "" || b.Help().Desc == "" || len(b.Keys()) == 0 {
				t.Errorf("%+v has no help or keys", b)
			}
			for _, k := range b.Keys() {
				if bound[k] != "" {
					t.Errorf("%s does %s and %s", k, bound[k], b.Help().Desc)
				}
				bound[k] = b.Help().Desc
			}
		}
	}
	for _, b := range bindings(km) {
		if listed[b.Help().Desc] != 1 {
			t.Errorf("%q is %d times in the help", b.Help().Desc, listed[b.Help().Desc])
		}
	}
	if table := Keys(); len(table) != len(bindings(km)) || !slices.Contains(table, Key{"Look", "/", "find in the pane"}) {
		t.Errorf("%d keys in the table, %d are bound: %v", len(table), len(bindings(km)), table)
	}
}
