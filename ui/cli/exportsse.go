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

// writeSSE writes the response of a turn with stand-ins in place of all that it says, and tells where
// what is found in that is not what was found.
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
		return fmt.Errorf("%s: no bytes came of turn %d", e.path, t.Number+1)
	}
	body := bodyOf(x, e.in.View())
	repro := body.Repro()
	as, _ := providers.FindProtocol(t.Protocol) // nil where none reads it
	whole, again := findsOf(body.Bytes, as), findsOf(repro, as)
	e.compareRepro(t, whole, again)
	if bare := findsOf(repro, nil); bare.protocol != again.protocol {
		e.app.printNote("%s: the bytes alone do not tell what they are: --dialect %s reads them", e.path, again.protocol)
	}
	_, err = e.to.Write(repro)
	return err
}

// suspectTurn is the turn that a repro is of: the one that is named, or the first with a finding that is
// no mere deviation.
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
		e.app.printNote("%s: of turn %d; --turn names another", e.path, turns[i].Number+1)
	}
	return turns[i], nil
}

// worstSeverity is the severity of the worst finding of a turn.
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

// bodyOf is the response of an exchange, as what a repro is made of.
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

func hostIn(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// asEvents makes server-sent events of messages: they have frames of their own in a file.
func asEvents(b *report.Body) {
	var out []byte
	start := 0
	for i, end := range b.Ends {
		out = append(append(append(out, "data: "...), bytes.TrimSpace(b.Bytes[start:end])...), "\n\n"...)
		start, b.Ends[i] = end, len(out)
	}
	b.Bytes, b.Events = out, true
}

// argsOf are the arguments of a call, by the frames that brought them. Of those that were rewritten
// no frame brought a part that stands there.
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

// foundCodes are what is found in the bytes of a response, by turn and call.
type foundCodes struct {
	codes    []string
	protocol string
}

// findsOf reads a response once more, with nothing known but its bytes, and as dialect d if it is not
// nil.
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

// compareRepro says what is found in the repro and was not, or the other way round, and what was found in
// the capture that the bytes of the response alone do not show.
func (e *export) compareRepro(t *stream.Turn, whole, repro foundCodes) {
	lost, more := listDifference(whole.codes, repro.codes), listDifference(repro.codes, whole.codes)
	if len(lost)+len(more) > 0 {
		e.app.printNote("%s: the repro is not malformed in the same way: %s", e.path,
			joinCommas(textIf(len(lost) > 0, "not found any more is "+joinCommas(lost...)), textIf(len(more) > 0, "found is also "+joinCommas(more...))))
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
		e.app.printNote("%s: not in the bytes of the response, and so not in the repro: %s", e.path, joinCommas(besides...))
	}
}

// listDifference is a list without what is in another, each as often as it is there.
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
