package host

import (
	"errors"
	"net/url"
	"strings"

	"toolscope/providers"
	"toolscope/providers/dialect"
	"toolscope/stream"
)

// Capture is the request of an exchange, to be sent again. The error says what is missing.
func Capture(x *providers.Exchange) (Captured, error) {
	if x == nil || len(x.RequestBody()) == 0 {
		return Captured{}, errors.New("what this turn was asked was not captured")
	}
	history, from := x.History()
	if from == nil || len(history) == 0 {
		return Captured{}, errors.New("the request holds no conversation that can be read")
	}
	c := Captured{Dialect: x.Dialect, Path: x.Path(), Body: x.RequestBody(), History: history, From: from}
	if c.Dialect == nil || c.Dialect.Name != from.Dialect { // the request tells more than the answer does
		d, err := providers.Find(from.Dialect)
		if err != nil {
			return Captured{}, err
		}
		c.Dialect = d
	}
	c.model = modelOf(c.Dialect, c.Path, c.Body)
	s := dialect.Scan(c.Body)
	c.single = s.Value().Kind() == '{' && s.End() == nil
	return c, nil
}

// A Result is what a tool gave back, or why it failed.
type Result struct {
	Call   *stream.Call
	Text   string
	Failed bool
}

// Answer goes on from a captured request: with the turn that answered it, as a message of the
// history, and the results of its calls.
func (c *Captured) Answer(turn dialect.Message, results []Result) {
	c.History = append(c.History[:len(c.History):len(c.History)], turn)
	m := dialect.Message{Role: dialect.User}
	for _, r := range results {
		m.Parts = append(m.Parts, dialect.Part{
			Kind: dialect.ResultPart, ID: r.Call.ID, Name: r.Call.Name, Tool: r.Call.Kind, Text: []byte(r.Text), Failed: r.Failed,
		})
	}
	if len(m.Parts) > 0 {
		c.History = append(c.History, m)
	}
}

// AsItIs reports whether a host may be sent the captured body as it is: it speaks its protocol, and
// the body is one request.
func (h *Host) AsItIs(c Captured) bool {
	to := h.To()
	return to != nil && c.Dialect != nil && to.Dialect == c.Dialect.Name && c.single
}

// Origin is the host that a request was sent to: the one with the address, or else the one its
// dialect is named after; nil if nobody known speaks that.
func Origin(c Captured, address string) *Host {
	if c.Dialect == nil {
		return nil
	}
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		for i := range All {
			h := &All[i]
			if h.isAt(u) && h.To().Dialect == c.Dialect.Name {
				return h
			}
		}
	}
	return For(c.Dialect.Name)
}

// isAt reports whether a URL is of the host's own address.
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
