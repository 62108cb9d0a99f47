package ui

import (
	"fmt"
	"time"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// callFacts are the sizes and durations of a call, as many as fit.
func (m *Model) callFacts(c *stream.Call, cells int) (line display.Text) {
	start := m.turn().OpenedAt
	took := "took "
	if c.Arriving() {
		took = "so far "
	}
	facts := []display.Text{screen.Bytes(len(c.Args())), screen.Plural(len(c.Deltas()), "delta")}
	timed := func(word string, d time.Duration) {
		if t := screen.Time(d); !t.Empty() {
			facts = append(facts, display.Join(m.draw.Clean(word), t))
		}
	}
	timed(took, screen.CallTime(c))
	if r, ok := m.results[c.Ref()]; ok {
		facts = append(facts, screen.Bytes(len(r.text)).Between("your result ", ""))
	}
	for _, f := range AboutCall(c) {
		facts = append(facts, m.pen.Name(f))
	}
	timed("named +", screen.Since(start, c.OpenedAt))
	timed("first byte +", screen.Since(start, c.FirstArgAt))
	sep := display.Lit(" ")
	for _, f := range facts {
		if line.Width()+sep.Width()+f.Width() >= cells {
			break
		}
		line = display.Join(line, sep, f)
		sep = m.pen.Glyph.Dot.Between(" ", " ")
	}
	return line
}

// AboutCall is what only some calls have, in words: what kind it is, who runs it,
// what became of it, whose it is.
func AboutCall(c *stream.Call) (facts []string) {
	if c.Kind != "" && c.Kind != "function" {
		facts = append(facts, c.Kind)
	}
	if c.Attempt {
		facts = append(facts, "thrown away by the provider")
	}
	switch {
	case c.Host != "":
		facts = append(facts, "run by "+c.Host)
	case c.Server:
		facts = append(facts, "run by the provider")
	}
	if len(c.SentBack) > 0 {
		facts = append(facts, aboutReturns(c))
	}
	switch c.Answered {
	case stream.AnswerOK:
		facts = append(facts, "answered")
	case stream.AnswerFailed:
		facts = append(facts, "its answer is an error")
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
