package cli

import (
	"bytes"
	"context"
	"fmt"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/jq"
)

// jqPrinter writes the results of an expression, one per line: on each call's arguments, or on each line of
// print --format jsonl.
type jqPrinter struct {
	lineWriter
	app    *app
	expr   *jq.Expr
	as     *jsonPrinter // nil if the expression runs on arguments
	buffer *bytes.Buffer
}

// newJQPrinter returns the printer of --jq.
func (a *app) newJQPrinter(prices *price.Table) (printer, error) {
	expr, err := jq.Parse(a.jq)
	if err != nil {
		return nil, usageErrorf("--jq %s", err)
	}
	p := &jqPrinter{lineWriter: a.stdout.withBuffer(), app: a, expr: expr, buffer: new(bytes.Buffer)}
	if a.format == "jsonl" {
		p.as = &jsonPrinter{lineWriter{p.buffer}, prices}
	}
	return p, nil
}

// addTurn runs the expression on the calls of a turn, or on their lines.
func (p *jqPrinter) addTurn(v *providers.View, file string, t *stream.Turn) {
	if p.as != nil {
		p.as.addTurn(v, file, t)
		p.runBuffered()
		return
	}
	calls, _ := wireCalls(t)
	for _, c := range calls {
		p.runExpr(fmt.Sprintf("%s turn %d call %d", file, t.Number+1, c.Number), c.Args())
	}
}

// sentBack runs the expression on the lines of calls that were sent back.
func (p *jqPrinter) sentBack(calls []sentBackCall) {
	if p.as != nil {
		p.as.sentBack(calls)
		p.runBuffered()
	}
}

// others runs the expression on the line about other lines.
func (p *jqPrinter) others(file string, lines providers.OtherLines) {
	if p.as != nil {
		p.as.others(file, lines)
		p.runBuffered()
	}
}

// runBuffered runs the expression on the buffered lines.
func (p *jqPrinter) runBuffered() {
	for line := range bytes.Lines(p.buffer.Bytes()) {
		p.runExpr("a line", line)
	}
	p.buffer.Reset()
}

// runExpr writes the results for one text. An error of the expression is printed and sets the exit code; text
// that is not JSON is only a note.
func (p *jqPrinter) runExpr(of string, text []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), jq.Timeout)
	defer cancel()
	for value, err := range p.expr.Run(ctx, text) {
		if err == nil {
			p.writeParts(display.CompactParts(value))
			continue
		}
		p.app.printNote("--jq %s: %s: %s", p.app.jq, of, err)
		if !jq.IsNotJSON(err) {
			p.app.code = max(p.app.code, 1)
		}
	}
}
