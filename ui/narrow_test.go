package ui

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNarrowFilms draws the replay and the sent-back view at a width that is just too small for two columns.
func TestNarrowFilms(t *testing.T) {
	for _, name := range []string{"replay", "sent-back"} {
		at := slices.IndexFunc(films, func(f film) bool { return f.name == name })
		checkFile(t, filepath.Join("testdata", "films", name+"-60x18.txt"), films[at].play(newScreen(t, 60, 18)))
	}
}

// TestShortListTakesOneRow checks that on the smallest screen, a list of one call takes one row, and a longer list two.
func TestShortListTakesOneRow(t *testing.T) {
	s := newScreen(t, 40, 10, static).feed(demo(t, "malformed")...)
	if rows := s.rows(); !strings.Contains(rows[1], "malformed") || !strings.Contains(rows[2], "Expected , or }") {
		t.Errorf("one call:\n%s", s.text())
	}
	s = newScreen(t, 40, 10, static).feed(demo(t, "parallel")...)
	if rows := s.rows(); !strings.Contains(rows[1], "write_file") || !strings.Contains(rows[2], "run_tests") {
		t.Errorf("two calls:\n%s", s.text())
	}
}
