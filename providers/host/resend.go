package host

import (
	"fmt"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
)

// CapturedRequest is a captured request, to be resent.
type CapturedRequest struct {
	Protocol *protocol.Protocol // of the request
	Path     string             // of its URL, which may name the model
	Body     []byte

	// History is the history that it carries, with anything that was added since: a turn, results.
	// From is the target of its protocol. See providers.Exchange.History.
	History []protocol.Message
	From    *protocol.Target

	model  string // the one it names, "" if not yet read
	single bool   // the body is known to be one JSON object
}

// Model returns the model that the request names.
func (c *CapturedRequest) Model() string {
	if c.model != "" {
		return c.model
	}
	return modelOf(c.Protocol, c.Path, c.Body)
}

// ResentRequest is a captured request, translated for another host.
type ResentRequest struct {
	Request    protocol.Request
	Preview    replay.Preview // of its history, with its losses
	Undeclared []string       // names of tools that can't be declared there
	Moved      int            // instructions moved from the middle of the history to its start
}

// Resend translates a captured request for a host: its instructions, its history under a policy, its
// tools, the token limit of its response. It uses model. If that is "", it uses the request's own model
// if the host has it, else the host's default. It sends nothing.
func (h *Host) Resend(c CapturedRequest, model string, policy *replay.Policy) (ResentRequest, error) {
	to := h.HistoryTarget()
	if to == nil || to.Request == nil {
		return ResentRequest{}, fmt.Errorf("%s: toolscope sends no requests to it", h.Name)
	}
	var out ResentRequest
	r := &out.Request
	if r.Model = h.ModelOf(c, model); r.Model == "" {
		return ResentRequest{}, fmt.Errorf("%s: name a model, because this provider may not have the request's %q", h.Name, c.Model())
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

// ModelOf returns the model to request from a host: model, or if that is "", the request's own if the
// host has it, else the host's default; "" if none is known.
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
		return own // a host that accepts any name, e.g. the user's own server
	}
	return h.Model
}

// splitInstructions removes the system messages from a history: those at its start, and the others if the
// target can't have them between messages.
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

// declaredIn returns the value that declares the tools of a request.
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

// limits are the fields of requests that limit the length of the response.
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
