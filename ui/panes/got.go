package panes

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// toolLine is a line about a tool run; its side is the result of a comparison.
type toolLine struct {
	side     screen.Side
	text     display.Text
	compared bool
}

// plainLine returns a line without a comparison.
func plainLine(side screen.Side, text display.Text) toolLine { return toolLine{side: side, text: text} }

// comparedLine returns a line with the result of a comparison.
func comparedLine(side screen.Side, text display.Text) toolLine {
	return toolLine{side: side, text: text, compared: true}
}

// maxLineText is the maximum number of bytes of a captured text in a line.
const maxLineText = 400

// toolRunLines describes the tool runs of a call: arguments, times, results, and the part of the results
// that the model got.
func toolRunLines(v *providers.View, t *stream.Turn, c *stream.Call, p *screen.Pen) (lines []toolLine) {
	for _, g := range v.ToolRuns(c) {
		lines = append(lines, plainLine(screen.Alike, p.Name(fmt.Sprintf("server %s got it as %s (matched %s)", g.Server, g.Tool, g.How))))
		times := []string{g.SinceMoment(c.FirstArgAt, "its first byte")}
		if r := c.RuleRun(stream.ParsableObject); r.Event > 0 && !r.Replaced {
			times = append(times, g.SinceMoment(v.EventPrefix(r.Event, 0).At, "it looked done"))
		}
		times = append(times, g.SinceMoment(c.SealedAt, "its arguments were final"))
		if t.Closed() {
			times = append(times, g.SinceMoment(t.ClosedAt, "the turn's end"))
		}
		times = slices.DeleteFunc(times, func(s string) bool { return s == "" })
		early := c.SealedAt >= 0 && g.At >= 0 && g.At < c.SealedAt
		lines = append(lines, plainLine(pickIf(early, screen.Differs, screen.Alike), p.Clean(strings.Join(times, ", "))))
		args := display.Join(p.Format("%s B  ", screen.Count(g.ArgsSize)), p.Clean(textStart(string(g.Args))))
		switch {
		case g.IsPrefix:
			begun := p.Format("the first %s B of the model's arguments, as a JSON string: %s", screen.Count(g.PrefixBytes), p.Clean(textStart(string(g.Args))))
			lines = append(lines, comparedLine(screen.Differs, begun))
		case g.Altered && g.Path != "":
			lines = append(lines, comparedLine(screen.Differs, display.Join(display.Lit("other arguments, at "), p.Name(g.Path), display.Lit(": "), args)))
		case g.Altered:
			lines = append(lines, comparedLine(screen.Differs, display.Join(display.Lit("other arguments: "), args)))
		default:
			lines = append(lines, comparedLine(screen.Same, display.Join(display.Lit("the same arguments: "), args)))
		}
		lines = append(lines, toolAnswerLines(g, p)...)
	}
	return lines
}

func pickIf[T any](is bool, a, b T) T {
	if is {
		return a
	}
	return b
}

// textStart cuts a text to its visible start.
func textStart(text string) string {
	if len(text) <= maxLineText {
		return text
	}
	n := maxLineText
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// noAnswerText describes a tool run without a response time.
func noAnswerText(state string) string {
	switch state {
	case "no answer":
		return "no response was seen"
	case "unknown":
		return "its response is unknown: bytes are missing"
	}
	return state
}

// toolAnswerLines describes the result of a tool, and the part of it that the model got.
func toolAnswerLines(g providers.ToolRun, p *screen.Pen) (lines []toolLine) {
	if g.Took < 0 {
		lines = append(lines, plainLine(screen.Nothing, p.Clean(noAnswerText(g.State))))
	} else {
		what := "returned"
		if g.Failed {
			what = "returned an error"
		} else if g.State != "done" {
			what = g.State
		}
		sizes := fmt.Sprintf("%s in %s, %d B", what, screen.Time(g.Took), g.Size)
		if g.Shape > 0 {
			sizes += fmt.Sprintf(" and %d B structured", g.Shape)
		}
		lines = append(lines, plainLine(screen.Alike, display.Join(p.Clean(sizes+": "), p.Clean(textStart(g.Text)))))
	}
	if g.ResultSent {
		side, words := screen.Same, g.Verdict
		switch g.Verdict {
		case "cut", "altered", "none":
			side = screen.Differs
		case "half", "wrapped":
			side = screen.Alike
		case "":
			side, words = screen.Alike, "can't be compared"
		}
		lines = append(lines, comparedLine(side, p.Format("the model got %d B: %s", g.SentSize, words)))
	}
	return lines
}

// toolFindingLines returns the lines about tool runs below the findings of a call.
func toolFindingLines(v *providers.View, t *stream.Turn, c *stream.Call, width int, p *screen.Pen) (lines []findingLine) {
	for i, s := range toolRunLines(v, t, c, p) {
		if i == 0 {
			lines = append(lines, findingLine{of: ours}, findingLine{of: ours, role: screen.Muted, text: display.Lit(" WHAT THE TOOL GOT")})
		}
		sign := display.Lit("  ")
		if s.compared {
			sign = p.Clean(strings.TrimSpace(p.Glyph.Side[s.side].String())).Between("", " ")
		}
		for j, line := range display.Wrap(display.Join(sign, s.text), max(width-4, 8)) {
			if j > 0 {
				line = line.Between("  ", "")
			}
			lines = append(lines, findingLine{of: ours, role: screen.SideRoles[s.side], text: line.Between(" ", "")})
		}
	}
	return lines
}

// toolRuleLines returns the lines about tool runs below the run rules.
func toolRuleLines(v *providers.View, t *stream.Turn, c *stream.Call, width int, p *screen.Pen) (lines []runRuleLine) {
	for i, s := range toolRunLines(v, t, c, p) {
		if i == 0 {
			lines = append(lines, runRuleLine{of: noRule}, runRuleLine{of: noRule, role: screen.Muted, text: display.Lit(" TOOL RUNS")})
		}
		for _, line := range display.Wrap(s.text, max(width-4, 8)) {
			lines = append(lines, runRuleLine{of: noRule, role: screen.SideRoles[s.side], text: line.Between("  ", "")})
		}
	}
	return lines
}

// toolRunsKey changes when there is new data about the tool runs of a call.
func toolRunsKey(v *providers.View, c *stream.Call) (key int) {
	for _, g := range v.ToolRuns(c) {
		key = 8*key + 1
		if g.Took >= 0 {
			key += 2
		}
		if g.ResultSent {
			key += 4
		}
	}
	return key
}
