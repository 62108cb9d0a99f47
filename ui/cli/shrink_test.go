package cli

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// shrinkerOf returns a shrinker for a file, and the records of the file.
func shrinkerOf(t *testing.T, file string, f shrinkFlags) (*shrinker, []capture.Record) {
	t.Helper()
	a := (&app{}).linkParts()
	a.reading.as, a.reading.protocol = "auto", "auto"
	s, err := a.newShrinker(context.Background(), file, &f)
	if err != nil {
		t.Fatal(err)
	}
	var records []capture.Record
	src, err := capture.Open(context.Background(), file, capture.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for r, err := range src {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	return s, records
}

// plantedCodes returns the codes of the findings in a stream that a stream without the fault doesn't have.
func plantedCodes(t *testing.T, data, clean string) (codes []string) {
	t.Helper()
	count := map[string]int{}
	for i, text := range []string{clean, data} {
		for _, turn := range inspected(t, []byte(text)).Session().Turns {
			all := slices.Clone(turn.Findings)
			for _, c := range turn.Calls {
				all = append(all, c.Findings...)
			}
			for _, f := range all {
				if i == 0 {
					count[f.Code]++
				} else if count[f.Code]--; count[f.Code] < 0 && !slices.Contains(codes, f.Code) {
					codes = append(codes, f.Code)
				}
			}
		}
	}
	return codes
}

// verdictsOf returns the code, cause and state of each finding with the given code in a stream.
func verdictsOf(t *testing.T, data []byte, code string) (all []string) {
	t.Helper()
	for _, turn := range inspected(t, data).Session().Turns {
		for _, f := range turn.Findings {
			if f.Code == code {
				all = append(all, f.Code+" by "+f.By.String())
			}
		}
		for _, c := range turn.Calls {
			for _, f := range c.Findings {
				if f.Code == code {
					all = append(all, f.Code+" by "+f.By.String()+": "+c.Status().String())
				}
			}
		}
	}
	return all
}

// TestShrinkPlanted checks the results for streams with planted faults. Each result must have the same finding with
// the same cause and state, and no word of the content. It must not be possible to remove any further event or field.
func TestShrinkPlanted(t *testing.T) {
	size, long := 30_000, os.Getenv("TOOLSCOPE_LONG") != ""
	if long {
		size = 1_050_000
	}
	total := 0
	var slowest time.Duration
	for _, protocol := range slices.Sorted(maps.Keys(wires)) {
		// Protocols need different numbers of bytes for the same content.
		content := size * size / len(planted(protocol, plantedFault{}, size))
		clean := planted(protocol, plantedFault{}, content)
		for n, fault := range plantedFaults {
			if !long && n%4 != len(protocol)%4 {
				continue
			}
			data := planted(protocol, fault, content)
			codes := plantedCodes(t, data, clean)
			if len(codes) == 0 {
				continue
			}
			t.Run(strings.Join([]string{protocol, fault.name, codes[0]}, "/"), func(t *testing.T) {
				total++
				slowest = max(slowest, checkShrunk(t, data, codes[0]))
			})
		}
	}
	t.Logf("%d faults, at most %v", total, slowest)
	if !t.Failed() && (total < 12 || long && total < 50) {
		t.Errorf("only %d faults made a finding", total)
	}
}

// checkShrunk shrinks a stream with a fault, and checks the result. It returns the time that shrink took.
func checkShrunk(t *testing.T, data, code string) time.Duration {
	file := saved(t, "planted.sse", data)
	out := filepath.Join(t.TempDir(), "out.sse")
	began := time.Now()
	got := command(t, nil, "shrink", file, "--while", "finding:"+code, "-o", out, "--max-time", "60s")
	took := time.Since(began)
	result, err := os.ReadFile(out)
	if err != nil || got.code != 0 {
		t.Errorf("%d %s", got.code, got.stderr)
		return took
	}
	t.Logf("%v %s", took.Round(time.Millisecond), strings.TrimSpace(got.stderr))
	want, has := verdictsOf(t, []byte(data), code), verdictsOf(t, result, code)
	if len(has) == 0 || slices.ContainsFunc(has, func(v string) bool { return !slices.Contains(want, v) }) {
		t.Errorf("%q became %q\n%s", want, has, result)
	}
	for _, word := range append(canaryWords(), "zq") {
		if bytes.Contains(result, []byte(word)) {
			t.Errorf("has %s\n%s", word, result)
			break
		}
	}
	checkMinimal(t, file, result, "finding:"+code)
	return took
}

// checkMinimal tries the removal of every event and every field of a result.
func checkMinimal(t *testing.T, file string, result []byte, while string) {
	t.Helper()
	s, records := shrinkerOf(t, file, shrinkFlags{while: while, out: "x.sse"})
	if _, err := s.prepareRecords(records, file); err != nil {
		t.Fatal(err)
	}
	holds := func(data []byte) bool {
		ok, err := s.meetsCondition([]capture.Record{{Exchange: 1, Data: data}})
		if err != nil {
			t.Fatal(err)
		}
		return ok
	}
	if !holds(result) {
		t.Errorf("the result doesn't meet the condition")
	}
	end := "\n"
	if bytes.Contains(result, []byte("data:")) {
		end = "\n\n"
	}
	events := strings.SplitAfter(string(result), end)
	for i, event := range events {
		before, after := strings.Join(events[:i], ""), strings.Join(events[i+1:], "")
		if event != "" && holds([]byte(before+after)) {
			t.Errorf("not needed: %s\n%s", event, result)
		}
		head, payload := "", event
		if at := strings.Index(event, "data: "); at >= 0 {
			head, payload = event[:at+len("data: ")], event[at+len("data: "):]
		}
		payload = strings.TrimRight(payload, "\n")
		rest := event[len(head)+len(payload):]
		for _, less := range withoutOneField([]byte(payload)) {
			if holds([]byte(before + head + string(less) + rest + after)) {
				t.Errorf("%s can be %s\n%s", payload, less, result)
			}
		}
	}
}

// withoutOneField returns copies of a JSON text, each without one of the fields and elements that parsers don't need.
func withoutOneField(text []byte) (all [][]byte) {
	if !json.Valid(text) {
		return nil
	}
	type part struct {
		key   string
		value []byte
	}
	var parts []part
	write := func(skip int, instead []byte) []byte {
		w := new(json.Writer).Open(text[0])
		for i, p := range parts {
			if i == skip && instead == nil {
				continue
			}
			if text[0] == '{' {
				w.Key(p.key)
			}
			if i == skip {
				w.Raw(instead)
			} else {
				w.Raw(p.value)
			}
		}
		return w.Close(text[0] + 2).Text
	}
	switch text[0] {
	case '{':
		for key, value := range json.Members(text) {
			parts = append(parts, part{key, value})
		}
	case '[':
		for value := range json.Elements(text) {
			parts = append(parts, part{"", value})
		}
	}
	for i, p := range parts {
		if !slices.Contains(strings.Fields("type role id index output_index content_index"), p.key) {
			all = append(all, write(i, nil))
		}
		for _, less := range withoutOneField(p.value) {
			all = append(all, write(i, less))
		}
	}
	return all
}

// TestShrinkMeetsCondition checks that the written file meets the condition when print reads it. One case has numbers
// that change late. The other has a word that could come from the name of the result.
func TestShrinkMeetsCondition(t *testing.T) {
	late := slices.IndexFunc(plantedFaults, func(f plantedFault) bool { return f.name == "an event before the start" })
	for _, test := range []struct{ file, while, filter string }{
		{saved(t, "planted.sse", planted("openai-responses", plantedFaults[late], 30_000)), "finding:RESUMED", "finding:RESUMED"},
		{"demo/malformed.tsc", "where:run", "run"},
	} {
		out := filepath.Join(t.TempDir(), "out.sse")
		if got := command(t, nil, "shrink", test.file, "--while", test.while, "-o", out); got.code != 0 {
			t.Errorf("%s: %d %s", test.while, got.code, got.stderr)
		}
		if got := command(t, nil, "print", out, "--filter", test.filter); !strings.Contains(got.stdout, "turn 1") {
			t.Errorf("%s is not in the result: %s%s", test.while, got.stdout, got.stderr)
		}
	}
}

// TestShrinkCommand checks that a capture is shrunk with commands as conditions. A command exits with 1 while the
// problem is there.
func TestShrinkCommand(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the commands are for a Unix shell")
	}
	for _, test := range []struct {
		command, message string
		code             int
	}{
		{`! grep -q run_shell {}`, "→", 3}, // the condition needs a word of the content
		{`test ! -s {}`, "→", 0},
		{`exit 0 {}`, "the file doesn't show the problem", 2},
		{`exit 2 {}`, "exit status 2", 1},
		{`kill -9 $$; {}`, "signal: killed", 1},
		{`nosuchcommand {}`, "exit status 127", 1},
		{`where: `, "the filter is empty", 2},
	} {
		out := filepath.Join(t.TempDir(), "out.tsc")
		got := command(t, nil, "shrink", "demo/malformed.tsc", "--while", test.command, "-o", out)
		if got.code != test.code || !strings.Contains(got.stderr, test.message) {
			t.Errorf("%s: %d %s", test.command, got.code, got.stderr)
		}
		if _, err := os.Stat(out); (err == nil) != (test.message == "→") {
			t.Errorf("%s: the result: %v", test.command, err)
		}
	}
}
