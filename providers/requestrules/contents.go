package requestrules

import (
	"bytes"
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// MaxCacheMarks is the maximum number of blocks that a request to Anthropic may mark for the cache, on any
// host.
const MaxCacheMarks = 4

// checkCacheMarks checks the number of blocks that the request marks for the cache, in the system prompt, the
// tools and the messages.
func (c *checker) checkCacheMarks() {
	if c.Target.Refusal.CacheMarks == "" || bytes.Count(c.Body, []byte(`"cache_control"`))+bytes.Count(c.Body, []byte(`"cachePoint"`)) <= MaxCacheMarks {
		return
	}
	marks := countMarks(c.Body.Get("system")) + countMarks(c.Body.Get("tools")) + countMarks(c.Body.Get("toolConfig").Get("tools"))
	at := NoMessage
	for i := range c.Messages {
		n := countMarks(c.Messages[i].Raw.Get("content"))
		if marks += n; n > 0 && marks > MaxCacheMarks && at < 0 {
			at = i
		}
	}
	if marks > MaxCacheMarks {
		words := stream.Messagef("%s", stream.Own(count.Of(marks, "block")))
		place := Spot{Message: at, Part: -1, Words: words}
		c.addSpot(RequestIllegal, "cache-marks", c.claudeProof(), "more than 4 blocks have cache_control", place)
	}
}

// claudeProof returns the evidence for a rule of Claude's models. In Bedrock's Converse, other models don't have the
// rule.
func (c *checker) claudeProof() Proof {
	if c.Target.Protocol == "bedrock" {
		return ByRefusal
	}
	return ByHost
}

// countMarks counts the blocks in a list that have a cache mark, including blocks within results.
func countMarks(blocks json.Value) (n int) {
	for block := range blocks.Elements() {
		if block.Get("cache_control").Kind() == '{' || block.Get("cachePoint").Kind() == '{' {
			n++
		}
		if block.Get("type").Is("tool_result") {
			n += countMarks(block.Get("content"))
		}
	}
	return n
}

// checkTrailingSpace checks that a last message by the model doesn't end with white space: the response continues
// such a message.
func (c *checker) checkTrailingSpace() {
	last := len(c.Messages) - 1
	if c.Target.Refusal.TrailingSpace == "" || last < 0 || c.Messages[last].Role != protocol.Assistant {
		return
	}
	parts := c.Messages[last].Parts
	if len(parts) == 0 {
		return
	}
	p := &parts[len(parts)-1]
	if text := p.Text; p.Kind == protocol.TextPart && len(text) > 0 && bytes.ContainsRune([]byte(" \t\r\n"), rune(text[len(text)-1])) {
		c.addSpot(RequestIllegal, "trailing-space", c.claudeProof(), "the model's last text ends with white space", Spot{Message: last, Part: len(parts) - 1})
	}
}

func hasResults(m *protocol.Message) bool {
	return slices.ContainsFunc(m.Parts, func(p protocol.Part) bool { return p.Kind == protocol.ResultPart })
}
