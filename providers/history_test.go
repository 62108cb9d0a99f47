package providers

import (
	"bytes"
	stdjson "encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream/json"
)

// historyOf maps each protocol to the field of a request that contains the messages.
var historyOf = map[string]string{
	"anthropic": "messages", "bedrock": "messages", "cohere": "messages", "ollama": "messages", "openai-chat": "messages",
	"openai-responses": "input", "gemini": "contents",
}

// TestCorpusHistory checks that the history in a real client's request is read, and written back unchanged.
func TestCorpusHistory(t *testing.T) {
	root := corpus(t)
	list, err := os.ReadFile(filepath.Join(root, "requests", "SOURCES.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	read := map[string]bool{}
	for line := range strings.Lines(string(list)) {
		file, rest, _ := strings.Cut(line, "\t")
		name, _, _ := strings.Cut(rest, "\t")
		to, err := FindTarget(strings.TrimPrefix(name, "bedrock-"))
		if err != nil {
			continue // the header line of the list, or a protocol without a history of its own
		}
		read[to.Protocol] = true
		t.Run(filepath.Base(file), func(t *testing.T) {
			request, err := os.ReadFile(filepath.Join(root, file))
			if err != nil {
				t.Fatal(err)
			}
			messages, err := to.Decode(request)
			if err != nil {
				t.Fatal(err)
			}
			checkCalls(t, messages)
			checkResults(t, messages)
			checkWrittenBack(t, to, request, messages)
			checkOwn(t, to, messages)
		})
	}
	for i := range All {
		if d := &All[i]; len(d.Targets) > 0 && historyOf[d.Name] != "" && !read[d.Name] {
			t.Errorf("no request of %s", d.Name)
		}
	}
}

// checkOwn checks that a real client's history is unchanged, and not refused, in a preview for its own protocol. A
// host may refuse ids that the recording changed.
func checkOwn(t *testing.T, to *protocol.Target, messages []protocol.Message) {
	t.Helper()
	preserve, err := replay.FindPolicy("preserve")
	if err != nil {
		t.Fatal(err)
	}
	p := replay.SourceOfHistory(messages, to).Preview(to, preserve)
	for _, l := range p.Losses {
		if l.Kind != replay.IDRewritten {
			t.Errorf("%s of call %d: %s", l.Code, l.Call, l.Message)
		}
	}
	if p.Refused != "" {
		t.Errorf("refused: %s", p.Refused)
	}
	if want, got := bytes.Join(to.Encode(messages), nil), bytes.Join(p.Body, nil); len(p.Losses) == 0 && !bytes.Equal(got, want) {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// checkCalls checks that each call has a name, and arguments that parse. A client may have sent back a text that was
// never meant as JSON, but not one that is cut off.
func checkCalls(t *testing.T, messages []protocol.Message) {
	n := 0
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Kind != protocol.CallPart {
				continue
			}
			n++
			if p.Name == "" || m.Role != protocol.Assistant {
				t.Errorf("%s has a call of %q", m.Role, p.Name)
			}
			var lex json.Lexer
			lex.Write(p.Args)
			lex.Close()
			isJSON := p.Form != protocol.TextForm || strings.HasPrefix(string(p.Args), "{")
			if isJSON && lex.Syntax() != json.SyntaxObject || len(p.Args) == 0 {
				t.Errorf("arguments of %s are %s: %q", p.Name, lex.Syntax(), p.Args)
			}
		}
	}
	if n == 0 {
		t.Error("no call in it")
	}
}

// checkResults checks that each result has a call before it, with the same id, or the same tool name if it
// has no id. The result must have a text.
func checkResults(t *testing.T, messages []protocol.Message) {
	ids, names, results := map[string]bool{}, map[string]bool{}, 0
	for _, m := range messages {
		for _, p := range m.Parts {
			switch p.Kind {
			case protocol.CallPart:
				ids[p.ID], names[p.Name] = true, true
			case protocol.ResultPart:
				results++
				if p.ID != "" && !ids[p.ID] || p.ID == "" && !names[p.Name] {
					t.Errorf("the result for %q of %q has no call", p.ID, p.Name)
				}
				if len(p.Text) == 0 && p.Media == 0 {
					t.Errorf("the result for %q is empty", p.ID)
				}
			}
		}
	}
	if results == 0 {
		t.Error("no result in it")
	}
}

// checkWrittenBack checks that the written messages equal the messages in the request.
func checkWrittenBack(t *testing.T, to *protocol.Target, request []byte, messages []protocol.Message) {
	want := elements(json.Value(request).Get(historyOf[to.Protocol]))
	got := to.Encode(messages)
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || !stdjson.Valid(got[i]) || !json.Same(want[i], got[i]) {
			t.Fatalf("message %d of %d: want %s\ngot %s", i, len(want), at(want, i), at(got, i))
		}
	}
}

func at(list [][]byte, i int) string {
	if i < len(list) {
		return string(list[i])
	}
	return "none"
}

func elements(list json.Value) (all [][]byte) {
	s := list.Scan()
	for ok := s.Array(); ok; ok = s.Element() {
		all = append(all, slices.Clone(s.Value()))
	}
	return all
}
