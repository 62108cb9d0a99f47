package cli

import (
	"errors"
	"fmt"
	"slices"

	"toolscope/providers"
	"toolscope/providers/executed"
	"toolscope/providers/mcp"
	"toolscope/stream"
)

// jsonl writes what print --format jsonl does, of what is chosen.
func (e *export) jsonl() error {
	to := &onlyPrinter{jsonPrinter: &jsonPrinter{lines{e.to}.buffered(), e.prices}, of: e}
	err := errors.Join(e.app.printSource(e.src, e.path, e.in, to), to.flush())
	if err == nil && to.printed == 0 && e.turn+e.call > 0 {
		return usagef("%s has no such turn or call: %s", e.path, list(when(e.turn > 0, fmt.Sprint("--turn ", e.turn)), when(e.call > 0, fmt.Sprint("--call ", e.call))))
	}
	return err
}

// An onlyPrinter prints of a source what is chosen of it.
type onlyPrinter struct {
	*jsonPrinter
	of      *export
	printed int // turns and calls
}

func (p *onlyPrinter) wants(turn int32) bool { return p.of.turn == 0 || p.of.turn == int(turn)+1 }

func (p *onlyPrinter) turn(v *providers.View, file string, t *stream.Turn) {
	switch {
	case !p.wants(t.Number):
	case p.of.call == 0:
		p.printed++
		p.jsonPrinter.turn(v, file, t)
	case p.of.call <= len(t.Calls):
		p.printed++
		p.call(v, file, t, t.Calls[p.of.call-1])
	}
}

func (p *onlyPrinter) sentBack(calls []returned) {
	p.jsonPrinter.sentBack(slices.DeleteFunc(calls, func(r returned) bool {
		return !p.chosen(r.of)
	}))
}

// What was asked of servers is of no turn, where it is not known of which.
func (p *onlyPrinter) executed(file string, r *mcp.Request, a *executed.ToolRequest) {
	if p.of.turn == 0 || a != nil && a.Call != nil && p.chosen(a.Call.Ref) {
		p.jsonPrinter.executed(file, r, a)
	}
}

func (p *onlyPrinter) notRun(file string, n *executed.CallWithoutRun) {
	if p.chosen(n.Ref) {
		p.jsonPrinter.notRun(file, n)
	}
}

func (p *onlyPrinter) chosen(of stream.Ref) bool {
	return p.wants(of.Turn) && (p.of.call == 0 || p.of.call == int(of.Call))
}

func (p *onlyPrinter) server(file string, s *mcp.Server) {
	if p.of.turn == 0 {
		p.jsonPrinter.server(file, s)
	}
}
