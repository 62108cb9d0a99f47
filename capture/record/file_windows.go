package record

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/windows"
)

// A new file is never created through a link, and opening does not wait, so neither needs a flag.
const (
	noFollow = 0
	noWait   = 0
)

// atEnd is 0, because a file that is opened to append can't be truncated after a failed write.
const atEnd = 0

// Kinds of lock.
const (
	exclusive = windows.LOCKFILE_EXCLUSIVE_LOCK
	shared    = 0
)

// mustClose reports whether a file must be closed before it can be deleted.
const mustClose = true

// tryLock tries to lock a file. The result held reports that another process has a lock that excludes this one.
// Locked bytes can't be read, so it locks one byte far beyond any content. An error means that the file system
// has no locks.
func tryLock(f *os.File, kind int) (held bool, err error) {
	const far = 1<<31 - 1
	err = windows.LockFileEx(windows.Handle(f.Fd()), uint32(kind)|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0, &windows.Overlapped{OffsetHigh: far})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return true, nil
	}
	return false, err
}

// restrictToOwner makes a file accessible to its owner and the system only, whatever it would inherit
// from its directory. A file system without owners is not an error.
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

// hasNoName returns false, because an open file can't be removed.
func hasNoName(fs.FileInfo) bool { return false }

// On Windows, the mode shows neither the owner of a directory nor who has access to it.

func isForeign(fs.FileInfo) bool { return false }
func isOpen(fs.FileInfo) bool    { return false }
