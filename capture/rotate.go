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

// This file tells what becomes of files: who has a name now, who had it, what is a copy of what.

// follow reads what is new in the file of a name, and looks which file that is now. A name without
// a file is nothing to report: in a rotation there is a moment without one.
func (f *follower) follow(n *name) {
	t := n.current
	if n.path == "" {
		f.drain(t, turnBytes)
		return
	}
	info, err := os.Stat(n.path)
	n.gone = errors.Is(err, fs.ErrNotExist)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("no regular file any more")
	}
	is := err == nil && t != nil && os.SameFile(info, t.info)
	if t != nil && !(is && t.same(info)) {
		f.drain(t, turnBytes)
	}
	switch {
	case f.done:
	case is:
		n.trouble = ""
	case err == nil:
		f.change(n, info)
	default:
		f.report(n, err)
	}
}

// change has a name mean the file that has it now: one that had another name, or a new one.
func (f *follower) change(n *name, info fs.FileInfo) {
	old := n.current
	next := f.known(info)
	isNew := next == nil
	if isNew {
		var err error
		if next, err = f.take(n); err != nil {
			f.report(n, err)
			return
		}
		if old != nil && old.of == n {
			next.intake = old.intake.rotated(next.intake)
		}
		f.watch(n)
	}
	n.current, n.trouble, next.out = next, "", false
	switch {
	case old == nil && n.found:
	case old == nil:
		f.note(n.shown + " is there now")
	default:
		f.leave(n, old, isNew)
	}
	f.drain(next, turnBytes)
}

// leave has a name have another file than before. The old one is read while it grows.
func (f *follower) leave(n *name, old *tail, isNew bool) {
	if old.of == n && (isNew || !n.found) {
		f.tell(n, "file rotated: reading the new one, and the old one while it grows")
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
	if len(before) > oldFileLimit {
		f.retire(slices.MinFunc(before, func(a, b *tail) int { return a.busy.Compare(b.busy) }))
	}
}

// known is the file among those that are read already, nil if it is none.
func (f *follower) known(info fs.FileInfo) *tail {
	for _, t := range f.tails {
		if os.SameFile(info, t.info) && !f.reused(t, info) {
			return t
		}
	}
	return nil
}

// reused reports whether a file that was let go of has only the number of a new one.
func (f *follower) reused(t *tail, info fs.FileInfo) bool {
	return t.file == nil && info.Size() < t.offset
}

// tidy gives up files that were rotated or are gone, when they were quiet for long, and holds no
// more files open than it may.
func (f *follower) tidy() {
	open := 0
	for _, t := range slices.Clone(f.tails) {
		if (t.out || f.lost(t)) && time.Since(t.busy) > f.stay {
			f.retire(t)
		}
		if t.file != nil {
			open++
		}
	}
	for _, t := range f.tails {
		if open <= mostOpen {
			return
		}
		if t.file != nil && t.of.path != "" && t.seen != nil && !t.out && time.Since(t.busy) > f.stay {
			t.close()
			open--
		}
	}
}

// lost reports whether a file that was found is found no more.
func (f *follower) lost(t *tail) bool {
	return !f.done && t.of.found && !slices.ContainsFunc(f.names, func(n *name) bool { return n.current == t && !n.gone })
}

// retire gives a rotated file up. If it has another name now it is only no longer what it was: it
// is read on if it grows after all.
func (f *follower) retire(t *tail) {
	t.close()
	if t.intake != nil {
		f.pass(t.intake.close(EndCut, "file rotated", time.Since(f.began)), nil)
		t.intake = nil
	}
	t.out = false
	if slices.ContainsFunc(f.names, func(n *name) bool { return n.current == t && !n.gone }) {
		return
	}
	f.tails = slices.DeleteFunc(f.tails, func(o *tail) bool { return o == t })
	f.names = slices.DeleteFunc(f.names, func(n *name) bool {
		gone := n.found && n.gone && n.current == t
		if gone {
			delete(f.byPath, n.path)
		}
		return gone
	})
}

// reopen opens a file that was let go of, by a name that it has.
func (f *follower) reopen(t *tail) bool {
	for _, n := range f.names {
		if n.current != t || n.path == "" {
			continue
		}
		opened, err := n.open()
		if err != nil {
			continue
		}
		if info, err := opened.Stat(); err == nil && os.SameFile(info, t.info) {
			t.file = opened
			return true
		}
		opened.Close()
	}
	return false
}

// rest reads what a file that was truncated had behind what was read of it, if it was copied before,
// as logrotate's copytruncate does.
func (f *follower) rest(t *tail) {
	if t.of.path == "" || t.offset == 0 {
		return
	}
	kept := t.file
	defer func() { t.file = kept }()
	for _, path := range copies(t.of.path) {
		c, err := os.Open(path)
		if err != nil {
			continue
		}
		if info, err := c.Stat(); err == nil && info.Size() > t.offset && info.Mode().IsRegular() && t.in(c) {
			t.file = c
			for p, err := t.read(f.buf); err == nil && !f.done; p, err = t.read(f.buf) {
				f.pass(t.intake.write(slices.Clone(p), time.Since(f.began)))
			}
			c.Close()
			return
		}
		c.Close()
	}
}

// copies are files beside one that are named as what a rotation leaves of it, the youngest first.
func copies(path string) []string {
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
	for _, info := range found[:min(len(found), oldFileLimit)] {
		paths = append(paths, filepath.Join(dir, info.Name()))
	}
	return paths
}

// rotatedFrom reports whether a name is one that a rotation gives what had the name base:
// app.log.1, app.log-20261122, app.log.2.gz.
func rotatedFrom(name, base string) bool {
	rest, ok := strings.CutPrefix(name, base)
	return ok && len(rest) > 1 && strings.ContainsRune(".-_", rune(rest[0]))
}

// adopt takes a file that appeared in a followed directory. One that is only packed, or a copy of
// what is read already, is not read again.
func (f *follower) adopt(n *name) {
	f.byPath[n.path] = n
	base := slices.IndexFunc(f.names, func(o *name) bool { return o.current != nil && rotatedFrom(n.path, o.path) })
	if base >= 0 && packedName(n.path) {
		f.note(n.shown + " is passed over: it is " + f.names[base].shown + " as it was, packed")
		return
	}
	f.names = append(f.names, n)
	info, err := os.Stat(n.path)
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	if n.current = f.known(info); n.current != nil {
		return
	}
	t, err := f.take(n)
	if err != nil {
		f.report(n, err)
		return
	}
	if base >= 0 {
		f.copied(t)
	}
	f.drain(t, turnBytes)
}

// copied finds out whether a new file is a copy of one that is read.
func (f *follower) copied(t *tail) {
	for _, of := range f.tails {
		switch {
		case of == t || of.of.path == "" || !rotatedFrom(t.of.path, of.of.path):
		case of.was.offset >= lastPrint && of.was.in(t.file):
			t.prints = of.was.clone()
			return
		case of.offset >= lastPrint && of.in(t.file):
			t.twin = &twin{of, of.times}
			return
		}
	}
}

// packedName reports whether a name says that the file is compressed.
func packedName(path string) bool {
	switch filepath.Ext(path) {
	case ".gz", ".zst", ".bz2", ".xz", ".Z", ".lz4":
		return true
	}
	return false
}

// scan looks which files are in the places now.
func (f *follower) scan() {
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
		for _, path := range f.list(p) {
			if f.byPath[path] == nil {
				f.adopt(found(path))
			}
		}
	}
	now := time.Now()
	f.scanned.soonest, f.scanned.due = now.Add(9*now.Sub(began)), now.Add(max(f.alarm.scan, 9*now.Sub(began)))
}

// list is the files of a place, and has what changes in its directories tell.
func (f *follower) list(p *place) []string {
	files := p.find()
	for _, dir := range p.dirs {
		f.alarm.dir(dir)
	}
	return files
}
