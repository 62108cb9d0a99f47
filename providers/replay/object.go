package replay

import (
	"bytes"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// objectArgs is the arguments where they are one object.
func (c *previewBuilder) objectArgs(from protocol.ArgsForm, f *argsFacts, sent *Sent) []byte {
	if from == protocol.TextForm && c.To.Form != protocol.TextForm {
		sent.Outcome = max(sent.Outcome, Parsed)
	}
	return c.rewriteValue(f, sent)
}

// rewriteValue is a JSON value as the target gets it: the same bytes wherever that is possible. It says what
// changes.
func (c *previewBuilder) rewriteValue(f *argsFacts, sent *Sent) []byte {
	how := c.valueRules()
	again := c.Policy.reserialises
	before := len(c.Losses)
	if c.To.Form != protocol.TextForm || again {
		c.addLossOf(f, DupKeys, f.twice, "of the values of %s only the last is sent")
	}
	if how.sanitize {
		c.addLossOf(f, UnicodeSanitized, f.half, "half a character in %s becomes U+FFFD")
	}
	if how.doubles {
		c.addNumberLosses(f, how, sent)
	}
	if how.javaScript {
		c.addLossOf(f, StrSpelling, f.respelledString(how), "%s is written with other escapes")
	}
	if how.sort {
		c.addLossOf(f, KeyOrder, f.unsorted, "members have no order here: %s moves")
	} else if how.javaScript {
		c.addLossOf(f, KeyOrder, f.numeric, "JavaScript puts keys that are numbers first: %s moves")
	}
	changes := len(c.Losses) > before || c.To.Form == protocol.PositionalForm || again
	value := f.raw
	if c.To.Form != protocol.TextForm {
		value = bytes.Trim(f.raw, whitespace) // what stands around a value is no part of it
	}
	if changes {
		c.addLossOf(f, Whitespace, f.space, "the space between values, as in %s, is gone")
	} else if len(value) < len(f.raw) {
		c.addLossOf(f, Whitespace, surroundingSpace(f.raw), "the space around the value, as in %s, is gone")
	}
	if rule := c.To.Depth; f.tooDeep(rule) {
		c.addLoss(DepthLimit.newLoss("nests %d deep, which takes %d messages in one another: %d are read, as many as %d objects take",
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

// valueRules is what happens to a value on the way to the target.
func (c *previewBuilder) valueRules() (how rewriteRules) {
	if c.Policy.reserialises {
		how = rewriteRules{doubles: true, spell: true, javaScript: true}
	}
	if c.To.Form == protocol.TextForm {
		return how
	}
	from := c.src.From
	// What came out of doubles and maps has no spelling and no order to lose.
	how.doubles = how.doubles || c.To.Doubles
	how.spell = how.spell || c.To.Doubles && (from == nil || !from.Doubles)
	how.sort = c.To.UnorderedKeys && (from == nil || !from.UnorderedKeys)
	how.sanitize = true
	return how
}

func (c *previewBuilder) addNumberLosses(f *argsFacts, how rewriteRules, sent *Sent) {
	c.addLossOf(f, IntPrecision, f.integer, "no double holds %s: it is rounded")
	c.addLossOf(f, NumPrecision, f.fraction, "%s has more digits than a double: it is rounded")
	if how.spell {
		c.addLossOf(f, NumSpelling, f.respell, "%s is written in another way")
	}
	if !f.huge.is() {
		return
	}
	if how.javaScript {
		c.addLossOf(f, NumRange, f.huge, "%s is beyond every double: JavaScript writes null")
		return
	}
	c.addLossOf(f, NumRange, f.huge, "%s is beyond every double")
	sent.noteRefusal("", sent.ID, sent.Name, "a number is beyond every double")
}

// addLossOf reports a loss at a span of the facts, if there is one; the message has its text. Bytes of a
// value made on the way are no bytes of the call.
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

// surroundingSpace is the space before a value, or where there is none, behind it.
func surroundingSpace(text []byte) span {
	if n := len(text) - len(bytes.TrimLeft(text, whitespace)); n > 0 {
		return span{0, n}
	}
	return span{len(bytes.TrimRight(text, whitespace)), len(text)}
}

// whitespace is what JSON takes for space.
const whitespace = " \t\r\n"

// quoteShort is a text as messages show it: cut when it is long.
func quoteShort(s string) string {
	return string(replaceInvalid([]byte(stream.Clip([]byte(s), 0, 48))))
}

// stringContent is the text in a string.
func stringContent(f *argsFacts) []byte { return protocol.Raw(bytes.TrimSpace(f.raw)).Append(nil) }
