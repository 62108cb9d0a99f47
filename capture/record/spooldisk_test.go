//go:build linux

package record

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
)

const diskEnv = "TOOLSCOPE_TEST_DISK"

// TestSpoolTorn checks that no part of a line stays if the disk accepts only a part of it. When there is room
// again, the next line follows the previous complete one.
func TestSpoolTorn(t *testing.T) {
	inChild(t)
}

// inChild runs another test in its own process, which may limit its disk space. That test has the name of this one
// followed by "Child".
func inChild(t *testing.T) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"Child$")
	child.Env = append(os.Environ(), diskEnv+"="+t.TempDir())
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// childDir returns a folder for a test that inChild runs.
func childDir(t *testing.T) string {
	t.Helper()
	dir := os.Getenv(diskEnv)
	if dir == "" {
		t.Skip("runs as a child")
	}
	return dir
}

// fileLimit limits the size of a file to n bytes.
func fileLimit(t *testing.T, n uint64) {
	t.Helper()
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: n, Max: 1 << 30}); err != nil {
		t.Fatal(err)
	}
}

func TestSpoolTornChild(t *testing.T) {
	s := newSpool(t, childDir(t), "a", 1<<30)
	s.fill(t, 0, 10)
	_, end, _ := s.Span()
	fileLimit(t, uint64(end)+500)
	if n, err := s.Write(fmt.Appendf(nil, "%0999d\n", 10)); n != 0 || err == nil {
		t.Errorf("%d bytes were written, %v", n, err)
	}
	if info, err := os.Stat(s.Path()); err != nil || info.Size() != end {
		t.Errorf("the file has %d bytes, not %d, %v", info.Size(), end, err)
	}
	fileLimit(t, 1<<30)
	s.fill(t, 10, 12)
	if text, holes := s.rest(t, end-1000); holes != nil || !bytes.Equal(text, fmt.Appendf(nil, "%0999d\n%0999d\n%0999d\n", 9, 10, 11)) {
		t.Errorf("%d bytes, %v", len(text), holes)
	}
}

// TestSpoolRoom checks that sent data makes room for unsent data when the disk is full. Unsent data stays, and
// then there is no room.
func TestSpoolRoom(t *testing.T) {
	inChild(t)
}

func TestSpoolRoomChild(t *testing.T) {
	dir := childDir(t)
	s := newSpool(t, dir, "a", 1<<30)
	s.fill(t, 0, 10)
	_, end, _ := s.Span()
	fileLimit(t, uint64(end)+500)
	line := fmt.Appendf(nil, "%0999d\n", 10)
	for _, at := range []int64{0, end - 1} {
		if err := s.SetMark(SendMark{SentTo: at}); err != nil {
			t.Fatal(err)
		}
		if n, err := s.Write(line); n != 0 || err == nil {
			t.Errorf("%d bytes were written, %v", n, err)
		}
		if first, now, _ := s.Span(); first != 0 || now != end {
			t.Errorf("with %d sent it has %d to %d", at, first, now)
		}
	}
	if err := s.SetMark(SendMark{SentTo: end}); err != nil {
		t.Fatal(err)
	}
	s.fill(t, 10, 12)
	if first, now, _ := s.Span(); first != end || now != end+2000 {
		t.Errorf("it has %d to %d", first, now)
	}
	if text, holes := s.rest(t, end); holes != nil || !bytes.Equal(text, fmt.Appendf(nil, "%0999d\n%0999d\n", 10, 11)) {
		t.Errorf("%d bytes, %v", len(text), holes)
	}
	if all, _ := filepath.Glob(filepath.Join(dir, "a.tsc*")); len(all) != 1 {
		t.Errorf("there is %v", all)
	}
}
