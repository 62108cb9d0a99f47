package providers

import "strings"

// brokenReasoning lists the rules about reasoning and signatures. Such a rule can be checked only if the model's
// responses were seen.
var brokenReasoning = []brokenRule{
	{
		rule: "reasoning-kept", code: "REASONING_DROPPED", proof: provenByHost, reasons: true, near: reasoningNear,
		breaks: func(c *trial) (int, int) {
			parts := c.parts(c.at)
			*parts = (*parts)[1:]
			return c.at, -1
		},
		words: map[string]string{
			"anthropic": "{at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block.",
			"bedrock":   "The model returned the following errors: {at}.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
			"responses": "Item 'fc_{id}' of type 'function_call' was provided without its required 'reasoning' item: 'rs_01'.",
			"deepseek":  "Missing `reasoning_content` field in the assistant message: it must be passed back to the API.",
		},
	},
	{
		rule: "reasoning-same", code: "REASONING_ALTERED", proof: provenByHost, reasons: true, near: reasoningNear,
		breaks: func(c *trial) (int, int) {
			switch r := c.reasoning(); {
			case c.number%3 == 0 && c.form.name != "responses":
				r.text = strings.Replace(r.text, "list", "lost", 1)
			case c.number%3 == 1 && (c.calls > 1 || c.form.name != "responses"):
				parts := *c.parts(c.at)
				moved, last := parts[0], len(parts)-1
				if c.form.name == "responses" { // a reasoning item must not be last
					last--
				}
				copy(parts[:last], parts[1:])
				parts[last] = moved
				return c.at, last
			default:
				r.signature = strings.Replace(r.signature, "QUJD", "QUJE", 1)
			}
			return c.at, 0
		},
		words: map[string]string{
			"anthropic": "{at}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were in the original response.",
			"bedrock":   "The model returned the following errors: {at}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified.",
			"responses": "The encrypted content gAAA...3NUg could not be verified. Reason: Encrypted content could not be decrypted or parsed.",
		},
	},
	{
		rule: "signature-kept", code: "SIGNATURE_DROPPED", proof: provenByHost, reasons: true, near: reasoningNear,
		breaks: func(c *trial) (int, int) {
			if c.form.name == "gemini" {
				c.of = 0
				c.call().signature = ""
				return c.at, c.callIndex()
			}
			c.reasoning().signature = ""
			return c.at, 0
		},
		words: map[string]string{
			"anthropic": "{at}: Invalid `signature` in `thinking` block", "bedrock": "The model returned the following errors: {at}: Invalid `signature` in `thinking` block",
			"gemini": "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call `default_api:ls`, position 2.",
		},
	},
}

// reasoningNear lists legal changes to reasoning.
var reasoningNear = []func(c *trial){
	func(*trial) {},
	func(c *trial) { // after the end of the step, reasoning isn't needed
		c.dropReasoning()
		c.say(true, wirePart{text: "All is listed."})
		c.say(false, wirePart{text: "thanks"})
	},
	func(c *trial) { // another model, or thinking is off
		c.dropReasoning()
		switch c.form.name {
		case "anthropic":
			c.fields = ""
		case "chat", "responses", "deepseek":
			c.model = "another"
		default:
			c.earlier = nil // the path contains the model, and no response shows the reasoning
		}
	},
	func(c *trial) { // after the end of the step, reasoning may be changed
		for i := range c.messages {
			for j := range c.messages[i].parts {
				if p := &c.messages[i].parts[j]; p.signature != "" {
					p.signature = "QUJE" + p.signature
				}
			}
		}
		c.say(true, wirePart{text: "All is listed."})
		c.say(false, wirePart{text: "thanks"})
	},
	func(c *trial) { // thinking is off, or the field is empty
		if c.form.name != "deepseek" {
			return
		}
		c.dropReasoning()
		if c.emptyReasoning = c.number%2 == 0; !c.emptyReasoning {
			c.fields = `"thinking":{"type":"disabled"},`
		}
	},
	(*trial).compact, (*trial).endWithCalls,
}

// dropReasoning removes all reasoning and all signatures.
func (c *trial) dropReasoning() {
	for i := range c.messages {
		var kept []wirePart
		for _, p := range c.messages[i].parts {
			if p.signature = ""; p.kind != reasoningPart {
				kept = append(kept, p)
			}
		}
		c.messages[i].parts = kept
	}
}
