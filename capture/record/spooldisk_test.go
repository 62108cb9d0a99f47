//go:build linux

package record

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
)

const tornEnv = "TOOLSCOPE_TEST_TORN"

// TestSpoolTorn: of a line that the disk takes only a part of nothing stays, and when there is room
// again what comes then stands behind the line before it.
func TestSpoolTorn(t *testing.T) {
	child := exec.Command(os.Args[0], "-test.run=^TestSpoolTornChild$")
	child.Env = append(os.Environ(), tornEnv+"="+t.TempDir())
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestSpoolTornChild(t *testing.T) {
	dir := os.Getenv(tornEnv)
	if dir == "" {
		t.Skip("runs as a child")
	}
	signal.Ignore(syscall.SIGXFSZ)
	fileLimit := func(n uint64) {
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: 1 << 30}); err != nil {
			t.Fatal(err)
		}
	}
	s := newSpool(t, dir, "a", 1<<30)
	s.fill(t, 0, 10)
	_, end, _ := s.Span()
	fileLimit(uint64(end) + 500)
	if n, err := s.Write(fmt.Appendf(nil, "%0999d\n", 10)); n != 0 || err == nil {
		t.Errorf("%d bytes were written, %v", n, err)
	}
	if info, err := os.Stat(s.Path()); err != nil || info.Size() != end {
		t.Errorf("the file has %d bytes, not %d, %v", info.Size(), end, err)
	}
	fileLimit(1 << 30)
	s.fill(t, 10, 12)
	if text, holes := s.rest(t, end-1000); holes != nil || !bytes.Equal(text, fmt.Appendf(nil, "%0999d\n%0999d\n%0999d\n", 9, 10, 11)) {
		t.Errorf("%d bytes, %v", len(text), holes)
	}
}
