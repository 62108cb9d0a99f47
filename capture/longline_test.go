package capture

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestLongLine checks that only a limited part of a line without an end is read, and that the number of skipped bytes
// is reported exactly. The lines after it are read as usual.
func TestLongLine(t *testing.T) {
	piece := bytes.Repeat([]byte("x"), chunkSize)
	for _, end := range []string{"", "\n", "\r"} {
		in := newInputReader("f", &exchangeNumbers{})
		var got []Record
		write := func(p []byte) {
			recs, err := in.write(p, NoTime)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, recs...)
		}
		write([]byte("data: a\n\ndata: "))
		const pieces = maxEventBytes/chunkSize + 100
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
				notes += strings.Count(r.Note, "MiB of a line are read; ")
			}
			if lost > 0 {
				behind += string(r.Data)
			}
		}
		all := int64(len("data: a\n\ndata: xy") + pieces*chunkSize + len(end))
		if end != "" {
			all += int64(len("data: b\n"))
		}
		if data+lost != all || notes != 1 || data > maxEventBytes+2*chunkSize {
			t.Errorf("%q: %d bytes and %d lost of %d, %d notes", end, data, lost, all, notes)
		}
		if end != "" && behind != end+"data: b\n" {
			t.Errorf("%q: behind it comes %q", end, behind)
		}
	}
}

// TestLinesAreNoLongLine checks that many short lines don't count as one long line, however long they are together.
func TestLinesAreNoLongLine(t *testing.T) {
	in := newInputReader("f", &exchangeNumbers{})
	line := append(bytes.Repeat([]byte("x"), chunkSize-1), '\n')
	for n := range maxEventBytes/chunkSize + 100 {
		recs, err := in.write(line, NoTime)
		if err != nil || n > 0 && len(recs) != 1 || len(recs) > 0 && recs[0].Lost > 0 {
			t.Fatalf("line %d: %+v, %v", n, recs, err)
		}
	}
}

// TestFeedLongLine checks that a line of 256 MiB in another machine's capture counts as damage, and that reading
// continues after it. The line is never held completely, and the captures of other machines are read as usual.
func TestFeedLongLine(t *testing.T) {
	var feeds Feeds
	bad, good := feeds.Open(Machine{Host: "bad", Agent: "a"}), feeds.Open(Machine{Host: "good", Agent: "a"})
	write := func(f *Feed, p []byte) (text string) {
		recs, err := f.Write(nil, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range recs {
			text += r.Note + string(r.Data)
		}
		return text
	}
	header, _ := EncodeHeader(time.Now(), "test", "")
	line := func(text string) []byte {
		p, _ := EncodeRecord(Record{Exchange: 1, Data: []byte(text)})
		return p
	}
	for _, f := range []*Feed{bad, good} {
		if got := write(f, append(header[:len(header):len(header)], line("before")...)); got != "before" {
			t.Fatalf("%q", got)
		}
	}
	piece := bytes.Repeat([]byte("x"), 1<<20)
	for range 256 {
		if got := write(bad, piece); got != "" {
			t.Fatalf("%.100q", got)
		}
		if n := len(bad.c.line); n > maxLineBytes {
			t.Fatalf("%d bytes are held", n)
		}
	}
	if got := write(good, line("meanwhile")); got != "meanwhile" {
		t.Errorf("%q", got)
	}
	got := write(bad, append([]byte("\n"), line("after")...))
	if !strings.HasPrefix(got, "bad/a: damaged line 3 at byte ") || !strings.Contains(got, "(too long): xxx") || !strings.HasSuffix(got, fmt.Sprintf("of %d bytes)after", 256<<20)) {
		t.Errorf("%.100q…%.100q", got, got[max(0, len(got)-100):])
	}
	if n := cap(bad.c.line); n > giantLine {
		t.Errorf("%d bytes are held of what was read", n)
	}
}
