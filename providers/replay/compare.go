package replay

import (
	"bytes"
	"crypto/sha256"
	"hash/maphash"
	"slices"
	"strings"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/stream/json"
)

// argsVerdict says how a client treated a call's arguments, and which loss this caused.
type argsVerdict struct {
	treatment Treatment
	loss      Loss // its Kind is nil if nothing was lost
	vague     bool // the treatment is known only from hashes
	doubtful  bool // a repair that only the rules of a known client can confirm
}

// cachedVerdict is the latest verdict about a call, with the inputs that led to it.
type cachedVerdict struct {
	argsVerdict
	text [sha256.Size]byte
	form protocol.ArgsForm
	to   *protocol.Target
}

// isAbout reports whether the verdict is based on the given inputs.
func (j *cachedVerdict) isAbout(text [sha256.Size]byte, form protocol.ArgsForm, to *protocol.Target) bool {
	return j.text == text && j.form == form && j.to == to
}

// maxJudged is the number of recent verdicts that are always kept in the cache. It is half of the maximum number of
// cached verdicts.
const maxJudged = 1 << 14

// lastVerdict returns the cached verdict about a call. The result ok is false if there is none.
func (by *Observer) lastVerdict(call stream.Ref) (j cachedVerdict, ok bool) {
	if j, ok = by.judged[call]; !ok {
		j, ok = by.before[call]
	}
	return j, ok
}

// cacheVerdict caches a verdict. Verdicts that have not been used for a long time are dropped.
func (by *Observer) cacheVerdict(call stream.Ref, j cachedVerdict) {
	if by.judged == nil || len(by.judged) >= maxJudged {
		by.judged, by.before = map[stream.Ref]cachedVerdict{}, by.judged
	}
	by.judged[call] = j
}

// judgeCall returns the verdict about a call's arguments, from the cache if possible.
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
	if v.doubtful && e.turn != nil && !isKnownRepair(e, c, sent, to) {
		v = argsVerdict{treatment: WasAltered, loss: ArgsAltered.newLoss("the client sent arguments that the model didn't write")}
	}
	by.cacheVerdict(e.ref, cachedVerdict{v, sum, sent.Form, to})
	return v
}

// isKnownRepair reports whether a known client, or a behaviour of several clients, repairs the call's arguments in
// the same way.
func isKnownRepair(e *earlierCall, c *stream.Call, sent *protocol.Part, to *protocol.Target) bool {
	o := Observation{of: e, turn: e.turn.Candidate, to: to, sent: sent, Treatment: WasRepaired}
	src := SourceOfCalls(nil, e.turn.Target, c)
	return len(o.samePolicies(src, Behaviours)) > 0 || len(o.samePolicies(src, Clients)) > 0
}

// setVerdict copies a verdict about the arguments into the observation.
func (o *Observation) setVerdict(v argsVerdict) {
	o.Treatment, o.vague = v.treatment, v.vague
	if v.loss.Kind == nil {
		return
	}
	if v.treatment != WasReformatted {
		if o.Summary != nil {
			v.loss.End = o.Summary.size
		} else {
			v.loss.End = len(o.Call.Args())
		}
	}
	o.addLoss(v.loss)
}

// judgeArgs compares a call's arguments with the sent arguments.
func judgeArgs(c *stream.Call, sent *protocol.Part, to *protocol.Target) argsVerdict {
	return judgeText(c.Args(), c.Freeform(), sent, to)
}

// judgeText compares the model's arguments, given as text, with the sent arguments.
func judgeText(raw []byte, freeform bool, sent *protocol.Part, to *protocol.Target) argsVerdict {
	text := sent.Args
	asText := sent.Form == protocol.TextForm && to.Form != protocol.TextForm && !freeform
	switch {
	case !asText && bytes.Equal(raw, text), !asText && saysNothing(raw) && saysNothing(text):
		return argsVerdict{treatment: Intact}
	case asText && json.Same(raw, json.AppendQuoted(nil, text)):
		return argsVerdict{treatment: Intact} // the model's arguments were a string, too
	case asText, isEncoded(text, raw):
		if bytes.Equal(raw, text) || json.Same(raw, text) || isEncoded(text, raw) {
			words := "the client encoded the arguments again: it sent a string that contains the text"
			if factsOf(raw, false).syntax == json.SyntaxDouble {
				words = "the model encoded the arguments twice, and the client encoded the string again"
			}
			return argsVerdict{treatment: WasEncoded, loss: DoubleEncoded.newLoss("%s", stream.Own(words))}
		}
		return argsVerdict{treatment: WasAltered, loss: ArgsAltered.newLoss("the client sent a string that doesn't contain the model's arguments")}
	case json.Same(raw, text), bytes.Equal(bytes.TrimSpace(raw), bytes.TrimSpace(text)):
		return argsVerdict{treatment: WasReformatted}
	case json.SameIn(json.Parsed, raw, text):
		return argsVerdict{treatment: WasReformatted, loss: parsedLoss(factsOf(raw, freeform))}
	case saysNothing(text):
		return argsVerdict{treatment: WasEmptied, loss: ArgsEmptied.newLoss("{} was sent, not %s that the model wrote", stream.Own(bytesWord(len(raw))))}
	case isWrapped(text, raw) && freeform:
		return argsVerdict{treatment: WasWrapped, loss: FreeformToJSON.newLoss("free text was put into an object")}
	case isWrapped(text, raw):
		return argsVerdict{treatment: WasWrapped, loss: ArgsWrapped.newLoss("the model's text was wrapped in an object")}
	}
	if n := wrappedPrefix(text, raw); n > 0 {
		return argsVerdict{
			treatment: WasWrapped,
			loss: ArgsWrapped.newLoss("the client wrapped the first %s of the model's text in an object and left out the rest",
				stream.Own(count.Of(n, "byte"))),
		}
	}
	return judgeOther(factsOf(raw, freeform), text)
}

// parsedLoss returns the loss for arguments that were only parsed and written again. Nearly every client does this,
// so the loss causes no finding.
func parsedLoss(f *argsFacts) Loss {
	l := NumPrecision.newLoss("fractions with too many digits for a double were rounded")
	if f.twice.is() {
		l = DupKeys.newLoss("only the last of several fields with the same key was sent")
	}
	l.Severity = Low
	return l
}

// judgeOther judges sent arguments whose value differs from the model's.
func judgeOther(f *argsFacts, text []byte) argsVerdict {
	object := f.syntax == json.SyntaxObject
	switch {
	case object && isRounded(f, text):
		return argsVerdict{treatment: WasReformatted, loss: IntPrecision.newLoss("numbers that don't fit in a double were rounded")}
	case isSanitised(f, text):
		return argsVerdict{treatment: WasReformatted, loss: UnicodeSanitized.newLoss("invalid Unicode became U+FFFD")}
	case f.syntax == json.SyntaxDouble && json.Same(stringContent(f), text):
		return argsVerdict{treatment: WasRepaired, loss: ArgsRepaired.newLoss("the model wrote a string: the object in it was sent")}
	case f.syntax == json.SyntaxConcat && isFirst(f, text):
		return argsVerdict{treatment: WasRepaired, loss: ConcatFirstOnly.newLoss("only the first of %d consecutive objects was sent", f.docs)}
	case !object && json.IsObject(text):
		inner, _ := inString(f.raw)
		return argsVerdict{
			treatment: WasRepaired,
			doubtful:  !json.Same(RepairPrefix(f.raw), text) && !json.Same(RepairPrefix(inner), text),
			loss:      ArgsRepaired.newLoss("a parser's guess was sent as if the model had written it"),
		}
	}
	return argsVerdict{treatment: WasAltered, loss: ArgsAltered.newLoss("the client sent arguments that the model didn't write")}
}

// isFirst reports whether text is the first of several objects in the original.
func isFirst(f *argsFacts, text []byte) bool {
	first, ok := repairJSON(f)
	return ok && json.Same(first, text)
}

// isSanitised reports whether text differs from the original only in U+FFFD for invalid Unicode.
func isSanitised(f *argsFacts, text []byte) bool {
	switch {
	case !f.half.is() && !f.invalid.is():
		return false
	case f.syntax != json.SyntaxObject:
		return bytes.Equal(json.ReplaceInvalid(f.raw), json.ReplaceInvalid(text))
	}
	how := rewriteRules{sanitize: true}
	t := factsOf(json.ReplaceInvalid(text), false)
	return t.syntax == json.SyntaxObject &&
		json.Same(newTree(f.raw, f.tokens).write(nil, 0, how), newTree(t.raw, t.tokens).write(nil, 0, how))
}

// saysNothing reports whether arguments are empty, null or {}. JSON libraries convert between these forms.
func saysNothing(text []byte) bool {
	text = bytes.TrimSpace(text)
	return len(text) == 0 || string(text) == "null" || json.Value(text).EmptyObject()
}

// isRounded reports whether text is the original with its numbers rounded to doubles.
func isRounded(f *argsFacts, text []byte) bool {
	if !f.integer.is() && !f.fraction.is() && !f.huge.is() {
		return false
	}
	t := newTree(f.raw, f.tokens)
	return json.Same(t.write(nil, 0, rewriteRules{doubles: true, spell: true}), text) ||
		f.huge.is() && json.Same(t.write(nil, 0, rewriteRules{doubles: true, spell: true, javaScript: true}), text)
}

// isEncoded reports whether text is a JSON string that contains raw. The text may be encoded up to three times.
func isEncoded(text, raw []byte) bool {
	for range 3 {
		inner, ok := inString(text)
		if !ok {
			return false
		}
		if text = inner; bytes.Equal(text, raw) || json.Same(text, raw) {
			return true
		}
	}
	return false
}

// inString returns the content of a JSON string. The result ok is false if text is not a JSON string.
func inString(text []byte) (inner []byte, ok bool) {
	v := json.Value(bytes.TrimSpace(text))
	s := v.Scan()
	if s.Value(); !v.IsString() || s.End() != nil {
		return nil, false
	}
	return v.Append(nil), true
}

// isWrapped reports whether text is an object that contains raw, either as the value of its only field or as
// one of its wrappedTexts.
func isWrapped(text, raw []byte) bool {
	if !json.IsObject(text) {
		return false
	}
	only := onlyMember(text)
	return only != nil && json.Same(only, raw) ||
		slices.ContainsFunc(wrappedTexts(text), func(s []byte) bool { return bytes.Equal(s, raw) })
}

// minWrapped is the minimum number of bytes that a wrapper and the original text must share at the beginning. Fewer
// bytes don't prove that the wrapper contains the text.
const minWrapped = 1024

// wrappedPrefix returns how many bytes of raw an object contains, if it contains only the beginning of raw.
func wrappedPrefix(text, raw []byte) (n int) {
	if len(raw) < minWrapped || !json.IsObject(text) {
		return 0
	}
	for _, s := range wrappedTexts(text) {
		if len(s) >= minWrapped && bytes.HasPrefix(raw, s) {
			n = max(n, len(s))
		}
	}
	return n
}

// Limits on the depth and the number of fields in the search for wrapped arguments. Wrappers are small.
const (
	maxWrapperDepth  = 3
	maxWrapperFields = 8
)

// wrappedTexts returns the strings in an object that may be wrapped arguments. These are the value of its
// only field, and strings that begin like JSON. Such strings may be at any depth up to maxWrapperDepth, and
// next to other fields.
func wrappedTexts(text []byte) (all [][]byte) {
	fields := 0
	var search func(v json.Value, depth int)
	search = func(v json.Value, depth int) {
		s := v.Scan()
		for ok := s.Object(); ok && fields < maxWrapperFields; ok = s.Member() {
			fields++
			switch of := s.Value(); {
			case of.Kind() == '{' && depth < maxWrapperDepth:
				search(of, depth+1)
			case of.IsString() && len(of) > 1 && (of[1] == '{' || of[1] == '[' || of[1] == '\\'):
				all = append(all, of.Append(nil))
			}
		}
	}
	search(text, 1)
	if only := onlyMember(text); only.IsString() && len(all) == 0 {
		all = append(all, only.Append(nil))
	}
	return all
}

// maxNamed is the maximum number of clients that are named. If more clients would have sent the same arguments, none
// is named.
const maxNamed = 3

// MatchingPolicies returns the names of the policies with the same effect on the arguments, separated by commas. A
// behaviour is left out if more than half of all behaviours have this effect. A client is named only if it would have
// sent the same bytes. The result is "" if the arguments were not changed or can't be read again.
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
		return "" // the effect of the policies is unknown
	}
	src := SourceOfCalls(nil, o.turn.Target, c)
	same := o.samePolicies(src, Behaviours)
	if len(same) > len(Behaviours)/2 {
		same = nil
	}
	switch o.Treatment {
	case WasRepaired, WasEncoded, WasWrapped, WasAltered: // the other treatments don't identify a client
		if who := o.samePolicies(src, Clients); len(who) <= maxNamed {
			same = append(same, who...)
		}
	}
	return strings.Join(same, ", ")
}

// samePolicies returns the names of the policies that would have sent the same call.
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

// isLike reports whether the call in a preview is the call that was sent.
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
	return bytes.Equal(s.Args, o.sent.Args) || objects && json.Same(s.Args, o.sent.Args)
}

// A valueHash is a hash of the value of arguments, with numbers as doubles (see json.AsDouble). Texts have the same
// hash if judgeText finds the same value, or if they differ only in rounded numbers or sanitised Unicode. Different
// texts may share a hash, so they must also be compared. The hash is valid only within one run of the program.
type valueHash uint64

// seed is the seed of all hashes of this run.
var seed = maphash.MakeSeed()

// nothing is the hash of arguments that are empty, null or {}.
const nothing valueHash = 0

// valueOf returns the hash of a text's value. A text that isn't JSON is its own value.
func valueOf(text []byte) valueHash {
	text = bytes.TrimSpace(text)
	if saysNothing(text) {
		return nothing
	}
	if form, ok := json.Canonical(text, json.AsDouble); ok {
		return hashOf('=', form)
	}
	return hashOf('?', json.ReplaceInvalid(text))
}

// sameHash returns a hash of a text. Texts that json.Same considers equal have the same hash.
func sameHash(text []byte) valueHash {
	if form, ok := json.Canonical(text, json.Exact); ok {
		return hashOf('=', form)
	}
	return hashOf('?', text)
}

// hashesOf returns the results of valueOf and sameHash.
func hashesOf(text []byte) (value, same valueHash) {
	exact, double, ok := json.CanonicalForms(text)
	if !ok {
		return valueOf(text), sameHash(text)
	}
	if value, same = hashOf('=', double), hashOf('=', exact); saysNothing(text) {
		value = nothing
	}
	return value, same
}

func hashOf(kind valueHash, text []byte) valueHash {
	return kind.combine(valueHash(maphash.Bytes(seed, text)))
}

// combine returns a hash of two values, in this order.
func (v valueHash) combine(other valueHash) valueHash {
	const a, b = 0x9e3779b97f4a7c15, 0xff51afd7ed558ccd
	v = (v ^ other*a) * b
	return v ^ v>>32
}

// hashesIn returns the hashes of all values that sent arguments may contain: the arguments themselves, the arguments
// as a JSON string, the contents of strings, the value of an object's only field, and wrapped texts. The first hash
// is that of the arguments themselves.
func hashesIn(p *protocol.Part, to *protocol.Target) []valueHash {
	all := []valueHash{valueOf(p.Args)}
	if p.Form == protocol.TextForm && to.Form != protocol.TextForm {
		all = append(all, valueOf(json.AppendQuoted(nil, p.Args)))
	}
	text := p.Args
	for range 3 {
		inner, ok := inString(text)
		if !ok {
			break
		}
		all, text = append(all, valueOf(inner)), inner
	}
	if only := onlyMember(p.Args); only != nil {
		all = append(all, valueOf(only))
	}
	for _, inner := range wrappedTexts(p.Args) {
		all = append(all, valueOf(inner))
	}
	return all
}

// onlyMember returns the value of an object's only field. It returns nil if text is not an object with exactly one
// field.
func onlyMember(text []byte) json.Value {
	s := json.Scan(text)
	if !s.Object() {
		return nil
	}
	only := s.Value()
	if s.Member() || s.End() != nil {
		return nil
	}
	return only
}

// An Edit is one difference between the sent arguments and the model's arguments. The text To replaces the bytes from
// Start to End in the original.
type Edit struct {
	Start, End int
	To         []byte
}

// maxCells limits the search for common tokens of two texts. If the limit is exceeded, the whole differing part
// becomes one edit.
const maxCells = 1 << 20

// Diff returns the differences between the sent text and the original, token by token and in order.
func Diff(original, sent []byte) (edits []Edit) {
	if bytes.Equal(original, sent) {
		return nil
	}
	a, b := splitTokens(original), splitTokens(sent)
	head := 0
	for head < min(len(a), len(b)) && bytes.Equal(a[head], b[head]) {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && bytes.Equal(a[len(a)-1-tail], b[len(b)-1-tail]) {
		tail++
	}
	at := totalLen(a[:head])
	a, b = a[head:len(a)-tail], b[head:len(b)-tail]
	if len(a)*len(b) > maxCells {
		return []Edit{{at, at + totalLen(a), bytes.Join(b, nil)}}
	}
	return alignTokens(a, b, at)
}

// splitTokens splits a text into its tokens. If the text ends with bytes that are not JSON, they are the last piece.
func splitTokens(text []byte) (all [][]byte) {
	var lex json.Lexer
	lex.Write(text)
	lex.Close()
	start := 0
	for _, t := range lex.Tokens().All() {
		all = append(all, text[start:t.End])
		start = int(t.End)
	}
	if start < len(text) {
		all = append(all, text[start:])
	}
	return all
}

// totalLen returns the total length of the pieces.
func totalLen(pieces [][]byte) (n int) {
	for _, p := range pieces {
		n += len(p)
	}
	return n
}

// alignTokens finds the longest common sequence of pieces in a and b, and returns the differences between
// them. The parameter at is the offset of a in the original.
func alignTokens(a, b [][]byte, at int) (edits []Edit) {
	x, y := numberTokens(a, b)
	width := len(b) + 1
	best := make([]int32, (len(a)+1)*width) // number of common pieces from a[i] and b[j] on
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if x[i] == y[j] {
				best[i*width+j] = best[(i+1)*width+j+1] + 1
			} else {
				best[i*width+j] = max(best[(i+1)*width+j], best[i*width+j+1])
			}
		}
	}
	now := Edit{Start: at, End: at}
	flush := func() {
		if now.End > now.Start || len(now.To) > 0 {
			edits = append(edits, now)
		}
	}
	for i, j := 0, 0; i < len(a) || j < len(b); {
		switch {
		case i < len(a) && j < len(b) && x[i] == y[j]:
			flush()
			at += len(a[i])
			now = Edit{Start: at, End: at}
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && best[(i+1)*width+j] >= best[i*width+j+1]:
			at += len(a[i])
			now.End = at
			i++
		default:
			now.To = append(now.To, b[j]...)
			j++
		}
	}
	flush()
	return edits
}

// numberTokens numbers the pieces. Equal pieces get the same number, which makes comparisons cheap.
func numberTokens(a, b [][]byte) (x, y []int) {
	numbers := map[string]int{}
	number := func(pieces [][]byte) (all []int) {
		for _, p := range pieces {
			n, ok := numbers[string(p)]
			if !ok {
				n = len(numbers)
				numbers[string(p)] = n
			}
			all = append(all, n)
		}
		return all
	}
	return number(a), number(b)
}
