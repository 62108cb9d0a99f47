package ui

import (
	"fmt"

	"toolscope/stream"
	"toolscope/ui/display"
)

// verdictRoles colour what comes of running a call too soon.
var verdictRoles = [...]role{
	stream.NotYet: muted, stream.Never: muted, stream.RunSafely: plain, stream.RunEarly: plain,
	stream.RunWrong: caution, stream.RunTwice: bad, stream.RunIncomplete: bad, stream.RunBroken: bad, stream.Refuses: muted,
}

// verdictStatus is the state whose sign a verdict has.
var verdictStatus = [...]stream.Status{
	stream.NotYet: stream.Waiting, stream.Never: stream.NoArguments, stream.RunSafely: stream.Complete, stream.RunEarly: stream.LooksDone,
	stream.RunWrong: stream.CutShort, stream.RunTwice: stream.Malformed, stream.RunIncomplete: stream.Aborted,
	stream.RunBroken: stream.Malformed, stream.Refuses: stream.NoArguments,
}

// mostExecuted is how many tokens a call may have for its executors to be shown
// while it grows: one of them looks at all.
const mostExecuted = 4000

// executorLines say when code that decides in one way or another would have run
// the call, and with what.
func executorLines(tl *stream.Timeline, c *stream.Call, p *pen) (lines []findingLine) {
	if c.Server || c.Attempt || c.Arriving() && len(c.Lexer().Tokens()) > mostExecuted {
		return nil
	}
	add := func(r role, text display.Text) { lines = append(lines, findingLine{of: ours, role: r, text: text}) }
	add(muted, display.Text{})
	add(muted, display.Lit(" WHEN CODE WOULD RUN IT, BY HOW IT DECIDES"))
	if c.Status() == stream.Unseen {
		add(muted, display.Lit(" not known: bytes of it were not seen"))
		return lines
	}
	for x := range stream.Executor(stream.NumExecutors) {
		run := c.Run(x)
		text := fmt.Sprintf(" %s %-15s  %s", p.glyph.status[verdictStatus[run.Verdict]], x, run.Verdict)
		if run.Event > 0 {
			if at := timeText(since(c.OpenedAt, tl.Event(run.Event).At)); !at.Empty() {
				text += ", +" + at.String()
			}
			text += fmt.Sprintf(", %s", bytesText(run.Bytes))
		}
		line := p.draw.Clean(text)
		if run.Verdict >= stream.RunWrong && run.Event > 0 && !run.Gone {
			line = display.Join(line, display.Lit("  "), p.clean(string(c.Args()[:min(run.Bytes, mostName)])))
		}
		r := verdictRoles[run.Verdict]
		if c.Stopped() {
			r = muted
		}
		if run.Verdict == stream.RunWrong && (x == stream.AnyArgs || x == stream.Repaired) {
			r = plain // so it is with every call that streams
		}
		add(r, line)
	}
	return lines
}
