//go:build linux

package sqlite

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// writer is a Python program that changes a database until its standard input ends. Transaction g replaces all rows
// with rows whose number, size and content depend only on g.
const writer = `
import json, sqlite3, sys, threading, time
path, mode, pause = sys.argv[1], sys.argv[2], float(sys.argv[3])
c = sqlite3.connect(path, isolation_level=None)
c.execute(f"pragma journal_mode={mode}")
c.execute("pragma synchronous=off")
c.execute("create table account(id text primary key, access_token text)")
c.execute("create table message(id text primary key, session_id text, data text)")
c.execute("create table part(id text primary key, message_id text, session_id text, data text)")
ended = threading.Event()
threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
g = 0
while not ended.is_set():
    g += 1
    c.execute("begin immediate")
    for table in ("account", "message", "part"): c.execute(f"delete from {table}")
    c.execute("insert into account values('a','token-that-must-not-be-read')")
    for m in range(3 + g % 5):
        c.execute("insert into message values(?,?,?)", (f"m{m}", "s", json.dumps({"role": "assistant", "g": g})))
        c.execute("insert into part values(?,?,?,?)", (f"p{m}", f"m{m}", "s", json.dumps({"g": g, "text": chr(97 + g % 26) * (g * 977 % 9000)})))
    c.execute("commit")
    if g == 1: print("ready", flush=True)
    time.sleep(pause)
`

// TestBesideWriter checks that a database that another program changes is read as it was after one of its
// transactions, or not at all.
func TestBesideWriter(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil || exec.Command(python, "-c", "import sqlite3").Run() != nil {
		t.Skip("needs Python's sqlite3")
	}
	reads := map[string]int{"wal 0": 200, "delete 0.002": 10} // by the mode of the journal and the pause after a transaction
	if os.Getenv("TOOLSCOPE_LONG") != "" {
		reads = map[string]int{"wal 0": 2000, "wal 0.002": 1000, "delete 0": 200, "delete 0.002": 200, "persist 0.002": 200}
	}
	for mode, reads := range reads {
		path := filepath.Join(t.TempDir(), "a.db")
		cmd := exec.Command(python, append([]string{"-c", writer, path}, strings.Fields(mode)...)...)
		cmd.Stderr = os.Stderr
		hold, err := cmd.StdinPipe()
		out, err2 := cmd.StdoutPipe()
		if err = errors.Join(err, err2, cmd.Start()); err != nil {
			t.Fatal(err)
		}
		if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
			t.Fatal(line, err)
		}
		refused, states := map[string]int{}, map[int]bool{}
		for range reads {
			text, err := Sessions(path, "")
			if err != nil {
				refused[err.Error()]++
				continue
			}
			g, err := stateOf(text)
			if err != nil {
				t.Errorf("%s: %v", mode, err)
			}
			states[g] = true
		}
		hold.Close()
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		t.Logf("%s: %d reads found %d states; %v", mode, reads, len(states), refused)
		for text := range refused {
			if !strings.Contains(text, "too fast") && !strings.Contains(text, "not complete") {
				t.Errorf("%s: %s", mode, text)
			}
		}
	}
}

// stateOf returns the number of the transaction after which a database has the given sessions.
func stateOf(text []byte) (g int, err error) {
	var document struct {
		Messages []struct {
			Info  struct{ G int }
			Parts []struct {
				G    int
				Text string
			}
		}
	}
	if err := json.NewDecoder(bytes.NewReader(text)).Decode(&document); err != nil {
		return 0, err
	}
	if len(document.Messages) > 0 {
		g = document.Messages[0].Info.G
	}
	want := strings.Repeat(string(rune('a'+g%26)), g*977%9000)
	for _, m := range document.Messages {
		if m.Info.G != g || len(m.Parts) != 1 || m.Parts[0].G != g || m.Parts[0].Text != want {
			return g, fmt.Errorf("transaction %d is mixed with another: %.80s", g, text)
		}
	}
	if len(document.Messages) != 3+g%5 || bytes.Contains(text, []byte("must-not-be-read")) {
		return g, fmt.Errorf("transaction %d has %d messages: %.80s", g, len(document.Messages), text)
	}
	return g, nil
}
