package capture

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The functions in this file recognise renamed, rotated and copied files.

// followName reads new bytes from the file of a name, and finds out which file has the name now. It doesn't report a
// name without a file, because that happens for a moment in each rotation.
func (f *follower) followName(n *followedName) {
	t := n.current
	if n.path == "" {
		f.readAvailable(t, turnBytes)
		return
	}
	info, err := os.Stat(n.path)
	n.gone = errors.Is(err, fs.ErrNotExist)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("no longer a regular file")
	}
	is := err == nil && t != nil && os.SameFile(info, t.info)
	if t != nil && !(is && t.isUnchanged(info)) {
		f.readAvailable(t, turnBytes)
	}
	switch {
	case f.done:
	case is:
		n.trouble = ""
	case err == nil:
		f.followRotation(n, info)
	default:
		f.noteUnreadable(n, err)
	}
}

// followRotation makes a rotated name follow the file that has the name now: a file that had another name, or
// a new file.
func (f *follower) followRotation(n *followedName, info fs.FileInfo) {
	old := n.current
	next := f.findOpen(info)
	isNew := next == nil
	if isNew {
		var err error
		if next, err = f.openFile(n); err != nil {
			f.noteUnreadable(n, err)
			return
		}
		if old != nil && old.of == n {
			next.intake = old.intake.afterRotation(next.intake)
		}
		f.watchName(n)
	}
	n.current, n.trouble, next.out = next, "", false
	switch {
	case old == nil && n.found:
	case old == nil:
		f.deliverNote(n.shown + " appeared")
	default:
		f.detachName(n, old, isNew)
	}
	f.readAvailable(next, turnBytes)
}

// detachName detaches a name from the file that had it before. That file is still read while it grows.
func (f *follower) detachName(n *followedName, old *tail, isNew bool) {
	if old.of == n && (isNew || !n.found) {
		f.noteChange(n, "file rotated: reading the new file, and the old one while it grows")
	}
	if old.of == n {
		old.out, old.busy = true, time.Now()
	}
	var before []*tail
	for _, t := range f.tails {
		if t.out && t.of == n {
			before = append(before, t)
		}
	}
	if len(before) > maxRotatedFiles {
		f.releaseRotated(slices.MinFunc(before, func(a, b *tail) int { return a.busy.Compare(b.busy) }))
	}
}

// findOpen returns the tail that reads this file, or nil if the file is not being read.
func (f *follower) findOpen(info fs.FileInfo) *tail {
	for _, t := range f.byID[fileIDOf(info)] {
		if os.SameFile(info, t.info) && !f.isReusedInode(t, info) {
			return t
		}
	}
	return nil
}

// fileID is the system's number of a file. Different files may have the same fileID, but a file has only
// one.
type fileID struct{ device, inode uint64 }

// addTail adds a file to the files that are read.
func (f *follower) addTail(t *tail) {
	f.tails = append(f.tails, t)
	id := fileIDOf(t.info)
	f.byID[id] = append(f.byID[id], t)
}

// dropTail removes a file from the files that are read.
func (f *follower) dropTail(t *tail) {
	is := func(o *tail) bool { return o == t }
	f.tails = slices.DeleteFunc(f.tails, is)
	id := fileIDOf(t.info)
	if f.byID[id] = slices.DeleteFunc(f.byID[id], is); len(f.byID[id]) == 0 {
		delete(f.byID, id)
	}
}

// isReusedInode reports whether a file is probably not the closed file t, although it has the same inode
// number: it has fewer bytes than were read from t.
func (f *follower) isReusedInode(t *tail, info fs.FileInfo) bool {
	return t.file == nil && info.Size() < t.offset
}

// hasName reports whether the file still has the name by which it was found.
func (t *tail) hasName() bool { return t.of.current == t && !t.of.gone }

// isMissing reports whether a found file no longer has a name.
func (f *follower) isMissing(t *tail) bool {
	return !f.done && t.of.found && !t.hasName() && !slices.ContainsFunc(f.names, func(n *followedName) bool { return n.current == t && !n.gone })
}

// releaseRotated ends the reading of a rotated file. If the file has another name now, only the old stream
// ends, and the file is still read if it grows.
func (f *follower) releaseRotated(t *tail) {
	t.close()
	if t.intake != nil {
		f.deliverRecords(t.intake.close(EndCut, "file rotated", time.Since(f.began)), nil)
		t.intake = nil
	}
	t.out = false
	if slices.ContainsFunc(f.names, func(n *followedName) bool { return n.current == t && !n.gone }) {
		return
	}
	f.dropTail(t)
	f.names = slices.DeleteFunc(f.names, func(n *followedName) bool {
		gone := n.found && n.gone && n.current == t
		if gone {
			delete(f.byPath, n.path)
		}
		return gone
	})
}

// reopenFile opens a closed file by one of its names. It returns false if no name leads to the file.
func (f *follower) reopenFile(t *tail) bool {
	if f.reopenByName(t, t.of) {
		return true
	}
	return slices.ContainsFunc(f.names, func(n *followedName) bool { return n != t.of && f.reopenByName(t, n) })
}

func (f *follower) reopenByName(t *tail, n *followedName) bool {
	if n.current != t || n.path == "" {
		return false
	}
	opened, err := f.openByName(n)
	if err != nil {
		f.noteUnreadable(n, err)
		return false
	}
	if info, err := opened.Stat(); err != nil || !os.SameFile(info, t.info) {
		opened.Close()
		return false
	}
	t.file = opened
	f.addOpened(t)
	return true
}

// readRemainder reads the bytes of a truncated file that had not been read before the truncation. They are in the
// file's copy, if it was copied first, as logrotate's copytruncate does.
func (f *follower) readRemainder(t *tail) {
	if t.of.path == "" || t.offset == 0 {
		return
	}
	kept := t.file
	defer func() { t.file = kept }()
	for _, path := range rotationCopies(t.of.path) {
		c, err := os.Open(path)
		if err != nil {
			continue
		}
		if info, err := c.Stat(); err == nil && info.Size() > t.offset && info.Mode().IsRegular() && t.matches(c) {
			t.file = c
			for p, err := t.read(f.buf); err == nil && !f.done; p, err = t.read(f.buf) {
				f.deliverRecords(t.intake.write(slices.Clone(p), time.Since(f.began)))
			}
			c.Close()
			return
		}
		c.Close()
	}
}

// rotationCopies returns the files next to path with the name of a rotated copy, the newest first.
func rotationCopies(path string) []string {
	dir, base := filepath.Split(path)
	entries, _ := os.ReadDir(filepath.Clean(dir + "."))
	var found []fs.FileInfo
	for _, e := range entries {
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && rotatedFrom(e.Name(), base) {
			found = append(found, info)
		}
	}
	slices.SortFunc(found, func(a, b fs.FileInfo) int { return b.ModTime().Compare(a.ModTime()) })
	var paths []string
	for _, info := range found[:min(len(found), maxRotatedFiles)] {
		paths = append(paths, filepath.Join(dir, info.Name()))
	}
	return paths
}

// rotatedFrom reports whether a rotation may give the name to a file named base: app.log.1,
// app.log-20261122, app.log.2.gz.
func rotatedFrom(name, base string) bool {
	rest, ok := strings.CutPrefix(name, base)
	return ok && len(rest) > 1 && strings.ContainsRune(".-_", rune(rest[0]))
}

// addNewFile adds a file that appeared in a followed directory. It skips a file whose name says that it is a
// compressed copy of a followed file. For a plain copy, it records which content was already read from the
// original.
func (f *follower) addNewFile(n *followedName) {
	f.byPath[n.path] = n
	base := f.findRotationBase(n.path)
	if base != nil && packedName(n.path) {
		f.deliverNote(n.shown + " is skipped: it is a compressed copy of " + base.shown)
		return
	}
	f.addName(n)
	info, err := os.Stat(n.path)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	if n.current = f.findOpen(info); n.current != nil {
		return
	}
	t, err := f.openFile(n)
	if err != nil {
		f.noteUnreadable(n, err)
		return
	}
	if base != nil {
		f.detectCopy(t)
	}
	f.readAvailable(t, turnBytes)
}

// addName adds a name to the followed names.
func (f *follower) addName(n *followedName) {
	f.added++
	n.number = f.added
	f.names = append(f.names, n)
}

// findRotationBase returns the followed name from which a rotation may have made this path, or nil if there is
// none. If there are several names, it returns the one that was followed first.
func (f *follower) findRotationBase(path string) (base *followedName) {
	for i := range path {
		n := f.byPath[path[:i]]
		if n != nil && n.current != nil && rotatedFrom(path, n.path) && (base == nil || n.number < base.number) {
			base = n
		}
	}
	return base
}

// detectCopy finds out whether a new file is a copy of a file that is read.
func (f *follower) detectCopy(t *tail) {
	for _, of := range f.tails {
		switch {
		case of == t || of.of.path == "" || !rotatedFrom(t.of.path, of.of.path):
		case of.was.offset >= lastPrint && of.was.matches(t.file):
			t.fingerprint = of.was.clone()
			return
		case of.offset >= lastPrint && of.matches(t.file):
			t.twin = &copyOf{of, of.times}
			return
		}
	}
}

// packedName reports whether a path is the name of a compressed file.
func packedName(path string) bool {
	switch filepath.Ext(path) {
	case ".gz", ".zst", ".bz2", ".xz", ".Z", ".lz4":
		return true
	}
	return false
}

// scanPlaces searches the places for new files, if that is due.
func (f *follower) scanPlaces() {
	due := f.scanned.due
	if f.alarm.changed {
		due = f.scanned.soonest
	}
	began := time.Now()
	if len(f.places) == 0 || f.done || began.Before(due) {
		return
	}
	f.alarm.changed = false
	for _, p := range f.places {
		for _, path := range f.listPlace(p) {
			if f.byPath[path] == nil {
				f.addNewFile(newFoundName(path))
			}
		}
	}
	now := time.Now()
	f.scanned.soonest, f.scanned.due = now.Add(9*now.Sub(began)), now.Add(max(f.alarm.scan, 9*now.Sub(began)))
}

// listPlace returns the files of a place, and watches its directories for changes.
func (f *follower) listPlace(p *searchPath) []string {
	files := p.find()
	for _, dir := range p.dirs {
		a := f.alarm
		a.dirs[filepath.Clean(dir)] = true
		a.watchPath(dir)
	}
	return files
}

const (
	headPrint = 1 << 10 // number of bytes at the beginning of a file that identify its content
	lastPrint = 64      // number of bytes before the read offset that also identify it
)

// errReplaced means that the file is the same, but its content was replaced.
var errReplaced = errors.New("content replaced")

// fingerprint holds some bytes of a file's content, which identify the content.
type fingerprint struct {
	offset int64  // where reading continues
	first  []byte // the first bytes read, up to headPrint
	begin  int64  // where first begins
	last   []byte // the last bytes read, up to lastPrint
}

// add updates the fingerprint with bytes that were read.
func (p *fingerprint) add(read []byte) {
	n := len(read)
	p.offset += int64(n)
	p.first = append(p.first, read[:min(n, headPrint-len(p.first))]...)
	p.last = append(p.last, read[max(0, n-lastPrint):]...)
	p.last = p.last[max(0, len(p.last)-lastPrint):]
}

func (p fingerprint) clone() fingerprint {
	p.first, p.last = slices.Clone(p.first), slices.Clone(p.last)
	return p
}

// matches reports whether a file has this content.
func (p *fingerprint) matches(file io.ReaderAt) bool {
	return hasBytesAt(file, p.first, p.begin) && hasBytesAt(file, p.last, p.offset-int64(len(p.last)))
}

// tail is one file that is read as it grows, whatever its current name.
//
// If a file was truncated and then grew beyond the old offset, its size doesn't show the truncation. So a
// tail stores some of the bytes that it has read, and compares them around every read.
type tail struct {
	fingerprint
	file   osFile        // nil while closed
	info   fs.FileInfo   // identifies the file, whatever its name
	of     *followedName // the name by which it was found
	intake *inputReader
	known  int64       // the bytes before this offset existed when following began
	was    fingerprint // fingerprint of the previous content
	times  int         // number of times that its content was replaced
	twin   *copyOf     // the content that it is a copy of

	busy  time.Time   // time when it last had new bytes
	seen  fs.FileInfo // its state when it was last read to its end
	until time.Time   // time when it was last read to its end
	out   bool        // another file has its name now
	over  bool        // nothing more is read: it is unreadable, or compressed and read completely
}

func newTail(f osFile, in *inputReader) (*tail, error) {
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	return &tail{file: f, info: info, intake: in, busy: time.Now()}, nil
}

// read returns the next bytes, io.EOF if there are none yet, or errReplaced. The bytes share buf.
func (t *tail) read(buf []byte) ([]byte, error) {
	if !t.matches(t.file) {
		return nil, errReplaced
	}
	if t.offset < t.known {
		buf = buf[:min(int64(len(buf)), t.known-t.offset)]
	}
	n, err := t.file.ReadAt(buf, t.offset)
	if n == 0 {
		return nil, err
	}
	p := buf[:n]
	if !t.matches(t.file) && hasBytesAt(t.file, p, t.offset) {
		return nil, errReplaced // p is from the new content, which will be read from its start
	}
	t.add(p)
	return p, nil
}

// hasBytesAt reports whether a file has the bytes p at the offset.
func hasBytesAt(file io.ReaderAt, p []byte, offset int64) bool {
	now := make([]byte, len(p))
	n, err := file.ReadAt(now, offset)
	if err != nil && err != io.EOF {
		return true // a failing read shows nothing about the content
	}
	return bytes.Equal(now[:n], p)
}

// restartWith makes the tail read the file from its start, as new content.
func (t *tail) restartWith(in *inputReader) {
	t.was, t.fingerprint, t.known, t.intake = t.fingerprint, fingerprint{}, 0, in
	t.times++
}

// close closes the file. The state of reading is kept.
func (t *tail) close() {
	if t.file != nil {
		t.file.Close()
		t.file = nil
	}
}

// settleTime is the minimum age of a modification time that isUnchanged trusts. The age counts from the last time
// that the file was read to its end. After a more recent change, the next change might leave the modification time as
// it is.
const settleTime = 2 * time.Second

// isUnchanged reports whether a file has not changed since it was last read to its end.
func (t *tail) isUnchanged(now fs.FileInfo) bool {
	return t.seen != nil && os.SameFile(now, t.seen) && now.Size() == t.seen.Size() && now.ModTime().Equal(t.seen.ModTime()) &&
		t.until.Sub(now.ModTime()) > settleTime
}

// copyOf identifies the content that a file is a copy of: the content of another file, after a number of
// replacements. While that content is still there, the copy contains nothing new.
type copyOf struct {
	of    *tail
	times int
}

// isIdleCopy reports whether the file contains nothing new because it is a copy of another file. Once the original is
// replaced, or is shorter than the copy, it returns false, and the bytes that were read from the original count as
// read from the copy. Only the bytes after them are new.
func (t *tail) isIdleCopy() bool {
	if t.twin == nil {
		return false
	}
	of, then := t.twin.of, t.twin.of.fingerprint
	if of.times != t.twin.times {
		then = of.was
	} else if of.file == nil || !t.isLongerThan(of) {
		return true
	}
	if t.twin = nil; then.matches(t.file) {
		t.fingerprint = then.clone()
	}
	return false
}

// isLongerThan reports whether a copy has more bytes than the other file, which still has the copied
// content.
func (t *tail) isLongerThan(of *tail) bool {
	copied, err := t.file.Stat()
	if err != nil {
		return false
	}
	info, err := of.file.Stat()
	return err == nil && copied.Size() > info.Size() && of.matches(of.file)
}
