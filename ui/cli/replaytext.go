package cli

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/display"
	"toolscope/ui/layout"
)

// previewText writes previews for people: a line a preview, or where there is one target and one
// policy, all of it.
type previewText struct {
	lineWriter
	targets  int // width of their names, 0 when there is only one
	policies int
	to       string // what all previews have in common
	turn     *stream.Turn
	rows     []previewRow // of the subject that is being previewed
}

// previewRow is a preview in a line.
type previewRow struct {
	to, policy          string
	outcome, acceptance string
	losses              []string
}

func newPreviewText(l lineWriter, targets []*protocol.Target, policies []*replay.Policy) *previewText {
	p := &previewText{lineWriter: l}
	if len(targets) == 1 {
		p.to = "  to " + targets[0].Name
	} else {
		for _, t := range targets {
			p.targets = max(p.targets, len(t.Name))
		}
	}
	if len(policies) == 1 {
		p.to += "  policy " + policies[0].Name
	} else {
		for _, policy := range policies {
			p.policies = max(p.policies, len(policy.Name))
		}
	}
	return p
}

// writeHeading writes a line of the turn, unless that was there, and one of the subject.
func (p *previewText) writeHeading(s *previewSubject) {
	p.writeRows()
	if s.turn != p.turn {
		if p.turn != nil {
			p.printLine("")
		}
		p.turn = s.turn
		p.printLine("%s  turn %d  %s", s.file, s.turn.Number+1, joinDots(s.turn.Protocol, s.turn.Model))
	}
	calls := count.Of(replay.NumCalls(s.src.Messages), "call")
	what := ""
	switch c := s.calls; s.scope {
	case replay.OneCall:
		what = fmt.Sprintf("call %d  %s  %s  %d B", c[0].Number, callName(c[0].Name), c[0].Status(), len(c[0].Args()))
	case replay.WholeTurn:
		what = "whole turn  " + calls
	case replay.WholeConversation:
		what = "conversation  " + count.Of(len(s.src.Messages), "message") + ", " + calls
	}
	if s.oneByOne {
		what += "  one by one"
	}
	p.printLine("  %s%s", what, p.to)
}

func (p *previewText) writePreview(s *previewSubject, v *replay.Preview) {
	if p.targets == 0 && p.policies == 0 {
		p.writeFullPreview(s, v)
		return
	}
	p.rows = append(p.rows, previewRow{v.To.Name, v.Policy.Name, v.Outcome.String(), v.Acceptance.String(), lossWords(v)})
}

// writeRows writes the previews of a subject, a line each, in columns as wide as they must be.
func (p *previewText) writeRows() {
	var outcome, acceptance int
	for _, r := range p.rows {
		outcome, acceptance = max(outcome, len(r.outcome)), max(acceptance, len(r.acceptance))
	}
	to := ""
	for _, r := range p.rows {
		name, width, indent := r.to, p.targets, "    "
		if p.policies > 0 {
			name, width = r.policy, p.policies
		}
		if p.policies > 0 && p.targets > 0 {
			if r.to != to {
				p.printLine("  %s", r.to)
			}
			to = r.to
		}
		p.writeWrappedWords(fmt.Sprintf("%s%-*s  %-*s  %-*s  ", indent, width, name, outcome, r.outcome, acceptance, r.acceptance), r.losses)
	}
	p.rows = p.rows[:0]
}

func (p *previewText) flush() error {
	p.writeRows()
	return p.lineWriter.flush()
}

// lossWords are the losses of a preview, the worst first: "high A,", "B ·", "low C×2".
func lossWords(v *replay.Preview) (words []string) {
	follows := func(sign string) {
		if n := len(words) - 1; n >= 0 {
			words[n] += sign
		}
	}
	for _, severity := range slices.Backward(replay.Severities) {
		for i, code := range codesOf(v.Losses, severity) {
			if i == 0 {
				follows(" ·")
				code = severity.String() + " " + code
			} else {
				follows(",")
			}
			words = append(words, code)
		}
	}
	return words
}

// codesOf are the codes of the losses of one severity, each with how often it occurs where that is
// more than once.
func codesOf(losses []replay.Loss, severity replay.Severity) (codes []string) {
	times := map[string]int{}
	for _, l := range losses {
		if l.Severity != severity {
			continue
		}
		if times[l.Code]++; times[l.Code] == 1 {
			codes = append(codes, l.Code)
		}
	}
	for i, code := range codes {
		if times[code] > 1 {
			codes[i] += fmt.Sprintf("×%d", times[code])
		}
	}
	return codes
}

// writeFullPreview writes all of a preview: what became of it first, then what is sent.
func (p *previewText) writeFullPreview(s *previewSubject, v *replay.Preview) {
	p.printLine("    outcome    %s", v.Outcome)
	p.printLine("    provider   %s", v.Acceptance)
	if v.Refused != "" {
		p.writeWrapped("    refused    ", v.Refused)
	}
	for _, l := range v.Losses {
		p.printLine("    loss       %s  %s%s", l.Code, l.Severity, lossPlace(s, l))
		p.writeWrapped("               ", l.Message)
	}
	for i := range v.Calls {
		p.writeCall(s, v, &v.Calls[i])
	}
	switch {
	case v.Outcome == replay.Unknown:
		p.printLine("    body       not known")
	case len(v.Body) == 0:
		p.printLine("    body       nothing is sent")
	default:
		p.writeJSONTexts("body", v.Body)
	}
	p.writeJSONTexts("results", v.Results)
}

// lossPlace says what a loss is about.
func lossPlace(s *previewSubject, l replay.Loss) (words string) {
	if l.Call > 0 && s.scope != replay.OneCall {
		words = fmt.Sprintf("  call %d", s.callNumber(l.Call))
	}
	switch {
	case l.End == l.Start+1:
		words += fmt.Sprintf("  byte %d", l.Start)
	case l.End > 0:
		words += fmt.Sprintf("  bytes %d to %d", l.Start, l.End-1)
	}
	return words
}

// writeCall writes what became of one call, unless its subject has only that.
func (p *previewText) writeCall(s *previewSubject, v *replay.Preview, c *replay.Sent) {
	if s.scope != replay.OneCall {
		p.printLine("    call %-5d %s  %s  %s", s.callNumber(c.Call), c.Outcome, callName(c.Name), c.ID)
	}
	if !isSent(v, c) {
		return
	}
	if c.Encoded != "" {
		p.writeWrapped("    encoded    ", c.Encoded)
	}
	if diff := argumentsDiff(c.Original, c.Args); len(diff) > 0 {
		p.printLine("    arguments")
		for _, line := range diff {
			p.printLine("      %s", line)
		}
	}
}

// writeJSONTexts writes JSON texts as a reader would indent them.
func (p *previewText) writeJSONTexts(name string, texts [][]byte) {
	if len(texts) > 0 {
		p.printLine("    %s", name)
	}
	for _, text := range texts {
		for _, line := range indentJSON(text) {
			p.printLine("      %s", line)
		}
	}
}

// maxIndent is how far lines are indented at most, in cells.
const maxIndent = 40

// indentJSON is a text as the screen lays out JSON, in lines that are clean: a member or element a
// line. From where it is no JSON it stays as it is.
func indentJSON(text []byte) (out []string) {
	var lex stream.Lexer
	lex.Write(text)
	lex.Close()
	doc := layout.NewJSON(math.MaxInt32, display.Drawer{})
	doc.Extend(text, &lex, true)
	for _, row := range doc.Rows() {
		out = append(out, rowLines(text, lex.Tokens(), row)...)
	}
	return out
}

// rowLines is one row as text: one line, unless it holds line breaks that are no JSON.
func rowLines(text []byte, tokens stream.TokenList, row layout.Row) (out []string) {
	line := []byte(strings.Repeat(" ", min(int(row.Indent), maxIndent)))
	off := row.Start
	for n := int(row.Token); n < tokens.Len() && off < row.End; n++ {
		end := min(tokens.At(n).End, row.End)
		if end <= off {
			continue
		}
		piece := text[off:end]
		off = end
		switch tokens.At(n).Kind {
		case stream.Space:
		case stream.Colon:
			line = append(line, ": "...)
		case stream.Junk:
			line = append(line, piece...)
		default:
			line = display.AppendJSONText(line, piece)
		}
	}
	for _, l := range strings.Split(string(line), "\n") {
		out = append(out, display.Clean(l).String())
	}
	return out
}

// argumentsDiff is a unified diff of what the model wrote and what is sent, line by line of both as
// they are laid out; nothing where these are the same.
func argumentsDiff(original, sent []byte) []string {
	if bytes.Equal(original, sent) {
		return nil
	}
	diff := udiff.Unified("as the model wrote them", "as they are sent", indentedText(original), indentedText(sent))
	if diff == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
}

// indentedText ends each line, so that no diff is about the end of a text.
func indentedText(text []byte) string {
	return strings.Join(append(indentJSON(text), ""), "\n")
}
