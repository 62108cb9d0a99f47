//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package record

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Flags for opening a file without following a symbolic link, and without waiting for the other end of a
// named pipe.
const (
	noFollow = syscall.O_NOFOLLOW
	noWait   = syscall.O_NONBLOCK
)

// atEnd makes each write append to the file. So a file that another program truncates stays smaller than the
// number of written bytes.
const atEnd = syscall.O_APPEND

// Kinds of lock.
const (
	exclusive = syscall.LOCK_EX
	shared    = syscall.LOCK_SH
)

// mustClose reports whether a file must be closed before it can be deleted.
const mustClose = false

// tryLock tries to lock a file. The result held reports that another process has a lock that excludes this one.
// An error means that the file system has no locks.
func tryLock(f *os.File, kind int) (held bool, err error) {
	err = syscall.Flock(int(f.Fd()), kind|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// restrictToOwner makes a file readable and writable for its owner only. It may also add rights, because a
// umask may have removed even the owner's rights.
func restrictToOwner(f *os.File) error { return f.Chmod(0o600) }

// hasNoName reports whether an open file was removed.
func hasNoName(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink == 0
}

// isForeign reports whether a file or directory belongs to another user.
func isForeign(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) != os.Geteuid()
}

// isOpen reports whether other users have access to a directory.
func isOpen(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
