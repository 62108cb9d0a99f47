package cli

import (
	"bytes"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/ui/report"
)

// writeSSE writes the response of a turn with placeholders for its content, and reports how the findings in
// it differ.
func (e *export) writeSSE() error {
	if err := e.read(nil); err != nil {
		return err
	}
	t, err := e.suspectTurn()
	if err != nil {
		return err
	}
	x := e.in.Exchange(t.Exchange)
	if x == nil || x.Response.Size() == 0 {
		return fmt.Errorf("%s: no bytes of turn %d arrived", e.path, t.Number+1)
	}
	body := bodyOf(x, e.in.View())
	repro := body.Repro()
	as, _ := providers.FindProtocol(t.Protocol) // nil for an unknown protocol
	whole, again := findsOf(body.Bytes, as), findsOf(repro, as)
	e.compareRepro(t, whole, again)
	if bare := findsOf(repro, nil); bare.protocol != again.protocol {
		e.app.printNote("%s: the bytes alone don't show their protocol: read them with --protocol %s", e.path, again.protocol)
	}
	_, err = e.to.Write(repro)
	return err
}

// suspectTurn returns the turn that a report is about: the selected one, else the first one with a warning or
// an error, else the first.
func (e *export) suspectTurn() (*stream.Turn, error) {
	turns, err := e.chosenTurns()
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(turns, func(t *stream.Turn) bool { return worstSeverity(t) > stream.Info })
	if i < 0 {
		i = 0
	}
	if len(turns) > 1 {
		e.app.printNote("%s: exporting turn %d; --turn selects another", e.path, turns[i].Number+1)
	}
	return turns[i], nil
}

// worstSeverity returns the severity of the worst finding of a turn and its calls.
func worstSeverity(t *stream.Turn) (s stream.Severity) {
	for _, f := range t.Findings {
		s = max(s, f.Severity)
	}
	for _, c := range t.Calls {
		for _, f := range c.Findings {
			s = max(s, f.Severity)
		}
	}
	return s
}

// bodyOf returns the response of an exchange as the input of a repro.
func bodyOf(x *providers.Exchange, v *providers.View) *report.Body {
	b := &report.Body{Bytes: x.Response.Bytes(0, x.Response.Size()), Events: x.Framing == "SSE", Models: map[string]bool{}}
	for n := range x.Response.Frames() {
		_, end := x.Response.FrameSpan(int32(n))
		b.Ends = append(b.Ends, int(end))
	}
	if x.Framing == "WebSocket messages" {
		asEvents(b)
	}
	for _, t := range v.Session().Turns {
		if t.Exchange == x.Number {
			b.Models[t.Model] = price.Embedded().Lookup(t.Protocol, hostIn(x.Head.URL), t.Model).ID != ""
			for _, c := range t.Calls {
				b.Calls = append(b.Calls, argsOf(c, v))
			}
		}
	}
	return b
}

// hostIn returns the host of a URL, "" if it is not one.
func hostIn(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// asEvents turns WebSocket messages into server-sent events: in a file, messages have no boundaries.
func asEvents(b *report.Body) {
	var out []byte
	start := 0
	for i, end := range b.Ends {
		out = append(append(append(out, "data: "...), bytes.TrimSpace(b.Bytes[start:end])...), "\n\n"...)
		start, b.Ends[i] = end, len(out)
	}
	b.Bytes, b.Events = out, true
}

// argsOf returns the arguments of a call with their deltas by frame. Rewritten arguments have no deltas,
// because no frame has their bytes.
func argsOf(c *stream.Call, v *providers.View) report.Args {
	a := report.Args{Text: c.Args(), Freeform: c.Freeform() || c.Discarded}
	if c.Rewrites > 0 {
		return a
	}
	for n := range c.Deltas() {
		start, end := c.DeltaSpan(n)
		if end > start {
			a.Deltas = append(a.Deltas, report.Delta{Start: start, End: end, Frame: int(v.EventPrefix(int(c.DeltaEvent(n)), 0).Frame)})
		}
	}
	return a
}

// foundCodes are the finding codes of a response, by turn and call.
type foundCodes struct {
	codes    []string
	protocol string
}

// findsOf decodes a response from its bytes alone and returns its finding codes. d is its protocol, nil if
// unknown.
func findsOf(body []byte, d *protocol.Protocol) foundCodes {
	in := new(providers.Inspector)
	in.ForceProtocol(d)
	in.Write(stream.Record{Exchange: 1, At: stream.NoTime, Data: bytes.Clone(body), Head: &stream.Head{File: "repro"}})
	in.Write(stream.Record{Exchange: 1, At: stream.NoTime, End: true})
	in.Close()
	var f foundCodes
	for _, t := range in.Session().Turns {
		f.protocol = t.Protocol
		add := func(of string, list []stream.Finding) {
			for _, g := range list {
				f.codes = append(f.codes, fmt.Sprintf("turn %d%s %s", t.Number+1, of, g.Code))
			}
		}
		add("", t.Findings)
		for _, c := range t.Calls {
			add(fmt.Sprintf(", call %d", c.Number), c.Findings)
		}
	}
	slices.Sort(f.codes)
	return f
}

// compareRepro reports which findings the repro lacks or adds, and which findings of the capture have another
// cause than the bytes of the response.
func (e *export) compareRepro(t *stream.Turn, whole, repro foundCodes) {
	lost, more := listDifference(whole.codes, repro.codes), listDifference(repro.codes, whole.codes)
	if len(lost)+len(more) > 0 {
		e.app.printNote("%s: the repro has other findings: %s", e.path,
			joinCommas(textIf(len(lost) > 0, "it lacks "+joinCommas(lost...)), textIf(len(more) > 0, "it adds "+joinCommas(more...))))
		e.app.code = max(e.app.code, 1)
	}
	var besides []string
	note := func(all []stream.Finding) {
		for _, f := range all {
			if !slices.ContainsFunc(whole.codes, func(c string) bool { return strings.HasSuffix(c, " "+f.Code) }) && !slices.Contains(besides, f.Code) {
				besides = append(besides, f.Code)
			}
		}
	}
	note(t.Findings)
	for _, c := range t.Calls {
		note(c.Findings)
	}
	if len(besides) > 0 {
		e.app.printNote("%s: not in the response's bytes, and so not in the repro: %s", e.path, joinCommas(besides...))
	}
}

// listDifference returns all without gone, as multisets: it removes an item once for each time it occurs in
// gone.
func listDifference(all, gone []string) (left []string) {
	count := map[string]int{}
	for _, s := range gone {
		count[s]++
	}
	for _, s := range all {
		if count[s]--; count[s] < 0 {
			left = append(left, s)
		}
	}
	return left
}
