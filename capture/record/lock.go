package record

import (
	"errors"
	"os"
	"time"
)

// lockForWriting keeps other writers out until f is closed, or its program has ended. A file system that has
// no locks is no reason not to record.
func lockForWriting(f *os.File) error {
	for tries := 0; isInUse(f, exclusive); tries++ {
		if tries == 50 {
			return errors.New("another program is recording to it")
		}
		time.Sleep(time.Millisecond) // isLocked of another program may hold it for a moment
	}
	return nil
}

// isLocked reports whether somebody is writing to a capture.
func isLocked(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow|noWait, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return isInUse(f, shared)
}

// isInUse takes a lock of a file, unless somebody else has one that excludes it. A file system that has
// no locks has nobody hold one.
func isInUse(f *os.File, kind int) bool {
	held, _ := tryLock(f, kind)
	return held
}
