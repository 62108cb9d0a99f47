package cli

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// backgroundNice is the nice value of threads that do background work. A thread with this value gets about a tenth of
// the processor time of a normal one if both compute.
const backgroundNice = 10

// runInBackground calls f on a thread of its own with a low priority. The operating system then prefers the threads
// that forward traffic. The thread ends with f, because its priority can't be raised again.
func runInBackground(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		_ = unix.Setpriority(unix.PRIO_PROCESS, unix.Gettid(), backgroundNice) // if this fails, f has the usual priority
		f()
	}()
	<-done
}
