package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolscope/capture"
	"toolscope/capture/formats"
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/present"
)

// TestPrintTogether checks that the files in a directory are printed in the order of their names, each as if it were
// printed alone, and that the totals and the note about unrecognised files cover all of them.
func TestPrintTogether(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const files = 12
	var alone strings.Builder
	for i := range files {
		path := filepath.Join(dir, fmt.Sprintf("%02d.sse", i))
		text := strings.Replace(anthropicAnswer, "Oslo", strings.Repeat("Oslo", 1+100*(files-i)), 1) // the first files take longest
		if i == 3 {
			text = "nothing known\n"
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if i != 3 {
			alone.WriteString(command(t, nil, "print", "--format", "jsonl", path).stdout)
		}
	}
	out := command(t, nil, "print", "--format", "jsonl", dir)
	if out.stdout != alone.String() || strings.Count(out.stdout, "\n") != 2*(files-1) || out.code != 0 {
		t.Errorf("exit code %d, and %d bytes instead of %d", out.code, len(out.stdout), alone.Len())
	}
	if !strings.Contains(out.stderr, "1 of 12 files not recognised: "+filepath.Join(dir, "03.sse")) {
		t.Errorf("%q", out.stderr)
	}
	if out := command(t, nil, "print", dir); !strings.Contains(out.stdout, "\n11 turns, 11 calls: 11 complete; ") {
		t.Errorf("%q", out.stdout)
	}
}

// TestOrderedWriter checks that output is kept until its turn, and that a write beyond the maximum size waits.
func TestOrderedWriter(t *testing.T) {
	t.Parallel()
	var to bytes.Buffer
	w := &orderedWriter{to: &to, turn: make(chan struct{})}
	if n, err := w.Write([]byte("first ")); n != 6 || err != nil || to.Len() > 0 {
		t.Errorf("%d %v %q", n, err, to.String())
	}
	written := make(chan int)
	go func() {
		n, _ := w.Write(make([]byte, maxEarlyOutput))
		_ = w.writeKept()
		written <- n
	}()
	select {
	case <-written:
		t.Fatal("the output was written before its turn")
	default:
	}
	close(w.turn)
	if n := <-written; n != maxEarlyOutput || to.Len() != 6+maxEarlyOutput || w.kept.Cap() > 0 || !strings.HasPrefix(to.String(), "first ") {
		t.Errorf("%d of %d bytes", n, to.Len())
	}
}

// TestNothingArrived checks that "no bytes arrived" is printed only for an empty file.
func TestNothingArrived(t *testing.T) {
	span := `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b171","name":"pump",` +
		`"startTimeUnixNano":"1767225600000000000","endTimeUnixNano":"1767225601000000000","attributes":[{"key":"gen_ai.operation.name",` +
		`"value":{"stringValue":"execute_tool"}}]}]}]}]}`
	for text, empty := range map[string]bool{"": true, "\n": false, span: false, "one line\n": false} {
		path := filepath.Join(t.TempDir(), "spans.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := command(t, nil, "print", path)
		if strings.Contains(got.stderr, "no bytes arrived") != empty || got.code != 1 {
			t.Errorf("%q: exit %d, %s", text, got.code, got.stderr)
		}
	}
}

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

// TestUnknownFacts checks that each kind of missing fact has a description for readers. The facts about the exchange
// must keep the words of the capture format.
func TestUnknownFacts(t *testing.T) {
	lacks := []capture.Lack{
		capture.NoDeltas, capture.NoTimes, capture.LateTimes, capture.Reencoded, capture.Resent, capture.NoEnding, capture.NoBody,
		capture.NoNames, capture.Mixed, capture.CutLines, capture.UsageBefore, capture.Composed, capture.Rewound,
	}
	x := &providers.Exchange{Head: &stream.Head{}}
	for _, lack := range lacks {
		x.Head.Lacks = append(x.Head.Lacks, string(lack))
	}
	x.Head.Lacks = append(x.Head.Lacks, "a later version's fact")
	before := slices.Clone(x.Head.Lacks)
	texts := present.UnknownFacts(x)
	for i, text := range texts[:len(lacks)] {
		if text == before[i] || strings.HasPrefix(text, "what ") || strings.Contains(text, "answer") {
			t.Errorf("%q has the text %q", before[i], text)
		}
	}
	if last := texts[len(lacks)]; last != "a later version's fact" || !slices.Equal(before, x.Head.Lacks) {
		t.Errorf("an unknown fact has the text %q; the words are %q, want %q", last, x.Head.Lacks, before)
	}
}
