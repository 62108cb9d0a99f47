package stream

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"toolscope/stream/count"
)

func (c *Call) reportFinding(d *Diagnosis, event, offset int, format string, args ...any) {
	c.addFinding(d.Finding(format, args...).withEvidence(event, offset))
}

func (c *Call) reportOnce(d *Diagnosis, event int, format string, args ...any) {
	if !c.hasFinding(d) {
		c.reportFinding(d, event, NoOffset, format, args...)
	}
}

// hasFinding reports whether d was found in the call before, with any severity.
func (c *Call) hasFinding(d *Diagnosis) bool {
	if c.callContent.shared {
		return slices.ContainsFunc(c.Findings, func(f Finding) bool { return f.Base() == d.Base() })
	}
	return slices.Contains(c.diagnoses, d.Base())
}

// noteFinding records that there is a finding of d.
func (w *callContent) noteFinding(d *Diagnosis) {
	if !slices.Contains(w.diagnoses, d.Base()) {
		w.diagnoses = append(w.diagnoses, d)
	}
}

// addFinding adds a finding. Its diagnosis is recorded once, so that hasFinding stays cheap.
func (c *Call) addFinding(f Finding) {
	c.Findings = append(c.Findings, f)
	if !c.callContent.shared {
		c.noteFinding(f.Diagnosis)
	}
}

func (t *Turn) reportFinding(d *Diagnosis, event int, format string, args ...any) {
	t.Findings = append(t.Findings, d.Finding(format, args...).withEvidence(event, NoOffset))
}

func faultFinding(e Event, n int) Finding {
	d := FrameFault
	if by := PayloadOf[Ending](e).By; by != 0 {
		d = d.WithCause(by)
	}
	return d.Finding("can't decode a frame: %s", e.Text).withEvidence(n, NoOffset)
}

// repeatedBy reports whether a delta begins with all arguments so far.
func (c *Call) repeatedBy(text string) bool {
	n := len(c.args.s)
	return n > 0 && c.args.s[0] == '{' && len(text) > n && text[:n] == string(c.args.s)
}

// checkCumulative reports deltas that repeat all arguments. It is called once the arguments can't be an
// object: before that, the delta may be a nested object that begins like the outer one.
func (c *Call) checkCumulative() {
	if c.repeated > 0 {
		c.reportOnce(ArgsCumulative, int(c.repeated), "each delta repeats all arguments so far: only the last delta counts, and a client that appends deltas gets nonsense")
	}
}

// checkBroken reports the first byte that can't be JSON as soon as it arrives.
func (c *Call) checkBroken(event int) {
	err := c.lex.Err()
	if err == nil || c.broken || c.settled {
		return
	}
	c.broken = true
	c.checkCumulative()
	switch {
	case c.lex.Docs() > 0 && c.lex.first == ObjectOpen:
		c.reportFinding(ArgsTrailing, event, err.Offset,
			"the object is complete at byte %d, but %s follows: a client that runs a call as soon as it parses runs only part of it", err.Offset, err.Found())
	case err.Got == '{' && err.Expected == "a comma or }":
		c.reportFinding(ArgsMissingBrace, event, err.Offset,
			"a second object begins inside the first at byte %d: two calls were merged", err.Offset)
	default:
		broken := ArgsBroken.Finding("not JSON from byte %d on: expected %s, got %s", err.Offset, Own(err.Expected), err.Found())
		c.addFinding(broken.withHint(err.InShort()).withEvidence(event, err.Offset))
	}
}

// checkSeal reports a call whose arguments are final but stop in the middle; said begins the message.
func (c *Call) checkSeal(said Message, event int) {
	if c.phase == PhaseSealed && c.Syntax() == SyntaxPrefix {
		c.reportOnce(FinishContradicts, event,
			"%s, but the arguments stop after %s: an unreported limit cut them", said, Own(count.Of(len(c.args.s), "byte")))
	}
}

// checkFinalArgs makes the findings that need the complete text, once. The arguments are final.
func (c *Call) checkFinalArgs(event int) {
	text := len(c.args.s) // without half a character that waits for its other half
	c.endArgs()
	if c.phase != PhaseAborted && c.phase != PhaseTruncated {
		text = len(c.args.s)
	}
	if c.settled || c.freeform {
		return
	}
	c.checkBroken(event)
	c.settled = true
	if c.Syntax() != SyntaxObject {
		c.checkCumulative()
	}
	if !utf8.Valid(c.args.s[:text]) {
		c.reportFinding(ArgsBadUTF8, event, firstBadByte(c.args.s), "the arguments are not UTF-8: each client replaces the bytes differently")
	}
	switch c.Syntax() {
	case SyntaxConcat:
		c.checkConcat(event)
	case SyntaxDouble:
		c.reportFinding(ArgsDouble, event, 0, "the arguments are double-encoded: a JSON string that contains JSON")
	case SyntaxOther:
		c.reportFinding(ArgsNotObject, event, 0, "the arguments are JSON but not an object: Anthropic and Google refuse them in a history")
	case SyntaxObject:
		c.checkObject(event)
	}
	c.checkEarly(event)
}

func (c *Call) checkConcat(event int) {
	end := FirstEnd(c.lex.Tokens())
	first, second := c.args.s[:end], c.args.s[end:]
	switch {
	case bytes.Equal(bytes.TrimSpace(first), []byte("{}")):
		c.reportFinding(ArgsPlaceholder, event, len(first), "an empty object precedes the real arguments: a placeholder was not replaced")
	case bytes.Equal(first, bytes.TrimSpace(second)):
		c.reportFinding(ArgsFinalDup, event, len(first), "the complete arguments were sent a second time at the end")
	default:
		c.reportFinding(ArgsConcat, event, len(first), "%d objects in one call: parallel calls were merged", c.lex.Docs()+min(1, c.lex.Depth()))
	}
}

func (c *Call) checkObject(event int) {
	c.checkKeys(event)
	start := uint32(0)
	for _, t := range c.lex.Tokens().All() {
		if t.Kind == Key && t.End-start == 2 {
			c.reportFinding(EmptyKey, event, int(start), "a key is empty: some models write calls without arguments this way, and Bedrock refuses them in a history")
			break
		}
		start = t.End
	}
	if c.Name == "parallel" || c.Name == "multi_tool_use.parallel" {
		if n := bytes.Count(c.args.s, []byte(`"recipient_name"`)); n > 0 {
			c.reportFinding(ParallelWrapper, event, NoOffset, "one call contains other calls (%d): the model called a tool that was not declared", n)
		}
	}
}

func firstBadByte(p []byte) int {
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRune(p[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return NoOffset
}

// stringContent returns the content of the one string literal in text, without its quotes.
func stringContent(text []byte) []byte {
	text = bytes.TrimSpace(text)
	return bytes.TrimSuffix(bytes.TrimPrefix(text, []byte(`"`)), []byte(`"`))
}
