package replay

import (
	"bytes"

	"toolscope/providers/dialect"
	"toolscope/stream"
	"toolscope/stream/count"
)

// arguments are the call's arguments as they would be sent.
func (c *coercion) arguments(p *dialect.Part, f *facts, sent *Sent) []byte {
	if c.cleaned = nil; f.invalid.is() {
		c.loseAt(f.invalid, UnicodeSanitized.loss("bytes that are not UTF-8 become U+FFFD"))
		sent.Outcome = Reformatted
		f = factsOf(valid(f.raw), f.freeform)
		c.cleaned = f
	}
	own := c.own(p)
	switch {
	case f.freeform && (p.ToolKind == "custom" && c.To.Freeform || p.ToolKind != "custom" && c.same):
		sent.Form = dialect.TextForm
		return f.raw
	case f.freeform:
		c.loseAt(span{0, len(f.raw)}, FreeformToJSON.loss(`free text has no place here: it is sent as {"input": …}`))
		p.ToolKind, sent.Outcome = "function", Wrapped
		return objectOf("input", c.quoted(f))
	case own && (f.syntax == stream.SyntaxObject || f.syntax == stream.SyntaxEmpty && c.To.Form == dialect.TextForm):
		return f.raw // an item of the protocol's own: no client takes its arguments apart
	case c.Policy.way != nil && !own:
		return c.byClient(p, f, sent)
	case c.Policy.again && !own && f.syntax != stream.SyntaxEmpty:
		return c.encodedAgain(p, f, sent)
	case f.syntax == stream.SyntaxEmpty, f.null && (c.To.Form != dialect.TextForm || c.Policy.text != keep):
		c.loseAt(span{0, len(f.raw)}, ImpliedEmpty.loss("no arguments are sent as {}"))
		sent.Outcome = max(sent.Outcome, AssumedEmpty)
		return []byte("{}")
	case f.syntax == stream.SyntaxObject:
		return c.object(p.Form, f, sent)
	}
	return c.malformed(p, f, sent)
}

// own reports whether a call is an item of the protocol's own, going back where it came from.
func (c *coercion) own(p *dialect.Part) bool {
	return c.same && p.ToolKind != "function" && p.ToolKind != "custom"
}

// loseAt tells a loss of bytes of the arguments, as the source has them or as they were cleaned.
func (c *coercion) loseAt(at span, l Loss) {
	if c.cleaned != nil {
		raw := c.src.facts[c.call-1].raw
		at = span{uncleaned(raw, at.start), uncleaned(raw, at.end)}
	}
	l.Start, l.End = at.start, at.end
	c.lose(l)
}

// encoder is who encoded arguments that are a JSON string holding JSON.
func encoder(a dialect.ArgsAuthor) string {
	switch a {
	case dialect.ModelAuthor:
		return "the model"
	case dialect.ClientAuthor:
		return "a client before this one, not the model,"
	}
	return "the model or a client before this one"
}

// encodedAgain is the text as a JSON string.
func (c *coercion) encodedAgain(p *dialect.Part, f *facts, sent *Sent) []byte {
	words := "the client encodes the text once more: who decodes it once has a string"
	if f.syntax == stream.SyntaxDouble {
		words = encoder(p.Author) + " encoded the arguments twice, and the client encodes that string once more"
	}
	c.loseAt(span{0, len(f.raw)}, DoubleEncoded.loss("%s", words))
	sent.Outcome = Wrapped
	return dialect.AppendString(nil, f.raw)
}

// malformed is what the policy makes of arguments that are no object.
func (c *coercion) malformed(p *dialect.Part, f *facts, sent *Sent) []byte {
	act := c.Policy.object
	if c.To.Form == dialect.TextForm {
		act = c.Policy.text
	}
	all := span{0, len(f.raw)}
	switch act {
	case keep:
		if c.To.Form != dialect.TextForm && f.syntax != stream.SyntaxOther && f.syntax != stream.SyntaxDouble {
			sent.Outcome = Unknown // no JSON, where only JSON can stand
			return nil
		}
		return f.raw
	case wrap, wrapAny:
		c.loseAt(all, ArgsWrapped.loss("what the model wrote is put into {%q: …}", c.Policy.key))
		sent.Outcome = Wrapped
		return c.wrapped(f, act, sent)
	case drop:
		sent.Outcome = Dropped
		return nil
	case unwrap:
		if f.syntax == stream.SyntaxDouble {
			return c.unwrapped(p, f, sent)
		}
	case repair:
		if object, ok := c.repaired(p, f, sent); ok {
			return object
		}
	case refuse:
		words := c.To.Refusal.Args
		if c.To.Form == dialect.TextForm {
			words = ""
		}
		sent.refuse(words, sent.ID, sent.Name, "the client refuses: the arguments are not one JSON object")
		return nil
	}
	c.forget(func(l Loss) bool { return l.Kind == UnicodeSanitized && l.End > 0 })
	c.loseAt(all, ArgsEmptied.loss("%s the model wrote are gone: {} is sent", bytesWord(len(f.raw))))
	sent.Outcome = Emptied
	return []byte("{}")
}

func bytesWord(n int) string {
	if n == 1 {
		return "the byte"
	}
	return "the " + count.Of(n, "byte")
}

// wrapped is an object that holds the arguments under the policy's key.
func (c *coercion) wrapped(f *facts, act action, sent *Sent) []byte {
	if act == wrapAny && (f.syntax == stream.SyntaxOther || f.syntax == stream.SyntaxDouble) {
		return objectOf(c.Policy.key, c.fit(f, sent))
	}
	return objectOf(c.Policy.key, c.quoted(f))
}

// quoted is what the model wrote as one string.
func (c *coercion) quoted(f *facts) []byte {
	text := sanitized(f.raw)
	if len(f.raw) > 0 && !bytes.Equal(text, f.raw) {
		c.tell(f, UnicodeSanitized, f.half, "half a character in %s becomes U+FFFD")
	}
	return dialect.AppendString(nil, text)
}

func objectOf(key string, value []byte) []byte {
	var w dialect.Writer
	return w.Open('{').Key(key).Raw(value).Close('}').Text
}

// unwrapped is the object in a string that holds one.
func (c *coercion) unwrapped(p *dialect.Part, f *facts, sent *Sent) []byte {
	words := "the model wrote a string: the object in it is sent"
	if p.Author != dialect.ModelAuthor {
		words = encoder(p.Author) + " made a string of the object: the object in it is sent"
	}
	c.loseAt(span{0, len(f.raw)}, ArgsRepaired.loss("%s", words))
	sent.Outcome = Unwrapped
	return c.fit(factsOf(decoded(f), false), sent)
}

func (c *coercion) repaired(p *dialect.Part, f *facts, sent *Sent) ([]byte, bool) {
	if f.syntax == stream.SyntaxDouble {
		return c.unwrapped(p, f, sent), true
	}
	object, ok := repaired(f)
	if !ok {
		return nil, false
	}
	made := factsOf(object, false)
	if made.syntax != stream.SyntaxObject {
		return nil, false
	}
	switch {
	case f.syntax == stream.SyntaxConcat, f.docs > 1:
		c.loseAt(span{stream.FirstEnd(f.tokens), len(f.raw)}, ConcatFirstOnly.loss("of several objects written one after another the first is sent"))
	case f.syntax == stream.SyntaxTrailing:
		c.loseAt(span{stream.FirstEnd(f.tokens), len(f.raw)}, ArgsRepaired.loss("what stands behind the object is left out"))
	default:
		c.loseAt(span{min(f.wrong, len(f.raw)-1), len(f.raw)}, ArgsRepaired.loss("a parser's guess is sent as if the model had written it"))
	}
	sent.Outcome = Repaired
	return c.fit(made, sent), true
}
