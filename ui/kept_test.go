package ui

import (
	"slices"
	"strings"
	"testing"
)

// TestLayoutIsKept checks that the user's layout is restored in the next run: sizes, the arrangement of
// panes, and whether a tab is open.
func TestLayoutIsKept(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {140, 40}, {220, 50}} {
		s := newScreen(t, size[0], size[1]).feed(demo(t, "parallel")...)
		if s.Layout() != (Layout{}) {
			t.Fatalf("%v: %+v before anything was done", size, s.Layout())
		}
		s.press("))\\3")
		if size[0] < threeColumns {
			s.press("1(")
		}
		l, was := s.Layout(), s.text()
		if l == (Layout{}) || l.Tabs != TabsOpen || l.Columns == ByWidth {
			t.Fatalf("%v: %+v", size, l)
		}
		again := newScreen(t, size[0], size[1], func(o *Options) { o.Layout = l }).feed(demo(t, "parallel")...)
		if s.press("1"); again.press("31").text() != s.text() {
			t.Errorf("%v: it was\n%s\nand is\n%s", size, was, again.text())
		}
		if again.Layout() != l {
			t.Errorf("%v: %+v, was %+v", size, again.Layout(), l)
		}
		s.press("\\33")
		if l := s.Layout(); l.Columns != ByWidth || size[0] < threeColumns && l.Tabs != TabsByRoom {
			t.Errorf("%v: %+v", size, l)
		}
	}
}

// TestClosedTabsOpenAgain checks that the next run shows the findings even if the user closed the tabs, or if they
// are closed in a layout from an older version.
func TestClosedTabsOpenAgain(t *testing.T) {
	fresh := newScreen(t, 80, 24).feed(demo(t, "malformed")...)
	s := newScreen(t, 80, 24).feed(demo(t, "malformed")...).press("33")
	if s.tabs != TabsShut || s.text() == fresh.text() {
		t.Fatalf("3 leaves the tabs %q", s.tabs)
	}
	for _, l := range []Layout{s.Layout(), {Tabs: TabsShut}} {
		again := newScreen(t, 80, 24, func(o *Options) { o.Layout = l }).feed(demo(t, "malformed")...)
		if again.text() != fresh.text() {
			t.Errorf("%+v shows\n%s", l, again.text())
		}
	}
}

// TestLayoutIsTheUsers checks that tabs opened by links, and changes made by the demo, are not saved.
func TestLayoutIsTheUsers(t *testing.T) {
	s := newScreen(t, 80, 24).feed(demo(t, "malformed")...)
	if s.press("!"); s.Layout() != (Layout{}) {
		t.Errorf("a finding that was gone to leaves %+v", s.Layout())
	}
	st := staged(t, 100, 30)
	if st.press("}}3"); st.Layout() != (Layout{}) {
		t.Errorf("the demo leaves %+v", st.Layout())
	}
	if s.press("z\\").shows("side by side"); s.zoom {
		t.Error("zoomed, panes were turned where nobody sees it")
	}
	if narrow := newScreen(t, 50, 20).feed(demo(t, "malformed")...).press("\\").shows("60 columns"); narrow.order != ByWidth {
		t.Error("panes stand beside each other where there is no room")
	}
}

// TestClosedTabsLeaveNoEmptyMiddle checks that the names of closed tabs are right under the document, and that the rows
// below them are blank and do nothing.
func TestClosedTabsLeaveNoEmptyMiddle(t *testing.T) {
	s := newScreen(t, 140, 40).feed(demo(t, "malformed")...).press("33")
	rows := s.rows()
	isBlank := func(row string) bool { return strings.TrimSpace(strings.Split(row, "│")[2]) == "" }
	at := slices.IndexFunc(rows, func(row string) bool { return strings.Contains(row, "─ Findings 1 ─") })
	if at < 3 || isBlank(rows[at-1]) && isBlank(rows[at-2]) || len(rows)-at < 10 {
		t.Fatalf("the names of the tabs are in row %d:\n%s", at, s.text())
	}
	for _, row := range rows[at+1 : len(rows)-2] {
		if !isBlank(row) {
			t.Errorf("below the names of the tabs: %q", row)
		}
	}
	before := s.text()
	if s.clickAt(100, at+3).text() != before {
		t.Errorf("after a click below the names:\n%s", s.text())
	}
}
