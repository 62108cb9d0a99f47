package cli

import (
	"bytes"
	"errors"

	"toolscope/providers"
	"toolscope/providers/host"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/report"
)

// takings are what the screen can take the chosen turn or call as, besides what the panes show of it.
func takings(source string, prices *price.Table) []modes.Form {
	return []modes.Form{
		{Key: "c", What: display.Lit("request as curl, keys $ENV"), File: "request.sh", Make: curlOf},
		{Key: "b", What: display.Lit("bug report with its contents, Markdown"), File: "report.md", Make: func(v *providers.View, r stream.Ref) ([]byte, error) {
			t, c := v.Find(r)
			if t == nil {
				return nil, errNoTurn
			}
			return caseOf(v, source, t, c).Markdown(), nil
		}},
		{Key: "k", What: display.Lit("as print --format jsonl has it"), File: "calls.jsonl", Make: func(v *providers.View, r stream.Ref) ([]byte, error) {
			t, c := v.Find(r)
			if t == nil {
				return nil, errNoTurn
			}
			var b bytes.Buffer
			p := &jsonPrinter{lines: lines{&b}, prices: prices}
			if x := v.Exchange(t.Exchange); c != nil {
				p.call(source, x, t, c)
			} else {
				p.turn(source, x, t)
			}
			return bytes.TrimRight(b.Bytes(), "\n"), nil
		}},
	}
}

var errNoTurn = errors.New("nothing is chosen")

// curlOf is the request of a turn as a command.
func curlOf(v *providers.View, r stream.Ref) ([]byte, error) {
	t, _ := v.Find(r)
	if t == nil {
		return nil, errNoTurn
	}
	x := v.Exchange(t.Exchange)
	if x == nil || x.Head.URL == "" {
		return nil, errors.New("the request was not captured")
	}
	ask := report.Ask{Method: x.Head.Method, URL: x.Head.URL, Header: x.AskHeader, Body: x.RequestBody(), Keys: map[string]string{}}
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
