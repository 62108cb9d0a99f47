//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package capture

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

const noFollow = syscall.O_NOFOLLOW

// lock keeps other writers out until f is closed, or its program has ended. A file system that has no locks is no
// reason not to record.
func lock(f *os.File) error {
	for tries := 0; ; tries++ {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return nil
		case tries == 50:
			return errors.New("another program is recording to it")
		}
		time.Sleep(time.Millisecond) // isLocked of somebody who wanted the same name
	}
}

// isLocked tells whether somebody is writing to a capture.
func isLocked(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow|syscall.O_NONBLOCK, 0) // a named pipe must not block
	if err != nil {
		return false
	}
	defer f.Close()
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

func isForeign(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) != os.Geteuid()
}
