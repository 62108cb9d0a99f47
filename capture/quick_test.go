package capture

import (
	"bytes"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"
)

// checkQuick fails unless the quick reader of a line returns the same result as the full one.
func checkQuick(t *testing.T, line []byte) (quick bool) {
	t.Helper()
	before := bytes.Clone(line)
	heads := headCache{}
	var first, got Record
	if quickRecord(&first, line, make([]byte, 0, len(line)), heads); first.Head != nil {
		first.Head.File = "changed" // must not change the kept head
	}
	ok := quickRecord(&got, line, make([]byte, 0, len(line)), heads)
	if !bytes.Equal(before, line) {
		t.Fatalf("%q became %q", before, line)
	}
	if !ok {
		return false
	}
	want, err := decodeRecord(line)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("%q: %+v\nslowly: %+v, %v", line, got, want, err)
	}
	if _, x, _ := linePrefix(line); x != got.Exchange {
		t.Fatalf("%q: exchange %d", line, x)
	}
	return true
}

// TestQuick checks that the most frequent lines of a capture are read quickly, whatever bytes they contain.
func TestQuick(t *testing.T) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for _, data := range []string{"x", "data: {\"a\":\"b\\n\"}\n\n", "é\u2028\U0001f600\u007f\ufffd", string(every[:128]), string(every), "\xff", strings.Repeat("\xfe\n", 50_000), "/\\"} {
		for _, r := range []Record{
			{Exchange: 1, At: NoTime}, {Exchange: 1, At: 0}, {Exchange: 12, At: 1e3}, {Exchange: maxExchange, At: 12_345_678e3},
			{Exchange: 3, At: 1e15 + 5e5, Side: Request}, {Exchange: 3, At: 20e6}, {Exchange: 3, At: 20e6, End: EndEOF}, {Exchange: 3, At: 20e6, End: EndEOF, By: Provider},
			{Exchange: 3, At: 20e6, Side: Request, Head: &Head{Method: "POST", URL: "https://h/\"}{é"}, End: EndEOF},
			{Exchange: 3, At: 20e6, Head: &Head{Status: 200, Header: http.Header{"A": {"b", "}"}}, Start: time.Unix(1, 5).UTC()}},
		} {
			r.Data = []byte(data)
			line, err := EncodeRecord(r)
			if err != nil {
				t.Fatal(err)
			}
			line = bytes.TrimSuffix(line, []byte("\n"))
			if !checkQuick(t, line) {
				t.Errorf("%.200q is not read quickly", line)
			}
			if !checkQuick(t, append(line, " \r"...)) {
				t.Errorf("%.200q is not read quickly with blanks behind it", line)
			}
			if bare := append(bytes.Clone(line[:sumStart(line)]), '}'); !checkQuick(t, bare) {
				t.Errorf("%.200q is not read quickly", bare)
			}
		}
	}
}

// unusual lists lines that are not read quickly, and lines that are read quickly but might be misread.
var unusual = []string{
	``, `{`, `{}`, `null`, `{"x":1}`, `{"x":0,"d":"a"}`, `{"x":01,"d":"a"}`, `{"x":-1,"d":"a"}`, `{"x":1.0,"d":"a"}`, `{"x":1e1,"d":"a"}`,
	`{"x":1073741825,"d":"a"}`, `{"x":99999999999999999999,"d":"a"}`, `{"x":18446744073709551617,"d":"a"}`, `{"x":"1","d":"a"}`, `{"x":1,"d":""}`, `{"x":1,"b":""}`, `{"x":1,"d":null}`,
	`{"x":1,"d":"a","d":"b"}`, `{"x":1,"d":"a","x":2}`, `{"x":1,"d":"a","b":"YQ=="}`, `{"x":1,"b":"YQ"}`, `{"x":1,"b":"Y Q=="}`, `{"x":1,"b":"YQ==\n"}`,
	`{"x":1,"d":"a"}}`, `{"x":1,"d":"a"} x`, `{"x":1,"d":"a"`, `{"x":1,"d":"a`, `{"x":1,"d":"a\`, `{"x":1,"d":"\x"}`, `{"x":1,"d":"\u12"}`, `{"x":1,"d":"\u00g0"}`,
	`{"x":1,"d":"\ud83d\ude00"}`, `{"x":1,"d":"\ud83d"}`, `{"x":1,"d":"\udc00x"}`, "{\"x\":1,\"d\":\"\t\"}", "{\"x\":1,\"d\":\"\xff\"}", "{\"x\":1,\"d\":\"a\",\"c\":\"\xff0000000\"}",
	`{"x":1,"d":"a","c":"""""""""}`, `{"x":1,"d":"a","c":"\\\\\\\\"}`, `{"x":1,"d":"a","c":"\n\n\n\n"}`, `{"x":1,"d":"a","c":"0000000\"}`, `{"x":1,"d":"a","c":"123"}`,
	`{"t":,"x":1,"d":"a"}`, `{"t":1.,"x":1,"d":"a"}`, `{"t":.5,"x":1,"d":"a"}`, `{"t":01,"x":1,"d":"a"}`, `{"t":1e3,"x":1,"d":"a"}`, `{"t":-1,"x":1,"d":"a"}`, `{"t":-0,"x":1,"d":"a"}`,
	`{"t":1.2345,"x":1,"d":"a"}`, `{"t":1234567890123,"x":1,"d":"a"}`, `{"t":99999999999999999999,"x":1,"d":"a"}`, `{"t":"1","x":1,"d":"a"}`, `{"t":null,"x":1,"d":"a"}`, `{"t":0.000,"x":1,"d":"a"}`,
	`{"t":999999999999.999,"x":1,"d":"a"}`, `{"x":1,"side":"request"}`, `{"x":1,"side":"Request","d":"a"}`, `{"x":1,"side":"","d":"a"}`, `{"x":1,"D":"a"}`, `{"X":1,"d":"a"}`, ` {"x":1,"d":"a"}`,
	`{"x":1,"head":{}}`, `{"x":1,"head":null,"d":"a"}`, `{"x":1,"head":{"status":"a"},"d":"a"}`, `{"x":1,"head":{"status":2},"head":{"status":1}}`, `{"x":1,"head":{"status":2`, `{"x":1,"head":{}}}`,
	`{"x":1,"head":{"Status":3,"status":4},"d":"a"}`, `{"x":1,"head":{"file":"\ud83d"},"d":"a"}`, "{\"x\":1,\"head\":{\"file\":\"\xff\"},\"d\":\"a\"}", `{"x":1,"head":{},"side":"request","d":"a"}`, `{"x":1,"head":{"status":1]},"d":"a"}`,
	`{"x":1,"end":"eof"}`, `{"x":1,"end":"cut"}`, `{"x":1,"end":"eof","end":"cut"}`, `{"x":1,"end":"eof","why":"w"}`, `{"x":1,"end":"eof","d":"a"}`, `{"x":1,"d":"","end":"eof"}`, `{"x":1,"head":{},"end":"eof"}`,
	`{"x":1,"d":"a","toolscope":1}`, `{"x":1,"d":"a","end":"eof"}`, `{"x":1,"d":"a","note":"n"}`, `{"x":1,"d":"a"}` + "\t \r", `{"x":1,"d":"a" }`,
}

// TestQuickIsRight checks that lines in a form other than EncodeRecord's are left to decodeRecord, or are read with
// the same result.
func TestQuickIsRight(t *testing.T) {
	for _, line := range unusual {
		checkQuick(t, []byte(line))
	}
}

// FuzzQuick checks that any line that is read quickly is read correctly.
func FuzzQuick(f *testing.F) {
	for _, line := range unusual {
		f.Add([]byte(line))
	}
	for line := range strings.Lines(written(f, session...)) {
		f.Add([]byte(strings.TrimSuffix(line, "\n")))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		checkQuick(t, line)
		for at := range line { // lines that differ in one byte are tested too
			if at > 60 {
				break
			}
			other := bytes.Clone(line)
			other[at] ^= 1 << (at % 8)
			checkQuick(t, other)
		}
	})
}
