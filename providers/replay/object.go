package replay

import (
	"bytes"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// object is the arguments where they are one object.
func (c *coercion) object(from dialect.ArgsForm, f *facts, sent *Sent) []byte {
	if from == dialect.TextForm && c.To.Form != dialect.TextForm {
		sent.Outcome = max(sent.Outcome, Parsed)
	}
	return c.fit(f, sent)
}

// fit is a JSON value as the target gets it: the same bytes wherever that is possible. It says what
// changes.
func (c *coercion) fit(f *facts, sent *Sent) []byte {
	how := c.rewriting()
	again := c.Policy.reserialises
	before := len(c.Losses)
	if c.To.Form != dialect.TextForm || again {
		c.tell(f, DupKeys, f.twice, "of the values of %s only the last is sent")
	}
	if how.sanitize {
		c.tell(f, UnicodeSanitized, f.half, "half a character in %s becomes U+FFFD")
	}
	if how.doubles {
		c.tellNumbers(f, how, sent)
	}
	if how.javaScript {
		c.tell(f, StrSpelling, f.respelled(how), "%s is written with other escapes")
	}
	if how.sort {
		c.tell(f, KeyOrder, f.unsorted, "members have no order here: %s moves")
	} else if how.javaScript {
		c.tell(f, KeyOrder, f.numeric, "JavaScript puts keys that are numbers first: %s moves")
	}
	changes := len(c.Losses) > before || c.To.Form == dialect.PositionalForm || again
	value := f.raw
	if c.To.Form != dialect.TextForm {
		value = bytes.Trim(f.raw, whitespace) // what stands around a value is no part of it
	}
	if changes {
		c.tell(f, Whitespace, f.space, "the space between values, as in %s, is gone")
	} else if len(value) < len(f.raw) {
		c.tell(f, Whitespace, around(f.raw), "the space around the value, as in %s, is gone")
	}
	if rule := c.To.Depth; f.tooDeep(rule) {
		c.lose(DepthLimit.loss("nests %d deep, which takes %d messages in one another: %d are read, as many as %d objects take",
			f.depth, f.levels(rule), rule.Limit, rule.Objects()))
		c.doubt = true
		if words := c.To.Refusal.Depth; words != "" {
			sent.refuse(words, sent.ID, sent.Name, "")
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

// rewriting is what happens to a value on the way to the target.
func (c *coercion) rewriting() (how rewriting) {
	if c.Policy.reserialises {
		how = rewriting{doubles: true, spell: true, javaScript: true}
	}
	if c.To.Form == dialect.TextForm {
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

func (c *coercion) tellNumbers(f *facts, how rewriting, sent *Sent) {
	c.tell(f, IntPrecision, f.integer, "no double holds %s: it is rounded")
	c.tell(f, NumPrecision, f.fraction, "%s has more digits than a double: it is rounded")
	if how.spell {
		c.tell(f, NumSpelling, f.respell, "%s is written in another way")
	}
	if !f.huge.is() {
		return
	}
	if how.javaScript {
		c.tell(f, NumRange, f.huge, "%s is beyond every double: JavaScript writes null")
		return
	}
	c.tell(f, NumRange, f.huge, "%s is beyond every double")
	sent.refuse("", sent.ID, sent.Name, "a number is beyond every double")
}

// tell reports a loss at a span of the facts, if there is one; the message has its text. Bytes of a
// value made on the way are no bytes of the call.
func (c *coercion) tell(f *facts, kind *Kind, at span, message string) {
	if !at.is() {
		return
	}
	l := kind.loss(message, quote(string(f.raw[at.start:at.end])))
	if f != c.src.facts[c.call-1] && f != c.cleaned {
		at = span{}
	}
	c.loseAt(at, l)
}

// around is the space before a value, or where there is none, behind it.
func around(text []byte) span {
	if n := len(text) - len(bytes.TrimLeft(text, whitespace)); n > 0 {
		return span{0, n}
	}
	return span{len(bytes.TrimRight(text, whitespace)), len(text)}
}

// whitespace is what JSON takes for space.
const whitespace = " \t\r\n"

// quote is a text as messages show it: cut when it is long.
func quote(s string) string { return string(sanitized([]byte(stream.Clip([]byte(s), 0, 48)))) }

// decoded is the text in a string.
func decoded(f *facts) []byte { return dialect.Raw(bytes.TrimSpace(f.raw)).Append(nil) }
