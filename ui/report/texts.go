package report

import (
	"encoding/json"
	"strings"

	"toolscope/stream"
)

// maxTextBytes is the approximate limit of all texts in a span. Collectors accept requests of about 20 MB.
const maxTextBytes = 4 << 20

// spanTexts prepares the texts of one span: it removes secrets, and cuts texts that are too long.
type spanTexts struct {
	tr   *Tracer
	room int  // bytes of content that still fit
	cut  bool // a text was cut
}

// limitContent returns a text of a model or tool without secrets, cut to the free room. It returns "" if
// spans have no content.
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

// maxNameBytes is the maximum length of a name.
const maxNameBytes = 128

// limitName returns a name from outside, without secrets. It handles a long name, or one with unusual
// characters, as content, because it can be any text.
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

// maxWordBytes is the maximum length of a word.
const maxWordBytes = 256

// limitWord returns a word that a provider or a client chose, e.g. a model or an id. It is not content, but it
// can be very long, so it is cut.
func (s *spanTexts) limitWord(word string) string {
	if len(word) <= maxWordBytes {
		return word
	}
	s.cut = true
	return strings.ToValidUTF8(word[:maxWordBytes], "")
}

// isOdd reports whether c is not allowed in a plain name.
func isOdd(c rune) bool {
	return (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && !strings.ContainsRune("_.:/-", c)
}

// findingEvents returns findings as events of a span. Their messages may quote models, so they are content.
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

// outputMessage returns the response in the JSON format of the conventions, or "" if spans have no content.
// Arguments that are not a JSON object are a string, as received.
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
