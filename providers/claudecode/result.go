package claudecode

import (
	"strings"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// result ends what was asked; more may be asked after it. Its usage is the sum
// over all turns, each of which has told its own.
func (d *decoder) result(w *line) error {
	for _, l := range d.lanes {
		if err := l.endWhole(); err != nil {
			return err
		}
	}
	d.begun = false
	d.denials(w.denials)
	subtype := w.subtype.Text()
	if string(w.isError) == "true" || strings.HasPrefix(subtype, "error") {
		d.failResult(subtype, w)
	}
	for _, l := range d.lanes {
		if l.isOpen() {
			l.decoder.Close()
		}
		l.reset()
	}
	if cost, ok := w.cost.Float(); ok {
		d.emit(dialect.Diagnose(d.turns-1, stream.NoSlot, sessionCost,
			"the session has cost $%.4f so far, says Claude Code", cost))
	}
	return nil
}

// denials notes which calls were not allowed to run.
func (d *decoder) denials(list dialect.Raw) {
	each := list.Scan()
	for ok := each.Array(); ok; ok = each.Element() {
		if k := d.calls[each.Value().Get("tool_use_id").Text()]; k != nil {
			k.diagnose(d.emit, permissionDenied, "Claude Code had no permission to run the call")
		}
	}
}

// failResult reports that what was asked ended in an error, unless an assistant
// line has said so.
func (d *decoder) failResult(subtype string, w *line) {
	message := w.result.Text()
	if message == "" {
		var all []string
		each := w.errors.Scan()
		for ok := each.Array(); ok; ok = each.Element() {
			all = append(all, string(each.Value().Append(nil)))
		}
		message = strings.Join(all, "; ")
	}
	if message == "" {
		message = "the session ended in an error"
	}
	turn := d.Turn()
	if turn == stream.NoTurn {
		turn = d.turns - 1
	}
	if d.turns == 0 {
		turn, d.turns = 0, 1
		d.emit(stream.Event{Kind: stream.TurnOpen, Turn: turn, More: &stream.Detail{Model: d.model}})
		defer d.emit(stream.Event{Kind: stream.TurnClose, Turn: turn})
	}
	if subtype == "success" { // which says only that the session itself came to its end
		subtype = ""
	}
	d.fail(turn, subtype, message)
}
