package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
