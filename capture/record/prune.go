package record

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Limits are the maximum age and size of the captures in a directory. Zero means no limit.
type Limits struct {
	Age   time.Duration // since the last byte was written
	Bytes int64         // of all captures; the oldest are deleted first
}

// StoredCapture is a capture in a directory.
type StoredCapture struct {
	Path    string
	Bytes   int64     // including its companion directory
	Written time.Time // time of its last byte
}

// Extension is the extension of captures.
const Extension = ".tsc"

// List returns the captures in a directory, newest first. A missing directory has none. Other files and
// links are not captures.
func List(dir string) (list []StoredCapture) {
	all, _ := os.ReadDir(dir) // the entries read before an error
	for _, e := range all {
		info, err := e.Info()
		if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(e.Name(), Extension) {
			continue
		}
		k := StoredCapture{filepath.Join(dir, e.Name()), info.Size(), info.ModTime()}
		for _, b := range List(CompanionDir(k.Path)) {
			k.Bytes += b.Bytes
		}
		list = append(list, k)
	}
	slices.SortStableFunc(list, func(a, b StoredCapture) int { return b.Written.Compare(a.Written) })
	return list
}

// CompanionDir returns the directory of the other captures of a capture's run.
func CompanionDir(path string) string { return strings.TrimSuffix(path, Extension) + ".mcp" }

// MakeCompanionDir creates that directory, for its owner only. leave removes it if it is empty.
func MakeCompanionDir(path string) (leave func(), err error) {
	dir := CompanionDir(path)
	_, err = makeDir(dir)
	return func() { os.Remove(dir) }, err
}

// Prune deletes the captures of a directory that exceed the limits, and returns them. It never deletes a
// capture that is being written or pinned, see [Pin]. The newest one is never deleted for its size.
func Prune(dir string, l Limits, now time.Time) (gone []StoredCapture) {
	var bytes int64
	for i, k := range List(dir) {
		bytes += k.Bytes
		old := l.Age > 0 && now.Sub(k.Written) > l.Age
		if (old || i > 0 && l.Bytes > 0 && bytes > l.Bytes) && removeCapture(k.Path) {
			bytes -= k.Bytes
			gone = append(gone, k)
		}
	}
	return gone
}

// removeCapture deletes a capture and its companion directory, if no program has the capture open.
func removeCapture(path string) bool {
	if !removeOne(path) {
		return false
	}
	for _, b := range List(CompanionDir(path)) {
		removeOne(b.Path)
	}
	os.Remove(CompanionDir(path)) // if it is empty
	return true
}

func removeOne(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR|noFollow|noWait, 0)
	if err != nil {
		return false
	}
	inUse := isInUse(f, exclusive)
	if inUse || mustClose {
		f.Close()
	}
	if inUse {
		return false
	}
	err = os.Remove(path)
	f.Close()
	return err == nil
}

// Pin protects a capture from Prune, until release is called or the program has ended. A capture that is
// being written can't be pinned: it is protected anyway, until its writer has closed it.
func Pin(path string) (release func()) {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow|noWait, 0)
	if err != nil {
		return func() {}
	}
	isInUse(f, shared)
	return func() { f.Close() }
}

// IsOpen reports whether a program is recording to a capture.
func IsOpen(path string) bool { return isLocked(path) }
