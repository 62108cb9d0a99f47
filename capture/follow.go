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
	"syscall"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	maxRotatedFiles = 8       // maximum number of rotated files read per name; the one that has been quiet for longest is dropped first
	maxOpenFiles    = 200     // maximum number of files that are kept open; others are opened again when they grow
	openReserve     = 50      // number of additional files that may be open, so that closing is rare
	turnBytes       = 8 << 20 // number of bytes read from one file before the next file gets its turn
)

// follower reads the files that currently have certain names, and for a while the files that had these names
// before. It does everything in the consumer's goroutine: it checks files, reads them, passes records on and
// waits.
type follower struct {
	ctx     context.Context
	options Options
	stay    time.Duration
	began   time.Time
	numbers exchangeNumbers
	yield   func(Record, error) bool
	buf     []byte
	alarm   *changeWatcher

	names   []*followedName // in the order in which they are checked
	added   int             // number of names that were ever added
	byPath  map[string]*followedName
	places  []*searchPath
	scanned struct{ soonest, due time.Time } // earliest and latest time of the next search of the places
	tails   []*tail                          // every file that has or had one of the names
	byID    map[fileID][]*tail               // the same tails by file ID, in the same order
	opened  []*tail                          // the tails that were opened; some are closed again
	tooMany bool                             // a note reported that there are too many open files
	full    struct {                         // about the latest check of all names
		took time.Duration
		due  time.Time // when the next check is due
	}
	more   bool // some file already has more to read
	passed bool // this check passed records on
	done   bool
}

// newFoundName returns the followedName for a file that was found in a directory or by a pattern.
func newFoundName(path string) *followedName {
	return &followedName{path: path, shown: path, open: fileOpener(path), found: true}
}

func fileOpener(path string) func() (osFile, error) {
	return func() (osFile, error) { return os.Open(path) }
}

// followedName is a path that is followed.
type followedName struct {
	path    string // "" for standard input
	shown   string // the user's name for it
	open    func() (osFile, error)
	number  int    // number of the name, in the order in which names are added
	found   bool   // found in a directory or by a pattern, not named by the user
	current *tail  // the file that had the name at the last check; kept when the name is gone
	trouble string // the last reported error of the name
	gone    bool   // no file has the name
}

// followNames reads files as they grow. The end of a file doesn't end the source; the source ends when ctx is
// done.
func followNames(ctx context.Context, o Options, names []*followedName, places []*searchPath) Source {
	began := time.Now()
	return func(yield func(Record, error) bool) {
		f := newFollower(ctx, o, places, began, yield)
		defer f.close()
		f.openNames(names)
		for looked := f.pollFiles(); !f.done && f.waitForMore(looked); looked = f.pollFiles() {
		}
	}
}

func newFollower(ctx context.Context, o Options, places []*searchPath, began time.Time, yield func(Record, error) bool) *follower {
	return &follower{
		ctx: ctx, options: o, stay: cmp.Or(o.stay, oldFileStay), began: began, yield: yield,
		buf: make([]byte, chunkSize), alarm: newChangeWatcher(o), places: places, byPath: map[string]*followedName{},
		byID: map[fileID][]*tail{},
	}
}

// openNames opens the files that exist. Their present content has no times.
func (f *follower) openNames(names []*followedName) {
	for _, p := range f.places {
		files := f.listPlace(p)
		for _, path := range files {
			names = append(names, newFoundName(path))
		}
		switch words := p.left.describe(); {
		case words != "":
			f.deliverNote(p.path + ": " + words)
		case len(files) == 0:
			f.deliverNote("waiting for " + p.path + ": no file yet")
		}
	}
	for _, n := range names {
		if f.done {
			return
		}
		if n.path == "" || f.byPath[n.path] == nil {
			f.addName(n)
			f.byPath[n.path] = n
			f.watchName(n)
			f.openFirst(n)
		}
	}
}

// openFirst opens a name for the first time. A missing file is waited for.
func (f *follower) openFirst(n *followedName) {
	if info, err := os.Stat(n.path); err == nil && n.path != "" {
		if n.current = f.findOpen(info); n.current != nil {
			return // already open under another name
		}
	}
	t, err := f.openFile(n)
	switch {
	case err == nil:
		t.known = t.info.Size()
		if s, ok := t.file.(io.Seeker); ok { // standard input may already have been read in part
			if at, err := s.Seek(0, io.SeekCurrent); err == nil {
				t.offset, t.begin = at, at
			}
		}
		f.options.Progress.expectFile(n.path)
		f.readAvailable(t, t.known)
	case errors.Is(err, fs.ErrNotExist) && !n.found:
		f.deliverNote("waiting for " + n.shown + ": no such file yet")
	default:
		f.noteUnreadable(n, err)
	}
}

func (f *follower) watchName(n *followedName) {
	if n.path != "" {
		f.alarm.watchFile(n.path)
	}
}

// openFile opens the file that has the name now.
func (f *follower) openFile(n *followedName) (*tail, error) {
	opened, err := f.openByName(n)
	if err != nil {
		return nil, err
	}
	t, err := newTail(opened, f.newReader(n))
	if err != nil {
		return nil, err
	}
	t.of, n.current, n.trouble = n, t, ""
	f.addTail(t)
	f.addOpened(t)
	return t, nil
}

// openByName opens the file that has the name now. If the system allows no more open files, others are closed.
func (f *follower) openByName(n *followedName) (osFile, error) {
	opened, err := n.open()
	if err != nil && errors.Is(err, syscall.EMFILE) {
		f.closeOldest(len(f.opened)/2, nil)
		opened, err = n.open()
	}
	return opened, err
}

// addOpened counts a file that was opened, and limits the number of open files.
func (f *follower) addOpened(t *tail) {
	if f.opened = append(f.opened, t); len(f.opened) > maxOpenFiles+openReserve {
		f.closeOldest(maxOpenFiles, t)
	}
}

// closeOldest closes the files that have been quiet for longest, until the number of open files is at most the limit
// in the parameter most. It doesn't close files that can't be opened again because they no longer have a name.
func (f *follower) closeOldest(most int, except *tail) {
	f.opened = slices.DeleteFunc(f.opened, func(t *tail) bool { return t.file == nil })
	slices.SortStableFunc(f.opened, func(a, b *tail) int { return a.busy.Compare(b.busy) })
	for _, t := range f.opened[:max(0, len(f.opened)-most)] {
		if t != except && t.of.path != "" && t.hasName() {
			t.close()
		}
	}
	f.opened = slices.DeleteFunc(f.opened, func(t *tail) bool { return t.file == nil })
}

func (f *follower) newReader(n *followedName) *inputReader {
	return f.options.newReader(n.shown, &f.numbers)
}

func (f *follower) close() {
	if f.alarm.watcher != nil {
		f.alarm.watcher.Close()
	}
	for _, t := range f.tails {
		t.close()
	}
}

// pollFiles reads new bytes, up to turnBytes from each file. If nothing was new, it returns the duration of the
// check, otherwise 0. A check of all names takes a long time if there are many. So between two such checks, only
// names whose files have changed are checked.
func (f *follower) pollFiles() time.Duration {
	began := time.Now()
	names, full := f.changedNames(began)
	f.more, f.passed = false, false
	for _, t := range slices.Clone(f.tails) {
		if t.out {
			f.readAvailable(t, turnBytes)
		}
	}
	for _, n := range names {
		f.followName(n)
	}
	if full {
		if !f.passed {
			f.full.took = time.Since(began)
		}
		f.full.due = time.Now().Add(max(f.alarm.every, 9*f.full.took))
	}
	f.scanPlaces()
	for _, t := range slices.Clone(f.tails) {
		if (t.out || f.isMissing(t)) && time.Since(t.busy) > f.stay {
			f.releaseRotated(t)
		}
	}
	if f.passed {
		return 0
	}
	return time.Since(began)
}

// changedNames returns the names to check, and whether these are all names.
func (f *follower) changedNames(now time.Time) (names []*followedName, all bool) {
	written := f.alarm.written // nil if other files may have changed
	f.alarm.written = nil
	if written == nil || f.more || !now.Before(f.full.due) {
		return slices.Clone(f.names), true
	}
	for path := range written {
		switch n := f.byPath[path]; {
		case n != nil:
			names = append(names, n)
		case !f.alarm.changed: // the event may name a followed file by another path; scanPlaces finds new files
			return slices.Clone(f.names), true
		}
	}
	return names, false
}

func (f *follower) waitForMore(looked time.Duration) bool {
	return f.ctx.Err() == nil && (f.more || f.alarm.waitForEvent(f.ctx, looked, f.full.due))
}

// readAvailable reads a file to its present end, but stops once it has read as many bytes as the parameter most. Then
// it sets f.more, so that the rest is read later.
func (f *follower) readAvailable(t *tail, most int64) {
	if f.readCompressed(t) {
		return
	}
	for left := max(most, 1); !f.done && !t.over && f.ctx.Err() == nil; {
		if left <= 0 {
			f.more = true
			return
		}
		p, at, err := f.readNext(t)
		switch {
		case err == nil:
			left -= int64(len(p))
			if at == NoTime {
				f.options.Progress.add(len(p))
			}
			t.busy = time.Now()
			f.deliverRecords(t.intake.write(bytes.Clone(p), at))
		case err == io.EOF:
			if t.intake != nil && t.intake.holdsBack() && time.Since(t.busy) > f.options.lingerTime() {
				f.deliverRecords(t.intake.decideNow())
			}
			return
		case errors.Is(err, errReplaced):
			f.readRemainder(t)
			next := t.intake.afterRotation(f.newReader(t.of))
			f.deliverRecords(t.intake.close(EndCut, "file truncated", at), nil)
			t.restartWith(next)
			f.noteChange(t.of, "file truncated: reading from the start")
		default:
			f.giveUp(t, err)
		}
	}
}

// readCompressed reads a compressed file to its end, because such a file doesn't grow once it is written. A file that
// appeared later is read when it has been unchanged for settleTime. readCompressed returns false if the file isn't
// compressed, was already read or can't be opened.
func (f *follower) readCompressed(t *tail) bool {
	if t.offset > 0 || t.over || t.file == nil && !f.reopenFile(t) || !isPacked(t.file) {
		return false
	}
	info, err := t.file.Stat()
	if err != nil || t.known == 0 && time.Since(info.ModTime()) < settleTime {
		return true
	}
	from := &decompressor{from: io.NewSectionReader(t.file, 0, info.Size())}
	yield := func(r Record, err error) bool {
		if err != nil {
			f.deliverRecords(nil, err)
		} else {
			f.deliverRecords([]Record{r}, nil)
		}
		return !f.done
	}
	for f.ctx.Err() == nil && t.intake.deliverChunk(yield, t.intake.readChunk(from)) {
	}
	t.over, t.intake = true, nil
	t.close()
	return true
}

// readNext returns the next bytes of a file and the time at which they arrived. The time is NoTime for bytes
// that were there when the file was found. It opens a closed file again.
func (f *follower) readNext(t *tail) (p []byte, at time.Duration, err error) {
	if at = time.Since(f.began); t.offset < t.known {
		at = NoTime
	}
	if t.file == nil && !f.reopenFile(t) || t.isIdleCopy() {
		return nil, at, io.EOF
	}
	if t.intake == nil {
		t.intake = f.newReader(t.of)
	}
	now := time.Now()
	if p, err = t.read(f.buf); err == io.EOF {
		if info, err := t.file.Stat(); err == nil && info.Size() == t.offset {
			t.seen, t.until = info, now
		}
	}
	return p, at, err
}

// giveUp stops reading a file that can't be read. If nothing else is followed, the source ends with the
// error.
func (f *follower) giveUp(t *tail, err error) {
	var recs []Record
	if t.intake != nil {
		recs = t.intake.close(EndCut, WithoutPath(err).Error(), time.Since(f.began))
	}
	t.over = true
	err = readError(t.of.shown, err)
	if len(f.names) == 1 && len(f.places) == 0 {
		f.deliverRecords(recs, err)
		return
	}
	f.deliverRecords(recs, nil)
	f.deliverNote(err.Error())
}

// deliverRecords yields records. After an error, or when the consumer wants no more, the follower is
// done.
func (f *follower) deliverRecords(recs []Record, err error) {
	f.passed = f.passed || len(recs) > 0
	f.done = f.done || !yieldRecords(f.yield, recs, err)
}

// noteUnreadable reports once, in a note, why a name can't be read. Reading is tried again later.
func (f *follower) noteUnreadable(n *followedName, err error) {
	text := openError(n.shown, err).Error()
	if errors.Is(err, fs.ErrNotExist) || text == n.trouble {
		return
	}
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		if f.tooMany {
			return
		}
		f.tooMany = true
		text += "; other files can't be read either until fewer are open"
	}
	n.trouble = text
	f.deliverNote(text)
}

// noteChange adds a note about a change of a file, with the file's name if there are several files.
func (f *follower) noteChange(n *followedName, text string) {
	if len(f.names)+len(f.places) > 1 {
		text = n.shown + ": " + text
	}
	f.deliverNote(text)
}

func (f *follower) deliverNote(text string) {
	f.deliverRecords([]Record{{Exchange: max(1, f.numbers.last), At: time.Since(f.began), Note: text}}, nil)
}

// changeWatcher reports when it may be worth checking the files again. File system notifications are only
// an early hint: they miss symbolic links, network drives and recreated directories. So a timer always
// runs as well.
type changeWatcher struct {
	every   time.Duration     // minimum timer period for files
	scan    time.Duration     // timer period for directories
	watcher *fsnotify.Watcher // nil without notifications
	events  <-chan fsnotify.Event
	names   map[string]bool // base names of the followed paths
	dirs    map[string]bool // directories in which every file is followed
	watched map[string]bool
	changed bool            // something was created or removed in one of these directories
	written map[string]bool // paths of files that were written to; nil if other files may have changed too
}

func newChangeWatcher(o Options) *changeWatcher {
	a := &changeWatcher{every: cmp.Or(o.poll, pollEvery), scan: cmp.Or(10*o.poll, scanEvery), names: map[string]bool{}, dirs: map[string]bool{}, watched: map[string]bool{}}
	if o.blind {
		return a
	}
	if w, err := fsnotify.NewWatcher(); err == nil {
		a.watcher, a.events = w, w.Events
		// Without a reader for its errors, the watcher may hold the lock that Add and Remove need, and wait for ever.
		go func() {
			for range w.Errors { // the timer makes up for lost events
			}
		}()
	}
	return a
}

// watchFile watches a file for changes.
func (a *changeWatcher) watchFile(path string) {
	a.names[filepath.Base(path)] = true
	a.watchPath(filepath.Dir(path))
	a.watchPath(path) // also watches the target of a symbolic link
}

// watchPath requests notifications for a path. If the system can't send any, only the timer triggers checks of the
// path.
func (a *changeWatcher) watchPath(path string) {
	if a.watcher != nil && !a.watched[path] {
		a.watched[path] = a.watcher.Add(path) == nil
	}
}

// waitForEvent waits until there may be something new, and then returns true: after a notification, or when a timer
// expires. It first sleeps for nine times as long as the last check took (looked), but at most for a.every, so that
// checks don't take most of the time. The timer runs until due, but at least for a.every. waitForEvent returns false
// when ctx is done.
func (a *changeWatcher) waitForEvent(ctx context.Context, looked time.Duration, due time.Time) bool {
	if !sleepFor(ctx, min(9*looked, a.every)) {
		return false
	}
	a.written = map[string]bool{}
	clock := time.NewTimer(max(a.every, time.Until(due)))
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-clock.C:
			a.written = nil
			return true
		case e, ok := <-a.events:
			if !ok {
				a.events = nil
			} else if a.noteEvent(e) {
				a.drainEvents()
				return true
			}
		}
	}
}

// noteEvent reports whether an event may be about a followed path, by its base name or directory. It records
// the event in written and changed.
func (a *changeWatcher) noteEvent(e fsnotify.Event) bool {
	if e.Has(fsnotify.Remove | fsnotify.Rename) {
		// Forget the path, so that watchPath requests notifications again: another file or directory may have the
		// path by then.
		if a.watched[e.Name] {
			_ = a.watcher.Remove(e.Name)
			delete(a.watched, e.Name)
		}
	}
	within := a.dirs[filepath.Dir(e.Name)] || a.dirs[filepath.Clean(e.Name)]
	a.changed = a.changed || within && e.Has(fsnotify.Create|fsnotify.Remove|fsnotify.Rename)
	if !within && !a.names[filepath.Base(e.Name)] {
		return false
	}
	isNew := within && e.Op == fsnotify.Create && !a.names[filepath.Base(e.Name)]
	switch {
	case e.Op != fsnotify.Write && !isNew:
		a.written = nil
	case a.written != nil:
		a.written[e.Name] = true
	}
	return true
}

// drainEvents reads all pending events: one check is enough for them.
func (a *changeWatcher) drainEvents() {
	for {
		select {
		case e, ok := <-a.events:
			if !ok {
				a.events = nil
				return
			}
			a.noteEvent(e)
		default:
			return
		}
	}
}

// sleepFor waits for d. It returns false when ctx is done.
func sleepFor(ctx context.Context, d time.Duration) bool {
	if d < time.Millisecond {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
