package coding

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// bomb compresses random bytes followed by zeros. The parameters noise and zeros are their sizes in megabytes.
func bomb(t testing.TB, noise, zeros int, open func(io.Writer) io.WriteCloser) []byte {
	t.Helper()
	var b bytes.Buffer
	w := open(&b)
	part, random := make([]byte, 1<<20), rand.NewChaCha8([32]byte{})
	for n := range noise + zeros {
		if clear(part); n < noise {
			_, _ = random.Read(part)
		}
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// unpacked decodes wire in pieces of the given size. It returns only the size of the output.
func unpacked(t testing.TB, h map[string][]string, wire []byte, piece int) (size int, err error) {
	t.Helper()
	c, err := New(h)
	if err != nil {
		t.Fatal(err)
	}
	for ; len(wire) > 0 && err == nil; wire = wire[min(piece, len(wire)):] {
		var out []byte
		out, err = c.Write(wire[:min(piece, len(wire))])
		size += len(out)
	}
	rest, last := c.Close()
	if err == nil {
		err = last
	}
	return size + len(rest), err
}

func quickly(w io.Writer) io.WriteCloser { z, _ := gzip.NewWriterLevel(w, 1); return z }

// TestBombs checks the maximum size of a body: 10 MiB or 100 times the encoded size, whichever is larger, and at most
// 256 MiB. The limit is the same for every coding and every split.
func TestBombs(t *testing.T) {
	gz := bomb(t, 0, 40, gzipped)
	after := bomb(t, 1, 110, quickly)
	for _, test := range []struct {
		what   string
		header map[string][]string
		wire   []byte
		least  int
		most   int
	}{
		{"gzip", header("Content-Encoding", "gzip"), gz, freeBody, freeBody},
		{"gzip in a file", nil, gz, freeBody, freeBody},
		{"deflate", header("Content-Encoding", "deflate"), bomb(t, 0, 40, zlibbed), freeBody, freeBody},
		{"br", header("Content-Encoding", "br"), bomb(t, 0, 40, brotlied), freeBody, freeBody},
		{"zstd", header("Content-Encoding", "zstd"), bomb(t, 0, 40, zstandard), freeBody, freeBody},
		{"gzip in gzip", header("Content-Encoding", "gzip, gzip"), pack(t, bomb(t, 0, 400, quickly), gzipped), freeBody, freeBody},
		{"gzip in chunks", header("Transfer-Encoding", "chunked", "Content-Encoding", "gzip"), inChunks(gz, 1000), freeBody, freeBody},
		{"zeros behind noise", header("Content-Encoding", "gzip"), after, maxRatio << 20, maxRatio * (len(after) + stepBytes)},
		{"more than any body", header("Content-Encoding", "gzip"), bomb(t, 3, 260, quickly), maxBody, maxBody},
	} {
		sizes := map[int]bool{}
		for _, piece := range []int{1000, 64 << 10} {
			size, err := unpacked(t, test.header, test.wire, piece)
			if !errors.Is(err, ErrExpands) || size < test.least || size > test.most {
				t.Errorf("%s, in pieces of %d: %d bytes, %v", test.what, piece, size, err)
			}
			sizes[size] = true
		}
		if len(sizes) != 1 {
			t.Errorf("%s: it depends on how it is cut: %v", test.what, sizes)
		}
	}
}

// TestBigBodies checks that a large body within the limits is decoded completely.
func TestBigBodies(t *testing.T) {
	var events []byte
	for n := range 200_000 {
		events = fmt.Appendf(events, "data: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"%d\"}}\n\n", n)
	}
	for _, test := range []struct {
		coding string
		wire   []byte
		size   int
	}{
		{"gzip", bomb(t, 0, 10, gzipped), 10 << 20},
		{"zstd", bomb(t, 0, 10, zstandard), 10 << 20},
		{"gzip", bomb(t, 1, 90, quickly), 91 << 20},
		{"br", pack(t, events, brotlied), len(events)},
	} {
		size, err := unpacked(t, header("Content-Encoding", test.coding), test.wire, 64<<10)
		if err != nil || size != test.size {
			t.Errorf("%s: %d bytes of %d, %v", test.coding, size, test.size, err)
		}
	}
}

// TestCodedTooOften checks that the number of codings is limited, because each coding needs memory.
func TestCodedTooOften(t *testing.T) {
	if _, err := New(header("Content-Encoding", strings.Repeat("zstd, ", maxCodings+1))); err == nil || !strings.Contains(err.Error(), "6 codings") {
		t.Error(err)
	}
}

// TestWindow checks that a frame of a few bytes can't request a window of a hundred megabytes.
func TestWindow(t *testing.T) {
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b, zstd.WithWindowSize(128<<20), zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range [][]byte{body, body} { // flushed after each part, so that the encoder doesn't know the total size
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err = unpacked(t, header("Content-Encoding", "zstd"), b.Bytes(), b.Len())
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; err == nil || took > 4<<20 {
		t.Errorf("%v, and it took %d bytes", err, took)
	}
}
