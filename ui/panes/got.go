package panes

import (
	"fmt"
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// said is a line of what a tool got, with how it is shown.
type said struct {
	side screen.Side
	text display.Text
}

// mostGot is how much of a text of others is shown in a line.
const mostGot = 400

// gotSaid says what tools got of a call, when, what they answered, and what of that the model was told.
func gotSaid(v *providers.View, t *stream.Turn, c *stream.Call, p *screen.Pen) (lines []said) {
	for _, g := range v.Got(c) {
		lines = append(lines, said{screen.Alike, p.Name(fmt.Sprintf("%s of %s got it: %s", g.Tool, g.Server, g.How))})
		times := []string{g.Since(c.FirstArgAt, "its first byte")}
		if r := c.Run(stream.ParsableObject); r.Event > 0 && !r.Gone {
			times = append(times, g.Since(v.Begin(r.Event, 0).At, "it looked done"))
		}
		times = append(times, g.Since(c.SealedAt, "its seal"))
		if t.Closed() {
			times = append(times, g.Since(t.ClosedAt, "the turn's end"))
		}
		times = slices.DeleteFunc(times, func(s string) bool { return s == "" })
		early := c.SealedAt >= 0 && g.At >= 0 && g.At < c.SealedAt
		lines = append(lines, said{either(early, screen.Differs, screen.Alike), p.Clean(strings.Join(times, ", "))})
		args := display.Join(p.Format("%s B  ", screen.Count(g.ArgsSize)), p.Clean(string(g.Args[:min(len(g.Args), mostGot)])))
		switch {
		case g.Altered && g.Path != "":
			lines = append(lines, said{screen.Differs, display.Join(display.Lit("other arguments, at "), p.Name(g.Path), display.Lit(": "), args)})
		case g.Altered:
			lines = append(lines, said{screen.Differs, display.Join(display.Lit("other arguments: "), args)})
		default:
			lines = append(lines, said{screen.Same, display.Join(display.Lit("the same arguments: "), args)})
		}
		lines = append(lines, gotAnswer(g, p)...)
	}
	return lines
}

func either[T any](is bool, a, b T) T {
	if is {
		return a
	}
	return b
}

// gotAnswer says what a tool answered, and what the model was told of it.
func gotAnswer(g providers.Got, p *screen.Pen) (lines []said) {
	if g.Took < 0 {
		lines = append(lines, said{screen.Nothing, p.Clean("it has " + g.State)})
	} else {
		what := "answered"
		if g.Failed {
			what = "answered an error"
		} else if g.State != "done" {
			what = g.State
		}
		sizes := fmt.Sprintf("%s in %s, %d B", what, screen.Time(g.Took), g.Size)
		if g.Shape > 0 {
			sizes += fmt.Sprintf(" and %d B structured", g.Shape)
		}
		lines = append(lines, said{screen.Alike, display.Join(p.Clean(sizes+": "), p.Clean(g.Text[:min(len(g.Text), mostGot)]))})
	}
	if g.Told {
		side, words := screen.Same, g.Verdict
		switch g.Verdict {
		case "cut", "altered", "none":
			side = screen.Differs
		case "half", "wrapped":
			side = screen.Alike
		case "":
			side, words = screen.Alike, "it cannot be compared"
		}
		lines = append(lines, said{side, p.Format("the model was told %d B: %s", g.ToldSize, words)})
	}
	return lines
}

// gotLines are those lines below the findings of a call.
func gotLines(v *providers.View, t *stream.Turn, c *stream.Call, width int, p *screen.Pen) (lines []findingLine) {
	for i, s := range gotSaid(v, t, c, p) {
		if i == 0 {
			lines = append(lines, findingLine{of: ours}, findingLine{of: ours, role: screen.Muted, text: display.Lit(" WHAT THE TOOL GOT")})
		}
		sign := p.Clean(strings.TrimSpace(p.Glyph.Side[s.side].String())).Between("", " ")
		for j, line := range display.Wrap(display.Join(sign, s.text), max(width-4, 8)) {
			if j > 0 {
				line = line.Between("  ", "")
			}
			lines = append(lines, findingLine{of: ours, role: screen.SideRoles[s.side], text: line.Between(" ", "")})
		}
	}
	return lines
}

// gotRules are those lines beside what would run the call by rules: what was seen to run it.
func gotRules(v *providers.View, t *stream.Turn, c *stream.Call, width int, p *screen.Pen) (lines []ruleLine) {
	for i, s := range gotSaid(v, t, c, p) {
		if i == 0 {
			lines = append(lines, ruleLine{of: noRule}, ruleLine{of: noRule, role: screen.Muted, text: display.Lit(" SEEN TO RUN")})
		}
		for _, line := range display.Wrap(s.text, max(width-4, 8)) {
			lines = append(lines, ruleLine{of: noRule, role: screen.SideRoles[s.side], text: line.Between("  ", "")})
		}
	}
	return lines
}

// gotKey changes when more is known of what tools got of a call.
func gotKey(v *providers.View, c *stream.Call) (key int) {
	for _, g := range v.Got(c) {
		key = 8*key + 1
		if g.Took >= 0 {
			key += 2
		}
		if g.Told {
			key += 4
		}
	}
	return key
}
