//go:build linux && !nohub

package cli

import (
	"context"
	"os"
	"strings"
	"testing"

	"toolscope/capture"
)

// TestPublishHidesArgv checks that a followed capture is published without the secrets in its command line. The
// records that are passed on locally must be unchanged.
func TestPublishHidesArgv(t *testing.T) {
	url, _ := aHub(t, "127.0.0.1:0")
	a, _ := publishesTo(t, url, t.TempDir(), "1MB")
	ctx, cancel := context.WithCancel(t.Context())
	from, end, err := a.publishFollowed(ctx, func(yield func(capture.Record, error) bool) {
		for _, rec := range argvCapture() {
			if !yield(rec, nil) {
				return
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for rec := range from {
		if rec.Note != "" && !strings.Contains(rec.Note, argvPassword) {
			t.Error(rec.Note)
		}
	}
	cancel()
	end()
	text, err := os.ReadFile(a.sending.Path)
	if err != nil {
		t.Fatal(err)
	}
	wantHidden(t, "spool", string(text))
}
