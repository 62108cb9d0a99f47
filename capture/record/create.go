package record

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"toolscope/capture"
)

// Create begins a capture in a new file that only its owner may read, whatever the umask. It never writes
// to an existing file or symbolic link. The file is locked while it is being written, so that a second
// writer gets an error.
//
// Written bytes go to the operating system at once, and survive any end of the program. They are forced
// to the disk only when the capture is closed. A power failure may lose bytes that the system had not
// written yet; checksums show whether the rest is undamaged.
func Create(path string, created time.Time, by string) (*Recorder, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|noFollow, 0o600)
	if errors.Is(err, fs.ErrExist) && isLocked(path) {
		return nil, fmt.Errorf("create %s: another program records to it: %w", path, fs.ErrExist)
	}
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", path, capture.WithoutPath(err))
	}
	w, err := openCapture(f, created, by)
	if err != nil {
		f.Close()
		os.Remove(path)
		return nil, fmt.Errorf("create %s: %w", path, capture.WithoutPath(err))
	}
	return startRecorder(w, maxQueueBytes), nil
}

func openCapture(f *os.File, created time.Time, by string) (*writer, error) {
	if err := restrictToOwner(f); err != nil {
		return nil, err
	}
	if err := lockForWriting(f); err != nil {
		return nil, err
	}
	w, err := newWriter(f, created, by)
	if err != nil {
		return nil, err
	}
	w.file = true
	return w, nil
}

// CreateIn begins a capture of that name in a directory, as Create does. It creates a missing directory,
// for its owner only. It does not change an existing directory: warning reports one that is open to other
// users, or belongs to one.
func CreateIn(dir, name string, created time.Time, by string) (r *Recorder, warning string, err error) {
	if name != filepath.Base(name) {
		return nil, "", fmt.Errorf("create %s in %s: not a file name", name, dir)
	}
	warning, err = makeDir(dir)
	if err != nil {
		return nil, "", err
	}
	r, err = Create(filepath.Join(dir, name), created, by)
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
		case !errors.Is(err, fs.ErrExist): // another program may have been faster
			return "", fmt.Errorf("create %s: %w", dir, capture.WithoutPath(err))
		}
		info, err = os.Stat(dir)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("create %s: %w", dir, capture.WithoutPath(err))
	case !info.IsDir():
		return "", fmt.Errorf("create %s: it exists and is not a directory", dir)
	case isForeign(info):
		return fmt.Sprintf("%s belongs to another user", dir), nil
	case isOpen(info):
		return fmt.Sprintf("%s is open to others (mode %04o); to close it, run chmod 700", dir, info.Mode().Perm()), nil
	}
	return "", nil
}
