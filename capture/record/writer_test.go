package record

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"toolscope/capture"
)

func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.jsonl")
	r, err := Create(path, noon, "test")
	if err != nil {
		t.Fatal(err)
	}
	put(r, capture.Record{Exchange: 1, Data: []byte("a"), End: capture.EndEOF})
	if err := r.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if _, err := Create(path, noon, "test"); !errors.Is(err, fs.ErrExist) || !strings.HasPrefix(err.Error(), "create "+path+": ") {
		t.Errorf("over an existing file: %v", err)
	}
	link := path + ".link"
	if err := os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), link); err != nil {
		t.Skip(err)
	}
	if _, err := Create(link, noon, "test"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("through a symbolic link: %v", err)
	}
}

// flaky fails in the middle of chosen writes.
type flaky struct {
	bytes.Buffer
	writes int
	fails  func(write int) bool
}

func (f *flaky) Write(p []byte) (int, error) {
	f.writes++
	if f.fails(f.writes) {
		n, _ := f.Buffer.Write(p[:len(p)/2])
		return n, io.ErrShortWrite
	}
	return f.Buffer.Write(p)
}

// TestWriterAfterTornLine checks that a record after an incomplete line is not damaged.
func TestWriterAfterTornLine(t *testing.T) {
	disk := &flaky{fails: func(n int) bool { return n == 2 }}
	w, err := newWriter(disk, noon, "test", "")
	if err != nil {
		t.Fatal(err)
	}
	for i, data := range []string{"a", "b", "c"} {
		line, err := capture.EncodeRecord(capture.Record{Exchange: 1, Data: []byte(data), End: capture.EndEOF})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.write(line); (err != nil) != (i == 0) {
			t.Error(i, err)
		}
	}
	recs := readBack(t, disk.String())
	if len(recs) != 3 || !strings.HasPrefix(recs[0].Note, "damaged line 2") || string(recs[1].Data) != "b" || strings.Contains(disk.String(), "\n\n") {
		t.Errorf("%+v\n%s", recs, disk.String())
	}
}
