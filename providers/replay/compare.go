package replay

import (
	"bytes"
	"crypto/sha256"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// argsVerdict is what became of a call's arguments, and what that loses.
type argsVerdict struct {
	treatment Treatment
	loss      Loss // its Kind is nil when there is none
	vague     bool // hashes tell no more
}

// cachedVerdict is the last verdict on a call, and what it was about.
type cachedVerdict struct {
	argsVerdict
	text [sha256.Size]byte
	form protocol.ArgsForm
	to   *protocol.Target
}

func (j *cachedVerdict) isAbout(text [sha256.Size]byte, form protocol.ArgsForm, to *protocol.Target) bool {
	return j.text == text && j.form == form && j.to == to
}

// maxJudged is how many judgements are remembered at least, and half of how many at most.
const maxJudged = 1 << 14

// lastVerdict is the last judgement on a call.
func (by *Observer) lastVerdict(call stream.Ref) (j cachedVerdict, ok bool) {
	if j, ok = by.judged[call]; !ok {
		j, ok = by.before[call]
	}
	return j, ok
}

// cacheVerdict keeps a judgement. Those that no request has asked for in a long time are forgotten.
func (by *Observer) cacheVerdict(call stream.Ref, j cachedVerdict) {
	if by.judged == nil || len(by.judged) >= maxJudged {
		by.judged, by.before = map[stream.Ref]cachedVerdict{}, by.judged
	}
	by.judged[call] = j
}

// judgeCall says what became of a call's arguments, from memory if it can.
func (by *Observer) judgeCall(e *earlierCall, sent *protocol.Part, to *protocol.Target) argsVerdict {
	if e.call != nil && bytes.Equal(e.call.Args(), sent.Args) {
		return judgeArgs(e.call, sent, to)
	}
	if e.summary != nil && e.summary.isIntact(sent, to) {
		return argsVerdict{treatment: Intact}
	}
	sum := sha256.Sum256(sent.Args)
	if j, ok := by.lastVerdict(e.ref); ok && j.isAbout(sum, sent.Form, to) {
		if _, fresh := by.judged[e.ref]; !fresh {
			by.cacheVerdict(e.ref, j)
		}
		return j.argsVerdict
	}
	c := e.call
	if c == nil {
		if j := e.summary.last; j != nil && j.isAbout(sum, sent.Form, to) {
			return j.argsVerdict
		}
		if c = e.reload(); c == nil {
			return e.summary.judgeArgs(sent, to)
		}
	}
	v := judgeArgs(c, sent, to)
	by.cacheVerdict(e.ref, cachedVerdict{v, sum, sent.Form, to})
	return v
}

// hasSameArgs reports whether the arguments sent hold all that the model wrote.
func (by *Observer) hasSameArgs(e *earlierCall, sent *protocol.Part, to *protocol.Target) bool {
	switch by.judgeCall(e, sent, to).treatment {
	case Intact, WasReformatted, WasEncoded, WasWrapped:
		return true
	}
	return false
}

// setVerdict takes the verdict on the arguments.
func (o *Observation) setVerdict(v argsVerdict) {
	o.Treatment, o.vague = v.treatment, v.vague
	if v.loss.Kind == nil {
		return
	}
	if v.treatment != WasReformatted {
		v.loss.End = o.argsLen()
	}
	o.addLoss(v.loss)
}

// judgeArgs says what became of a call's arguments.
func judgeArgs(c *stream.Call, sent *protocol.Part, to *protocol.Target) argsVerdict {
	return judgeText(c.Args(), c.Freeform(), sent, to)
}

// judgeText says what became of arguments that the model wrote so.
func judgeText(raw []byte, freeform bool, sent *protocol.Part, to *protocol.Target) argsVerdict {
	text := sent.Args
	asText := sent.Form == protocol.TextForm && to.Form != protocol.TextForm && !freeform
	switch {
	case !asText && bytes.Equal(raw, text), !asText && saysNothing(raw) && saysNothing(text):
		return argsVerdict{treatment: Intact}
	case asText && protocol.Same(raw, protocol.AppendString(nil, text)):
		return argsVerdict{treatment: Intact} // the model's was a string too
	case asText, isEncoded(text, raw):
		return judgeString(raw, text)
	case protocol.Same(raw, text), bytes.Equal(bytes.TrimSpace(raw), bytes.TrimSpace(text)):
		return argsVerdict{treatment: WasReformatted}
	case saysNothing(text):
		return argsVerdict{treatment: WasEmptied, loss: ArgsEmptied.newLoss("%s the model wrote are gone: {} was sent", bytesWord(len(raw)))}
	case isWrapped(text, raw) && freeform:
		return argsVerdict{treatment: WasWrapped, loss: FreeformToJSON.newLoss("free text was put into an object")}
	case isWrapped(text, raw):
		return argsVerdict{treatment: WasWrapped, loss: ArgsWrapped.newLoss("what the model wrote was put into an object")}
	}
	return judgeOther(factsOf(raw, freeform), text)
}

// judgeString judges a string where an object must be, or a string in a string.
func judgeString(raw, text []byte) argsVerdict {
	if bytes.Equal(raw, text) || protocol.Same(raw, text) || isEncoded(text, raw) {
		words := "the client encoded the arguments once more: they are a string that holds the text"
		if factsOf(raw, false).syntax == stream.SyntaxDouble {
			words = "the model encoded the arguments twice, and the client encoded that string once more"
		}
		return argsVerdict{treatment: WasEncoded, loss: DoubleEncoded.newLoss("%s", words)}
	}
	return argsVerdict{treatment: WasAltered, loss: ArgsAltered.newLoss("a string was sent that does not hold what the model wrote")}
}

// judgeOther judges arguments that are others now.
func judgeOther(f *argsFacts, text []byte) argsVerdict {
	object := f.syntax == stream.SyntaxObject
	switch {
	case object && isRounded(f, text):
		return argsVerdict{treatment: WasReformatted, loss: IntPrecision.newLoss("numbers that no double holds were rounded")}
	case isSanitised(f, text):
		return argsVerdict{treatment: WasReformatted, loss: UnicodeSanitized.newLoss("what is no Unicode text became U+FFFD")}
	case f.syntax == stream.SyntaxDouble && protocol.Same(stringContent(f), text):
		return argsVerdict{treatment: WasRepaired, loss: ArgsRepaired.newLoss("the model wrote a string: the object in it was sent")}
	case f.syntax == stream.SyntaxConcat && isFirst(f, text):
		return argsVerdict{treatment: WasRepaired, loss: ConcatFirstOnly.newLoss("of %d objects written one after another the first was sent", f.docs)}
	case !object && isObject(text):
		return argsVerdict{treatment: WasRepaired, loss: ArgsRepaired.newLoss("a parser's guess was sent as if the model had written it")}
	}
	return argsVerdict{treatment: WasAltered, loss: ArgsAltered.newLoss("other arguments were sent than the model wrote")}
}

// isFirst reports whether text is the first of several objects.
func isFirst(f *argsFacts, text []byte) bool {
	first, ok := repairJSON(f)
	return ok && protocol.Same(first, text)
}

// isSanitised reports whether text is what f is without what is no Unicode text.
func isSanitised(f *argsFacts, text []byte) bool {
	switch {
	case !f.half.is() && !f.invalid.is():
		return false
	case f.syntax != stream.SyntaxObject:
		return bytes.Equal(replaceInvalid(f.raw), replaceInvalid(text))
	}
	how := rewriteRules{sanitize: true}
	t := factsOf(replaceInvalid(text), false)
	return t.syntax == stream.SyntaxObject &&
		protocol.Same(newTree(f.raw, f.tokens).write(nil, 0, how), newTree(t.raw, t.tokens).write(nil, 0, how))
}

// saysNothing reports whether arguments are empty: nothing, null or {}, which JSON libraries turn
// into each other.
func saysNothing(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) == 0 || string(text) == "null" || protocol.Raw(text).EmptyObject()
}

// isRounded reports whether text is what f is after its numbers were doubles.
func isRounded(f *argsFacts, text []byte) bool {
	if !f.integer.is() && !f.fraction.is() && !f.huge.is() {
		return false
	}
	t := newTree(f.raw, f.tokens)
	return protocol.Same(t.write(nil, 0, rewriteRules{doubles: true, spell: true}), text) ||
		f.huge.is() && protocol.Same(t.write(nil, 0, rewriteRules{doubles: true, spell: true, javaScript: true}), text)
}

// isEncoded reports whether text is a JSON string, or a string in one, that holds raw.
func isEncoded(text, raw []byte) bool {
	for range 3 {
		inner, ok := inString(text)
		if !ok {
			return false
		}
		if text = inner; bytes.Equal(text, raw) || protocol.Same(text, raw) {
			return true
		}
	}
	return false
}

// inString is the text in the JSON string that text is; ok is false where it is none.
func inString(text []byte) (inner []byte, ok bool) {
	v := protocol.Raw(bytes.TrimSpace(text))
	s := v.Scan()
	if s.Value(); !v.IsString() || s.End() != nil {
		return nil, false
	}
	return v.Append(nil), true
}

// isWrapped reports whether text is an object whose one member holds raw.
func isWrapped(text, raw []byte) bool {
	if !isObject(text) {
		return false
	}
	s := protocol.Scan(text)
	n, held := 0, false
	for ok := s.Object(); ok; ok = s.Member() {
		v := s.Value()
		held = v.IsString() && bytes.Equal(v.Append(nil), raw) || protocol.Same(v, raw)
		n++
	}
	return n == 1 && held
}

// maxNamed is how many clients are named that would have sent the same: more say nothing.
const maxNamed = 3

// MatchingPolicies is the names of the policies that do the same to arguments, separated by commas: of the
// behaviours, and of the clients that would have sent the same bytes. It is "" where nothing was done
// to them, or what most do.
func (o *Observation) MatchingPolicies() string {
	switch o.Treatment {
	case Intact, WasOrphaned, WasMoved, AsClientHasIt:
		return ""
	}
	c := o.Call
	if c == nil {
		c = o.of.reload()
	}
	if c == nil {
		return "" // nobody knows what they would make of it
	}
	src := SourceOfCalls(nil, o.turn.Target, c)
	same := o.samePolicies(src, Behaviours)
	if len(same) > len(Behaviours)/2 {
		same = nil
	}
	switch o.Treatment {
	case WasRepaired, WasEncoded, WasWrapped, WasAltered: // other fates tell no client from others
		if who := o.samePolicies(src, Clients); len(who) <= maxNamed {
			same = append(same, who...)
		}
	}
	return strings.Join(same, ", ")
}

// samePolicies are the names of the policies that send what was sent.
func (o *Observation) samePolicies(src *Source, policies []Policy) (same []string) {
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
	objects := o.to.Form != protocol.TextForm
	switch {
	case o.sent == nil:
		return s.Outcome == Dropped
	case s.Args == nil:
		return false
	case objects && o.sent.Form == protocol.TextForm:
		return p.again && o.Treatment == WasEncoded
	case p.Client != nil:
		return s.Outcome < Throws && s.Name == o.sent.Name && bytes.Equal(s.Args, o.sent.Args)
	}
	return bytes.Equal(s.Args, o.sent.Args) || objects && protocol.Same(s.Args, o.sent.Args)
}
