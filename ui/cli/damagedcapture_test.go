package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolscope/capture"
)

// TestRemovedCapture checks a capture that is removed while no data arrives. The status line must show this in red. A
// command without a screen must print it once, and its exit code must be the one for gaps.
func TestRemovedCapture(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		a, so := appOf(t)
		l := newLiveInput(newRedactor(), time.Now())
		var err error
		if l.rec, err = a.startCapture(filepath.Join(dir, "x.tsc"), l.began, "test"); err != nil {
			t.Fatal(err)
		}
		stop := l.watchCapture(a)
		l.start(callDirect)
		l.addRecord(capture.Record{Exchange: 1, Data: []byte("hello"), End: capture.EndEOF})
		time.Sleep(3 * time.Second)
		if got := so(); got.stderr != "" {
			t.Errorf("undamaged: %q", got.stderr)
		}
		if err := os.Remove(l.rec.path); err != nil {
			t.Skip(err)
		}
		time.Sleep(3 * time.Second)
		stop()
		red := ""
		for _, note := range l.statusNotes() {
			if note.Alarm {
				red += note.Text + "\n"
			}
		}
		if want := "CAPTURE LOST: " + l.rec.path + " was removed; recording continues in a new file with that name\nGAP 5 B\n"; red != want {
			t.Errorf("in red: %q, want %q", red, want)
		}
		if got := so(); strings.Count(got.stderr, "--record: "+l.rec.path+" was removed") != 1 {
			t.Errorf("printed: %q", got.stderr)
		}
		a.endLive(l)
		if got := so(); got.code != exitGaps || !strings.Contains(got.stderr, "the capture has gaps: 5 bytes") {
			t.Errorf("at the end: %+v", got)
		}
	})
}
