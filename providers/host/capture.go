package host

import (
	"errors"
	"net/url"
	"strings"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/stream"
)

// Capture returns the request of an exchange, to resend it. The error says what is missing.
func Capture(x *providers.Exchange) (CapturedRequest, error) {
	if x == nil || len(x.RequestBody()) == 0 {
		return CapturedRequest{}, errors.New("the request of this turn was not captured")
	}
	history, from := x.History()
	if from == nil || len(history) == 0 {
		return CapturedRequest{}, errors.New("the request contains no readable conversation")
	}
	c := CapturedRequest{Protocol: x.Protocol, Path: x.Path(), Body: x.RequestBody(), History: history, From: from}
	if c.Protocol == nil || c.Protocol.Name != from.Protocol { // the request says more than the response
		d, err := providers.FindProtocol(from.Protocol)
		if err != nil {
			return CapturedRequest{}, err
		}
		c.Protocol = d
	}
	c.model = modelOf(c.Protocol, c.Path, c.Body)
	s := protocol.Scan(c.Body)
	c.single = s.Value().Kind() == '{' && s.End() == nil
	return c, nil
}

// A Result is what a tool returned, or the error that it failed with.
type Result struct {
	Call   *stream.Call
	Text   string
	Failed bool
}

// ContinueFrom appends to the history of a captured request: the turn that answered it, as a message,
// and the results of its calls.
func (c *CapturedRequest) ContinueFrom(turn protocol.Message, results []Result) {
	c.History = append(c.History[:len(c.History):len(c.History)], turn)
	m := protocol.Message{Role: protocol.User}
	for _, r := range results {
		m.Parts = append(m.Parts, protocol.Part{
			Kind: protocol.ResultPart, ID: r.Call.ID, Name: r.Call.Name, ToolKind: r.Call.Kind, Text: []byte(r.Text), Failed: r.Failed,
		})
	}
	if len(m.Parts) > 0 {
		c.History = append(c.History, m)
	}
}

// AsItIs reports whether the captured body can be sent to a host unchanged: the host speaks its
// protocol, and the body is one request.
func (h *Host) AsItIs(c CapturedRequest) bool {
	to := h.HistoryTarget()
	return to != nil && c.Protocol != nil && to.Protocol == c.Protocol.Name && c.single
}

// Origin returns the host that a request was sent to: the one with the address, else the one that its
// protocol is named after; nil if no known host speaks it.
func Origin(c CapturedRequest, address string) *Host {
	if c.Protocol == nil {
		return nil
	}
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		for i := range All {
			h := &All[i]
			if h.isAt(u) && h.HistoryTarget().Protocol == c.Protocol.Name {
				return h
			}
		}
	}
	return For(c.Protocol.Name)
}

// isAt reports whether a URL belongs to the host's own address.
func (h *Host) isAt(u *url.URL) bool {
	before, after, region := strings.Cut(h.Address, regionMark)
	if region {
		whole := u.Scheme + "://" + u.Host
		return strings.HasPrefix(whole, before) && strings.HasSuffix(whole, after)
	}
	own, err := url.Parse(h.Address)
	if err != nil || h.Address == "" {
		return false
	}
	path := strings.TrimRight(own.Path, "/")
	return strings.EqualFold(own.Host, u.Host) && strings.HasPrefix(u.Path+"/", path+"/")
}
