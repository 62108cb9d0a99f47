package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// printedCall has the facts about a printed call that the tests compare.
type printedCall struct {
	Type, ID, Name string
	Arguments      any
}

func (c printedCall) String() string { return fmt.Sprintf("%s %s %v", c.Name, c.ID, c.Arguments) }

// printedCalls returns the calls that print writes for a file.
func printedCalls(t *testing.T, file string) (calls []printedCall) {
	t.Helper()
	out := command(t, nil, "print", "--format", "jsonl", file)
	for line := range strings.Lines(out.stdout) {
		var c printedCall
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		if c.Type == "call" {
			calls = append(calls, c)
		}
	}
	return calls
}

const (
	fileCall = "read_file toolu_1 map[path:Räume.txt]"
	addCall  = "add call_1 map[a:1 b:2]"
	pwd      = "shell call_ws map[cmd:pwd]"
)

// recordedCalls are the calls in the HTTP captures in testdata.
var recordedCalls = []struct {
	file  string
	calls []string
}{
	{"all.har", []string{fileCall, addCall, pwd, addCall}},
	{"all.flow", []string{fileCall, addCall, pwd}},
	{"vcrpy.yaml", []string{fileCall, addCall}},
	{"parsed-body.yaml", []string{addCall}},
	{"ruby.yml", []string{fileCall, addCall}},
	{"go-vcr.yaml", []string{fileCall, addCall}},
	{"httpmock.yaml", []string{fileCall, addCall}},
	{"cassette.json", []string{fileCall, addCall}},
	{"curl-trace.txt", []string{fileCall}},
	{"curl-trace-ascii.txt", []string{"read_file toolu_1 map[path:R..ume.txt]"}}, // curl writes a dot for each non-ASCII character
	{"claude-trace.jsonl", []string{fileCall, addCall}},
	{"claude-tap.jsonl", []string{fileCall, pwd}},
	{"llm-interceptor.jsonl", []string{addCall, fileCall}},
	{"gemini.responses", []string{"add  map[a:1 b:2]"}},
	{"generations.json", []string{fileCall, addCall, "add call_1 <nil>"}},
}

func TestRecordedHTTP(t *testing.T) {
	for _, r := range recordedCalls {
		var got []string
		for _, c := range printedCalls(t, filepath.Join("..", "..", "capture", "formats", "testdata", r.file)) {
			got = append(got, c.String())
		}
		if !slices.Equal(got, r.calls) {
			t.Errorf("%s: got  %q\nwant %q", r.file, got, r.calls)
		}
	}
}

// recordedIn lists the paths of the corpora's HTTP captures, as prefixes.
var recordedIn = []string{"formats/har/", "formats/mitmproxy/", "formats/derived/llm-", "formats/derived/curl-", "formats/derived/claude-trace", "formats/claude-tap-trace/", "formats/vcr-", "formats/httpmock-rs/"}

// TestRecordedExpected compares the output of print with the known contents of a corpus's files.
func TestRecordedExpected(t *testing.T) {
	corpus := os.Getenv("TOOLSCOPE_CORPUS")
	if corpus == "" {
		t.Skip("TOOLSCOPE_CORPUS is not set")
	}
	data, err := os.ReadFile(filepath.Join(corpus, "formats", "EXPECTED.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 1<<24)
	compared := 0
	for lines.Scan() {
		var e struct {
			File      string
			Exchanges []struct {
				Calls []struct {
					ID, Name string
					Value    any `json:"arguments_json"`
				}
			}
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(recordedIn, func(begin string) bool { return strings.HasPrefix(e.File, begin) }) {
			continue
		}
		compared++
		var want []printedCall
		for _, x := range e.Exchanges {
			for _, c := range x.Calls {
				want = append(want, printedCall{"call", c.ID, c.Name, c.Value})
			}
		}
		if got := printedCalls(t, filepath.Join(corpus, e.File)); !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\ngot  %q\nwant %q", e.File, got, want)
		}
	}
	if compared == 0 {
		t.Error("nothing compared")
	}
}
