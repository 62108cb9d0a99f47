package record

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"toolscope/capture"
)

// recordedFile reads a capture and returns its outline.
func recordedFile(t *testing.T, path string) string {
	t.Helper()
	src, err := capture.Open(t.Context(), path, capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(outline(collect(t, src)), filepath.Dir(path), "DIR")
}

// TestDamagedFile checks that, if another program damages the file of a capture while it is written, recording
// continues in a new file. The missing bytes are reported even if no other record follows. A file that is intact
// under another name is not damaged.
func TestDamagedFile(t *testing.T) {
	for _, test := range []struct {
		name   string
		change func(path string) error
		damage string // "" for none
		next   string // the new file
	}{
		{"nothing", func(string) error { return nil }, "", "x.tsc"},
		{"renamed", func(path string) error { return os.Rename(path, path+".old") }, "", "x.tsc.old"},
		{"a second name removed", func(path string) error {
			if err := os.Link(path, path+".old"); err != nil {
				return err
			}
			return os.Remove(path)
		}, "", "x.tsc.old"},
		{"removed", os.Remove, "DIR/x.tsc was removed", "x.tsc"},
		{"truncated", func(path string) error { return os.Truncate(path, 10) }, "DIR/x.tsc was truncated", "x-2.tsc"},
		{"replaced", func(path string) error {
			if err := os.WriteFile(path+".new", bytes.Repeat([]byte("\n"), 10_000), 0o600); err != nil {
				return err
			}
			return os.Rename(path+".new", path)
		}, "DIR/x.tsc was replaced by another file", "x-2.tsc"},
		{"all removed", func(path string) error { return os.RemoveAll(filepath.Dir(path)) }, "DIR/x.tsc was removed", "x.tsc"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "captures")
			synctest.Test(t, func(t *testing.T) {
				r, _, err := CreateIn(dir, "x.tsc", noon, "test")
				if err != nil {
					t.Fatal(err)
				}
				put(r, capture.Record{Exchange: 1, Head: &capture.Head{Status: 200}, Data: []byte("ended"), End: capture.EndEOF})
				put(r, capture.Record{Exchange: 2, Side: capture.Request, Head: &capture.Head{Method: "POST"}, Data: []byte("asked")})
				put(r, chunkOf(2, 7))
				synctest.Wait()
				if err := test.change(filepath.Join(dir, "x.tsc")); err != nil {
					t.Skip(err)
				}
				time.Sleep(checkEvery + time.Millisecond)
				synctest.Wait()
				s := r.State()
				want := ""
				if test.damage != "" {
					want = test.damage + "; recording continues in " + map[bool]string{true: "a new file with that name", false: "DIR/" + test.next}[test.next == "x.tsc"]
				}
				if got := strings.ReplaceAll(s.Damage, dir, "DIR"); got != want || s.Trouble != "" || s.Lost != map[bool]int64{true: 17}[want != ""] {
					t.Errorf("state %+v", s)
				}
				put(r, capture.Record{Exchange: 2, Data: []byte("on"), End: capture.EndEOF})
				err = r.Close(context.Background())
				if (err != nil) != (want != "") || err != nil && strings.ReplaceAll(err.Error(), dir, "DIR") != "the capture has gaps: 17 bytes were not recorded\n"+want {
					t.Errorf("close: %v", err)
				}
			})
			want := "1 head 200 5 bytes eof\n2request head POST0 5 bytes\n2 7 bytes\n2 2 bytes eof"
			if test.damage != "" {
				want = "2 note gap: " + test.damage + " while toolscope was recording to it; the file contained 17 bytes of bodies\n2request head POST0\n" +
					"2request lost 5 note gap: 5 bytes of exchange 2 were not recorded: " + test.damage +
					"\n2 lost 7 note gap: 7 bytes of exchange 2 were not recorded: " + test.damage + "\n2 2 bytes eof"
			}
			expect(t, recordedFile(t, filepath.Join(dir, test.next)), want)
		})
	}
}

// TestNoNewFile checks that the records are lost while no new file can be created, that recording continues once one
// can, and that the traffic never waits.
func TestNoNewFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "captures")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "x.tsc")
	synctest.Test(t, func(t *testing.T) {
		r, err := Create(path, noon, "test")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(dir); err != nil {
			t.Skip(err)
		}
		time.Sleep(checkEvery + time.Millisecond)
		put(r, chunkOf(1, 3))
		synctest.Wait()
		if s := r.State(); !strings.HasSuffix(s.Damage, "x.tsc was removed") || !strings.Contains(s.Trouble, "x.tsc was removed") || s.Lost != 3 {
			t.Errorf("state %+v", s)
		}
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		time.Sleep(checkEvery)
		synctest.Wait()
		if s := r.State(); !strings.HasSuffix(s.Damage, "recording continues in a new file with that name") || s.Trouble != "" || s.Path != path {
			t.Errorf("state %+v", s)
		}
		put(r, capture.Record{Exchange: 1, Data: []byte("on"), End: capture.EndEOF})
		if err := r.Close(context.Background()); err == nil {
			t.Error("no error")
		}
	})
	expect(t, recordedFile(t, path), "1 note gap: DIR/x.tsc was removed while toolscope was recording to it; the file contained 0 bytes of bodies\n"+
		"1 lost 3 note gap: 3 bytes of exchange 1 were not recorded: DIR/x.tsc was removed\n1 2 bytes eof")
}

// TestRemovedBeforeTheEnd checks that the removal of a file just before the end is also detected.
func TestRemovedBeforeTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.tsc")
	r, err := Create(path, noon, "test")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(path); err != nil {
		t.Skip(err)
	}
	if err := r.Close(context.Background()); err == nil || !strings.Contains(err.Error(), "was removed; recording continues in a new file with that name") {
		t.Errorf("close: %v", err)
	}
}

// TestTruncatedAndWritten checks that a truncated file is detected although it grows again before it is checked.
func TestTruncatedAndWritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.tsc")
	synctest.Test(t, func(t *testing.T) {
		r, err := Create(path, noon, "test")
		if err != nil {
			t.Fatal(err)
		}
		put(r, chunkOf(1, 7))
		synctest.Wait()
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		put(r, chunkOf(1, 10_000))
		time.Sleep(checkEvery + time.Millisecond)
		synctest.Wait()
		if s := r.State(); !strings.Contains(s.Damage, "x.tsc was truncated") && atEnd != 0 {
			t.Errorf("state %+v", s)
		}
		r.Close(context.Background())
	})
}
