//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package capture

import (
	"io/fs"
	"os"
)

// Where there are no such locks, a second writer is still kept out by the file's existence.
const noFollow = 0

func lock(*os.File) error        { return nil }
func isLocked(string) bool       { return false }
func isForeign(fs.FileInfo) bool { return false }
