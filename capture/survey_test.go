package capture

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

var someMarks = []ResponseMarker{{Word: "begins", Kind: 0}, {Word: "stop_reason", Kind: 0, Ends: true}, {Word: "finish_reason", Kind: 1, Ends: true}}

// TestMarks checks that a marker counts as a JSON key or string, however deep it is inside other JSON. The
// marker of an end counts only with a value, and once for each response.
func TestMarks(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":"begins"}`:                                      "[1 0] [0 0]",
		`{"type": "begins", "a": "begins"}`:                      "[2 0] [0 0]",
		`{"log":"data: {\"type\":\"begins\"}\n"}`:                "[1 0] [0 0]",
		`"{\"log\":\"{\\\"type\\\":\\\"begins\\\"}\"}"`:          "[1 0] [0 0]",
		`event: begins`:                                          "[0 0] [0 0]",
		`{"type":"begins_not"}`:                                  "[0 0] [0 0]",
		`{"stop_reason":null}{"stop_reason": null}`:              "[0 0] [0 0]",
		`{"stop_reason":"end"}`:                                  "[0 0] [1 0]",
		`{"stop_reason": "end"}`:                                 "[0 0] [1 0]",
		`{\"stop_reason\":\"end\"}`:                              "[0 0] [1 0]",
		`{"finish_reason":"stop","native_finish_reason":"stop"}`: "[0 0] [0 1]",
		"{\"id\":\"a\",\"finish_reason\":\"stop\"}\n{\"id\":\"a\",\"finish_reason\":\"stop\"}": "[0 0] [0 1]",
		"{\"id\":\"a\",\"finish_reason\":\"stop\"}\n{\"id\":\"b\",\"finish_reason\":\"stop\"}": "[0 0] [0 2]",
		"{\"id\":\"a\"}\n{\"finish_reason\":\"stop\"}\n{\"finish_reason\":\"stop\"}":           "[0 0] [0 2]",
		`{"finish_reason":""}`: "[0 0] [0 0]",
		`"finish_reason`:       "[0 0] [0 0]",
		`"finish_reason"`:      "[0 0] [0 0]",
		"":                     "[0 0] [0 0]",
	} {
		m := newMarkerScanner(someMarks)
		begun, ended := make([]int64, 2), make([]int64, 2)
		m.countMarkers([]byte(text), 0, len(text), begun, ended)
		if got := fmt.Sprint(begun, ended); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestMarksAnywhere checks that a marker is found at any position in a text, and is counted only once however the
// text is divided into parts.
func TestMarksAnywhere(t *testing.T) {
	m := newMarkerScanner(someMarks)
	for at := range 200 {
		text := []byte(strings.Repeat("x", at) + `"begins"` + strings.Repeat("y", 200-at))
		for cut := range len(text) {
			begun, ended := make([]int64, 2), make([]int64, 2)
			m.countMarkers(text, 0, cut, begun, ended)
			m.countMarkers(text, cut, len(text), begun, ended)
			if begun[0] != 1 {
				t.Fatalf("at %d, cut at %d: %v", at, cut, begun)
			}
		}
	}
}

// markedFile makes a file with a number of responses, one at the edge of each part that is searched.
func markedFile(t testing.TB, answers int) string {
	var b strings.Builder
	for n := range answers {
		const mark = "{\"type\":\"begins\"}\n"
		if gap := (n+1)*surveyBytes - b.Len() - len(mark)/2; gap > 0 {
			b.WriteString(strings.Repeat("a line of text, and one more, and nothing else\n", gap/47))
			b.WriteString(strings.Repeat("x", gap%47-1) + "\n")
		}
		b.WriteString(mark)
	}
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSurvey checks that a marker and a line count once, also at the edge of two parts, with any number of
// workers.
func TestSurvey(t *testing.T) {
	path := markedFile(t, 5)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := FileSurvey{Bytes: int64(len(text)), Lines: int64(strings.Count(string(text), "\n")), Responses: 5}
	for workers := 1; workers < 4; workers++ {
		if got, err := Survey(context.Background(), path, someMarks, workers); got != want || err != nil {
			t.Errorf("%d workers: %+v, %v; want %+v", workers, got, err, want)
		}
	}
	if _, err := Survey(context.Background(), path+"x", someMarks, 1); err == nil {
		t.Error("a file that is not there")
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	if got, err := Survey(ctx, path, someMarks, 2); err == nil {
		t.Errorf("stopped: %+v", got)
	}
}

// TestSurveyKeepsNothing checks that a survey holds no content, however large the file is.
func TestSurveyKeepsNothing(t *testing.T) {
	took := func(answers int) int64 {
		path := markedFile(t, answers)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := Survey(context.Background(), path, someMarks, 1); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		return int64(after.TotalAlloc - before.TotalAlloc)
	}
	if small, large := took(2), took(16); large > small+64<<10 || small > 2<<20 {
		t.Errorf("%d bytes were taken for little, %d for much", small, large)
	}
}
