// Package send is the modes from which something is sent: a captured request, again or to another
// host, and one that goes on from a turn, with the results its calls gave as the user types them.
// Nothing is ever run here, and nothing is sent without being shown first.
package send

import (
	"toolscope/providers/host"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
)

// A Destination is a host that requests can be sent to.
type Destination struct {
	Host    *host.Host
	Address string // its URL, "" where that is not known
	Trouble string // why nothing can be sent there, such as a key that is missing; "" when it can
	Warning string // what is to be said before it is
}

// A Request is one that is ready to be sent.
type Request struct {
	Host  *host.Host
	Model string
	URL   string
	Body  []byte
}

// Dependencies are what these modes need besides their host.
type Dependencies struct {
	Send    func(Request) error // does not wait for the answer; nil where nothing can be sent
	Places  []Destination       // where to
	Results Results             // what is typed is put here
	Outlet  modes.Exporter
	Draw    display.Drawer
}

// Results are what calls gave back, as the user says.
type Results map[stream.Ref]Result

// Result is what one call gave back.
type Result struct {
	Text   string
	Failed bool
}

// resultsOf are the results that the calls of a turn have, and the calls that wait for one.
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
