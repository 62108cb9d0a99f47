//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package capture

import "io/fs"

// fileIDOf returns the same for all files: here the system tells files apart only when it is asked.
func fileIDOf(fs.FileInfo) fileID { return fileID{} }
