//go:build linux

package cli

import (
	encoding "encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// runIndexedStats runs stats as a process of its own, which another process can kill.
func runIndexedStats() int {
	return Run([]string{"stats", "--format", "jsonl"}, os.Stdin, os.Stdout, os.Stderr)
}

// TestStatsIndexKilled checks that the numbers are the same after a process that writes the index was killed at its
// first change to the index's folder, at its second one, and so on.
func TestStatsIndexKilled(t *testing.T) {
	state, kept := keptFolder(t)
	for n, text := range timedRuns(t, 3, 1) {
		keepCapture(t, filepath.Join(kept, fmt.Sprintf("run%d.tsc", n)), text)
	}
	stats := func() string { return command(t, nil, "stats", "--format", "jsonl").stdout }
	want := stats()
	written := len(rowsOf(t, state))
	changes := 6
	if os.Getenv("TOOLSCOPE_LONG") != "" {
		changes = 40
	}
	rows, killed, left := filepath.Join(state, "toolscope", "stats"), 0, 0
	for change := 1; change <= changes; change++ {
		if err := os.RemoveAll(rows); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(rows, 0o700); err != nil {
			t.Fatal(err)
		}
		if killAtChange(t, rows, change) {
			killed++
		}
		if len(rowsOf(t, state)) > 0 {
			left++
		}
		if got := stats(); got != want {
			t.Fatalf("killed at change %d:\n%s\nwant\n%s", change, got, want)
		}
		if again := stats(); again != want || len(rowsOf(t, state)) != written {
			t.Fatalf("killed at change %d: %d files in the index\n%s", change, len(rowsOf(t, state)), again)
		}
	}
	t.Logf("%d processes were killed, %d left files", killed, left)
	if killed == 0 || left == 0 {
		t.Errorf("%d processes were killed, %d left files", killed, left)
	}
}

// killAtChange runs stats and kills it at a change of a folder. It reports whether the process was killed before it
// ended.
func killAtChange(t *testing.T, folder string, change int) bool {
	t.Helper()
	fd, err := syscall.InotifyInit1(syscall.IN_CLOEXEC | syscall.IN_NONBLOCK)
	if err != nil {
		t.Skip(err)
	}
	changes := os.NewFile(uintptr(fd), "changes")
	defer changes.Close()
	if _, err := syscall.InotifyAddWatch(fd, folder, syscall.IN_CREATE|syscall.IN_MODIFY|syscall.IN_CLOSE_WRITE|syscall.IN_MOVED_TO|syscall.IN_DELETE); err != nil {
		t.Skip(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), asHelper+"=indexed stats")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		buf, seen := make([]byte, 64<<10), 0
		for {
			n, err := changes.Read(buf)
			if err != nil {
				return
			}
			for at := 0; at < n; at += syscall.SizeofInotifyEvent + int(encoding.NativeEndian.Uint32(buf[at+12:])) {
				if seen++; seen == change {
					_ = cmd.Process.Kill() // fails if the process has ended
				}
			}
		}
	}()
	_ = cmd.Wait() // fails if the process was killed
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.Signaled()
}
