package cli

import (
	"fmt"
	"time"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/report"
)

// writeMarkdown writes a bug report about a turn or a call.
func (e *export) writeMarkdown() error {
	if err := e.read(nil); err != nil {
		return err
	}
	t, c, err := e.turnAndCall()
	if err != nil {
		return err
	}
	r := caseOf(e.in.View(), sourceTitle([]string{e.path}), t, c)
	_, err = e.to.Write(r.Markdown())
	return err
}

// caseOf returns the content of a bug report about a turn, or about one of its calls.
func caseOf(v *providers.View, file string, t *stream.Turn, c *stream.Call) *report.Subject {
	x := v.Exchange(t.Exchange)
	r := &report.Subject{Version: versionText(), File: file, Turn: t, Call: c}
	r.Facts = [][2]string{
		{"protocol", t.Protocol}, {"model", t.Model}, {"phase", t.Phase().String()}, {"finish", t.Finish},
		{"ended by", t.EndedBy.String()}, {"error", t.Failure}, {"usage", t.Usage.String()},
	}
	if x != nil && x.Head.Status != 0 {
		r.Facts = append(r.Facts, [2]string{"HTTP status", fmt.Sprint(x.Head.Status)})
	}
	r.Frame = func(event int) []byte {
		f := v.Event(event)
		if f.Turn == stream.NoTurn || x == nil || f.Frame < 0 || int(f.Frame) >= x.Response.Frames() {
			return nil
		}
		return x.Response.Bytes(x.Response.FrameSpan(f.Frame))
	}
	return r
}

// writeSVG draws the timeline of a turn or a call.
func (e *export) writeSVG() error {
	if err := e.read(nil); err != nil {
		return err
	}
	t, c, err := e.turnAndCall()
	if err != nil {
		return err
	}
	r := report.Subject{File: sourceTitle([]string{e.path}), Turn: t, Call: c}
	_, err = e.to.Write(r.SVG(func(event int) time.Duration {
		f, kept := e.in.Timeline.Event(event)
		if !kept {
			return stream.NoTime
		}
		return f.At
	}))
	return err
}

// turnAndCall returns the turn to export, and the call if one is selected. Without a selected turn it is the
// first one that has the call, or the first one with findings.
func (e *export) turnAndCall() (*stream.Turn, *stream.Call, error) {
	if e.call == 0 {
		t, err := e.suspectTurn()
		return t, nil, err
	}
	turns, err := e.chosenTurns()
	if err != nil {
		return nil, nil, err
	}
	for _, t := range turns {
		if len(t.Calls) >= e.call {
			return t, t.Calls[e.call-1], nil
		}
	}
	return nil, nil, usageErrorf("--call %d: no selected turn of %s has that many calls", e.call, e.path)
}
