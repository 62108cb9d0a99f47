package cli

import (
	"bytes"
	"errors"
	"slices"

	"toolscope/providers"
	"toolscope/providers/host"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/report"
)

// screenForms are the forms in which the screen can copy or save the selected turn or call, besides the
// content of the panes.
func screenForms(source string, prices *price.Table) []modes.ExportForm {
	return []modes.ExportForm{
		{Key: "c", What: display.Lit("request as curl, keys $ENV"), File: "request.sh", Make: curlOf},
		{Key: "b", What: display.Lit("bug report with its contents, Markdown"), File: "report.md", Make: func(v *providers.View, r stream.Ref) ([]byte, error) {
			t, c := v.Find(r)
			if t == nil {
				return nil, errNoTurn
			}
			return caseOf(v, source, t, c).Markdown(), nil
		}},
		{Key: "k", What: display.Lit("its lines of print --format jsonl"), File: "calls.jsonl", Make: func(v *providers.View, r stream.Ref) ([]byte, error) {
			t, c := v.Find(r)
			if t == nil {
				return nil, errNoTurn
			}
			var b bytes.Buffer
			p := &jsonPrinter{lineWriter: lineWriter{&b}, prices: prices}
			if c != nil {
				p.writeCall(v, source, t, c)
			} else {
				p.addTurn(v, source, t)
			}
			return bytes.TrimRight(b.Bytes(), "\n"), nil
		}},
		{Key: "n", What: display.Lit("repro, a bug report without contents: the response, anonymised"), File: "repro.sse", Make: reproOf},
	}
}

// reproOf returns the response of a turn with placeholders for its content, as export --as sse writes it. It
// is an error if the findings in it differ.
func reproOf(v *providers.View, r stream.Ref) ([]byte, error) {
	t, _ := v.Find(r)
	switch {
	case t == nil:
		return nil, errNoTurn
	case v.Past():
		return nil, errors.New("only the complete response can be anonymised: press G first")
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
	body := bodyOf(x, v)
	repro := body.Repro()
	as, _ := providers.FindProtocol(t.Protocol)
	whole, again := findsOf(body.Bytes, as), findsOf(repro, as)
	if !slices.Equal(whole.codes, again.codes) {
		return nil, errors.New("the anonymised response has other findings: export --as sse lists them")
	}
	return repro, nil
}

var errNoTurn = errors.New("nothing is selected")

// curlOf returns the request of a turn as a command.
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
