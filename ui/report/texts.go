package report

import (
	"encoding/json"
	"strings"

	"toolscope/stream"
)

// mostTexts is about how many bytes of texts go along in a span: collectors take requests of some 20 MB.
const mostTexts = 4 << 20

// texts are what was said and goes along in one span: without secrets, and cut where that would be too
// large.
type texts struct {
	tr   *Tracer
	room int  // bytes that may still be said
	cut  bool // there was none for all of it
}

// content is what was said, "" where that is to stay here.
func (s *texts) content(text string) string {
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

// mostName is how many bytes a name has at most.
const mostName = 128

// name is a name that somebody else gave. It may be any text: one that is no plain name is content.
func (s *texts) name(name string) string {
	if s.tr.Clean != nil {
		name = s.tr.Clean(name)
	}
	if len(name) <= mostName && !strings.ContainsFunc(name, isOdd) {
		return name
	}
	name = s.content(name)
	return strings.ToValidUTF8(name[:min(len(name), mostName)], "")
}

// mostWord is how many bytes a word has at most.
const mostWord = 256

// word is what a provider or a client calls something: no text that was said, but nothing keeps it from being
// as long as one.
func (s *texts) word(word string) string {
	if len(word) <= mostWord {
		return word
	}
	s.cut = true
	return strings.ToValidUTF8(word[:mostWord], "")
}

// isOdd reports whether plain names have no such letter.
func isOdd(c rune) bool {
	return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && !strings.ContainsRune("_.:/-", c)
}

// found are findings as events of a span. Their messages may hold what models said.
func (s *texts) found(of *Traced, list []stream.Finding, in *Span) (all []SpanEvent) {
	for _, f := range list {
		var a attributes
		a.text(ownCode, f.Code)
		a.text(ownSeverity, f.Severity.String())
		a.text(ownBy, f.By.String())
		if f.Offset != stream.NoOffset {
			a.number(ownOffset, int64(f.Offset))
		}
		a.text(ownMeans, f.Meaning)
		a.text(ownMessage, s.content(f.Message))
		at := of.clock(of.When(f.Event))
		if at.IsZero() {
			at = in.Ended
		}
		all = append(all, SpanEvent{at, ownFinding, a})
	}
	return all
}

// message is what the model said, as the conventions write it: arguments that are no JSON object are
// the text that came.
func (s *texts) message(t *stream.Turn) string {
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
		parts = append(parts, part{Type: "reasoning", Content: s.content(string(t.Thinking))})
	}
	if len(t.Text) > 0 {
		parts = append(parts, part{Type: "text", Content: s.content(string(t.Text))})
	}
	for _, c := range t.Calls {
		args := s.content(string(c.Args()))
		p := part{Type: "tool_call", ID: s.word(c.ID), Name: s.name(c.Name), Arguments: args}
		if c.Syntax() == stream.SyntaxObject && json.Valid([]byte(args)) {
			p.Arguments = json.RawMessage(args)
		}
		parts = append(parts, p)
	}
	if len(parts) == 0 {
		return ""
	}
	text, err := json.Marshal([]map[string]any{{"role": "assistant", "parts": parts, "finish_reason": s.word(t.Finish)}})
	if err != nil {
		return ""
	}
	return string(text)
}
