package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func newSpool(t *testing.T, dir, name string, limit int64) *Spool {
	t.Helper()
	r, s, _, err := CreateSpool(dir, name, limit, noon, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close(context.Background()); s.Release() })
	return s
}

// fill writes numbered lines of 1,000 bytes.
func (s *Spool) fill(t *testing.T, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		line := fmt.Appendf(nil, "%0999d\n", n)
		if _, err := s.Write(line); err != nil {
			t.Fatal(err)
		}
	}
}

// rest reads a spool from an offset on. It returns the bytes and the gaps between them.
func (s *Spool) rest(t *testing.T, at int64) (text []byte, holes []SpoolGap) {
	t.Helper()
	_, end, _ := s.Span()
	for at < end {
		p := make([]byte, 10_000)
		n, err := s.ReadAt(p, at)
		var hole *SpoolGap
		switch {
		case errors.As(err, &hole) && hole.End > at:
			holes = append(holes, *hole)
			at = hole.End
			continue
		case err != nil || n == 0:
			t.Fatalf("at %d: %d bytes, %v", at, n, err)
		}
		text, at = append(text, p[:n]...), at+int64(n)
	}
	return text, holes
}

// TestSpoolLimit checks that segments follow each other, that the oldest are deleted beyond the limit, and
// that a reader learns where the rest begins.
func TestSpoolLimit(t *testing.T) {
	dir := t.TempDir()
	s := newSpool(t, dir, "a", 200_000)
	_, header, _ := s.Span()
	s.fill(t, 0, 150)
	text, holes := s.rest(t, 0)
	if whole := header + 150_000; int64(len(text)) != whole || holes != nil {
		t.Errorf("%d bytes of %d, %v", len(text), whole, holes)
	}
	s.fill(t, 150, 1000)
	first, end, _ := s.Span()
	if end != header+1_000_000 || end-first > 200_000 || first == 0 {
		t.Errorf("it has %d to %d", first, end)
	}
	text, holes = s.rest(t, 0)
	if int64(len(text)) != end-first || !bytes.HasSuffix(text, fmt.Appendf(nil, "%0999d\n", 999)) || len(holes) != 1 || holes[0] != (SpoolGap{End: first}) {
		t.Errorf("%d bytes, %v", len(text), holes)
	}
}

// TestSpoolRemoved checks that a segment that another program removes or truncates is a gap with its name. The
// segment that is being written is still read.
func TestSpoolRemoved(t *testing.T) {
	if mustClose {
		t.Skip("nobody can remove what is open")
	}
	dir := t.TempDir()
	s := newSpool(t, dir, "a", 1<<30)
	s.segment = 10_000
	s.fill(t, 0, 50)
	paths, starts := []string{}, []int64{}
	for _, p := range s.parts {
		paths, starts = append(paths, p.path), append(starts, p.start)
	}
	if err := errors.Join(os.Remove(paths[1]), os.Truncate(paths[3], 500), os.Remove(paths[len(paths)-1])); err != nil {
		t.Fatal(err)
	}
	text, holes := s.rest(t, 0)
	missing := starts[2] - starts[1] + starts[4] - starts[3] - 500
	if _, end, _ := s.Span(); int64(len(text)) != end-missing || !bytes.HasSuffix(text, fmt.Appendf(nil, "%0999d\n", 49)) {
		t.Errorf("%d bytes of %d", len(text), end-missing)
	}
	if len(holes) != 2 || holes[0] != (SpoolGap{starts[2], paths[1]}) || holes[1] != (SpoolGap{starts[4], paths[3]}) {
		t.Errorf("%v", holes)
	}
}

// TestSpoolTaken checks that a spool can be taken over once its writer has released it, and never before, even
// between two segments. Its mark is kept. Files that are not our spools are not touched.
func TestSpoolTaken(t *testing.T) {
	dir := t.TempDir()
	s := newSpool(t, dir, "a", 1<<30)
	s.segment = 2_000
	foreign := filepath.Join(dir, "2026-11-25.tsc")
	if err := os.WriteFile(foreign, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	isOurs := func(name string) bool { return name == "a" }
	for n := range 20 {
		s.fill(t, n, n+1)
		if left := OrphanSpools(dir, time.Now(), isOurs); left != nil {
			t.Fatalf("after %d lines it is said to be left: %v", n, left)
		}
		if _, ok := TakeSpool(dir, "a", time.Now()); ok {
			t.Fatalf("after %d lines it is taken", n)
		}
	}
	want, _ := s.rest(t, 0)
	mark := SendMark{Created: noon, Stream: noon.Add(time.Hour), Seq: 7, SentTo: 5_000, Highest: 6_000, Sent: noon.Add(time.Minute)}
	if err := s.SetMark(mark); err != nil {
		t.Fatal(err)
	}
	_, end, _ := s.Span()
	s.Release()
	left := OrphanSpools(dir, time.Now(), isOurs)
	if len(left) != 1 || left[0].Name != "a" || left[0].Waits != end-5_000 {
		t.Fatalf("%+v", left)
	}
	taken, ok := TakeSpool(dir, "a", time.Now())
	if !ok {
		t.Fatal("it is not taken")
	}
	if text, holes := taken.rest(t, 0); !bytes.Equal(text, want) || holes != nil || taken.Mark() != mark {
		t.Errorf("%d bytes of %d, %v, %+v", len(text), len(want), holes, taken.Mark())
	}
	if _, ok := TakeSpool(dir, "a", time.Now()); ok {
		t.Error("it is taken twice")
	}
	taken.Remove()
	if all, _ := os.ReadDir(dir); len(all) != 1 || all[0].Name() != filepath.Base(foreign) {
		t.Errorf("there is %v", all)
	}
	if _, ok := TakeSpool(dir, "a", time.Now()); ok {
		t.Error("what was deleted is taken")
	}
}

// TestSpoolLeftTorn checks that all remaining data is read after a power failure.
func TestSpoolLeftTorn(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.tsc": "0123456", "a.tsc.10": "ABCDE", "a.tsc.12": "cdefg", "a.tsc.x": "?", ".a.lock": "{"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, ok := TakeSpool(dir, "a", time.Now())
	if !ok {
		t.Fatal("it is not taken")
	}
	defer s.Release()
	text, holes := s.rest(t, 0)
	if string(text) != "0123456ABcdefg" || len(holes) != 1 || holes[0] != (SpoolGap{10, filepath.Join(dir, "a.tsc")}) || s.Mark() != (SendMark{}) {
		t.Errorf("%q, %v, %+v", text, holes, s.Mark())
	}
}

// TestIsFree checks that on a file system without locks, the time decides whether a spool is free.
func TestIsFree(t *testing.T) {
	none := errors.ErrUnsupported
	for _, c := range []struct {
		held bool
		err  error
		age  time.Duration
		want bool
	}{
		{false, nil, 0, true}, {true, nil, time.Hour, false},
		{false, none, time.Minute, false}, {false, none, -time.Hour, false}, {false, none, time.Hour, true},
	} {
		if got := isFree(c.held, c.err, c.age); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestSpoolTwice checks that an existing spool is not overwritten.
func TestSpoolTwice(t *testing.T) {
	dir := t.TempDir()
	s := newSpool(t, dir, "a", 1<<30)
	if _, _, _, err := CreateSpool(dir, "a", 1<<30, noon, "test"); !errors.Is(err, fs.ErrExist) || !strings.Contains(err.Error(), s.Path()) {
		t.Error(err)
	}
	s.fill(t, 0, 1)
	if text, _ := s.rest(t, 0); len(text) < 1000 {
		t.Errorf("%q", text)
	}
}
