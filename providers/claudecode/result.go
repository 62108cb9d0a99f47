package claudecode

import (
	"cmp"
	"strings"

	"toolscope/stream"
	"toolscope/stream/json"
)

// endRequest ends a request; another may follow. The usage of the result line is the sum over all turns,
// which have already reported their own.
func (d *decoder) endRequest() {
	for _, l := range d.agents {
		l.endMessage()
	}
	d.begun = false
	denials := d.line.denials.Scan()
	for ok := denials.Array(); ok; ok = denials.Element() {
		if c := d.calls[denials.Value().Get("tool_use_id").Text()]; c != nil {
			c.Find(permissionDenied, "Claude Code had no permission to run the call")
		}
	}
	if subtype := d.line.subtype.Text(); d.line.isError.IsTrue() || strings.HasPrefix(subtype, "error") {
		d.reportFailedResult(subtype)
	}
	d.closeAgents()
	for _, l := range d.agents {
		l.reset()
	}
	if cost, ok := d.line.cost.Float(); ok {
		d.Find(sessionCost, "Claude Code reports a session cost of $%.4f so far", cost)
	}
}

// reportFailedResult reports that a request ended in an error, unless an assistant line already did.
func (d *decoder) reportFailedResult(subtype string) {
	t := cmp.Or(d.Current(), d.Last())
	if t == nil {
		t = d.Open(stream.Opening{Model: d.model})
		defer t.End()
	}
	if subtype == "success" { // which only says that the session itself ended
		subtype = ""
	}
	d.reportError(t, subtype, cmp.Or(d.line.result.Text(), joinElements(d.line.errors), "the session ended in an error"))
}

// joinElements returns the elements of a list as text.
func joinElements(list json.Value) string {
	var all []string
	each := list.Scan()
	for ok := each.Array(); ok; ok = each.Element() {
		all = append(all, string(each.Value().Append(nil)))
	}
	return strings.Join(all, "; ")
}
