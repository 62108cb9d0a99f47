package cli

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/stream"
)

// TestFilesAreReadAgain checks that package stream can read the records of files again, and that it gets the same
// data.
func TestFilesAreReadAgain(t *testing.T) {
	paths, err := filepath.Glob("demo/*.tsc")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%v, %v", paths, err)
	}
	log := saved(t, "a.log", `2025-01-02T03:04:05Z data: {"id":"c","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"content":"x"}}]}`+
		"\n2025-01-02T03:04:06Z data: [DONE]\n")
	paths = append(paths, "testdata/text.sse", "testdata/nested.json", log, paths[0])
	for _, name := range []string{"all.har", "all.flow", "vcrpy.yaml", "cassette.json", "claude-tap.jsonl", "claude-trace.jsonl", "gemini.responses"} {
		paths = append(paths, filepath.Join("..", "..", "capture", "formats", "testdata", name))
	}
	src, err := new(app).linkParts().openSources(t.Context(), paths)
	if err != nil {
		t.Fatal(err)
	}
	var in providers.Inspector
	came := map[int][]stream.Record{}
	for r, err := range src {
		if err != nil {
			t.Fatal(err)
		}
		rec := coreRecord(r)
		in.Write(rec)
		if r.OfSource() { // the record is not part of an exchange
			continue
		}
		if rec.Location.Source == nil {
			t.Fatalf("%+v came from nowhere", r)
		}
		came[rec.Exchange] = append(came[rec.Exchange], rec)
	}
	if len(came) < len(paths) {
		t.Errorf("%d exchanges of %d files", len(came), len(paths))
	}
	for number, recs := range came {
		// An MCP session is not an exchange with a model, and stays in memory.
		if !in.Executed().Has(number) && !in.Exchange(number).Rereadable() {
			t.Errorf("exchange %d cannot be read again", number)
		}
		first, last := recs[0].Location, recs[len(recs)-1].Location
		var again []stream.Record
		bare := func(r *stream.Record) {
			if len(r.Before) == 0 {
				r.Before = nil
			}
			if len(r.After) == 0 {
				r.After = nil
			}
		}
		for i := range recs {
			bare(&recs[i])
		}
		err := first.Source.Again(number, first.Start, last.End, func(r stream.Record) { bare(&r); again = append(again, r) })
		if err != nil || !reflect.DeepEqual(again, recs) {
			t.Errorf("exchange %d, %v:\n%+v\nat first:\n%+v", number, err, again, recs)
		}
	}
}

// TestReadAgainFails checks that file errors reach package stream.
func TestReadAgainFails(t *testing.T) {
	path := saved(t, "a.sse", "data: x\n\n")
	src, err := new(app).linkParts().openSources(t.Context(), []string{path})
	if err != nil {
		t.Fatal(err)
	}
	var recs []stream.Record
	for r := range src {
		recs = append(recs, coreRecord(r))
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	for _, r := range recs {
		err := r.Location.Source.Again(r.Exchange, r.Location.Start, r.Location.End, func(stream.Record) {})
		if err == nil || !strings.HasPrefix(err.Error(), "open "+path+": ") {
			t.Error(err)
		}
	}
	if len(recs) == 0 {
		t.Error("nothing came")
	}
}

// TestRecordCost checks that the conversion of a record allocates no memory, for all kinds of locations.
func TestRecordCost(t *testing.T) {
	r := capture.Record{Exchange: 1, Data: []byte("x"), Location: capture.Location{File: new(capture.File), Start: 1, End: 2}}
	var out stream.Record
	if n := testing.AllocsPerRun(100, func() { out = coreRecord(r) }); n != 0 || out.Location.Source == nil {
		t.Errorf("%v allocations", n)
	}
}
