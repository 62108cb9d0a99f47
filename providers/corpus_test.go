package providers

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// isKnown reports whether a protocol in All reads the recordings in a folder of the corpus.
func isKnown(folder string) bool {
	switch folder {
	case "mistral":
		folder = "openai-chat"
	case "bedrock-anthropic":
		folder = "anthropic"
	}
	return slices.ContainsFunc(All, func(d protocol.Protocol) bool { return d.Name == folder })
}

// corpus returns the folder of recorded streams, which are not part of the source tree.
func corpus(t *testing.T) string {
	root := os.Getenv("TOOLSCOPE_CORPUS")
	if root == "" {
		t.Skip("set TOOLSCOPE_CORPUS to a folder of recorded streams")
	}
	return root
}

// eachCapture runs a test for every recorded stream, including streams of unknown protocols.
func eachCapture(t *testing.T, check func(t *testing.T, wire []byte)) {
	files, err := filepath.Glob(filepath.Join(corpus(t), "dev", "*", "*"))
	if err != nil || len(files) < 150 {
		t.Fatalf("%d captures: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			wire, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			check(t, wire)
		})
	}
}

// TestCorpusCuttings checks that the result for a recorded stream doesn't depend on how the stream is cut
// into chunks.
func TestCorpusCuttings(t *testing.T) {
	corpus(t)
	rarely(t)
	random := 50
	switch {
	case testing.Short() || raceEnabled:
		random = 20
	case os.Getenv("TOOLSCOPE_LONG") != "":
		random = 1000
	}
	eachCapture(t, func(t *testing.T, wire []byte) {
		checkKept(t, inspect(wire), wire)
		checkCuttings(t, fixture{}, wire, random)
	})
}

// hazards are the quirks of a capture that may cause problems for a client.
var hazards = []string{
	"args-invalid-json", "truncated-max-tokens", "index-not-dense", "index-reused-by-new-call", "no-finish",
	"error-in-body",
}

// TestCorpusOrdinary checks that an ordinary stream from a real provider has no finding above info, and that
// a stream with a hazard has one. A false alarm is a bug.
func TestCorpusOrdinary(t *testing.T) {
	root := corpus(t)
	list, err := os.ReadFile(filepath.Join(root, "dev", "EXPECTED.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	ordinary := 0
	for line := range bytes.Lines(list) {
		var capture struct {
			File, Dialect, Provenance string
			Quirks                    []string
		}
		if err := json.Unmarshal(line, &capture); err != nil {
			t.Fatal(err)
		}
		if !isKnown(capture.Dialect) || capture.Provenance != "recorded" {
			continue
		}
		hazard := slices.ContainsFunc(capture.Quirks, func(q string) bool { return slices.Contains(hazards, q) })
		t.Run(strings.TrimPrefix(capture.File, "dev/"), func(t *testing.T) {
			wire, err := os.ReadFile(filepath.Join(root, capture.File))
			if err != nil {
				t.Fatal(err)
			}
			found := loud(inspect(wire).Session())
			if hazard && len(found) == 0 {
				t.Errorf("nothing above info is said of %v", capture.Quirks)
			}
			for _, f := range found {
				if !hazard {
					t.Errorf("%s %s: %s", f.Code, f.Severity, f.Message)
				}
			}
		})
		if !hazard {
			ordinary++
		}
	}
	if ordinary == 0 {
		t.Error("the corpus has no ordinary stream")
	}
}

// loud returns the findings with a severity above info.
func loud(session *stream.Session) []stream.Finding {
	all := slices.Clone(session.Findings)
	for _, t := range session.Turns {
		all = append(all, t.Findings...)
		for _, c := range t.Calls {
			all = append(all, c.Findings...)
		}
	}
	return slices.DeleteFunc(all, func(f stream.Finding) bool { return f.Severity == stream.Info })
}
