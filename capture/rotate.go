package capture

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// This file keeps track of renamed, rotated and copied files.

// followName reads new bytes in the file of a name, and finds out which file has the name now. A name
// without a file is not reported: a rotation has such a moment.
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
		f.switchFile(n, info)
	default:
		f.noteUnreadable(n, err)
	}
}

// switchFile makes a name follow the file that has it now: one that had another name, or a new one.
func (f *follower) switchFile(n *followedName, info fs.FileInfo) {
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

// detachName detaches a name from the file that it had before. That file is read while it grows.
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

// findOpen returns the file among those being read, nil if there is none.
func (f *follower) findOpen(info fs.FileInfo) *tail {
	for _, t := range f.byID[fileIDOf(info)] {
		if os.SameFile(info, t.info) && !f.isReusedInode(t, info) {
			return t
		}
	}
	return nil
}

// fileID is a number of a file. Different files may have the same, but a file has only one.
type fileID struct{ device, inode uint64 }

// addTail adds a file to those that are read.
func (f *follower) addTail(t *tail) {
	f.tails = append(f.tails, t)
	id := fileIDOf(t.info)
	f.byID[id] = append(f.byID[id], t)
}

// dropTail removes a file from those that are read.
func (f *follower) dropTail(t *tail) {
	is := func(o *tail) bool { return o == t }
	f.tails = slices.DeleteFunc(f.tails, is)
	id := fileIDOf(t.info)
	if f.byID[id] = slices.DeleteFunc(f.byID[id], is); len(f.byID[id]) == 0 {
		delete(f.byID, id)
	}
}

// isReusedInode reports whether a new file only has the inode number of a closed one.
func (f *follower) isReusedInode(t *tail, info fs.FileInfo) bool {
	return t.file == nil && info.Size() < t.offset
}

// closeQuiet drops rotated and missing files that were quiet for long.
func (f *follower) closeQuiet() {
	for _, t := range slices.Clone(f.tails) {
		if (t.out || f.isMissing(t)) && time.Since(t.busy) > f.stay {
			f.releaseRotated(t)
		}
	}
}

// hasName reports whether the file still has the name by which it was found.
func (t *tail) hasName() bool { return t.of.current == t && !t.of.gone }

// isMissing reports whether a found file has no name any more.
func (f *follower) isMissing(t *tail) bool {
	return !f.done && t.of.found && !t.hasName() && !slices.ContainsFunc(f.names, func(n *followedName) bool { return n.current == t && !n.gone })
}

// releaseRotated ends the reading of a rotated file. If it has another name now, only the old stream
// ends: the file is read on if it grows.
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

// reopenFile opens a closed file by one of its names.
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

// readRemainder reads the bytes that a truncated file had after those already read, if it was copied
// before, as logrotate's copytruncate does.
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

// addNewFile adds a file that appeared in a followed directory. A file that only compresses or copies one
// that is already read is not read again.
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

// addName adds a name to those that are followed.
func (f *follower) addName(n *followedName) {
	f.added++
	n.number = f.added
	f.names = append(f.names, n)
}

// findRotationBase returns the name of a file that a rotation may have given this path, nil if there is none.
// Of several names it is the one that was followed first.
func (f *follower) findRotationBase(path string) (base *followedName) {
	for i := range path {
		n := f.byPath[path[:i]]
		if n != nil && n.current != nil && rotatedFrom(path, n.path) && (base == nil || n.number < base.number) {
			base = n
		}
	}
	return base
}

// detectCopy finds out whether a new file is a copy of one that is read.
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

// packedName reports whether a name is that of a compressed file.
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
		f.alarm.watchDir(dir)
	}
	return files
}
