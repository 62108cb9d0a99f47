package openaichat

import "toolscope/providers/dialect"

// callMembers are the calls of a message: a list, and what was a function_call and has not been
// given an id since.
func callMembers(before dialect.Raw, calls []dialect.Part) []dialect.Member {
	var list, single dialect.Writer
	for i := range calls {
		if isFunctionCall(calls[i].Raw) && len(single.Text) == 0 {
			single.Raw(calls[i].Raw)
		} else {
			writeCall(&list, &calls[i])
		}
	}
	return []dialect.Member{
		dialect.UpdatedMember(before, "tool_calls", dialect.List(&list)), dialect.UpdatedMember(before, "function_call", single.Text),
	}
}

// isFunctionCall reports whether a call stood in function_call.
func isFunctionCall(raw dialect.Raw) bool { return raw.Get("name") != nil && raw.Get("id") == nil }

func writeCall(w *dialect.Writer, p *dialect.Part) {
	if p.Raw != nil {
		w.Raw(p.Raw)
		return
	}
	w.Open('{').MemberIfSet("id", p.ID)
	if p.ToolKind == "custom" {
		w.Member("type", "custom").Key("custom").Open('{').Member("name", p.Name).Key("input").Bytes(p.Args).Close('}')
	} else {
		w.Member("type", "function").Key("function").Open('{').Member("name", p.Name).Key("arguments").WriteArgs(p).Close('}')
	}
	if p.Signature != "" {
		w.Key("extra_content")
		writeSignature(w, p.Signature)
	}
	w.Close('}')
}

// writeSignature writes the extra_content of Gemini's compatible endpoint.
func writeSignature(w *dialect.Writer, signature string) {
	w.Open('{').Key("google").Open('{').Member("thought_signature", signature).Close('}').Close('}')
}

// encodeResult writes a result. Without an id only the name says what of.
func encodeResult(p *dialect.Part, named bool) []byte {
	var w dialect.Writer
	w.Open('{').Member("role", "tool").MemberIfSet("tool_call_id", p.ID)
	if named || p.ID == "" {
		w.MemberIfSet("name", p.Name)
	}
	return w.Key("content").Bytes(p.Text).Close('}').Text
}
