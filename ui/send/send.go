// Package send is for sending requests: a captured request again or to another host, and a request that
// continues a turn with the results that the user types. It never runs a tool, and it shows every request
// before it is sent.
package send

import (
	"toolscope/providers/host"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
)

// A Destination is a host to which requests can be sent.
type Destination struct {
	Host    *host.Host
	Address string // its URL, "" if unknown
	Trouble string // why nothing can be sent to it, e.g. a missing key; "" if requests can be sent
	Warning string // a warning to show before a request is sent
}

// A Request is ready to be sent.
type Request struct {
	Host  *host.Host
	Model string
	URL   string
	Body  []byte
}

// Dependencies are what the modes need in addition to modes.Host.
type Dependencies struct {
	Send    func(Request) error // does not wait for the response; nil if nothing can be sent
	Places  []Destination       // possible destinations
	Results Results             // gets the typed results
	Outlet  modes.Exporter
	Draw    display.Drawer
}

// Results are the results of calls that the user typed.
type Results map[stream.Ref]Result

// Result is the typed result of one call.
type Result struct {
	Text   string
	Failed bool
}

// resultsOf returns the typed results of a turn's calls, and the calls that still need one.
func (r Results) resultsOf(t *stream.Turn) (all []host.Result, missing []stream.Ref) {
	if t == nil {
		return nil, nil
	}
	for _, c := range t.Calls {
		if c.RunByProvider || c.Discarded {
			continue
		}
		if given, ok := r[c.Ref()]; ok {
			all = append(all, host.Result{Call: c, Text: given.Text, Failed: given.Failed})
		} else {
			missing = append(missing, c.Ref())
		}
	}
	return all, missing
}
