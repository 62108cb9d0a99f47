package coding

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// body is long enough to need several chunks and blocks.
var body = []byte(strings.Repeat("data: {\"type\":\"ping\",\"n\":1}\n\n", 40))

// pack compresses p. It flushes halfway, like a server that streams.
func pack(t testing.TB, p []byte, open func(io.Writer) io.WriteCloser) []byte {
	var b bytes.Buffer
	w := open(&b)
	for _, part := range [][]byte{p[:len(p)/3], p[len(p)/3:]} {
		if _, err := w.Write(part); err != nil {
			t.Fatal(err)
		}
		if err := w.(interface{ Flush() error }).Flush(); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func gzipped(w io.Writer) io.WriteCloser  { return gzip.NewWriter(w) }
func brotlied(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }
func zlibbed(w io.Writer) io.WriteCloser  { return zlib.NewWriter(w) }
func deflated(w io.Writer) io.WriteCloser { f, _ := flate.NewWriter(w, 6); return f }
func zstandard(w io.Writer) io.WriteCloser {
	z, _ := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
	return z
}

// inChunks applies chunked coding.
func inChunks(p []byte, size int) (out []byte) {
	for ; len(p) > 0; p = p[min(size, len(p)):] {
		part := p[:min(size, len(p))]
		out = fmt.Appendf(out, "%X;note=1\r\n%s\r\n", len(part), part)
	}
	return append(out, "0\r\nX-Trailer: 1\r\n\r\n"...)
}

func header(pairs ...string) map[string][]string {
	h := map[string][]string{}
	for i := 0; i < len(pairs); i += 2 {
		h[pairs[i]] = append(h[pairs[i]], pairs[i+1])
	}
	return h
}

// decode writes wire in pieces of the given size. If the size is 0, it writes everything at once.
func decode(t testing.TB, h map[string][]string, wire []byte, piece int) (got []byte, name string, err error) {
	t.Helper()
	c, err := New(h)
	if err != nil {
		t.Fatal(err)
	}
	if piece == 0 {
		piece = max(1, len(wire))
	}
	for ; len(wire) > 0 && err == nil; wire = wire[min(piece, len(wire)):] {
		var out []byte
		out, err = c.Write(wire[:min(piece, len(wire))])
		got = append(got, out...)
	}
	rest, last := c.Close()
	if err == nil {
		err = last
	}
	return append(got, rest...), c.Name(), err
}

func TestCodings(t *testing.T) {
	gz := pack(t, body, gzipped)
	for _, test := range []struct {
		what   string
		header map[string][]string
		wire   []byte
		name   string
	}{
		{"plain", nil, body, ""},
		{"empty", header("Content-Encoding", "gzip"), nil, ""},
		{"identity", header("Content-Encoding", "identity"), body, ""},
		{"gzip", header("Content-Encoding", "gzip"), gz, "gzip"},
		{"gzip in two members", header("Content-Encoding", "x-gzip"), append(pack(t, body[:99], gzipped), pack(t, body[99:], gzipped)...), "gzip"},
		{"zlib", header("Content-Encoding", "deflate"), pack(t, body, zlibbed), "deflate"},
		{"bare deflate", header("Content-Encoding", "deflate"), pack(t, body, deflated), "deflate"},
		{"brotli", header("Content-Encoding", "br"), pack(t, body, brotlied), "br"},
		{"zstd", header("Content-Encoding", "zstd"), pack(t, body, zstandard), "zstd"},
		{"a file that was compressed", nil, gz, "gzip"},
		{"a file that was compressed otherwise", nil, pack(t, body, zstandard), "zstd"},
		{"chunked", header("Transfer-Encoding", "chunked"), inChunks(body, 7), "chunked"},
		{"gzip in chunks", header("Transfer-Encoding", "chunked", "Content-Encoding", "gzip"), inChunks(gz, 11), "chunked, gzip"},
		{"gzip as a transfer coding", header("Transfer-Encoding", "gzip, chunked"), inChunks(gz, 11), "chunked, gzip"},
		{"coded twice", header("Content-Encoding", "br, gzip"), pack(t, pack(t, body, brotlied), gzipped), "gzip, br"},

		// The client has decoded the body and kept the header.
		{"no longer gzip", header("Content-Encoding", "gzip"), body, ""},
		{"no longer brotli", header("Content-Encoding", "br"), body, ""},
		{"no longer deflate", header("Content-Encoding", "deflate"), []byte("{}"), ""},
		{"no longer in chunks", header("Transfer-Encoding", "chunked"), body, ""},
		{"text that begins like a size", header("Transfer-Encoding", "chunked"), []byte("deadbeef is no size\r\n"), ""},
		{"short text that begins like a size", header("Transfer-Encoding", "chunked"), []byte("dead"), ""},
	} {
		want := body
		switch {
		case test.name == "":
			want = test.wire
		}
		for _, piece := range []int{0, 1, 2, 3, 100} {
			got, name, err := decode(t, test.header, test.wire, piece)
			if err != nil || name != test.name || !bytes.Equal(got, want) {
				t.Errorf("%s, in pieces of %d: %q, %v, %d bytes of %d", test.what, piece, name, err, len(got), len(want))
			}
		}
	}
}

// TestBroken checks that all decodable bytes are returned and that the error describes the problem.
func TestBroken(t *testing.T) {
	gz := pack(t, body, gzipped)
	flipped := bytes.Clone(gz)
	flipped[len(gz)-6] ^= 1
	for _, test := range []struct {
		what   string
		header map[string][]string
		wire   []byte
		least  int
		says   string
	}{
		{"cut", header("Content-Encoding", "gzip"), gz[:len(gz)-3], len(body), "the data is cut off"},
		{"cut after the flush", header("Content-Encoding", "gzip"), gz[:len(gz)/2], 20, "the data is cut off"},
		{"checksum", header("Content-Encoding", "gzip"), flipped, len(body) / 3, "checksum"},
		{"brotli cut", header("Content-Encoding", "br"), pack(t, body, brotlied)[:40], 0, "the data is cut off"},
		{"bytes after the end", header("Content-Encoding", "deflate"), append(pack(t, body, zlibbed), "more"...), len(body), "more bytes follow the end"},
		{"last chunk missing", header("Transfer-Encoding", "chunked"), inChunks(body, 7)[:200], 50, "is missing"},
		{"no size", header("Transfer-Encoding", "chunked"), []byte("5\r\nhello\r\nxyz\r\n"), 5, `"xyz" is not a chunk size`},
		{"no line end", header("Transfer-Encoding", "chunked"), []byte("5\r\nhello!!\r\n"), 5, "not by a line end"},
	} {
		for _, piece := range []int{0, 1, 100} {
			got, _, err := decode(t, test.header, test.wire, piece)
			if err == nil || !strings.Contains(err.Error(), test.says) || len(got) < test.least || !bytes.HasPrefix(body, got) && test.least != 5 {
				t.Errorf("%s, in pieces of %d: %v after %d bytes", test.what, piece, err, len(got))
			}
		}
	}
	if _, err := New(header("Content-Encoding", "rot13")); err == nil || !strings.Contains(err.Error(), "rot13") {
		t.Errorf("unknown coding: %v", err)
	}
}

// TestAtOnce checks that flushed bytes are returned as soon as the last byte of the flush has been written.
func TestAtOnce(t *testing.T) {
	for name, open := range map[string]func(io.Writer) io.WriteCloser{"gzip": gzipped, "deflate": zlibbed, "br": brotlied, "zstd": zstandard} {
		var sent bytes.Buffer
		w := open(&sent)
		c, err := New(header("Content-Encoding", name))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 20 {
			want := fmt.Sprintf("event %d with some text\n", i)
			if _, err := io.WriteString(w, want); err != nil {
				t.Fatal(err)
			}
			if err := w.(interface{ Flush() error }).Flush(); err != nil {
				t.Fatal(err)
			}
			got, err := c.Write(sent.Bytes())
			sent.Reset()
			if err != nil || string(got) != want {
				t.Fatalf("%s: flush %d gave %q, %v", name, i, got, err)
			}
		}
	}
}

func FuzzChain(f *testing.F) {
	gz := pack(f, body, gzipped)
	f.Add("gzip", "", gz, uint16(3))
	f.Add("br", "chunked", inChunks(pack(f, body, brotlied), 9), uint16(1))
	f.Add("", "chunked", inChunks(body, 5), uint16(2))
	f.Add("deflate", "", pack(f, body, deflated), uint16(7))
	f.Add("zstd", "", pack(f, body, zstandard), uint16(7))
	f.Fuzz(func(t *testing.T, content, transfer string, wire []byte, piece uint16) {
		h := header("Content-Encoding", content, "Transfer-Encoding", transfer)
		if _, err := New(h); err != nil || len(wire) > 1<<16 {
			return
		}
		whole, name, wholeErr := decode(t, h, wire, 0)
		cut, cutName, cutErr := decode(t, h, wire, int(piece)%64+1)
		if (wholeErr == nil) != (cutErr == nil) || wholeErr == nil && (name != cutName || !bytes.Equal(whole, cut)) {
			t.Errorf("whole: %d bytes, %q, %v; cut: %d bytes, %q, %v", len(whole), name, wholeErr, len(cut), cutName, cutErr)
		}
	})
}
