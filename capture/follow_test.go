package capture

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
)

func TestFollowAppend(t *testing.T) {
	followed(t, "data: 1\n", func(d *desk) {
		d.await(`1 "data: 1\n"`)
		d.append(d.path, "data: half")
		d.await(`1 "data: 1\ndata: half"`)
		d.append(d.path, " and half\n")
		d.await(`1 "data: 1\ndata: half and half\n"`)
		recs := d.records()
		if recs[0].At != NoTime || recs[0].Head == nil || recs[0].Head.File != d.path {
			d.t.Errorf("what was there: %+v", recs[0])
		}
		if recs[1].At <= 0 || recs[1].At > patience || recs[2].At < recs[1].At {
			d.t.Errorf("times %v, %v", recs[1].At, recs[2].At)
		}
	})
}

// TestWatcherErrorsAreRead checks that errors of the watcher are read while no file is waited for. A watcher that waits
// for a reader may hold its lock, so that adding a path would wait for ever.
func TestWatcherErrorsAreRead(t *testing.T) {
	a := newChangeWatcher(Options{})
	if a.watcher == nil {
		t.Skip("the system has no notifications")
	}
	for range 3 {
		a.watcher.Errors <- fsnotify.ErrEventOverflow
	}
	if err := a.watcher.Close(); err != nil {
		t.Error(err)
	}
}

func TestFollowEmptyFile(t *testing.T) {
	followed(t, "", func(d *desk) {
		d.append(d.path, "HTTP/1.1 200 OK\r\n")
		d.append(d.path, "\r\ndata: x\n")
		d.await(`1 "data: x\n"`)
		if head := d.records()[0].Head; head.Status != 200 {
			d.t.Errorf("head %+v", head)
		}
	})
}

func TestFollowTruncate(t *testing.T) {
	followed(t, "data: one\n", func(d *desk) {
		d.await(`1 "data: one\n"`)
		d.must(os.Truncate(d.path, 0))
		d.await(`1 "data: one\n" cut:file truncated`)
		d.append(d.path, "data: 2\n")
		d.await("1 \"data: one\\n\" cut:file truncated\n2 \"data: 2\\n\"")
		if n := d.rotations(); n != 1 {
			d.t.Errorf("%d notes of a truncation, want 1", n)
		}
		d.must(os.Truncate(d.path, 6))
		d.await("1 \"data: one\\n\" cut:file truncated\n2 \"data: 2\\n\" cut:file truncated\n3 \"data: \"")
	})
}

// TestFollowCopyTruncateRegrown checks that a file is read from its start if it was truncated and grew beyond the old
// offset before the next check.
func TestFollowCopyTruncateRegrown(t *testing.T) {
	old := strings.Repeat("data: old\n", 300)
	fresh := strings.Repeat("data: fresh\n", 400)
	followed(t, old, func(d *desk) {
		d.await("1 " + quoted(old))
		d.write(d.path, fresh)
		d.await("1 " + quoted(old) + " cut:file truncated\n2 " + quoted(fresh))
	})
}

// TestFollowRegrownSameBeginning checks that a replaced file is read from its start even if it begins like the old
// one, so that only the last bytes before the offset differ.
func TestFollowRegrownSameBeginning(t *testing.T) {
	common := strings.Repeat("data: same\n", 300)
	followed(t, common+"data: a\n", func(d *desk) {
		d.await("1 " + quoted(common+"data: a\n"))
		d.write(d.path, common+"data: b\ndata: c\n")
		d.await("1 " + quoted(common+"data: a\n") + " cut:file truncated\n2 " + quoted(common+"data: b\ndata: c\n"))
	})
}

func TestFollowRenameAndCreate(t *testing.T) {
	followed(t, "data: 1\n", func(d *desk) {
		d.await(`1 "data: 1\n"`)
		d.move(d.path, d.path+".1")
		d.append(d.path+".1", "data: late\n")
		d.await(`1 "data: 1\ndata: late\n"`)
		d.write(d.path, "data: new\n")
		d.await("1 \"data: 1\\ndata: late\\n\"\n2 \"data: new\\n\"")
		if n := d.rotations(); n != 1 {
			d.t.Errorf("%d notes of a rotation, want 1", n)
		}
		d.append(d.path+".1", "data: later\n")
		d.await("1 \"data: 1\\ndata: late\\ndata: later\\n\"\n2 \"data: new\\n\"")
		d.await("1 \"data: 1\\ndata: late\\ndata: later\\n\" cut:file rotated\n2 \"data: new\\n\"")
		d.append(d.path, "data: 2\n")
		d.await("1 \"data: 1\\ndata: late\\ndata: later\\n\" cut:file rotated\n2 \"data: new\\ndata: 2\\n\"")
	})
}

func TestFollowRenamedBack(t *testing.T) {
	followed(t, "data: 1\n", func(d *desk) {
		d.await(`1 "data: 1\n"`)
		d.move(d.path, d.path+".1")
		d.write(d.path, "data: new\n")
		d.await("1 \"data: 1\\n\"\n2 \"data: new\\n\"")
		d.move(d.path+".1", d.path)
		d.append(d.path, "data: 2\n")
		d.await("1 \"data: 1\\ndata: 2\\n\"\n2 \"data: new\\n\" cut:file rotated")
	})
}

func TestFollowRemoveAndCreate(t *testing.T) {
	followed(t, "data: 1\n", func(d *desk) {
		d.await(`1 "data: 1\n"`)
		for i, want := range []string{
			"1 \"data: 1\\n\" cut:file rotated\n2 \"data: new\\n\"",
			"1 \"data: 1\\n\" cut:file rotated\n2 \"data: new\\n\" cut:file rotated\n3 \"data: new\\n\"",
		} {
			d.must(os.Remove(d.path))
			if i > 0 {
				time.Sleep(120 * time.Millisecond) // nothing is read while the file is missing
			}
			d.write(d.path, "data: new\n")
			d.await(want)
		}
	})
}

func TestFollowDirectoryMadeAnew(t *testing.T) {
	followed(t, "data: 1\n", func(d *desk) {
		d.await(`1 "data: 1\n"`)
		dir := filepath.Dir(d.path)
		d.must(os.RemoveAll(dir))
		d.must(os.Mkdir(dir, 0o700))
		d.write(d.path, "data: new\n")
		d.await("1 \"data: 1\\n\" cut:file rotated\n2 \"data: new\\n\"")
	})
}

func TestFollowSymlinkSwap(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	d := &desk{t: t, path: filepath.Join(dir, "current")}
	d.write(filepath.Join(elsewhere, "a"), "data: a\n")
	d.write(filepath.Join(elsewhere, "b"), "data: b\n")
	if err := os.Symlink(filepath.Join(elsewhere, "a"), d.path); err != nil {
		t.Skip(err)
	}
	d.follow(Options{Follow: true, stay: 50 * time.Millisecond}, func(d *desk) {
		d.await(`1 "data: a\n"`)
		d.must(os.Symlink(filepath.Join(elsewhere, "b"), d.path+".new"))
		d.move(d.path+".new", d.path)
		d.await("1 \"data: a\\n\" cut:file rotated\n2 \"data: b\\n\"")
		d.append(filepath.Join(elsewhere, "b"), "data: c\n")
		d.await("1 \"data: a\\n\" cut:file rotated\n2 \"data: b\\ndata: c\\n\"")
	})
}

func TestFollowNameTakenByDirectory(t *testing.T) {
	followed(t, "data: 1\n", func(d *desk) {
		d.await(`1 "data: 1\n"`)
		d.must(os.Remove(d.path))
		d.must(os.Mkdir(d.path, 0o700))
		d.await(`1 "data: 1\n" note:open ` + d.path + `: no longer a regular file`)
		d.must(os.Remove(d.path))
		d.write(d.path, "data: 2\n")
		d.await(`1 "data: 1\n" note:open ` + d.path + ": no longer a regular file cut:file rotated\n2 \"data: 2\\n\"")
	})
}

// TestFollowCapture checks that the lines of a capture that is still being written are joined, and that its records
// keep their own times.
func TestFollowCapture(t *testing.T) {
	file := written(t, Record{Exchange: 1, At: time.Hour, Data: []byte("a")}, Record{Exchange: 1, Data: []byte("b")})
	half := len(file) - 7
	followed(t, file[:half], func(d *desk) {
		d.await(`1 "a"`)
		d.append(d.path, file[half:])
		d.await(`1 "ab"`)
		if at := d.records()[0].At; at != time.Hour {
			d.t.Errorf("time %v", at)
		}
		d.append(d.path, `{"x":1,"d":"to`)
		d.must(os.Truncate(d.path, 0))
		d.append(d.path, written(d.t, Record{Exchange: 1, Data: []byte("new")}))
		d.until("…new", func() bool { return strings.HasSuffix(outline(d.records()), "\n2 \"new\"") })
		if got := outline(d.records()); !strings.Contains(got, "cut:file truncated") {
			d.t.Error(got)
		}
	})
}

func TestFollowStdinFile(t *testing.T) {
	d := &desk{t: t, path: filepath.Join(t.TempDir(), "in")}
	d.write(d.path, "skipped data: 1\n")
	f, err := os.Open(d.path)
	d.must(err)
	defer f.Close()
	_, err = f.Seek(8, io.SeekStart)
	d.must(err)
	in := d.path
	d.path = "-"
	d.follow(Options{Follow: true, Stdin: f}, func(d *desk) {
		d.await(`1 "data: 1\n"`)
		d.append(in, "data: 2\n")
		d.await(`1 "data: 1\ndata: 2\n"`)
	})
}

func TestFollowConsumerStops(t *testing.T) {
	d := &desk{t: t, path: filepath.Join(t.TempDir(), "live")}
	d.write(d.path, "data: 1\n")
	noGoroutineLeft(t, func() {
		src, err := Open(t.Context(), d.path, Options{Follow: true})
		d.must(err)
		for range src {
			break
		}
	})
}

func TestFollowLeavesNoFile(t *testing.T) {
	open := func() int { fds, _ := os.ReadDir("/proc/self/fd"); return len(fds) }
	if open() == 0 {
		t.Skip("no /proc")
	}
	d := &desk{t: t, path: filepath.Join(t.TempDir(), "live")}
	d.write(d.path, "data: 1\n")
	d.follow(Options{Follow: true}, func(d *desk) { d.await(`1 "data: 1\n"`) }) // the poller has opened its files now
	before := open()
	d.recs = nil
	d.follow(Options{Follow: true, stay: time.Hour, poll: time.Millisecond}, func(d *desk) {
		for i := range 2 * maxRotatedFiles {
			generation := strings.Repeat("x", i+1) + "\n"
			d.append(d.path, generation)
			d.until(generation, func() bool { return strings.HasSuffix(d.data(), generation) })
			d.move(d.path, d.path+".old")
			d.write(d.path, "data: 1\n")
		}
		if n := open() - before; n > maxRotatedFiles+6 {
			d.t.Errorf("%d files open", n)
		}
	})
	if n := open(); n > before {
		t.Errorf("%d files left open", n-before)
	}
}

// TestFollowRandomRotation checks that nothing is lost if writers append and rotate at random: every line arrives
// once and in order.
func TestFollowRandomRotation(t *testing.T) {
	followed(t, "", func(d *desk) {
		r := rand.New(rand.NewPCG(3, 4))
		var want []string
		for i := range 300 {
			line := strings.Repeat(string(rune('a'+i%26)), 1+r.IntN(200)) + "\n"
			want = append(want, line)
			d.append(d.path, line)
			if r.IntN(20) == 0 {
				// A file that exists only between two checks can't be seen at all.
				d.until("all lines", func() bool { return strings.Count(d.data(), "\n") == len(want) })
				d.move(d.path, d.path+".1")
				if r.IntN(2) == 0 {
					late := strings.Repeat("L", 1+i%7) + "\n"
					want = append(want, late)
					d.append(d.path+".1", late)
				}
				d.write(d.path, "")
			}
		}
		all := strings.Join(want, "")
		d.until(all, func() bool { return d.data() == all })
	})
}
