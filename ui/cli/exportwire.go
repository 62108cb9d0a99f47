package cli

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"toolscope/capture"
	"toolscope/providers"
	"toolscope/providers/host"
	"toolscope/providers/price"
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/present"
	"toolscope/ui/report"
)

// harArchive collects exchanges in the order of their start.
type harArchive struct {
	all []*harExchange
	of  map[int]*harExchange
}

// harExchange is an exchange that is being read. Its times are those of the request's last byte and of the response's
// first and last bytes.
type harExchange struct {
	report.Exchange
	number       int
	epoch        time.Time // wall-clock time at time 0 of the source; zero if unknown
	asked, began time.Duration
	last         time.Duration
	messages     []capture.Record
}

// writeHAR writes exchanges as an HTTP Archive.
func (e *export) writeHAR() error {
	a := harArchive{of: map[int]*harExchange{}}
	if err := e.read(a.addRecord); err != nil {
		return err
	}
	turns, err := e.chosenTurns()
	if err != nil {
		return err
	}
	var list []report.Exchange
	for _, x := range a.all {
		if e.turn == 0 || turns[0].Exchange == x.number {
			list = append(list, x.decodedExchange())
		}
	}
	_, err = e.to.Write(report.HAR(versionText(), list))
	return err
}

// addRecord adds a record to its exchange.
func (a *harArchive) addRecord(r capture.Record) {
	if len(r.Data) == 0 && r.Head == nil && r.End == "" {
		return
	}
	x := a.of[r.Exchange]
	if x == nil {
		x = &harExchange{number: r.Exchange, asked: capture.NoTime, began: capture.NoTime, last: capture.NoTime}
		a.of[r.Exchange] = x
		a.all = append(a.all, x)
	}
	if r.Head != nil {
		x.readHead(r)
	}
	switch {
	case r.Side == capture.Request:
		x.RequestBody = append(x.RequestBody, r.Data...)
		x.asked = max(x.asked, r.At)
	case len(r.Data) > 0 || r.End != "":
		x.ResponseBody = append(x.ResponseBody, r.Data...)
		if x.began == capture.NoTime {
			x.began = r.At
		}
		x.last = max(x.last, r.At)
	}
	if r.End == capture.EndCut {
		x.Why = ifElse(r.Why != "", r.Why, "the connection was cut")
	}
	if len(r.Data) > 0 {
		x.messages = append(x.messages, r)
	}
}

// readHead adds the head of a request or response to the exchange.
func (x *harExchange) readHead(r capture.Record) {
	h := r.Head
	if h.URL != "" {
		x.Method, x.URL = h.Method, h.URL
	}
	if r.Side == capture.Request {
		x.RequestHeader = h.Header
	} else if h.Status != 0 {
		x.Status, x.ResponseHeader = h.Status, h.Header
	}
	if x.Start.IsZero() && !h.Start.IsZero() {
		x.Start = h.Start
		if r.At >= 0 {
			x.epoch = h.Start.Add(-r.At)
		}
	}
}

// decodedExchange returns the exchange with decoded bodies, or with the messages of its WebSocket. It changes
// x, so it may be called only once.
func (x *harExchange) decodedExchange() report.Exchange {
	if x.Status == http.StatusSwitchingProtocols {
		x.RequestBody, x.ResponseBody = nil, nil
		for _, r := range x.messages {
			m := report.Message{Sent: r.Side == capture.Request, Data: r.Data}
			if !x.epoch.IsZero() && r.At >= 0 {
				m.At = x.epoch.Add(r.At)
			}
			x.Messages = append(x.Messages, m)
		}
		return x.Exchange
	}
	x.Sent = len(x.ResponseBody)
	x.ResponseBody, x.RequestBody = plainBody(x.ResponseHeader, x.ResponseBody), plainBody(x.RequestHeader, x.RequestBody)
	if x.asked >= 0 && x.began >= x.asked {
		x.Wait = x.began - x.asked
	}
	if x.began >= 0 && x.last >= x.began {
		x.Receive = x.last - x.began
	}
	return x.Exchange
}

// plainBody returns a decoded body, or the body itself if it can't be decoded.
func plainBody(h http.Header, coded []byte) []byte {
	if body, err := decodeBody(h, coded); err == nil {
		return body
	}
	return coded
}

// writeSSE writes a turn's response with placeholders for its content. It reports how the findings in that
// response differ from the original ones.
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
		return fmt.Errorf("%s: no bytes arrived for turn %d", e.path, t.Number+1)
	}
	body := eventBodyOf(x, e.in.View())
	repro := body.Repro()
	as := decodesAs(x, t)
	whole, again := findsOf(body.Bytes, as), findsOf(repro, as)
	e.compareRepro(t, whole, again)
	if bare := findsOf(repro, nil); bare.protocol != again.protocol && (as == nil || as.Request == nil) {
		e.app.printNote("%s: the bytes alone don't show the protocol: to read them, use --protocol %s", e.path, again.protocol)
	}
	_, err = e.to.Write(repro)
	return err
}

// suspectTurn returns the turn for a report. This is the selected turn, else the first turn with a warning or an
// error, else the first turn.
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

// worstSeverity returns the severity of the worst finding in a turn and its calls.
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

// bodyOf returns the response of an exchange, from which a repro is made.
func bodyOf(x *providers.Exchange, v *providers.View) *report.Body {
	b := &report.Body{Bytes: x.Response.Bytes(0, x.Response.Size()), Events: x.Framing == "SSE", Models: map[string]bool{}}
	for n := range x.Response.Frames() {
		_, end := x.Response.FrameSpan(int32(n))
		b.Ends = append(b.Ends, int(end))
	}
	prices, server := price.Embedded(), ""
	if u, err := url.Parse(x.Head.URL); err == nil {
		server = u.Host
	}
	for _, t := range v.Session().Turns {
		if t.Exchange == x.Number {
			b.Models[t.Model] = prices.Lookup(t.Protocol, server, t.Model).ID != ""
			for _, c := range t.Calls {
				b.Calls = append(b.Calls, argsOf(c, v))
			}
		}
	}
	return b
}

// eventBodyOf is like bodyOf, but the messages of a WebSocket become server-sent events, because messages have no
// boundaries in a file.
func eventBodyOf(x *providers.Exchange, v *providers.View) *report.Body {
	b := bodyOf(x, v)
	if x.Framing == "WebSocket messages" {
		var out []byte
		start := 0
		for i, end := range b.Ends {
			out = append(append(append(out, "data: "...), bytes.TrimSpace(b.Bytes[start:end])...), "\n\n"...)
			start, b.Ends[i] = end, len(out)
		}
		b.Bytes, b.Events = out, true
	}
	return b
}

// argsOf returns the arguments of a call, with the frames of their deltas. Rewritten arguments have no deltas,
// because no frame contains their bytes.
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

// foundCodes has the codes of the findings in a response, with their turns and calls, and the response's
// protocol.
type foundCodes struct {
	codes    []string
	protocol string
}

// findsOf decodes a response from its bytes alone and returns its finding codes. The parameter d is the
// protocol of the response, or nil if that is unknown.
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

// decodesAs returns the protocol that decodes the response of a turn, or nil if it is unknown.
func decodesAs(x *providers.Exchange, t *stream.Turn) *protocol.Protocol {
	if x.Protocol != nil && x.Protocol.Request != nil { // a session file, which has its own protocol
		return x.Protocol
	}
	as, _ := providers.FindProtocol(t.Protocol)
	return as
}

// compareRepro reports the findings that the repro lacks or adds. If there are any, it sets the exit code. It
// also reports the findings in the capture whose cause is not in the response bytes.
func (e *export) compareRepro(t *stream.Turn, whole, repro foundCodes) {
	lost, more := listDifference(whole.codes, repro.codes), listDifference(repro.codes, whole.codes)
	if len(lost)+len(more) > 0 {
		e.app.printNote("%s: the bug report's findings differ from the original's: %s", e.path,
			present.JoinWords(textIf(len(lost) > 0, "it lacks "+present.JoinWords(lost...)), textIf(len(more) > 0, "it adds "+present.JoinWords(more...))))
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
		e.app.printNote("%s: these findings are not visible in the response's bytes, so the bug report lacks them: %s", e.path, present.JoinWords(besides...))
	}
}

// listDifference returns the items of the first list without those of the second. It removes an item once for each
// occurrence in the second list.
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

// placeInFile returns the file that contains a turn, and the number of the turn in that file. If the turn is from no file,
// it returns the source, and the number of the turn in the session.
func placeInFile(v *providers.View, source string, t *stream.Turn) (file string, number int) {
	x := v.Exchange(t.Exchange)
	if x == nil || x.Head.File == "" {
		return source, int(t.Number) + 1
	}
	for _, other := range v.Session().Turns {
		if o := v.Exchange(other.Exchange); o != nil && o.Head.File == x.Head.File {
			number++
		}
		if other == t {
			break
		}
	}
	return x.Head.File, number
}

// screenForms returns the forms in which the screen can copy or save the selected turn or call. The content of the
// panes is not one of these forms.
func screenForms(source string, prices *price.Table) []modes.ExportForm {
	return []modes.ExportForm{
		{Key: "c", What: display.Lit("request as curl"), File: "request.sh", Make: curlOf},
		{Key: "b", What: display.Lit("bug report with content"), File: "report.md", Make: func(v *providers.View, r stream.Ref) ([]byte, error) {
			t, c := v.Find(r)
			if t == nil {
				return nil, errNoTurn
			}
			report := caseOf(v, prices, source, t, c)
			report.File, report.Number = placeInFile(v, source, t)
			return report.Markdown(), nil
		}},
		{Key: "k", What: display.Lit("JSON line"), File: "calls.jsonl", Make: func(v *providers.View, r stream.Ref) ([]byte, error) {
			t, c := v.Find(r)
			if t == nil {
				return nil, errNoTurn
			}
			var b bytes.Buffer
			p := &jsonPrinter{lineWriter: lineWriter{to: &b}, prices: prices}
			if c != nil {
				p.writeCall(v, source, t, c)
			} else {
				p.addTurn(v, source, t)
			}
			return bytes.TrimRight(b.Bytes(), "\n"), nil
		}},
		{Key: "n", What: display.Lit("anonymised bug report"), File: "repro.sse", Make: reproOf},
	}
}

// reproOf returns a turn's response with placeholders for its content, as export --as sse writes it. It
// returns an error if the findings in that response differ from the original ones.
func reproOf(v *providers.View, r stream.Ref) ([]byte, error) {
	t, _ := v.Find(r)
	switch {
	case t == nil:
		return nil, errNoTurn
	case v.Past():
		return nil, errors.New("only a complete response can be anonymised: press G first")
	}
	x := v.Exchange(t.Exchange)
	for _, of := range v.Session().Turns {
		if of.Exchange == t.Exchange && of.Retention != stream.InMemory {
			return nil, errors.New("the response's bytes were dropped")
		}
	}
	if x == nil || x.Response.Size() == 0 {
		return nil, errors.New("no bytes of the response arrived")
	}
	body := eventBodyOf(x, v)
	repro := body.Repro()
	as := decodesAs(x, t)
	whole, again := findsOf(body.Bytes, as), findsOf(repro, as)
	if !slices.Equal(whole.codes, again.codes) {
		return nil, errors.New("the anonymised response has different findings from the original: 'export --as sse' lists the differences")
	}
	return repro, nil
}

var errNoTurn = errors.New("nothing is selected")

// curlOf returns a turn's request as a curl command.
func curlOf(v *providers.View, r stream.Ref) ([]byte, error) {
	t, _ := v.Find(r)
	if t == nil {
		return nil, errNoTurn
	}
	x := v.Exchange(t.Exchange)
	if x == nil || x.Head.URL == "" {
		return nil, errors.New("the request was not captured")
	}
	ask := report.CapturedRequest{Method: x.Head.Method, URL: x.Head.URL, Header: x.RequestHeader, Body: x.RequestBody(), Keys: map[string]string{}}
	if c, err := host.Capture(x); err == nil {
		if h := host.Origin(c, x.Head.URL); h != nil {
			for _, k := range h.Keys {
				if ask.Keys[k.Header] == "" {
					ask.Keys[k.Header] = k.Variable
				}
			}
		}
	}
	return bytes.TrimRight(ask.Curl(), "\n"), nil
}
