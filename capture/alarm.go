package capture

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// alarm tells when it may be worth looking again. The file system's notifications are only a hint
// that comes early: they miss symbolic links, network drives and directories that were made anew,
// and so there is always the clock.
type alarm struct {
	every   time.Duration     // the clock
	scan    time.Duration     // that of directories
	watcher *fsnotify.Watcher // nil if there is none
	events  <-chan fsnotify.Event
	errors  <-chan error
	names   map[string]bool // the last elements of the names that are followed
	dirs    map[string]bool // directories of which every file is
	watched map[string]bool
	changed bool // something came to one of these directories, or went
}

func newAlarm(o Options) *alarm {
	a := &alarm{every: cmp.Or(o.poll, pollEvery), scan: cmp.Or(10*o.poll, scanEvery), names: map[string]bool{}, dirs: map[string]bool{}, watched: map[string]bool{}}
	if o.blind {
		return a
	}
	if w, err := fsnotify.NewWatcher(); err == nil {
		a.watcher, a.events, a.errors = w, w.Events, w.Errors
	}
	return a
}

// name has changes of a file tell.
func (a *alarm) name(path string) {
	a.names[filepath.Base(path)] = true
	a.watch(filepath.Dir(path))
	a.watch(path) // for what a symbolic link points to
}

// dir has changes of whatever is in a directory tell.
func (a *alarm) dir(path string) {
	a.dirs[filepath.Clean(path)] = true
	a.watch(path)
}

// watch asks for the notifications of a path. Where there are none, the clock is left.
func (a *alarm) watch(path string) {
	if a.watcher != nil && !a.watched[path] {
		a.watched[path] = a.watcher.Add(path) == nil
	}
}

// forget asks anew when a path is watched again, which another file or directory may have by then.
func (a *alarm) forget(path string) {
	if a.watched[path] {
		_ = a.watcher.Remove(path)
		delete(a.watched, path)
	}
}

// wait returns when there may be news, or false when ctx is done. A look that took long is given
// time: looking is a tenth of what there is to do at most.
func (a *alarm) wait(ctx context.Context, looked time.Duration) bool {
	if !pause(ctx, min(9*looked, a.every)) {
		return false
	}
	clock := time.NewTimer(max(a.every, 9*looked))
	defer clock.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-clock.C:
			return true
		case e, ok := <-a.events:
			if !ok {
				a.events = nil
			} else if a.tells(e) {
				a.drain()
				return true
			}
		case _, ok := <-a.errors:
			if !ok {
				a.errors = nil
			}
		}
	}
}

// tells reports whether an event is about something that is followed.
func (a *alarm) tells(e fsnotify.Event) bool {
	if e.Has(fsnotify.Remove | fsnotify.Rename) {
		a.forget(e.Name)
	}
	within := a.dirs[filepath.Dir(e.Name)] || a.dirs[filepath.Clean(e.Name)]
	a.changed = a.changed || within && e.Has(fsnotify.Create|fsnotify.Remove|fsnotify.Rename)
	return within || a.names[filepath.Base(e.Name)]
}

// drain takes the events that have come: one look answers them all.
func (a *alarm) drain() {
	for {
		select {
		case e, ok := <-a.events:
			if !ok {
				a.events = nil
				return
			}
			a.tells(e)
		default:
			return
		}
	}
}

func (a *alarm) close() {
	if a.watcher != nil {
		a.watcher.Close()
	}
}

// pause waits so long, and reports false when ctx is done.
func pause(ctx context.Context, d time.Duration) bool {
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
