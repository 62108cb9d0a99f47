package formats

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
)

var updateTalks = flag.Bool("update-talks", false, "write the expected records of conversations anew")

// talks lists the formats of conversations, with the folders of their fixtures.
var talks = []struct {
	dir    string
	format capture.Format
}{
	{"gemini-cli", geminiCLI}, {"qwen-code", qwenCode}, {"pi", piSession}, {"droid", droidSession}, {"kimi", kimiSession}, {"copilot", copilotSession},
	{"opencode", opencode}, {"opencode-storage", opencodePiece}, {"cline", cline}, {"cline-screen", clineScreen},
	{"conversation", conversations}, {"message-lines", messageLines}, {"litellm", liteLLM}, {"otlp", otlp}, {"otel-spans", otelSpans},
}

// eachTalk calls the function do with each fixture.
func eachTalk(t testing.TB, do func(name string, f capture.Format, data []byte)) {
	for _, k := range talks {
		files, err := filepath.Glob("testdata/" + k.dir + "/*.json*")
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: no fixtures: %v", k.dir, err)
		}
		for _, file := range files {
			if filepath.Ext(file) == ".records" {
				continue
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			do(file, k.format, data)
		}
	}
}

// read returns, as text, the records that a format's reader makes from data. The data arrives in chunks of size
// bytes.
func read(f capture.Format, data []byte, size int) (lines []string) {
	r := f.New(capture.NewInput("f", nil))
	var recs []capture.Record
	for p := bytes.Clone(data); len(p) > 0; {
		n := min(size, len(p))
		recs, _ = r.Write(recs, bytes.Clone(p[:n]), capture.NoTime)
		p = p[n:]
	}
	for _, r := range r.Close(recs, capture.EndEOF, "", capture.NoTime) {
		lines = append(lines, told(r))
	}
	return lines
}

func told(r capture.Record) string {
	s := fmt.Sprintf("%d", r.Exchange)
	if r.Side == capture.Request {
		s += " asks"
	}
	if r.At != capture.NoTime {
		s += " at " + r.At.Round(time.Millisecond).String()
	}
	if r.Head != nil {
		s += fmt.Sprintf(" %s %s [%s] lacks %d", r.Head.Method, r.Head.URL, r.Head.Wrappers, len(r.Head.Lacks))
	}
	if len(r.Data) > 0 {
		s += "\n\t" + strings.ReplaceAll(strings.TrimRight(string(r.Data), "\n"), "\n", "\n\t")
	}
	if r.End != "" {
		s += fmt.Sprintf(" %s %s %s", r.End, r.By, r.Why)
	}
	if r.Note != "" {
		s += fmt.Sprintf(" note, damaged %t: %s", r.Damaged, r.Note)
	}
	return s
}

// TestTalks checks that the records of each fixture are those in the file next to it.
func TestTalks(t *testing.T) {
	eachTalk(t, func(file string, f capture.Format, data []byte) {
		got := strings.Join(read(f, data, len(data)), "\n") + "\n"
		if *updateTalks {
			if err := os.WriteFile(file+".records", []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file + ".records")
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s is read as\n%s\ninstead of\n%s", file, got, want)
		}
	})
}

// TestSessionsKeepEntries checks that an exchange of a session consists of entries as they are in the file.
func TestSessionsKeepEntries(t *testing.T) {
	eachTalk(t, func(file string, f capture.Format, data []byte) {
		if f.Name == liteLLM.Name || f.Name == otlp.Name || f.Name == otelSpans.Name {
			return
		}
		r := f.New(capture.NewInput("f", nil))
		recs, _ := r.Write(nil, bytes.Clone(data), capture.NoTime)
		entries := 0
		for _, r := range r.Close(recs, capture.EndEOF, "", capture.NoTime) {
			if entry, ended := bytes.CutSuffix(r.Data, []byte("\n")); len(r.Data) > 0 && (!ended || !bytes.Contains(data, entry)) {
				t.Errorf("%s: this is not an entry of the file: %s", file, r.Data)
			} else if ended && r.Side != capture.Request {
				entries++
			}
		}
		if entries == 0 {
			t.Errorf("%s: no entry of a response", file)
		}
	})
}

// TestTalksAreDetected checks that each fixture is detected as its own format, and not as a format that is tried
// earlier.
func TestTalksAreDetected(t *testing.T) {
	eachTalk(t, func(file string, f capture.Format, data []byte) {
		for _, other := range All {
			is := other.Sniff(data, true)
			if is.Is != capture.Yes {
				continue
			}
			if other.Name != f.Name || is.Why == "" {
				t.Errorf("%s is taken for a %s: %v", file, other.Name, is)
			}
			break
		}
		for n := range data {
			if is := f.Sniff(data[:n], false); is.Is == capture.No {
				t.Errorf("%s: %d bytes are too few to say that it is not one", file, n)
				break
			}
		}
	})
}

// TestTalksInAnyChunks checks that the records are the same however a file is split.
func TestTalksInAnyChunks(t *testing.T) {
	eachTalk(t, func(file string, f capture.Format, data []byte) {
		want := strings.Join(read(f, data, len(data)), "\n")
		for _, size := range []int{1, 2, 7, 64, 1000} {
			if got := strings.Join(read(f, data, size), "\n"); got != want {
				t.Errorf("%s in chunks of %d is read as\n%s\ninstead of\n%s", file, size, got, want)
			}
		}
	})
}

// TestTalksCut checks that all responses that are complete before a cut are read, wherever the cut is made.
func TestTalksCut(t *testing.T) {
	eachTalk(t, func(file string, f capture.Format, data []byte) {
		whole := answers(f, data)
		most := 0
		for n := 0; n <= len(data); n++ {
			if n > 4000 && n%17 != 0 && n != len(data) {
				continue
			}
			cut := answers(f, data[:n])
			if len(cut) < most {
				t.Fatalf("%s cut at %d has %d answers, and had %d before", file, n, len(cut), most)
			}
			most = len(cut)
			for i, a := range cut {
				if i < len(cut)-1 && whole[i] != a { // entries of the last response that are after the cut may be missing
					t.Fatalf("%s cut at %d has the answer\n%s\ninstead of\n%s", file, n, a, whole[i])
				}
			}
		}
		if most != len(whole) {
			t.Errorf("%s has %d answers, the last cut %d", file, len(whole), most)
		}
	})
}

// answers returns the bytes of the responses.
func answers(f capture.Format, data []byte) (all []string) {
	r := f.New(capture.NewInput("f", nil))
	recs, _ := r.Write(nil, bytes.Clone(data), capture.NoTime)
	of := map[int]int{}
	for _, r := range r.Close(recs, capture.EndEOF, "", capture.NoTime) {
		if r.Side == capture.Request || len(r.Data) == 0 {
			continue
		}
		if _, known := of[r.Exchange]; !known {
			of[r.Exchange] = len(all)
			all = append(all, "")
		}
		all[of[r.Exchange]] += string(r.Data)
	}
	return all
}

// TestTalkDamaged checks that a line that is not an entry is reported, and that the lines after it are read.
func TestTalkDamaged(t *testing.T) {
	data := "{\"type\":\"session\",\"id\":\"s\",\"timestamp\":\"\",\"cwd\":\"/\"}\n{\"type\":\"message\",\"mess\nnot json\n" +
		"{\"type\":\"message\",\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}}\n{\"type\":\"mess"
	got := strings.Join(read(piSession, []byte(data), 5), "\n")
	for _, want := range []string{"line 2, byte 53: not a JSON object", "line 3, byte 77: not a JSON object", `"text":"hi"`, "line 5, byte 176: the file ends inside the line"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

// FuzzTalks checks that no bytes make a reader fail, and that it doesn't matter how the bytes are split.
func FuzzTalks(f *testing.F) {
	eachTalk(f, func(_ string, of capture.Format, data []byte) {
		for i := range talks {
			if talks[i].format.Name == of.Name {
				f.Add(byte(i), data)
			}
		}
	})
	f.Fuzz(func(t *testing.T, which byte, data []byte) {
		of := talks[int(which)%len(talks)].format
		of.Sniff(data, false)
		of.Sniff(data, true)
		whole, bytewise := strings.Join(read(of, data, len(data)+1), "\n"), strings.Join(read(of, data, 1), "\n")
		if whole != bytewise {
			t.Errorf("%s reads %q as\n%s\nand byte by byte as\n%s", of.Name, data, whole, bytewise)
		}
	})
}

// BenchmarkTalks measures reading the entries of each fixture a thousand times.
func BenchmarkTalks(b *testing.B) {
	eachTalk(b, func(file string, f capture.Format, data []byte) {
		if filepath.Ext(file) == ".json" {
			return
		}
		all := bytes.Repeat(data, 100)
		b.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(b *testing.B) {
			b.SetBytes(int64(len(all)))
			b.ReportAllocs()
			for b.Loop() {
				r := f.New(capture.NewInput("f", nil))
				var recs []capture.Record
				for p := all; len(p) > 0; p = p[min(64<<10, len(p)):] {
					recs, _ = r.Write(recs[:0], p[:min(64<<10, len(p))], capture.NoTime)
				}
				r.Close(recs[:0], capture.EndEOF, "", capture.NoTime)
			}
		})
	})
}
