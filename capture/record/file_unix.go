//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package record

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// Flags of a file to open: what neither follows a symbolic link nor waits for the other end of a
// named pipe.
const (
	noFollow = syscall.O_NOFOLLOW
	noWait   = syscall.O_NONBLOCK
)

// Kinds of lock.
const (
	exclusive = syscall.LOCK_EX
	shared    = syscall.LOCK_SH
)

// mustClose says that a file can be deleted only when it is not open.
const mustClose = false

// tryLock takes a lock of a file, unless somebody else has one that excludes it. The error is that of
// a file system that has no locks.
func tryLock(f *os.File, kind int) (held bool, err error) {
	err = syscall.Flock(int(f.Fd()), kind|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// restrictToOwner leaves a file to its owner alone: a umask may have taken even the owner's rights.
func restrictToOwner(f *os.File) error { return f.Chmod(0o600) }

// isForeign reports whether a file or directory belongs to somebody else.
func isForeign(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) != os.Geteuid()
}

// isOpen reports whether others may look into a directory.
func isOpen(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
