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

// jqPrinter writes what an expression makes of what would be printed, an answer a line: of each
// call's arguments, or of each line of the machine contract.
type jqPrinter struct {
	lineWriter
	app    *app
	expr   *jq.Expr
	as     *jsonPrinter // nil where the arguments are asked
	buffer *bytes.Buffer
}

// newJQPrinter prints by --jq.
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

func (p *jqPrinter) sentBack(calls []sentBackCall) {
	if p.as != nil {
		p.as.sentBack(calls)
		p.runBuffered()
	}
}

func (p *jqPrinter) others(file string, lines providers.OtherLines) {
	if p.as != nil {
		p.as.others(file, lines)
		p.runBuffered()
	}
}

// runBuffered asks the lines that were told.
func (p *jqPrinter) runBuffered() {
	for line := range bytes.Lines(p.buffer.Bytes()) {
		p.runExpr("a line", line)
	}
	p.buffer.Reset()
}

// runExpr writes the answers to one text. That it has none is a note; that the expression fails there has
// the run fail.
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
