package host

import (
	"fmt"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
)

// CapturedRequest is a request that was seen, to be sent again.
type CapturedRequest struct {
	Protocol *protocol.Protocol // of the request
	Path     string             // of its URL, which may name the model
	Body     []byte

	// History is the conversation it carries, and what was added to it since: a turn, results. From
	// is where its protocol sends such. See providers.Exchange.History.
	History []protocol.Message
	From    *protocol.Target

	model  string // it asks for, "" if that is still to be looked for
	single bool   // the body is known to be one JSON object
}

// Model is the model that the request asks for.
func (c *CapturedRequest) Model() string {
	if c.model != "" {
		return c.model
	}
	return modelOf(c.Protocol, c.Path, c.Body)
}

// ResentRequest is a captured request as another host is asked it.
type ResentRequest struct {
	Request    protocol.Request
	Preview    replay.Preview // of its history: what it loses
	Undeclared []string       // tools that cannot be declared there, by name
	Moved      int            // instructions in the middle of the history that stand before it now
}

// Resend translates a captured request for a host: its instructions, its history under a policy,
// its tools, the limit of its answer. model is asked, or if it is "" the request's own where the
// host has it, and else the host's. It is a pure function; nothing is sent.
func (h *Host) Resend(c CapturedRequest, model string, policy *replay.Policy) (ResentRequest, error) {
	to := h.HistoryTarget()
	if to == nil || to.Request == nil {
		return ResentRequest{}, fmt.Errorf("%s: requests are never made to it", h.Name)
	}
	var out ResentRequest
	r := &out.Request
	if r.Model = h.ModelOf(c, model); r.Model == "" {
		return ResentRequest{}, fmt.Errorf("%s: no model is named, and the request's %q may not be one of its", h.Name, c.Model())
	}
	var history []protocol.Message
	r.System, history, out.Moved = splitInstructions(c.History, to)
	out.Preview = replay.SourceOfHistory(history, c.From).Preview(to, policy)
	if out.Preview.Refused != "" && len(out.Preview.Body) == 0 {
		return out, fmt.Errorf("%s: the policy %s sends nothing: %s", h.Name, policy.Name, out.Preview.Refused)
	}
	r.EncodedMessages = append(out.Preview.Body, out.Preview.Results...)
	if c.Protocol != nil && c.Protocol.Tools != nil {
		tools := Tools{Protocol: c.Protocol.Name, List: c.Protocol.Tools(c.Body), Declared: declaredIn(c.Protocol.Name, c.Body)}
		out.Undeclared = tools.Declare(r, to)
	}
	r.MaxTokens = limitOf(c.Body)
	return out, nil
}

// ModelOf is the model a host would be asked for: model, or if that is "" the request's own where
// the host has it, and else the host's; "" if none is known.
func (h *Host) ModelOf(c CapturedRequest, model string) string {
	if model != "" {
		return model
	}
	own := c.Model()
	to := h.HistoryTarget()
	switch {
	case own != "" && h.Has(own):
		return own
	case h.Model == "" && len(h.Models) == 0 && c.Protocol != nil && to.Protocol == c.Protocol.Name:
		return own // a host that has any name, as a server of one's own
	}
	return h.Model
}

// splitInstructions takes what the system says out of a history: what stands before all else, and the
// rest where the target has no place for it between messages.
func splitInstructions(history []protocol.Message, to *protocol.Target) (system string, rest []protocol.Message, moved int) {
	var said []string
	inline := len(to.Encode([]protocol.Message{{Role: protocol.System, Parts: []protocol.Part{{Kind: protocol.TextPart, Text: []byte("x")}}}})) > 0
	for _, m := range history {
		switch {
		case m.Role != protocol.System, len(rest) > 0 && inline:
			rest = append(rest, m)
			continue
		case len(rest) > 0:
			moved++
		}
		var text strings.Builder
		for _, p := range m.Parts {
			if p.Kind == protocol.TextPart {
				text.Write(p.Text)
			}
		}
		if text.Len() > 0 {
			said = append(said, text.String())
		}
	}
	return strings.Join(said, "\n\n"), rest, moved
}

// declaredIn is the value that a request declares its tools with.
func declaredIn(dialectName string, body []byte) protocol.Raw {
	name := "tools"
	if dialectName == "bedrock" {
		name = "toolConfig"
	}
	if v := protocol.Raw(body).Get(name); v.Kind() == '[' || v.Kind() == '{' {
		return v
	}
	return nil
}

// limits are where requests say how long the answer may be.
var limits = [][]string{
	{"max_tokens"}, {"max_completion_tokens"}, {"max_output_tokens"},
	{"generationConfig", "maxOutputTokens"}, {"generation_config", "max_output_tokens"},
	{"inferenceConfig", "maxTokens"}, {"options", "num_predict"},
}

func limitOf(body []byte) int {
	for _, path := range limits {
		v := protocol.Raw(body)
		for _, name := range path {
			v = v.Get(name)
		}
		if n, ok := v.Int(); ok && n > 0 {
			return int(n)
		}
	}
	return 0
}
