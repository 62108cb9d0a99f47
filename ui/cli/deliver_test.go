//go:build linux

package cli

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"testing"
)

// TestDeliver checks that a preview's body is copied through the terminal, and that it is saved on the machine where
// the program runs. The sequence for the clipboard must be written between two frames.
func TestDeliver(t *testing.T) {
	capture, err := filepath.Abs(capturedDemo)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	p := start(t, launch{args: []string{"open", capture}, copies: true, folder: folder, w: 120})
	p.untilFrame("END")
	p.keys("p")
	p.untilFrame("Sent back? ")
	p.keys("y")
	p.untilFrame("by the terminal (OSC 52)")
	for _, name := range []string{"anthropic.json", "anthropic-2.json"} {
		p.keys("w")
		p.untilFrame(name)
	}
	p.keys("\x03")
	p.wantExit(130)
	p.wantRestored()

	if len(p.screen.copied) != 1 {
		t.Fatalf("copied %q", p.screen.copied)
	}
	copied, err := base64.StdEncoding.DecodeString(p.screen.copied[0])
	if err != nil || len(copied) == 0 || copied[0] != '{' {
		t.Errorf("copied %q: %v", copied, err)
	}
	files, _ := filepath.Glob(filepath.Join(folder, "replay-*.json"))
	if len(files) != 2 {
		t.Fatalf("files %v", files)
	}
	for _, f := range files {
		saved, err := os.ReadFile(f)
		if err != nil || string(saved) != string(copied)+"\n" {
			t.Errorf("saved %q: %v", saved, err)
		}
	}
}
