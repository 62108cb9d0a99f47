package capture

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func TestCreate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.jsonl")
	w, err := Create(path, noon, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(Record{Exchange: 1, Data: []byte("a"), End: EndEOF}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
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

// A record that follows a torn one is not torn with it.
func TestWriterAfterTornLine(t *testing.T) {
	disk := &flaky{fails: func(n int) bool { return n == 2 }}
	w, err := NewWriter(disk, noon, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(Record{Exchange: 1, Data: []byte("a")}); err == nil {
		t.Error("no error")
	}
	if err := w.Write(Record{Exchange: 1, Data: []byte("b"), End: EndEOF}); err != nil {
		t.Error(err)
	}
	recs := readBack(t, disk.String())
	if len(recs) != 2 || !strings.HasPrefix(recs[0].Note, "damaged line 2") || string(recs[1].Data) != "b" {
		t.Errorf("%+v", recs)
	}
}

func TestWriterRefusesNumberless(t *testing.T) {
	w, err := NewWriter(io.Discard, noon, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(Record{Data: []byte("a")}); err == nil {
		t.Error("a record of no exchange was written")
	}
}

// Lines of several goroutines never mix.
func TestWriterConcurrent(t *testing.T) {
	var file bytes.Buffer
	w, err := NewWriter(&file, noon, "test")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for x := range 4 {
		all.Go(func() {
			for range 50 {
				_ = w.Write(Record{Exchange: x + 1, Data: []byte(strings.Repeat("z", 100))})
			}
		})
	}
	all.Wait()
	n := 0
	for _, r := range readBack(t, file.String()) {
		if r.Note != "" {
			t.Fatal(r.Note)
		}
		n += len(r.Data)
	}
	if n != 4*50*100 {
		t.Errorf("%d bytes", n)
	}
}
