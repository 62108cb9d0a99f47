package cli

import (
	"bufio"
	"strings"

	"toolscope/providers"
	"toolscope/providers/price"
	"toolscope/stream"
)

// printTurns prints turns as they end, until no more records come. What goes
// wrong with what is recorded is said when it does. When printing fails, failed is
// told; what still comes is for the recording alone.
func (l *live) printTurns(a *app, in *providers.Inspector, path string, to printer, failed func(error)) (err error) {
	q := queue{in: in, path: path, to: to, printed: map[*stream.Turn]bool{}}
	print := func(all bool) {
		if err == nil {
			if err = q.print(all); err != nil {
				l.unwanted.Store(true)
				failed(err)
			}
		}
	}
	told := false // that the recording has gaps
	for r := range l.shown.All {
		if trouble := l.trouble(); trouble != "" && !told {
			told = true
			a.say("toolscope: --record: the capture has gaps from here on: " + l.clean(trouble))
		}
		l.tellLimit(a)
		if i := strings.Index(r.Note, "gap: "); i >= 0 {
			a.say("toolscope: " + r.Note[i:])
		}
		if err == nil {
			in.Write(coreRecord(r))
			print(false)
		}
	}
	in.Close()
	print(true)
	if _, why := l.shown.Ended(); err == nil {
		err = why
	}
	return err
}

// trouble is why what is recorded has gaps just now, empty when it has none.
func (l *live) trouble() string {
	if l.rec == nil {
		return ""
	}
	return l.rec.State().Trouble
}

// printerOf prints in a format to standard output.
func (a *app) printerOf(format string, prices *price.Table) printer {
	out := bufio.NewWriter(a.stdout)
	if format == "jsonl" {
		return &jsonPrinter{out, prices}
	}
	return &textPrinter{lines{out}, prices}
}
