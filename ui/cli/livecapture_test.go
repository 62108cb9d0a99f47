package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolscope/capture"
	"toolscope/capture/record"
)

// TestPrintLiveCapture checks that a capture can be printed while it is written, and after its writer has ended. The
// open call must be cut off only in the second case. The capture must name the working folder.
func TestPrintLiveCapture(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	path := filepath.Join(here, "a.tsc")
	r, err := record.Create(path, time.Now(), "toolscope proxy")
	if err != nil {
		t.Fatal(err)
	}
	for name, shown := range map[string]string{"print": "nothing to show: a program is still recording this file, and nothing from a model has arrived yet", "check": "some input has no model traffic"} {
		if out := command(t, nil, name, path); !strings.Contains(out.stdout+out.stderr, shown) {
			t.Errorf("%s, before the first record: %+v", name, out)
		}
	}
	body := string(chat(toolChunk(`{"city":`)))
	for _, rec := range []capture.Record{
		{Exchange: 1, Side: capture.Request, Head: &capture.Head{Method: "POST", URL: "/v1/chat/completions"}, Data: []byte(`{"model":"m"}`)},
		{Exchange: 1, Head: &capture.Head{Status: 200}, Data: []byte(body)},
	} {
		for _, clean := range newRedactor().Take(rec) {
			r.Put(clean)
		}
	}
	for deadline := time.Now().Add(10 * time.Second); r.State().Records < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing was recorded")
		}
	}
	statesOf := func(path string) (call, phase string) {
		out := command(t, nil, "print", "--format", "jsonl", path)
		if out.code != 0 {
			t.Fatalf("%+v", out)
		}
		for line := range strings.Lines(out.stdout) {
			var o struct{ Type, Status, Phase string }
			if err := json.Unmarshal([]byte(line), &o); err != nil {
				t.Fatal(err)
			}
			switch o.Type {
			case "call":
				call = o.Status
			case "turn":
				phase = o.Phase
			}
		}
		return call, phase
	}
	link := filepath.Join(here, "link.tsc")
	if err := os.Symlink(path, link); err != nil {
		link = path
	}
	for _, p := range []string{path, link} {
		if call, phase := statesOf(p); call != "streaming" || phase != "open" {
			t.Errorf("%s, live: call %q, turn %q", p, call, phase)
		}
	}
	if out := command(t, nil, "check", path); out.code != 0 {
		t.Errorf("check, live: %+v", out)
	}
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if call, phase := statesOf(path); call != "aborted" || phase != "aborted" {
		t.Errorf("ended: call %q, turn %q", call, phase)
	}
	if dir := dirOfCapture(path); dir != here && dir != realPath(t, here) {
		t.Errorf("working folder %q, want %q", dir, here)
	}
}

func realPath(t *testing.T, path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

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
