package replay

import (
	"bytes"
	"unicode/utf8"

	"toolscope/providers/js"
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// sentArgs returns the call's arguments in the form in which they would be sent. It also sets the outcome in sent,
// and adds the losses.
func (c *previewBuilder) sentArgs(p *protocol.Part, f *argsFacts, sent *Sent) []byte {
	if c.cleaned = nil; f.invalid.is() {
		c.addLossAt(f.invalid, UnicodeSanitized.newLoss("bytes that are not UTF-8 become U+FFFD"))
		sent.Outcome = Reformatted
		f = factsOf(json.ReplaceNonUTF8(f.raw), f.freeform)
		c.cleaned = f
	}
	if c.Policy.way != nil && !c.nameCall(p, sent) {
		return nil
	}
	own := c.isNative(p)
	switch {
	case f.freeform && (p.ToolKind == "custom" && c.To.Freeform || p.ToolKind != "custom" && c.same):
		sent.Form = protocol.TextForm
		return f.raw
	case f.freeform:
		c.addLossAt(span{0, len(f.raw)}, FreeformToJSON.newLoss(`the target accepts no free text: the text is sent as {"input": …}`))
		p.ToolKind, sent.Outcome = "function", Wrapped
		return objectOf("input", c.quoteArgs(f))
	case own && (f.syntax == json.SyntaxObject || f.syntax == json.SyntaxEmpty && c.To.Form == protocol.TextForm):
		return f.raw // a special item of the protocol: no client parses its arguments
	case c.Policy.way != nil && !own:
		return c.byClient(p, f, sent)
	case c.Policy.again && !own && f.syntax != json.SyntaxEmpty:
		return c.encodeAgain(p, f, sent)
	case f.syntax == json.SyntaxEmpty, f.null && (c.To.Form != protocol.TextForm || c.Policy.text != keep):
		c.addLossAt(span{0, len(f.raw)}, ImpliedEmpty.newLoss("empty arguments are sent as {}"))
		sent.Outcome = max(sent.Outcome, AssumedEmpty)
		return []byte("{}")
	case f.syntax == json.SyntaxObject:
		if p.Form == protocol.TextForm && c.To.Form != protocol.TextForm {
			sent.Outcome = max(sent.Outcome, Parsed)
		}
		return c.rewriteValue(f, sent)
	}
	return c.malformedArgs(p, f, sent)
}

// isNative reports whether a call is a special item of the protocol that is sent back in the same protocol.
func (c *previewBuilder) isNative(p *protocol.Part) bool {
	return c.same && p.ToolKind != "function" && p.ToolKind != "custom"
}

// addLossAt adds a loss for a range of bytes in the arguments. If the arguments were sanitised, the range refers to
// the sanitised text.
func (c *previewBuilder) addLossAt(at span, l Loss) {
	if c.cleaned != nil {
		raw := c.src.facts[c.call-1].raw
		at = span{originalOffset(raw, at.start), originalOffset(raw, at.end)}
	}
	l.Start, l.End = at.start, at.end
	c.addLoss(l)
}

// encoderWords names the party that double-encoded the arguments.
func encoderWords(a protocol.ArgsAuthor) string {
	switch a {
	case protocol.ModelAuthor:
		return "the model"
	case protocol.ClientAuthor:
		return "an earlier client, not the model,"
	}
	return "the model or an earlier client"
}

// encodeAgain returns the text of the arguments, encoded as a JSON string.
func (c *previewBuilder) encodeAgain(p *protocol.Part, f *argsFacts, sent *Sent) []byte {
	words := "the client encodes the text again: a program that decodes it once gets a string"
	if f.syntax == json.SyntaxDouble {
		words = encoderWords(p.Author) + " encoded the arguments twice, and this client encodes the string again"
	}
	c.addLossAt(span{0, len(f.raw)}, DoubleEncoded.newLoss("%s", stream.Own(words)))
	sent.Outcome = Wrapped
	return json.AppendQuoted(nil, f.raw)
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
		if c.To.Form != protocol.TextForm && f.syntax != json.SyntaxOther && f.syntax != json.SyntaxDouble {
			sent.Outcome = Unknown // not JSON, but the target needs JSON
			return nil
		}
		return f.raw
	case wrap, wrapAny:
		c.addLossAt(all, ArgsWrapped.newLoss("the model's text is wrapped in {%q: …}", stream.Own(c.Policy.key)))
		sent.Outcome = Wrapped
		if act == wrapAny && (f.syntax == json.SyntaxOther || f.syntax == json.SyntaxDouble) {
			return objectOf(c.Policy.key, c.rewriteValue(f, sent))
		}
		return objectOf(c.Policy.key, c.quoteArgs(f))
	case drop:
		sent.Outcome = Dropped
		return nil
	case unwrap:
		if f.syntax == json.SyntaxDouble {
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

// bytesWord returns a number of bytes in words, e.g. "the 47 bytes".
func bytesWord(n int) string {
	if n == 1 {
		return "the byte"
	}
	return "the " + count.Of(n, "byte")
}

// quoteArgs returns the model's text as a JSON string.
func (c *previewBuilder) quoteArgs(f *argsFacts) []byte {
	text := json.ReplaceInvalid(f.raw)
	if len(f.raw) > 0 && !bytes.Equal(text, f.raw) {
		c.addLossOf(f, UnicodeSanitized, f.half, "half a character in %s becomes U+FFFD")
	}
	return json.AppendQuoted(nil, text)
}

// objectOf returns an object with one field.
func objectOf(key string, value []byte) []byte {
	var w json.Writer
	return w.Open('{').Key(key).Raw(value).Close('}').Text
}

// unwrapArgs returns the object inside a string.
func (c *previewBuilder) unwrapArgs(p *protocol.Part, f *argsFacts, sent *Sent) []byte {
	words := "the model wrote a string: the object in it is sent"
	if p.Author != protocol.ModelAuthor {
		words = encoderWords(p.Author) + " encoded the object as a string: the object in it is sent"
	}
	c.addLossAt(span{0, len(f.raw)}, ArgsRepaired.newLoss("%s", stream.Own(words)))
	sent.Outcome = Unwrapped
	return c.rewriteValue(factsOf(stringContent(f), false), sent)
}

// repairArgs returns the object that a lenient parser reads from the arguments. It returns false if the parser reads
// no object.
func (c *previewBuilder) repairArgs(p *protocol.Part, f *argsFacts, sent *Sent) ([]byte, bool) {
	if f.syntax == json.SyntaxDouble {
		return c.unwrapArgs(p, f, sent), true
	}
	object, ok := repairJSON(f)
	if !ok {
		return nil, false
	}
	made := factsOf(object, false)
	if made.syntax != json.SyntaxObject {
		return nil, false
	}
	switch {
	case f.syntax == json.SyntaxConcat, f.docs > 1:
		c.addLossAt(span{json.FirstEnd(f.tokens), len(f.raw)}, ConcatFirstOnly.newLoss("only the first of several consecutive objects is sent"))
	case f.syntax == json.SyntaxTrailing:
		c.addLossAt(span{json.FirstEnd(f.tokens), len(f.raw)}, ArgsRepaired.newLoss("the text after the object is left out"))
	default:
		c.addLossAt(span{min(f.wrong, len(f.raw)-1), len(f.raw)}, ArgsRepaired.newLoss("a parser's guess is sent as if the model had written it"))
	}
	sent.Outcome = Repaired
	return c.rewriteValue(made, sent), true
}

// rewriteValue returns a JSON value as the target receives it. It keeps the bytes unchanged if possible, and adds a
// loss for each change.
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
		c.addLossOf(f, KeyOrder, f.numeric, "JavaScript moves keys that are numbers to the front: %s moves")
	}
	changes := len(c.Losses) > before || c.To.Form == protocol.PositionalForm || again
	value := f.raw
	if c.To.Form != protocol.TextForm {
		value = bytes.Trim(f.raw, whitespace) // white space around a value is not part of the value
	}
	if changes {
		c.addLossOf(f, Whitespace, f.space, "the space between values, e.g. %s, is removed")
	} else if len(value) < len(f.raw) {
		c.addLossOf(f, Whitespace, surroundingSpace(f.raw), "the space around the value, e.g. %s, is removed")
	}
	if rule := c.To.Depth; f.tooDeep(rule) {
		c.addLoss(NestedTooDeep.newLoss("the arguments are nested %d levels deep, which needs %d nested protobuf messages; the target accepts %d messages, which is enough for %d nested objects",
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

// valueRules returns the rules by which a value is rewritten for the target.
func (c *previewBuilder) valueRules() (how rewriteRules) {
	if c.Policy.reserialises {
		how = rewriteRules{doubles: true, spell: true, javaScript: true}
	}
	if c.To.Form == protocol.TextForm {
		return how
	}
	from := c.src.From
	// A value that was read into doubles and maps has already lost its spelling and its order.
	how.doubles = how.doubles || c.To.Doubles
	how.spell = how.spell || c.To.Doubles && (from == nil || !from.Doubles)
	how.sort = c.To.UnorderedKeys && (from == nil || !from.UnorderedKeys)
	how.sanitize = true
	return how
}

// addNumberLosses adds the losses for numbers that become doubles.
func (c *previewBuilder) addNumberLosses(f *argsFacts, how rewriteRules, sent *Sent) {
	c.addLossOf(f, IntPrecision, f.integer, "%s doesn't fit in a double: it is rounded")
	c.addLossOf(f, NumPrecision, f.fraction, "%s has more digits than a double can store: it is rounded")
	if how.spell {
		c.addLossOf(f, NumSpelling, f.respell, "%s is written differently")
	}
	if !f.huge.is() {
		return
	}
	if how.javaScript {
		c.addLossOf(f, NumRange, f.huge, "%s is too large for a double: JavaScript writes null instead")
		return
	}
	c.addLossOf(f, NumRange, f.huge, "%s is too large for a double")
	sent.noteRefusal("", sent.ID, sent.Name, "a number is too large for a double")
}

// addLossOf adds a loss for a span in the facts, if the span is not empty. The parameter message is a format string
// for the text in the span. A derived value doesn't exist in the call's bytes, so its loss has no span.
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

// surroundingSpace returns the span of the white space before a value. If there is none, it returns the white space
// after the value.
func surroundingSpace(text []byte) span {
	if n := len(text) - len(bytes.TrimLeft(text, whitespace)); n > 0 {
		return span{0, n}
	}
	return span{len(bytes.TrimRight(text, whitespace)), len(text)}
}

// whitespace contains the white-space characters of JSON.
const whitespace = " \t\r\n"

// quoteShort prepares a text for quoting in a message. It shortens long text, and replaces invalid bytes.
func quoteShort(s string) string {
	return string(json.ReplaceInvalid([]byte(stream.Clip([]byte(s), 0, 48))))
}

// stringContent returns the text inside a JSON string.
func stringContent(f *argsFacts) []byte { return json.Value(bytes.TrimSpace(f.raw)).Append(nil) }

// argsFacts describes the arguments of one call. The facts are collected once and used for all previews. A span is
// the first occurrence of its kind; it is empty if there is none.
type argsFacts struct {
	raw      []byte
	freeform bool
	syntax   json.Syntax
	docs     int // number of complete JSON texts
	wrong    int // offset of the first byte that is not JSON, or the length

	tokens   json.TokenList
	null     bool
	space    span // between tokens
	respell  span // a number that JavaScript writes differently
	integer  span // an integer that doesn't fit a double
	fraction span // a fraction with more digits than a double
	huge     span // a number that is too large for a double
	escapes  span // a string that JavaScript writes differently
	halves   span // a string that contains half a surrogate pair, and that JavaScript writes differently
	half     span // half a surrogate pair, or a string with an escape for one
	invalid  span // bytes that are not UTF-8
	twice    span // a duplicate key
	unsorted span // a key that sorts before the previous one
	numeric  span // a key that is an array index and out of place: JavaScript puts such keys first
	depth    int  // nesting of containers
}

type span struct{ start, end int }

func (s span) is() bool { return s.end > s.start }

// setFirst sets the span if the span is empty.
func (s *span) setFirst(start, end int) {
	if !s.is() {
		*s = span{start, end}
	}
}

// factsOf returns the facts about arguments.
func factsOf(raw []byte, freeform bool) *argsFacts {
	f := &argsFacts{raw: raw, freeform: freeform, wrong: len(raw)}
	f.findInvalid()
	if freeform {
		f.syntax = json.SyntaxFreeform
		return f
	}
	var lex json.Lexer
	lex.Write(raw)
	lex.Close()
	f.syntax, f.tokens, f.docs = lex.Syntax(), lex.Tokens(), lex.Docs()
	if err := lex.Err(); err != nil {
		f.wrong = err.Offset
	}
	if f.syntax == json.SyntaxOther {
		trimmed := json.Value(bytes.TrimSpace(raw))
		f.null = string(trimmed) == "null"
		if inner := trimmed.Append(nil); trimmed.IsString() && json.IsObject(inner) {
			f.syntax = json.SyntaxDouble
		}
	}
	if f.syntax == json.SyntaxObject || f.syntax == json.SyntaxOther {
		f.scanTokens()
	}
	return f
}

// findInvalid finds bytes that are not UTF-8. Half a surrogate pair that is encoded as three bytes is handled
// separately, because JSON can express it.
func (f *argsFacts) findInvalid() {
	if utf8.Valid(f.raw) {
		return
	}
	for i := 0; i < len(f.raw); {
		n, ok := json.CharLen(f.raw[i:])
		switch {
		case !ok:
			f.invalid.setFirst(i, i+1)
		case json.IsHalf(f.raw[i:]):
			f.half.setFirst(i, i+n)
		}
		i += n
	}
}

// scanTokens finds the facts about the tokens of a text that is valid JSON.
func (f *argsFacts) scanTokens() {
	var open []*members
	start := 0
	for _, t := range f.tokens.All() {
		end := int(t.End)
		lit := f.raw[start:end]
		switch t.Kind {
		case json.Space:
			f.space.setFirst(start, end)
		case json.ObjectOpen:
			open = append(open, new(members))
			f.depth = max(f.depth, len(open))
		case json.ArrayOpen:
			open = append(open, nil)
			f.depth = max(f.depth, len(open))
		case json.ObjectClose, json.ArrayClose:
			open = open[:len(open)-1]
		case json.Key:
			f.lookAtString(lit, start)
			f.lookAtKey(open[len(open)-1], lit, start)
		case json.String:
			f.lookAtString(lit, start)
		case json.Number:
			f.lookAtNumber(lit, start)
		}
		start = end
	}
}

// members contains the keys of an object that were read so far.
type members struct {
	last  string
	index int  // the last key that was an array index
	named bool // there was a key that is not an array index
	all   map[string]bool
}

func (f *argsFacts) lookAtKey(m *members, lit []byte, start int) {
	key := json.Value(lit).Text()
	end := start + len(lit)
	if m.all[key] {
		f.twice.setFirst(start, end)
		return // the new value replaces the key's first value
	}
	if m.all == nil {
		m.all = map[string]bool{}
	} else if key < m.last {
		f.unsorted.setFirst(start, end)
	}
	m.all[key], m.last = true, key
	if !js.IsIndex(key) {
		m.named = true
		return
	}
	n := js.ArrayIndex(key)
	if m.named || n < m.index {
		f.numeric.setFirst(start, end)
	}
	m.index = n
}

func (f *argsFacts) lookAtString(lit []byte, start int) {
	if bytes.IndexByte(lit, '\\') < 0 {
		return
	}
	text := json.Value(lit).Append(nil)
	end, where := start+len(lit), &f.escapes
	for i := 0; i < len(text); i++ {
		if json.IsHalf(text[i:]) {
			f.half.setFirst(start, end)
			where = &f.halves
			break
		}
	}
	if !bytes.Equal(json.AppendQuoted(nil, text), lit) {
		where.setFirst(start, end)
	}
}

// respelledString returns the span of a string that JavaScript writes differently. A string with half a character
// counts only if the half is kept. If the half is replaced, that is a separate loss.
func (f *argsFacts) respelledString(how rewriteRules) span {
	if !f.escapes.is() && !how.sanitize {
		return f.halves
	}
	return f.escapes
}

func (f *argsFacts) lookAtNumber(lit []byte, start int) {
	end := start + len(lit)
	switch _, how := asDouble(lit); how {
	case spelledOther:
		f.respell.setFirst(start, end)
	case roundedInteger:
		f.integer.setFirst(start, end)
	case roundedFraction:
		f.fraction.setFirst(start, end)
	case beyond:
		f.huge.setFirst(start, end)
	}
}

// depthLevels returns the number of nesting levels that a rule counts in the text.
func (f *argsFacts) depthLevels(rule protocol.DepthRule) (most int) {
	now, cost := rule.Base, []int(nil)
	for _, t := range f.tokens.All() {
		switch t.Kind {
		case json.ObjectOpen, json.ArrayOpen:
			c := rule.Object
			if t.Kind == json.ArrayOpen {
				c = rule.Array
			}
			cost = append(cost, c)
			now += c
			most = max(most, now)
		case json.ObjectClose, json.ArrayClose:
			now -= cost[len(cost)-1]
			cost = cost[:len(cost)-1]
		}
	}
	return most
}

// tooDeep reports whether the text is nested more deeply than a rule allows.
func (f *argsFacts) tooDeep(rule protocol.DepthRule) bool {
	if rule.Limit == 0 || rule.Base+f.depth*max(rule.Object, rule.Array) <= rule.Limit {
		return false
	}
	return f.depthLevels(rule) > rule.Limit
}
