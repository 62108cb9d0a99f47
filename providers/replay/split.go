package replay

import (
	"toolscope/providers/protocol"
)

// Split returns the source with each call in its own message, followed by its result. Clients that run one
// call at a time write their history so. Calls that the provider runs stay where they are.
func (s *Source) Split() *Source {
	out := &Source{From: s.From, facts: s.facts, others: s.others}
	for _, m := range s.Messages {
		out.behind = append(out.behind, behindSigned(m)...)
	}
	for i := 0; i < len(s.Messages); i++ {
		m := s.Messages[i]
		if m.Role != protocol.Assistant || countCalls(m) < 2 {
			out.Messages = append(out.Messages, m)
			continue
		}
		end := resultsEnd(s.Messages, i)
		out.split = true
		out.Messages = append(out.Messages, splitCalls(m, s.Messages[i+1:end])...)
		i = end - 1
	}
	if !out.split {
		out.results = s.results
	}
	return out
}

// resultsEnd returns the end of the messages that may have the results of message i: the user messages that
// follow it.
func resultsEnd(messages []protocol.Message, i int) (end int) {
	for end = i + 1; end < len(messages) && messages[end].Role == protocol.User; end++ {
	}
	return end
}

// countCalls returns the number of calls of a message that need a result.
func countCalls(m protocol.Message) (n int) {
	for i := range m.Parts {
		if isClientCall(&m.Parts[i]) {
			n++
		}
	}
	return n
}

// isClientCall reports whether a part is a call that the client runs.
func isClientCall(p *protocol.Part) bool { return p.Kind == protocol.CallPart && !p.RunByProvider }

// behindSigned returns for each call of a message whether it relies on the signature of a call before it.
func behindSigned(m protocol.Message) (behind []bool) {
	signed := false
	for _, p := range m.Parts {
		if p.Kind == protocol.CallPart {
			behind = append(behind, signed && p.Signature == "")
			signed = signed || p.Signature != ""
		}
	}
	return behind
}

// splitCalls returns the messages that replace m and the user messages after it.
func splitCalls(m protocol.Message, after []protocol.Message) (out []protocol.Message) {
	results := map[callKey][]place{}
	for i, a := range after {
		for k := range a.Parts {
			if isResult(&a.Parts[k]) {
				key := keyOf(&a.Parts[k])
				results[key] = append(results[key], place{i, k})
			}
		}
	}
	taken := map[place]bool{}
	now := protocol.Message{Role: protocol.Assistant}
	for i := range m.Parts {
		p := &m.Parts[i]
		if now.Parts = append(now.Parts, *p); !isClientCall(p) {
			continue
		}
		out = append(out, now)
		now = protocol.Message{Role: protocol.Assistant}
		if list := results[keyOf(p)]; len(list) > 0 {
			at := list[0]
			results[keyOf(p)], taken[at] = list[1:], true
			out = append(out, protocol.Message{Role: protocol.User, Parts: after[at.message].Parts[at.part : at.part+1 : at.part+1]})
		}
	}
	if len(now.Parts) > 0 {
		out = append(out, now)
	}
	return append(out, withoutParts(after, taken)...)
}

// withoutParts returns messages without the parts that are taken.
func withoutParts(messages []protocol.Message, taken map[place]bool) (out []protocol.Message) {
	for i, m := range messages {
		rest := m
		rest.Parts = nil
		for k, p := range m.Parts {
			if !taken[place{i, k}] {
				rest.Parts = append(rest.Parts, p)
			}
		}
		if len(rest.Parts) > 0 || len(m.Parts) == 0 {
			out = append(out, rest)
		}
	}
	return out
}
