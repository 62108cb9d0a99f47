package replay

import (
	"bytes"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// objectArgs returns arguments that are one object, in the target's form.
func (c *previewBuilder) objectArgs(from protocol.ArgsForm, f *argsFacts, sent *Sent) []byte {
	if from == protocol.TextForm && c.To.Form != protocol.TextForm {
		sent.Outcome = max(sent.Outcome, Parsed)
	}
	return c.rewriteValue(f, sent)
}

// rewriteValue returns a JSON value as the target gets it, with the same bytes if possible. It adds a loss
// for each change.
func (c *previewBuilder) rewriteValue(f *argsFacts, sent *Sent) []byte {
	how := c.valueRules()
	again := c.Policy.reserialises
	before := len(c.Losses)
	if c.To.Form != protocol.TextForm || again {
		c.addLossOf(f, DupKeys, f.twice, "only the last value of %s is sent")
	}
	if how.sanitize {
		c.addLossOf(f, UnicodeSanitized, f.half, "half a character in %s becomes U+FFFD")
	}
	if how.doubles {
		c.addNumberLosses(f, how, sent)
	}
	if how.javaScript {
		c.addLossOf(f, StrSpelling, f.respelledString(how), "%s is written with different escapes")
	}
	if how.sort {
		c.addLossOf(f, KeyOrder, f.unsorted, "the target doesn't keep the order of fields: %s moves")
	} else if how.javaScript {
		c.addLossOf(f, KeyOrder, f.numeric, "JavaScript puts keys that are numbers first: %s moves")
	}
	changes := len(c.Losses) > before || c.To.Form == protocol.PositionalForm || again
	value := f.raw
	if c.To.Form != protocol.TextForm {
		value = bytes.Trim(f.raw, whitespace) // space around a value is not part of it
	}
	if changes {
		c.addLossOf(f, Whitespace, f.space, "the space between values, e.g. %s, is removed")
	} else if len(value) < len(f.raw) {
		c.addLossOf(f, Whitespace, surroundingSpace(f.raw), "the space around the value, e.g. %s, is removed")
	}
	if rule := c.To.Depth; f.tooDeep(rule) {
		c.addLoss(NestedTooDeep.newLoss("nests %d levels deep, in %d nested messages; the target accepts %d, enough for %d objects",
			f.depth, f.depthLevels(rule), rule.Limit, rule.Objects()))
		c.doubt = true
		if words := c.To.Refusal.Depth; words != "" {
			sent.noteRefusal(words, sent.ID, sent.Name, "")
		}
	}
	if len(c.Losses) == before {
		return f.raw
	}
	out := value
	if changes {
		t := newTree(f.raw, f.tokens)
		out = t.write(make([]byte, 0, len(f.raw)), 0, how)
	}
	if !bytes.Equal(out, f.raw) {
		sent.Outcome = max(sent.Outcome, Reformatted)
	}
	return out
}

// valueRules returns the changes that a value undergoes on the way to the target.
func (c *previewBuilder) valueRules() (how rewriteRules) {
	if c.Policy.reserialises {
		how = rewriteRules{doubles: true, spell: true, javaScript: true}
	}
	if c.To.Form == protocol.TextForm {
		return how
	}
	from := c.src.From
	// A value that was read into doubles and maps has no spelling and no order to lose.
	how.doubles = how.doubles || c.To.Doubles
	how.spell = how.spell || c.To.Doubles && (from == nil || !from.Doubles)
	how.sort = c.To.UnorderedKeys && (from == nil || !from.UnorderedKeys)
	how.sanitize = true
	return how
}

// addNumberLosses adds the losses of numbers that become doubles.
func (c *previewBuilder) addNumberLosses(f *argsFacts, how rewriteRules, sent *Sent) {
	c.addLossOf(f, IntPrecision, f.integer, "%s doesn't fit a double: it is rounded")
	c.addLossOf(f, NumPrecision, f.fraction, "%s has more digits than a double: it is rounded")
	if how.spell {
		c.addLossOf(f, NumSpelling, f.respell, "%s is written in a different way")
	}
	if !f.huge.is() {
		return
	}
	if how.javaScript {
		c.addLossOf(f, NumRange, f.huge, "%s is too large for a double: JavaScript writes null")
		return
	}
	c.addLossOf(f, NumRange, f.huge, "%s is too large for a double")
	sent.noteRefusal("", sent.ID, sent.Name, "a number is too large for a double")
}

// addLossOf adds a loss at a span of the facts, if there is one. The message is a format for its text. A
// value made on the way has no bytes of the call, and so no span.
func (c *previewBuilder) addLossOf(f *argsFacts, kind *Kind, at span, message string) {
	if !at.is() {
		return
	}
	l := kind.newLoss(message, quoteShort(string(f.raw[at.start:at.end])))
	if f != c.src.facts[c.call-1] && f != c.cleaned {
		at = span{}
	}
	c.addLossAt(at, l)
}

// surroundingSpace returns the space before a value, or if there is none, after it.
func surroundingSpace(text []byte) span {
	if n := len(text) - len(bytes.TrimLeft(text, whitespace)); n > 0 {
		return span{0, n}
	}
	return span{len(bytes.TrimRight(text, whitespace)), len(text)}
}

// whitespace holds the space characters of JSON.
const whitespace = " \t\r\n"

// quoteShort returns a text for a message, cut if it is long.
func quoteShort(s string) string {
	return string(replaceInvalid([]byte(stream.Clip([]byte(s), 0, 48))))
}

// stringContent returns the text in a string.
func stringContent(f *argsFacts) []byte { return protocol.Raw(bytes.TrimSpace(f.raw)).Append(nil) }
