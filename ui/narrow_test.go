package ui

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestNarrowFilms: what is sent back, and what was, where two columns just do not fit.
func TestNarrowFilms(t *testing.T) {
	for _, name := range []string{"replay", "sent-back"} {
		at := slices.IndexFunc(films, func(f film) bool { return f.name == name })
		checkFile(t, filepath.Join("testdata", "films", name+"-60x18.txt"), films[at].play(newScreen(t, 60, 18)))
	}
}
