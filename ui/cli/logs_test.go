package cli

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"toolscope/capture"
	"toolscope/capture/formats"
	"toolscope/providers"
)

// noise are log lines without model traffic.
var noise = []string{
	"2025-01-02T03:04:05.000000Z INFO server listening on :8080\n",
	"{\"level\":\"info\",\"ts\":1735787045.1,\"msg\":\"GET /healthz\",\"status\":200}\n",
	"Traceback (most recent call last):\n", "  File \"app.py\", line 12, in main\n", "ValueError: data: not found\n",
	"\n", "127.0.0.1 - - [02/Jan/2025:03:04:05 +0000] \"GET / HTTP/1.1\" 200 12\n",
}

// logOf returns the log of several streams whose lines alternate. If noisy is true, the log contains other lines too.
func logOf(s logShape, noisy bool, streams ...logged) string {
	at := time.Date(2025, 1, 2, 3, 4, 5, 678_000_000, time.UTC)
	now := func() time.Time {
		at = at.Add(7 * time.Millisecond)
		return at
	}
	var all [][]string
	for _, l := range streams {
		all = append(all, s.write(l, now))
	}
	var out strings.Builder
	journal := s.name == "journald export"
	line := func(text string) {
		out.WriteString(text)
		if journal {
			out.WriteString("\n")
		}
	}
	if noisy && !journal {
		line(noise[0])
	}
	for n, some := 0, true; some; n++ {
		some = false
		for _, lines := range all {
			if n < len(lines) {
				some = true
				line(lines[n])
			}
		}
		if noisy && n%3 == 0 && !journal {
			line(noise[(n/3)%len(noise)])
		}
	}
	return out.String()
}

// callsIn returns the calls in a file, one per line and sorted, and the inspector that read the file.
func callsIn(t *testing.T, text string) (calls []string, in *providers.Inspector) {
	t.Helper()
	file, err := os.CreateTemp("", "toolscope-log-") // creating a folder for each of thousands of logs would take a long time
	if err != nil {
		t.Fatal(err)
	}
	path := file.Name()
	defer os.Remove(path)
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
	file.Close()
	src, err := capture.Open(context.Background(), path, capture.Options{Formats: formats.All, GuessPayload: looksLike})
	if err != nil {
		t.Fatal(err)
	}
	in = new(providers.Inspector)
	for r, err := range src {
		if err != nil {
			t.Fatal(err)
		}
		in.Write(coreRecord(r))
	}
	in.Close()
	for _, turn := range in.Session().Turns {
		for _, c := range turn.Calls {
			calls = append(calls, fmt.Sprintf("%s %s %s(%s)", turn.Protocol, c.ID, c.Name, c.Args()))
		}
	}
	slices.Sort(calls)
	return calls, in
}

// logStreams returns small streams, one for each protocol. If a corpus is available and tests are not short, it
// also returns recorded streams.
func logStreams(t *testing.T) map[string]string {
	all := map[string]string{}
	files, err := filepath.Glob(filepath.Join("testdata", "logs", "*"))
	if err != nil || len(files) < 5 {
		t.Fatalf("%d streams: %v", len(files), err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(file)] = string(body)
	}
	if root := os.Getenv("TOOLSCOPE_CORPUS"); root != "" && !testing.Short() {
		for _, folder := range []string{"anthropic", "openai-chat", "openai-responses", "gemini", "ollama", "cohere", "mistral", "gemini-interactions"} {
			more, _ := filepath.Glob(filepath.Join(root, "dev", folder, "*"))
			for _, file := range more {
				if body, err := os.ReadFile(file); err == nil && filepath.Ext(file) != ".json" {
					all[folder+"/"+filepath.Base(file)] = string(body)
				}
			}
		}
	}
	return all
}

// sample chooses some of the cases with recorded streams: one in every few, or all of them with TOOLSCOPE_LONG=1.
type sample struct{ every, seen int }

// has reports whether the next case is chosen. It chooses all cases with small streams.
func (s *sample) has(name string) bool {
	if !strings.Contains(name, "/") || os.Getenv("TOOLSCOPE_LONG") != "" {
		return true
	}
	s.seen++
	return s.seen%s.every == 0
}

// shapesFor returns the shapes of logs for the stream with the given number: all shapes for a small stream or with
// TOOLSCOPE_LONG=1, or else every eighth shape. Eight successive streams cover all shapes.
func shapesFor(number int, name string) (some []logShape) {
	if os.Getenv("TOOLSCOPE_LONG") != "" || !strings.Contains(name, "/") {
		return logShapes
	}
	for i := number % 8; i < len(logShapes); i += 8 {
		some = append(some, logShapes[i])
	}
	return some
}

// TestLogs checks that a stream has the same calls in every shape of log as on its own.
func TestLogs(t *testing.T) {
	all := logStreams(t)
	for number, name := range slices.Sorted(maps.Keys(all)) {
		body := all[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, _ := callsIn(t, body)
			for _, s := range shapesFor(number, name) {
				if !s.holds(body) {
					continue
				}
				for _, noisy := range []bool{false, true} {
					text := logOf(s, noisy, logged{body, "req_8f3a1c", 4211})
					got, in := callsIn(t, text)
					if !slices.Equal(got, want) {
						t.Errorf("%s, noisy %v:\n%s\nwant\n%s\n%v", s.name, noisy, strings.Join(got, "\n"), strings.Join(want, "\n"), in.Session().Findings)
					}
				}
			}
		})
	}
}

// TestLogsOfTwo checks that two parallel streams are kept apart if their lines name the request.
func TestLogsOfTwo(t *testing.T) {
	all := logStreams(t)
	names := slices.Sorted(maps.Keys(all))
	for i, name := range names {
		other := names[(i*7+3)%len(names)]
		t.Run(name+" and "+other, func(t *testing.T) {
			t.Parallel()
			one, _ := callsIn(t, all[name])
			two, _ := callsIn(t, all[other])
			want := slices.Sorted(slices.Values(append(one, two...)))
			for _, s := range shapesFor(i, name) {
				if !s.keyed || !s.holds(all[name]) || !s.holds(all[other]) {
					continue
				}
				text := logOf(s, true, logged{all[name], "req_8f3a1c", 4211}, logged{all[other], "req_77b02e", 4318})
				got, in := callsIn(t, text)
				if !slices.Equal(got, want) {
					t.Errorf("%s:\n%s\nwant\n%s\n%v", s.name, strings.Join(got, "\n"), strings.Join(want, "\n"), in.Session().Findings)
				}
			}
		})
	}
}
