package capture

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"
)

const (
	oldFileLimit = 8       // rotated files of one name that are read at most; the one that was quiet longest goes first
	mostOpen     = 200     // files that are held open while they are quiet
	turnBytes    = 8 << 20 // that are read of one file before the next has its turn
)

// follower reads the files that have certain names, whichever those are, and for a while also those
// that had them before. It does everything in the consumer's goroutine: look, read, pass on, wait.
type follower struct {
	ctx     context.Context
	options Options
	stay    time.Duration
	began   time.Time
	numbers numbers
	yield   func(Record, error) bool
	buf     []byte
	alarm   *alarm

	names   []*name // in the order in which they are looked at
	byPath  map[string]*name
	places  []*place
	scanned struct{ soonest, due time.Time } // when the places are looked through again
	tails   []*tail                          // every file that has one of the names or had it
	more    bool                             // somewhere is more to read already
	passed  bool                             // something was passed on in this look
	done    bool
}

// found is a name that was found in a place.
func found(path string) *name { return &name{path: path, shown: path, open: opener(path), found: true} }

func opener(path string) func() (file, error) { return func() (file, error) { return os.Open(path) } }

// name is a path that is followed.
type name struct {
	path    string // "" for a file that has no name here
	shown   string // what the user calls it
	open    func() (file, error)
	found   bool   // in a directory or by a pattern: nobody named it
	current *tail  // the file that had the name when we last looked; kept when the name is gone
	trouble string // with the name, as reported last
	gone    bool   // no file has the name
}

// follow reads files as they grow. The end of a file is not an end: the source ends when ctx is
// done.
func follow(ctx context.Context, o Options, names []*name, places []*place) Source {
	began := time.Now()
	return func(yield func(Record, error) bool) {
		f := newFollower(ctx, o, places, began, yield)
		defer f.close()
		f.start(names)
		for looked := f.look(); !f.done && f.wait(looked); looked = f.look() {
		}
	}
}

func newFollower(ctx context.Context, o Options, places []*place, began time.Time, yield func(Record, error) bool) *follower {
	return &follower{
		ctx: ctx, options: o, stay: cmp.Or(o.stay, oldFileStay), began: began, yield: yield,
		buf: make([]byte, chunkSize), alarm: newAlarm(o), places: places, byPath: map[string]*name{},
	}
}

// start opens what is there. What is in it now came at a time that nobody measured.
func (f *follower) start(names []*name) {
	for _, p := range f.places {
		files := f.list(p)
		for _, path := range files {
			names = append(names, found(path))
		}
		switch words := p.left.words(); {
		case words != "":
			f.note(p.path + ": " + words)
		case len(files) == 0:
			f.note("waiting for " + p.path + ": no file is there yet")
		}
	}
	for _, n := range names {
		if f.done {
			return
		}
		if n.path == "" || f.byPath[n.path] == nil {
			f.names = append(f.names, n)
			f.byPath[n.path] = n
			f.watch(n)
			f.begin(n)
		}
	}
}

// begin opens a name for the first time. What has no file yet is waited for.
func (f *follower) begin(n *name) {
	if info, err := os.Stat(n.path); err == nil && n.path != "" {
		if n.current = f.known(info); n.current != nil {
			return // by another name, too
		}
	}
	t, err := f.take(n)
	switch {
	case err == nil:
		t.known = t.info.Size()
		if s, ok := t.file.(io.Seeker); ok { // standard input may have been read in part
			if at, err := s.Seek(0, io.SeekCurrent); err == nil {
				t.offset, t.begin = at, at
			}
		}
		f.options.Progress.expect(n.path)
		f.drain(t, t.known)
	case errors.Is(err, fs.ErrNotExist) && !n.found:
		f.note("waiting for " + n.shown + ": there is no such file yet")
	default:
		f.report(n, err)
	}
}

func (f *follower) watch(n *name) {
	if n.path != "" {
		f.alarm.name(n.path)
	}
}

// take opens the file that has the name.
func (f *follower) take(n *name) (*tail, error) {
	opened, err := n.open()
	if err != nil {
		return nil, err
	}
	t, err := newTail(opened, f.intake(n))
	if err != nil {
		return nil, err
	}
	t.of, n.current, n.trouble = n, t, ""
	f.tails = append(f.tails, t)
	return t, nil
}

func (f *follower) intake(n *name) *intake { return f.options.intake(n.shown, &f.numbers) }

func (f *follower) close() {
	f.alarm.close()
	for _, t := range f.tails {
		t.close()
	}
}

// look reads whatever is new, and returns how long it took to see that there is nothing.
func (f *follower) look() time.Duration {
	began := time.Now()
	f.more, f.passed = false, false
	for _, t := range slices.Clone(f.tails) {
		if t.out {
			f.drain(t, turnBytes)
		}
	}
	for _, n := range slices.Clone(f.names) {
		f.follow(n)
	}
	f.scan()
	f.tidy()
	if f.passed {
		return 0
	}
	return time.Since(began)
}

func (f *follower) wait(looked time.Duration) bool {
	return f.ctx.Err() == nil && (f.more || f.alarm.wait(f.ctx, looked))
}

// drain reads a file to its present end, or so many bytes and then leaves the rest for later.
func (f *follower) drain(t *tail, most int64) {
	if f.unpack(t) {
		return
	}
	for left := max(most, 1); !f.done && !t.over && f.ctx.Err() == nil; {
		if left <= 0 {
			f.more = true
			return
		}
		p, at, err := f.read(t)
		switch {
		case err == nil:
			left -= int64(len(p))
			if at == NoTime {
				f.options.Progress.add(len(p))
			}
			t.busy = time.Now()
			f.pass(t.intake.write(bytes.Clone(p), at))
		case err == io.EOF:
			if t.intake != nil && t.intake.lingers() && time.Since(t.busy) > f.options.lingerTime() {
				f.pass(t.intake.linger())
			}
			return
		case errors.Is(err, errReplaced):
			f.rest(t)
			next := t.intake.rotated(f.intake(t.of))
			f.pass(t.intake.close(EndCut, "file truncated", at), nil)
			t.restart(next)
			f.tell(t.of, "file truncated: reading it from its start")
		default:
			f.fail(t, err)
		}
	}
}

// unpack reads a packed file to its end: that is not one that grows, once its packing is done. It
// reports false for any other file.
func (f *follower) unpack(t *tail) bool {
	if t.offset > 0 || t.file == nil || t.over || !isPacked(t.file) {
		return false
	}
	info, err := t.file.Stat()
	if err != nil || t.known == 0 && time.Since(info.ModTime()) < settleTime {
		return true
	}
	from := &unpacker{from: io.NewSectionReader(t.file, 0, info.Size())}
	yield := func(r Record, err error) bool {
		if err != nil {
			f.pass(nil, err)
		} else {
			f.pass([]Record{r}, nil)
		}
		return !f.done
	}
	for f.ctx.Err() == nil && t.intake.pass(yield, t.intake.next(from)) {
	}
	t.over, t.intake = true, nil
	t.close()
	return true
}

// read reads what comes next of a file, and when that came. A file that was let go of is opened
// again.
func (f *follower) read(t *tail) (p []byte, at time.Duration, err error) {
	if at = time.Since(f.began); t.offset < t.known {
		at = NoTime
	}
	if t.file == nil && !f.reopen(t) || t.rests() {
		return nil, at, io.EOF
	}
	if t.intake == nil {
		t.intake = f.intake(t.of)
	}
	now := time.Now()
	if p, err = t.read(f.buf); err == io.EOF {
		if info, err := t.file.Stat(); err == nil && info.Size() == t.offset {
			t.seen, t.until = info, now
		}
	}
	return p, at, err
}

// fail gives up a file that cannot be read. Where nothing else is followed that is the end.
func (f *follower) fail(t *tail, err error) {
	var recs []Record
	if t.intake != nil {
		recs = t.intake.close(EndCut, Reason(err).Error(), time.Since(f.began))
	}
	t.over = true
	err = readError(t.of.shown, err)
	if len(f.names) == 1 && len(f.places) == 0 {
		f.pass(recs, err)
		return
	}
	f.pass(recs, nil)
	f.note(err.Error())
}

// pass hands records on. After an error, and when the consumer has had enough, it is done.
func (f *follower) pass(recs []Record, err error) {
	f.passed = f.passed || len(recs) > 0
	f.done = f.done || !deliver(f.yield, recs, err)
}

// report says once, in a note, why a name cannot be read. It goes on trying.
func (f *follower) report(n *name, err error) {
	text := openError(n.shown, err).Error()
	if errors.Is(err, fs.ErrNotExist) || text == n.trouble {
		return
	}
	n.trouble = text
	f.note(text)
}

// tell says in a note what became of a file; which one, if there are several.
func (f *follower) tell(n *name, text string) {
	if len(f.names)+len(f.places) > 1 {
		text = n.shown + ": " + text
	}
	f.note(text)
}

func (f *follower) note(text string) {
	f.pass([]Record{{Exchange: max(1, f.numbers.last), At: time.Since(f.began), Note: text}}, nil)
}
