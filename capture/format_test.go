package capture

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// written returns a capture of the records, as in a file.
func written(t testing.TB, recs ...Record) string {
	t.Helper()
	file, err := EncodeHeader(noon, "test", "")
	for _, r := range recs {
		line, unfit := EncodeRecord(r)
		file, err = append(file, line...), errors.Join(err, unfit)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(file)
}

// readBack reads a capture without opening a file.
func readBack(t testing.TB, file string) []Record {
	t.Helper()
	in := newInputReader("", &exchangeNumbers{})
	recs, err := in.write([]byte(file), NoTime)
	if err != nil {
		t.Fatal(err)
	}
	return append(recs, in.close(EndEOF, "", NoTime)...)
}

var session = []Record{
	{Exchange: 1, Side: Request, At: 0, Data: []byte(`{"model":"m"}`), Head: &Head{
		File: "a.sse", Method: "POST", URL: "https://api.example/v1/messages?x=<1>&y=2",
		Header: http.Header{"Accept": {"a", "b"}}, Start: noon.Add(123456789),
	}},
	{Exchange: 2, Side: Request, At: 1500 * time.Microsecond, Head: &Head{File: "b"}},
	{Exchange: 1, At: 812345 * time.Microsecond, Head: &Head{File: "a.sse", Status: 200}, Data: []byte("data: <&>\u2028\u2029\x00\x1b\u007f\ufffd\n")},
	{Exchange: 1, At: 900 * time.Millisecond, Data: []byte("half a rune \xe2\x82")},
	{Exchange: 1, At: 900 * time.Millisecond, Data: []byte("\xac and the rest")},
	{Exchange: 1, At: time.Hour, End: EndCut, Why: "connection reset by peer"},
	{Exchange: 3, At: time.Hour, Head: &Head{File: "c", Status: 502}, By: Toolscope},
	{Exchange: 3, At: time.Hour, Lost: 1234567, Note: "gap"},
	{Exchange: 3, At: time.Hour, Lost: 5, Data: []byte("x"), End: EndCut, By: Client},
	{Exchange: 2, At: NoTime, Note: "file truncated", End: EndEOF},
}

func TestRoundTrip(t *testing.T) {
	file := written(t, session...)
	got := openAll(t, file)
	if !reflect.DeepEqual(got, session) {
		t.Errorf("got:\n%+v\nwant:\n%+v", got, session)
	}
	for _, want := range []string{
		`{"toolscope":1,"created":"2026-03-01T12:00:00Z","by":"test","c":"cc741be8"}`,
		`{"t":1.5,"x":2,"side":"request","head":{"file":"b"},"c":"84bf6119"}`,
		`{"t":3600000,"x":1,"end":"cut","why":"connection reset by peer","c":"faa4173a"}`,
	} {
		if !strings.Contains(file, want+"\n") {
			t.Errorf("no line %s in\n%s", want, file)
		}
	}
}

// TestReadVersion1 checks that a file written by the first version can be read.
func TestReadVersion1(t *testing.T) {
	file := `{"toolscope":1,"created":"2026-03-01T12:00:00Z","by":"x","later":{"key":1}}` + "\r\n\n" +
		`{"t":0.001,"x":1,"head":{"status":200,"header":{"A":["b"]},"new":1},"d":"a\u2028b","more":[1,2]}` + "\n" +
		`{"t":12,"x":1,"b":"/w=="}` + "\n" +
		`{"x":1,"end":"eof"}`
	recs := readBack(t, file)
	expect(t, outline(recs), `1 "a\u2028b\xff" eof`)
	if recs[0].At != time.Microsecond || recs[1].At != 12*time.Millisecond || recs[2].At != NoTime {
		t.Errorf("times %v %v %v", recs[0].At, recs[1].At, recs[2].At)
	}
	if h := recs[0].Head; h.Status != 200 || h.Header.Get("a") != "b" {
		t.Errorf("head %+v", h)
	}
}

func TestUnknownVersion(t *testing.T) {
	path := writeFile(t, `{"toolscope":2}`+"\n"+`{"x":1,"d":"a"}`+"\n")
	src, err := Open(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range src {
		want := "read " + path + ": line 1: capture format version 2; this toolscope reads version 1"
		if err == nil || err.Error() != want {
			t.Errorf("record %+v, error %v", r, err)
		}
	}
}

// TestCutAnywhere checks that every record before the damage is read, and that the damage is reported once.
func TestCutAnywhere(t *testing.T) {
	file := written(t, session...)
	for n := range len(file) {
		whole := max(0, strings.Count(file[:n], "\n")-1)
		got := openAll(t, file[:n])
		if len(got) < whole || whole > 0 && !reflect.DeepEqual(got[:whole], session[:whole]) {
			t.Fatalf("cut at %d: %d records, want at least %d", n, len(got), whole)
		}
		last := file[strings.LastIndex(file[:n], "\n")+1 : n]
		if n < len(`{"toolscope"`) || last == "" {
			continue
		}
		var notes []string
		for _, r := range got[whole:] {
			if strings.HasPrefix(r.Note, "damaged") {
				notes = append(notes, r.Note)
			}
		}
		complete := file[n] == '\n'
		if complete == (len(notes) == 1) || !complete && !strings.HasSuffix(notes[0], ": "+last) {
			t.Fatalf("cut at %d: notes %q", n, notes)
		}
	}
}

func TestDamagedLines(t *testing.T) {
	good := `{"x":1,"d":"ok"}`
	for _, bad := range []string{
		`{"x":1,"d":"torn` + good, "\x00\x00\x00", `null`, `5`, `{}`, `{"x":0,"d":"a"}`, `{"x":1.5}`, `{"x":99999999999}`,
		`{"x":1,"t":-5}`, `{"x":1,"t":"soon"}`, `{"x":1,"side":"left"}`, `{"x":1,"b":"?"}`, `{"x":1,"d":"a","b":"YQ=="}`,
		"{\"x\":1,\"d\":\"\xff\"}", `{"x":1,"head":{"start":"noon"}}`,
	} {
		header := `{"toolscope":1}` + "\n"
		recs := readBack(t, header+good+"\n"+bad+"\n"+good+"\n"+`{"x":1,"end":"eof"}`)
		if len(recs) != 4 {
			t.Errorf("%q: %d records, want 4", bad, len(recs))
			continue
		}
		place := fmt.Sprintf("damaged line 3 at byte %d (", len(header)+len(good)+1)
		if note := recs[1].Note; !strings.HasPrefix(note, place) || !strings.HasSuffix(note, ": "+bad) || strings.Contains(note, "the file ends") {
			t.Errorf("%q: note %q", bad, note)
		}
	}
}

func TestDamagedHeader(t *testing.T) {
	recs := readBack(t, `{"toolscope":1,"crea`+"\n"+`{"x":1,"d":"ok","end":"eof"}`+"\n")
	if len(recs) != 2 || !strings.HasPrefix(recs[0].Note, "damaged line 1 at byte 0 (") || string(recs[1].Data) != "ok" {
		t.Errorf("%+v", recs)
	}
}

func TestLongLines(t *testing.T) {
	long := strings.Repeat("x", 2<<20)
	recs := openAll(t, written(t, Record{Exchange: 1, Data: []byte(long)}, Record{Exchange: 1, End: EndEOF}))
	if string(recs[0].Data) != long {
		t.Error("a long line changed")
	}
	note := readBack(t, `{"toolscope":1}`+"\n"+long+"\n")[0].Note
	if len(note) > maxDamageShown+200 || !strings.HasSuffix(note, "x… (4096 of 2097152 bytes)") {
		t.Errorf("note of %d bytes", len(note))
	}
}

func TestCaptureWithoutEnd(t *testing.T) {
	recs := openAll(t, written(t, Record{Exchange: 2, Data: []byte("b")}, Record{Exchange: 1, Side: Request, Data: []byte("a")}))
	expect(t, outline(recs), `2 "b" cut:the capture ends before the response does
1 request "a"
1 "" cut:the capture ends before the response does`)
}

func TestTwoCapturesInOneFile(t *testing.T) {
	one := written(t, Record{Exchange: 1, Data: []byte("a")})
	two := written(t, Record{Exchange: 1, Data: []byte("b")}, Record{Exchange: 1, End: EndEOF})
	expect(t, outline(openAll(t, one+two)), "1 \"a\" cut:another capture begins\n2 \"b\" eof")
}

func FuzzRoundTrip(f *testing.F) {
	f.Add([]byte("data: x\n\n"), int64(1_500_000), "why", "note", 200)
	f.Add([]byte("\xff\u2028\x00"), int64(-1), "", "a\nb", 0)
	f.Fuzz(func(t *testing.T, data []byte, at int64, why, note string, status int) {
		if !utf8.ValidString(why) || !utf8.ValidString(note) {
			t.Skip()
		}
		if len(data) == 0 {
			data = nil
		}
		want := Record{
			Exchange: 1, At: max(NoTime, time.Duration(at)), Data: data, End: EndEOF, Why: why, Note: note,
			Head: &Head{File: "f", Status: status, Header: http.Header{"A": {why}}},
		}
		if want.At >= 0 {
			want.At = want.At.Truncate(time.Microsecond)
		}
		got := readBack(t, written(t, want))
		if len(got) != 1 || !reflect.DeepEqual(got[0], want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

// FuzzReader checks that good records are read whatever follows them, and however the file is split.
func FuzzReader(f *testing.F) {
	f.Add([]byte(`{"x":1,"d":"torn`), 3)
	f.Add([]byte("\n\n\xff{}\n[]"), 1)
	f.Add([]byte(`{"toolscope":1}`+"\n"), 1)
	good := written(f, session...)
	f.Fuzz(func(t *testing.T, junk []byte, step int) {
		file := append([]byte(good), junk...)
		in := newInputReader("", &exchangeNumbers{})
		var recs []Record
		for p := file; len(p) > 0; {
			n := min(max(step, 1), len(p))
			more, err := in.write(p[:n], NoTime)
			recs, p = append(recs, more...), p[n:]
			if err != nil {
				break
			}
		}
		recs = append(recs, in.close(EndEOF, "", NoTime)...)
		if len(recs) < len(session) || !reflect.DeepEqual(recs[:len(session)], session) {
			t.Fatalf("records lost before %q", junk)
		}
		other := newInputReader("", &exchangeNumbers{}) // any input must be readable without a panic
		other.write(junk, NoTime)
		other.close(EndEOF, "", NoTime)
	})
}

// TestReadOldWords checks that facts that the first versions wrote only in words are read.
func TestReadOldWords(t *testing.T) {
	const head = `{"toolscope":1,"created":"2026-03-01T12:00:00Z"}` + "\n"
	for line, want := range map[string]Record{
		`{"x":1,"note":"gap: 4096 bytes were not recorded: the disk is full"}`:              {Lost: 4096},
		`{"x":1,"side":"request","note":"gap: 12 bytes of exchange 1 were not recorded"}`:   {Side: Request, Lost: 12},
		`{"x":1,"lost":7,"note":"gap: 4096 bytes were not recorded"}`:                       {Lost: 7},
		`{"x":1,"note":"gap: what the upstream sends from here on passes"}`:                 {},
		`{"x":1,"note":"damaged line 12"}`:                                                  {},
		`{"x":1,"end":"cut","why":"the client went away"}`:                                  {By: Client},
		`{"x":1,"end":"cut","why":"the proxy was closed"}`:                                  {By: Toolscope},
		`{"x":1,"end":"cut","why":"the connection was reset"}`:                              {By: Network},
		`{"x":1,"end":"cut","why":"the client went away","by":"network"}`:                   {By: Network},
		`{"x":1,"end":"cut","why":"another"}`:                                               {},
		`{"x":1,"end":"eof"}`:                                                               {},
		`{"x":1,"head":{"status":502},"note":"the proxy itself gave this answer: refused"}`: {By: Toolscope},
		`{"x":1,"head":{"status":502},"note":"another"}`:                                    {},
	} {
		got := readBack(t, head+line)[0]
		if got.Lost != want.Lost || got.By != want.By || got.Side != want.Side {
			t.Errorf("%s: %d lost, by %q", line, got.Lost, got.By)
		}
	}
}
