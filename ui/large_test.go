package ui

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func large(o *Options) { o.Large = true }

// TestLargeFilms: how the demo looks from the back of a room.
func TestLargeFilms(t *testing.T) {
	for _, size := range [][2]int{{60, 8}, {80, 24}, {140, 40}} {
		s := staged(t, size[0], size[1], large)
		var out strings.Builder
		fmt.Fprintf(&out, "%s\n", strings.Join(s.rows(), "\n"))
		for i := range claims {
			fmt.Fprintf(&out, "== claim %d\n%s\n", i+1, strings.Join(s.press("}").rows(), "\n"))
		}
		checkFile(t, filepath.Join("testdata", "films", fmt.Sprintf("large-%dx%d.txt", size[0], size[1])), out.String())
	}
}
