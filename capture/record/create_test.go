//go:build linux

package record

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"toolscope/capture"
)

// TestModes checks that the modes don't depend on the umask. The umask belongs to the whole process, so these tests
// must not run in parallel with others.
func TestModes(t *testing.T) {
	for _, umask := range []int{0, 0o022, 0o777} {
		old := syscall.Umask(umask)
		dir := filepath.Join(t.TempDir(), "a", "b")
		if umask == 0o777 {
			dir = filepath.Dir(filepath.Dir(dir)) // only one new directory
			dir = filepath.Join(dir, "c")
		}
		r, warning, err := CreateIn(dir, "x.tsc", noon, "test")
		syscall.Umask(old)
		if err != nil || warning != "" {
			t.Fatalf("umask %o: %q, %v", umask, warning, err)
		}
		r.Close(context.Background())
		for path, want := range map[string]fs.FileMode{dir: 0o700, filepath.Join(dir, "x.tsc"): 0o600} {
			if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
				t.Errorf("umask %o: %s has mode %v, want %v (%v)", umask, path, info.Mode(), want, err)
			}
		}
	}
}

func TestLooseDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	r, warning, err := CreateIn(dir, "x.tsc", noon, "test")
	if err != nil || warning != dir+" is open to other users (mode 0755); to close it, run chmod 700" {
		t.Fatalf("%q, %v", warning, err)
	}
	r.Close(context.Background())
	if info, _ := os.Stat(dir); info.Mode().Perm() != 0o755 {
		t.Errorf("the mode was changed to %v", info.Mode())
	}
}

func TestCreateInRefuses(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "target")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Symlink(outside, filepath.Join(dir, "link")))
	must(os.WriteFile(filepath.Join(dir, "file"), []byte("kept"), 0o600))
	must(syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o600))
	for name, want := range map[string]string{
		"link": "file exists", "file": "file exists", "pipe": "file exists",
		"../x": "not a file name", "a/b": "not a file name",
	} {
		if _, _, err := CreateIn(dir, name, noon, "test"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := os.Lstat(outside); !errors.Is(err, fs.ErrNotExist) {
		t.Error("it went through the link")
	}
	if kept, _ := os.ReadFile(filepath.Join(dir, "file")); string(kept) != "kept" {
		t.Error("it wrote over a file")
	}
	if _, _, err := CreateIn(filepath.Join(dir, "file"), "x", noon, "test"); err == nil || !strings.HasSuffix(err.Error(), "this is not a directory") {
		t.Errorf("in a file: %v", err)
	}
}

func TestTwoWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.tsc")
	first, err := Create(path, noon, "test")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Create(path, noon, "test")
	want := "create " + path + ": another program records to this file: file already exists"
	if err == nil || err.Error() != want || !errors.Is(err, fs.ErrExist) {
		t.Errorf("second writer: %v", err)
	}
	put(first, capture.Record{Exchange: 1, Data: []byte("a"), End: capture.EndEOF})
	if err := first.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	if _, err = Create(path, noon, "test"); err == nil || strings.Contains(err.Error(), "another program") {
		t.Errorf("after the first writer: %v", err)
	}
	src, err := capture.Open(context.Background(), path, capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	expect(t, outline(collect(t, src)), `1 1 bytes eof`)
}

const fullEnv = "TOOLSCOPE_TEST_FULL"

// TestFileLimit checks that, if a child may write at most 64 KiB to a file and records more, the file has as many
// complete lines as fit.
func TestFileLimit(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.tsc")
	child := exec.Command(os.Args[0], "-test.run=^TestFileLimitChild$")
	child.Env = append(os.Environ(), fullEnv+"="+path)
	if out, err := child.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	checkFull(t, path, "file too large")
}

func TestFileLimitChild(t *testing.T) {
	path := os.Getenv(fullEnv)
	if path == "" {
		t.Skip("runs as a child")
	}
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: 64 << 10, Max: 64 << 10}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	overfill(t, path)
}

// TestSmallFileSystem checks that, on a file system of 128 KiB with more to record, the file has as many complete
// lines as fit.
func TestSmallFileSystem(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=128k"); err != nil {
		t.Skip(err)
	}
	defer syscall.Unmount(dir, 0)
	path := filepath.Join(dir, "x.tsc")
	overfill(t, path)
	checkFull(t, path, "no space left on device")
}

// overfill records 400 chunks of 1 KB.
func overfill(t *testing.T, path string) {
	t.Helper()
	r, err := Create(path, noon, "test")
	if err != nil {
		t.Fatal(err)
	}
	for range 400 {
		put(r, chunkOf(1, 1000))
	}
	put(r, capture.Record{Exchange: 1, End: capture.EndEOF})
	if err := r.Close(context.Background()); err == nil || !strings.Contains(err.Error(), "the capture has gaps") {
		t.Errorf("close: %v", err)
	}
	if n := r.State(); n.Bytes+n.Lost != 400_000 {
		t.Errorf("%+v", n)
	}
}

// checkFull reads the recorded part. It must have only complete lines, as many as there was room for.
func checkFull(t *testing.T, path, why string) {
	t.Helper()
	src, err := capture.Open(context.Background(), path, capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, r := range collect(t, src) {
		if strings.HasPrefix(r.Note, "damaged") || r.Note != "" && !strings.Contains(r.Note, why) {
			t.Error(r.Note)
		}
		n += len(r.Data)
	}
	if n < 50_000 || n > 131_072 {
		t.Errorf("%d bytes", n)
	}
}
