package cli

import (
	"errors"
	"fmt"
	"slices"

	"toolscope/providers"
	"toolscope/providers/mcp"
	"toolscope/providers/toolrun"
	"toolscope/stream"
)

// writeJSONL writes the lines of print --format jsonl for the selected turns and calls.
func (e *export) writeJSONL() error {
	to := &onlyPrinter{jsonPrinter: &jsonPrinter{lineWriter{e.to}.withBuffer(), e.prices}, of: e}
	err := errors.Join(e.app.printSource(e.src, e.path, e.in, to), to.flush())
	if err == nil && to.printed == 0 && e.turn+e.call > 0 {
		return usageErrorf("%s has no such turn or call: %s", e.path, joinCommas(textIf(e.turn > 0, fmt.Sprint("--turn ", e.turn)), textIf(e.call > 0, fmt.Sprint("--call ", e.call))))
	}
	return err
}

// onlyPrinter prints only the selected turns and calls.
type onlyPrinter struct {
	*jsonPrinter
	of      *export
	printed int // number of printed turns and calls
}

// wantsTurn reports whether a turn is selected; it counts from 0.
func (p *onlyPrinter) wantsTurn(turn int32) bool { return p.of.turn == 0 || p.of.turn == int(turn)+1 }

// addTurn prints a turn, or its selected call.
func (p *onlyPrinter) addTurn(v *providers.View, file string, t *stream.Turn) {
	switch {
	case !p.wantsTurn(t.Number):
	case p.of.call == 0:
		p.printed++
		p.jsonPrinter.addTurn(v, file, t)
	case p.of.call <= len(t.Calls):
		p.printed++
		p.writeCall(v, file, t, t.Calls[p.of.call-1])
	}
}

// sentBack prints the selected calls that were sent back.
func (p *onlyPrinter) sentBack(calls []sentBackCall) {
	p.jsonPrinter.sentBack(slices.DeleteFunc(calls, func(r sentBackCall) bool {
		return !p.wantsCall(r.of)
	}))
}

// addRequest prints a request to a server. A request without a known call belongs to no turn.
func (p *onlyPrinter) addRequest(file string, r *mcp.Request, a *toolrun.ToolRequest) {
	if p.of.turn == 0 || a != nil && a.Call != nil && p.wantsCall(a.Call.Ref) {
		p.jsonPrinter.addRequest(file, r, a)
	}
}

// notRun prints a call without a tool run.
func (p *onlyPrinter) notRun(file string, n *toolrun.CallWithoutRun) {
	if p.wantsCall(n.Ref) {
		p.jsonPrinter.notRun(file, n)
	}
}

// wantsCall reports whether a call is selected.
func (p *onlyPrinter) wantsCall(of stream.Ref) bool {
	return p.wantsTurn(of.Turn) && (p.of.call == 0 || p.of.call == int(of.Call))
}

// addServer prints a server, unless a turn is selected.
func (p *onlyPrinter) addServer(file string, s *mcp.Server) {
	if p.of.turn == 0 {
		p.jsonPrinter.addServer(file, s)
	}
}
