package dialect

import "slices"

// ResponseText is the text of a result as Google's protocols carry it: an object
// whose member output holds it, or error that of one that failed. One with other
// members is all of it text (FunctionResponse in go-genai's types.go).
func ResponseText(response Raw) (text []byte, failed bool) {
	var output, err Raw
	members := 0
	s := response.Scan()
	for ok := s.Object(); ok; ok = s.Member() {
		key, value := string(s.Key()), s.Value()
		switch {
		case !value.Given():
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

// Response is the object that ResponseText reads.
func Response(result *Part) Raw {
	name := "output"
	if result.Failed {
		name = "error"
	}
	var w Writer
	return w.Open('{').Key(name).Bytes(result.Text).Close('}').Text
}

// CallNames are the tools of a history's calls, by the ids of these: for
// protocols that want a result to name its tool.
func CallNames(messages []Message) map[string]string {
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

// OneAnswer brings results that follow each other in messages of their own into
// one message, for protocols that want all results of a turn there. Results that
// still are what was read stay where they were.
func OneAnswer(messages []Message) (joined []Message) {
	before := false // the last of joined may take more
	for _, m := range messages {
		results := onlyResults(m)
		if n := len(joined) - 1; before && results {
			joined[n].Parts = append(joined[n].Parts, m.Parts...)
			continue
		}
		m.Parts = slices.Clip(m.Parts) // what is joined to them is not put behind the caller's
		joined, before = append(joined, m), results
	}
	return joined
}

// onlyResults reports whether a message holds results and nothing else, none of
// them as it was read.
func onlyResults(m Message) bool {
	for _, p := range m.Parts {
		if p.Kind != ResultPart || p.Server || p.Raw != nil {
			return false
		}
	}
	return m.Role == User && len(m.Parts) > 0
}
