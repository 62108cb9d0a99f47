package panes

import (
	"cmp"
	"fmt"
	"slices"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// wrongRunWords describes a wrong tool run, by finding code.
var wrongRunWords = map[string]string{"EXEC_CUT": "run with a part", "EXEC_ALTERED": "run with other arguments", "EXEC_TWICE": "run twice"}

// wrongResultWords describes a result that differs from what the tool returned, by finding code.
var wrongResultWords = map[string]string{"RESULT_CUT": "result cut", "RESULT_HALF": "half returned", "RESULT_ALTERED": "result altered"}

// AboutCall returns facts that few calls have: an unusual kind, the party that ran it, how it was sent
// back, its result, its parent.
func AboutCall(c *stream.Call) (facts []string) {
	if c.Kind != "" && c.Kind != "function" {
		facts = append(facts, c.Kind)
	}
	if c.Discarded {
		facts = append(facts, "discarded by the provider")
	}
	switch {
	case c.MCPServer != "":
		facts = append(facts, "run by "+c.MCPServer)
	case c.RunByProvider:
		facts = append(facts, "run by the provider")
	}
	if len(c.SentBack) > 0 {
		facts = append(facts, aboutSentBack(c))
	}
	ran, answered := aboutRuns(c)
	facts = append(facts, ran...)
	switch c.ResultCode {
	case stream.ResultOK:
		facts = append(facts, answered)
	case stream.ResultFailed:
		facts = append(facts, "returned an error")
	}
	if c.Parent != "" {
		facts = append(facts, "inside "+c.Parent)
	}
	if c.Copies > 1 {
		facts = append(facts, fmt.Sprintf("%d equal copies", c.Copies))
	}
	if c.Signature != "" {
		facts = append(facts, "signed")
	}
	return facts
}

// aboutRuns returns what was wrong with the tool runs of a call, and with its result. A call without tool
// runs has no such findings, and its other findings are not searched.
func aboutRuns(c *stream.Call) (ran []string, answered string) {
	answered = "returned"
	if len(c.Runs) == 0 {
		return nil, answered
	}
	for _, f := range c.Findings {
		if words := wrongRunWords[f.Code]; words != "" && !slices.Contains(ran, words) {
			ran = append(ran, words)
		}
		answered = cmp.Or(wrongResultWords[f.Code], answered)
	}
	return ran, answered
}

// EventTime returns the time of an event since its turn began, or "" if it is unknown.
func EventTime(v *providers.View, event int32) display.Text {
	e := v.EventPrefix(int(event), 0)
	if t := v.Session().Turn(e.Turn); t != nil {
		return screen.Time(screen.Elapsed(t.OpenedAt, e.At))
	}
	return display.Text{}
}
