package replay

import (
	"bytes"
	"fmt"
	"strings"

	"toolscope/providers/dialect"
	"toolscope/stream"
)

// Fate is what a client made of a call when it sent it back.
type Fate string

const (
	Intact         Fate = "intact"
	WasReformatted Fate = "reformatted"    // the same value, written in another way, or rounded
	WasEmptied     Fate = "emptied"        // {} in place of what the model wrote
	WasRepaired    Fate = "repaired"       // an object in place of what was none
	WasEncoded     Fate = "double-encoded" // a string where an object must be, or a string in a string
	WasWrapped     Fate = "wrapped"        // in an object that holds the text
	WasAltered     Fate = "altered"        // other arguments
	WasDropped     Fate = "dropped"        // the turn is there, the call is not
	WasOrphaned    Fate = "orphaned"       // without a result, while the conversation went on
	WasMoved       Fate = "moved"          // out of its order, or away from the calls it was made with
)

// A Candidate is a turn whose calls a request may have brought back.
type Candidate struct {
	Turn *stream.Turn
	From *dialect.Target // where its protocol sends history, nil when it has none
}

// An Observation is what one request's history has of an earlier call.
type Observation struct {
	Call     *stream.Call
	Fate     Fate
	ID       string      // the call's in the request
	Policies []string    // those that do the same
	Result   stream.Code // stream.AnswerOK or AnswerFailed; 0 when there is none
	Losses   []Loss
	sent     *dialect.Part
}

// Observe finds the calls of earlier turns in a request's history and says what
// became of each. It is silent about turns that are not in the history at all:
// they belong to another conversation, or were left behind on purpose.
func Observe(history []dialect.Message, to *dialect.Target, turns []Candidate) (all []Observation) {
	m := match(history, to, turns)
	for _, t := range turns {
		var seen []Observation
		for _, c := range t.Turn.Calls {
			if c.Server || c.Attempt {
				continue
			}
			if o, ok := m.observe(c, t); ok {
				seen = append(seen, o)
			}
		}
		m.order(t.Turn, seen)
		all = append(all, seen...)
	}
	return all
}

// observe says what became of one call.
func (m *matching) observe(c *stream.Call, t Candidate) (o Observation, ok bool) {
	place, found := m.calls[c]
	if !found {
		if !m.linked[t.Turn] {
			return o, false
		}
		o = Observation{Call: c, Fate: WasDropped, Result: m.resultOf(c.ID, c.Name)}
		o.lose(CallDropped, 0, "the call is not in the history: the model sees that it never asked")
		if o.Result != 0 {
			o.lose(OrphanResult, 0, "its result is there, without a call")
		}
		return o, true
	}
	part := m.part(place)
	o = Observation{Call: c, ID: part.ID, sent: part}
	o.compare(t, m.to)
	if part.ID != c.ID && c.ID != "" {
		o.lose(IDRewritten, 0, fmt.Sprintf("its id is %s here", quote(part.ID)))
	}
	o.Result = m.resultOf(part.ID, part.Name)
	if o.Result == 0 && place.message < len(m.history)-1 && m.goesOn(place.message) {
		o.lose(OrphanCall, 0, "no result of it is in the history, and the conversation goes on")
		if o.Fate == Intact || o.Fate == WasReformatted {
			o.Fate = WasOrphaned
		}
	}
	return o, true
}

// goesOn reports whether the model has spoken again after a message.
func (m *matching) goesOn(after int) bool {
	for i := after + 1; i < len(m.history); i++ {
		if len(m.history[i].Parts) > 0 {
			return true
		}
	}
	return false
}

func (o *Observation) lose(code string, end int, message string) {
	o.Losses = append(o.Losses, Loss{Code: code, Severity: severities[code], Message: message, End: end})
}

// compare holds the arguments that were sent against those the model wrote.
func (o *Observation) compare(t Candidate, to *dialect.Target) {
	raw, sent := o.Call.Args(), o.sent
	text := sent.Args
	f := look(raw, o.Call.Freeform())
	if bytes.Equal(raw, text) && (sent.Form == to.Form || f.freeform) {
		o.Fate = Intact
		return
	}
	o.behavesLike(t, to)
	empty := dialect.Raw(bytes.TrimSpace(text)).EmptyObject()
	same := f.syntax == stream.SyntaxObject && dialect.Same(raw, text)
	switch {
	case f.syntax == stream.SyntaxEmpty && (empty || len(text) == 0), f.null && empty:
		o.Fate = Intact
	case sent.Form == dialect.TextForm && to.Form != dialect.TextForm, encodes(text, raw):
		o.Fate = WasEncoded
		o.lose(DoubleEncoded, len(raw), "the arguments are a string that holds the text, not what the text says")
	case same:
		o.Fate = WasReformatted
	case empty:
		o.Fate = WasEmptied
		o.lose(ArgsEmptied, len(raw), fmt.Sprintf("%s the model wrote are gone: {} was sent", bytesWord(len(raw))))
	case wraps(text, raw):
		o.Fate = WasWrapped
		o.lose(ArgsWrapped, len(raw), "what the model wrote was put into an object")
	case f.syntax == stream.SyntaxObject && o.rounded(f, text):
		o.Fate = WasReformatted
		o.lose(IntPrecision, 0, "numbers that no double holds were rounded")
	case f.syntax != stream.SyntaxObject && isObject(text):
		o.Fate = WasRepaired
		o.lose(ArgsRepaired, len(raw), "a parser's guess was sent as if the model had written it")
	default:
		o.Fate = WasAltered
		o.lose(ArgsAltered, len(raw), "other arguments were sent than the model wrote")
	}
}

// rounded reports whether text is what f is after its numbers were doubles.
func (o *Observation) rounded(f *facts, text []byte) bool {
	if !f.integer.is() && !f.fraction.is() && !f.huge.is() {
		return false
	}
	t := newTree(f.raw, f.tokens)
	return dialect.Same(t.write(nil, 0, rewriting{doubles: true, spell: true}), text)
}

// encodes reports whether text is a JSON string, or a string in one, that holds raw.
func encodes(text, raw []byte) bool {
	for range 3 {
		v := dialect.Raw(bytes.TrimSpace(text))
		s := v.Scan()
		if s.Value(); !v.IsString() || s.End() != nil {
			return false
		}
		if text = v.Append(nil); bytes.Equal(text, raw) || dialect.Same(text, raw) {
			return true
		}
	}
	return false
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

// behavesLike finds the policies that send what was sent.
func (o *Observation) behavesLike(t Candidate, to *dialect.Target) {
	src := Calls(t.Turn, t.From, o.Call)
	for i := range Policies {
		p := src.Preview(to, &Policies[i])
		if len(p.Calls) != 1 || p.Calls[0].Args == nil {
			continue
		}
		args := p.Calls[0].Args
		stringSent := to.Form != dialect.TextForm && o.sent.Form == dialect.TextForm
		switch {
		case stringSent && Policies[i].again,
			!stringSent && (bytes.Equal(args, o.sent.Args) || to.Form != dialect.TextForm && dialect.Same(args, o.sent.Args)):
			o.Policies = append(o.Policies, Policies[i].Name)
		}
	}
}

// order says which calls of a turn are not where the model put them.
func (m *matching) order(t *stream.Turn, seen []Observation) {
	last := place{-1, -1}
	for i := range seen {
		o := &seen[i]
		at, ok := m.calls[o.Call]
		if !ok {
			continue
		}
		apart := last.message >= 0 && at.message != last.message
		before := at.message < last.message || at.message == last.message && at.part < last.part
		switch {
		case before:
			o.lose(CallsReordered, 0, "it stands before a call that the model made first")
		case apart && m.to.Together:
			o.lose(ParallelSplit, 0, "it was made together with another call, and stands in a message of its own")
		}
		if (before || apart && m.to.Together) && (o.Fate == Intact || o.Fate == WasReformatted) {
			o.Fate = WasMoved
		}
		last = at
	}
}

// Finding is what is to be said of the worst loss, if it is worth saying.
func (o *Observation) Finding() (f stream.Finding, ok bool) {
	worst := -1
	for i, l := range o.Losses {
		if l.Severity >= Medium && (worst < 0 || l.Severity > o.Losses[worst].Severity) {
			worst = i
		}
	}
	if worst < 0 {
		return f, false
	}
	l := o.Losses[worst]
	f = stream.Finding{Code: l.Code, Severity: stream.Warn, Offset: stream.NoOffset}
	if l.Severity == Critical {
		f.Severity = stream.Error
	}
	f.Message = fmt.Sprintf("a later request sent it back %s: %s", o.Fate, l.Message)
	if len(o.Policies) > 0 {
		f.Message += fmt.Sprintf(" (policy %s)", o.Behaves())
	}
	return f, true
}

// Behaves is the names of the policies that do the same.
func (o *Observation) Behaves() string { return strings.Join(o.Policies, ", ") }
