package stream

import (
	"strings"
	"unicode"

	"toolscope/stream/count"
)

// meta takes news of the call; n is the number of the event that brings it.
func (c *Call) meta(d CallInfo, n int) {
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
	if d.Space != "" {
		c.Space = d.Space
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
		c.fireOnArgs(n)
	}
	const words = "the name or id holds characters that a terminal hides or obeys"
	switch {
	case hidden(c.Name):
		c.findOnce(HiddenCharacters, n, words)
	case hidden(c.ID): // no model makes ids
		c.findOnce(HiddenCharacters.Blames(Provider), n, words)
	}
}

func hidden(s string) bool {
	for _, r := range s {
		if !unicode.IsPrint(r) {
			return true
		}
	}
	return false
}

// seal makes the arguments final. A second seal changes nothing; a refusal overrules a seal.
func (c *Call) seal(e Event, n int) {
	if e.Code == SealRejected && c.phase <= PhaseSealed {
		c.conclude(PhaseRejected, n, ArgsCut, "the call was refused: "+e.Text, "refused")
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
	c.settle(n)
	c.fire(AtSeal, n)
}

// truncate says of one call that a limit cut the response. A call that was sealed with a whole
// object stays as it is. So does an empty or free text, but only if something before this finish
// sealed it: such a text looks whole wherever it is cut.
func (c *Call) truncate(e Event, n int) {
	syntax := c.Syntax()
	switch {
	case c.phase == PhaseSealed && syntax == SyntaxObject,
		c.phase == PhaseSealed && (syntax == SyntaxEmpty || syntax == SyntaxFreeform) && c.sealedBy != e.Frame,
		c.phase > PhaseSealed:
		return
	}
	c.conclude(PhaseTruncated, n, ArgsCut, "the provider's limit cut the response: "+e.Text, cutWords(e.Text))
}

// cutWords is what cut a response, in a few words, by the provider's own for it.
func cutWords(reason string) string {
	word := strings.ToLower(reason)
	if strings.Contains(word, "length") || strings.Contains(word, "max") && strings.Contains(word, "token") {
		return "cut by the token limit"
	}
	return "cut: " + reason
}

// conclude ends a call that was not sealed, or whose seal is overruled. If its arguments were cut,
// found is the finding that is made, why its reason, and here that in a few words.
func (c *Call) conclude(p Phase, event int, found *Diagnosis, why, here string) {
	c.phase = p
	c.settle(event)
	where := "before the first byte"
	if n := len(c.args.s); n > 0 {
		where = "after " + count.Of(n, "byte")
		if c.lex.Open() {
			where += ", inside a " + openWord(c.lex.last)
		}
	}
	s := c.Syntax()
	if cut := p == PhaseTruncated || p == PhaseAborted && s != SyntaxObject || s == SyntaxPrefix; cut && !c.found(ArgsCut) {
		stop := found.Finding("the arguments stop %s: %s", where, why)
		c.addFinding(stop.here(here).at(event, len(c.args.s)))
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
