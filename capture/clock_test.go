package capture

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestOneRun checks that captures of one run are read in wall clock order, whether or not they are followed. Other
// captures are read one after another.
func TestOneRun(t *testing.T) {
	write := func(dir, name string, later time.Duration, lines ...string) {
		by := "toolscope proxy"
		if name == "b.tsc" {
			by = ByServer
		}
		text := fmt.Sprintf("{\"toolscope\":1,\"created\":%q,\"by\":%q}\n", time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC).Add(later).Format(time.RFC3339Nano), by)
		for _, line := range lines {
			text += line + "\n"
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	read := func(dir string, follow bool) (all string) {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		src, err := OpenAll(ctx, []string{dir}, Options{Follow: follow})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for r, err := range src {
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Data) > 0 {
				all += fmt.Sprintf("%s@%d ", r.Data, r.At.Milliseconds())
				n++
			}
			if follow && n == 4 {
				break
			}
		}
		return all
	}
	dir, other := t.TempDir(), t.TempDir()
	model := []string{`{"t":10,"x":1,"head":{"status":200},"d":"a"}`, `{"t":400,"x":1,"d":"d","end":"eof"}`}
	server := []string{`{"t":0,"x":1,"side":"request","head":{"method":"STDIO","url":"mcp:s"},"d":"b"}`, `{"t":20,"x":1,"d":"c","end":"eof"}`}
	write(dir, "a.tsc", 0, model...)
	write(dir, "b.tsc", 100*time.Millisecond, server...)
	if got, want := read(dir, false), "a@10 b@100 c@120 d@400 "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	got := map[string]bool{}
	for _, word := range []string{"a@10", "b@100", "c@120", "d@400"} {
		got[word] = true
	}
	var words [4]string
	_, _ = fmt.Sscan(read(dir, true), &words[0], &words[1], &words[2], &words[3])
	for _, word := range words {
		if !got[word] {
			t.Errorf("followed: %s", word)
		}
	}
	write(other, "a.tsc", 0, model...)
	write(other, "c.tsc", 100*time.Millisecond, model...)
	if got, want := read(other, false), "a@10 d@400 a@10 d@400 "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestOneRunOpen checks that only captures that have begun and not ended are open while a run with very many
// files is read.
func TestOneRunOpen(t *testing.T) {
	const files = 500
	dir := t.TempDir()
	began := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	open, most, read := 0, 0, 0
	var paths []string
	var all []Source
	for i := range files {
		path := filepath.Join(dir, fmt.Sprintf("%03d.tsc", files-i))
		head := fmt.Sprintf("{\"toolscope\":1,\"created\":%q}\n", began.Add(time.Duration(i)*time.Second).Format(time.RFC3339Nano))
		if err := os.WriteFile(path, []byte(head), 0o600); err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
		all = append(all, func(yield func(Record, error) bool) {
			open++
			most = max(most, open)
			defer func() { open-- }()
			for n := range 3 {
				if !yield(Record{Exchange: 1, At: time.Duration(n) * 400 * time.Millisecond}, nil) {
					return
				}
			}
		})
	}
	last, seen := time.Duration(0), map[int]int{}
	for r, err := range oneRun(paths, all) {
		if err != nil || r.At < last {
			t.Fatalf("%v, %v after %v", err, r.At, last)
		}
		last = r.At
		seen[r.Exchange]++
		if read++; read == 3*files/2 {
			break
		}
	}
	if most > 3 || open != 0 || len(seen) < files/2 || len(seen) > files/2+2 {
		t.Errorf("%d were open at once, %d are; %d exchanges", most, open, len(seen))
	}
}
