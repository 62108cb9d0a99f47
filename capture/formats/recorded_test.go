package formats

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolscope/capture"
)

var updateRecorded = flag.Bool("update-recorded", false, "write what the readers of recorded HTTP give to testdata")

// recorded lists the formats that contain recorded HTTP, with our test files.
var recorded = []struct {
	format capture.Format
	files  []string
}{
	{har, []string{"all.har"}},
	{flow, []string{"all.flow"}},
	{cassette, []string{"vcrpy.yaml", "parsed-body.yaml", "ruby.yml", "go-vcr.yaml", "httpmock.yaml"}},
	{jsonCassette, []string{"cassette.json"}},
	{httprr, []string{"recording.httprr"}},
	{curlTrace, []string{"curl-trace.txt", "curl-trace-ascii.txt"}},
	{claudeTrace, []string{"claude-trace.jsonl"}},
	{claudeTap, []string{"claude-tap.jsonl"}},
	{interceptor, []string{"llm-interceptor.jsonl"}},
	{geminiAnswers, []string{"gemini.responses"}},
	{devTools, []string{"generations.json"}},
	{mcpLines, []string{"mcp-lines.jsonl"}},
	{mcpLog, []string{"mcp-server-tides.log"}},
}

// readParts returns the records of an input that arrives in several parts.
func readParts(t testing.TB, f capture.Format, parts ...[]byte) (all []capture.Record) {
	looks := func(p []byte) capture.PayloadGuess {
		if bytes.Contains(p, []byte(`"messages"`)) {
			return capture.Ask
		}
		return capture.Nothing
	}
	r := f.New(capture.NewInput("in", looks))
	for _, p := range parts {
		recs, err := r.Write(nil, bytes.Clone(p), capture.NoTime)
		if all = append(all, recs...); err != nil {
			t.Fatal(err)
		}
	}
	return r.Close(all, capture.EndEOF, "", capture.NoTime)
}

// story describes records. The description doesn't depend on how the bytes of a body are split among them.
func story(recs []capture.Record) string {
	var b strings.Builder
	open, at := capture.Stream{}, capture.NoTime
	for _, r := range recs {
		if len(r.Data) == 0 || r.Head != nil || r.Stream() != open || r.At != at {
			if open.Exchange > 0 {
				b.WriteString("\n")
			}
			open = capture.Stream{}
			fmt.Fprintf(&b, "%d %s", r.Exchange, r.Side)
			if r.At >= 0 {
				fmt.Fprintf(&b, " at %s", r.At)
			}
		}
		if h := r.Head; h != nil {
			fmt.Fprintf(&b, " head %q %s %s %d %s %q", h.Wrappers, h.Method, h.URL, h.Status, h.Header, h.Lacks)
		}
		if r.End != "" || r.Note != "" || r.Lost > 0 {
			fmt.Fprintf(&b, " %s %s %s lost=%d %s damaged=%v", r.End, r.Why, r.By, r.Lost, r.Note, r.Damaged)
		}
		if len(r.Data) == 0 {
			b.WriteString("\n")
			continue
		}
		if open.Exchange == 0 {
			b.WriteString(" ")
		}
		open, at = r.Stream(), r.At
		text := fmt.Sprintf("%q", r.Data)
		b.WriteString(text[1 : len(text)-1])
	}
	return strings.ReplaceAll(b.String(), `\n\n`, "\\n\n    ")
}

func eachRecorded(t *testing.T, do func(t *testing.T, f capture.Format, name string, text []byte)) {
	for _, r := range recorded {
		for _, name := range r.files {
			text, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			t.Run(name, func(t *testing.T) { do(t, r.format, name, text) })
		}
	}
}

func TestRecordedIsRead(t *testing.T) {
	eachRecorded(t, func(t *testing.T, f capture.Format, name string, text []byte) {
		got := story(readParts(t, f, text))
		golden := filepath.Join("testdata", name+".records")
		if *updateRecorded {
			if err := os.WriteFile(golden, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil || got != string(want) {
			t.Errorf("%v\n%s", err, got)
		}
	})
}

// TestRecordedIsDetected checks that every format accepts its own files and rejects the files of all other formats.
func TestRecordedIsDetected(t *testing.T) {
	eachRecorded(t, func(t *testing.T, f capture.Format, name string, text []byte) {
		for _, r := range recorded {
			got := r.format.Sniff(text, true)
			if want := r.format.Name == f.Name; want != (got.Is == capture.Yes) || want && got.Why == "" {
				t.Errorf("%s: is it %s? %+v", name, r.format.Name, got)
			}
		}
		told := false
		for n := range text {
			switch s := f.Sniff(text[:n], false); {
			case s.Is == capture.No || told && s.Is != capture.Yes:
				t.Fatalf("%d bytes: %+v", n, s)
			default:
				told = s.Is == capture.Yes
			}
		}
	})
}

func bytewise(text []byte, size int) (parts [][]byte) {
	return slices.Collect(slices.Chunk(text, size))
}

func TestRecordedInPieces(t *testing.T) {
	eachRecorded(t, func(t *testing.T, f capture.Format, _ string, text []byte) {
		whole := story(readParts(t, f, text))
		for _, size := range []int{1, 7, 64, 1000} {
			if got := story(readParts(t, f, bytewise(text, size)...)); got != whole {
				t.Errorf("in pieces of %d:\n%s\nwhole:\n%s", size, got, whole)
			}
		}
	})
}

// bodies returns the bytes of each side of each exchange.
func bodies(recs []capture.Record) map[capture.Stream]string {
	all := map[capture.Stream]string{}
	for _, r := range recs {
		all[r.Stream()] += string(r.Data)
	}
	return all
}

// TestRecordedIsCut checks that, wherever a file is cut off, everything that is complete before the cut is read, and
// nothing else. The cut must be reported.
func TestRecordedIsCut(t *testing.T) {
	eachRecorded(t, func(t *testing.T, f capture.Format, _ string, text []byte) {
		whole := bodies(readParts(t, f, text))
		most, step := 0, 1
		if f.Name == cassette.Name { // YAML is slow
			step = 13
		}
		for n := 0; n < len(text); n += step {
			recs := readParts(t, f, text[:n])
			got := bodies(recs)
			same := 0
			for stream, body := range got {
				switch {
				case body == whole[stream]:
					same++
				case !strings.HasPrefix(whole[stream], body):
					t.Fatalf("cut at %d: %v is %q, which is no beginning of %q", n, stream, body, whole[stream])
				}
			}
			if same < most {
				t.Fatalf("cut at %d: %d bodies are whole, with fewer bytes there were %d", n, same, most)
			}
			most = same
		}
		if missing := len(whole) - most; missing > 2 { // only the two sides of the last exchange may be missing
			t.Errorf("without the last byte %d bodies are missing", missing)
		}
	})
}

// TestNoFlow checks that bytes between flows, except white space, are reported once for each place, however
// the file is split.
func TestNoFlow(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "all.flow"))
	if err != nil {
		t.Fatal(err)
	}
	junk := strings.Repeat("no flow\n", 20)
	for _, test := range []struct {
		text string
		want int
	}{
		{"\n  p", 1}, {"\n \n", 0}, {string(text), 0}, {"\n" + string(text) + "\n", 0}, {string(text) + "\n\n" + string(text), 0},
		{junk + string(text) + "\n" + junk + string(text), 2}, {string(text) + strings.Repeat(" ", 200) + "x", 1},
	} {
		whole := story(readParts(t, flow, []byte(test.text)))
		if n := strings.Count(whole, "a flow should begin here"); n != test.want {
			t.Errorf("%.40q: told %d times, wanted %d:\n%s", test.text, n, test.want, whole)
		}
		for _, size := range []int{1, 7, 64, 1000} {
			if got := story(readParts(t, flow, bytewise([]byte(test.text), size)...)); got != whole {
				t.Errorf("%.40q in pieces of %d:\n%s\nwhole:\n%s", test.text, size, got, whole)
			}
		}
	}
}

func FuzzRecorded(f *testing.F) {
	for i, r := range recorded {
		for _, name := range r.files {
			text, err := os.ReadFile(filepath.Join("testdata", name))
			if err != nil {
				f.Fatal(err)
			}
			f.Add(uint8(i), text)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		format := recorded[int(which)%len(recorded)].format
		format.Sniff(text, false)
		whole := story(readParts(t, format, text))
		if got := story(readParts(t, format, bytewise(text, 3)...)); got != whole {
			t.Errorf("in pieces:\n%s\nwhole:\n%s", got, whole)
		}
	})
}

// BenchmarkRecorded measures reading files with bodies of 1 MB. The throughput counts only the bytes of the bodies.
func BenchmarkRecorded(b *testing.B) {
	event := "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"partial_json\":\"some text\"}}\n\n"
	body := strings.Repeat(event, 1<<20/len(event))
	quoted := string(appendQuoted(nil, body))
	indented := "      " + strings.ReplaceAll(strings.TrimSuffix(body, "\n\n"), "\n", "\n      ") + "\n\n"
	for _, test := range []struct {
		format             capture.Format
		before, item, last string
	}{
		{har, `{"log":{"version":"1.2","entries":[{}`, `,{"request":{"method":"POST","url":"u","headers":[]},"response":{"status":200,"content":{"text":` + quoted + `}}}`, "]}}"},
		{claudeTrace, "", `{"request":{"timestamp":1,"method":"POST","url":"u","headers":{}},"response":{"status_code":200,"body_raw":` + quoted + "}}\n", ""},
		{cassette, "interactions:\n", "- request:\n    method: POST\n    uri: u\n  response:\n    body: |+\n" + indented + "    status: 200\n", ""},
	} {
		b.Run(test.format.Name, func(b *testing.B) {
			text := []byte(test.before + strings.Repeat(test.item, 8) + test.last)
			b.SetBytes(int64(8 * len(body)))
			b.ReportAllocs()
			for b.Loop() {
				r := test.format.New(capture.NewInput("in", nil))
				got := 0
				for part := range slices.Chunk(text, 64<<10) {
					recs, _ := r.Write(nil, bytes.Clone(part), capture.NoTime)
					for _, rec := range recs {
						got += len(rec.Data)
					}
				}
				for _, rec := range r.Close(nil, capture.EndEOF, "", capture.NoTime) {
					got += len(rec.Data)
				}
				if got < 8*len(body) {
					b.Fatalf("%d bytes", got)
				}
			}
		})
	}
}
