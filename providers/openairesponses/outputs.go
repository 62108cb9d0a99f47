package openairesponses

import "toolscope/providers/protocol"

// readResult reads the item of a result. The result is the provider's if its call is.
func (h *history) readResult(w *wireItem) protocol.Part {
	p := protocol.Part{Kind: protocol.ResultPart, ID: w.callID.Text(), Item: w.id.Text(), Raw: w.raw}
	p.Failed = w.status.Is("failed") || w.err.IsPresent()
	switch kind := w.kind.Text(); kind {
	case "shell_call_output":
		readShell(&p, w.output)
	case "local_shell_call_output":
		if p.ID == "" {
			p.ID, p.Item = p.Item, ""
		}
		p.Text = w.output.Append(nil)
	case "tool_search_output":
		p.Text, p.RunByProvider = w.raw.Get("tools").Append(nil), !w.execution.Is("client")
	case "program_output":
		p.Text, p.RunByProvider = w.raw.Get("result").Append(nil), true
		p.Failed = p.Failed || w.status.Is("incomplete")
	case "mcp_approval_response":
		p.ID = w.raw.Get("approval_request_id").Text()
		p.Text, p.Failed = []byte(w.raw.Get("reason").Text()), string(w.raw.Get("approve")) == "false"
	default:
		if p.Text, p.Media = protocol.ResultText(w.output); w.output.Kind() == '{' {
			p.Text, p.Media = nil, 1 // a screenshot
		}
	}
	if call := h.callOf(&p, w); call != nil {
		p.ID, p.RunByProvider = call.ID, call.RunByProvider
	}
	return p
}

// callOf returns the call of a result, or nil. Some clients name the item of the call instead, and the
// provider's own tool search names nothing.
func (h *history) callOf(p *protocol.Part, w *wireItem) *protocol.Part {
	for i := len(h.calls) - 1; i >= 0; i-- {
		switch c := &h.calls[i]; {
		case p.ID != "" && (c.ID == p.ID || c.Item == p.ID),
			p.ID == "" && w.kind.Is("tool_search_output") && c.Name == "tool_search_call":
			return c
		}
	}
	return nil
}

// readShell reads the output of shell commands. The result failed if one command did.
func readShell(p *protocol.Part, output protocol.Raw) {
	if output.Kind() != '[' {
		p.Text = output.Append(nil)
		return
	}
	for v := range output.Elements() {
		p.Text = v.Get("stderr").Append(v.Get("stdout").Append(p.Text))
		outcome := v.Get("outcome")
		code, exited := outcome.Get("exit_code").Int()
		p.Failed = p.Failed || outcome.Get("type").Is("timeout") || exited && code != 0
	}
}
