package capture

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// pack compresses text with every method that Go can write.
func pack(t testing.TB, text string) map[string][]byte {
	all := map[string][]byte{}
	for name, make := range map[string]func(io.Writer) io.WriteCloser{
		"gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"zlib": func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) },
		"zstd": func(w io.Writer) io.WriteCloser {
			e, err := zstd.NewWriter(w)
			if err != nil {
				t.Fatal(err)
			}
			return e
		},
	} {
		var packed bytes.Buffer
		w := make(&packed)
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		w.Close()
		all[name] = packed.Bytes()
	}
	return all
}

// TestPacked checks that compressed data is read as the original data, from a file and from a pipe that returns one
// byte at a time. The head names the compression.
func TestPacked(t *testing.T) {
	text := strings.Repeat("data: {\"n\":1}\n\n", 9000)
	for name, data := range pack(t, text) {
		path := filepath.Join(t.TempDir(), "log")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, o := range []Options{{}, {Follow: true}} {
			src, err := Open(t.Context(), path, o)
			if err != nil {
				t.Fatal(err)
			}
			checkPacked(t, name, src, text)
		}
		src, err := Open(t.Context(), "-", Options{Stdin: iotest.OneByteReader(bytes.NewReader(data))})
		if err != nil {
			t.Fatal(err)
		}
		checkPacked(t, name, src, text)
	}
}

func checkPacked(t *testing.T, name string, src Source, want string) {
	t.Helper()
	var got strings.Builder
	peeled, end := "", End("")
	for r, err := range src {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r.Location.File != nil {
			t.Errorf("%s: a record has a place", name)
		}
		if r.Head != nil {
			peeled = r.Head.Wrappers
		}
		got.Write(r.Data)
		end += r.End
	}
	if got.String() != want || peeled != name || end != EndEOF {
		t.Errorf("%s: %d bytes of %d, peeled %q, end %q", name, got.Len(), len(want), peeled, end)
	}
}

// TestBzip2 checks that data compressed with bzip2, which Go can't write, is read as the original data.
func TestBzip2(t *testing.T) {
	cmd := exec.Command("bzip2", "-c")
	cmd.Stdin = strings.NewReader("data: 1\n\n")
	data, err := cmd.Output()
	if err != nil {
		t.Skip("no bzip2 here: ", err)
	}
	src, err := Open(t.Context(), "-", Options{Stdin: bytes.NewReader(data)})
	if err != nil {
		t.Fatal(err)
	}
	checkPacked(t, "bzip2", src, "data: 1\n\n")
}

// TestPackedDamage checks that compressed data that breaks off at any byte, or was changed, is read up to the damage,
// followed by a note about it. Damage is not a read error.
func TestPackedDamage(t *testing.T) {
	text := strings.Repeat("data: {\"n\":1}\n\n", 50)
	for name, data := range pack(t, text) {
		for n := 8; n < len(data); n++ {
			var got strings.Builder
			damaged := false
			src, err := Open(t.Context(), "-", Options{Stdin: bytes.NewReader(data[:n])})
			if err != nil {
				t.Fatal(err)
			}
			for r, err := range src {
				if err != nil {
					t.Fatalf("%s cut at %d: %v", name, n, err)
				}
				got.Write(r.Data)
				damaged = damaged || r.Damaged && strings.Contains(r.Note, name)
			}
			if !strings.HasPrefix(text, got.String()) || !damaged {
				t.Errorf("%s cut at %d: %d bytes, damaged %v", name, n, got.Len(), damaged)
			}
		}
	}
}

// TestNotPacked checks that data that begins a little like compressed data is read unchanged.
func TestNotPacked(t *testing.T) {
	for _, text := range []string{"", "\x1f", "\x1f\x8b", "B", "BZ", "x", "x^2", "\x28\xb5"} {
		src, err := Open(t.Context(), "-", Options{Stdin: iotest.OneByteReader(strings.NewReader(text))})
		if err != nil {
			t.Fatal(err)
		}
		checkPacked(t, "", src, text)
	}
}
