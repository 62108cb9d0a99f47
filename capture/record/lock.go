package record

import (
	"errors"
	"os"
	"path/filepath"
	"time"
)

// lock keeps other writers out until f is closed, or its program has ended. A file system that has
// no locks is no reason not to record.
func lock(f *os.File) error {
	for tries := 0; isHeld(f, exclusive); tries++ {
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
	return isHeld(f, shared)
}

// isHeld takes a lock of a file, unless somebody else has one that excludes it. A file system that has
// no locks has nobody hold one.
func isHeld(f *os.File, kind int) bool {
	held, _ := tryLock(f, kind)
	return held
}

// HoldDir takes a folder for one program, and makes it if it is missing, until release is called or the
// program has ended. It reports false where another one has it. A file system that has no locks has
// nobody hold one.
func HoldDir(dir string) (release func(), ok bool, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, false, err
	}
	f, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR|os.O_CREATE|noFollow|noWait, 0o600)
	if err != nil {
		return nil, false, err
	}
	if isHeld(f, exclusive) {
		f.Close()
		return nil, false, nil
	}
	return func() { f.Close() }, true, nil
}
