package ui

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"toolscope/stream"
)

// TestLog checks that the program's notices and the source's notes are in the log with their times, in order,
// and that a search finds them.
func TestLog(t *testing.T) {
	for _, size := range [][2]int{{40, 10}, {80, 24}, {140, 40}} {
		s := newScreen(t, size[0], size[1]).feed(demo(t, "malformed")...)
		s.feed(stream.Record{Exchange: -1, Note: "left out: line 12, byte 340: no JSON"})
		s.press("gm:log<enter>").shows("Log", "09:00:00", "line 12")
		if !strings.Contains(s.text(), "marked") {
			t.Errorf("%v: what was said is not told:\n%s", size, s.text())
		}
		s.press("/byte 340").shows("line 12").hides("marked")
		s.press("<enter><esc>").shows("marked").press("<esc>").hides("Log")
		s.end()
		s.press(":log<enter>").shows("the source has ended")
	}
}

// TestLogIsShort checks that the log keeps the latest lines, shows how many were dropped, and has no line
// twice in a row.
func TestLogIsShort(t *testing.T) {
	s := newScreen(t, 80, 24).feed(demo(t, "malformed")...)
	for n := range 5*maxJournalLines + 7 {
		s.showNotice(s.draw.Format("note %d", n))
		s.showNotice(s.draw.Format("note %d", n))
	}
	all, gone := s.journal.lines()
	if len(all) != maxJournalLines || len(all)+gone != 5*maxJournalLines+7 || all[len(all)-1].text != fmt.Sprintf("note %d", 5*maxJournalLines+6) {
		t.Errorf("%d lines, %d gone", len(all), gone)
	}
	if cap(s.journal.all) > 4*maxJournalLines {
		t.Errorf("room for %d", cap(s.journal.all))
	}
	s.press(":log<enter>").shows("1,000 lines", "4,007 earlier ones dropped", "note 5006")
	s.press("g").shows("note 4007")
}

// TestLogTellsWords checks that a problem of the source is logged once, and logged again if it comes back.
func TestLogTellsWords(t *testing.T) {
	words := []StatusNote{{Text: "connection lost", Alarm: true}, {Text: "rec a.tsc"}}
	s := newScreen(t, 80, 24, func(o *Options) { o.Status = func() []StatusNote { return words } }).feed(demo(t, "malformed")[:9]...)
	s.feed(demo(t, "malformed")[9:12]...)
	words = nil
	s.feed(demo(t, "malformed")[12:13]...)
	words = []StatusNote{{Text: "connection lost", Alarm: true}}
	s.feed(demo(t, "malformed")[13:14]...)
	s.showNotice(s.draw.Format("between"))
	s.inbox.Close(errors.New("the pipe broke"))
	s.send(inboxReady{})
	s.press(":log<enter>").shows("connection lost", "between", "the pipe broke").hides("rec a.tsc  ")
	if n := strings.Count(s.text(), "connection lost"); n > 3 {
		t.Errorf("told %d times:\n%s", n, s.text())
	}
}

// TestBookmarks checks that the user can go to a bookmarked place, also in the past, and that esc goes back. If the
// place doesn't exist at a moment, a notice says so. Using the same name elsewhere moves the bookmark; using it at
// the same place removes the bookmark.
func TestBookmarks(t *testing.T) {
	s := newScreen(t, 140, 40).feed(demo(t, "parallel")...).end()
	s.press("'").shows("no bookmarks")
	s.press("gj2jj").press(":mark here<enter>").shows("bookmarked here")
	at, off, path := s.selected, s.doc.Offset(), s.doc.Path()
	s.press("1G").press("B").shows("bookmarked")
	from := s.selected
	s.press("'").shows("go to here", "turn 1").press("here<enter>")
	if s.selected != at || s.doc.Offset() != off || s.doc.Path() != path || s.focus != s.table[1].Pane {
		t.Fatalf("at %v byte %d %s, want %v byte %d %s", s.selected, s.doc.Offset(), s.doc.Path(), at, off, path)
	}
	if s.press("<esc>"); s.selected != from {
		t.Errorf("esc leads to %v, was at %v", s.selected, from)
	}
	s.press(" ,,,").press(":go to here<enter>")
	if s.selected != at {
		t.Errorf("at a moment it leads to %v", s.selected)
	}
	s.press("00").press("'here<enter>").shows("is later than this moment")
	s.press("G").press("'here<enter>")
	if s.selected != at || s.doc.Path() != path {
		t.Errorf("now it leads to %v", s.selected)
	}
	s.press(":mark here<enter>").shows("bookmark removed: here")
	if len(s.bookmarks.places) != 1 {
		t.Errorf("%d are left", len(s.bookmarks.places))
	}
}

// TestBookmarkReread checks that a bookmark stays on its turn when an earlier turn is read as another
// protocol.
func TestBookmarkReread(t *testing.T) {
	s := newScreen(t, 140, 40).feed(demo(t, "protocols")...).end()
	s.press("G").press(":mark last<enter>")
	want := s.selectedTurn().ID + s.selectedCall().Name
	s.press("gD").press("<enter>").finish()
	s.press("'last<enter>")
	if s.selectedCall() == nil || s.selectedTurn().ID+s.selectedCall().Name != want {
		t.Errorf("at %v", s.selected)
	}
}
