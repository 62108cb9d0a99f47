// Package historytest checks that a target reads the history of a request and writes it back.
package historytest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolscope/providers/protocol"
	"toolscope/stream/json"
)

// Check reads the messages of a request and compares their Lines with want. Then it writes the messages
// twice. Written unchanged, they must have the same JSON as in the request. Written without Raw, they must
// have the same Lines when they are read again.
func Check(t *testing.T, to *protocol.Target, request, want string) {
	t.Helper()
	messages, err := to.Decode([]byte(request))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, Lines(messages)); diff != "" {
		t.Errorf("read (-want +got)\n%s", diff)
	}
	if json.Value(request).Get("system") != nil {
		messages = messages[1:] // the system prompt is not among the messages of the request
	}
	written := to.Encode(messages)
	if diff := cmp.Diff(spellTexts(listElements(json.Value(request).Get("messages"))), spellTexts(written)); diff != "" {
		t.Errorf("written (-want +got)\n%s", diff)
	}
	bare := Bare(messages)
	if diff := cmp.Diff(Lines(bare), Lines(Bare(readWritten(t, to, to.Encode(bare))))); diff != "" {
		t.Errorf("written without Raw (-want +got)\n%s", diff)
	}
}

// CheckCut cuts a request off at every byte. Decode must return an error, and messages whose Lines are the
// beginning of the Lines of the complete request. System messages are ignored, because they may follow the
// other messages in the request.
func CheckCut(t *testing.T, to *protocol.Target, request string) {
	t.Helper()
	said := func(request string) (string, error) {
		messages, err := to.Decode([]byte(request))
		return Lines(slices.DeleteFunc(messages, func(m protocol.Message) bool { return m.Role == protocol.System })), err
	}
	whole, err := said(request)
	if err != nil || whole == "" {
		t.Fatalf("%s: %v", request, err)
	}
	for at := 1; at < len(request); at++ {
		got, err := said(request[:at])
		if err == nil || !strings.HasPrefix(whole, got) || at == len(request)-1 && got != whole {
			t.Errorf("cut at %d of %s: %v, %s", at, request, err, got)
		}
	}
}

// readWritten reads written messages as the history of a request.
func readWritten(t *testing.T, to *protocol.Target, written [][]byte) []protocol.Message {
	t.Helper()
	messages, err := to.Decode(Request(to, written))
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

// Request returns a request to a target with the given messages as its history.
func Request(to *protocol.Target, messages [][]byte) []byte {
	before, after := `{"messages":[`, `]}`
	switch to.Protocol {
	case "openai-responses":
		before = `{"input":[`
	case "gemini":
		before = `{"contents":[`
	case "aistudio":
		before, after = `["models/x",[`, `]]`
	}
	return []byte(before + string(bytes.Join(messages, []byte(","))) + after)
}

// WithoutRaw returns messages without Raw, as if they came from another protocol.
func WithoutRaw(messages []protocol.Message) (all []protocol.Message) {
	for _, m := range messages {
		m.Raw, m.Parts = nil, slices.Clone(m.Parts)
		for i := range m.Parts {
			m.Parts[i].Raw = nil
		}
		all = append(all, m)
	}
	return all
}

// Bare returns messages without Raw, without parts of the kind OtherPart, and without details that only Raw
// contains, such as a missing arguments field.
func Bare(messages []protocol.Message) (bare []protocol.Message) {
	for _, m := range messages {
		b := protocol.Message{Role: m.Role}
		for _, p := range m.Parts {
			if p.Kind == protocol.CallPart && p.Form != protocol.TextForm && len(p.Args) == 0 {
				p.Args = []byte("{}")
			}
			if p.Raw, p.Media = nil, 0; p.Kind != protocol.OtherPart {
				b.Parts = append(b.Parts, p)
			}
		}
		bare = append(bare, b)
	}
	return bare
}

// Lines describes messages for people, with one line for each message and each part.
func Lines(messages []protocol.Message) string {
	var s strings.Builder
	for _, m := range messages {
		fmt.Fprintln(&s, m.Role)
		for i := range m.Parts {
			fmt.Fprintln(&s, "  "+partLine(&m.Parts[i]))
		}
	}
	return s.String()
}

func partLine(p *protocol.Part) string {
	s := [...]string{"text", "reasoning", "call", "result", "other"}[p.Kind]
	for _, f := range [...]struct{ name, value string }{
		{"id", p.ID}, {"item", p.Item}, {"name", p.Name}, {"space", p.Namespace}, {"tool", p.ToolKind}, {"parent", p.Parent}, {"host", p.MCPServer},
	} {
		if f.value != "" {
			s += fmt.Sprintf(" %s=%s", f.name, f.value)
		}
	}
	for _, f := range [...]struct {
		name string
		is   bool
	}{{"server", p.RunByProvider}, {"failed", p.Failed}, {"hidden", p.SignatureOnly}} {
		if f.is {
			s += " " + f.name
		}
	}
	if p.Media > 0 {
		s += fmt.Sprintf(" media=%d", p.Media)
	}
	if len(p.Text) > 0 {
		s += fmt.Sprintf(" %q", p.Text)
	}
	if p.Kind == protocol.CallPart {
		s += " " + p.Form.String()
		if len(p.Args) > 0 {
			s += " " + string(p.Args)
		}
	}
	if p.Signature != "" {
		s += " signature=" + p.Signature
	}
	return s
}

// spellTexts returns JSON texts as lines in one notation. The order of fields stays the same.
func spellTexts(texts [][]byte) string {
	var w json.Writer
	for _, text := range texts {
		s := json.Scan(text)
		spellValue(&w, &s)
		w.Text = append(w.Text, '\n')
	}
	return string(w.Text)
}

func spellValue(w *json.Writer, s *json.Scanner) {
	switch s.Kind() {
	case '{':
		w.Open('{')
		for ok := s.Object(); ok; ok = s.Member() {
			w.Key(string(s.Key()))
			spellValue(w, s)
		}
		w.Close('}')
	case '[':
		w.Open('[')
		for ok := s.Array(); ok; ok = s.Element() {
			spellValue(w, s)
		}
		w.Close(']')
	default:
		if v := s.Value(); v.IsString() {
			w.Bytes(v.Append(nil))
		} else {
			w.Raw(v)
		}
	}
}

func listElements(list json.Value) (all [][]byte) {
	for v := range list.Elements() {
		all = append(all, v)
	}
	return all
}
