package cli

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
	"toolscope/capture/record"
	"toolscope/providers/price"
	"toolscope/ui/stats"
)

// keptFolder creates a folder for state that contains a folder for captures, and returns both.
func keptFolder(t *testing.T) (state, kept string) {
	t.Helper()
	state = t.TempDir()
	t.Setenv("XDG_STATE_HOME", state)
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	kept = filepath.Join(state, "toolscope", "recordings")
	if err := os.MkdirAll(kept, 0o700); err != nil {
		t.Fatal(err)
	}
	return state, kept
}

// keepCapture writes a capture that was last changed an hour ago.
func keepCapture(t *testing.T, path, text string) {
	t.Helper()
	old := time.Now().Add(-time.Hour)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
}

// timedRuns returns the contents of captures that begin at a known time.
func timedRuns(t *testing.T, runs, broken int) (texts []string) {
	t.Helper()
	dir := savedRuns(t, runs, broken, 200)
	for n := range runs {
		text := read(t, filepath.Join(dir, fmt.Sprintf("run%d.tsc", n)))
		texts = append(texts, strings.Replace(text, `"head":{`, `"head":{"start":"2026-03-01T12:00:00Z",`, 1))
	}
	return texts
}

// allStats returns the output of stats in each format, for toolscope's folder.
func allStats(t *testing.T, args ...string) (text string) {
	t.Helper()
	for _, format := range []string{"text", "jsonl", "prometheus"} {
		out := command(t, nil, append([]string{"stats", "--by", "model,day,client", "--format", format}, args...)...)
		text += fmt.Sprintf("%d\n%s\n%s\n", out.code, out.stdout, out.stderr)
	}
	return text
}

// rowsOf returns the names and contents of the files in the index.
func rowsOf(t *testing.T, state string) (files map[string]string) {
	t.Helper()
	files = map[string]string{}
	paths, err := filepath.Glob(filepath.Join(state, "toolscope", "stats", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		files[filepath.Base(path)] = read(t, path)
	}
	return files
}

// TestStatsIndex checks that stats has the same numbers when it doesn't read unchanged captures again, and that it
// reads changed captures.
func TestStatsIndex(t *testing.T) {
	state, kept := keptFolder(t)
	texts := timedRuns(t, 3, 1)
	for n, text := range texts {
		keepCapture(t, filepath.Join(kept, fmt.Sprintf("run%d.tsc", n)), text)
	}
	full := allStats(t)
	rows := rowsOf(t, state)
	if len(rows) != 3 || !strings.Contains(full, `"states":{"complete":2,"malformed":1}`) {
		t.Fatalf("%d files in the index, %s", len(rows), full)
	}
	if again := allStats(t); again != full {
		t.Errorf("from the index:\n%s\nfrom the captures:\n%s", again, full)
	}
	if info, err := os.Stat(filepath.Join(state, "toolscope", "stats", "run0.tsc.rows")); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("others can read the index: %v, %v", info, err)
	}

	// Captures have different keys.
	first, second := filepath.Join(kept, "run0.tsc"), filepath.Join(kept, "run1.tsc")
	index := (&app{}).openStatsIndex(price.Embedded())
	if index.keyOf(first) == "" || index.keyOf(first) == index.keyOf(second) {
		t.Errorf("keys %q and %q", index.keyOf(first), index.keyOf(second))
	}

	// A changed capture is read again, even if its size and time are the same.
	changed := strings.Replace(texts[0], "{]", "{}", 1)
	keepCapture(t, first, texts[0]+"\n")
	allStats(t)
	keepCapture(t, first, texts[0])
	before := index.keyOf(first)
	info, err := os.Stat(first)
	if err != nil {
		t.Fatal(err)
	}
	keepCapture(t, first, changed)
	if err := os.Chtimes(first, info.ModTime(), info.ModTime()); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && index.keyOf(first) == before {
		t.Error("a change of the same size is not noticed")
	}
	if got := allStats(t); changed == texts[0] || runtime.GOOS != "windows" && !strings.Contains(got, `"states":{"complete":3}`) {
		t.Errorf("a changed capture: %s", got)
	}

	// A capture that no longer exists is not counted, and its rows are deleted.
	if err := os.Remove(second); err != nil {
		t.Fatal(err)
	}
	keepCapture(t, first, texts[0])
	if got := allStats(t); !strings.Contains(got, `"type":"stats","turns":2,`) || len(rowsOf(t, state)) != 2 {
		t.Errorf("without a capture: %d files in the index, %s", len(rowsOf(t, state)), got)
	}
}

// TestStatsIndexCut checks that the numbers are the same if a file in the index was cut at any byte, as if the
// program had been killed during a write.
func TestStatsIndexCut(t *testing.T) {
	state, kept := keptFolder(t)
	keepCapture(t, filepath.Join(kept, "run.tsc"), timedRuns(t, 1, 1)[0])
	full := allStats(t)
	path := filepath.Join(state, "toolscope", "stats", "run.tsc.rows")
	data := read(t, path)
	stats := func() string { return command(t, nil, "stats", "--format", "jsonl").stdout }
	want := stats()
	for n := range len(data) + 1 {
		if n%19 != 0 && n != len(data) && n != len(data)-1 { // enough, because TestRows in ui/stats cuts at each byte
			continue
		}
		if err := os.WriteFile(path, []byte(data[:n]), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), ".run.tsc.rows-123"), []byte(data[:n]), 0o600); err != nil { // not renamed yet
			t.Fatal(err)
		}
		if got := stats(); got != want {
			t.Fatalf("cut at byte %d:\n%s\nwant\n%s", n, got, want)
		}
		if rows := rowsOf(t, state); rows["run.tsc.rows"] != data || n < len(data) && len(rows) != 1 {
			t.Fatalf("cut at byte %d: the index was not written again: %d files", n, len(rows))
		}
	}
	if got := allStats(t); got != full {
		t.Errorf("%s\nwant\n%s", got, full)
	}
}

// TestStatsIndexScope checks that stats keeps nothing about files outside toolscope's folder, or about captures that
// are incomplete, damaged or just changed. It must also keep nothing if flags select turns or change how they are
// read.
func TestStatsIndexScope(t *testing.T) {
	state, kept := keptFolder(t)
	text := timedRuns(t, 1, 0)[0]
	outside := filepath.Join(t.TempDir(), "outside.tsc")
	keepCapture(t, outside, text)
	keepCapture(t, filepath.Join(kept, "damaged.tsc"), text+`{"x":1,`+"\n"+text)
	keepCapture(t, filepath.Join(kept, "new.tsc"), text)
	now := time.Now()
	if err := os.Chtimes(filepath.Join(kept, "new.tsc"), now, now.Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" {
		if err := os.Symlink(outside, filepath.Join(kept, "link.tsc")); err != nil {
			t.Fatal(err)
		}
	}
	files := func() (all string) {
		_ = filepath.WalkDir(state, func(path string, e fs.DirEntry, _ error) error {
			if !e.IsDir() && filepath.Base(filepath.Dir(path)) != "recordings" {
				all += path + "\n"
			}
			return nil
		})
		return all
	}
	for _, args := range [][]string{{}, {outside}, {kept}, {filepath.Join(kept, "link.tsc")}} {
		first, again := allStats(t, args...), allStats(t, args...)
		if first != again || files() != "" {
			t.Errorf("%v: %q is kept; first\n%s\nagain\n%s", args, files(), first, again)
		}
	}
	keepCapture(t, filepath.Join(kept, "good.tsc"), text)
	for _, args := range [][]string{{"--filter", "state:bad"}, {"--protocol", "openai-chat"}, {"--from", "capture"}, {"--request", saved(t, "request.json", `{"model":"m","messages":[]}`)}} {
		if allStats(t, append(args, filepath.Join(kept, "good.tsc"))...); files() != "" {
			t.Errorf("%v: %q is kept", args, files())
		}
	}
	if allStats(t); !strings.HasSuffix(files(), "good.tsc.rows\n") {
		t.Errorf("a complete capture is not kept: %q", files())
	}
	before := allStats(t)
	prices := saved(t, "prices.json", `[{"model":"gpt-x","input":1000,"output":1000}]`)
	if err := os.Chtimes(prices, now, now); err != nil {
		t.Fatal(err)
	}
	if with := allStats(t, "--prices", prices); with == before {
		t.Error("other prices give the same costs")
	}
}

// TestStatsIndexCorpus checks that the numbers about each file of the corpus are the same in both ways of reading.
func TestStatsIndexCorpus(t *testing.T) {
	corpus := os.Getenv("TOOLSCOPE_CORPUS")
	if corpus == "" {
		t.Skip("TOOLSCOPE_CORPUS is not set")
	}
	state, kept := keptFolder(t)
	n := 0
	err := filepath.WalkDir(corpus, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() {
			n++
			keepCapture(t, filepath.Join(kept, fmt.Sprintf("%03d.tsc", n)), read(t, path))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	full := allStats(t)
	rows := len(rowsOf(t, state))
	if again := allStats(t); again != full {
		t.Errorf("from the index:\n%s\nfrom the files:\n%s", again, full)
	}
	if rows < n/4 {
		t.Errorf("only %d of %d files are in the index", rows, n)
	}
}

// TestStatsIndexSize reports how long stats takes for captures that it has read before. The captures are stand-ins: the
// index has 10,000 or 300,000 turns for a capture with one.
func TestStatsIndexSize(t *testing.T) {
	if os.Getenv("TOOLSCOPE_LONG") == "" {
		t.Skip("with TOOLSCOPE_LONG=1")
	}
	for _, size := range []int{10_000, 300_000} {
		state, kept := keptFolder(t)
		file := filepath.Join(kept, "run.tsc")
		keepCapture(t, file, timedRuns(t, 1, 1)[0])
		allStats(t)
		index, set := (&app{}).openStatsIndex(price.Embedded()), new(stats.Set)
		if set.StartSource(); !index.loadTurns([]capture.FoundFile{{Path: file}}, set) {
			t.Fatal("the index doesn't have the capture")
		}
		one, turns := set.SourceTurns()[0], []stats.Turn(nil)
		for n := range size {
			one.Values[stats.Model], one.Run = fmt.Sprint("model", n%7), fmt.Sprintf("run%024d", n/14)
			one.At = one.At.Add(time.Duration(n%31) * time.Second)
			one.FirstToken, one.Duration = time.Duration(n%977)*time.Millisecond, time.Duration(n%7919)*time.Millisecond
			turns = append(turns, one)
		}
		index.storeTurns(turns)
		turns, set = nil, nil // so that they don't slow down the program
		runtime.GC()
		began := time.Now()
		out := command(t, nil, "stats")
		took := time.Since(began)
		if rows := len(rowsOf(t, state)["run.tsc.rows"]); !strings.Contains(strings.ReplaceAll(out.stdout, ",", ""), fmt.Sprint(size/7)) {
			t.Errorf("%d turns: %s%s", size, out.stdout, out.stderr)
		} else {
			t.Logf("%d turns: %v, %d bytes", size, took, rows)
		}
		if err := os.RemoveAll(state); err != nil {
			t.Fatal(err)
		}
	}
}

// TestStatsIndexLive checks captures that a program is still recording. If nothing has arrived since the last look, the
// index has the numbers. Otherwise, or if the program has ended meanwhile, stats reads the capture again.
func TestStatsIndexLive(t *testing.T) {
	state, kept := keptFolder(t)
	path := filepath.Join(kept, "live.tsc")
	r, err := record.Create(path, time.Now(), "toolscope proxy")
	if err != nil {
		t.Fatal(err)
	}
	written := int64(0)
	put := func(records ...capture.Record) {
		t.Helper()
		for _, rec := range records {
			for _, clean := range newRedactor().Take(rec) {
				r.Put(clean)
				written++
			}
		}
		for deadline := time.Now().Add(10 * time.Second); r.State().Records < written; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("nothing was recorded")
			}
		}
	}
	// look returns the states of all calls twice, and whether the index was used the second time.
	look := func() (states string, known bool) {
		t.Helper()
		info, err := os.Stat(path)
		if old := time.Now().Add(-time.Hour); err == nil && info.ModTime().After(old) { // otherwise even the stamp stays the same
			err = os.Chtimes(path, old, old)
		}
		if err != nil {
			t.Fatal(err)
		}
		first := allStats(t)
		if again := allStats(t); again != first {
			t.Errorf("first\n%s\nagain\n%s", first, again)
		}
		_, states, _ = strings.Cut(first, `"states":`)
		states, _, _ = strings.Cut(states, "}")
		index := (&app{}).openStatsIndex(price.Embedded())
		return states, index.loadTurns([]capture.FoundFile{{Path: path}}, new(stats.Set))
	}
	exchange := func(n int, end capture.End, pieces ...string) []capture.Record {
		return []capture.Record{
			{Exchange: n, Side: capture.Request, Head: &capture.Head{Method: "POST", URL: "/v1/chat/completions", Start: time.Unix(1_772_000_000, 0)}, Data: []byte(`{"model":"m"}`), End: capture.EndEOF},
			{Exchange: n, Head: &capture.Head{Status: 200}, Data: chat(pieces...), End: end},
		}
	}
	put(exchange(1, "", toolChunk(`{"city":`))...)
	for _, c := range []struct {
		change func()
		states string
	}{
		{func() {}, `{"streaming":1`},
		{func() { put(exchange(2, capture.EndEOF, toolChunk(`{"a":1}`), finishChunk)...) }, `{"streaming":1,"complete":1`},
		{func() {
			if err := r.Close(context.Background()); err != nil {
				t.Fatal(err)
			}
		}, `{"complete":1,"aborted":1`},
	} {
		c.change()
		if states, known := look(); states != c.states || !known {
			t.Errorf("states %s, want %s; kept: %v", states, c.states, known)
		}
	}
	if files := rowsOf(t, state); len(files) != 1 {
		t.Errorf("%d files in the index", len(files))
	}
}
