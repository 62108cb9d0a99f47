package sqlite

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSessions checks that the sessions of a database and its write-ahead log are read, the newest first, with rows
// on overflow pages. Other tables are not read, and no file is written next to the database.
func TestSessions(t *testing.T) {
	for _, name := range []string{"plain.db", "logged.db"} {
		text, err := Sessions(filepath.Join("testdata", name), "")
		if err != nil {
			t.Fatal(name, err)
		}
		type document struct {
			Info     struct{ ID string }
			Messages []struct {
				Info  struct{ ID, SessionID, Role string }
				Parts []struct {
					ID, MessageID, CallID string
					State                 struct{ Output string }
				}
			}
		}
		var all []document
		for d := json.NewDecoder(bytes.NewReader(text)); d.More(); {
			var one document
			if err := d.Decode(&one); err != nil {
				t.Fatal(name, err)
			}
			all = append(all, one)
		}
		if len(all) != 2 || all[0].Info.ID != "ses_2" || all[1].Info.ID != "ses_1" || len(all[0].Messages) != 12 || len(all[1].Messages) != 12 {
			t.Fatalf("%s: %.300s", name, text)
		}
		for i, m := range all[1].Messages {
			if want := "msg_1" + string([]byte{byte('0' + (i+1)/10), byte('0' + (i+1)%10)}); m.Info.ID != want || m.Info.SessionID != "ses_1" || len(m.Parts) != 1 || m.Parts[0].MessageID != want {
				t.Errorf("%s: message %d: %+v", name, i, m)
			}
		}
		if got := all[1].Messages[5].Parts[0].State.Output; got != strings.Repeat("y", 3000) {
			t.Errorf("%s: %d bytes of a row on overflow pages", name, len(got))
		}
		if bytes.Contains(text, []byte("must-not-be-read")) {
			t.Errorf("%s: another table was read", name)
		}
	}
	if made, _ := filepath.Glob("testdata/*-shm"); len(made) > 0 {
		t.Errorf("%q were written", made)
	}
}

// TestRefused checks the errors for databases that can't be read.
func TestRefused(t *testing.T) {
	plain, err := os.ReadFile("testdata/plain.db")
	if err != nil {
		t.Fatal(err)
	}
	interrupted := filepath.Join(t.TempDir(), "a.db")
	for name, data := range map[string]string{interrupted: string(plain), interrupted + "-journal": "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"} {
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"testdata/foreign.db": "no table from a known agent: notes, tags", "testdata/utf16.db": "UTF-16", interrupted: "a transaction is not complete",
	} {
		if _, err := Sessions(path, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// TestOneSession checks that one session of a database is read, and that the error for an unknown session lists the
// known ones.
func TestOneSession(t *testing.T) {
	for _, name := range []string{"plain.db", "crush.db", "goose.db", "agents.db", "zed.db"} {
		id, path := "", filepath.Join("testdata", name)
		err := Read(path, func(d *DB) error {
			_, err := d.readSessions()
			id = d.sessions[0]
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		one, err := Sessions(path, id)
		if all, _ := Sessions(path, ""); err != nil || len(one) == 0 || !strings.Contains(string(all), strings.TrimSpace(string(one))) {
			t.Errorf("%s, session %s: %s, %v", name, id, one, err)
		}
		if _, err := Sessions(path, "none"); err == nil || !strings.Contains(err.Error(), `no session "none"`) || !strings.Contains(err.Error(), id) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestChanging checks that a database that changes while it is read is read again. If it never stays the same, that
// is an error.
func TestChanging(t *testing.T) {
	plain, err := os.ReadFile("testdata/plain.db")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "a.db")
	for changes, wanted := range map[int]bool{0: true, 3: true, maxTries: false} {
		reads := 0
		write := func() {
			plain[27]++ // the change counter
			if err := os.WriteFile(path, plain, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write()
		err := Read(path, func(*DB) error {
			if reads++; reads <= changes {
				write()
			}
			return nil
		})
		if (err == nil) != wanted || wanted && reads != changes+1 {
			t.Errorf("%d changes: %d reads, %v", changes, reads, err)
		}
	}
}

// readBytes reads the sessions of a database in memory.
func readBytes(file, wal []byte) (text []byte, err error) {
	d, err := newDB(bytes.NewReader(file), bytes.NewReader(wal))
	if err != nil {
		return nil, err
	}
	return d.readSessions()
}

// TestHostile checks that a damaged database causes an error or returns its readable rows, whichever byte is wrong
// and wherever it ends. Pages that form a cycle cause an error.
func TestHostile(t *testing.T) {
	for _, name := range []string{"plain.db", "logged.db"} {
		file, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		wal, _ := os.ReadFile("testdata/" + name + "-wal")
		whole, err := readBytes(file, wal)
		if err != nil {
			t.Fatal(err)
		}
		check := func(what string, at int, file, wal []byte) {
			if text, err := readBytes(file, wal); err == nil && len(text) > 4*len(whole) {
				t.Fatalf("%s: %s at %d: %d bytes", name, what, at, len(text))
			}
		}
		for _, data := range [][]byte{file, wal} {
			for at := 0; at < len(data); at += 29 {
				for _, value := range []byte{0, 0x7f, 0xff} {
					was := data[at]
					data[at] = value
					check("a wrong byte", at, file, wal)
					data[at] = was
				}
			}
		}
		for at := 0; at < len(file); at += 97 {
			check("an early end", at, file[:at], wal)
		}
		for at := 0; at < len(wal); at += 97 {
			check("an early end of the log", at, file, wal[:at])
		}
	}
	file, err := os.ReadFile("testdata/plain.db")
	if err != nil {
		t.Fatal(err)
	}
	for at := 512; at < len(file); at += 512 { // each interior page points to itself
		if file[at] == interiorPage {
			bigEndian.PutUint32(file[at+8:], uint32(at/512+1))
		}
	}
	if _, err := readBytes(file, nil); err == nil || !strings.Contains(err.Error(), "used twice") {
		t.Error(err)
	}
}

// TestColumnNames checks that columnNames returns the stored columns in the order in which rows store them.
func TestColumnNames(t *testing.T) {
	for sql, want := range map[string]string{
		"CREATE TABLE a(id text primary key, data text)":                                             "id data",
		"CREATE TABLE \"a\" (\n `id` text,\n [the data] text DEFAULT 'a,b(',\n \"x\" numeric(1, 2))": "id the data x",
		"create table a(id integer, b as (id+1), c text generated always as (id) stored, d)":         "id c d",
		"create table a(id, check (id > 0), primary key(id, b), constraint u unique (id))":           "id",
		"create table a": "",
	} {
		if got := strings.Join(columnNames(sql), " "); got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
}

// FuzzSessions checks that no database and no log makes the reader panic or read without end.
func FuzzSessions(f *testing.F) {
	for _, name := range []string{"plain.db", "logged.db", "foreign.db"} {
		file, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		wal, _ := os.ReadFile("testdata/" + name + "-wal")
		f.Add(file, wal)
	}
	f.Fuzz(func(t *testing.T, file, wal []byte) {
		if text, err := readBytes(file, wal); err == nil && len(text) > maxBytes*2 {
			t.Errorf("%d bytes", len(text))
		}
	})
}

// TestStores checks the result for each kind of store: the newest session first, without other tables.
func TestStores(t *testing.T) {
	for name, want := range map[string][]string{
		"crush.db":  {`{"session_id":"s1","messages":[{"id":"m0","role":"user"`, `"created_at":"0"`, `"parts":[{"type": "tool_call", "data": {"id": "c1"`, `"{\"command\":\"sle"`},
		"goose.db":  {`{"session_id":"20260101_2","messages":[{"role":"user","content":[{"type": "text", "text": "go"}]}`, "}\n" + `{"session_id":"20260101_1"`},
		"agents.db": {`{"session_id":"s","messages":[{"role": "user", "content": "go"},{"type": "function_call"`},
		"zed.db":    {`{"title": "t", "version": "0.3.0"`, `"raw_input": "{\"path\":\"a/b"`, "}\n" + `{"title": "empty"`},
	} {
		text, err := Sessions(filepath.Join("testdata", name), "")
		if err != nil {
			t.Fatal(name, err)
		}
		for _, part := range want {
			if !bytes.Contains(text, []byte(part)) {
				t.Errorf("%s has no %q:\n%s", name, part, text)
			}
		}
		if !bytes.HasPrefix(text, []byte(want[0])) || bytes.Contains(text, []byte("must-not-be-read")) {
			t.Errorf("%s: %.200s", name, text)
		}
		for _, line := range bytes.Split(bytes.TrimSpace(text), []byte("\n")) {
			if !json.Valid(line) {
				t.Errorf("%s: not JSON: %s", name, line)
			}
		}
	}
}
