package capture

import (
	"cmp"
	"context"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// changeWatcher reports when it may be worth to look again. File system notifications are only an early
// hint: they miss symbolic links, network drives and recreated directories. So a timer always runs as
// well.
type changeWatcher struct {
	every   time.Duration     // timer period for files
	scan    time.Duration     // timer period for directories
	watcher *fsnotify.Watcher // nil without notifications
	events  <-chan fsnotify.Event
	errors  <-chan error
	names   map[string]bool // base names of the followed paths
	dirs    map[string]bool // directories in which every file is followed
	watched map[string]bool
	changed bool // something was created in one of these directories, or removed
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

// watchFile watches a file for changes.
func (a *changeWatcher) watchFile(path string) {
	a.names[filepath.Base(path)] = true
	a.watchPath(filepath.Dir(path))
	a.watchPath(path) // for the target of a symbolic link
}

// watchDir watches a directory for changes of anything in it.
func (a *changeWatcher) watchDir(path string) {
	a.dirs[filepath.Clean(path)] = true
	a.watchPath(path)
}

// watchPath requests notifications for a path. If that fails, the timer remains.
func (a *changeWatcher) watchPath(path string) {
	if a.watcher != nil && !a.watched[path] {
		a.watched[path] = a.watcher.Add(path) == nil
	}
}

// unwatch forgets a path, so that watchPath requests notifications again: another file or directory may
// have the path by then.
func (a *changeWatcher) unwatch(path string) {
	if a.watched[path] {
		_ = a.watcher.Remove(path)
		delete(a.watched, path)
	}
}

// waitForEvent returns true when there may be something new, and false when ctx is done. looked is the
// duration of the last look: looking takes a tenth of the time at most.
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

// noteEvent reports whether an event is about a followed path.
func (a *changeWatcher) noteEvent(e fsnotify.Event) bool {
	if e.Has(fsnotify.Remove | fsnotify.Rename) {
		a.unwatch(e.Name)
	}
	within := a.dirs[filepath.Dir(e.Name)] || a.dirs[filepath.Clean(e.Name)]
	a.changed = a.changed || within && e.Has(fsnotify.Create|fsnotify.Remove|fsnotify.Rename)
	return within || a.names[filepath.Base(e.Name)]
}

// drainEvents takes all pending events: one look covers them.
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
