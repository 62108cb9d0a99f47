package record

import (
	"os"
	"path/filepath"
)

// LockDir takes a folder for one program, and makes it if it is missing, until release is called or the
// program has ended. It reports false where another one has it. A file system that has no locks has
// nobody hold one.
func LockDir(dir string) (release func(), ok bool, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, false, err
	}
	f, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR|os.O_CREATE|noFollow|noWait, 0o600)
	if err != nil {
		return nil, false, err
	}
	if isInUse(f, exclusive) {
		f.Close()
		return nil, false, nil
	}
	return func() { f.Close() }, true, nil
}

// HasRoom reports why a folder does not take so many bytes, nil if it does. What it writes for that it removes.
func HasRoom(dir string, size int) error {
	path := filepath.Join(dir, ".room")
	os.Remove(path) // of a program that was killed
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	defer f.Close()
	_, err = f.Write(make([]byte, size))
	return err
}
