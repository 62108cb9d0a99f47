package openaichat

import "toolscope/providers/protocol"

// callMembers returns the fields with the calls of a message: a list, and a function_call that has not
// been given an id since.
func callMembers(before protocol.Raw, calls []protocol.Part) []protocol.Member {
	var list, single protocol.Writer
	for i := range calls {
		if isFunctionCall(calls[i].Raw) && len(single.Text) == 0 {
			single.Raw(calls[i].Raw)
		} else {
			writeCall(&list, &calls[i])
		}
	}
	return []protocol.Member{
		protocol.UpdatedMember(before, "tool_calls", protocol.List(&list)), protocol.UpdatedMember(before, "function_call", single.Text),
	}
}

// isFunctionCall reports whether raw is the value of a function_call.
func isFunctionCall(raw protocol.Raw) bool { return raw.Get("name") != nil && raw.Get("id") == nil }

func writeCall(w *protocol.Writer, p *protocol.Part) {
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
func writeSignature(w *protocol.Writer, signature string) {
	w.Open('{').Key("google").Open('{').Member("thought_signature", signature).Close('}').Close('}')
}

// encodeResult writes a result. Without an id, only the name says which call it is for.
func encodeResult(p *protocol.Part, named bool) []byte {
	var w protocol.Writer
	w.Open('{').Member("role", "tool").MemberIfSet("tool_call_id", p.ID)
	if named || p.ID == "" {
		w.MemberIfSet("name", p.Name)
	}
	return w.Key("content").Bytes(p.Text).Close('}').Text
}
