package cli

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"

	"toolscope/providers/client"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
	"toolscope/ui/display"
	"toolscope/ui/layout"
	"toolscope/ui/present"
	units "toolscope/ui/screen"
)

// previewText writes previews for people. It writes a line per preview or, with one target and one policy, the
// complete preview.
type previewText struct {
	lineWriter
	targets  []*protocol.Target
	policies []*replay.Policy
	turn     *stream.Turn
	rows     []previewRow // rows of the current subject
	clients  []string     // clients of all rows, with their versions
}

// previewRow is a preview on one line.
type previewRow struct {
	to, policy          string
	outcome, acceptance any // coloured words
	losses              []any
}

// writeHeading writes a line about the subject. For a new turn, it first writes a line about the turn.
func (p *previewText) writeHeading(s *previewSubject) {
	p.writeRows()
	if s.turn != p.turn {
		if p.turn != nil {
			p.printLine("")
		}
		p.turn = s.turn
		p.printLine("%s  %s  %s", s.file, inBold(turnNumber(s.turn)), inMuted(joinDots(s.turn.Protocol, s.turn.Model)))
	}
	calls := count.Of(replay.NumCalls(s.src.Messages), "call")
	what, lead := "", []any{"  "}
	switch c := s.calls; s.scope {
	case replay.OneCall:
		verdict := present.VerdictOfCall(c[0])
		lead = []any{"  ", inMuted(fmt.Sprintf("call %d", c[0].Number)), "  ", inBold(present.CallName(c[0].Name)), "  ", ofRole(verdict.Role, c[0].Status()), "  "}
		what = fmt.Sprintf("%d B", len(c[0].Args()))
	case replay.WholeTurn:
		what = "whole turn  " + calls
	case replay.WholeConversation:
		what = "conversation  " + count.Of(len(s.src.Messages), "message") + ", " + calls
	}
	if s.oneByOne {
		what += "  one by one"
	}
	if len(p.targets) == 1 {
		what += "  to " + p.targets[0].Name
	}
	if len(p.policies) == 1 {
		what += "  policy " + p.policies[0].Name
		if len(p.targets) == 1 {
			what += textIf(p.policies[0].Client != nil, " "+p.policies[0].VersionFor(s.src.From, p.targets[0]))
		}
	}
	p.printPieces(append(lead, inMuted(what)))
}

// writePreview writes a complete preview, or adds a row for it.
func (p *previewText) writePreview(s *previewSubject, v *replay.Preview) {
	if len(p.targets) == 1 && len(p.policies) == 1 {
		p.writeFullPreview(s, v)
		return
	}
	p.rows = append(p.rows, previewRow{v.To.Name, v.Policy.Name, outcomeInk(v.Outcome), acceptanceInk(v.Acceptance), lossWords(v)})
	// Note the row's client, with its version and the source for its policy.
	policy, from, to := v.Policy, s.src.From, v.To
	if policy.Client == nil {
		return
	}
	name := strings.TrimSpace(policy.Name + " " + policy.VersionFor(from, to))
	if known := policy.KnownFor(from, to); known == client.Read && known != policy.Known {
		name += " to " + to.Name
	}
	if !slices.Contains(p.clients, name) {
		p.clients = append(p.clients, name)
	}
}

// writeRows writes a subject's rows in columns that are as wide as their content.
func (p *previewText) writeRows() {
	var targets, policies, outcome, acceptance int
	for _, r := range p.rows {
		targets, policies = max(targets, len(r.to)), max(policies, len(r.policy))
		outcome, acceptance = max(outcome, len(wordOf(r.outcome))), max(acceptance, len(wordOf(r.acceptance)))
	}
	to := ""
	for _, r := range p.rows {
		name, width, indent := r.to, targets, "    "
		if len(p.policies) > 1 {
			name, width = r.policy, policies
		}
		if len(p.policies) > 1 && len(p.targets) > 1 {
			if r.to != to {
				p.printLine("  %s", r.to)
			}
			to = r.to
		}
		p.writeWrappedWords([]any{fmt.Sprintf("%s%-*s  ", indent, width, name), padWord(r.outcome, outcome), padWord(r.acceptance, acceptance)}, r.losses)
	}
	p.rows = p.rows[:0]
}

// wordOf returns a word without its colour.
func wordOf(word any) string { return fmt.Sprint(withoutInk(word)) }

// padWord returns a word in its colour, followed by blanks.
func padWord(word any, width int) any {
	return withInkOf(word, fmt.Sprintf("%-*s  ", width, wordOf(word)))
}

// flush writes the remaining rows and the versions of the clients.
func (p *previewText) flush() error {
	p.writeRows()
	if len(p.clients) > 0 {
		p.printLine("")
		p.writeWrapped("clients: ", strings.Join(p.clients, ", "))
	}
	return p.lineWriter.flush()
}

// lossWords returns the losses of a preview, worst first, e.g. "high A,", "B ·", "low C×2".
func lossWords(v *replay.Preview) (words []any) {
	follows := func(sign string) {
		if n := len(words) - 1; n >= 0 {
			words[n] = withInkOf(words[n], fmt.Sprint(withoutInk(words[n]), sign))
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
			words = append(words, ofRole(units.LossRoles[severity], code))
		}
	}
	return words
}

// codesOf returns the codes of the losses with one severity. If a code occurs more than once, it is followed
// by the number of occurrences.
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

// writeFullPreview writes a complete preview: the outcome, the losses, the calls, the body and the results.
func (p *previewText) writeFullPreview(s *previewSubject, v *replay.Preview) {
	p.printLine("    %s    %s", inMuted("outcome"), outcomeInk(v.Outcome))
	p.printLine("    %s   %s", inMuted("provider"), acceptanceInk(v.Acceptance))
	if v.Refused != "" {
		p.writeWrapped("    refused    ", v.Refused)
	}
	for _, l := range v.Losses {
		p.printLine("    %s       %s  %s%s", inMuted("loss"), inBold(l.Code), ofRole(units.LossRoles[l.Severity], l.Severity), inMuted(lossPlace(s, l)))
		p.writeWrapped("               ", l.Message)
	}
	for i := range v.Calls {
		c := &v.Calls[i]
		if s.scope != replay.OneCall {
			p.printLine("    %s %s  %s  %s", inMuted(fmt.Sprintf("call %-5d", s.callNumber(c.Call))), outcomeInk(c.Outcome), inBold(present.CallName(c.Name)), inMuted(c.ID))
		}
		if !isSent(v, c) {
			continue
		}
		if c.Encoded != "" {
			p.writeWrapped("    encoded    ", c.Encoded)
		}
		if diff := argumentsDiff(c.Original, c.Args); len(diff) > 0 {
			p.printLine("    %s", inMuted("arguments"))
			for _, line := range diff {
				p.printLine("      %s", inInk(diffInk(line), line))
			}
		}
	}
	switch {
	case v.Outcome == replay.Unknown:
		p.printLine("    %s       unknown", inMuted("body"))
	case len(v.Body) == 0:
		p.printLine("    %s       %s", inMuted("body"), inInk(badInk, "nothing is sent"))
	default:
		p.writeJSONTexts("body", v.Body)
	}
	p.writeJSONTexts("results", v.Results)
}

// lossPlace returns the call and the bytes that a loss concerns.
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

// writeJSONTexts writes indented JSON texts.
func (p *previewText) writeJSONTexts(name string, texts [][]byte) {
	if len(texts) > 0 {
		p.printLine("    %s", inMuted(name))
	}
	for _, text := range texts {
		for _, line := range indentJSON(text) {
			p.printPieces(append([]any{"      "}, line...))
		}
	}
}

// maxIndent is the maximum indentation of a line, in cells.
const maxIndent = 40

// indentJSON returns JSON in sanitised lines with the layout that the screen uses: a field or element per line. From
// the first byte that is not JSON onwards, the text is unchanged. A line is a list of pieces. Each token has the
// colour of its kind.
func indentJSON(text []byte) (out [][]any) {
	var lex json.Lexer
	lex.Write(text)
	lex.Close()
	doc := layout.NewJSON(math.MaxInt32, display.Drawer{})
	doc.Extend(text, &lex, true)
	for _, row := range doc.Rows() {
		out = append(out, rowLines(text, lex.Tokens(), row)...)
	}
	return out
}

// rowLines returns the lines of one row. There is only one line, unless text that is not JSON has line breaks.
func rowLines(text []byte, tokens json.TokenList, row layout.Row) (out [][]any) {
	line := []any{strings.Repeat(" ", min(int(row.Indent), maxIndent))}
	off := row.Start
	for n := int(row.Token); n < tokens.Len() && off < row.End; n++ {
		end := min(tokens.At(n).End, row.End)
		if end <= off {
			continue
		}
		piece := text[off:end]
		off = end
		role := units.TokenRoles[tokens.At(n).Kind]
		switch tokens.At(n).Kind {
		case json.Space:
		case json.Colon:
			line = append(line, ofRole(role, ": "))
		case json.Junk:
			for i, part := range strings.Split(string(piece), "\n") {
				if i > 0 {
					out, line = append(out, line), nil
				}
				line = append(line, ofRole(role, part))
			}
		default:
			line = append(line, ofRole(role, string(display.AppendJSONText(nil, piece))))
		}
	}
	return append(out, line)
}

// argumentsDiff returns a unified diff between the model's arguments and the sent arguments, both indented.
// If they are equal, it returns nothing.
func argumentsDiff(original, sent []byte) []string {
	if bytes.Equal(original, sent) {
		return nil
	}
	diff := udiff.Unified("as the model wrote them", "as sent", indentedText(original), indentedText(sent))
	if diff == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(diff, "\n"), "\n")
}

// diffInk returns the colour for a line of a unified diff.
func diffInk(line string) ink {
	switch line[0] {
	case '-':
		return badInk
	case '+':
		return ink(units.Good)
	case '@':
		return mutedInk
	}
	return plainInk
}

// outcomeInk returns an outcome in its colour.
func outcomeInk(o replay.Outcome) any {
	return ofRole(units.SideRoles[units.OutcomeSides[o]], o.String())
}

// acceptanceInk returns a provider's verdict on a request, in its colour.
func acceptanceInk(a replay.Acceptance) any {
	return ofRole(units.VerdictRoles[a.Verdict], a.String())
}

// indentedText returns indented JSON as text. Each line ends with a line break, so that a diff never reports
// a missing one at the end.
func indentedText(text []byte) string {
	lines := mapSlice(indentJSON(text), func(line []any) string {
		return display.Clean(fmt.Sprint(mapSlice(line, withoutInk)...)).String()
	})
	return strings.Join(append(lines, ""), "\n")
}

// previewJSON writes one JSON object per preview. It leaves out empty values, except the losses and the body.
type previewJSON struct{ lineWriter }

// writeHeading writes nothing.
func (p previewJSON) writeHeading(*previewSubject) {}

// writePreview writes the object for a preview.
func (p previewJSON) writePreview(s *previewSubject, v *replay.Preview) {
	o := lineOf("replay", s.file, s.turn.Number)
	if s.scope == replay.OneCall {
		o.int("call", s.calls[0].Number)
	} else {
		o.text("scope", s.scope.String())
	}
	o.flagIf("one_by_one", s.oneByOne)
	from := s.turn.Protocol
	if s.src.From != nil {
		from = s.src.From.Protocol
	}
	o.text("from", from)
	o.text("to", v.To.Name)
	o.text("policy", v.Policy.Name)
	if c := v.Policy.Client; c != nil {
		o.optionalText("client_version", c.Version)
		if v.Policy.Knows(s.src.From, v.To) {
			o.text("known", v.Policy.KnownFor(s.src.From, v.To).String())
		}
	}
	o.text("outcome", v.Outcome.String())
	if a := v.Acceptance; a.Verdict != replay.Unproven {
		o.flag("accepted", a.Verdict == replay.Accepted)
		o.text("accepted_by", a.By.String())
	}
	listOf(o, "losses", v.Losses, func(o *jsonObject, l replay.Loss) {
		o.text("code", l.Code)
		o.text("severity", l.Severity.String())
		o.addMessage(l.Message, l.Quoted)
		if l.Call > 0 && s.scope != replay.OneCall {
			o.int("call", s.callNumber(l.Call))
		}
		if l.End > 0 {
			o.int("start", l.Start)
			o.int("end", l.End)
		}
	})
	o.raw("body", oneOrMore(v.Body))
	if len(v.Results) > 0 {
		o.raw("results", jsonArray(v.Results))
	}
	o.optionalText("refused", v.Refused)
	if s.scope == replay.OneCall {
		for _, c := range v.Calls {
			o.sentArgs(v, &c)
		}
	} else if len(v.Calls) > 0 {
		listOf(o, "calls", v.Calls, func(o *jsonObject, c replay.Sent) {
			o.int("call", s.callNumber(c.Call))
			o.text("id", c.ID)
			o.text("name", c.Name)
			o.text("outcome", c.Outcome.String())
			o.optionalText("refused", c.Refused)
			o.sentArgs(v, &c)
		})
	}
	p.writeObject(o)
}

// oneOrMore returns a single message unchanged, several messages as an array, and null if there is no message.
func oneOrMore(texts [][]byte) []byte {
	switch len(texts) {
	case 0:
		return []byte("null")
	case 1:
		return texts[0]
	}
	return jsonArray(texts)
}

// sentArgs writes the arguments of a call as they are sent, and their differences from the arguments that the model
// wrote.
func (o *jsonObject) sentArgs(v *replay.Preview, c *replay.Sent) {
	if !isSent(v, c) {
		return
	}
	if c.Form == protocol.TextForm {
		o.text("arguments_sent", string(c.Args))
	} else {
		o.raw("arguments_sent", c.Args)
	}
	o.optionalText("encoded", c.Encoded)
	if edits := replay.Diff(c.Original, c.Args); len(edits) > 0 {
		listOf(o, "diff", edits, func(o *jsonObject, e replay.Edit) {
			o.int("start", e.Start)
			o.int("end", e.End)
			o.text("from", string(c.Original[e.Start:e.End]))
			o.text("to", string(e.To))
		})
	}
}

// isSent reports whether a call is in the body that would be sent.
func isSent(v *replay.Preview, c *replay.Sent) bool { return len(v.Body) > 0 && c.Args != nil }
