package record

import (
	"errors"
	"os"
	"time"
)

// lockForWriting keeps other writers out until f is closed, or its program has ended. On a file system
// without locks it always succeeds.
func lockForWriting(f *os.File) error {
	for tries := 0; isInUse(f, exclusive); tries++ {
		if tries == 50 {
			return errors.New("another program records to it")
		}
		time.Sleep(time.Millisecond) // isLocked of another program may hold it for a moment
	}
	return nil
}

// isLocked reports whether another program is writing to a capture.
func isLocked(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow|noWait, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return isInUse(f, shared)
}

// isInUse takes a lock of a file. It reports whether another process has a lock that excludes it. On a
// file system without locks, that is never so.
func isInUse(f *os.File, kind int) bool {
	held, _ := tryLock(f, kind)
	return held
}
