package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolscope/capture"
)

// Create begins a capture in a new file that only its owner may read, whatever the umask. It never writes to
// an existing file or symbolic link. The file is locked while it is being written, so that a second writer
// gets an error.
//
// Written bytes go to the operating system at once, and survive even a crash of the program. They are forced to the
// disk only when the capture is closed. A power failure may lose bytes that the system had not written yet;
// checksums show whether the rest is undamaged.
//
// If another program removes, truncates or replaces the file while it is written, the recorder reports that
// and continues in a new file; see [State].
func Create(path string, created time.Time, by string) (*Recorder, error) {
	return createFile(&captureFile{first: path, created: created, by: by})
}

func createFile(c *captureFile) (*Recorder, error) {
	c.dir, _ = os.Getwd() // without a working folder, the capture doesn't name one
	w, err := c.open(c.first)
	if err != nil {
		return nil, err
	}
	r := newRecorder(w, maxQueueBytes)
	r.file, r.state.Path, r.content.open = c, c.path, map[int]*openContent{}
	go r.writeAll()
	return r, nil
}

func openCapture(f *os.File, c *captureFile) (*writer, error) {
	if err := restrictToOwner(f); err != nil {
		return nil, err
	}
	if err := lockForWriting(f); err != nil {
		return nil, err
	}
	w, err := newWriter(f, c.created, c.by, c.dir)
	if err != nil {
		return nil, err
	}
	w.file = true
	return w, nil
}

// CreateIn begins a capture with this name in a directory, as Create does. It creates a missing directory, for
// its owner only. It does not change an existing directory. The result warning reports a directory that is open
// to other users, or belongs to another user.
func CreateIn(dir, name string, created time.Time, by string) (r *Recorder, warning string, err error) {
	if name != filepath.Base(name) {
		return nil, "", fmt.Errorf("create %s in %s: not a file name", name, dir)
	}
	warning, err = makeDir(dir)
	if err != nil {
		return nil, "", err
	}
	r, err = createFile(&captureFile{first: filepath.Join(dir, name), makesDir: true, created: created, by: by})
	return r, warning, err
}

func makeDir(dir string) (warning string, err error) {
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		if parent := filepath.Dir(dir); parent != dir {
			if _, err := makeDir(parent); err != nil {
				return "", err
			}
		}
		switch err = os.Mkdir(dir, 0o700); {
		case err == nil:
			if err := os.Chmod(dir, 0o700); err != nil {
				return "", fmt.Errorf("create %s: %w", dir, capture.WithoutPath(err))
			}
			return "", nil
		case !errors.Is(err, fs.ErrExist): // another program may have created it meanwhile
			return "", fmt.Errorf("create %s: %w", dir, capture.WithoutPath(err))
		}
		info, err = os.Stat(dir)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("create %s: %w", dir, capture.WithoutPath(err))
	case !info.IsDir():
		return "", fmt.Errorf("create %s: this is not a directory", dir)
	case isForeign(info):
		return fmt.Sprintf("%s belongs to another user", dir), nil
	case isOpen(info):
		return fmt.Sprintf("%s is open to other users (mode %04o); to close it, run chmod 700", dir, info.Mode().Perm()), nil
	}
	return "", nil
}

// lockForWriting keeps other writers out until f is closed or the program ends. On a file system without locks, it
// always succeeds.
func lockForWriting(f *os.File) error {
	for tries := 0; isInUse(f, exclusive); tries++ {
		if tries == 50 {
			return errors.New("another program records to this file")
		}
		time.Sleep(time.Millisecond) // isLocked in another program may hold the lock for a moment
	}
	return nil
}

// isLocked reports whether another program is writing to a capture. It returns false for a file that it can't open.
func isLocked(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow|noWait, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	return isInUse(f, shared)
}

// isInUse tries to lock a file. It reports whether another process has a lock that prevents this. On a file system
// without locks, it returns false.
func isInUse(f *os.File, kind int) bool {
	held, _ := tryLock(f, kind)
	return held
}

// LockDir reserves a folder for one program, until release is called or the program has ended. It creates a
// missing folder. The result ok is false if another program has reserved the folder. On a file system without
// locks, ok is always true.
func LockDir(dir string) (release func(), ok bool, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, false, err
	}
	f, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR|os.O_CREATE|noFollow|noWait, 0o600)
	if err != nil {
		return nil, false, err
	}
	if isInUse(f, exclusive) {
		f.Close()
		return nil, false, nil
	}
	return func() { f.Close() }, true, nil
}

// HasRoom checks whether a folder has room for size bytes, by writing them to a file that it then removes. If there
// is no room, the error gives the reason.
func HasRoom(dir string, size int) error {
	path := filepath.Join(dir, ".room")
	os.Remove(path) // a killed program may have left the file
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if err != nil {
		return err
	}
	defer os.Remove(path)
	defer f.Close()
	_, err = f.Write(make([]byte, size))
	return err
}

// Limits are the maximum age and size of the captures in a directory. Zero means no limit.
type Limits struct {
	Age   time.Duration // maximum time since the last byte was written
	Bytes int64         // maximum size of all captures; the oldest are deleted first
}

// StoredCapture is a capture in a directory.
type StoredCapture struct {
	Path    string
	Bytes   int64     // including its companion directory
	Written time.Time // time of its last byte
}

// Extension is the extension of captures.
const Extension = ".tsc"

// List returns the captures in a directory, newest first. A missing directory has no captures. List ignores
// other files and links.
func List(dir string) (list []StoredCapture) {
	all, _ := os.ReadDir(dir) // after an error, the entries that were read before it
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

// CompanionDir returns the directory with the other captures from a capture's run.
func CompanionDir(path string) string { return strings.TrimSuffix(path, Extension) + ".mcp" }

// MakeCompanionDir creates the companion directory of a capture, for its owner only. The result leave is a function
// that removes the directory if it is empty.
func MakeCompanionDir(path string) (leave func(), err error) {
	dir := CompanionDir(path)
	_, err = makeDir(dir)
	return func() { os.Remove(dir) }, err
}

// Prune deletes the captures in a directory that exceed the limits, and returns them. On a file system with
// locks, it never deletes a capture that is being written or is pinned; see [Pin]. The newest capture is
// never deleted because of its size.
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

// removeCapture deletes a capture and its companion directory, if no program has a lock on the capture. It
// reports whether it deleted the capture.
func removeCapture(path string) bool {
	if !removeOne(path) {
		return false
	}
	for _, b := range List(CompanionDir(path)) {
		removeOne(b.Path)
	}
	os.Remove(CompanionDir(path)) // removes only an empty directory
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
// being written can't be pinned: it is protected anyway, until its writer has closed it. Pin does nothing if
// the capture can't be opened.
func Pin(path string) (release func()) {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow|noWait, 0)
	if err != nil {
		return func() {}
	}
	isInUse(f, shared)
	return func() { f.Close() }
}

// IsOpen reports whether a program is recording to a capture. It follows symbolic links.
func IsOpen(path string) bool {
	if file, err := filepath.EvalSymlinks(path); err == nil {
		path = file
	}
	return isLocked(path)
}
