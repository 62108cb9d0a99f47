package sqlite

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOrder checks that the session with the newest message is the first one, and that a session may have one message.
func TestOrder(t *testing.T) {
	text, err := Sessions("testdata/short.db", "")
	if s1, s2 := bytes.Index(text, []byte(`{"info":{"id":"s1"}`)), bytes.Index(text, []byte(`{"info":{"id":"s2"}`)); err != nil || s1 != 0 || s2 < 0 {
		t.Errorf("%v\n%s", err, text)
	}
}

// TestListedSessions checks that a list of sessions shows that it is incomplete.
func TestListedSessions(t *testing.T) {
	for n, want := range map[int]string{0: "it has none", 2: "s, s", maxNames: strings.Repeat("s, ", maxNames-1) + "s", maxNames + 1: strings.Repeat("s, ", maxNames) + "…"} {
		var d DB
		for range n {
			d.isWanted("s")
		}
		if got := listNames(d.sessions); got != want {
			t.Errorf("%d sessions: %q, want %q", n, got, want)
		}
	}
}

// TestReadState checks that each byte that SQLite changes at a write is part of the state.
func TestReadState(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	for suffix, ranges := range map[string][][2]int{"": {{24, 28}}, "-wal": {{0, 32}}, "-shm": {{96, 100}, {128, 132}}} {
		file := make([]byte, 136)
		for _, r := range ranges {
			for at := r[0]; at < r[1]; at++ {
				var states [2]string
				for i := range states {
					file[at]++
					if err := os.WriteFile(path+suffix, file, 0o600); err != nil {
						t.Fatal(err)
					}
					states[i], _ = readState(path)
				}
				if states[0] == states[1] {
					t.Errorf("byte %d of a.db%s is not part of the state", at, suffix)
				}
			}
		}
	}
}

// TestLogHeader checks that a write-ahead log with an incomplete header is empty, and that one with a wrong page size
// is an error.
func TestLogHeader(t *testing.T) {
	file, err := os.ReadFile("testdata/plain.db")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name      string
		magic     uint32
		page      uint32
		add0, add uint32 // error in each sum
		damaged   bool
	}{
		{"a page of 256 bytes", 0x377f0683, 256, 0, 0, true},
		{"a page of 600 bytes", 0x377f0683, 600, 0, 0, true},
		{"a page of 128 KiB", 0x377f0683, 1 << 17, 0, 0, true},
		{"another file", 0x12345679, 256, 0, 0, false},
		{"a wrong first sum", 0x377f0683, 256, 1, 0, false},
		{"a wrong second sum", 0x377f0683, 256, 0, 1, false},
	} {
		wal := make([]byte, 32)
		bigEndian.PutUint32(wal, c.magic)
		bigEndian.PutUint32(wal[8:], c.page)
		s0, s1 := addChecksum(bigEndian, wal[:24], 0, 0)
		bigEndian.PutUint32(wal[24:], s0+c.add0)
		bigEndian.PutUint32(wal[28:], s1+c.add)
		_, err := readBytes(file, wal)
		if isDamaged := err != nil && strings.Contains(err.Error(), "log is damaged"); isDamaged != c.damaged || err != nil && !isDamaged {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
