package record

import (
	"os"
	"path/filepath"
)

// LockDir reserves a folder for one program, until release is called or the program has ended. It creates
// a missing folder. ok is false if another program has it. On a file system without locks it always
// succeeds.
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

// HasRoom checks whether a folder has room for size bytes, by writing them to a file that it then
// removes. The error is the reason why not.
func HasRoom(dir string, size int) error {
	path := filepath.Join(dir, ".room")
	os.Remove(path) // of a killed program
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	defer f.Close()
	_, err = f.Write(make([]byte, size))
	return err
}
