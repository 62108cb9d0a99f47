package record

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestPrune checks that captures that are too old are deleted, and then the oldest until the rest fits.
// Captures that are being written or pinned, and other files, stay.
func TestPrune(t *testing.T) {
	dir, now := t.TempDir(), time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	old := func(name string, days, size int) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
		at := now.AddDate(0, 0, -days)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	left := func(want ...string) {
		t.Helper()
		for _, name := range want {
			if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
		if all, _ := os.ReadDir(dir); len(all) != len(want) {
			t.Errorf("%v are left, want %q", all, want)
		}
	}
	old("a.tsc", 1, 100)
	old("b.tsc", 2, 100)
	old("c.tsc", 3, 100)
	old("d.tsc", 40, 10)
	old("notes.txt", 400, 1000)
	if gone := Prune(dir, Limits{}, now); len(gone) > 0 {
		t.Errorf("without limits: %v", gone)
	}
	if gone := Prune(dir, Limits{Age: 30 * 24 * time.Hour}, now); len(gone) != 1 || filepath.Base(gone[0].Path) != "d.tsc" {
		t.Errorf("%v", gone)
	}
	left("a.tsc", "b.tsc", "c.tsc", "notes.txt")
	w, err := Create(filepath.Join(dir, "w.tsc"), noon, "test")
	if err != nil {
		t.Fatal(err)
	}
	release := Pin(filepath.Join(dir, "b.tsc"))
	if !IsOpen(filepath.Join(dir, "w.tsc")) || IsOpen(filepath.Join(dir, "b.tsc")) {
		t.Error("who writes, and who does not?")
	}
	Prune(dir, Limits{Bytes: 1, Age: time.Second}, now.AddDate(1, 0, 0))
	left("b.tsc", "w.tsc", "notes.txt")
	release()
	if err := w.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	Prune(dir, Limits{Bytes: 1}, now)
	left("w.tsc", "notes.txt") // the newest
	if gone := Prune(filepath.Join(dir, "none"), Limits{Bytes: 1}, now); len(gone) > 0 {
		t.Errorf("%v", gone)
	}
}

// TestList checks that the newest capture comes first, and that links are ignored.
func TestList(t *testing.T) {
	dir := t.TempDir()
	for i, name := range []string{"b.tsc", "a.tsc"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		at := noon.Add(time.Duration(i) * time.Hour)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	_ = os.Symlink(filepath.Join(dir, "a.tsc"), filepath.Join(dir, "c.tsc"))
	list := List(dir)
	if len(list) != 2 || filepath.Base(list[0].Path) != "a.tsc" || filepath.Base(list[1].Path) != "b.tsc" {
		t.Errorf("%v", list)
	}
}

// TestPruneBeside checks that the companion directory of a capture is counted and deleted with the capture,
// except for other files. If a capture stays, its companion directory stays completely.
func TestPruneBeside(t *testing.T) {
	dir, now := t.TempDir(), time.Date(2026, 3, 10, 12, 0, 0, 0, time.UTC)
	write := func(name string, days int) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
		at := now.AddDate(0, 0, -days)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a.tsc", "a.mcp/1.tsc", "a.mcp/2.tsc"} {
		write(name, 1)
	}
	for _, name := range []string{"b.tsc", "b.mcp/1.tsc", "c.tsc", "c.mcp/1.tsc", "c.mcp/notes.txt"} {
		write(name, 40)
	}
	if list := List(dir); len(list) != 3 || list[0].Bytes != 300 {
		t.Errorf("%+v", list)
	}
	Prune(dir, Limits{Age: 30 * 24 * time.Hour}, now)
	left, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	if all, _ := filepath.Glob(filepath.Join(dir, "*")); len(all) != 3 || len(left) != 3 || filepath.Base(left[2]) != "notes.txt" {
		t.Errorf("%q, %q", all, left)
	}
}

// TestMakeBeside checks that the companion directory belongs to its owner only, and is removed if it stays
// empty.
func TestMakeBeside(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.tsc")
	leave, err := MakeCompanionDir(path)
	if info, statErr := os.Stat(CompanionDir(path)); err != nil || statErr != nil || runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		t.Fatal(err, statErr)
	}
	if leave(); len(List(CompanionDir(path))) > 0 {
		t.Error("it holds something")
	}
	if _, err := os.Stat(CompanionDir(path)); err == nil {
		t.Error("it is left")
	}
	if leave, err = MakeCompanionDir(path); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(CompanionDir(path), "1.tsc"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if leave(); len(List(CompanionDir(path))) != 1 {
		t.Error("what is in it is gone")
	}
}
