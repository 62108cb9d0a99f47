package capture

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestFollowScripts checks that, whatever three writers and a rotation do in any order, every byte of each file's content
// arrives once, in order, and is never joined to other content. TOOLSCOPE_LONG=1 runs 10,000 scripts. A failure names
// the seed that repeats it.
func TestFollowScripts(t *testing.T) {
	scripts := 300
	if os.Getenv("TOOLSCOPE_LONG") != "" {
		scripts = 10_000
	}
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("TOOLSCOPE_SEED"); s != "" {
		if _, err := fmt.Sscan(s, &seed); err != nil {
			t.Fatal(err)
		}
		scripts = 1
	}
	t.Logf("seeds from %d", seed)
	for n := range uint64(scripts) {
		s := newScript(t, seed+n)
		s.run()
		if t.Failed() {
			t.Fatalf("%s\nTOOLSCOPE_SEED=%d repeats this script", strings.Join(s.log, "\n"), seed+n)
		}
	}
}

// script is a directory in which writers write and files rotate, and a follower that checks on command.
type script struct {
	t        *testing.T
	r        *rand.Rand
	kind     string // kind of the followed path: file, link, dir or glob
	root     string
	path     string // path of the file that is written to
	real     string // target of a link
	f        *follower
	writers  [3]*writer
	contents []*content
	current  *content
	got      map[int]*strings.Builder
	rotated  int
	lines    int
	log      []string
}

// content is the content of a file between two truncations.
type content struct {
	text strings.Builder
	read int // number of bytes of the content at the last check
	seen bool
}

type writer struct {
	file *os.File
	on   *content
	half string // the missing rest of a line
}

func newScript(t *testing.T, seed uint64) *script {
	r := rand.New(rand.NewPCG(seed, 1))
	s := &script{t: t, r: r, kind: []string{"file", "link", "dir", "glob"}[r.IntN(4)], got: map[int]*strings.Builder{}}
	var err error
	if s.root, err = os.MkdirTemp(t.TempDir(), ""); err != nil {
		t.Fatal(err)
	}
	s.path = filepath.Join(s.root, "logs", "app.log")
	s.must(os.MkdirAll(filepath.Dir(s.path), 0o700))
	return s
}

func (s *script) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err, "\n", strings.Join(s.log, "\n"))
	}
}

func (s *script) note(format string, args ...any) {
	s.log = append(s.log, fmt.Sprintf(format, args...))
}

func (s *script) run() {
	s.note("following a %s", s.kind)
	later := s.r.IntN(4) == 0
	if !later {
		s.create()
	}
	s.follow()
	if later {
		s.create()
	}
	for range 10 + s.r.IntN(40) {
		s.step()
	}
	for _, w := range s.writers { // complete lines
		s.write(w, w.half)
	}
	s.look()
	s.look()
	s.f.close()
	for _, w := range s.writers {
		w.file.Close()
	}
	s.check()
	s.must(os.RemoveAll(s.root))
}

func (s *script) follow() {
	o := Options{Follow: true, blind: true, stay: time.Hour, poll: time.Nanosecond}
	var names []*followedName
	var places []*searchPath
	switch s.kind {
	case "dir":
		places = []*searchPath{searchPathOf(filepath.Dir(s.path))}
	case "glob":
		places = []*searchPath{searchPathOf(filepath.Join(s.root, "*", "*.log*"))}
	default:
		names = []*followedName{{path: s.path, shown: s.path, open: fileOpener(s.path)}}
	}
	s.f = newFollower(context.Background(), o, places, time.Now(), func(r Record, err error) bool {
		s.must(err)
		if s.got[r.Exchange] == nil {
			s.got[r.Exchange] = new(strings.Builder)
		}
		s.got[r.Exchange].Write(r.Data)
		return true
	})
	s.f.openNames(names)
	s.looked()
}

// create makes the file that is written to, and makes all writers write to it.
func (s *script) create() {
	if s.kind == "link" {
		s.real = filepath.Join(s.root, fmt.Sprintf("real-%d", len(s.contents)))
		s.must(os.WriteFile(s.real, nil, 0o600))
		s.must(os.Symlink(s.real, s.path+".new"))
		s.must(os.Rename(s.path+".new", s.path))
	} else {
		s.must(os.WriteFile(s.path, nil, 0o600))
	}
	s.current = s.content()
	for i := range s.writers {
		if s.writers[i] == nil {
			s.writers[i] = new(writer)
		}
		if w := s.writers[i]; w.file == nil || s.r.IntN(3) > 0 {
			s.reopen(w)
		}
	}
}

func (s *script) content() *content {
	c := new(content)
	s.contents = append(s.contents, c)
	return c
}

func (s *script) reopen(w *writer) {
	if w.file != nil {
		s.write(w, w.half)
		w.file.Close()
	}
	var err error
	w.file, err = os.OpenFile(s.path, os.O_APPEND|os.O_WRONLY, 0)
	s.must(err)
	w.on, w.half = s.current, ""
}

func (s *script) write(w *writer, text string) {
	_, err := w.file.WriteString(text)
	s.must(err)
	w.on.text.WriteString(text)
	w.half = ""
}

func (s *script) look() {
	s.f.scanned.due, s.f.scanned.soonest = time.Time{}, time.Time{}
	s.f.pollFiles()
	s.looked()
}

// looked counts the present content as read. Content whose file had lost its name before the first check can't be
// seen at all.
func (s *script) looked() {
	for _, c := range s.contents {
		if c == s.current || s.kind == "dir" || s.kind == "glob" {
			c.seen = true
		}
		c.read = c.text.Len()
	}
}

func (s *script) step() {
	w := s.writers[s.r.IntN(len(s.writers))]
	switch n := s.r.IntN(20); {
	case n < 9:
		s.line(w)
	case n < 14:
		s.note("look")
		s.look()
	case n < 15:
		s.note("reopen")
		s.reopen(w)
	case s.rotated < maxRotatedFiles-1:
		s.rotated++
		s.rotate(n)
	}
}

// line writes the rest of a line, a complete line, or a part of one.
func (s *script) line(w *writer) {
	if w.half != "" {
		s.note("the rest of a line")
		s.write(w, w.half)
		return
	}
	s.lines++
	// The number is repeated, because nothing shows a truncation if the new content begins with the same bytes.
	filler := strings.Repeat(fmt.Sprintf("%02d", s.lines), 150)
	text := fmt.Sprintf("data: line %d %s\n", s.lines, filler[:s.r.IntN(300)])
	n := len(text)
	if s.r.IntN(3) == 0 {
		n = 6 + s.r.IntN(n-8) // the remaining bytes show that the line is not an HTTP head
	}
	s.note("%d of %d bytes of line %d", n, len(text), s.lines)
	s.write(w, text[:n])
	w.half = text[n:]
}

func (s *script) rotate(n int) {
	if !s.current.seen {
		s.look() // a file that exists only between two checks can't be seen
	}
	switch {
	case n == 15:
		s.truncate(false)
	case n == 16:
		s.truncate(true)
	case n == 17 && s.kind != "dir" && s.kind != "glob":
		s.note("remove and create")
		s.look()
		s.must(os.Remove(s.path))
		s.missing()
	case n == 18 && s.kind == "file":
		s.note("the directory is made anew")
		s.look()
		s.must(os.RemoveAll(filepath.Dir(s.path)))
		s.must(os.Mkdir(filepath.Dir(s.path), 0o700))
		s.missing()
	case s.kind == "link":
		s.note("another file behind the link")
		s.create()
	default:
		s.rename()
	}
}

// missing creates the file again, either at once or after a check that finds no file.
func (s *script) missing() {
	if s.r.IntN(2) == 0 {
		s.note("look while it is missing")
		s.look()
	}
	s.create()
}

// rename moves the file away, as logrotate does, and gives each earlier rotated file the next name.
func (s *script) rename() {
	s.note("rename and create")
	for n := s.rotated; n > 0; n-- {
		from := fmt.Sprintf("%s.%d", s.path, n)
		if _, err := os.Stat(from); err == nil {
			s.must(os.Rename(from, fmt.Sprintf("%s.%d", s.path, n+1)))
		}
	}
	s.must(os.Rename(s.path, s.path+".1"))
	s.missing()
}

// truncate truncates the file, after copying it if copied is set. Bytes that were not read before are only in
// the copy; without a copy, they are lost.
func (s *script) truncate(copied bool) {
	if !copied || s.current.read < lastPrint {
		s.look()
	}
	if s.current.read < lastPrint {
		return
	}
	s.note("truncate, copied %t, %d of %d bytes were read", copied, s.current.read, s.current.text.Len())
	if copied {
		s.must(os.WriteFile(fmt.Sprintf("%s-%d", s.path, s.rotated), []byte(s.current.text.String()), 0o600))
		if s.r.IntN(2) == 0 {
			s.note("look between copy and truncation")
			s.look()
		}
	}
	s.must(os.Truncate(s.path, 0))
	old := s.current
	s.current = s.content()
	for _, w := range s.writers {
		if w.on == old {
			w.on = s.current
		}
	}
	s.current.seen = true
}

// check compares the received data with the written data, exchange by exchange.
func (s *script) check() {
	var want, got []string
	for _, c := range s.contents {
		if c.text.Len() > 0 {
			want = append(want, c.text.String())
		}
	}
	for _, n := range slices.Sorted(maps.Keys(s.got)) {
		if text := s.got[n].String(); text != "" {
			got = append(got, text)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		s.t.Errorf("got %d contents:\n%.3000q\nwant %d:\n%.3000q", len(got), got, len(want), want)
	}
}
