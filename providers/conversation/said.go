package conversation

import (
	"bytes"
	"slices"
	"strconv"

	"toolscope/providers/protocol"
)

// maxWords is how many bytes of a text are kept.
const maxWords = 120

// LatestContent returns the beginning of the latest content of a request. That is the tools whose results
// it ends with and the text of the first result, or no tools and the user's last text. called returns the
// name of a call that is not in the messages, by its id; "" if it is unknown.
func LatestContent(messages []protocol.Message, called func(id string) string) (tools, words string) {
	from, to := lastUserRange(messages)
	var first *protocol.Part
	results := 0
	for i := from; i < to; i++ {
		for j := range messages[i].Parts {
			if p := &messages[i].Parts[j]; p.Kind == protocol.ResultPart {
				if results++; first == nil {
					first = p
				}
			}
		}
	}
	if first == nil {
		return "", userWords(messages[from:to])
	}
	if tools = nameOf(first, messages[:from]); tools == "" && first.ID != "" {
		tools = called(first.ID)
	}
	if tools == "" {
		tools = "result"
	}
	if results > 1 {
		tools += " +" + strconv.Itoa(results-1)
	}
	return tools, Clip(first.Text)
}

// lastUserRange returns the range of messages that ends with the user's last message and begins after the
// model's message before it.
func lastUserRange(messages []protocol.Message) (from, to int) {
	to = len(messages)
	for to > 0 && messages[to-1].Role != protocol.User {
		to--
	}
	for from = to; from > 0 && messages[from-1].Role != protocol.Assistant; from-- {
	}
	return from, to
}

// nameOf returns the tool of a result, "" if the messages don't tell.
func nameOf(result *protocol.Part, before []protocol.Message) string {
	if result.Name != "" {
		return result.Name
	}
	for _, m := range slices.Backward(before) {
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Kind == protocol.CallPart && p.ID == result.ID && p.ID != "" {
				return p.Name
			}
		}
	}
	return ""
}

// userWords returns the last text that a person may have written: agents put notes in tags next to it.
func userWords(messages []protocol.Message) (words string) {
	for _, m := range messages {
		if m.Role != protocol.User {
			continue
		}
		for i := range m.Parts {
			p := &m.Parts[i]
			text := bytes.TrimSpace(p.Text)
			if p.Kind == protocol.TextPart && len(text) > 0 && (text[0] != '<' || words == "") {
				words = Clip(text)
			}
		}
	}
	return words
}

// FirstUserText returns the first text of the user.
func FirstUserText(messages []protocol.Message) []byte {
	for i := range messages {
		for j := range messages[i].Parts {
			if p := &messages[i].Parts[j]; messages[i].Role == protocol.User && p.Kind == protocol.TextPart && len(p.Text) > 0 {
				return p.Text
			}
		}
	}
	return nil
}

// Clip returns the beginning of a text, on one line.
func Clip(text []byte) string {
	text = bytes.TrimSpace(text)
	cut := len(text) > maxWords
	words := string(bytes.Join(bytes.Fields(text[:min(len(text), maxWords)]), []byte(" ")))
	if cut {
		words += "…"
	}
	return words
}
