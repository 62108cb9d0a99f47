package replay

import (
	"bytes"
	"fmt"
	"slices"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// makeCall fits a call to the target; false leaves it out. first means that it is the message's first call.
func (c *previewBuilder) makeCall(p *protocol.Part, f *argsFacts, role protocol.Role, first bool) bool {
	sent := Sent{Call: c.call, ID: p.ID, Name: p.Name, Original: f.raw, Form: c.To.Form}
	switch {
	case p.RunByProvider && (!c.same || c.Policy.asText):
		return c.leaveOut(sent, ServerToolDropped.newLoss("a tool that the provider runs has no equivalent: the call is left out"))
	case role != protocol.Assistant:
		return c.leaveOut(sent, CallDropped.newLoss("a call that the model didn't make has no equivalent: it is left out"))
	case p.Unseen:
		return c.markUnknown(sent, ArgsUnseen.newLoss("bytes of the call were not seen: the arguments to send are unknown"))
	}
	if c.Policy.asText {
		return c.callAsText(p, f, sent)
	}
	was := *p
	c.shape = ""
	args := c.sentArgs(p, f, &sent)
	switch sent.Outcome {
	case Throws:
		c.Calls = append(c.Calls, sent)
		return false
	case Unknown:
		return c.markUnknown(sent, ArgsUnknown.newLoss("how %s treats these arguments is unknown", stream.Own(c.Policy.Client.Title)))
	case Dropped:
		return c.leaveOut(sent, CallDropped.newLoss("the call is not in the history: the model can't see that it made the call"))
	}
	p.Args, p.Form, sent.Args = args, sent.Form, args
	if !c.isNative(p) && !p.RunByProvider {
		c.checkArgs(f, &sent)
	}
	if f.syntax == stream.SyntaxDouble && !c.Policy.again && protocol.Raw(bytes.TrimSpace(args)).IsString() {
		sent.Encoded = encoderWords(p.Author) + " encoded the arguments twice: they are sent as that string"
	}
	c.dropUnsupported(p)
	c.fitID(p, &sent)
	c.keepSignature(p, &sent, first)
	if !sameCall(p, &was) {
		p.Raw = nil
	}
	if raw := c.fillTemplate(p); raw != nil {
		p.Raw = raw
	}
	sent.ID, sent.Name = p.ID, p.Name
	if c.Policy.refuses && sent.Refused != "" {
		sent.Outcome = Throws
	}
	c.Calls = append(c.Calls, sent)
	c.sent = append(c.sent, c.call)
	return true
}

// leaveOut leaves the current call out. That is its only loss: earlier losses of the call are retracted.
func (c *previewBuilder) leaveOut(sent Sent, why Loss) bool {
	c.retractLosses(func(Loss) bool { return true })
	sent.Outcome = Dropped
	why.End = len(sent.Original)
	c.addLoss(why)
	c.Calls = append(c.Calls, sent)
	return false
}

// markUnknown marks the preview as unknown; l is the reason.
func (c *previewBuilder) markUnknown(sent Sent, l Loss) bool {
	c.unseen = true
	sent.Outcome = Unknown
	l.End = len(sent.Original)
	c.addLoss(l)
	c.Calls = append(c.Calls, sent)
	return false
}

// retractLosses removes losses of the current call.
func (c *previewBuilder) retractLosses(which func(Loss) bool) {
	n := len(c.Losses)
	for n > 0 && c.Losses[n-1].Call == c.call {
		n--
	}
	c.Losses = c.Losses[:n+len(slices.DeleteFunc(c.Losses[n:], which))]
}

// sameCall reports whether two parts are written as the same call.
func sameCall(a, b *protocol.Part) bool {
	return a.ID == b.ID && a.Name == b.Name && a.Item == b.Item && a.ToolKind == b.ToolKind && a.Signature == b.Signature && a.Form == b.Form &&
		string(a.Args) == string(b.Args)
}

// dropUnsupported removes the values for which the target has no field, and adds the losses.
func (c *previewBuilder) dropUnsupported(p *protocol.Part) {
	if c.same {
		return
	}
	if p.ToolKind != "function" && p.ToolKind != "custom" {
		c.addLoss(KindLost.newLoss("a call of kind %s is sent as a function call", stream.Fact(p.ToolKind)))
		p.ToolKind = "function"
	}
	if p.Parent != "" {
		c.addLoss(CallerDropped.newLoss("the id of the code that made the call is left out"))
		p.Parent = ""
	}
	if p.Namespace != "" {
		c.addLoss(NamespaceDropped.newLoss("the tool's namespace %s is left out", stream.Fact(quoteShort(p.Namespace))))
		p.Namespace = ""
	}
	if p.Item != "" && !c.ids.joins {
		c.addLoss(ItemIDDropped.newLoss("the item's id %s is left out", quoteShort(p.Item)))
		p.Item = ""
	}
}

// fitID gives the call an id that the target takes. It adds a refusal for an id or a name that the target
// doesn't take.
func (c *previewBuilder) fitID(p *protocol.Part, sent *Sent) {
	if p.RunByProvider {
		return // the provider made both by its own rules
	}
	old := p.ID
	made, losses := c.ids.assignID(c.call, p)
	for _, l := range losses {
		c.addLoss(l)
		if l.Kind != IDCollision {
			continue
		}
		if c.doubt = true; c.To.IDs.Unique {
			sent.noteRefusal(c.To.Refusal.SameID, made, p.Name, "two calls have the same id")
		}
	}
	p.ID = made
	if !c.To.IDs.Takes(made) {
		words := c.To.Refusal.ID
		if most := c.To.IDs.Max; most > 0 && len(made) > most && c.To.Refusal.LongID != "" {
			words = c.To.Refusal.LongID
		}
		sent.noteRefusal(words, old, p.Name, "the target doesn't accept this id")
	}
	if !c.To.Names.Takes(p.Name) {
		c.addLoss(NameIllegal.newLoss("the target doesn't accept the tool name %s: %s", quoteShort(p.Name), stream.Own(nameWords(c.To.Names))))
		sent.noteRefusal(c.To.Refusal.Name, made, p.Name, "the target doesn't accept this name")
	}
}

// nameWords describes a rule for names.
func nameWords(r protocol.NameRule) string {
	if r.Class == "" {
		return "it must not be empty"
	}
	if r.Max == 0 {
		return fmt.Sprintf("it must consist of [%s]", r.Class)
	}
	return fmt.Sprintf("it must have 1 to %d of [%s]", r.Max, r.Class)
}

// keepSignature keeps the call's signature if the target can use it, and adds a sentinel if the target needs
// a signature and there is none.
func (c *previewBuilder) keepSignature(p *protocol.Part, sent *Sent, first bool) {
	switch {
	case p.Signature == "":
	case c.Policy.unsigned:
		c.addLoss(SignatureDropped.newLoss("%s has no place for the call's signature", stream.Own(c.Policy.Client.Title)))
		p.Signature = ""
	case !c.same || !c.To.HasSignatures && c.To != c.src.From:
		c.addLoss(SignatureDropped.newLoss("the call's signature is valid only for its own provider"))
		p.Signature = ""
	}
	if !c.To.HasSignatures || p.Signature != "" || !first {
		return
	}
	switch {
	case c.same && c.src.split && c.src.behind[c.call-1]:
		sent.noteRefusal(c.To.Refusal.Unsigned, p.ID, p.Name, "only the first call of a turn is signed: sent alone, the others are unsigned")
	case !c.same && c.To.Sentinel != "" && c.Policy.way == nil:
		c.addLoss(SignatureSentinel.newLoss("the call is not signed: a fixed word that turns the check off is sent as the signature"))
		p.Signature = c.To.Sentinel
	}
}

// noteRefusal notes that the call would be refused. The first refusal counts.
func (s *Sent) noteRefusal(words, id, name, ours string) {
	if s.Refused == "" {
		s.Refused = refusalText(words, id, name, ours)
	}
}

// refusalText returns the provider's error for a call if it is known, else our words.
func refusalText(words, id, name, ours string) string {
	if words == "" {
		return ours
	}
	return protocol.FillRefusal(words, id, name)
}
