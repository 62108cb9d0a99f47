package cli

import (
	"testing"

	"golang.org/x/sys/unix"
)

// niceOf returns the nice value of the calling thread.
func niceOf(t *testing.T) int {
	t.Helper()
	n, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
	if err != nil {
		t.Fatal(err)
	}
	return 20 - n // the system call returns 20 minus the nice value, so that the result is never negative
}

// TestRunInBackground checks that the function runs with a low priority, and that the caller keeps its own.
func TestRunInBackground(t *testing.T) {
	before, during := niceOf(t), 0
	runInBackground(func() { during = niceOf(t) })
	if want := max(before, backgroundNice); during != want {
		t.Errorf("the nice value is %d, want %d", during, want)
	}
	for range 100 { // the goroutine may run on other threads
		after := make(chan int)
		go func() { after <- niceOf(t) }()
		if n := <-after; n != before {
			t.Fatalf("the nice value of another goroutine is %d, want %d", n, before)
		}
	}
}
