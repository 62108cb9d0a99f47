package cli

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
)

// previewLine is a JSON line of replay.
type previewLine struct {
	Type, File, Scope, From, To, Policy, Outcome, Refused string
	Turn, Call                                            int
	Accepted                                              *bool
	AcceptedBy                                            string `json:"accepted_by"`
	OneByOne                                              bool   `json:"one_by_one"`
	Losses                                                []lossJSON
	Body                                                  json.RawMessage
	Results                                               []json.RawMessage
	Sent                                                  json.RawMessage `json:"arguments_sent"`
	Diff                                                  []editJSON
	Calls                                                 []sentJSON
	ClientVersion                                         string `json:"client_version"`
	Known                                                 string
}

type lossJSON struct {
	Code, Severity, Message string
	Quoted                  [][2]int
	Call                    int
	Start, End              *int
}

type editJSON struct {
	Start, End int
	From, To   string
}

type sentJSON struct {
	Call                       int
	ID, Name, Outcome, Refused string
	Sent                       json.RawMessage `json:"arguments_sent"`
	Diff                       []editJSON
}

var outcomeWords = []string{
	"unknown", "verbatim", "assumed empty", "parsed", "reformatted", "unwrapped", "wrapped", "renamed", "as text", "repaired", "emptied", "dropped", "throws",
}

// previews runs replay with --format jsonl and parses its lines strictly.
func previews(t *testing.T, args ...string) (list []previewLine) {
	t.Helper()
	out := command(t, nil, append([]string{"replay", "--format", "json"}, args...)...)
	if out.code != 0 || out.stderr != "" {
		t.Fatalf("%v: exit code %d, stderr %q", args, out.code, out.stderr)
	}
	return readPreviews(t, out.stdout)
}

func readPreviews(t *testing.T, text string) (list []previewLine) {
	t.Helper()
	for line := range strings.Lines(text) {
		d := json.NewDecoder(strings.NewReader(line))
		d.DisallowUnknownFields()
		var p previewLine
		if err := d.Decode(&p); err != nil || d.More() {
			t.Fatalf("%v in %q", err, line)
		}
		if p.Type != "replay" || !slices.Contains(outcomeWords, p.Outcome) || len(p.Body) == 0 || p.Losses == nil {
			t.Fatalf("a line without what it must have: %q", line)
		}
		by := p.AcceptedBy == "rule" || p.AcceptedBy == "seen"
		if refuses := p.Accepted != nil && !*p.Accepted; by != (p.Accepted != nil) || refuses && p.Refused == "" || p.Refused != "" && !refuses && p.Outcome != "throws" {
			t.Errorf("accepted or not: %q", line)
		}
		for _, l := range p.Losses {
			if s, ok := replay.FindSeverity(l.Severity); !ok || s != severityOf(l.Code) || l.Message == "" {
				t.Errorf("loss %+v", l)
			}
		}
		list = append(list, p)
	}
	return list
}

func (p *previewLine) accepted() string {
	switch {
	case p.Accepted == nil:
		return "unknown"
	case *p.Accepted:
		return "accepted"
	}
	return "refused"
}

func (p *previewLine) codes() (codes []string) {
	for _, l := range p.Losses {
		codes = append(codes, l.Code)
	}
	return codes
}

// sentText returns the arguments that arguments_sent represents: the string's text, or the object itself.
func sentText(t *testing.T, to *protocol.Target, sent json.RawMessage) (text string) {
	t.Helper()
	if to.Form != protocol.TextForm {
		return string(sent)
	}
	if err := json.Unmarshal(sent, &text); err != nil {
		t.Fatalf("%v in %q", err, sent)
	}
	return text
}

// applied returns text with the edits of a diff applied.
func applied(t *testing.T, text string, diff []editJSON) (out string) {
	t.Helper()
	at := 0
	for _, e := range diff {
		if e.Start < at || e.End < e.Start || text[e.Start:e.End] != e.From {
			t.Fatalf("edit %+v of %q, behind byte %d", e, text, at)
		}
		out += text[at:e.Start] + e.To
		at = e.End
	}
	return out + text[at:]
}

// TestReplayOneLine checks that an object written on several lines becomes one line of JSON with the same number of
// bytes.
func TestReplayOneLine(t *testing.T) {
	args := "{\n\t\"a\" : [1,\r\n 2], \"b\": \"x\\ny\"}"
	file := saved(t, "a.sse", string(chat(toolChunk(args), finishChunk, "[DONE]")))
	p := previews(t, "--to", "anthropic", file)[0]
	same(t, 0, "outcome", p.Outcome, "parsed")
	same(t, 0, "arguments", string(p.Sent), strings.NewReplacer("\n", " ", "\r", " ").Replace(args))
	same(t, 0, "diff", len(p.Diff), 0)
}

// TestSubjectNumber checks that a call keeps its number in the turn, although discarded calls are not in the
// source.
func TestSubjectNumber(t *testing.T) {
	s := previewSubject{scope: replay.WholeTurn, calls: []*stream.Call{{Number: 1}, {Number: 3}}}
	same(t, 0, "number", []int{s.callNumber(1), s.callNumber(2)}, []int{1, 3})
	s.scope = replay.WholeConversation
	same(t, 0, "number", s.callNumber(2), 2)
}

// severityOf returns the severity of a loss with the given code.
func severityOf(code string) replay.Severity {
	i := slices.IndexFunc(replay.Kinds, func(k *replay.Kind) bool { return k.Code == code })
	return replay.Kinds[i].Severity
}
