package cli

import (
	"errors"
	"slices"

	"toolscope/stream"
	"toolscope/ui/web"
)

// writeHTML writes an HTML page of the selected turns and calls.
func (e *export) writeHTML() error {
	err := e.read(nil)
	turns, wrong := e.chosenTurns()
	if wrong != nil || len(turns) == 0 {
		return errors.Join(err, wrong)
	}
	p := web.Page{Name: e.path, Redacted: e.redact, Partial: e.turn+e.call > 0, In: e.in, Prices: e.prices}
	calls := 0
	for _, t := range turns {
		of := web.Turn{Turn: t, Calls: t.Calls}
		if e.call > 0 {
			of.Calls = slices.DeleteFunc(slices.Clone(t.Calls), func(c *stream.Call) bool { return c.Number != e.call })
		}
		calls += len(of.Calls)
		if e.call == 0 || len(of.Calls) > 0 {
			p.Turns = append(p.Turns, of)
		}
	}
	if e.call > 0 && calls == 0 {
		return usageErrorf("--call %d: no turn of %s has that many calls", e.call, e.path)
	}
	return errors.Join(err, web.Write(e.to, &p))
}
