package record

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// A new file is never made through a link, and opening does not wait: neither needs a flag.
const (
	noFollow = 0
	noWait   = 0
)

// Kinds of lockForWriting.
const (
	exclusive = windows.LOCKFILE_EXCLUSIVE_LOCK
	shared    = 0
)

// mustClose says that a file can be deleted only when it is not open.
const mustClose = true

// tryLock takes a lockForWriting of a file, unless somebody else has one that excludes it. Nobody can read
// what is locked, so that is one byte far behind everything a file can hold. The error is that of a
// file system that has no locks.
func tryLock(f *os.File, kind int) (held bool, err error) {
	const far = 1<<31 - 1
	err = windows.LockFileEx(windows.Handle(f.Fd()), uint32(kind)|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{OffsetHigh: far})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return true, nil
	}
	return false, err
}

// restrictToOwner leaves a file to its owner and the system alone, whatever its directory would have it
// inherit. A file system that knows no owners is no reason not to record.
func restrictToOwner(f *os.File) error {
	rights, err := windows.SecurityDescriptorFromString("D:P(A;;FA;;;OW)(A;;FA;;;SY)")
	if err != nil {
		return err
	}
	list, _, err := rights.DACL()
	if err != nil {
		return err
	}
	const what = windows.DACL_SECURITY_INFORMATION | windows.PROTECTED_DACL_SECURITY_INFORMATION
	err = windows.SetNamedSecurityInfo(f.Name(), windows.SE_FILE_OBJECT, what, nil, nil, list, nil)
	if errors.Is(err, windows.ERROR_NOT_SUPPORTED) || errors.Is(err, windows.ERROR_INVALID_FUNCTION) {
		return nil
	}
	return err
}

// Whose a directory is and who may openOrphan into it does not show in its mode.

func isForeign(fs.FileInfo) bool { return false }
func isOpen(fs.FileInfo) bool    { return false }
