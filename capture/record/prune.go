package record

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Limits say how long captures are kept in a directory, and how many bytes of them. Zero is no
// limit.
type Limits struct {
	Age   time.Duration // since the last byte was written
	Bytes int64         // of all of them; the oldest go first
}

// A StoredCapture capture is one in a directory.
type StoredCapture struct {
	Path    string
	Bytes   int64     // with those of what stands beside it
	Written time.Time // the last byte of it
}

// Extension is that of captures.
const Extension = ".tsc"

// List are the captures in a directory, the newest first. One that is not there has none. What else
// is in it, and links, are no captures.
func List(dir string) (list []StoredCapture) {
	all, _ := os.ReadDir(dir) // what was read before an error
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

// CompanionDir is the directory of what belongs to a capture: captures of what else was recorded in its run.
func CompanionDir(path string) string { return strings.TrimSuffix(path, Extension) + ".mcp" }

// MakeCompanionDir makes that directory, for its owner only; leave removes it if nothing came into it.
func MakeCompanionDir(path string) (leave func(), err error) {
	dir := CompanionDir(path)
	_, err = makeDir(dir)
	return func() { os.Remove(dir) }, err
}

// Prune deletes the captures of a directory that are beyond the limits, and returns them. It never
// deletes one that somebody records to or holds, see [Hold], nor for its size the newest one.
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

// removeCapture deletes a capture and what stands beside it, if nobody has it open.
func removeCapture(path string) bool {
	if !removeOne(path) {
		return false
	}
	for _, b := range List(CompanionDir(path)) {
		removeOne(b.Path)
	}
	os.Remove(CompanionDir(path)) // if nothing is left in it
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

// Pin keeps a capture from being deleted, until release is called or the program has ended. Nobody
// can hold one that is being written: that is not deleted anyway, until its writer has closed it.
func Pin(path string) (release func()) {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow|noWait, 0)
	if err != nil {
		return func() {}
	}
	isInUse(f, shared)
	return func() { f.Close() }
}

// IsOpen reports whether somebody is recording to a capture.
func IsOpen(path string) bool { return isLocked(path) }
