package replay

import (
	"bytes"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/count"
)

// sentArgs returns the call's arguments as they would be sent.
func (c *previewBuilder) sentArgs(p *protocol.Part, f *argsFacts, sent *Sent) []byte {
	if c.cleaned = nil; f.invalid.is() {
		c.addLossAt(f.invalid, UnicodeSanitized.newLoss("bytes that are not UTF-8 become U+FFFD"))
		sent.Outcome = Reformatted
		f = factsOf(replaceNonUTF8(f.raw), f.freeform)
		c.cleaned = f
	}
	own := c.isNative(p)
	switch {
	case f.freeform && (p.ToolKind == "custom" && c.To.Freeform || p.ToolKind != "custom" && c.same):
		sent.Form = protocol.TextForm
		return f.raw
	case f.freeform:
		c.addLossAt(span{0, len(f.raw)}, FreeformToJSON.newLoss(`the target accepts no free text: it is sent as {"input": …}`))
		p.ToolKind, sent.Outcome = "function", Wrapped
		return objectOf("input", c.quoteArgs(f))
	case own && (f.syntax == stream.SyntaxObject || f.syntax == stream.SyntaxEmpty && c.To.Form == protocol.TextForm):
		return f.raw // an item of the protocol itself: no client parses its arguments
	case c.Policy.way != nil && !own:
		return c.byClient(p, f, sent)
	case c.Policy.again && !own && f.syntax != stream.SyntaxEmpty:
		return c.encodeAgain(p, f, sent)
	case f.syntax == stream.SyntaxEmpty, f.null && (c.To.Form != protocol.TextForm || c.Policy.text != keep):
		c.addLossAt(span{0, len(f.raw)}, ImpliedEmpty.newLoss("empty arguments are sent as {}"))
		sent.Outcome = max(sent.Outcome, AssumedEmpty)
		return []byte("{}")
	case f.syntax == stream.SyntaxObject:
		return c.objectArgs(p.Form, f, sent)
	}
	return c.malformedArgs(p, f, sent)
}

// isNative reports whether a call is a special item of the protocol that goes back to the same protocol.
func (c *previewBuilder) isNative(p *protocol.Part) bool {
	return c.same && p.ToolKind != "function" && p.ToolKind != "custom"
}

// addLossAt adds a loss of bytes of the arguments, given as a range of the original or sanitised text.
func (c *previewBuilder) addLossAt(at span, l Loss) {
	if c.cleaned != nil {
		raw := c.src.facts[c.call-1].raw
		at = span{originalOffset(raw, at.start), originalOffset(raw, at.end)}
	}
	l.Start, l.End = at.start, at.end
	c.addLoss(l)
}

// encoderWords returns who made double-encoded arguments.
func encoderWords(a protocol.ArgsAuthor) string {
	switch a {
	case protocol.ModelAuthor:
		return "the model"
	case protocol.ClientAuthor:
		return "a client before this one, not the model,"
	}
	return "the model or a client before this one"
}

// encodeAgain returns the text as a JSON string.
func (c *previewBuilder) encodeAgain(p *protocol.Part, f *argsFacts, sent *Sent) []byte {
	words := "the client encodes the text once more: decoding it once gives a string"
	if f.syntax == stream.SyntaxDouble {
		words = encoderWords(p.Author) + " encoded the arguments twice, and the client encodes that string once more"
	}
	c.addLossAt(span{0, len(f.raw)}, DoubleEncoded.newLoss("%s", stream.Own(words)))
	sent.Outcome = Wrapped
	return protocol.AppendString(nil, f.raw)
}

// malformedArgs applies the policy to arguments that are not an object.
func (c *previewBuilder) malformedArgs(p *protocol.Part, f *argsFacts, sent *Sent) []byte {
	act := c.Policy.object
	if c.To.Form == protocol.TextForm {
		act = c.Policy.text
	}
	all := span{0, len(f.raw)}
	switch act {
	case keep:
		if c.To.Form != protocol.TextForm && f.syntax != stream.SyntaxOther && f.syntax != stream.SyntaxDouble {
			sent.Outcome = Unknown // not JSON, but the target needs JSON
			return nil
		}
		return f.raw
	case wrap, wrapAny:
		c.addLossAt(all, ArgsWrapped.newLoss("the model's text is put into {%q: …}", stream.Own(c.Policy.key)))
		sent.Outcome = Wrapped
		return c.wrapArgs(f, act, sent)
	case drop:
		sent.Outcome = Dropped
		return nil
	case unwrap:
		if f.syntax == stream.SyntaxDouble {
			return c.unwrapArgs(p, f, sent)
		}
	case repair:
		if object, ok := c.repairArgs(p, f, sent); ok {
			return object
		}
	case refuse:
		words := c.To.Refusal.Args
		if c.To.Form == protocol.TextForm {
			words = ""
		}
		sent.noteRefusal(words, sent.ID, sent.Name, "the client refuses: the arguments are not one JSON object")
		return nil
	}
	c.retractLosses(func(l Loss) bool { return l.Kind == UnicodeSanitized && l.End > 0 })
	c.addLossAt(all, ArgsEmptied.newLoss("{} is sent, not %s that the model wrote", stream.Own(bytesWord(len(f.raw)))))
	sent.Outcome = Emptied
	return []byte("{}")
}

// bytesWord returns "the 47 bytes".
func bytesWord(n int) string {
	if n == 1 {
		return "the byte"
	}
	return "the " + count.Of(n, "byte")
}

// wrapArgs returns an object that holds the arguments under the policy's key.
func (c *previewBuilder) wrapArgs(f *argsFacts, act action, sent *Sent) []byte {
	if act == wrapAny && (f.syntax == stream.SyntaxOther || f.syntax == stream.SyntaxDouble) {
		return objectOf(c.Policy.key, c.rewriteValue(f, sent))
	}
	return objectOf(c.Policy.key, c.quoteArgs(f))
}

// quoteArgs returns the model's text as one string.
func (c *previewBuilder) quoteArgs(f *argsFacts) []byte {
	text := replaceInvalid(f.raw)
	if len(f.raw) > 0 && !bytes.Equal(text, f.raw) {
		c.addLossOf(f, UnicodeSanitized, f.half, "half a character in %s becomes U+FFFD")
	}
	return protocol.AppendString(nil, text)
}

// objectOf returns an object with one field.
func objectOf(key string, value []byte) []byte {
	var w protocol.Writer
	return w.Open('{').Key(key).Raw(value).Close('}').Text
}

// unwrapArgs returns the object in a string.
func (c *previewBuilder) unwrapArgs(p *protocol.Part, f *argsFacts, sent *Sent) []byte {
	words := "the model wrote a string: the object in it is sent"
	if p.Author != protocol.ModelAuthor {
		words = encoderWords(p.Author) + " encoded the object as a string: the object in it is sent"
	}
	c.addLossAt(span{0, len(f.raw)}, ArgsRepaired.newLoss("%s", stream.Own(words)))
	sent.Outcome = Unwrapped
	return c.rewriteValue(factsOf(stringContent(f), false), sent)
}

// repairArgs returns the object that a forgiving parser reads; ok is false if it reads none.
func (c *previewBuilder) repairArgs(p *protocol.Part, f *argsFacts, sent *Sent) ([]byte, bool) {
	if f.syntax == stream.SyntaxDouble {
		return c.unwrapArgs(p, f, sent), true
	}
	object, ok := repairJSON(f)
	if !ok {
		return nil, false
	}
	made := factsOf(object, false)
	if made.syntax != stream.SyntaxObject {
		return nil, false
	}
	switch {
	case f.syntax == stream.SyntaxConcat, f.docs > 1:
		c.addLossAt(span{stream.FirstEnd(f.tokens), len(f.raw)}, ConcatFirstOnly.newLoss("only the first of several consecutive objects is sent"))
	case f.syntax == stream.SyntaxTrailing:
		c.addLossAt(span{stream.FirstEnd(f.tokens), len(f.raw)}, ArgsRepaired.newLoss("the text after the object is left out"))
	default:
		c.addLossAt(span{min(f.wrong, len(f.raw)-1), len(f.raw)}, ArgsRepaired.newLoss("a parser's guess is sent as if the model had written it"))
	}
	sent.Outcome = Repaired
	return c.rewriteValue(made, sent), true
}
