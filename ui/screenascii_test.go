package ui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolscope/ui/screen"
)

// TestASCIIScreens checks that with ASCII, every byte of a frame is ASCII: in films, scenes and the demo at every
// size, and in the modes that keys and commands open. The rig checks each frame.
func TestASCIIScreens(t *testing.T) {
	drawsAlone(t)
	sizes := [][2]int{{20, 5}, {40, 10}, {80, 24}, {140, 40}, {250, 60}}
	for i, size := range sizes {
		if thin() > 1 && i%3 != 1 {
			continue
		}
		for _, f := range append(films[:len(films):len(films)], scenes...) {
			f.play(newScreen(t, size[0], size[1], ascii))
		}
		s := staged(t, size[0], size[1], ascii)
		for range tourScenes {
			s.press("}")
		}
		for _, name := range []string{"malformed", "history"} {
			s := newScreen(t, size[0], size[1], ascii, func(o *Options) { o.Setup = new(SetupGuide) }).feed(demo(t, name)...)
			for _, a := range screen.Actions {
				for _, key := range a.KeyList() {
					if len(key) == 1 && !strings.Contains("q", key) {
						s.press(key).press("jG/e<enter>n<esc><esc><esc>")
					}
				}
			}
			for _, command := range s.typedCommands() {
				s.press(":" + command.Word + " 1<enter>").press("j<esc><esc><esc>")
			}
		}
	}
	files, _ := filepath.Glob(filepath.Join("testdata", "films", "*ascii*"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil || strings.ContainsFunc(string(text), func(r rune) bool { return r > 0x7F }) {
			t.Errorf("%s: %v, or it is no ASCII", file, err)
		}
	}
	if len(files) < len(films)+len(scenes) {
		t.Errorf("%d films in ASCII", len(files))
	}
}
