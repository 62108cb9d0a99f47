package formats

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolscope/capture"
)

// TestDamagedLines checks that only a few damaged lines have a note of their own, and that the last note counts the
// others. The entries before and after the damaged lines must be read.
func TestDamagedLines(t *testing.T) {
	whole, err := os.ReadFile("testdata/codex-rollout.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	for _, test := range []struct {
		name, line string
		n          int
		notes      int
		last       string
		isDamaged  bool
	}{
		{"damaged lines", `{"type":"response_item","payload":{"ty`, 20000, 4, "19997 more lines left out, up to line 20010", true},
		{"one line more than have a note", `{"type":"response_item","payload":{"ty`, 4, 4, "1 more line left out, up to line 14", true},
		{"few damaged lines", `{"type":"response_item","payload":{"ty`, 3, 3, "line 13, byte ", true},
		{"lines of text", "warning: slow", 5, 4, "2 more lines left out, up to line 15", false},
	} {
		path := filepath.Join(t.TempDir(), "rollout.jsonl")
		text := bytes.Join(lines[:10], nil)
		text = append(text, strings.Repeat(test.line+"\n", test.n)...)
		if err := os.WriteFile(path, append(text, bytes.Join(lines[10:], nil)...), 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := capture.Open(t.Context(), path, capture.Options{Formats: All, GuessPayload: func([]byte) capture.PayloadGuess { return capture.Ask }})
		if err != nil {
			t.Fatal(err)
		}
		var notes []capture.Record
		data := 0
		for r, err := range src {
			if err != nil {
				t.Fatal(err)
			}
			if data += len(r.Data); strings.Contains(r.Note, "left out") {
				notes = append(notes, r)
			}
		}
		if len(notes) != test.notes || !strings.HasPrefix(notes[len(notes)-1].Note, test.last) || notes[len(notes)-1].Damaged != test.isDamaged {
			t.Errorf("%s: %d notes, want %d; the last is %+v, want %q", test.name, len(notes), test.notes, notes[len(notes)-1], test.last)
		}
		if data < len(whole)/2 {
			t.Errorf("%s: only %d bytes were read", test.name, data)
		}
	}
}
