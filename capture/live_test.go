package capture

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLiveCapture checks how a capture with an open exchange and an unfinished last line is read: while a program
// records to it, after the program was killed, and when the program writes its last lines during the read.
func TestLiveCapture(t *testing.T) {
	lines := `{"toolscope":1}` + "\n" + `{"x":1,"d":"a","end":"eof"}` + "\n" + `{"x":2,"d":"b"}` + "\n"
	const torn, rest = `{"x":2,"d":"c`, `d","end":"eof"}` + "\n"
	readCapture := func(isLive func(path string) bool) (text string, open int, end End, notes string) {
		path := filepath.Join(t.TempDir(), "a.tsc")
		if err := os.WriteFile(path, []byte(lines+torn), 0o600); err != nil {
			t.Fatal(err)
		}
		src, err := Open(context.Background(), path, Options{IsLive: isLive})
		if err != nil {
			t.Fatal(err)
		}
		for r, err := range src {
			if err != nil {
				t.Fatal(err)
			}
			text += string(r.Data)
			notes += r.Note
			if r.Open {
				open = r.Exchange
			}
			if r.Exchange == 2 {
				end = r.End
			}
		}
		return text, open, end, notes
	}
	if text, open, end, notes := readCapture(func(string) bool { return true }); text != "ab" || open != 2 || end != "" || notes != "" {
		t.Errorf("live: %q, exchange %d is open, end %q, %q", text, open, end, notes)
	}
	for _, none := range []func(string) bool{nil, func(string) bool { return false }} {
		text, open, end, notes := readCapture(none)
		if text != "ab" || open != 0 || end != EndCut || !strings.Contains(notes, "the file ends inside the line") {
			t.Errorf("killed: %q, exchange %d is open, end %q, %q", text, open, end, notes)
		}
	}
	text, open, end, notes := readCapture(func(path string) bool {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		_, _ = f.WriteString(rest)
		return false
	})
	if text != "abcd" || open != 0 || end != EndEOF || notes != "" {
		t.Errorf("ended during the read: %q, exchange %d is open, end %q, %q", text, open, end, notes)
	}
}

// TestLiveCaptureBetween checks that a live capture without an open exchange is marked on its latest exchange.
func TestLiveCaptureBetween(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.tsc")
	if err := os.WriteFile(path, []byte(`{"toolscope":1}`+"\n"+`{"x":1,"d":"a","end":"eof"}`+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	src, err := OpenAll(context.Background(), []string{path}, Options{IsLive: func(string) bool { return true }})
	if err != nil {
		t.Fatal(err)
	}
	var last Record
	for r := range src {
		last = r
	}
	if !last.Open || last.Exchange != 1 || last.OfSource() {
		t.Errorf("%+v", last)
	}
}
