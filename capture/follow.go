package capture

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/fsnotify/fsnotify"
)

// oldFileLimit is how many rotated files are read at most. The one that was quiet longest goes
// first.
const oldFileLimit = 8

// follower reads the file that has a name, whichever that is, and for a while also those that had
// it before. It does everything in the consumer's goroutine: look, read, pass on, wait.
type follower struct {
	ctx     context.Context
	path    string // "" for a file that has no name here
	name    string // what the user calls it
	open    func() (file, error)
	stay    time.Duration
	began   time.Time
	options Options
	numbers numbers
	yield   func(Record, error) bool
	buf     []byte

	current *tail   // the file that had the name when we last looked; kept when the name is gone
	old     []*tail // rotated files, to which somebody may still be writing
	trouble string  // with the name, as reported last
	done    bool
}

// follow reads a file as it grows. The end of the file is not an end: the source ends when ctx is
// done.
func follow(ctx context.Context, path, name string, open func() (file, error), o Options) Source {
	began := time.Now()
	return func(yield func(Record, error) bool) {
		f := &follower{
			ctx: ctx, path: path, name: name, open: open, stay: cmp.Or(o.stay, oldFileStay), began: began, options: o,
			yield: yield, buf: make([]byte, chunkSize),
		}
		if err := f.start(); err != nil {
			yield(Record{}, openError(name, err))
			return
		}
		defer f.close()
		wake := newAlarm(path, o)
		defer wake.close()
		for f.look(); !f.done && wake.wait(ctx); f.look() {
		}
	}
}

// start opens the file for the first time. What is in it now came at a time that nobody measured.
func (f *follower) start() error {
	opened, err := f.open()
	if err != nil {
		return err
	}
	if f.current, err = newTail(opened, f.intake()); err != nil {
		return err
	}
	f.current.known = f.current.info.Size()
	if s, ok := opened.(io.Seeker); ok { // standard input may have been read in part
		if at, err := s.Seek(0, io.SeekCurrent); err == nil {
			f.current.offset, f.current.begin = at, at
		}
	}
	return nil
}

func (f *follower) intake() *intake { return f.options.intake(f.name, &f.numbers) }

func (f *follower) close() {
	for _, t := range append(f.old, f.current) {
		t.file.Close()
	}
}

// look reads whatever is new.
func (f *follower) look() {
	for _, t := range slices.Clone(f.old) {
		f.drain(t)
		if time.Since(t.busy) > f.stay {
			f.retire(t)
		}
	}
	f.drain(f.current)
	if f.path != "" && !f.done {
		f.lookup()
	}
}

// drain reads a file to its present end.
func (f *follower) drain(t *tail) {
	for !f.done && f.ctx.Err() == nil {
		at := time.Since(f.began)
		if t.offset < t.known {
			at = NoTime
		}
		p, err := t.read(f.buf)
		switch {
		case err == nil:
			t.busy = time.Now()
			f.pass(t.intake.write(bytes.Clone(p), at))
		case err == io.EOF:
			return
		case errors.Is(err, errReplaced):
			f.pass(t.intake.close(EndCut, "file truncated", at), nil)
			t.restart(f.intake())
		default:
			f.pass(t.intake.close(EndCut, Reason(err).Error(), at), readError(f.name, err))
		}
	}
}

// pass hands records on. After an error, and when the consumer has had enough, it is done.
func (f *follower) pass(recs []Record, err error) {
	f.done = f.done || !deliver(f.yield, recs, err)
}

// lookup looks which file has the name now. If it is another one, that becomes the current one. A
// name without a file is nothing to report: in a rotation there is a moment without one.
func (f *follower) lookup() {
	info, err := os.Stat(f.path)
	if err == nil && os.SameFile(info, f.current.info) {
		f.trouble = ""
		return
	}
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("no regular file any more")
	}
	var next *tail
	if err == nil {
		next, err = f.find(info)
	}
	if err != nil {
		f.report(err)
		return
	}
	f.trouble = ""
	f.note("file rotated: reading the new one, and the old one while it grows")
	f.current.busy = time.Now()
	f.old = append(f.old, f.current)
	f.current = next
	if len(f.old) > oldFileLimit {
		f.retire(slices.MinFunc(f.old, func(a, b *tail) int { return a.busy.Compare(b.busy) }))
	}
	f.drain(f.current)
}

// retire gives a rotated file up.
func (f *follower) retire(t *tail) {
	f.old = slices.DeleteFunc(f.old, func(o *tail) bool { return o == t })
	t.file.Close()
	f.pass(t.intake.close(EndCut, "file rotated", time.Since(f.began)), nil)
}

// find takes the file up where it was left, if it had the name before, and opens it otherwise.
func (f *follower) find(info fs.FileInfo) (*tail, error) {
	for i, t := range f.old {
		if os.SameFile(info, t.info) {
			f.old = slices.Delete(f.old, i, i+1)
			return t, nil
		}
	}
	opened, err := f.open()
	if err != nil {
		return nil, err
	}
	return newTail(opened, f.intake())
}

// report says once, in a note, why the name cannot be read. It goes on trying.
func (f *follower) report(err error) {
	text := openError(f.name, err).Error()
	if errors.Is(err, fs.ErrNotExist) || text == f.trouble {
		return
	}
	f.trouble = text
	f.note(text)
}

func (f *follower) note(text string) {
	f.pass([]Record{{Exchange: max(1, f.numbers.last), At: time.Since(f.began), Note: text}}, nil)
}

// alarm tells when it may be worth looking again. The file system's notifications are only a hint
// that comes early: they miss symbolic links, network drives and directories that were made anew,
// and so there is always the clock.
type alarm struct {
	clock   *time.Ticker
	watcher *fsnotify.Watcher // nil if there is none
	events  <-chan fsnotify.Event
	errors  <-chan error
	name    string
}

func newAlarm(path string, o Options) *alarm {
	a := &alarm{clock: time.NewTicker(cmp.Or(o.poll, pollEvery)), name: filepath.Base(path)}
	if path == "" || o.blind {
		return a
	}
	if w, err := fsnotify.NewWatcher(); err == nil {
		a.watcher, a.events, a.errors = w, w.Events, w.Errors
		_ = w.Add(filepath.Dir(path))
		_ = w.Add(path) // for what a symbolic link points to
	}
	return a
}

// wait returns when there may be news, or false when ctx is done.
func (a *alarm) wait(ctx context.Context) bool {
	for {
		select {
		case <-ctx.Done():
			return false
		case <-a.clock.C:
			return true
		case e, ok := <-a.events:
			if !ok {
				a.events = nil
			}
			if filepath.Base(e.Name) == a.name {
				return true
			}
		case _, ok := <-a.errors:
			if !ok {
				a.errors = nil
			}
		}
	}
}

func (a *alarm) close() {
	a.clock.Stop()
	if a.watcher != nil {
		a.watcher.Close()
	}
}
