package ui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolscope/stream"
)

var update = flag.Bool("update", false, "rewrite the films; look at the difference before you keep it")

// A film is a source and what is done while it plays. A picture is taken after
// every shot.
type film struct {
	name    string
	records func(testing.TB) []stream.Record
	shots   []shot
}

// shot feeds records up to a number, -1 for all and the end, and then presses keys.
type shot struct {
	upTo int
	keys string
}

var films = []film{
	{"agent", body("agent.sse"), []shot{
		{0, ""}, {3, ""}, {8, ""}, {17, ""}, {23, ""}, {25, ""}, {-1, ""}, {-1, "k2"}, {-1, "gjjjl"}, {-1, "r"}, {-1, "r3"}, {-1, "<enter>"},
	}},
	{"parallel", demoRecords("parallel"), []shot{{22, ""}, {60, ""}, {70, "1kk"}, {-1, "G"}}},
	{"cut", demoRecords("cut"), []shot{{30, ""}, {-1, ""}, {-1, "4<enter>"}, {-1, "<enter>"}}},
	{"index-zero", demoRecords("index-zero"), []shot{{30, ""}, {60, "1kkk"}, {-1, "g4"}, {-1, "1j3"}}},
	{"malformed", demoRecords("malformed"), []shot{{20, ""}, {-1, ""}, {-1, "4"}}},
	{"replay", demoRecords("malformed"), []shot{
		{9, "p"}, {14, ""}, {-1, ""}, {-1, "p"}, {-1, "PjP"}, {-1, "<tab>"}, {-1, "l"}, {-1, "<enter>"}, {-1, "l"}, {-1, "l"}, {-1, "<esc>r"}, {-1, "?"}, {-1, "<esc><esc>"},
	}},
	{"sent-back", demoRecords("history"), []shot{{-1, "gjjjj4"}, {-1, "jjj"}, {-1, "<enter>"}, {-1, "1gjj3G"}, {-1, "<enter>"}, {-1, "o"}, {-1, "1jpss"}, {-1, "G<enter>"}}},
	{"schema", demoRecords("schema"), []shot{{9, ""}, {-1, "4"}}},
	{"protocols", demoRecords("protocols"), []shot{{60, ""}, {-1, "ggjjjjj3"}, {-1, "1gD"}}},
	{"aistudio", demoRecords("aistudio"), []shot{{5, ""}, {-1, "34"}, {-1, "3G<enter>"}}},
	{"chat", body("chat.sse"), []shot{{8, ""}, {14, " "}, {20, ""}, {20, " "}, {-1, "1g/oslo"}, {-1, "<enter>n"}}},
	{"keys", body("agent.sse"), []shot{{-1, "?"}, {-1, "<pgdown>"}, {-1, "<esc>k2jjjjl<enter>"}, {-1, "<esc>z"}, {-1, "z/log"}, {-1, "<enter>n"}}},
	{"empty", func(testing.TB) []stream.Record { return nil }, []shot{{0, ""}, {-1, ""}}},
	{"hostile", func(testing.TB) []stream.Record { return hostileExample() }, []shot{{-1, "k"}, {-1, "4"}, {-1, "2<enter>"}, {-1, "<esc>1g2"}}},
}

func demoRecords(name string) func(testing.TB) []stream.Record {
	return func(t testing.TB) []stream.Record { return demo(t, name) }
}

// body is a response from testdata, one event a record, 40 ms apart.
func body(name string) func(testing.TB) []stream.Record {
	return func(t testing.TB) (records []stream.Record) {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for block := range strings.SplitAfterSeq(string(data), "\n\n") {
			if block == "" {
				break
			}
			at := time.Duration(len(records)) * 40 * time.Millisecond
			records = append(records, stream.Record{At: at, Data: []byte(block)})
		}
		records[0].Head = &stream.Head{Method: "POST", URL: "http://localhost:8080/v1/agent", Status: 200}
		return records
	}
}

// hostileExample is a stream that would take over a terminal that believed it.
func hostileExample() []stream.Record {
	bad := "\x1b]0;owned\a\x1b[31m"
	a := new(anthropic).open("msg_\u202e01")
	a.text("before " + bad + " after\r\nnext\u200bline")
	a.call("toolu_\x9b01", "read"+bad+"_file", chop(`{"path`+"\u202e"+`":"`+"\U000e0069\U000e0067é e\u0301 👨‍👩‍👧"+`\u001b[2J","tool`+bad[:1]+`":1}`, 5)...).seal()
	a.say(`{"type":"error","error":{"type":"overloaded_error","message":%s}}`, quote("try "+bad+" later"))
	a.records[0].Head = &stream.Head{Method: "POST", URL: "http://evil.example/" + bad + "/v1", File: "/tmp/" + bad, Status: 200}
	a.records[len(a.records)-1].End = true
	return a.records
}

func TestFilms(t *testing.T) {
	for _, f := range films {
		for _, look := range []struct {
			name   string
			w, h   int
			change []func(*Options)
		}{{"80x24", 80, 24, nil}, {"140x40", 140, 40, nil}, {"ascii", 80, 24, []func(*Options){ascii}}, {"40x10", 40, 10, nil}} {
			t.Run(f.name+"-"+look.name, func(t *testing.T) {
				s := newScreen(t, look.w, look.h, look.change...)
				compare(t, filepath.Join("testdata", "films", f.name+"-"+look.name+".txt"), f.play(s))
			})
		}
	}
}

// play takes the pictures.
func (f film) play(s *screen) string {
	var out strings.Builder
	records := f.records(s.t)
	fed := 0
	for _, shot := range f.shots {
		upTo := shot.upTo
		if upTo < 0 {
			upTo = len(records)
		}
		for ; fed < upTo; fed++ {
			s.feed(records[fed])
		}
		if shot.upTo < 0 && !s.ended {
			s.end()
		}
		if s.press(shot.keys); s.cmd != nil && strings.HasSuffix(shot.keys, "<enter>") {
			s.settle()
		}
		fmt.Fprintf(&out, "== %d of %d records", fed, len(records))
		if shot.keys != "" {
			fmt.Fprintf(&out, ", keys %s", shot.keys)
		}
		fmt.Fprintf(&out, "\n%s\n", strings.Join(s.rows(), "\n"))
	}
	return out.String()
}

// compare holds what was got against a file, or writes it there.
func compare(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
