package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// mostSaved is how many files of one name are made before that is an error.
const mostSaved = 1000

// saveNew writes a new file of that name to the working directory, for its owner alone. Where one
// is, the new one is called -2, -3, …; none is written over.
func saveNew(name string, data []byte) (path string, err error) {
	ext := filepath.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	for n := 1; n <= mostSaved; n++ {
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
	return "", fmt.Errorf("%d files are called %s already", mostSaved, name)
}
