package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"toolscope/capture"
)

// maxSavedFiles is how many files of one name are made before that is an error.
const maxSavedFiles = 1000

// saveNew writes a new file of that name to the working directory, for its owner alone. Where one
// is, the new one is called -2, -3, …; none is written over.
func saveNew(name string, data []byte) (path string, err error) {
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	for n := 1; n <= maxSavedFiles; n++ {
		if path = name; n > 1 {
			path = fmt.Sprintf("%s-%d%s", stem, n, ext)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = f.Write(append(data[:len(data):len(data)], '\n'))
		if err = errors.Join(err, f.Close()); err != nil {
			return "", errors.Join(err, os.Remove(path))
		}
		return path, nil
	}
	return "", fmt.Errorf("%d files are called %s already", maxSavedFiles, name)
}

// saveHere is saveNew, and says in which folder the file is.
func saveHere(name string, data []byte) (path string, err error) {
	if path, err = saveNew(name, data); err != nil {
		return path, err
	}
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	return path, nil
}

// saveAs has write fill a file of that name, for its owner alone. It is a new one, or, if it may
// replace one, it does that once it is whole: of what fails nothing is left.
func saveAs(path string, replace bool, write func(io.Writer) error) error {
	f, err := openNew(path, replace)
	if err != nil {
		return err
	}
	b := bufio.NewWriterSize(f, 64<<10)
	err = write(b)
	if err == nil {
		err = atFile(path, errors.Join(b.Flush(), f.Close()))
	} else {
		f.Close()
	}
	if err == nil && f.Name() != path {
		err = atFile(path, os.Rename(f.Name(), path))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// openNew makes the file of that name, or, if there is one that may be replaced, a file beside it.
func openNew(path string, replace bool) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if !errors.Is(err, fs.ErrExist) {
		return f, atFile(path, err)
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return nil, atFile(path, err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("-o %s: there is something that is no file\nwithout -o it goes to standard output", path)
	case !replace:
		return nil, fmt.Errorf("-o %s: the file exists\n--force replaces it", path)
	}
	f, err = os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	return f, atFile(path, err)
}

func atFile(path string, err error) error {
	if err != nil {
		err = fmt.Errorf("-o %s: %w", path, capture.WithoutPath(err))
	}
	return err
}

// writeOwn writes a file of toolscope's own, which is never seen half written.
func writeOwn(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // for its owner alone
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}

// saveInto writes a new file into a folder, which is made where there is none. One that is there
// already and holds the same is left as it is.
func saveInto(dir, name string, data []byte) (path string, err error) {
	path = filepath.Join(dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return path, err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if there, _ := os.ReadFile(path); bytes.Equal(there, data) {
			return path, nil
		}
		return path, fmt.Errorf("%s: there is another file of that name", path)
	}
	if err != nil {
		return path, err
	}
	_, err = f.Write(data)
	return path, errors.Join(err, f.Close())
}
