package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
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
