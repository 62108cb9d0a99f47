package capture

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
)

// tree makes files, each with the text "data: " and its name, in a new directory.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("data: "+name+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestFind checks that Find lists the files that paths name, in order, and describes the files that were left out.
func TestFind(t *testing.T) {
	dir := tree(t, "b.jsonl", "a.jsonl", "README", "app.log", "app.log.1", "app.log.10", "app.log.2.gz", "x.log-20261122", "x.log-20261121", "x.log",
		".hidden.jsonl", "sub/c.jsonl", "sub/deep/d.sse", ".git/config", "turn.1", "turn.2", "[odd].jsonl")
	for _, c := range []struct {
		paths string
		want  string
		left  string
	}{
		{"a.jsonl", "a.jsonl", ""},
		{".", "[odd].jsonl a.jsonl app.log.10 app.log.2.gz app.log.1 app.log b.jsonl sub/c.jsonl sub/deep/d.sse x.log-20261121 x.log-20261122 x.log README turn.1 turn.2", ".: left out: 2 hidden"},
		{"sub README sub/deep", "sub/c.jsonl sub/deep/d.sse README sub/deep/d.sse", ""},
		{"*.jsonl", "[odd].jsonl a.jsonl b.jsonl", ""},
		{".*.jsonl", ".hidden.jsonl", ""},
		{"**/*.jsonl", "[odd].jsonl a.jsonl b.jsonl sub/c.jsonl", ""},
		{"s*", "sub/c.jsonl sub/deep/d.sse", ""},
		{"s*/deep/?.sse", "sub/deep/d.sse", ""},
		{"sub/**", "sub/c.jsonl sub/deep/d.sse", ""},
		{"[odd].jsonl", "[odd].jsonl", ""}, // the name of an existing file is not a pattern
		{"missing.jsonl", "missing.jsonl", ""},
	} {
		t.Chdir(dir)
		files, left, err := Find(strings.Fields(c.paths))
		var got []string
		for _, f := range files {
			got = append(got, filepath.ToSlash(f.Path))
		}
		if err != nil || strings.Join(got, " ") != c.want || strings.Join(left, "; ") != c.left {
			t.Errorf("%s:\n%s %q, %v, want\n%s %q", c.paths, strings.Join(got, " "), left, err, c.want, c.left)
		}
	}
	for _, none := range []string{"*.none", "sub/*/*/*.x"} {
		if _, _, err := Find([]string{none}); err == nil || !strings.Contains(err.Error(), none+": no file matches") {
			t.Errorf("%s: %v", none, err)
		}
	}
	if _, _, err := Find([]string{t.TempDir()}); err == nil || !strings.Contains(err.Error(), "the folder has no readable file") {
		t.Errorf("an empty directory: %v", err)
	}
}

// TestFindLinks checks that links to files are followed, each file once. Links to directories are not followed,
// because they may form a cycle. Directories that can't be listed are reported.
func TestFindLinks(t *testing.T) {
	dir := tree(t, "logs/a.log", "elsewhere/b.log", "logs/locked/c.log")
	t.Chdir(dir)
	for to, from := range map[string]string{
		"logs/current.log": "a.log", "logs/other.log": "../elsewhere/b.log", "logs/circle": "..", "logs/broken.log": "none",
	} {
		if err := os.Symlink(from, to); err != nil {
			t.Skip(err)
		}
	}
	if err := os.Chmod("logs/locked", 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod("logs/locked", 0o700)
	files, left, err := Find([]string{"logs"})
	var got []string
	for _, f := range files {
		got = append(got, filepath.ToSlash(f.Path))
	}
	got = slices.DeleteFunc(got, func(p string) bool { return p == "logs/locked/c.log" }) // root can read it anyway
	words := strings.Join(left, "; ")
	if want := "logs/a.log logs/other.log"; strings.Join(got, " ") != want || err != nil {
		t.Errorf("%v, %v, want %s", got, err, want)
	}
	if !strings.HasPrefix(words, "logs: left out: 1 links to directories; open logs/broken.log: ") {
		t.Errorf("left: %s", words)
	}
	if os.Getuid() != 0 && !strings.Contains(words, "open logs/locked: permission denied") {
		t.Errorf("left: %s", words)
	}
}

// contents returns the data of a source's exchanges, by the file that they are from, and the source's notes.
func contents(t *testing.T, src Source) (files map[string]string, notes []string) {
	t.Helper()
	files = map[string]string{}
	of := map[int]string{}
	for r, err := range src {
		if err != nil {
			t.Fatal(err)
		}
		if r.Head != nil && r.Head.File != "" {
			of[r.Exchange] = filepath.ToSlash(r.Head.File)
		}
		if r.OfSource() {
			notes = append(notes, r.Note)
		} else {
			files[of[r.Exchange]] += string(r.Data)
		}
	}
	return files, notes
}

func TestOpenAll(t *testing.T) {
	t.Chdir(tree(t, "logs/a.log", "logs/.x", "b.sse", "other/c.log"))
	src, err := OpenAll(context.Background(), []string{"b.sse", "logs", "oth*/*"}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	files, notes := contents(t, src)
	for _, name := range []string{"b.sse", "logs/a.log", "other/c.log"} {
		if files[name] != "data: "+name+"\n" {
			t.Errorf("%s: %q", name, files[name])
		}
	}
	if len(files) != 3 || !slices.Equal(notes, []string{"logs: left out: 1 hidden"}) {
		t.Errorf("%q, notes %q", files, notes)
	}
	for _, missing := range []string{"none.sse", "*.none"} {
		if _, err := OpenAll(context.Background(), []string{"b.sse", missing}, Options{}); err == nil || !strings.Contains(err.Error(), missing) {
			t.Errorf("%s: %v", missing, err)
		}
	}
}

// followedAll runs a test body while a source follows all files that paths name, once with notifications and
// once with only the timer.
func followedAll(t *testing.T, setUp func(d *desk), paths []string, run func(d *desk)) {
	for _, blind := range []bool{false, true} {
		d := &desk{t: t, path: t.TempDir()}
		t.Chdir(d.path)
		setUp(d)
		o := Options{Follow: true, blind: blind, poll: pollEvery / 20}
		noGoroutineLeft(t, func() { d.run(func(ctx context.Context) (Source, error) { return OpenAll(ctx, paths, o) }, run) })
	}
}

// TestFollowMissing checks that the follower waits for a missing file, and for its directory if that is missing too.
func TestFollowMissing(t *testing.T) {
	followedAll(t, func(*desk) {}, []string{"later/app.log"}, func(d *desk) {
		d.until("waiting", func() bool { return d.noted("waiting for later/app.log: no such file yet") })
		d.must(os.Mkdir("later", 0o700))
		d.write("later/app.log", "data: 1\n")
		d.until("data: 1", func() bool { return d.data() == "data: 1\n" && d.noted("later/app.log appeared") })
	})
}

// TestFollowNewFiles checks that a new file is read if it appears in a directory or below it, or if it matches a
// pattern.
func TestFollowNewFiles(t *testing.T) {
	for _, path := range []string{"logs", "lo*/**/*.log"} {
		followedAll(t, func(d *desk) {
			d.must(os.MkdirAll("logs/sub", 0o700))
			d.write("logs/a.log", "data: a\n")
		}, []string{path}, func(d *desk) {
			d.until("a", func() bool { return d.data() == "data: a\n" })
			d.write("logs/sub/b.log", "data: b\n")
			d.until("b", func() bool { return d.data() == "data: a\ndata: b\n" })
			d.must(os.MkdirAll("logs/new/deep", 0o700))
			d.write("logs/new/deep/c.log", "data: c\n")
			d.until("c", func() bool { return d.data() == "data: a\ndata: b\ndata: c\n" })
			d.append("logs/a.log", "data: more\n")
			d.until("more", func() bool { return strings.HasSuffix(d.data(), "data: more\n") })
			d.must(os.RemoveAll("logs/sub"))
			d.must(os.MkdirAll("logs/sub", 0o700))
			d.write("logs/sub/b.log", "data: again\n")
			d.until("again", func() bool { return strings.HasSuffix(d.data(), "data: again\n") })
		})
	}
}

// TestFollowPackedRotation checks that a file that a rotation leaves in a followed directory is not read again,
// compressed or not.
func TestFollowPackedRotation(t *testing.T) {
	followedAll(t, func(d *desk) { d.write("app.log", "data: 1\n") }, []string{"."}, func(d *desk) {
		d.until("1", func() bool { return d.data() == "data: 1\n" })
		d.move("app.log", "app.log.1")
		d.write("app.log", "data: 2\n")
		d.until("2", func() bool { return d.data() == "data: 1\ndata: 2\n" })
		f, err := os.Create("app.log.1.gz")
		d.must(err)
		z := gzip.NewWriter(f)
		_, err = io.WriteString(z, "data: 1\n")
		d.must(err)
		d.must(z.Close())
		d.must(f.Close())
		d.must(os.Remove("app.log.1"))
		d.until("the note", func() bool { return d.noted("app.log.1.gz is skipped: it is a compressed copy of app.log") })
		d.append("app.log", "data: 3\n")
		d.until("3", func() bool { return strings.HasSuffix(d.data(), "data: 3\n") })
		if d.data() != "data: 1\ndata: 2\ndata: 3\n" {
			d.t.Errorf("%q", d.data())
		}
	})
}

// TestFollowManyFiles checks that only some of very many files are kept open, and that all are still followed.
func TestFollowManyFiles(t *testing.T) {
	open := func() int { fds, _ := os.ReadDir("/proc/self/fd"); return len(fds) }
	if open() == 0 {
		t.Skip("no /proc")
	}
	const files = maxOpenFiles + openReserve + 50
	d := &desk{t: t, path: t.TempDir()}
	t.Chdir(d.path)
	name := func(i int) string { return "f" + strings.Repeat("x", i) }
	for i := range 100 {
		d.write(name(i), "data: first\n")
	}
	for i := range files - 100 {
		d.write("g"+name(i%100)+strings.Repeat("y", i/100), "data: first\n")
	}
	before := open()
	o := Options{Follow: true, poll: pollEvery / 20, stay: 1}
	d.run(func(ctx context.Context) (Source, error) { return OpenAll(ctx, []string{"."}, o) }, func(d *desk) {
		d.until("all", func() bool { return strings.Count(d.data(), "first") == files })
		d.until("few open", func() bool { return open()-before <= maxOpenFiles+openReserve+10 })
		for i := range 100 {
			d.append(name(i), "data: second\n")
		}
		d.until("all again", func() bool { return strings.Count(d.data(), "second") == 100 })
	})
}

// limitedFile is an open file that counts towards a limit.
type limitedFile struct {
	osFile
	open *atomic.Int64
}

func (f limitedFile) Close() error {
	f.open.Add(-1)
	return f.osFile.Close()
}

// TestFollowFewDescriptors checks that all files are read even if the system allows few open files. If it allows
// none, that is reported once.
func TestFollowFewDescriptors(t *testing.T) {
	for _, limit := range []int64{20, 0} {
		d := &desk{t: t, path: t.TempDir()}
		var open, tries atomic.Int64
		var names []*followedName
		for i := range 100 {
			n := newFoundName(filepath.Join(d.path, fmt.Sprint(i)))
			d.write(n.path, "data: first\n")
			n.open = func() (osFile, error) {
				tries.Add(1)
				if open.Add(1) > limit {
					open.Add(-1)
					return nil, &fs.PathError{Op: "open", Path: n.path, Err: syscall.EMFILE}
				}
				f, err := os.Open(n.path)
				return limitedFile{f, &open}, err
			}
			names = append(names, n)
		}
		o := Options{Follow: true, poll: pollEvery / 20, blind: true}
		d.run(func(ctx context.Context) (Source, error) { return followNames(ctx, o, names, nil), nil }, func(d *desk) {
			if limit == 0 {
				d.until("tries", func() bool { return tries.Load() > 600 })
			} else {
				d.until("all", func() bool { return strings.Count(d.data(), "first") == 100 })
				d.append(names[0].path, "data: second\n")
				d.append(names[99].path, "data: second\n")
				d.until("all again", func() bool { return strings.Count(d.data(), "second") == 2 })
			}
		})
		notes := 0
		for _, r := range d.records() {
			if strings.Contains(r.Note, "too many open files") {
				notes++
			}
		}
		if want := map[int64]int{20: 0, 0: 1}[limit]; notes != want {
			t.Errorf("limit %d: %d notes of open files, want %d", limit, notes, want)
		}
	}
}
