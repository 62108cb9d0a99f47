package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolscope/capture"
	"toolscope/capture/formats"
)

// unmarked are the shapes of logs in which the marks of responses are not visible in the file. split are the shapes
// that split some of these marks.
var (
	unmarked = []string{"journald json, bytes", "base64 in JSON", "whole text in base64"}
	split    = []string{"pieces as they were read", "Kubernetes CRI, in parts"}
)

func counted(t *testing.T, text string) capture.FileSurvey {
	t.Helper()
	n, err := capture.Survey(context.Background(), saved(t, "log", text), formats.Marks(), 2)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestCountIsOfAnswers checks that the count without decoding equals the number of responses that decoding finds.
func TestCountIsOfAnswers(t *testing.T) {
	for name, body := range logStreams(t) {
		if strings.Contains(name, "/") {
			continue // recorded streams are cut in various ways, and some have two ends
		}
		for _, s := range logShapes {
			if !s.holds(body) {
				continue
			}
			streams := []logged{{body, "req_8f3a1c", 4211}, {strings.ReplaceAll(body, "own", "two"), "req_77b02e", 4318}}
			if !s.keyed {
				streams = streams[:1]
			}
			text := logOf(s, true, streams...)
			_, in := callsIn(t, text)
			want, got := int64(len(in.Session().Turns)), counted(t, text)
			switch {
			case slices.Contains(unmarked, s.name):
				want = 0
			case slices.Contains(split, s.name):
				want = min(want, got.Responses)
			}
			if got.Responses != want || got.Lines != int64(strings.Count(text, "\n")) || got.Bytes != int64(len(text)) {
				t.Errorf("%s, %s: %+v, want %d answers", name, s.name, got, want)
			}
		}
	}
}

// TestPrintCount checks that --count prints the known numbers. If none is known, it must give advice.
func TestPrintCount(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.log": longStream(10), "b.log": "one\ntwo\n", "c.gz": "\x1f\x8b\x08something"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ran := command(t, nil, "print", "--count", dir)
	for _, want := range []string{"a.log: about 1 response, 51 lines, ", "b.log: 2 lines, 8 B; no sign of a response: use --summary to read it\n", "c.gz: 12 B; use --summary to read it\n"} {
		if !strings.Contains(ran.stdout, want) || ran.code != 0 {
			t.Errorf("exit %d, no %q in:\n%s", ran.code, want, ran.stdout)
		}
	}
	if out := command(t, nil, "print", "--count", "--format", "jsonl", filepath.Join(dir, "a.log")).stdout; !strings.Contains(out, `"lines":51,"answers_about":1}`) {
		t.Error(out)
	}
	for _, args := range [][]string{{"print", "--count", filepath.Join(dir, "none")}, {"print", "--count", "-"}, {"print", "--count", "-f", dir}} {
		if ran := command(t, nil, args...); ran.code == 0 || ran.stdout != "" || ran.stderr == "" {
			t.Errorf("%v: %+v", args, ran)
		}
	}
}
