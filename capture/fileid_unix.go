//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package capture

import (
	"io/fs"
	"syscall"
)

// fileIDOf returns the device and inode numbers of a file, or the zero ID if info doesn't contain them.
func fileIDOf(info fs.FileInfo) fileID {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fileID{uint64(s.Dev), uint64(s.Ino)} // the fields have other types on other systems
	}
	return fileID{}
}
