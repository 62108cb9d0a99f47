package capture

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// deltas makes a capture file with a number of short records of exchanges that run at the same time.
func deltas(tb testing.TB, exchanges, records int) string {
	tb.Helper()
	recs := make([]Record, 0, records)
	for i := range records {
		text := fmt.Sprintf("event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"input_json_delta\",\"partial_json\":\"%08d\"}}\n\n", i)
		recs = append(recs, Record{Exchange: 1 + i%exchanges, At: time.Duration(i) * 1234 * time.Microsecond, Data: []byte(text)})
	}
	path := filepath.Join(tb.TempDir(), "deltas.tsc")
	if err := os.WriteFile(path, []byte(written(tb, recs...)), 0o600); err != nil {
		tb.Fatal(err)
	}
	return path
}

// TestReadCost checks that a short record costs only the memory of its bytes. When one exchange is read again,
// the lines of other exchanges cost nothing.
func TestReadCost(t *testing.T) {
	all := func(src Source) {
		for _, err := range src {
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	cost := func(records int) (read, again float64) {
		path := deltas(t, 200, records)
		read = testing.AllocsPerRun(1, func() {
			src, err := Open(t.Context(), path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			all(src)
		})
		x := byExchange(readFile(t, path))[7].place
		return read, testing.AllocsPerRun(1, func() { all(x.File.Again(t.Context(), 7, x.Start, x.End)) })
	}
	const more = 10_000
	read, again := cost(more)
	readMore, againMore := cost(2 * more)
	if each := (readMore - read) / more; each > 1.05 {
		t.Errorf("%.2f allocations a record", each)
	}
	if each := (againMore - again) / more; each > 0.02 { // one line in 200 is read
		t.Errorf("%.3f allocations a line when one exchange is read again", each)
	}
}

// BenchmarkReadCapture reads a capture of short records. An operation is one record.
func BenchmarkReadCapture(b *testing.B) {
	const records = 20_000
	path := deltas(b, 200, records)
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	b.SetBytes(info.Size() / records)
	b.ReportAllocs()
	for n := 0; n < b.N; {
		src, err := Open(context.Background(), path, Options{})
		if err != nil {
			b.Fatal(err)
		}
		for _, err := range src {
			if err != nil {
				b.Fatal(err)
			}
			if n++; n == b.N {
				break
			}
		}
	}
}

// BenchmarkAgain reads one of 200 exchanges again. An operation is one line of the file.
func BenchmarkAgain(b *testing.B) {
	const records = 100_000
	path := deltas(b, 200, records)
	src, err := Open(context.Background(), path, Options{})
	if err != nil {
		b.Fatal(err)
	}
	var place Location
	for r := range src {
		if r.Exchange == 7 {
			place = Location{File: r.Location.File, Start: cmp.Or(place.Start, r.Location.Start), End: r.Location.End}
		}
	}
	b.ResetTimer()
	b.SetBytes((place.End - place.Start) / records)
	b.ReportAllocs()
	for n := 0; n < b.N; n += records {
		for _, err := range place.File.Again(context.Background(), 7, place.Start, place.End) {
			if err != nil {
				b.Fatal(err)
			}
		}
	}
}
