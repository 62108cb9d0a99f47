package claudecode

import (
	"cmp"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// endRequest ends what was asked; more may be asked after it. Its usage is the sum over all turns, each
// of which has told its own.
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
		d.Find(sessionCost, "the session has cost $%.4f so far, says Claude Code", cost)
	}
}

// reportFailedResult tells that what was asked ended in an error, unless an assistant line has said so.
func (d *decoder) reportFailedResult(subtype string) {
	t := cmp.Or(d.Current(), d.Last())
	if t == nil {
		t = d.Open(stream.Opening{Model: d.model})
		defer t.End()
	}
	if subtype == "success" { // which says only that the session itself came to its end
		subtype = ""
	}
	d.reportError(t, subtype, cmp.Or(d.line.result.Text(), joinElements(d.line.errors), "the session ended in an error"))
}

// joinElements is the elements of a list, as text.
func joinElements(list protocol.Raw) string {
	var all []string
	each := list.Scan()
	for ok := each.Array(); ok; ok = each.Element() {
		all = append(all, string(each.Value().Append(nil)))
	}
	return strings.Join(all, "; ")
}
