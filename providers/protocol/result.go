package protocol

import "slices"

// ResponseText returns the text of a result in Google's protocols: it is in an object, as the field
// output, or error if the call failed. An object with other fields is itself the text (FunctionResponse
// in go-genai's types.go).
func ResponseText(response Raw) (text []byte, failed bool) {
	var output, err Raw
	members := 0
	s := response.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		key, value := string(s.Key()), s.Value()
		switch {
		case !value.IsPresent():
			continue
		case key == "output":
			output = value
		case key == "error":
			err = value
		}
		members++
	}
	switch {
	case members == 1 && output != nil:
		return output.Append(nil), false
	case members == 1 && err != nil:
		return err.Append(nil), true
	}
	return response.Append(nil), err != nil
}

// WrapResponse returns the object that ResponseText reads.
func WrapResponse(result *Part) Raw {
	name := "output"
	if result.Failed {
		name = "error"
	}
	var w Writer
	return w.Open('{').Key(name).Bytes(result.Text).Close('}').Text
}

// WriteContents writes messages in the form of Google's protocols. All results of a turn are in one
// message, and each names its tool. System messages are omitted, because they have another place in the
// request. part writes one part, or nothing, e.g. for an image from another protocol. content makes a
// message from parts, the content of an array.
func WriteContents(messages []Message, part func(*Writer, *Part), content func(role string, parts []byte) []byte) (out [][]byte) {
	names := callNames(messages)
	for _, m := range MergeResults(messages) {
		if m.Role == System {
			continue
		}
		var parts Writer
		for _, p := range m.Parts {
			if p.Kind == ResultPart && p.Name == "" {
				p.Name = names[p.ID]
			}
			if p.Raw != nil {
				parts.Raw(p.Raw)
			} else {
				part(&parts, &p)
			}
		}
		if len(parts.Text) == 0 && len(m.Parts) > 0 {
			continue
		}
		role := "user"
		if m.Role == Assistant {
			role = "model"
		}
		out = append(out, content(role, parts.Text))
	}
	return out
}

// callNames returns the tool names of the calls in a history, by call id.
func callNames(messages []Message) map[string]string {
	names := map[string]string{}
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Kind == CallPart && p.ID != "" {
				names[p.ID] = p.Name
			}
		}
	}
	return names
}

// MergeResults joins consecutive messages of results into one, for protocols that require all results
// of a turn in one message. A message with results that have a Raw is not joined.
func MergeResults(messages []Message) (joined []Message) {
	before := false // the last of joined can take more results
	for _, m := range messages {
		results := onlyResults(m)
		if n := len(joined) - 1; before && results {
			joined[n].Parts = append(joined[n].Parts, m.Parts...)
			continue
		}
		m.Parts = slices.Clip(m.Parts) // appending copies, so the caller's array doesn't change
		joined, before = append(joined, m), results
	}
	return joined
}

// onlyResults reports whether a message has only results, all without a Raw.
func onlyResults(m Message) bool {
	for _, p := range m.Parts {
		if p.Kind != ResultPart || p.RunByProvider || p.Raw != nil {
			return false
		}
	}
	return m.Role == User && len(m.Parts) > 0
}
