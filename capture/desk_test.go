package capture

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// desk is a directory with a file that is being followed.
type desk struct {
	t    *testing.T
	path string
	mu   sync.Mutex
	recs []Record
	err  error
}

const patience = 10 * time.Second // maximum time that a test waits for an expected event

// followed runs a test body while a source follows a file, once with the file system's notifications and once
// without.
func followed(t *testing.T, before string, run func(d *desk)) {
	for name, o := range map[string]Options{
		"notified": {Follow: true, stay: 200 * time.Millisecond},
		"polled":   {Follow: true, stay: 200 * time.Millisecond, poll: 2 * time.Millisecond, blind: true},
	} {
		t.Run(name, func(t *testing.T) {
			d := &desk{t: t, path: filepath.Join(t.TempDir(), "live.sse")}
			d.write(d.path, before)
			noGoroutineLeft(t, func() { d.follow(o, run) })
		})
	}
}

func (d *desk) follow(o Options, run func(d *desk)) {
	d.t.Helper()
	d.run(func(ctx context.Context) (Source, error) { return Open(ctx, d.path, o) }, run)
}

// run runs a test body while a source is read.
func (d *desk) run(open func(context.Context) (Source, error), run func(d *desk)) {
	d.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	src, err := open(ctx)
	if err != nil {
		d.t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for r, err := range src {
			d.mu.Lock()
			if d.err = err; err == nil {
				d.recs = append(d.recs, r)
			}
			d.mu.Unlock()
		}
	}()
	run(d)
	cancel()
	select {
	case <-ended:
	case <-time.After(patience):
		d.t.Error("the source does not end")
	}
	if d.err != nil {
		d.t.Error(d.err)
	}
}

// records returns the records that arrived. Records that only report a rotation are counted instead.
func (d *desk) records() []Record {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(d.recs), isRotation)
}

func (d *desk) rotations() (n int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, r := range d.recs {
		if isRotation(r) {
			n++
		}
	}
	return n
}

func isRotation(r Record) bool {
	return (strings.Contains(r.Note, "file rotated") || strings.Contains(r.Note, "file truncated")) && r.Data == nil && r.End == ""
}

// noted reports whether a given note arrived.
func (d *desk) noted(text string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.recs, func(r Record) bool { return r.Note == text })
}

// await waits until the outline of the received records equals want.
func (d *desk) await(want string) {
	d.t.Helper()
	d.until(want, func() bool { return outline(d.records()) == want })
}

func (d *desk) until(want string, ok func() bool) {
	d.t.Helper()
	for deadline := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			d.t.Fatalf("got:\n%.2000s\nwant:\n%.2000s", outline(d.records()), want)
		}
	}
}

// data returns the data of all exchanges, in the order in which it arrived.
func (d *desk) data() string {
	var all strings.Builder
	for _, r := range d.records() {
		all.Write(r.Data)
	}
	return all.String()
}

func (d *desk) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *desk) write(path, s string) { d.must(os.WriteFile(path, []byte(s), 0o600)) }
func (d *desk) move(from, to string) { d.must(os.Rename(from, to)) }
func (d *desk) append(path, s string) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	d.must(err)
	_, err = f.WriteString(s)
	d.must(err)
	d.must(f.Close())
}
