package capture

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// collect reads a source to its end.
func collect(t *testing.T, src Source) []Record {
	t.Helper()
	var recs []Record
	for r, err := range src {
		if err != nil {
			t.Fatal(err)
		}
		recs = append(recs, r)
	}
	return recs
}

// openAll returns all records that Open reads from a file with the content, without their locations.
func openAll(t *testing.T, content string) []Record {
	t.Helper()
	recs := readFile(t, writeFile(t, content))
	for i := range recs {
		recs[i].Location = Location{}
		recs[i].ofRun("") // like the location, the run depends on the path, not on the content
	}
	return recs
}

// readFile returns all records that Open reads from a file.
func readFile(t *testing.T, path string) []Record {
	t.Helper()
	src, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return collect(t, src)
}

func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "input")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// of returns a source of the given records.
func of(recs ...Record) Source {
	return func(yield func(Record, error) bool) {
		for _, r := range recs {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// outline describes records in a few words, with the data of each exchange and side joined: `1 "data" eof`.
func outline(recs []Record) string {
	type key struct {
		exchange int
		side     Side
	}
	data, tail := map[key]string{}, map[key]string{}
	var order []key
	for _, r := range recs {
		k := key{r.Exchange, r.Side}
		if !slices.Contains(order, k) {
			order = append(order, k)
		}
		data[k] += string(r.Data)
		if r.Note != "" {
			tail[k] += fmt.Sprintf(" note:%s", r.Note)
		}
		if r.End != "" {
			tail[k] += " " + string(r.End)
		}
		if r.Why != "" {
			tail[k] += ":" + r.Why
		}
	}
	var lines []string
	for _, k := range order {
		lines = append(lines, strings.Replace(fmt.Sprintf("%d %s %q%s", k.exchange, k.side, data[k], tail[k]), "  ", " ", 1))
	}
	return strings.Join(lines, "\n")
}

func expect(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	missing := filepath.Join(dir, "missing.sse")
	_, err := Open(context.Background(), missing, Options{})
	if !errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), "open "+missing+": ") {
		t.Errorf("missing file: %v", err)
	}
	_, err = Open(context.Background(), dir, Options{})
	if err == nil || err.Error() != "open "+dir+": is a directory" {
		t.Errorf("directory: %v", err)
	}
}

func TestBareBody(t *testing.T) {
	content := "event: ping\r\ndata: {\"a\":\"\xff\x00\"}\r\n\r\n" + strings.Repeat("data: x\n\n", 20_000)
	path := writeFile(t, content)
	src, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	recs := collect(t, src)
	var all bytes.Buffer
	for i, r := range recs {
		all.Write(r.Data)
		if r.Exchange != 1 || r.At != NoTime || r.Side != Response || (r.Head != nil) != (i == 0) {
			t.Fatalf("record %d: %+v", i, r)
		}
	}
	if all.String() != content {
		t.Error("the bytes changed")
	}
	if recs[0].Head.File != path {
		t.Errorf("file %q, want %q", recs[0].Head.File, path)
	}
	if last := recs[len(recs)-1]; last.End != EndEOF || last.Data != nil {
		t.Errorf("last record %+v", last)
	}
}

func TestEmptyFile(t *testing.T) { expect(t, outline(openAll(t, "")), `1 "" eof`) }

func TestCancelledSourceEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	src, err := Open(ctx, writeFile(t, strings.Repeat("x", 10*chunkSize)), Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range src {
		if err != nil {
			t.Fatal(err)
		}
		n++
		cancel()
	}
	if n != 1 {
		t.Errorf("%d records after cancel, want 1", n)
	}
}

// TestDataIsTheReceivers checks that a receiver that changes the data of a record doesn't change other
// records.
func TestDataIsTheReceivers(t *testing.T) {
	content := strings.Repeat("data: 0123456789\n\n", 3*chunkSize/18)
	for name, o := range map[string]Options{"file": {}, "followed": {Follow: true}} {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		src, err := Open(ctx, writeFile(t, content), o)
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		for r := range src {
			got = append(got, r.Data...)
			clear(r.Data)
			_ = append(r.Data, "spoilt"...)
			if len(got) >= len(content) {
				cancel()
			}
		}
		if string(got) != content {
			t.Errorf("%s: %d bytes of %d came, or others", name, len(got), len(content))
		}
	}
}
