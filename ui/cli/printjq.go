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

// askedPrinter writes what an expression makes of what would be printed, an answer a line: of each
// call's arguments, or of each line of the machine contract.
type askedPrinter struct {
	lines
	app  *app
	expr *jq.Expr
	as   *jsonPrinter // nil where the arguments are asked
	told *bytes.Buffer
}

// askedPrinter prints by --jq.
func (a *app) askedPrinter(prices *price.Table) (printer, error) {
	expr, err := jq.Parse(a.jq)
	if err != nil {
		return nil, usagef("--jq %s", err)
	}
	p := &askedPrinter{lines: a.stdout.buffered(), app: a, expr: expr, told: new(bytes.Buffer)}
	if a.format == "jsonl" {
		p.as = &jsonPrinter{lines{p.told}, prices}
	}
	return p, nil
}

func (p *askedPrinter) turn(v *providers.View, file string, t *stream.Turn) {
	if p.as != nil {
		p.as.turn(v, file, t)
		p.askLines()
		return
	}
	calls, _ := wireCalls(t)
	for _, c := range calls {
		p.ask(fmt.Sprintf("%s turn %d call %d", file, t.Number+1, c.Number), c.Args())
	}
}

func (p *askedPrinter) sentBack(calls []returned) {
	if p.as != nil {
		p.as.sentBack(calls)
		p.askLines()
	}
}

func (p *askedPrinter) others(file string, lines providers.OtherLines) {
	if p.as != nil {
		p.as.others(file, lines)
		p.askLines()
	}
}

// askLines asks the lines that were told.
func (p *askedPrinter) askLines() {
	for line := range bytes.Lines(p.told.Bytes()) {
		p.ask("a line", line)
	}
	p.told.Reset()
}

// ask writes the answers to one text. That it has none is a note; that the expression fails there has
// the run fail.
func (p *askedPrinter) ask(of string, text []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), jq.Timeout)
	defer cancel()
	for value, err := range p.expr.Run(ctx, text) {
		if err == nil {
			p.parts(display.CompactParts(value))
			continue
		}
		p.app.notef("--jq %s: %s: %s", p.app.jq, of, err)
		if !jq.IsNotJSON(err) {
			p.app.code = max(p.app.code, 1)
		}
	}
}
