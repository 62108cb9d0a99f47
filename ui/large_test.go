package ui

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func large(o *Options) { o.Large = true }

// TestLargeFilms draws the demo in the large layout.
func TestLargeFilms(t *testing.T) {
	for _, size := range [][2]int{{60, 8}, {80, 24}, {140, 40}} {
		s := staged(t, size[0], size[1], large)
		var out strings.Builder
		fmt.Fprintf(&out, "%s\n", strings.Join(s.rows(), "\n"))
		for i := range tourScenes {
			fmt.Fprintf(&out, "== claim %d\n%s\n", i+1, strings.Join(s.press("}").rows(), "\n"))
		}
		checkFile(t, filepath.Join("testdata", "films", fmt.Sprintf("large-%dx%d.txt", size[0], size[1])), out.String())
	}
}

// TestLargeElsewhere checks that in the large layout, tabs keep the call's state above them, that a comparison begins
// with the differences, and that a replay shows mostly the body.
func TestLargeElsewhere(t *testing.T) {
	s := newScreen(t, 80, 24, large).feed(demo(t, "malformed")...).end()
	for _, tab := range []string{"3", "4", "5"} {
		s.press(tab).shows("✗ malformed    run_shell", "expected , or }, got s").press("<esc>")
	}
	if s.press("p").shows("Sent back?  run_shell", "1–3 of 10", `"role": "assistant"`, "{} is sent, not the 111 bytes that the model wrote"); strings.Contains(s.text(), "llama.cpp") {
		t.Errorf("the table is long:\n%s", s.text())
	}
	s = newScreen(t, 80, 24, large).feed(demo(t, "compare")...).end().press("=").shows("wrote .days").hides(`"Lima"`)
	s.press("+").shows(`"Lima"`)
}

// TestLargePage checks that a document key opens the document, and that esc shows the verdict again. A screen that is
// too small for block letters shows the same words.
func TestLargePage(t *testing.T) {
	s := newScreen(t, 80, 24, large).feed(demo(t, "malformed")...).end().shows("▄████▄", "caused by the model", "bytes unusable").hides("malformed")
	s.press("j").shows("✗ malformed", `"command"`).press("<esc>").hides(`"command"`).shows("▄████▄")
	s.press("z").shows(`"command"`).press("z1").shows("run_shell").press("2").shows("▄████▄")
	s.press("?").hides("▄████▄").press("<esc>")
	for _, size := range [][2]int{{20, 5}, {59, 18}, {60, 17}} {
		s.resize(size[0], size[1]).shows("MALFORMED").hides("▄")
	}
	s.resize(250, 60)
	for _, row := range []string{"██████▄▄▄      ▄▄▄██████", "▄████▄  ▄████▄  ██  ██  ▄█████"} {
		s.shows(row)
	}
	for w := 20; w < 260; w += 13 {
		for h := 5; h < 62; h += 3 {
			checkFrame(t, s.resize(w, h))
		}
	}
	newScreen(t, 80, 24, large).feed(demo(t, "parallel")...).end().shows("▄████▄  ▄████▄  ██▄  ▄██").hides("caused by", "unusable")
	newScreen(t, 80, 24, large).feed(demo(t, "malformed")[:6]...).hides("caused by", "unusable")
}
