package capture

import (
	"bytes"
	"strings"
	"testing"
)

// Of a line that does not end only so much is taken, and what is passed over is told, to the byte.
// What comes behind it is read as ever.
func TestLongLine(t *testing.T) {
	piece := bytes.Repeat([]byte("x"), chunkSize)
	for _, end := range []string{"", "\n", "\r"} {
		in := newIntake("f", &numbers{})
		var got []Record
		write := func(p []byte) {
			recs, err := in.write(p, NoTime)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, recs...)
		}
		write([]byte("data: a\n\ndata: "))
		const pieces = longLine/chunkSize + 100
		for range pieces {
			write(piece)
		}
		write([]byte("xy" + end))
		if end != "" {
			write([]byte("data: b\n"))
		}
		got = append(got, in.close(EndEOF, "", NoTime)...)
		var data, lost int64
		notes, behind := 0, ""
		for _, r := range got {
			data += int64(len(r.Data))
			if lost += r.Lost; r.Lost > 0 {
				notes += strings.Count(r.Note, "MiB are read, and ")
			}
			if lost > 0 {
				behind += string(r.Data)
			}
		}
		all := int64(len("data: a\n\ndata: xy") + pieces*chunkSize + len(end))
		if end != "" {
			all += int64(len("data: b\n"))
		}
		if data+lost != all || notes != 1 || data > longLine+2*chunkSize {
			t.Errorf("%q: %d bytes and %d lost of %d, %d notes", end, data, lost, all, notes)
		}
		if end != "" && behind != end+"data: b\n" {
			t.Errorf("%q: behind it comes %q", end, behind)
		}
	}
}

// Many lines that are long together are no long line.
func TestLinesAreNoLongLine(t *testing.T) {
	in := newIntake("f", &numbers{})
	line := append(bytes.Repeat([]byte("x"), chunkSize-1), '\n')
	for n := range longLine/chunkSize + 100 {
		recs, err := in.write(line, NoTime)
		if err != nil || n > 0 && len(recs) != 1 || len(recs) > 0 && recs[0].Lost > 0 {
			t.Fatalf("line %d: %+v, %v", n, recs, err)
		}
	}
}
