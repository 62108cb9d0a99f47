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

// maxSavedFiles is the maximum number of files with one name.
const maxSavedFiles = 1000

// saveNew writes a new file to the working directory that only its owner can read. If the name is taken, the
// file is called -2, -3, …; no file is overwritten.
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
	return "", fmt.Errorf("%d files named %s exist already", maxSavedFiles, name)
}

// saveHere is like saveNew, but returns the absolute path.
func saveHere(name string, data []byte) (path string, err error) {
	if path, err = saveNew(name, data); err != nil {
		return path, err
	}
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	return path, nil
}

// saveAs writes a file that only its owner can read. replace allows it to replace a file, once the new one is
// complete. After an error, the new file is removed.
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

// openNew creates the file or, if it exists and may be replaced, a file next to it.
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
		return nil, fmt.Errorf("-o %s: not a regular file\nleave -o out to write to standard output", path)
	case !replace:
		return nil, fmt.Errorf("-o %s: the file exists\nuse --force to overwrite it", path)
	}
	f, err = os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	return f, atFile(path, err)
}

// atFile adds the path to an error.
func atFile(path string, err error) error {
	if err != nil {
		err = fmt.Errorf("-o %s: %w", path, capture.WithoutPath(err))
	}
	return err
}

// writeOwn writes a file of toolscope's own; readers never see it incomplete.
func writeOwn(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*") // readable only by its owner
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

// saveInto writes a new file into a folder, which is created if needed. A file with the same content is left
// as it is.
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
		return path, fmt.Errorf("%s: another file has this name", path)
	}
	if err != nil {
		return path, err
	}
	_, err = f.Write(data)
	return path, errors.Join(err, f.Close())
}
