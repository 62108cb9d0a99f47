//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows)

package record

import (
	"errors"
	"io/fs"
	"os"
)

// These systems have no file locks. The existence of a file still keeps a second writer out.
const (
	noFollow  = 0
	noWait    = 0
	atEnd     = 0
	exclusive = 0
	shared    = 0
	mustClose = false
)

func tryLock(*os.File, int) (held bool, err error) { return false, errors.ErrUnsupported }

func restrictToOwner(f *os.File) error { return f.Chmod(0o600) }
func hasNoName(fs.FileInfo) bool       { return false }
func isForeign(fs.FileInfo) bool       { return false }

func isOpen(info fs.FileInfo) bool { return info.Mode().Perm()&0o077 != 0 }
