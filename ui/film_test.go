package ui

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"toolscope/stream"
)

var update = flag.Bool("update", false, "rewrite the films; look at the difference before you keep it")

// A film is a source and the keys that are pressed while it plays. A picture is taken after every shot.
type film struct {
	name    string
	records func(testing.TB) []stream.Record
	shots   []shot
	answer  func(sent) []stream.Record // the records that arrive after something is sent
}

// shot feeds the records up to a number and then presses keys. With -1, it feeds all records and ends the
// source.
type shot struct {
	upTo int
	keys string
}

var films = []film{
	{name: "agent", records: body("agent.sse"), shots: []shot{
		{0, ""}, {3, ""}, {8, ""}, {17, ""}, {23, ""}, {25, ""}, {-1, ""}, {-1, "k2"}, {-1, "gjjjl"}, {-1, "r"}, {-1, "r4"}, {-1, "<enter>"},
	}},
	{name: "agents", records: session, shots: []shot{{12, ""}, {22, ""}, {-1, "gjj"}, {-1, "jj"}, {-1, "G"}, {-1, "1H"}}},
	{name: "machines", records: machines, shots: []shot{{20, ""}, {-1, "1g"}, {-1, "<enter>jj"}, {-1, "!"}, {-1, "z"}}},
	{name: "parallel", records: demoRecords("parallel"), shots: []shot{{22, ""}, {60, ""}, {70, "1kk"}, {-1, "G"}}},
	{name: "cut", records: demoRecords("cut"), shots: []shot{{30, ""}, {-1, ""}, {-1, "3<enter>"}, {-1, "<enter>"}}},
	{name: "index-zero", records: demoRecords("index-zero"), shots: []shot{{30, ""}, {60, "1kkk"}, {-1, "g3"}, {-1, "1j4"}}},
	{name: "malformed", records: demoRecords("malformed"), shots: []shot{{20, ""}, {-1, ""}, {-1, "3"}}},
	{name: "replay", records: demoRecords("malformed"), shots: []shot{
		{9, "p"}, {14, ""}, {-1, ""}, {-1, "p"}, {-1, "jj"}, {-1, "<enter>P"}, {-1, "<tab>"}, {-1, "l"}, {-1, "<enter>"}, {-1, "l"}, {-1, "l"}, {-1, "<esc>r"}, {-1, "?"}, {-1, "<esc><esc>"},
	}},
	{name: "sent-back", records: demoRecords("history"), shots: []shot{{-1, "gjjjj3"}, {-1, "jjj"}, {-1, "<enter>"}, {-1, "1gjj4G"}, {-1, "<enter>"}, {-1, "o"}, {-1, "1jpss"}, {-1, "G<enter>"}}},
	{name: "tool-result", records: demoRecords("history"), shots: []shot{{-1, "gj7"}, {-1, "1jjj7"}, {-1, "z"}, {-1, "/path<enter>"}, {-1, "<esc><esc>1k"}}},
	{name: "rules", records: demoRecords("malformed"), shots: []shot{{12, "5"}, {-1, ""}, {-1, "j<enter>"}, {-1, "jjjj<enter>"}, {-1, "<enter>"}, {-1, "<esc>"}, {-1, "z"}}},
	{name: "early", records: demoRecords("early"), shots: []shot{{-1, "5"}, {-1, "jj<enter>"}, {-1, "z"}}},
	{name: "request", records: demoRecords("history"), shots: []shot{{-1, "gj6"}, {-1, "z"}, {-1, "*"}, {-1, "*jj<enter>"}, {-1, "/go.mod<enter>"}, {-1, "<esc><esc>1jjj6"}}},
	{name: "schema", records: demoRecords("schema"), shots: []shot{{9, ""}, {-1, "3"}}},
	{name: "protocols", records: demoRecords("protocols"), shots: []shot{{60, ""}, {-1, "ggjjjjj4"}, {-1, "1gD"}}},
	{name: "aistudio", records: demoRecords("aistudio"), shots: []shot{{5, ""}, {-1, "43"}, {-1, "4G<enter>"}}},
	{name: "chat", records: body("chat.sse"), shots: []shot{{8, ""}, {14, " "}, {20, ""}, {20, "G"}, {-1, "1g/oslo"}, {-1, "<enter>n"}}},
	{name: "keys", records: body("agent.sse"), shots: []shot{{-1, "?"}, {-1, "<pgdown>"}, {-1, "<esc>k2jjjjl<enter>"}, {-1, "<esc>z"}, {-1, "z/log"}, {-1, "<enter>n"}}},
	{name: "resend", records: demoRecords("history"), answer: secondAnswer, shots: []shot{
		{-1, "gR"}, {-1, "jp"}, {-1, "G"}, {-1, "m"}, {-1, "qwen3<enter>"}, {-1, "<tab>"}, {-1, "<tab><enter>"}, {-1, "1gm="}, {-1, "<tab>G"},
	}},
	{name: "results", records: func(testing.TB) []stream.Record { return twoCalls(1) }, answer: secondAnswer, shots: []shot{
		{-1, "gja"}, {-1, "written"}, {-1, "<enter>"}, {-1, "a<tab>no space left<enter>"}, {-1, "jj"}, {-1, "<enter>"}, {-1, "1gj2"},
	}},
	{name: "compare", records: threeAnswers, shots: []shot{
		{4, "="}, {9, ""}, {13, ""}, {19, ""}, {24, ""}, {-1, ""}, {-1, "l"}, {-1, "r"}, {-1, "G"}, {-1, "<enter>"}, {-1, "m1gm"}, {-1, "="},
	}},
	{name: "palette", records: demoRecords("malformed"), shots: []shot{{20, ":"}, {20, "repl"}, {-1, "<down>"}, {-1, "<esc>:turn"}, {-1, "<enter>1"}, {-1, "<enter>"}}},
	{name: "filter", records: demoRecords("protocols"), shots: []shot{
		{60, "f"}, {-1, "state:bad"}, {-1, " costs>1"}, {-1, "<esc>fmo<tab>g"}, {-1, "<tab><enter>"}, {-1, "f"}, {-1, "<esc>fstate:<tab><tab>"}, {-1, "<esc>fxyz<enter>"}, {-1, "<esc>"},
	}},
	{name: "search", records: demoRecords("malformed"), shots: []shot{{-1, "2/malf"}, {-1, "<enter>"}, {-1, "<esc>/e"}, {-1, "<enter>n"}, {-1, "N"}, {-1, "<esc>1/nowhere"}, {-1, "<enter>"}}},
	{name: "time", records: demoRecords("parallel"), shots: []shot{
		{60, " "}, {70, ""}, {-1, ",,"}, {-1, "<"}, {-1, "<"}, {-1, "}"}, {-1, "x"}, {-1, "x0"}, {-1, ".."}, {-1, "0"}, {-1, "G"}, {-1, " jj{"}, {-1, "p"},
	}},
	{name: "call-times", records: demoRecords("protocols"), shots: []shot{{-1, "5"}, {-1, "z"}, {-1, "G"}, {-1, "<enter>"}}},
	{name: "help", records: demoRecords("malformed"), shots: []shot{{-1, "?"}, {-1, "jj"}, {-1, "<pgdown>"}, {-1, "<tab>"}, {-1, "/cop"}, {-1, "<esc>/zoom<enter>"}, {-1, "zp?"}}},
	{name: "commands", records: demoRecords("protocols"), shots: []shot{
		{-1, ":sort"}, {-1, " cost<enter>"}, {-1, "jj"}, {-1, "<enter>:jq .guests<enter>"}, {-1, "<tab>"}, {-1, "<esc>:jq .guests[<enter>"},
	}},
	{name: "empty", records: func(testing.TB) []stream.Record { return nil }, shots: []shot{{0, ""}, {-1, ""}}},
	{name: "hostile", records: func(testing.TB) []stream.Record { return hostileExample() }, shots: []shot{{-1, "k"}, {-1, "3"}, {-1, "2<enter>"}, {-1, "<esc>1g2"}}},
}

func demoRecords(name string) func(testing.TB) []stream.Record {
	return func(t testing.TB) []stream.Record { return demo(t, name) }
}

// body returns a response from testdata, with one record for each event, at intervals of 40 ms.
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

// hostileExample returns a stream whose text would control a terminal if it were printed unchanged.
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
				checkFile(t, filepath.Join("testdata", "films", f.name+"-"+look.name+".txt"), f.play(s))
			})
		}
	}
}

// play returns the pictures of a film.
func (f film) play(s *rig) string {
	var out strings.Builder
	records := f.records(s.t)
	s.answer = f.answer
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
		if s.press(shot.keys).arrive(); s.cmd != nil && strings.HasSuffix(shot.keys, "<enter>") {
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

// checkFile compares got with the content of a file. With -update, it writes the file instead.
func checkFile(t *testing.T, file, got string) {
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

// TestNarrowFilms draws the replay and the sent-back view at a width that is just too small for two columns.
func TestNarrowFilms(t *testing.T) {
	for _, name := range []string{"replay", "sent-back"} {
		at := slices.IndexFunc(films, func(f film) bool { return f.name == name })
		checkFile(t, filepath.Join("testdata", "films", name+"-60x18.txt"), films[at].play(newScreen(t, 60, 18)))
	}
}

// TestShortListTakesOneRow checks that on the smallest screen, a list of one call takes one row, and a longer list two.
func TestShortListTakesOneRow(t *testing.T) {
	s := newScreen(t, 40, 10, static).feed(demo(t, "malformed")...)
	if rows := s.rows(); !strings.Contains(rows[1], "malformed") || !strings.Contains(rows[2], "Expected , or }") {
		t.Errorf("one call:\n%s", s.text())
	}
	s = newScreen(t, 40, 10, static).feed(demo(t, "parallel")...)
	if rows := s.rows(); !strings.Contains(rows[1], "write_file") || !strings.Contains(rows[2], "run_tests") {
		t.Errorf("two calls:\n%s", s.text())
	}
}
