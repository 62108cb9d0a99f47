package formats

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"toolscope/capture"
)

// standing reads a file of one format. It returns the number of exchanges that can be read again, and the number of
// all exchanges. It checks that reading an exchange again returns the same records.
func standing(t *testing.T, f capture.Format, path string) (again, all int) {
	t.Helper()
	o := capture.Options{Formats: []capture.Format{f}, Forced: true, GuessPayload: func([]byte) capture.PayloadGuess { return capture.Ask }}
	one, err := capture.Open(t.Context(), path, o)
	if err != nil {
		t.Fatal(err)
	}
	two, _ := capture.Open(t.Context(), path, o) // the second reading has other exchange numbers than the file
	came := map[int][]capture.Record{}
	for r, err := range capture.Concat(one, two) {
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case !r.OfSource():
			came[r.Exchange] = append(came[r.Exchange], r)
		case r.Location != (capture.Location{}):
			t.Errorf("what is of no exchange has a place: %+v", r)
		}
	}
	for number, recs := range came {
		from := recs[0].Location
		for _, r := range recs {
			if r.Location != from {
				t.Errorf("exchange %d stands at several places", number)
			}
		}
		if from.Entries == nil {
			continue
		}
		again++
		var got []capture.Record
		for r, err := range from.Entries.Again(t.Context(), number, from.Start, from.End) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, r)
		}
		if !reflect.DeepEqual(got, recs) {
			t.Errorf("exchange %d of [%d,%d):\n%+v\nat first:\n%+v", number, from.Start, from.End, got, recs)
		}
	}
	return again, len(came)
}

// TestEntriesAreReadAgain checks that reading an entry again returns the same records, even after a byte order mark
// and in a file that ends anywhere.
func TestEntriesAreReadAgain(t *testing.T) {
	eachRecorded(t, func(t *testing.T, f capture.Format, name string, text []byte) {
		if f.Name == curlTrace.Name || f.Name == interceptor.Name || f.Name == mcpLines.Name || f.Name == mcpLog.Name {
			t.Skip("an exchange is not one part of the file there")
		}
		path := filepath.Join(t.TempDir(), name)
		write := func(text []byte) {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(text)
		again, all := standing(t, f, path)
		if again != all || again == 0 {
			t.Errorf("%d of %d exchanges can be read again", again, all)
		}
		write(append([]byte(bom), text...))
		if marked, _ := standing(t, f, path); marked != again {
			t.Errorf("%d of them behind a byte order mark", marked)
		}
		for n := range 40 {
			write(text[:len(text)*n/40])
			standing(t, f, path)
		}
	})
}

// TestEntryThatChangedIsNotReadAgain checks that reading an entry again succeeds with any bytes in the entry's place,
// and fails if the file is recognised as another file.
func TestEntryThatChangedIsNotReadAgain(t *testing.T) {
	eachRecorded(t, func(t *testing.T, f capture.Format, name string, text []byte) {
		path := filepath.Join(t.TempDir(), name)
		write := func(text []byte) {
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		write(text)
		before, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		src, err := capture.Open(t.Context(), path, capture.Options{Formats: []capture.Format{f}, Forced: true})
		if err != nil {
			t.Fatal(err)
		}
		var places []capture.Location
		for r := range src {
			if r.Location.Entries != nil {
				places = append(places, r.Location)
			}
		}
		for _, other := range [][]byte{bytes.Repeat([]byte("{"), len(text)), bytes.Repeat([]byte("1:x,"), len(text)/4+1)[:len(text)], bytes.ReplaceAll(text, []byte("["), []byte("{"))} {
			write(other)
			if err := os.Chtimes(path, before.ModTime(), before.ModTime()); err != nil {
				t.Fatal(err)
			}
			for _, p := range places {
				for r, err := range p.Entries.Again(t.Context(), 7, p.Start, p.End) {
					if err != nil || r.Exchange != 7 {
						t.Errorf("%+v, %v", r, err)
					}
				}
			}
		}
		write(text[:len(text)/2])
		for _, p := range places {
			failed := false
			for _, err := range p.Entries.Again(t.Context(), 7, p.Start, p.End) {
				failed = err != nil && strings.Contains(err.Error(), "changed since it was read")
			}
			if !failed {
				t.Fatal("a file that is another one is read again")
			}
		}
	})
}

// TestNamesInCassettes checks that an interaction that refers to another one can't be read again by itself, and that
// the interactions around it can.
func TestNamesInCassettes(t *testing.T) {
	const text = `interactions:
- request: &ask
    method: POST
    uri: https://api.openai.com/v1/chat/completions
    body: '{"model":"m","messages":[]}'
  response: {status: {code: 200, message: OK}, headers: {}, body: {string: 'a'}}
- request: *ask
  response: {status: {code: 200, message: OK}, headers: {}, body: {string: 'b'}}
- request:
    method: POST
    uri: https://api.openai.com/v1/chat/completions
    body: '{"model":"m","messages":[]}'
  response: {status: {code: 200, message: OK}, headers: {}, body: {string: 'c'}}
`
	path := filepath.Join(t.TempDir(), "a.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if again, all := standing(t, cassette, path); again != 4 || all != 6 { // the file is read twice, so its exchanges count twice
		t.Errorf("%d of %d exchanges can be read again", again, all)
	}
}

// TestEntriesAreReadAgainMeanwhile checks that an entry can be read again while other entries are still being
// read.
func TestEntriesAreReadAgainMeanwhile(t *testing.T) {
	eachRecorded(t, func(t *testing.T, f capture.Format, name string, _ []byte) {
		src, err := capture.Open(t.Context(), filepath.Join("testdata", name), capture.Options{Formats: []capture.Format{f}, Forced: true})
		if err != nil {
			t.Fatal(err)
		}
		var all sync.WaitGroup
		for r, err := range src {
			if err != nil {
				t.Fatal(err)
			}
			if r.Location.Entries == nil || r.End == "" {
				continue
			}
			all.Go(func() {
				var last capture.Record
				for again, err := range r.Location.Entries.Again(t.Context(), r.Exchange, r.Location.Start, r.Location.End) {
					if last = again; err != nil {
						t.Error(err)
					}
				}
				if !reflect.DeepEqual(last, r) {
					t.Errorf("%+v, at first %+v", last, r)
				}
			})
		}
		all.Wait()
	})
}
