package replay

import (
	"bytes"
	"crypto/sha256"
	"strings"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// verdict is what became of a call's arguments, and what that loses.
type verdict struct {
	fate  Fate
	loss  Loss // its Kind is nil when there is none
	vague bool // hashes tell no more
}

// judgement is the last verdict on a call, and what it was about.
type judgement struct {
	verdict
	text [sha256.Size]byte
	form dialect.ArgsForm
	to   *dialect.Target
}

func (j *judgement) isAbout(text [sha256.Size]byte, form dialect.ArgsForm, to *dialect.Target) bool {
	return j.text == text && j.form == form && j.to == to
}

// mostJudged is how many judgements are remembered at least, and half of how many at most.
const mostJudged = 1 << 14

// remembers is the last judgement on a call.
func (by *Observer) remembers(call stream.Ref) (j judgement, ok bool) {
	if j, ok = by.judged[call]; !ok {
		j, ok = by.before[call]
	}
	return j, ok
}

// remember keeps a judgement. Those that no request has asked for in a long time are forgotten.
func (by *Observer) remember(call stream.Ref, j judgement) {
	if by.judged == nil || len(by.judged) >= mostJudged {
		by.judged, by.before = map[stream.Ref]judgement{}, by.judged
	}
	by.judged[call] = j
}

// judge says what became of a call's arguments, from memory if it can.
func (by *Observer) judge(e *earlier, sent *dialect.Part, to *dialect.Target) verdict {
	if e.call != nil && bytes.Equal(e.call.Args(), sent.Args) {
		return judge(e.call, sent, to)
	}
	if e.left != nil && e.left.isIntact(sent, to) {
		return verdict{fate: Intact}
	}
	sum := sha256.Sum256(sent.Args)
	if j, ok := by.remembers(e.ref); ok && j.isAbout(sum, sent.Form, to) {
		if _, fresh := by.judged[e.ref]; !fresh {
			by.remember(e.ref, j)
		}
		return j.verdict
	}
	c := e.call
	if c == nil {
		if j := e.left.last; j != nil && j.isAbout(sum, sent.Form, to) {
			return j.verdict
		}
		if c = e.again(); c == nil {
			return e.left.judge(sent, to)
		}
	}
	v := judge(c, sent, to)
	by.remember(e.ref, judgement{v, sum, sent.Form, to})
	return v
}

// holds reports whether the arguments sent hold all that the model wrote.
func (by *Observer) holds(e *earlier, sent *dialect.Part, to *dialect.Target) bool {
	switch by.judge(e, sent, to).fate {
	case Intact, WasReformatted, WasEncoded, WasWrapped:
		return true
	}
	return false
}

// compare takes the verdict on the arguments.
func (o *Observation) compare(v verdict) {
	o.Fate, o.vague = v.fate, v.vague
	if v.loss.Kind == nil {
		return
	}
	if v.fate != WasReformatted {
		v.loss.End = o.size()
	}
	o.lose(v.loss)
}

// judge says what became of a call's arguments.
func judge(c *stream.Call, sent *dialect.Part, to *dialect.Target) verdict {
	return judgeText(c.Args(), c.Freeform(), sent, to)
}

// judgeText says what became of arguments that the model wrote so.
func judgeText(raw []byte, freeform bool, sent *dialect.Part, to *dialect.Target) verdict {
	text := sent.Args
	asText := sent.Form == dialect.TextForm && to.Form != dialect.TextForm && !freeform
	switch {
	case !asText && bytes.Equal(raw, text), !asText && saysNothing(raw) && saysNothing(text):
		return verdict{fate: Intact}
	case asText && dialect.Same(raw, dialect.AppendString(nil, text)):
		return verdict{fate: Intact} // the model's was a string too
	case asText, encodes(text, raw):
		return judgeString(raw, text)
	case dialect.Same(raw, text), bytes.Equal(bytes.TrimSpace(raw), bytes.TrimSpace(text)):
		return verdict{fate: WasReformatted}
	case saysNothing(text):
		return verdict{fate: WasEmptied, loss: ArgsEmptied.loss("%s the model wrote are gone: {} was sent", bytesWord(len(raw)))}
	case wraps(text, raw) && freeform:
		return verdict{fate: WasWrapped, loss: FreeformToJSON.loss("free text was put into an object")}
	case wraps(text, raw):
		return verdict{fate: WasWrapped, loss: ArgsWrapped.loss("what the model wrote was put into an object")}
	}
	return judgeOther(factsOf(raw, freeform), text)
}

// judgeString judges a string where an object must be, or a string in a string.
func judgeString(raw, text []byte) verdict {
	if bytes.Equal(raw, text) || dialect.Same(raw, text) || encodes(text, raw) {
		words := "the client encoded the arguments once more: they are a string that holds the text"
		if factsOf(raw, false).syntax == stream.SyntaxDouble {
			words = "the model encoded the arguments twice, and the client encoded that string once more"
		}
		return verdict{fate: WasEncoded, loss: DoubleEncoded.loss("%s", words)}
	}
	return verdict{fate: WasAltered, loss: ArgsAltered.loss("a string was sent that does not hold what the model wrote")}
}

// judgeOther judges arguments that are others now.
func judgeOther(f *facts, text []byte) verdict {
	object := f.syntax == stream.SyntaxObject
	switch {
	case object && rounded(f, text):
		return verdict{fate: WasReformatted, loss: IntPrecision.loss("numbers that no double holds were rounded")}
	case cleaned(f, text):
		return verdict{fate: WasReformatted, loss: UnicodeSanitized.loss("what is no Unicode text became U+FFFD")}
	case f.syntax == stream.SyntaxDouble && dialect.Same(decoded(f), text):
		return verdict{fate: WasRepaired, loss: ArgsRepaired.loss("the model wrote a string: the object in it was sent")}
	case f.syntax == stream.SyntaxConcat && isFirst(f, text):
		return verdict{fate: WasRepaired, loss: ConcatFirstOnly.loss("of %d objects written one after another the first was sent", f.docs)}
	case !object && isObject(text):
		return verdict{fate: WasRepaired, loss: ArgsRepaired.loss("a parser's guess was sent as if the model had written it")}
	}
	return verdict{fate: WasAltered, loss: ArgsAltered.loss("other arguments were sent than the model wrote")}
}

// isFirst reports whether text is the first of several objects.
func isFirst(f *facts, text []byte) bool {
	first, ok := repaired(f)
	return ok && dialect.Same(first, text)
}

// cleaned reports whether text is what f is without what is no Unicode text.
func cleaned(f *facts, text []byte) bool {
	switch {
	case !f.half.is() && !f.invalid.is():
		return false
	case f.syntax != stream.SyntaxObject:
		return bytes.Equal(sanitized(f.raw), sanitized(text))
	}
	how := rewriting{sanitize: true}
	t := factsOf(sanitized(text), false)
	return t.syntax == stream.SyntaxObject &&
		dialect.Same(newTree(f.raw, f.tokens).write(nil, 0, how), newTree(t.raw, t.tokens).write(nil, 0, how))
}

// saysNothing reports whether arguments are empty: nothing, null or {}, which JSON libraries turn
// into each other.
func saysNothing(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) == 0 || string(text) == "null" || dialect.Raw(text).EmptyObject()
}

// rounded reports whether text is what f is after its numbers were doubles.
func rounded(f *facts, text []byte) bool {
	if !f.integer.is() && !f.fraction.is() && !f.huge.is() {
		return false
	}
	t := newTree(f.raw, f.tokens)
	return dialect.Same(t.write(nil, 0, rewriting{doubles: true, spell: true}), text) ||
		f.huge.is() && dialect.Same(t.write(nil, 0, rewriting{doubles: true, spell: true, javaScript: true}), text)
}

// encodes reports whether text is a JSON string, or a string in one, that holds raw.
func encodes(text, raw []byte) bool {
	for range 3 {
		inner, ok := inString(text)
		if !ok {
			return false
		}
		if text = inner; bytes.Equal(text, raw) || dialect.Same(text, raw) {
			return true
		}
	}
	return false
}

// inString is the text in the JSON string that text is; ok is false where it is none.
func inString(text []byte) (inner []byte, ok bool) {
	v := dialect.Raw(bytes.TrimSpace(text))
	s := v.Scan()
	if s.Value(); !v.IsString() || s.End() != nil {
		return nil, false
	}
	return v.Append(nil), true
}

// wraps reports whether text is an object whose one member holds raw.
func wraps(text, raw []byte) bool {
	if !isObject(text) {
		return false
	}
	s := dialect.Scan(text)
	n, held := 0, false
	for ok := s.Object(); ok; ok = s.Member() {
		v := s.Value()
		held = v.IsString() && bytes.Equal(v.Append(nil), raw) || dialect.Same(v, raw)
		n++
	}
	return n == 1 && held
}

// mostNamed is how many clients are named that would have sent the same: more say nothing.
const mostNamed = 3

// Behaves is the names of the policies that do the same to arguments, separated by commas: of the
// behaviours, and of the clients that would have sent the same bytes. It is "" where nothing was done
// to them, or what most do.
func (o *Observation) Behaves() string {
	switch o.Fate {
	case Intact, WasOrphaned, WasMoved, AsClientHasIt:
		return ""
	}
	c := o.Call
	if c == nil {
		c = o.of.again()
	}
	if c == nil {
		return "" // nobody knows what they would make of it
	}
	src := Calls(nil, o.turn.From, c)
	same := o.alike(src, Behaviours)
	if len(same) > len(Behaviours)/2 {
		same = nil
	}
	switch o.Fate {
	case WasRepaired, WasEncoded, WasWrapped, WasAltered: // other fates tell no client from others
		if who := o.alike(src, Clients); len(who) <= mostNamed {
			same = append(same, who...)
		}
	}
	return strings.Join(same, ", ")
}

// alike are the names of the policies that send what was sent.
func (o *Observation) alike(src *Source, policies []Policy) (same []string) {
	for i := range policies {
		how := &policies[i]
		p := src.Preview(o.to, how)
		if len(p.Calls) == 1 && o.isLike(&p.Calls[0], how) {
			same = append(same, how.Name)
		}
	}
	return same
}

// isLike reports whether a policy sends what was sent.
func (o *Observation) isLike(s *Sent, p *Policy) bool {
	objects := o.to.Form != dialect.TextForm
	switch {
	case o.sent == nil:
		return s.Outcome == Dropped
	case s.Args == nil:
		return false
	case objects && o.sent.Form == dialect.TextForm:
		return p.again && o.Fate == WasEncoded
	case p.Client != nil:
		return s.Outcome < Throws && s.Name == o.sent.Name && bytes.Equal(s.Args, o.sent.Args)
	}
	return bytes.Equal(s.Args, o.sent.Args) || objects && dialect.Same(s.Args, o.sent.Args)
}
