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

// hasFinding reports whether d was found of the call before, in whatever grade.
func (c *Call) hasFinding(d *Diagnosis) bool {
	if c.callContent.shared {
		return slices.ContainsFunc(c.Findings, func(f Finding) bool { return f.Base() == d.Base() })
	}
	return slices.Contains(c.diagnoses, d.Base())
}

// noteFinding notes that there is such a finding.
func (w *callContent) noteFinding(d *Diagnosis) {
	if !slices.Contains(w.diagnoses, d.Base()) {
		w.diagnoses = append(w.diagnoses, d)
	}
}

// addFinding adds a finding. Its diagnosis is noted once, so that found stays cheap.
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
	return d.Finding("a frame does not decode: %s", e.Text).withEvidence(n, NoOffset)
}

// repeatedBy reports whether a delta begins with everything sent before it.
func (c *Call) repeatedBy(text string) bool {
	n := len(c.args.s)
	return n > 0 && c.args.s[0] == '{' && len(text) > n && text[:n] == string(c.args.s)
}

// checkCumulative reports such a delta. It is called once the arguments cannot be an object: before
// that, the delta may be a nested object that begins like the outer one.
func (c *Call) checkCumulative() {
	if c.repeated > 0 {
		c.reportOnce(ArgsCumulative, int(c.repeated), "each delta repeats all arguments so far: a client that appends gets nonsense, the last delta alone is the value")
	}
}

// checkBroken reports the first byte that cannot be JSON as soon as it comes.
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
			"an object is complete at byte %d, then comes %s: code that runs a call once it parses runs half of it", err.Offset, err.Found())
	case err.Got == '{' && err.Expected == "a comma or }":
		c.reportFinding(ArgsMissingBrace, event, err.Offset,
			"a second object begins inside the first at byte %d: two calls were merged", err.Offset)
	default:
		broken := ArgsBroken.Finding("not JSON from byte %d on: expected %s, got %s", err.Offset, err.Expected, err.Found())
		c.addFinding(broken.withHint(err.InShort()).withEvidence(event, err.Offset))
	}
}

// checkSeal compares what was said with the bytes of a call that is sealed.
func (c *Call) checkSeal(said string, event int) {
	if c.phase == PhaseSealed && c.Syntax() == SyntaxPrefix {
		c.reportOnce(FinishContradicts, event,
			"%s, but the arguments stop after %s: a limit cut them, and that was not said", said, count.Of(len(c.args.s), "byte"))
	}
}

// checkFinalArgs makes the findings that need the whole text, once. The arguments are final.
func (c *Call) checkFinalArgs(event int) {
	text := len(c.args.s) // without half a character that waited for its other half
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
		c.reportFinding(ArgsBadUTF8, event, firstBadByte(c.args.s), "the arguments are not UTF-8: each client replaces the bytes in its own way")
	}
	switch c.Syntax() {
	case SyntaxConcat:
		c.checkConcat(event)
	case SyntaxDouble:
		c.reportFinding(ArgsDouble, event, 0, "the arguments are a JSON string that holds JSON: encoded twice")
	case SyntaxOther:
		c.reportFinding(ArgsNotObject, event, 0, "valid JSON, but no object: Anthropic and Google refuse it in history")
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
		c.reportFinding(ArgsFinalDup, event, len(first), "the whole arguments were sent a second time at the end")
	default:
		c.reportFinding(ArgsConcat, event, len(first), "%d objects in one call: parallel calls were merged", c.lex.Docs()+min(1, c.lex.Depth()))
	}
}

func (c *Call) checkObject(event int) {
	c.checkKeys(event)
	start := uint32(0)
	for _, t := range c.lex.Tokens().All() {
		if t.Kind == Key && t.End-start == 2 {
			c.reportFinding(EmptyKey, event, int(start), "a key is empty: some models write no-argument calls so, and Bedrock rejects them in history")
			break
		}
		start = t.End
	}
	if c.Name == "parallel" || c.Name == "multi_tool_use.parallel" {
		if n := bytes.Count(c.args.s, []byte(`"recipient_name"`)); n > 0 {
			c.reportFinding(ParallelWrapper, event, NoOffset, "one call wraps %d: the model used a tool nobody declared", n)
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

// stringContent is the inside of the one string literal in text.
func stringContent(text []byte) []byte {
	text = bytes.TrimSpace(text)
	return bytes.TrimSuffix(bytes.TrimPrefix(text, []byte(`"`)), []byte(`"`))
}
