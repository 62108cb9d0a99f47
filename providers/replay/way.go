package replay

import (
	"bytes"
	"iter"
	"unicode/utf8"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// A clientRule predicts how a client sends a call back: what its code makes of the arguments when they
// arrive, and how it writes that to a protocol.
type clientRule func(r receivedCall, to string) clientCall

// receivedCall is a call as a client receives it.
type receivedCall struct {
	from  string // its protocol, "" if unknown
	name  string
	args  string // the text of the arguments; if the protocol carries a value, its JSON
	value bool   // the protocol carries a value instead of text in deltas
}

// clientCall is a call as a client sends it.
type clientCall struct {
	args    []byte // the text, or the value as JSON; empty if there are none
	name    string // another name for the call, "" for the original name
	shape   string // template of the call, "" for the policy's templates
	leftOut bool   // the call is left out
	throws  string // why no request is sent

	unknown bool // the client's rule is unknown
}

// callWith returns a call with arguments.
func callWith(args []byte) clientCall { return clientCall{args: args} }

// leftOut is a call that is left out.
var leftOut = clientCall{leftOut: true}

// byClient returns the arguments that the policy's client sends. The outcome comes from comparing them with
// the original arguments.
func (c *previewBuilder) byClient(p *protocol.Part, f *argsFacts, sent *Sent) []byte {
	from := ""
	if c.src.From != nil {
		from = c.src.From.Protocol
	}
	s := c.Policy.way(receivedCall{from, p.Name, string(f.raw), from == gemini || from == ollama}, c.To.Protocol)
	c.shape = s.shape
	switch {
	case s.unknown:
		sent.Outcome = Unknown
		return nil
	case s.leftOut:
		sent.Outcome = Dropped
		return nil
	case s.throws != "":
		sent.Outcome = Throws
		sent.noteRefusal("", sent.ID, sent.Name, c.Policy.Client.Title+" sends no request: "+s.throws)
		return nil
	}
	if c.setOutcome(p, f, sent, s.args); s.name != "" && s.name != p.Name {
		c.addLoss(NameRewritten.newLoss("the call of %s is sent under the name %s", quoteShort(p.Name), quoteShort(s.name)))
		p.Name, sent.Outcome = s.name, Renamed
	}
	return s.args
}

// setOutcome sets the outcome of a call whose arguments a client sends as args, and adds the losses.
func (c *previewBuilder) setOutcome(p *protocol.Part, f *argsFacts, sent *Sent, args []byte) {
	toText, fromText := c.To.Form == protocol.TextForm, p.Form == protocol.TextForm
	v := judgeText(f.raw, false, &protocol.Part{Args: args, Form: c.To.Form}, c.To)
	inside, isString := inString(f.raw)
	unwrapped := isString && v.treatment != Intact && (bytes.Equal(inside, args) || protocol.Same(inside, args))
	if unwrapped {
		v = argsVerdict{WasRepaired, ArgsRepaired.newLoss("the model wrote a string: its content is sent"), false}
	}
	if v.loss.Kind != nil && v.treatment != WasReformatted {
		c.addLossAt(span{0, len(f.raw)}, v.loss)
	}
	switch v.treatment {
	case Intact:
		switch {
		case !bytes.Equal(f.raw, args):
			c.addLossAt(span{0, len(f.raw)}, ImpliedEmpty.newLoss("empty arguments are sent as {}"))
			sent.Outcome = max(sent.Outcome, AssumedEmpty)
		case fromText && !toText && f.syntax == stream.SyntaxObject:
			sent.Outcome = max(sent.Outcome, Parsed)
		}
	case WasReformatted:
		c.addRewriteLosses(f, args)
		sent.Outcome = Reformatted
	case WasEmptied:
		sent.Outcome = Emptied
	case WasWrapped, WasEncoded:
		sent.Outcome = Wrapped
	case WasRepaired:
		if sent.Outcome = Repaired; unwrapped {
			sent.Outcome = Unwrapped
		}
	default:
		sent.Outcome = Repaired
	}
}

// addRewriteLosses adds the losses of args, which have the same value in another form.
func (c *previewBuilder) addRewriteLosses(f *argsFacts, args []byte) {
	now, before := factsOf(args, false), len(c.Losses)
	gone := func(was, is span) span {
		if is.is() {
			return span{} // it was kept
		}
		return was
	}
	c.addLossOf(f, DupKeys, gone(f.twice, now.twice), "only the last value of %s is sent")
	c.addLossOf(f, IntPrecision, gone(f.integer, now.integer), "%s doesn't fit a double: it is rounded")
	c.addLossOf(f, NumPrecision, gone(f.fraction, now.fraction), "%s has more digits than a double: it is rounded")
	c.addLossOf(f, NumRange, gone(f.huge, now.huge), "%s is too large for a double: null is sent")
	c.addLossOf(f, NumSpelling, f.respelledIn(now), "%s is written in a different way")
	spelled := gone(f.respelledString(rewriteRules{}), now.respelledString(rewriteRules{}))
	if !utf8.Valid(f.raw) && utf8.Valid(args) {
		spelled = f.half // half a character can only be written as an escape
	}
	c.addLossOf(f, StrSpelling, spelled, "%s is written with different escapes")
	c.addLossOf(f, KeyOrder, gone(f.numeric, now.numeric), "JavaScript puts keys that are numbers first: %s moves")
	if !now.unsorted.is() && f.numeric.is() == now.numeric.is() {
		c.addLossOf(f, KeyOrder, f.unsorted, "fields are sorted by their keys: %s moves")
	}
	c.addLossOf(f, Whitespace, gone(f.space, now.space), "the space between values, e.g. %s, is removed")
	if len(c.Losses) == before {
		c.addLossOf(f, StrSpelling, span{0, len(f.raw)}, "%s is written with different escapes")
	}
}

// respelledIn returns the first number that now, a text with the same value, has in another spelling.
func (f *argsFacts) respelledIn(now *argsFacts) (at span) {
	there := map[string]bool{}
	for lit := range now.numberSpans() {
		there[string(now.raw[lit.start:lit.end])] = true
	}
	for lit := range f.numberSpans() {
		text := f.raw[lit.start:lit.end]
		if _, how := asDouble(text); how == spelledOther && !there[string(text)] {
			return lit
		}
	}
	return at
}

// numberSpans yields the spans of the numbers of a text.
func (f *argsFacts) numberSpans() iter.Seq[span] {
	return func(yield func(span) bool) {
		start := 0
		for _, t := range f.tokens.All() {
			if t.Kind == stream.Number && !yield(span{start, int(t.End)}) {
				return
			}
			start = int(t.End)
		}
	}
}
