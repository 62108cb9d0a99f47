package capture

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// reread is the range of a file that contains an exchange, and the records that were read from it.
type reread struct {
	place Location
	live  bool // the exchange can't be read again completely
	recs  []Record
}

// byExchange groups records by exchange, for reading the exchanges again.
func byExchange(recs []Record) map[int]*reread {
	all := map[int]*reread{}
	for _, r := range recs {
		if r.Damaged || r.OfSource() {
			continue
		}
		x := all[r.Exchange]
		if x == nil {
			x = &reread{place: r.Location}
			all[r.Exchange] = x
		}
		x.live = x.live || r.Location.File == nil || r.Location.File != x.place.File
		x.place.Start, x.place.End = min(x.place.Start, r.Location.Start), max(x.place.End, r.Location.End)
		x.recs = append(x.recs, r)
	}
	return all
}

// checkAgain checks that every exchange that can be read again has the same records as before, and returns the number
// of these exchanges.
func checkAgain(t *testing.T, recs []Record) (n int) {
	t.Helper()
	all := byExchange(recs)
	for _, number := range slices.Sorted(maps.Keys(all)) {
		x := all[number]
		if x.live {
			continue
		}
		n++
		got := collect(t, x.place.File.Again(context.Background(), number, x.place.Start, x.place.End))
		if !reflect.DeepEqual(got, x.recs) {
			t.Errorf("exchange %d of [%d,%d) again:\n%+v\nat first:\n%+v", number, x.place.Start, x.place.End, got, x.recs)
		}
	}
	return n
}

// interleaved returns a capture of exchanges that run at the same time, with records of all kinds.
func interleaved(tb testing.TB, exchanges, each int) string {
	var recs []Record
	for i := range each {
		for x := 1; x <= exchanges; x++ {
			r := Record{Exchange: x, At: time.Duration(i*x) * time.Millisecond, Data: fmt.Appendf(nil, "data: %d of %d \"\\\n\n", i, x)}
			switch {
			case i == 0:
				r.Side, r.Head = Request, &Head{Method: "POST", URL: "https://x/y", File: "f"}
			case i == 1:
				r.Head = &Head{File: "f", Status: 200}
			case i == each-1 && x%3 > 0:
				r.End = EndEOF
			case (i+x)%11 == 0:
				r.Data = bytes.Repeat([]byte{0xff, byte(x)}, 7000*(i%3))
			case (i+x)%13 == 0:
				r.Lost, r.Note = 9, "a gap"
			}
			recs = append(recs, r)
		}
	}
	return written(tb, recs...)
}

// again lists files of all kinds, with the number of exchanges in each that can be read again.
var again = map[string]struct {
	content string
	n       int
}{
	"nothing":            {"", 1},
	"body":               {"data: x\n\ndata: y\n\n", 1},
	"long body":          {strings.Repeat("data: x\n\n", 100_000), 1},
	"whole chunk":        {strings.Repeat("x", chunkSize), 1},
	"held back":          {"da", 1},
	"marked body":        {bom + "data: x\n\n", 1},
	"dump":               {"HTTP/1.1 200 OK\nX-A: 1\n\n" + strings.Repeat("data: x\n\n", 20_000), 1},
	"verbose dump":       {"> POST /x HTTP/1.1\n> Host: h\n>\n< HTTP/1.1 200 OK\n<\n{}* Connection #0 to host h left intact\n", 1},
	"cut dump":           {"> POST /x HTTP/1.1\n> Host: h\n>\n< HTTP/1.1 200 OK\n", 1},
	"long head":          {"HTTP/1.1 200 OK\nX-A: " + strings.Repeat("a", 300_000) + "\n\ndata: x\n\n", 1},
	"header only":        {`{"toolscope":1}` + "\n", 0},
	"unsummed":           {`{"toolscope":1}` + "\n" + `{"x":2,"d":"a"}` + "\n" + `{"d":"b","x":2}` + "\n" + `{"x":1,"d":"c","end":"eof"}`, 2},
	"lines of others":    {`{"toolscope":1}` + "\n" + `{"x":2,"d":"a"}` + "\n" + `{ "X" : 2, "d":"b"}` + "\n\n" + `{"x":1,"d":"c"}` + "\r\n" + `{"x":1}` + "\n", 2},
	"number given twice": {`{"toolscope":1}` + "\n" + `{"x":2,"d":"a"}` + "\n" + `{"x":1,"d":"b","x":2}` + "\n" + `{"x":2,"d":"c","end":"eof"}` + "\n" + `{"x":1,"d":"d"}` + "\n", 1},
	"sum in the midst": {
		`{"toolscope":1}` + "\n" + `{"x":2,"d":"a"}` + "\n" + `{"x":1,"d":"b"}` + "\n" + `{"x":3,"d":"c","c":"00000000"}` + "\n" + `{"x":2,"d":"not read"}` + "\n", 2,
	},
	"no bytes":      {`{"toolscope":1}` + "\n" + `{"x":2,"b":""}` + "\n" + `{"x":1,"b":""}` + "\n" + `{"x":1,"d":"a"}` + "\n", 1},
	"note first":    {`{"toolscope":1}` + "\n" + `{"x":5,"note":"of the source"}` + "\n" + `{"x":5,"d":"a","note":"of the exchange"}` + "\n" + `{"x":5,"note":"of the source"}` + "\n", 1},
	"late":          {`{"toolscope":1}` + "\n" + `{"x":5,"d":"a","end":"eof"}` + "\n" + `{"x":5,"d":"late"}` + "\n", 1},
	"last is ended": {`{"toolscope":1}` + "\n" + `{"x":5,"d":"a"}` + "\n" + `{"x":5,"end":"eof"}`, 1},
}

// TestAgain checks that reading an exchange again returns the same records as the first read.
func TestAgain(t *testing.T) {
	files := maps.Clone(again)
	add := func(name, content string, n int) {
		files[name] = struct {
			content string
			n       int
		}{content, n}
	}
	sound, other := written(t, session...), interleaved(t, 7, 40)
	add("session", sound, 3)
	add("marked session", bom+sound, 3)
	add("other line ends", strings.ReplaceAll(sound, "\n", "\r\n"), 3)
	add("side by side", other, 7)
	add("two captures", other+sound+other, 17)
	arrival := Record{Exchange: 1, At: 3 * time.Second}
	add("arrivals", written(t, Record{Exchange: 1, Data: []byte("a")}, arrival, Record{Exchange: 2, Data: []byte("b")}, arrival, Record{Exchange: 1, End: EndEOF}), 2)
	add("torn", other[:len(other)-9], 7)
	add("torn before another", other[:len(other)/2]+"\n"+sound, 10)
	add("damaged", strings.Replace(other, "3 of 5", "3 of 4", 1), 7)
	add("begins with damage", strings.Replace(sound, `{"tool`, `{"tuol`, 1), 3)
	add("long sum in the midst", `{"toolscope":1}`+"\n"+`{"x":2,"d":"a"}`+"\n"+`{"x":1,"d":"`+strings.Repeat("b", 3*chunkSize)+`","c":"00000000"}`+"\n"+`{"x":2,"d":"not read"}`+"\n", 1)
	add("long lines", written(t,
		Record{Exchange: 1, Data: bytes.Repeat([]byte("a"), 1<<20)}, Record{Exchange: 2, Data: bytes.Repeat([]byte("\n"), 1<<20)},
		Record{Exchange: 1, Data: []byte("b")}, Record{Exchange: 2, Data: []byte("c")},
	), 2)
	for name, f := range files {
		t.Run(name, func(t *testing.T) {
			path := writeFile(t, f.content)
			if n := checkAgain(t, readFile(t, path)); n != f.n {
				t.Errorf("%d exchanges can be read again, want %d", n, f.n)
			}
		})
	}
}

// TestAgainOfSeveral checks that exchanges of several files are found by their numbers in the combined source.
func TestAgainOfSeveral(t *testing.T) {
	one, two := writeFile(t, interleaved(t, 3, 20)), writeFile(t, "data: x\n\n")
	sources := func() (all []Source) {
		for _, path := range []string{one, two, one, two} {
			src, err := Open(context.Background(), path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, src)
		}
		return all
	}
	for name, src := range map[string]Source{
		"concat": Concat(sources()...), "merge": Merge(t.Context(), sources()...),
		"both":  Concat(Concat(sources()...), Concat(sources()...)),
		"paced": Play(t.Context(), Concat(sources()...), NewPlayer(MaxSpeed)),
	} {
		want := 8
		if name == "both" {
			want = 16
		}
		if n := checkAgain(t, collect(t, src)); n != want {
			t.Errorf("%s: %d exchanges can be read again, want %d", name, n, want)
		}
	}
}

// TestNotAgain checks that standard input, a pipe and a followed file can't be read again.
func TestNotAgain(t *testing.T) {
	path := writeFile(t, "data: x\n\n")
	stdin, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	for name, c := range map[string]struct {
		path string
		o    Options
	}{
		"standard input": {"-", Options{Stdin: stdin}},
		"pipe":           {"-", Options{Stdin: strings.NewReader("data: x\n\n")}},
		"followed":       {path, Options{Follow: true}},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		src, err := Open(ctx, c.path, c.o)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for r, err := range src {
			if n++; err != nil || r.Location != (Location{}) {
				t.Errorf("%s: %+v, %v", name, r, err)
			}
			if name == "followed" {
				cancel()
			}
		}
		if n == 0 {
			t.Errorf("%s: nothing came", name)
		}
	}
}

// TestAgainOfOther checks that a changed file is not read again, and that the error says so.
func TestAgainOfOther(t *testing.T) {
	content := interleaved(t, 3, 20)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	later := time.Now().Add(time.Hour)
	for name, c := range map[string]struct {
		change func(path string)
		want   string // "" if it is read again
	}{
		"as it was":   {func(string) {}, ""},
		"read before": {func(path string) { must(os.Chtimes(path, later, time.Time{})) }, ""},
		"grown": {func(path string) {
			f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
			must(err)
			_, err = f.WriteString(`{"x":1,"d":"more"}` + "\n")
			must(err)
			must(f.Close())
			must(os.Chtimes(path, later, later))
		}, ""},
		"gone":    {func(path string) { must(os.Remove(path)) }, "open PATH: "},
		"touched": {func(path string) { must(os.Chtimes(path, later, later)) }, "PATH changed since it was read"},
		"shrunk": {func(path string) {
			info, err := os.Stat(path)
			must(err)
			must(os.Truncate(path, int64(len(content)-1)))
			must(os.Chtimes(path, info.ModTime(), info.ModTime()))
		}, "PATH changed since it was read"},
		"rewritten": {func(path string) {
			must(os.WriteFile(path, []byte(content+content), 0o600))
			must(os.Chtimes(path, later, later))
		}, ""},
		"replaced": {func(path string) {
			must(os.WriteFile(path+".new", []byte(content), 0o600))
			must(os.Rename(path+".new", path))
		}, "PATH changed since it was read"},
		"other content": {func(path string) {
			must(os.WriteFile(path, []byte(strings.Repeat("x", 2*len(content))), 0o600))
			must(os.Chtimes(path, later, later))
		}, "PATH changed since it was read"},
		"a folder": {func(path string) { must(os.Remove(path)); must(os.Mkdir(path, 0o700)) }, "PATH changed since it was read"},
	} {
		path := filepath.Join(t.TempDir(), "input")
		must(os.WriteFile(path, []byte(content), 0o600))
		recs := readFile(t, path)
		c.change(path)
		if c.want == "" {
			if n := checkAgain(t, recs); n != 3 {
				t.Errorf("%s: %d exchanges can be read again", name, n)
			}
			continue
		}
		told := false
		for r, err := range recs[0].Location.File.Again(t.Context(), 1, recs[0].Location.Start, recs[0].Location.End) {
			if want := strings.ReplaceAll(c.want, "PATH", path); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s: %+v, %v, want %s", name, r, err, want)
			}
			told = true
		}
		if !told {
			t.Errorf("%s: nothing is said", name)
		}
	}
}

// TestAgainWhileReading checks that exchanges can be read again while the rest of the file is still being
// read.
func TestAgainWhileReading(t *testing.T) {
	for name, content := range map[string]string{"capture": interleaved(t, 3, 300), "body": strings.Repeat("data: x\n\n", 50_000)} {
		src, err := Open(t.Context(), writeFile(t, content), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var recs []Record
		for r, err := range src {
			if err != nil {
				t.Fatal(err)
			}
			if recs = append(recs, r); len(recs)%101 == 3 {
				checkAgain(t, recs)
			}
		}
		if len(recs) < 3 {
			t.Errorf("%s: %d records", name, len(recs))
		}
	}
}

// TestReadingFails checks that an exchange that was open when reading failed can't be read again.
func TestReadingFails(t *testing.T) {
	for content, want := range map[string]int{"data: x": 1, `{"toolscope":1}` + "\n" + `{"x":1,"d":"a","end":"eof"}` + "\n" + `{"x":2,"d":"b"}` + "\n": 2} {
		path := writeFile(t, content)
		opened, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		in := newInputReader(path, &exchangeNumbers{})
		in.from = newFile(path, opened)
		opened.Close()
		var recs []Record
		in.deliverChunk(func(r Record, err error) bool { recs = append(recs, r); return true }, chunk{[]byte(content), NoTime, os.ErrInvalid, ""})
		if all := byExchange(recs); len(all) < want || !all[want].live || want == 2 && all[1].live {
			t.Errorf("%q: exchange %d can be read again: %+v", content, want, recs)
		}
	}
}
