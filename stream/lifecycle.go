package stream

import (
	"strings"
	"unicode"

	"toolscope/stream/count"
)

// updateInfo takes news of the call; n is the number of the event that brings it.
func (c *Call) updateInfo(d CallInfo, n int) {
	if d != (CallInfo{Copies: d.Copies}) {
		c.keepBase()
	}
	if d.ID != "" {
		c.ID = d.ID
	}
	if d.Name != "" {
		c.Name = d.Name
	}
	if d.Item != "" {
		c.Item = d.Item
	}
	if d.Namespace != "" {
		c.Namespace = d.Namespace
	}
	if d.Signature != "" {
		c.Signature = d.Signature
	}
	if d.Copies > 0 {
		c.Copies = d.Copies
	}
	if d.Kind != "" {
		c.Kind = d.Kind
	}
	if c.Name != "" && c.phase == PhaseAnnounced {
		c.phase = PhaseOpen
		c.noteArgsRuns(n)
	}
	const words = "the name or id holds characters that a terminal hides or obeys"
	switch {
	case hasUnprintable(c.Name):
		c.reportOnce(HiddenCharacters, n, words)
	case hasUnprintable(c.ID): // no model makes ids
		c.reportOnce(HiddenCharacters.WithCause(Provider), n, words)
	}
}

func hasUnprintable(s string) bool {
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return true
		}
	}
	return false
}

// sealArgs makes the arguments final. A second seal changes nothing; a refusal overrules a seal.
func (c *Call) sealArgs(e Event, n int) {
	if e.Code == SealRejected && c.phase <= PhaseSealed {
		c.endUnsealed(PhaseRejected, n, ArgsCut, "the call was refused: "+e.Text, "refused")
		return
	}
	if c.phase > PhaseOpen {
		return
	}
	c.phase, c.sealedBy, c.SealedAt, c.sealEvent = PhaseSealed, e.Frame, e.At, int32(n)
	if c.argsFrom > 0 && c.argsFrame == e.Frame {
		// The frame that brought the last delta also seals: whoever has read that delta has the seal.
		c.sealEvent = c.argsFrom
	}
	c.checkFinalArgs(n)
	c.noteRuleRun(AtSeal, n)
}

// endByLimit says of one call that a limit cut the response. A call that was sealed with a whole
// object stays as it is. So does an empty or free text, but only if something before this finish
// sealed it: such a text looks whole wherever it is cut.
func (c *Call) endByLimit(e Event, n int) {
	syntax := c.Syntax()
	switch {
	case c.phase == PhaseSealed && syntax == SyntaxObject,
		c.phase == PhaseSealed && (syntax == SyntaxEmpty || syntax == SyntaxFreeform) && c.sealedBy != e.Frame,
		c.phase > PhaseSealed:
		return
	}
	c.endUnsealed(PhaseTruncated, n, ArgsCut, "the provider's limit cut the response: "+e.Text, cutWords(e.Text))
}

// cutWords is what cut a response, in a few words, by the provider's own for it.
func cutWords(reason string) string {
	word := strings.ToLower(reason)
	if strings.Contains(word, "length") || strings.Contains(word, "max") && strings.Contains(word, "token") {
		return "cut by the token limit"
	}
	return "cut: " + reason
}

// endUnsealed ends a call that was not sealed, or whose seal is overruled. If its arguments were cut,
// found is the finding that is made, why its reason, and here that in a few words.
func (c *Call) endUnsealed(p Phase, event int, found *Diagnosis, why, here string) {
	c.phase = p
	c.checkFinalArgs(event)
	where := "before the first byte"
	if n := len(c.args.s); n > 0 {
		where = "after " + count.Of(n, "byte")
		if c.lex.Open() {
			where += ", inside a " + openWord(c.lex.last)
		}
	}
	s := c.Syntax()
	if cut := p == PhaseTruncated || p == PhaseAborted && s != SyntaxObject || s == SyntaxPrefix; cut && !c.hasFinding(ArgsCut) {
		stop := found.Finding("the arguments stop %s: %s", where, why)
		c.addFinding(stop.withHint(here).withEvidence(event, len(c.args.s)))
	}
}

func openWord(k TokenKind) string {
	switch k {
	case Key:
		return "key"
	case String:
		return "string"
	case Number:
		return "number"
	}
	return "literal"
}
