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
//
// If another program removes, truncates or replaces the file while it is written, the recorder reports that
// and continues in a new file, see [State].
func Create(path string, created time.Time, by string) (*Recorder, error) {
	return createFile(&captureFile{first: path, created: created, by: by})
}

func createFile(c *captureFile) (*Recorder, error) {
	w, err := c.open(c.first)
	if err != nil {
		return nil, err
	}
	r := newRecorder(w, maxQueueBytes)
	r.file, r.state.Path, r.content.open = c, c.path, map[int]*openContent{}
	go r.writeAll()
	return r, nil
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
		return fmt.Sprintf("%s is open to other users (mode %04o); to close it, run chmod 700", dir, info.Mode().Perm()), nil
	}
	return "", nil
}
