package capture

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// manyFiles makes files, and a follower that doesn't read any of them yet.
func manyFiles(t testing.TB, count int) (f *follower, infos []fs.FileInfo) {
	t.Helper()
	dir := t.TempDir()
	for i := range count {
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		infos = append(infos, info)
	}
	f = newFollower(t.Context(), Options{}, nil, time.Now(), func(Record, error) bool { return true })
	t.Cleanup(f.close)
	return f, infos
}

// TestFindOpen checks that findOpen returns the same tail as a search through all files, while files come and go. A
// file may be read twice, and the inode of a closed file may have been given to a new one.
func TestFindOpen(t *testing.T) {
	f, infos := manyFiles(t, 20)
	random := rand.New(rand.NewPCG(1, 2))
	hits := 0
	for range 2000 {
		info := infos[random.IntN(len(infos))]
		switch random.IntN(4) {
		case 0:
			f.addTail(&tail{info: info, fingerprint: fingerprint{offset: int64(random.IntN(3))}})
		case 1:
			if len(f.tails) > 0 {
				f.dropTail(f.tails[random.IntN(len(f.tails))])
			}
		}
		i := slices.IndexFunc(f.tails, func(t *tail) bool {
			return os.SameFile(info, t.info) && !f.isReusedInode(t, info)
		})
		var want *tail
		if i >= 0 {
			want = f.tails[i]
			hits++
		}
		if got := f.findOpen(info); got != want {
			t.Fatalf("%v, want %v", got, want)
		}
	}
	if hits == 0 {
		t.Error("no file was found")
	}
	for len(f.tails) > 0 {
		f.dropTail(f.tails[0])
	}
	if len(f.byID) > 0 {
		t.Errorf("%d files are left", len(f.byID))
	}
}

// TestRotationBase checks that findRotationBase returns the same name as a search through all names.
func TestRotationBase(t *testing.T) {
	f, _ := manyFiles(t, 0)
	paths := []string{
		"", "/a.log", "/a.log.1", "/a", "/a.log.1.gz", "/b/a.log", "/a.log-2", "/a_b", "/é.log", "/unread",
	}
	random := rand.New(rand.NewPCG(1, 2))
	random.Shuffle(len(paths), func(i, j int) { paths[i], paths[j] = paths[j], paths[i] })
	for _, path := range paths {
		n := newFoundName(path)
		if path != "/unread" {
			n.current = &tail{of: n}
		}
		f.addName(n)
		f.byPath[path] = n
	}
	for path, has := range map[string]bool{
		"/a.log.1.gz": true, "/a.log.2": true, "/a.log": true, "/a.log.": true, "/é.log.1": true, "/a_b_c": true,
		"/b/a.log.1": true, "/c.log.1": false, "/unread.1": false, "/ab": false, "": false,
	} {
		i := slices.IndexFunc(f.names, func(n *followedName) bool {
			return n.path != "" && n.current != nil && rotatedFrom(path, n.path)
		})
		got := f.findRotationBase(path)
		if (got != nil) != has || has && got != f.names[i] {
			t.Errorf("%s: %+v, want %d", path, got, i)
		}
	}
}

func BenchmarkFindOpen(b *testing.B) {
	f, infos := manyFiles(b, 5000)
	for _, info := range infos {
		f.addTail(&tail{info: info})
	}
	for n := 0; b.Loop(); n++ {
		if f.findOpen(infos[n%len(infos)]) == nil {
			b.Fatal("not found")
		}
	}
}
