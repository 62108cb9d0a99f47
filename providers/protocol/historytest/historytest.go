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
)

// Check reads a request's messages, compares what Lines say of them with want, and writes them: as
// they were read, which must give the request's own JSON again; and without Raw, which must mean
// the same when it is read.
func Check(t *testing.T, to *protocol.Target, request, want string) {
	t.Helper()
	messages, err := to.Decode([]byte(request))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, Lines(messages)); diff != "" {
		t.Errorf("read (-want +got)\n%s", diff)
	}
	if protocol.Raw(request).Get("system") != nil {
		messages = messages[1:] // it stands beside them
	}
	written := to.Encode(messages)
	if diff := cmp.Diff(spellTexts(listElements(protocol.Raw(request).Get("messages"))), spellTexts(written)); diff != "" {
		t.Errorf("written (-want +got)\n%s", diff)
	}
	bare := Bare(messages)
	if diff := cmp.Diff(Lines(bare), Lines(Bare(readWritten(t, to, to.Encode(bare))))); diff != "" {
		t.Errorf("written without Raw (-want +got)\n%s", diff)
	}
}

// CheckCut cuts a request at every byte: it must be seen to break off, and the messages that are
// whole must be read. What the system says beside them may stand behind them.
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
		if err == nil || !strings.HasPrefix(whole, got) {
			t.Errorf("cut at %d of %s: %v, %s", at, request, err, got)
		}
	}
}

// readWritten reads written messages as those of a request.
func readWritten(t *testing.T, to *protocol.Target, written [][]byte) []protocol.Message {
	t.Helper()
	messages, err := to.Decode(Request(to, written))
	if err != nil {
		t.Fatal(err)
	}
	return messages
}

// Request is a request to a target that has these messages for its history.
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

// WithoutRaw are messages as if they had come by another protocol: without Raw.
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

// Bare are messages without Raw, and what only Raw tells: that a call has no arguments field is
// among it.
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

// Lines are what messages are, for people: a line for each and for each part.
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

// spellTexts are JSON texts as lines in one spelling: the order of members, and space, are those of the
// text.
func spellTexts(texts [][]byte) string {
	var w protocol.Writer
	for _, text := range texts {
		s := protocol.Scan(text)
		spellValue(&w, &s)
		w.Text = append(w.Text, '\n')
	}
	return string(w.Text)
}

func spellValue(w *protocol.Writer, s *protocol.Scanner) {
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

func listElements(list protocol.Raw) (all [][]byte) {
	for v := range list.Elements() {
		all = append(all, v)
	}
	return all
}
