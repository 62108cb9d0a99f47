package capture

import (
	"context"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"
)

// TestSniff checks how many of the first bytes are needed to decide the kind of an input.
func TestSniff(t *testing.T) {
	tests := []struct {
		content string
		want    kind
		after   int // number of bytes until the kind is decided
	}{
		{"event: message_start\n", bareBody, 6},
		{"event\n", bareBody, 6},
		{"data: {}\n\n", bareBody, 5},
		{"data:HTTP/1.1 200 OK\n", bareBody, 5},
		{"id: 7\n", bareBody, 3},
		{"retry: 7\n", bareBody, 6},
		{": comment\n", bareBody, 1},
		{`{"id":"msg_1"}`, bareBody, 3},
		{`{"type":"message"}`, bareBody, 4},
		{"[{\n", bareBody, 1},
		{"{\n  \"toolscope\": 1", bareBody, 2},
		{"HTTP/2 200 \r\n", curlDump, 13},
		{"HTTP/1.1 200 OK\n", curlDump, 16},
		{"HTTP/1.1 what\n", bareBody, 14},
		{"date: now\r\nHTTP/1.1 200 OK\r\n", curlDump, 28},
		{"date: now\r\nserver: s\r\nevent: x\n", bareBody, 28},
		{"a: 1\nb: 2\nc: 3\nd: 4\n", bareBody, 16},
		{"* Trying ::1\n> GET / HTTP/1.1\n>\n< HTTP/1.1 200 OK\n", curlDump, 50},
		{"* a list\n* of things\nand text\n", bareBody, 22},
		{`{"toolscope":1}` + "\n", ownCapture, 12},
		{`{ "toolscope" : 9}`, ownCapture, 13},
		{`{"created":"now","toolscope":1}` + "\n", ownCapture, 32},
		{`{"created":1700000000,"model":"m"}` + "\n", bareBody, 35},
		{"\ufeff" + `{"toolscope":1}`, ownCapture, 15},
		{"\ufeffdata: x\n", bareBody, 8},
		{"\x00\x01", bareBody, 1},
	}
	for _, tt := range tests {
		n := 1
		for n < len(tt.content) && sniffKind([]byte(tt.content[:n]), false) == undecided {
			n++
		}
		if got := sniffKind([]byte(tt.content[:n]), false); got != tt.want || n != tt.after {
			t.Errorf("%q: kind %d after %d bytes, want %d after %d", tt.content, got, n, tt.want, tt.after)
		}
	}
}

// TestSniffDamaged checks that a capture is still recognised when one byte of its beginning is damaged. With two
// damaged bytes, it counts as other JSON.
func TestSniffDamaged(t *testing.T) {
	for content, want := range map[string]kind{
		`{"toolscope":`: ownCapture, `{"toolsc0pe":`: ownCapture, `x"toolscope":1`: ownCapture, `{"toolscope"=1`: ownCapture,
		"\ufeff" + `{"toolsc0pe":1`: ownCapture, `{"t00lscope":`: bareBody, `["toolscope";1`: bareBody, `{"toolsc0pe"`: bareBody,
	} {
		if got := sniffKind([]byte(content), false); got != want {
			t.Errorf("%s: kind %d, want %d", content, got, want)
		}
	}
}

// TestSniffWhole checks that a complete line shows the kind of an input. It also checks an input that ends inside the
// line.
func TestSniffWhole(t *testing.T) {
	for content, want := range map[string]kind{
		`{"created":"now","toolscope":1}`: ownCapture, `{"created":"now"}`: bareBody,
		`{"id":"x","toolscope":1}` + "\n": bareBody, `{"created":` + "\n": bareBody,
	} {
		if got := sniffKind([]byte(content), true); got != want {
			t.Errorf("%s: kind %d, want %d", content, got, want)
		}
	}
}

// TestHeldBack checks that bytes that were held back while the format was undecided are passed on when the input
// breaks off. A byte order mark is part of a body.
func TestHeldBack(t *testing.T) {
	in := newInputReader("", &exchangeNumbers{})
	recs, err := in.write([]byte("da"), NoTime)
	if len(recs) > 0 || err != nil {
		t.Errorf("%+v, %v", recs, err)
	}
	expect(t, outline(in.close(EndCut, "broke", NoTime)), `1 "da" cut:broke`)
	if got := newInputReader("", &exchangeNumbers{}).close(EndCut, "broke", NoTime); len(got) > 0 {
		t.Errorf("of nothing: %+v", got)
	}
	expect(t, outline(openAll(t, "\ufeffdata: x\n\n")), `1 "\ufeffdata: x\n\n" eof`)
}

// TestOneByteReads checks that the bytes and heads are the same, however small the reads are.
func TestOneByteReads(t *testing.T) {
	for _, content := range []string{
		"event: ping\ndata: {}\n\n",
		"HTTP", "da", "{", `{"too`, "\xef\xbb", "* ", "HTTP/1.1 200 OK",
		"HTTP/1.1 200 OK\r\nX-A: 1\r\n\r\ndata: x\n\n",
		"\ufeffHTTP/1.1 200 OK\r\nX-A: 1\r\n\r\ndata: x\n\n",
		"HTTP/1.1 200 OK\n\nHTTP/2 but a body",
		"\r\n\nHTTP/1.1 200 OK\r\nX-A: 1\r\n\r\ndata: x\n\n", "\n\n", "\n{}",
		"> GET /x HTTP/1.1\n> Host: h\n>\n< HTTP/1.1 200 OK\n<\n{\"a\": \"* C\"}* Connection #0 to host h left intact\n",
		`{"toolscope":1}` + "\n" + `{"x":1,"d":"héllo"}` + "\n" + `{"x":1,"end":"eof"}` + "\n",
	} {
		whole := stdinAll(t, strings.NewReader(content))
		slow := stdinAll(t, iotest.OneByteReader(strings.NewReader(content)))
		expect(t, outline(slow), outline(whole))
		if a, b := lastHead(whole), lastHead(slow); (a == nil) != (b == nil) || a != nil && a.Status != b.Status {
			t.Errorf("%q: heads differ: %+v, %+v", content, a, b)
		}
	}
}

func stdinAll(t *testing.T, r io.Reader) []Record {
	t.Helper()
	src, err := Open(context.Background(), "-", Options{Stdin: r})
	if err != nil {
		t.Fatal(err)
	}
	return collect(t, src)
}

func lastHead(recs []Record) (head *Head) {
	for _, r := range recs {
		if r.Head != nil {
			head = r.Head
		}
	}
	return head
}

// TestPipeTimes checks that the bytes of a pipe are passed on when they arrive, with their arrival times.
func TestPipeTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		src, err := Open(t.Context(), "-", Options{Stdin: r})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			time.Sleep(100 * time.Millisecond)
			io.WriteString(w, "event: message_start\n")
			time.Sleep(400 * time.Millisecond)
			io.WriteString(w, "data: {")
			time.Sleep(time.Second)
			w.Close()
		}()
		began := time.Now()
		var got []time.Duration
		for r, err := range src {
			if err != nil {
				t.Fatal(err)
			}
			if now := time.Since(began); now != r.At {
				t.Errorf("stamped %v, passed on at %v", r.At, now)
			}
			if len(got) == 0 && (r.Head == nil || r.Head.File != "stdin") {
				t.Errorf("head %+v", r.Head)
			}
			got = append(got, r.At)
		}
		if len(got) != 3 || got[0] != 100*time.Millisecond || got[1] != 500*time.Millisecond || got[2] != 1500*time.Millisecond {
			t.Errorf("times %v", got)
		}
	})
}

func TestStdinFileHasNoTimes(t *testing.T) {
	f, err := os.Open(writeFile(t, "data: x\n\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, r := range stdinAll(t, f) {
		if r.At != NoTime {
			t.Errorf("time %v", r.At)
		}
	}
	if _, err := f.Stat(); err != nil {
		t.Errorf("a borrowed file was closed: %v", err)
	}
}

func TestPipeEndsOnCancel(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	defer r.Close()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	src, err := Open(ctx, "-", Options{Stdin: r})
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(5*time.Millisecond, cancel)
	noGoroutineLeft(t, func() { collect(t, src) })
}

func TestNamedPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := exec.Command("mkfifo", path).Run(); err != nil {
		t.Skip(err)
	}
	src, err := Open(context.Background(), path, Options{Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = os.WriteFile(path, []byte("data: x\n\n"), 0) }()
	recs := collect(t, src)
	expect(t, outline(recs), `1 "data: x\n\n" eof`)
	if recs[0].At <= 0 || recs[0].Head.File != path {
		t.Errorf("%+v", recs[0])
	}
}

func TestPipeThatBreaks(t *testing.T) {
	r := io.MultiReader(strings.NewReader("data: x"), iotest.ErrReader(io.ErrUnexpectedEOF))
	src, err := Open(context.Background(), "-", Options{Stdin: r})
	if err != nil {
		t.Fatal(err)
	}
	var recs []Record
	var last error
	for r, err := range src {
		if last = err; err == nil {
			recs = append(recs, r)
		}
	}
	expect(t, outline(recs), `1 "data: x" cut:unexpected EOF`)
	if last == nil || last.Error() != "read stdin: unexpected EOF" {
		t.Errorf("error %v", last)
	}
}
