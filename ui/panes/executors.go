package panes

import (
	"fmt"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// verdictRoles colour what comes of running a call too soon.
var verdictRoles = [...]screen.Role{
	stream.NotYet: screen.Muted, stream.Never: screen.Muted, stream.RunSafely: screen.Plain, stream.RunEarly: screen.Plain,
	stream.RunWrong: screen.Caution, stream.RunTwice: screen.Bad, stream.RunIncomplete: screen.Bad, stream.RunBroken: screen.Bad, stream.Refuses: screen.Muted,
}

// verdictStatus is the state whose sign a verdict has.
var verdictStatus = [...]stream.Status{
	stream.NotYet: stream.Waiting, stream.Never: stream.NoArguments, stream.RunSafely: stream.Complete, stream.RunEarly: stream.LooksDone,
	stream.RunWrong: stream.CutShort, stream.RunTwice: stream.Malformed, stream.RunIncomplete: stream.Aborted,
	stream.RunBroken: stream.Malformed, stream.Refuses: stream.NoArguments,
}

// mostExecuted is how many tokens a call may have for its executors to be shown while it grows: one
// of them looks at all.
const mostExecuted = 4000

// executorLines say when code that decides in one way or another would have run the call, and with
// what; and which programs are known to decide so.
func executorLines(v *providers.View, c *stream.Call, width int, p *screen.Pen) (lines []findingLine) {
	if c.Server || c.Attempt || c.Size() != len(c.Args()) || c.Arriving() && c.Lexer().Tokens().Len() > mostExecuted {
		return nil
	}
	add := func(r screen.Role, text display.Text) {
		lines = append(lines, findingLine{of: ours, role: r, text: text})
	}
	add(screen.Muted, display.Text{})
	add(screen.Muted, display.Lit(" WHEN CODE WOULD RUN IT, BY HOW IT DECIDES"))
	if c.Status() == stream.Unseen {
		add(screen.Muted, display.Lit(" not known: bytes of it were not seen"))
		return lines
	}
	for x := range stream.Executor(stream.NumExecutors) {
		run := c.Run(x)
		text := fmt.Sprintf(" %s %-15s  %s", p.Glyph.Status[verdictStatus[run.Verdict]], x, run.Verdict)
		if run.Event > 0 {
			if at := screen.Time(screen.Since(c.OpenedAt, v.Begin(run.Event, 0).At)); !at.Empty() {
				text += ", +" + at.String()
			}
			text += fmt.Sprintf(", %s", screen.Bytes(run.Bytes))
		}
		line := p.Clean(text)
		if run.Verdict >= stream.RunWrong && run.Event > 0 && !run.Gone {
			line = display.Join(line, display.Lit("  "), p.Name(string(c.Args()[:min(run.Bytes, screen.MostName)])))
		}
		r := verdictRoles[run.Verdict]
		if c.Stopped() {
			r = screen.Muted
		}
		if run.Verdict == stream.RunWrong && (x == stream.AnyArgs || x == stream.Repaired) {
			r = screen.Plain // so it is with every call that streams
		}
		add(r, line)
		for _, text := range RunBy(v.Session().Turn(c.Turn), c, x) {
			for _, line := range display.Wrap(p.Clean(text), max(width-6, 8)) {
				add(screen.Muted, line.Between("     ", ""))
			}
		}
	}
	return lines
}
