package providers

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolscope/stream"
)

// TestConversations: what a client made of the calls of one turn in its next
// request. A fixture in <protocol>/testdata/conversations has, beside the
// sections of others,
//
//	next     the body of the next request
//	returns  for each call: number, id, name; what became of it, its result, the
//	         policies that do so; then, indented, the findings that makes
//
// The next exchange is read without a response, when only the request can tell
// its protocol, and with one.
func TestConversations(t *testing.T) {
	shown := map[string]map[string]bool{}
	for _, target := range Targets() {
		folder := strings.ReplaceAll(target.Dialect, "-", "")
		files, err := filepath.Glob(filepath.Join(folder, "testdata", "conversations", "*.txtar"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s has no conversations (%v)", target.Dialect, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			a := parseArchive(data)
			name := folder + "/" + strings.TrimSuffix(filepath.Base(file), ".txtar")
			got := a
			got.sections = append(got.sections[:0:0], a.sections...)
			got.set("returns", conversation(t, name, a, false))
			if again := conversation(t, name, a, true); again != sectionText(got, "returns") {
				t.Errorf("%s: with a response: %s", name, again)
			}
			if *update {
				if err := os.WriteFile(file, got.format(), 0o644); err != nil {
					t.Fatal(err)
				}
			} else if diff := cmp.Diff(string(a.format()), string(got.format())); diff != "" {
				t.Errorf("%s (-want +got)\n%s", name, diff)
			}
			for line := range strings.Lines(sectionText(got, "returns")) {
				if _, fate, ok := strings.Cut(line, ": "); ok && line[0] != ' ' {
					fate, _, _ = strings.Cut(fate, ",")
					if shown[target.Dialect] == nil {
						shown[target.Dialect] = map[string]bool{}
					}
					shown[target.Dialect][fate] = true
				}
			}
		}
	}
	for of, fates := range shown {
		for _, fate := range []string{"intact", "emptied", "double-encoded", "dropped", "repaired", "moved"} {
			if !fates[fate] {
				t.Errorf("no conversation of %s shows a call that was %s", of, fate)
			}
		}
	}
}

func sectionText(a archive, name string) string {
	for _, s := range a.sections {
		if s.name == name {
			return s.text
		}
	}
	return ""
}

// conversation reads a turn and the request after it, and is what became of the
// turn's calls.
func conversation(t *testing.T, name string, a archive, answered bool) string {
	in := new(Inspector)
	for i, part := range []string{"request", "next"} {
		if body := sectionText(a, part); body != "" {
			in.Write(stream.Record{Exchange: i, Request: true, Data: []byte(body)})
		}
		if i == 0 || answered {
			in.Write(stream.Record{Exchange: i, Data: wireOf(t, name, a)})
			in.Write(stream.Record{Exchange: i, End: true})
		}
	}
	in.Close()
	var b strings.Builder
	for _, turn := range in.Session().Turns {
		for _, c := range turn.Calls {
			if turn.Exchange == 0 {
				writeReturns(&b, c)
			}
		}
	}
	return b.String()
}

func writeReturns(b *strings.Builder, c *stream.Call) {
	id := c.ID
	if id == "" {
		id = "-"
	}
	for _, r := range c.SentBack {
		result := map[stream.Code]string{0: "no result", stream.AnswerOK: "ok", stream.AnswerFailed: "failed"}[r.Result]
		fmt.Fprintf(b, "%d %s %s: %s, %s", c.Number, id, c.Name, r.As, result)
		if r.Policies != "" {
			fmt.Fprintf(b, "; like %s", r.Policies)
		}
		b.WriteByte('\n')
		for _, f := range c.Findings {
			if f.Event == r.Event {
				fmt.Fprintf(b, "  %s %s %s\n", f.Code, f.Severity, f.Message)
			}
		}
	}
}
