package providers

import (
	"bytes"
	"slices"
	"time"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// This file handles requests without their complete history: the provider keeps the earlier part, or
// earlier messages of a WebSocket contained it.

// historyLink is a request's reference to its earlier history.
type historyLink struct {
	keptByProvider   bool   // the provider keeps earlier history
	thread           bool   // it keeps all of it: the request has only new messages
	previousResponse string // id of the response that it continues, "" if none
	conversation     string // id of its conversation, "" if none
}

// readHistoryLink reads a request's reference to its earlier history. Requests of OpenAI's Responses
// continue a response or a conversation, those of Gemini's Interactions an interaction. Other requests of
// Gemini may begin with cached content.
func readHistoryLink(request []byte) (on historyLink) {
	s := protocol.Scan(request)
	for ok := s.Object(); ok; ok = s.Member() {
		switch string(s.Key()) {
		case "response": // some clients put the request into it
			if s.Kind() == '{' {
				on = readHistoryLink(s.Value())
			}
		case "previous_response_id", "previous_interaction_id", "previousInteractionId":
			if v := s.Value(); v.HasText() {
				on.keptByProvider, on.thread, on.previousResponse = true, true, v.Text()
			}
		case "conversation":
			if v := s.Value(); v.IsPresent() {
				on.keptByProvider, on.thread, on.conversation = true, true, v.Text()+v.Get("id").Text()
			}
		case "cachedContent", "cached_content":
			on.keptByProvider = on.keptByProvider || s.Value().IsPresent()
		}
	}
	return on
}

// observeMessage observes a message that arrived at that time, if the exchange is a WebSocket.
func (h *history) observeMessage(at time.Duration) {
	if h.x.decoder == nil || !isWebSocket(h.x.Head) {
		return
	}
	answered := h.x.at
	h.x.at = at
	h.observeRequest()
	h.x.at = answered
}

// observeMessages observes the messages that the client of a WebSocket has sent since the last call. Each is a
// request. They wait while the protocol is unknown.
func (h *history) observeMessages() {
	to := h.x.historyTarget()
	if to == nil {
		return
	}
	from := h.heard
	var values stream.Values
	values.Write(h.x.Request.Bytes(from, h.x.Request.Size()), func(f stream.Frame) {
		h.heard = from + f.End
		if f.Kind != stream.FrameData {
			return
		}
		message := bytes.Clone(f.Data) // parts and schemas keep what they were read from
		on := readHistoryLink(message)
		h.on = on
		h.x.check.addTools(message, on)
		if h.x.in.alone {
			return
		}
		messages, _ := to.Decode(message)
		if len(messages) > 0 || on.thread {
			h.x.position = h.observeMessagesOf(messages, to, on).Position
		}
	})
}

// addTools adds the tools of a message to those of earlier messages, which the provider may keep.
func (c *schemaCheck) addTools(message []byte, on historyLink) {
	if c.x.Protocol.Tools == nil {
		return
	}
	was, more := c.knownTools()
	list := c.x.Protocol.Tools(message)
	if on.thread && !c.hasResponse(on.previousResponse) {
		inherited, others := c.x.in.toolsAfter(on)
		was, more = joinTools(was, inherited), more || others
	}
	c.set = c.x.in.toolSet(joinTools(was, list), more)
}

// hasResponse reports whether this exchange has a response with that id.
func (c *schemaCheck) hasResponse(id string) bool {
	return id != "" && slices.ContainsFunc(c.x.turns, func(n int32) bool {
		t := c.x.in.Session().Turn(n)
		return t != nil && t.ID == id
	})
}

// toolsAfter returns the tools of the request that another continues, and whether there may be others: the
// request may be dropped, or older than the source.
func (in *Inspector) toolsAfter(on historyLink) (tools []protocol.Tool, more bool) {
	f := in.entryAfter(on.previousResponse)
	if f == nil {
		return nil, true
	}
	x := in.Exchange(f.exchange)
	if x == nil || x.check.set == nil {
		return nil, true
	}
	return x.check.set.Tools()
}

// knownTools returns the known tools, and whether there may be others.
func (c *schemaCheck) knownTools() (tools []protocol.Tool, more bool) {
	if c.set == nil {
		return nil, false
	}
	return c.set.Tools()
}

// joinTools returns the earlier tools and the new ones. A new tool replaces an earlier one with its name.
func joinTools(was, news []protocol.Tool) []protocol.Tool {
	if len(was) == 0 {
		return news
	}
	all := slices.Clone(was)
	at := map[[2]string]int{}
	for i := range all {
		at[[2]string{all[i].Namespace, all[i].Name}] = i
	}
	for _, t := range news {
		if i, old := at[[2]string{t.Namespace, t.Name}]; old {
			all[i] = t
		} else {
			all = append(all, t)
		}
	}
	return all
}
