package formats

import (
	"os"
	"path/filepath"
	"testing"

	"toolscope/capture"
)

// TestBareIsNotHeld checks that no format holds back a provider's own data once its first line has arrived, so
// that a stream can be watched live.
func TestBareIsNotHeld(t *testing.T) {
	for _, text := range []string{
		"data: {\"id\":\"c\",\"choices\":[{\"delta\":{}}]}\n",
		"event: message_start\n", "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{}}\n\n",
		": ping\n", "id: 1\n", "retry: 3000\n", "data:{}\n", "data: [DONE]\n",
		"{\"model\":\"m\",\"created_at\":\"2026-11-20T10:00:00Z\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":false}\n",
		"{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"}]}}]}\n",
		"{\"type\":\"message_start\",\"message\":{}}\n",
		"[{\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"}]}}]}\n",
		"[{\n  \"candidates\": [\n", "[{\"candidates\": [", "[[[[null,[[[[",
		"\x00\x00\x00\x9a\x00\x00\x00\x52",
	} {
		for _, f := range All {
			if got := f.Sniff([]byte(text), false); got.Is != capture.No {
				t.Errorf("%s says %d of %q (%s)", f.Name, got.Is, text, got.Why)
			}
		}
	}
}

// TestBareStaysBare checks that no format accepts unwrapped data from a provider, even if the data is cut off at any
// quarter of its length.
func TestBareStaysBare(t *testing.T) {
	files, err := filepath.Glob("../../ui/cli/testdata/nested.json")
	if corpus := os.Getenv("TOOLSCOPE_CORPUS"); err == nil && corpus != "" {
		var more []string
		more, err = filepath.Glob(filepath.Join(corpus, "dev", "*", "*"))
		files = append(files, more...)
	}
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for quarter := 1; quarter <= 4; quarter++ {
			first := text[:len(text)*quarter/4]
			for _, f := range All {
				if got := f.Sniff(first, quarter == 4); got.Is == capture.Yes {
					t.Errorf("%s says yes of the first %d bytes of %s (%s)", f.Name, len(first), file, got.Why)
				}
			}
		}
	}
}
