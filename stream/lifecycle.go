package stream

import (
	"strings"
	"unicode"

	"toolscope/stream/count"
)

// updateInfo applies new facts about the call; n is the number of the event that brings them.
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
	const words = "the name or id contains characters that a terminal hides or treats as commands"
	switch {
	case hasUnprintable(c.Name):
		c.reportOnce(HiddenCharacters, n, words)
	case hasUnprintable(c.ID): // models don't write ids
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
		c.endUnsealed(PhaseRejected, n, ArgsCut, Messagef("the call was refused: %s", e.Text), "refused")
		return
	}
	if c.phase > PhaseOpen {
		return
	}
	c.phase, c.sealedBy, c.SealedAt, c.sealEvent = PhaseSealed, e.Frame, e.At, int32(n)
	if c.argsFrom > 0 && c.argsFrame == e.Frame {
		// The frame that brought the last delta also made the arguments final: a client that has read the
		// delta has read that too.
		c.sealEvent = c.argsFrom
	}
	c.checkFinalArgs(n)
	c.noteRuleRun(AtSeal, n)
}

// endByLimit applies a limit that cut the response to one call. A complete object whose arguments are
// final stays as it is. So do an empty or free text, but only if something before this finish made it
// final: such a text looks complete wherever it is cut.
func (c *Call) endByLimit(e Event, n int) {
	syntax := c.Syntax()
	switch {
	case c.phase == PhaseSealed && syntax == SyntaxObject,
		c.phase == PhaseSealed && (syntax == SyntaxEmpty || syntax == SyntaxFreeform) && c.sealedBy != e.Frame,
		c.phase > PhaseSealed:
		return
	}
	c.endUnsealed(PhaseTruncated, n, ArgsCut, Messagef("the provider's limit cut the response (%s)", Fact(e.Text)), cutWords(e.Text))
}

// cutWords says in a few words what cut a response, from the provider's own word.
func cutWords(reason string) string {
	word := strings.ToLower(reason)
	if strings.Contains(word, "length") || strings.Contains(word, "max") && strings.Contains(word, "token") {
		return "cut by the token limit"
	}
	return "cut: " + reason
}

// endUnsealed ends a call whose arguments were not final, or whose seal is overruled. If its arguments
// were cut, it makes the finding found with the reason why and the hint here.
func (c *Call) endUnsealed(p Phase, event int, found *Diagnosis, why Message, here string) {
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
		stop := found.Finding("the arguments stop %s: %s", Own(where), why)
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
