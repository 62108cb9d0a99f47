package ui

import (
	"path/filepath"
	"slices"
	"testing"
)

// TestNarrowFilms draws the replay and the sent-back view at a width that is just too small for two columns.
func TestNarrowFilms(t *testing.T) {
	for _, name := range []string{"replay", "sent-back"} {
		at := slices.IndexFunc(films, func(f film) bool { return f.name == name })
		checkFile(t, filepath.Join("testdata", "films", name+"-60x18.txt"), films[at].play(newScreen(t, 60, 18)))
	}
}
