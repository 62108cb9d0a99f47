package capture

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// changeWatcher tells when it may be worth looking again. The file system's notifications are only a hint
// that comes early: they miss symbolic links, network drives and directories that were made anew,
// and so there is always the clock.
type changeWatcher struct {
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

func newChangeWatcher(o Options) *changeWatcher {
	a := &changeWatcher{every: cmp.Or(o.poll, pollEvery), scan: cmp.Or(10*o.poll, scanEvery), names: map[string]bool{}, dirs: map[string]bool{}, watched: map[string]bool{}}
	if o.blind {
		return a
	}
	if w, err := fsnotify.NewWatcher(); err == nil {
		a.watcher, a.events, a.errors = w, w.Events, w.Errors
	}
	return a
}

// watchFile has changes of a file tell.
func (a *changeWatcher) watchFile(path string) {
	a.names[filepath.Base(path)] = true
	a.watchPath(filepath.Dir(path))
	a.watchPath(path) // for what a symbolic link points to
}

// watchDir has changes of whatever is in a directory tell.
func (a *changeWatcher) watchDir(path string) {
	a.dirs[filepath.Clean(path)] = true
	a.watchPath(path)
}

// watchPath asks for the notifications of a path. Where there are none, the clock is left.
func (a *changeWatcher) watchPath(path string) {
	if a.watcher != nil && !a.watched[path] {
		a.watched[path] = a.watcher.Add(path) == nil
	}
}

// unwatch asks anew when a path is watched again, which another file or directory may have by then.
func (a *changeWatcher) unwatch(path string) {
	if a.watched[path] {
		_ = a.watcher.Remove(path)
		delete(a.watched, path)
	}
}

// waitForEvent returns when there may be news, or false when ctx is done. A look that took long is given
// time: looking is a tenth of what there is to do at most.
func (a *changeWatcher) waitForEvent(ctx context.Context, looked time.Duration) bool {
	if !sleepFor(ctx, min(9*looked, a.every)) {
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
			} else if a.noteEvent(e) {
				a.drainEvents()
				return true
			}
		case _, ok := <-a.errors:
			if !ok {
				a.errors = nil
			}
		}
	}
}

// noteEvent reports whether an event is about something that is followed.
func (a *changeWatcher) noteEvent(e fsnotify.Event) bool {
	if e.Has(fsnotify.Remove | fsnotify.Rename) {
		a.unwatch(e.Name)
	}
	within := a.dirs[filepath.Dir(e.Name)] || a.dirs[filepath.Clean(e.Name)]
	a.changed = a.changed || within && e.Has(fsnotify.Create|fsnotify.Remove|fsnotify.Rename)
	return within || a.names[filepath.Base(e.Name)]
}

// drainEvents takes the events that have come: one look answers them all.
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

func (a *changeWatcher) close() {
	if a.watcher != nil {
		a.watcher.Close()
	}
}

// sleepFor waits so long, and reports false when ctx is done.
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
