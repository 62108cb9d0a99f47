package claudecode

import (
	"cmp"
	"strings"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// result ends what was asked; more may be asked after it. Its usage is the sum over all turns, each
// of which has told its own.
func (d *decoder) result() {
	for _, l := range d.lanes {
		l.endWhole()
	}
	d.begun = false
	denials := d.line.denials.Scan()
	for ok := denials.Array(); ok; ok = denials.Element() {
		if c := d.calls[denials.Value().Get("tool_use_id").Text()]; c != nil {
			c.Find(permissionDenied, "Claude Code had no permission to run the call")
		}
	}
	if subtype := d.line.subtype.Text(); d.line.isError.IsTrue() || strings.HasPrefix(subtype, "error") {
		d.failResult(subtype)
	}
	d.closeLanes()
	for _, l := range d.lanes {
		l.reset()
	}
	if cost, ok := d.line.cost.Float(); ok {
		d.Find(sessionCost, "the session has cost $%.4f so far, says Claude Code", cost)
	}
}

// failResult tells that what was asked ended in an error, unless an assistant line has said so.
func (d *decoder) failResult(subtype string) {
	t := cmp.Or(d.Current(), d.Last())
	if t == nil {
		t = d.Open(stream.Opening{Model: d.model})
		defer t.End()
	}
	if subtype == "success" { // which says only that the session itself came to its end
		subtype = ""
	}
	d.fail(t, subtype, cmp.Or(d.line.result.Text(), allOf(d.line.errors), "the session ended in an error"))
}

// allOf is the elements of a list, as text.
func allOf(list dialect.Raw) string {
	var all []string
	each := list.Scan()
	for ok := each.Array(); ok; ok = each.Element() {
		all = append(all, string(each.Value().Append(nil)))
	}
	return strings.Join(all, "; ")
}
