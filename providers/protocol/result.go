package protocol

import "slices"

// ResponseText is the text of a result as Google's protocols carry it: in an object, as its member
// output, or error if the call failed. An object with other members is itself the text
// (FunctionResponse in go-genai's types.go).
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

// WrapResponse is the object that ResponseText reads.
func WrapResponse(result *Part) Raw {
	name := "output"
	if result.Failed {
		name = "error"
	}
	var w Writer
	return w.Open('{').Key(name).Bytes(result.Text).Close('}').Text
}

// WriteContents writes messages as Google's protocols have them. All results of a turn are in one
// message, and each names its tool. System messages are left out: they stand elsewhere in the
// request. part writes one part, or nothing, as for an image from another protocol. content makes a
// message of parts, which are the inside of an array.
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

// callNames are the names of the tools that a history's calls are of, by the call's id.
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

// MergeResults joins consecutive messages of results into one, for protocols that want all results of
// a turn in one message. Results that still have their Raw stay where they are.
func MergeResults(messages []Message) (joined []Message) {
	before := false // the last of joined may take more
	for _, m := range messages {
		results := onlyResults(m)
		if n := len(joined) - 1; before && results {
			joined[n].Parts = append(joined[n].Parts, m.Parts...)
			continue
		}
		m.Parts = slices.Clip(m.Parts) // appending copies: the caller's array stays as it is
		joined, before = append(joined, m), results
	}
	return joined
}

// onlyResults reports whether a message holds results and nothing else, none of them with a Raw.
func onlyResults(m Message) bool {
	for _, p := range m.Parts {
		if p.Kind != ResultPart || p.RunByProvider || p.Raw != nil {
			return false
		}
	}
	return m.Role == User && len(m.Parts) > 0
}
