package replay

import (
	"bytes"
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/count"
)

// A ReasoningChange is a change to a turn's reasoning or signature in the messages that send the turn back.
type ReasoningChange struct {
	*Kind
	Rule          string // name of the rule in machine output
	Message, Part int    // place of the change in the history; Part is -1 for the message itself
	ID            string // id of a call in the history: the call whose signature changed, if OfCall is set, and otherwise the turn's first call
	Words         stream.Message
	Turn          int32
	Optional      bool // the provider may accept the change
	OfCall        bool // the change is in the signature of a call
	Older         bool // the turn is in an earlier step; few providers need its reasoning
}

// WordsFor describes the changes to the reasoning and the signature of a call. Each result is "gone" or "altered", or
// "" if no change is known.
func (h *History) WordsFor(turn int32, id string) (reasoning, signature string) {
	for _, r := range h.Reasoning {
		if r.Turn != turn || r.Older || r.OfCall && r.ID != id || r.Rule == ReasoningItem {
			continue
		}
		word := "altered"
		if r.Kind != ReasoningAltered {
			word = "gone"
		}
		if r.OfCall || r.Rule == SignatureKept {
			signature = word
		} else {
			reasoning = word
		}
	}
	return reasoning, signature
}

// Rules for reasoning.
const (
	ReasoningKept = "reasoning-kept"
	ReasoningSame = "reasoning-same"
	ReasoningItem = "reasoning-item" // only a refusal proves it: some hosts change the ids of items themselves
	SignatureKept = "signature-kept"
)

// OpenStep returns the index of the message at which the current step begins. This is the last user message without
// results. It returns -1 if there is none. Reasoning after this message must be sent back.
func OpenStep(messages []protocol.Message) int {
	for i := len(messages) - 1; i >= 0; i-- {
		if m := &messages[i]; m.Role == protocol.User && !hasResult(m) {
			return i
		}
	}
	return -1
}

// compareReasoning compares the reasoning of a turn with the history. It skips a turn whose content was removed from
// memory. It also skips a turn in an earlier step if its reasoning is signed.
func (m *matcher) compareReasoning(t *candidateTurn) {
	if m.KeptByProvider || t.Summary != nil || t.Target == nil || t.Target.Protocol != m.to.Protocol || t.state.unseen || t.state.aborted {
		return
	}
	var calls []int // indexes of the turn's calls in entries
	for i := range t.calls {
		if n := t.calls[i].found; n >= 0 {
			calls = append(calls, n)
		}
	}
	if len(calls) == 0 {
		return
	}
	if !m.stepKnown {
		m.stepKnown, m.step = true, OpenStep(m.messages)
	}
	older := m.entries[calls[0]].message <= m.step
	if older && m.to.Reasoning == protocol.SignedReasoning {
		return
	}
	if !older {
		m.compareCallSignatures(t)
	}
	if m.to.HasSignatures {
		return
	}
	own := ownReasoning(t.Turn, m.to)
	if len(own) == 0 {
		return
	}
	c := reasoningComparison{matcher: m, turn: t.Turn, id: m.entries[calls[0]].part.ID, own: own, older: older}
	c.readSent(m.entries[calls[0]].message, m.entries[calls[len(calls)-1]].message)
	c.compareBlocks()
}

// compareCallSignatures compares the signatures of a turn's calls with the history, and records the differences. A
// target without signatures of its own has them only from Google's endpoint for it, which not always needs them.
func (m *matcher) compareCallSignatures(t *candidateTurn) {
	for i := range t.calls {
		e := &t.calls[i]
		if e.found < 0 || e.call == nil || e.call.Signature == "" {
			continue
		}
		at := m.entries[e.found]
		r := ReasoningChange{Message: at.message, Part: at.place.part, ID: at.part.ID, Turn: t.Turn.Number, OfCall: true, Optional: !m.to.HasSignatures}
		switch sent := at.part.Signature; {
		case sent == e.call.Signature, sent == m.to.Sentinel && sent != "":
			continue
		case sent == "":
			r.Kind, r.Rule = SignatureDropped, SignatureKept
			r.Words = stream.Messagef("the signature of the call %s is missing", stream.Fact(e.name))
		default:
			r.Kind, r.Rule = ReasoningAltered, ReasoningSame
			r.Words = stream.Messagef("the signature of the call %s differs from the signature that arrived with the call", stream.Fact(e.name))
		}
		m.Reasoning = append(m.Reasoning, r)
	}
}

// reasoningBlock is a block of reasoning in a turn or in a history.
type reasoningBlock struct {
	text            []byte
	signature, item string
	hidden          bool // only the signature is known
	calls           int  // number of the turn's calls before the block
	message, part   int  // place in a history
	used            bool
}

// describeSize describes the size of the block. The text of encrypted reasoning is unknown.
func (b *reasoningBlock) describeSize() string {
	switch {
	case len(b.text) == 0 && b.signature != "":
		return "encrypted"
	case len(b.text) == 0:
		return "kept by the provider"
	}
	return count.Of(len(b.text), "byte")
}

// ownReasoning returns the reasoning of a turn that must be sent back to a target: the blocks with a signature or an
// item. If the target uses plain reasoning, all of the reasoning text is one block before them.
func ownReasoning(t *stream.Turn, to *protocol.Target) (all []reasoningBlock) {
	if to.Reasoning != protocol.SignedReasoning && len(t.Thinking) > 0 {
		all = append(all, reasoningBlock{text: t.Thinking})
	}
	from, calls := 0, 0
	for _, p := range t.Parts {
		switch p.Kind {
		case stream.PartCall:
			calls++
		case stream.PartThinking:
			if p.Signature != "" || p.ID != "" {
				all = append(all, reasoningBlock{text: t.Thinking[from:p.End], signature: p.Signature, item: p.ID, hidden: p.SignatureOnly, calls: calls})
			}
			from = p.End
		}
	}
	return all
}

// reasoningComparison compares the reasoning in one turn with the messages that send the turn back.
type reasoningComparison struct {
	*matcher
	turn      *stream.Turn
	id        string
	own, sent []reasoningBlock
	message   int  // index of the first message that sends the turn back
	older     bool // the turn is in an earlier step
}

// readSent reads the reasoning in the messages from first to last. It also reads the model's messages without calls
// that come directly before first.
func (c *reasoningComparison) readSent(first, last int) {
	for first > 0 && c.messages[first-1].Role == protocol.Assistant && !slices.ContainsFunc(c.messages[first-1].Parts, func(p protocol.Part) bool { return isClientCall(&p) }) {
		first--
	}
	c.message = first
	calls := 0
	for i := first; i <= last; i++ {
		if c.messages[i].Role != protocol.Assistant {
			continue
		}
		for j := range c.messages[i].Parts {
			switch p := &c.messages[i].Parts[j]; p.Kind {
			case protocol.CallPart:
				calls++
			case protocol.ReasoningPart:
				c.sent = append(c.sent, reasoningBlock{p.Text, p.Signature, p.Item, p.SignatureOnly, calls, i, j, false})
			}
		}
	}
}

// compareBlocks reports each block that is missing, and each block that was changed or moved. Plain reasoning is
// reported only if all of its text or all of its signatures are missing.
func (c *reasoningComparison) compareBlocks() {
	if c.to.Reasoning != protocol.SignedReasoning {
		isSigned := func(b reasoningBlock) bool { return b.signature != "" }
		if len(c.sent) == 0 && len(c.turn.Thinking) > 0 {
			c.addChange(ReasoningDropped, ReasoningKept, nil, true, stream.Messagef("the reasoning of the turn is missing (%s)", stream.Own(count.Of(len(c.turn.Thinking), "byte"))))
		} else if slices.ContainsFunc(c.own, isSigned) && !slices.ContainsFunc(c.sent, isSigned) {
			c.addChange(SignatureDropped, SignatureKept, nil, true, stream.Messagef("the signed or encrypted reasoning of the turn is missing"))
		}
		return
	}
	var gone []*reasoningBlock
	for i := range c.own {
		b := &c.own[i]
		if of := c.useBlock(func(s *reasoningBlock) bool {
			return s.signature == b.signature && b.signature != "" || s.item == b.item && b.item != ""
		}); of != nil {
			c.compareBlock(b, of)
		} else if of := c.useBlock(func(s *reasoningBlock) bool { return len(b.text) > 0 && bytes.Equal(s.text, b.text) }); of != nil {
			c.compareBlock(b, of)
		} else {
			gone = append(gone, b)
		}
	}
	for _, b := range gone {
		if of := c.useBlock(func(s *reasoningBlock) bool { return s.calls == b.calls }); of != nil {
			c.addChange(ReasoningAltered, ReasoningSame, of, false, stream.Messagef("the request contains reasoning that the model didn't write, with a different signature"))
			continue
		}
		optional := c.to.HasPreviousID && (b.item == "" || b.signature == "") // a call without an item id doesn't need it
		c.addChange(ReasoningDropped, ReasoningKept, nil, optional, stream.Messagef("a thinking or reasoning block of the turn is missing (%s)", stream.Own(b.describeSize())))
	}
}

// useBlock returns the first unused block for which the predicate returns true, and marks it as used. It returns nil
// if there is none.
func (c *reasoningComparison) useBlock(is func(*reasoningBlock) bool) *reasoningBlock {
	for i := range c.sent {
		if s := &c.sent[i]; !s.used && is(s) {
			s.used = true
			return s
		}
	}
	return nil
}

// compareBlock compares a block with the sent block that corresponds to it.
func (c *reasoningComparison) compareBlock(b, sent *reasoningBlock) {
	switch {
	case b.signature != sent.signature && sent.signature != "":
		c.addChange(ReasoningAltered, ReasoningSame, sent, false, stream.Messagef("the signature or the encrypted reasoning differs from byte %d on", firstDifference([]byte(b.signature), []byte(sent.signature))))
	case b.signature != sent.signature && b.item == "":
		c.addChange(SignatureDropped, SignatureKept, sent, false, stream.Messagef("the signature of a thinking block is missing"))
	case !b.hidden && !sent.hidden && !bytes.Equal(b.text, sent.text) && b.item == "":
		c.addChange(ReasoningAltered, ReasoningSame, sent, false, stream.Messagef("the text of a thinking block differs from byte %d on", firstDifference(b.text, sent.text)))
	case b.item != sent.item && b.item != "" && sent.item != "" && sent.signature != "":
		c.addChange(ReasoningAltered, ReasoningItem, sent, true, stream.Messagef("the encrypted reasoning of item %s has the id %s", stream.Fact(quoteShort(b.item)), stream.Fact(quoteShort(sent.item))))
	case b.calls != sent.calls:
		c.addChange(ReasoningAltered, ReasoningSame, sent, false, stream.Messagef("a thinking or reasoning block was moved to another place among the calls"))
	}
}

func (c *reasoningComparison) addChange(k *Kind, rule string, at *reasoningBlock, optional bool, words stream.Message) {
	r := ReasoningChange{Kind: k, Rule: rule, Message: c.message, Part: -1, ID: c.id, Words: words, Turn: c.turn.Number, Optional: optional || c.older, Older: c.older}
	if at != nil {
		r.Message, r.Part = at.message, at.part
	}
	c.Reasoning = append(c.Reasoning, r)
}

// firstDifference returns the offset of the first byte that differs between a and b.
func firstDifference(a, b []byte) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
