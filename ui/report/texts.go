package report

import (
	"encoding/json"
	"strings"

	"toolscope/stream"
)

// maxTextBytes is about how many bytes of texts go along in a span: collectors take requests of some 20 MB.
const maxTextBytes = 4 << 20

// spanTexts are what was said and goes along in one span: without secrets, and cut where that would be too
// large.
type spanTexts struct {
	tr   *Tracer
	room int  // bytes that may still be said
	cut  bool // there was none for all of it
}

// limitContent is what was said, "" where that is to stay here.
func (s *spanTexts) limitContent(text string) string {
	if !s.tr.Content {
		return ""
	}
	if s.tr.Clean != nil {
		text = s.tr.Clean(text)
	}
	if len(text) > s.room {
		text, s.cut = strings.ToValidUTF8(text[:s.room], ""), true
	}
	s.room -= len(text)
	return text
}

// maxNameBytes is how many bytes a name has at most.
const maxNameBytes = 128

// limitName is a name that somebody else gave. It may be any text: one that is no plain name is content.
func (s *spanTexts) limitName(name string) string {
	if s.tr.Clean != nil {
		name = s.tr.Clean(name)
	}
	if len(name) <= maxNameBytes && !strings.ContainsFunc(name, isOdd) {
		return name
	}
	name = s.limitContent(name)
	return strings.ToValidUTF8(name[:min(len(name), maxNameBytes)], "")
}

// maxWordBytes is how many bytes a word has at most.
const maxWordBytes = 256

// limitWord is what a provider or a client calls something: no text that was said, but nothing keeps it from being
// as long as one.
func (s *spanTexts) limitWord(word string) string {
	if len(word) <= maxWordBytes {
		return word
	}
	s.cut = true
	return strings.ToValidUTF8(word[:maxWordBytes], "")
}

// isOdd reports whether plain names have no such letter.
func isOdd(c rune) bool {
	return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && !strings.ContainsRune("_.:/-", c)
}

// findingEvents are findings as events of a span. Their messages may hold what models said.
func (s *spanTexts) findingEvents(of *TracedTurn, list []stream.Finding, in *Span) (all []SpanEvent) {
	for _, f := range list {
		var a attributes
		a.addText(ownCode, f.Code)
		a.addText(ownSeverity, f.Severity.String())
		a.addText(ownBy, f.By.String())
		if f.Offset != stream.NoOffset {
			a.addNumber(ownOffset, int64(f.Offset))
		}
		a.addText(ownMeans, f.Meaning)
		a.addText(ownMessage, s.limitContent(f.Message))
		at := of.clockTime(of.EventAt(f.Event))
		if at.IsZero() {
			at = in.Ended
		}
		all = append(all, SpanEvent{at, ownFinding, a})
	}
	return all
}

// outputMessage is what the model said, as the conventions write it: arguments that are no JSON object are
// the text that came.
func (s *spanTexts) outputMessage(t *stream.Turn) string {
	if !s.tr.Content {
		return ""
	}
	type part struct {
		Type      string `json:"type"`
		Content   string `json:"content,omitempty"`
		ID        string `json:"id,omitempty"`
		Name      string `json:"name,omitempty"`
		Arguments any    `json:"arguments,omitempty"`
	}
	parts := []part{}
	if len(t.Thinking) > 0 {
		parts = append(parts, part{Type: "reasoning", Content: s.limitContent(string(t.Thinking))})
	}
	if len(t.Text) > 0 {
		parts = append(parts, part{Type: "text", Content: s.limitContent(string(t.Text))})
	}
	for _, c := range t.Calls {
		args := s.limitContent(string(c.Args()))
		p := part{Type: "tool_call", ID: s.limitWord(c.ID), Name: s.limitName(c.Name), Arguments: args}
		if c.Syntax() == stream.SyntaxObject && json.Valid([]byte(args)) {
			p.Arguments = json.RawMessage(args)
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return ""
	}
	text, err := json.Marshal([]map[string]any{{"role": "assistant", "parts": parts, "finish_reason": s.limitWord(t.Finish)}})
	if err != nil {
		return ""
	}
	return string(text)
}
