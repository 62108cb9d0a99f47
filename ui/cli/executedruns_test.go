package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/stream"
)

// TestExecutedStrangers checks unrelated captures, e.g. of two machines. Read together, they must have no more
// findings than each has alone. Each capture is read with a third of the others or, with TOOLSCOPE_LONG=1, with all
// of them.
func TestExecutedStrangers(t *testing.T) {
	files, err := filepath.Glob("testdata/executed/*.tsc")
	if err != nil || len(files) < 25 {
		t.Fatal(files, err)
	}
	files = append(files, "testdata/executedruns/not/model.tsc")
	found := func(paths ...string) (all []string) {
		in := new(providers.Inspector)
		src, err := capture.OpenAll(context.Background(), paths, capture.Options{})
		for _, r := range allOf(t)(src, err) {
			in.Write(coreRecord(r))
		}
		in.Close()
		for n := range in.Timeline.Len() {
			e, _ := in.Timeline.Event(n)
			if x, is := e.What.(*stream.ToolExecution); is && x.Finding.Diagnosis != nil {
				all = append(all, x.Finding.Code)
			}
		}
		for _, s := range in.Executed().Servers {
			for _, f := range s.Findings() {
				all = append(all, f.Code)
			}
		}
		return all
	}
	alone := map[string][]string{}
	for _, f := range files {
		alone[f] = found(f)
	}
	for i, a := range files {
		for k, b := range files {
			if a == b || (i+k)%3 != 0 && os.Getenv("TOOLSCOPE_LONG") == "" {
				continue
			}
			for _, line := range found(a, b) {
				if !slices.Contains(alone[a], line) && !slices.Contains(alone[b], line) {
					t.Errorf("%s beside %s: %s", a, b, line)
				}
			}
		}
	}
}
