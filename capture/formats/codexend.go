package formats

import (
	"bytes"
	"slices"
	"time"

	"toolscope/capture"
	"toolscope/stream/json"
)

// used takes the usage of a response, which ends it. It may be told twice, in two ways; and of a
// response that the log has nothing else of.
func (c *codex) used(e *codexEntry, usage []byte, total string) {
	if json.IsNull(usage) || total != "" && total == c.total {
		return
	}
	c.total = total
	if c.open == nil {
		c.begin(e)
	}
	c.finish(e, usage)
}

// codexUsage is what members of Codex's usage are called in Responses, and in which object.
var codexUsage = []struct{ name, inside, as string }{
	{"input_tokens", "", "input_tokens"}, {"output_tokens", "", "output_tokens"}, {"total_tokens", "", "total_tokens"},
	{"cached_input_tokens", "input_tokens_details", "cached_tokens"},
	{"cache_write_input_tokens", "input_tokens_details", "cache_write_tokens"},
	{"reasoning_output_tokens", "output_tokens_details", "reasoning_tokens"},
}

// codexUsageOf is the usage as Responses tell it.
func codexUsageOf(usage []byte) []byte {
	all := []byte(`{"object":"usage"`)
	for _, inside := range []string{"", "input_tokens_details", "output_tokens_details"} {
		var in []byte
		for _, m := range codexUsage {
			if m.inside == inside {
				in = append(in, withMember(m.as, json.Find(usage, m.name))...)
			}
		}
		switch {
		case inside == "":
			all = append(all, in...)
		case len(in) > 0:
			all = append(all, withMember(inside, slices.Concat([]byte("{"), in[1:], []byte("}")))...)
		}
	}
	return append(all, '}')
}

// finish ends the response that is open. Usage comes with its end alone; without it nothing tells
// how that was.
func (c *codex) finish(e *codexEntry, usage []byte) {
	a := c.open
	if a == nil {
		return
	}
	c.open = nil
	if usage != nil {
		response := append([]byte(`{"object":"response","status":"completed"`), withMember("id", json.Find(e.item, "response_id"))...)
		response = append(append(response, withMember("model", c.model)...), withMember("usage", codexUsageOf(usage))...)
		a.say(e.at, eventHead("response.completed")+`,"response":`+string(response)+"}"+eventTail)
	}
	a.end(capture.EndEOF, "", "")
}

// aborted takes that the user stopped Codex. Items are written when they are done: behind a call
// its tool was stopped, and behind anything else the response was.
func (c *codex) aborted(e *codexEntry) {
	why := "the turn was aborted: " + json.FindText(e.item, "reason")
	switch a := c.open; {
	case a == nil && len(c.said) > 0:
		c.asked(e).end(capture.EndCut, why, capture.Client)
	case a == nil || a.isCall:
		c.finish(nil, nil)
	default:
		c.open = nil
		a.end(capture.EndCut, why, capture.Client)
	}
}

// failed takes an error that ended the turn.
func (c *codex) failed(e *codexEntry) {
	if c.open == nil {
		c.begin(e)
	}
	a := c.open
	c.open = nil
	a.say(e.at, eventHead("error")+`,"message":`)
	a.piece(e.at, e.line, json.Find(e.item, "message"))
	a.say(e.at, eventTail)
	a.end(capture.EndEOF, "", "")
}

// Close ends the open response.
func (c *codex) Close(recs []capture.Record, end capture.End, why string, _ time.Duration) []capture.Record {
	c.recs = recs
	c.last()
	if end == capture.EndCut && c.open != nil {
		c.open.end(end, why, "")
	} else {
		c.finish(nil, nil)
	}
	if c.brings { // what they are of is known, and no answer to them
		c.asked(&codexEntry{at: capture.NoTime}).end(end, why, "")
	}
	return c.done()
}

// codexTypes are the types of a rollout's entries.
var codexTypes = []string{
	"session_meta", "response_item", "event_msg", "turn_context", "compacted", "world_state", "inter_agent_communication", "token_usage_record",
}

// sniffCodex goes by the first line, of which the instructions may not be there as a whole.
func sniffCodex(first []byte, whole bool) capture.SniffResult {
	return eachFirstLine(first, whole, func(line []byte, ended bool) capture.SniffResult {
		yes := func(why string) capture.SniffResult { return capture.SniffResult{Is: capture.Yes, Why: why} }
		e, stamp := readCodexEntry(line)
		switch {
		case len(line) == 0 || line[0] != '{', ended && !wholeObject(line):
			return capture.SniffResult{}
		case stamp != nil && slices.Contains(codexTypes, e.kind) && bytes.HasPrefix(e.item, []byte("{")) && len(e.item) < len(line):
			return yes("an entry of type " + e.kind + " with a payload")
		case stringOf(json.Find(line, "record_type")) == "state":
			return yes("an entry of record_type state")
		case stamp != nil && json.FindText(line, "id") != "" && json.Find(line, "instructions") != nil:
			return yes("a session with its instructions")
		case isBareItem(line, e.of):
			return yes("a response item without a wrapper")
		case !ended:
			return capture.SniffResult{Is: capture.Maybe}
		}
		return capture.SniffResult{}
	})
}

// isBareItem reports whether a line is an item of a conversation as Responses have it, which a body
// of Anthropic's is not.
func isBareItem(line []byte, kind string) bool {
	switch kind {
	case "message":
		for block := range json.Elements(json.Find(line, "content")) {
			of := json.FindText(block, "type")
			return of == "input_text" || of == "output_text"
		}
	case "function_call":
		return json.Find(line, "call_id") != nil && json.Find(line, "arguments") != nil && json.Find(line, "output_index") == nil
	}
	return false
}
