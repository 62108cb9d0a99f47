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

// TestConversations checks the reports about the calls of earlier turns in a client's next request. A
// fixture in <protocol>/testdata/conversations has these sections in addition to the usual ones:
//
//	request  begins an exchange, which the wire after it ends; there may be
//	         several exchanges, one after another
//	next     the body of the next request, which is the last one
//	answer   the wire of its response, if that has another protocol
//	returns  for each call: number (after the number of the turn, if there are
//	         several turns), id, name; treatment, result, policies with the
//	         same effect; then, indented, the findings about it
//
// The next exchange is read once without a response, when only the request can show its protocol, and once
// with a response.
func TestConversations(t *testing.T) {
	shown := map[string]map[string]bool{}
	for _, target := range Targets() {
		folder := strings.ReplaceAll(target.Protocol, "-", "")
		files, err := filepath.Glob(filepath.Join(folder, "testdata", "conversations", "*.txtar"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s has no conversations (%v)", target.Protocol, err)
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
			got.set("returns", playConversation(t, name, a, false))
			if again := playConversation(t, name, a, true); again != sectionText(got, "returns") {
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
					if shown[target.Protocol] == nil {
						shown[target.Protocol] = map[string]bool{}
					}
					shown[target.Protocol][fate] = true
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

// playConversation reads some turns and the request after them. It returns the reports about their calls.
func playConversation(t *testing.T, name string, a archive, answered bool) string {
	in := new(Inspector)
	exchange, open, answer := 0, false, section{}
	for _, s := range a.sections {
		kind, _, _ := strings.Cut(s.name, " ")
		switch kind {
		case "request", "next":
			in.Write(stream.Record{Exchange: exchange, Request: true, Data: []byte(s.text)})
			open = true
		case "wire":
			in.Write(stream.Record{Exchange: exchange, Data: wireOf(t, name, archive{sections: []section{s}})})
			in.Write(stream.Record{Exchange: exchange, End: true})
			exchange, open, answer = exchange+1, false, s
		case "answer":
			answer = section{"wire", s.text}
		}
	}
	if !open {
		t.Errorf("%s has no next request", name)
	}
	if answered {
		in.Write(stream.Record{Exchange: exchange, Data: wireOf(t, name, archive{sections: []section{answer}})})
		in.Write(stream.Record{Exchange: exchange, End: true})
	}
	in.Close()
	var b strings.Builder
	for _, turn := range in.Session().Turns {
		for _, c := range turn.Calls {
			switch {
			case turn.Exchange < exchange && exchange > 1:
				writeReturns(&b, fmt.Sprintf("%d.%d", turn.Number+1, c.Number), c)
			case turn.Exchange < exchange:
				writeReturns(&b, fmt.Sprint(c.Number), c)
			}
		}
	}
	return b.String()
}

func writeReturns(b *strings.Builder, number string, c *stream.Call) {
	id := c.ID
	if id == "" {
		id = "-"
	}
	for _, r := range c.SentBack {
		result := map[stream.Code]string{0: "no result", stream.ResultOK: "ok", stream.ResultFailed: "failed"}[r.ResultCode]
		fmt.Fprintf(b, "%s %s %s: %s, %s", number, id, c.Name, r.Outcome, result)
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
