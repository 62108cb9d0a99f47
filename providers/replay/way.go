package replay

import (
	"bytes"
	"iter"
	"unicode/utf8"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// A clientRule is what a client sends of a call: what its own code makes of the arguments when they come,
// and of that when they go.
type clientRule func(r receivedCall, to string) clientCall

// receivedCall is a call as it comes to a client.
type receivedCall struct {
	from  string // the dialect it came by, "" where that is not known
	name  string
	args  string // the text of the arguments, or where the protocol carries a value, that as JSON
	value bool   // the protocol carries a value, and not a text in pieces
}

// clientCall is what a client makes of it.
type clientCall struct {
	args    []byte // the text, or the value as JSON; empty when there are none
	name    string // another name for the call, "" for its own
	shape   string // how the call is written, "" for the policy's shapes
	leftOut bool   // the call is left out
	throws  string // why no request is sent

	unknown bool // nobody has looked
}

// callWith is a call with those arguments.
func callWith(args []byte) clientCall { return clientCall{args: args} }

// leftOut is a call that is left out.
var leftOut = clientCall{leftOut: true}

// byClient is what the policy's client sends as the call's arguments. What became of them is told by
// what they were.
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
		c.addLoss(NameRewritten.newLoss("the call of %s goes under the name %s", quoteShort(p.Name), quoteShort(s.name)))
		p.Name, sent.Outcome = s.name, Renamed
	}
	return s.args
}

// setOutcome tells what became of arguments that a client sends as args.
func (c *previewBuilder) setOutcome(p *protocol.Part, f *argsFacts, sent *Sent, args []byte) {
	toText, fromText := c.To.Form == protocol.TextForm, p.Form == protocol.TextForm
	v := judgeText(f.raw, false, &protocol.Part{Args: args, Form: c.To.Form}, c.To)
	inside, isString := inString(f.raw)
	unwrapped := isString && v.treatment != Intact && (bytes.Equal(inside, args) || protocol.Same(inside, args))
	if unwrapped {
		v = argsVerdict{WasRepaired, ArgsRepaired.newLoss("the model wrote a string: what is in it is sent"), false}
	}
	if v.loss.Kind != nil && v.treatment != WasReformatted {
		c.addLossAt(span{0, len(f.raw)}, v.loss)
	}
	switch v.treatment {
	case Intact:
		switch {
		case !bytes.Equal(f.raw, args):
			c.addLossAt(span{0, len(f.raw)}, ImpliedEmpty.newLoss("no arguments are sent as {}"))
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

// addRewriteLosses tells how args, which say the same as the text, are written in another way.
func (c *previewBuilder) addRewriteLosses(f *argsFacts, args []byte) {
	now, before := factsOf(args, false), len(c.Losses)
	gone := func(was, is span) span {
		if is.is() {
			return span{} // it came through
		}
		return was
	}
	c.addLossOf(f, DupKeys, gone(f.twice, now.twice), "of the values of %s only the last is sent")
	c.addLossOf(f, IntPrecision, gone(f.integer, now.integer), "no double holds %s: it is rounded")
	c.addLossOf(f, NumPrecision, gone(f.fraction, now.fraction), "%s has more digits than a double: it is rounded")
	c.addLossOf(f, NumRange, gone(f.huge, now.huge), "%s is beyond every double: null is sent")
	c.addLossOf(f, NumSpelling, f.respelledIn(now), "%s is written in another way")
	spelled := gone(f.respelledString(rewriteRules{}), now.respelledString(rewriteRules{}))
	if !utf8.Valid(f.raw) && utf8.Valid(args) {
		spelled = f.half // half a character can only be written as an escape
	}
	c.addLossOf(f, StrSpelling, spelled, "%s is written with other escapes")
	c.addLossOf(f, KeyOrder, gone(f.numeric, now.numeric), "JavaScript puts keys that are numbers first: %s moves")
	if !now.unsorted.is() && f.numeric.is() == now.numeric.is() {
		c.addLossOf(f, KeyOrder, f.unsorted, "members are sorted by their keys: %s moves")
	}
	c.addLossOf(f, Whitespace, gone(f.space, now.space), "the space between values, as in %s, is gone")
	if len(c.Losses) == before {
		c.addLossOf(f, StrSpelling, span{0, len(f.raw)}, "%s is written with other escapes")
	}
}

// respelledIn is the first number that now, which says the same, has in another spelling.
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

// numberSpans are where the numbers of a text are.
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
