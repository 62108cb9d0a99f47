package capture

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// shifty is a file whose content changes between two reads. The nth read, counted from 1, is the first one that sees
// the change.
type shifty struct {
	content []byte
	reads   int
	at      int
	change  func(*shifty)
	err     error // of every read
}

func (f *shifty) ReadAt(p []byte, offset int64) (int, error) {
	if f.reads++; f.reads == f.at {
		f.change(f)
	}
	if f.err != nil {
		return 0, f.err
	}
	return bytes.NewReader(f.content).ReadAt(p, offset)
}

func (f *shifty) Read([]byte) (int, error)        { return 0, io.EOF }
func (f *shifty) Close() error                    { return nil }
func (f *shifty) SetReadDeadline(time.Time) error { return nil }
func (f *shifty) Stat() (fs.FileInfo, error) {
	return fs.Stat(fstest.MapFS{"f": {Data: f.content}}, "f")
}

// tailed returns a tail of a file that was read to its end once and has grown since.
func tailed(t *testing.T, old, grown string) (*tail, *shifty) {
	t.Helper()
	f := &shifty{content: []byte(old)}
	tail, err := newTail(f, newInputReader("", &exchangeNumbers{}))
	if err != nil {
		t.Fatal(err)
	}
	buf := make([]byte, 10)
	for {
		if _, err := tail.read(buf); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	f.content, f.reads = append(f.content, grown...), 0
	return tail, f
}

// becomes returns a change that replaces the content.
func becomes(content string) func(*shifty) {
	return func(f *shifty) { f.content = []byte(content) }
}

// TestTailReplaced checks that bytes of new content are never read as the continuation of old content, at whatever
// moment around a read the content is replaced. Bytes of the old content are passed on.
func TestTailReplaced(t *testing.T) {
	old := strings.Repeat("old content. ", 200)
	other := strings.Repeat("another one! ", 300)
	sameHead := old[:headPrint] + other[headPrint:]
	sameEnd := other[:len(old)-lastPrint] + old[len(old)-lastPrint:] + "grown more"
	for _, c := range []struct {
		name  string
		at    int // number of the first read that sees the change; the third read reads the new content
		now   string
		first string // data that the first read passes on; empty if the content was replaced before
	}{
		{"never", 0, "", "grown"},
		{"before", 1, other, ""},
		{"before, with the same beginning", 1, sameHead, ""},
		{"before, with the same end", 1, sameEnd, ""},
		{"before, by less", 1, old[:50], ""},
		{"before, by nothing", 1, "", ""},
		{"as what is new is read", 3, other, ""},
		{"as what is new is read, with the same beginning", 3, sameHead, ""},
		{"behind what is new", 4, other, "grown"},
		{"behind what is new, by less", 4, old[:50], "grown"},
	} {
		tail, f := tailed(t, old, "grown")
		f.at, f.change = c.at, becomes(c.now)
		p, err := tail.read(make([]byte, 5))
		if string(p) != c.first || (c.first == "") != errors.Is(err, errReplaced) {
			t.Errorf("%s: %q, %v", c.name, p, err)
		}
		if c.first == "" || c.at == 0 {
			continue
		}
		if p, err := tail.read(make([]byte, 5)); !errors.Is(err, errReplaced) {
			t.Errorf("%s: the second read brings %q, %v", c.name, p, err)
		}
	}
}

// TestTailFails checks that a failed read returns its own error, because it shows nothing about the content.
func TestTailFails(t *testing.T) {
	tail, f := tailed(t, "data: x\n\n", "data: y\n\n")
	f.err = fs.ErrPermission
	if p, err := tail.read(make([]byte, 10)); !errors.Is(err, fs.ErrPermission) || len(p) > 0 {
		t.Errorf("%q, %v", p, err)
	}
	f.err = nil
	if p, err := tail.read(make([]byte, 10)); string(p) != "data: y\n\n" || err != nil {
		t.Errorf("%q, %v", p, err)
	}
}

// TestTailRemembers checks that the memory of a tail is limited, and is cleared when the tail starts again.
func TestTailRemembers(t *testing.T) {
	content := strings.Repeat("0123456789abcdef", 200)
	tail, f := tailed(t, content, "")
	if string(tail.first) != content[:headPrint] || string(tail.last) != content[len(content)-lastPrint:] {
		t.Errorf("it remembers %d bytes and %d", len(tail.first), len(tail.last))
	}
	tail.known, tail.begin = 5, 3
	tail.restartWith(newInputReader("", &exchangeNumbers{}))
	f.content = []byte("fresh")
	if p, err := tail.read(make([]byte, 10)); string(p) != "fresh" || err != nil || tail.begin != 0 || tail.known != 0 {
		t.Errorf("%q, %v, %+v", p, err, tail)
	}
}

// TestTailKnown checks that content from before following began is not mixed with later content: a read ends where
// the later content begins.
func TestTailKnown(t *testing.T) {
	f := &shifty{content: []byte("old and new")}
	tail, err := newTail(f, newInputReader("", &exchangeNumbers{}))
	if err != nil {
		t.Fatal(err)
	}
	tail.known = 4
	for _, want := range []string{"old ", "and new"} {
		if p, err := tail.read(make([]byte, 100)); string(p) != want || err != nil {
			t.Errorf("%q, %v, want %q", p, err, want)
		}
	}
}
