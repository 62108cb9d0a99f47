package providers

import (
	"sort"
	"time"

	"toolscope/stream"
	"toolscope/stream/json"
)

// Latency contains the times of the stages of a call, measured from From, in their usual order. A stage that
// was not reached, or has no time in the source, is NoTime.
type Latency struct {
	From        time.Duration // start of the request, in the source's time, or NoTime
	RequestSeen bool          // if false, the request was not seen, and From is the time of the turn's first event

	Headers    time.Duration // arrival of the response's head
	FirstToken time.Duration // first text, reasoning or call in the turn
	Named      time.Duration // arrival of the name of the call's tool
	FirstByte  time.Duration // first byte of the arguments
	Actionable time.Duration // completion of the last required key's value
	Parses     time.Duration // first moment at which the arguments are an object
	LastByte   time.Duration // last byte of the arguments so far
	Sealed     time.Duration // time when the arguments became final
	End        time.Duration // end of the response

	Deltas  int           // number of deltas with argument bytes
	Gap     time.Duration // longest silence between two deltas, or stall after the last delta; NoTime if there is none
	GapAt   int           // number of the delta after that silence, as in stream.Call; the number of deltas if no delta followed; -1 if there is no silence
	Stalls  int           // number of silences of at least StallAfter
	Stalled time.Duration // total length of the stalls
	Arrival Arrival       // how the argument bytes arrived
}

// StallAfter is the minimum length of a silence between two deltas that counts as a stall.
const StallAfter = time.Second

// TimePoint is one time in a Latency, with its name and the name of its field in JSON lines.
type TimePoint struct {
	Name, Key string
	At        time.Duration
}

// TimePoints returns the times with their names, in order, including stages that were not reached.
func (l *Latency) TimePoints() [9]TimePoint {
	return [...]TimePoint{
		{"headers", "headers_ms", l.Headers},
		{"first token", "first_token_ms", l.FirstToken},
		{"named", "named_ms", l.Named},
		{"first byte", "first_byte_ms", l.FirstByte},
		{"actionable", "actionable_ms", l.Actionable},
		{"parses", "parses_ms", l.Parses},
		{"last byte", "last_byte_ms", l.LastByte},
		{"sealed", "sealed_ms", l.Sealed},
		{"end", "end_ms", l.End},
	}
}

// fromStart converts a time in the source to a time since From. It returns NoTime if a time is unknown or is
// before From.
func (l *Latency) fromStart(at time.Duration) time.Duration {
	if at < 0 || l.From < 0 || at < l.From {
		return stream.NoTime
	}
	return at - l.From
}

// HasTimes reports whether the source has times for a turn. If not, Latency has no times.
func (v *View) HasTimes(t *stream.Turn) bool { return t.OpenedAt >= 0 || v.RequestStart(t) >= 0 }

// Latency returns the latency of a call. If c is nil, it returns only the latency of the turn. The cost grows
// with the number of tokens in the arguments and with the number of deltas.
func (v *View) Latency(t *stream.Turn, c *stream.Call) Latency {
	l := Latency{From: t.OpenedAt, Gap: stream.NoTime, GapAt: -1}
	headers := stream.NoTime
	if at := v.RequestStart(t); at >= 0 {
		l.From, l.RequestSeen = at, true
	}
	if x := v.Exchange(t.Exchange); x != nil {
		headers = x.HeadAt
	}
	l.Headers, l.FirstToken, l.End = l.fromStart(headers), l.fromStart(v.firstToken(t)), l.fromStart(t.ClosedAt)
	l.Named, l.FirstByte, l.LastByte = stream.NoTime, stream.NoTime, stream.NoTime
	l.Actionable, l.Parses, l.Sealed = stream.NoTime, stream.NoTime, stream.NoTime
	if c == nil {
		return l
	}
	l.FirstByte, l.LastByte, l.Sealed = l.fromStart(c.FirstArgAt), l.fromStart(c.LastArgAt), l.fromStart(c.SealedAt)
	if n, ok := v.namedBy(t, c); ok {
		l.Named = l.fromStart(v.eventTime(n))
	}
	if r := c.RuleRun(stream.ParsableObject); r.Event > 0 && !r.Replaced {
		l.Parses = l.fromStart(v.eventTime(r.Event))
	}
	if n, ok := v.Actionable(t, c); ok {
		l.Actionable = l.fromStart(v.eventTime(n))
	}
	l.findPauses(v, c)
	return l
}

// eventTime returns the arrival time of event n.
func (v *View) eventTime(n int) time.Duration {
	_, at := v.kindAndTime(n)
	return at
}

// kindAndTime returns the kind and the arrival time of event n.
func (v *View) kindAndTime(n int) (stream.EventKind, time.Duration) {
	if e := v.syntheticEnd(n); e != nil {
		return e.Kind, e.At
	}
	return v.in.Timeline.KindAndTime(n)
}

// RequestStart returns the start time of a turn's request. It returns NoTime if the request was not seen, has
// no time or is later than the response.
func (v *View) RequestStart(t *stream.Turn) time.Duration {
	if x := v.Exchange(t.Exchange); x != nil {
		if at := x.RequestStart(t); at <= t.OpenedAt {
			return at
		}
	}
	return stream.NoTime
}

// firstToken returns the arrival time of the model's first output of any kind.
func (v *View) firstToken(t *stream.Turn) time.Duration {
	for n := range v.EventsOf(t, int(t.OpenedBy)) {
		if n >= v.Events() {
			break
		}
		switch kind, at := v.kindAndTime(n); kind {
		case stream.TextDelta, stream.ThinkDelta, stream.CallOpen, stream.Args:
			return at
		}
	}
	return stream.NoTime
}

// namedBy returns the event that contains the name of a call's tool. The result ok is false if there is none.
func (v *View) namedBy(t *stream.Turn, c *stream.Call) (event int, ok bool) {
	if c.Name == "" {
		return 0, false
	}
	for n := range v.EventsOf(t, int(c.OpenedBy)) {
		kind, of := v.Subject(n)
		if of != c.Ref() || kind != stream.CallOpen && kind != stream.CallMeta {
			continue
		}
		if stream.PayloadOf[stream.CallInfo](v.EventPrefix(n, 0)).Name != "" {
			return n, true
		}
	}
	return 0, false
}

// Actionable returns the event that completed the last of the values that the call's tool requires. If the tool
// requires no keys, it returns the event with the tool's name. The result ok is false if a value is not complete, or
// if the required keys are unknown. The cost grows with the number of tokens.
func (v *View) Actionable(t *stream.Turn, c *stream.Call) (event int, ok bool) {
	x := v.Exchange(t.Exchange)
	if x == nil {
		return 0, false
	}
	keys, known := x.Required(c)
	switch {
	case !known:
		return 0, false
	case len(keys) == 0:
		return v.namedBy(t, c)
	}
	missing := map[string]bool{}
	for _, key := range keys {
		missing[key] = true
	}
	end := completeAt(c.Args(), c.Lexer(), missing)
	if end < 0 {
		return 0, false
	}
	return int(c.DeltaEvent(c.DeltaAt(end - 1))), true
}

// completeAt returns the offset in an object at which the value of the last missing key is complete, or -1 if a
// key has no value. Only the byte after a number shows that the number is complete.
func completeAt(args []byte, lex *json.Lexer, missing map[string]bool) (end int) {
	toks, depth, key := lex.Tokens(), 0, ""
	for i, t := range toks.All() {
		if t.Kind == json.Junk {
			return -1
		}
		open := i == toks.Len()-1 && lex.Open()
		switch t.Kind {
		case json.ObjectOpen, json.ArrayOpen:
			depth++
			continue
		case json.ObjectClose, json.ArrayClose:
			depth--
		case json.Key:
			if depth == 1 && !open {
				key = json.Value(args[toks.Start(i):t.End]).Text()
			}
			continue
		case json.Space, json.Colon, json.Comma:
			continue
		}
		if depth != 1 || open || !missing[key] {
			continue
		}
		if delete(missing, key); len(missing) == 0 {
			if t.Kind == json.Number {
				return min(int(t.End)+1, len(args))
			}
			return int(t.End)
		}
	}
	return -1
}

// Arrival describes how the arguments of a call arrive. It shows whether the provider streams the arguments
// while the model writes them, or holds them back. Some providers have a setting for this. Others always do
// the same.
type Arrival uint8

// The values of Arrival.
const (
	ArrivalUnknown Arrival = iota // no evidence so far, or the source has no times
	AtOnce                        // all bytes in one delta
	ByValue                       // in complete values: no delta ends inside a value
	InBursts                      // held back, and then sent in many deltas at once
	Eager                         // while the model writes them
	NumArrivals                   // number of values of Arrival
)

var arrivalWords = [NumArrivals]string{ArrivalUnknown: "", AtOnce: "at once", ByValue: "by value", InBursts: "in bursts", Eager: "eager"}

func (m Arrival) String() string { return arrivalWords[m] }

// A burst is a group of deltas that follow each other within burstGap, after a silence of burstPause. A value
// of valueBytes is longer than one token of a model.
const (
	burstGap   = 10 * time.Millisecond
	burstPause = 250 * time.Millisecond
	valueBytes = 16
)

// findPauses finds the silences between the deltas of a call, and determines how the deltas arrived.
func (l *Latency) findPauses(v *View, c *stream.Call) {
	last, held := l.Named, false // held: the current deltas were held back
	if last >= 0 {
		last += l.From
	}
	burst, many, all := 0, 0, 0 // number of bytes in the current burst, in all bursts with several deltas, and in all deltas
	for n := range c.Deltas() {
		start, end := c.DeltaSpan(n)
		if start == end {
			continue
		}
		l.Deltas++
		all += end - start
		at := v.eventTime(int(c.DeltaEvent(n)))
		silent := at - last
		if l.Deltas > 1 && last >= 0 && at >= last {
			l.addPause(silent, n)
		}
		switch {
		case last < 0 || silent > burstGap:
			burst, held = end-start, last >= 0 && silent >= burstPause
		case held:
			many += burst + end - start
			burst = 0
		}
		last = at
	}
	l.Arrival = l.arrival(c, many, all)
	if end := v.endOfSilence(c); l.Deltas > 0 && last >= 0 && end-last >= StallAfter {
		l.addPause(end-last, c.Deltas())
	}
}

// endOfSilence returns the time at which the silence after the last delta of a call ended. This is when the
// arguments became final, or when the response ended. For an open response, it is the time of the latest
// record. Pings don't end a silence.
func (v *View) endOfSilence(c *stream.Call) time.Duration {
	if c.SealedAt >= 0 {
		return c.SealedAt
	}
	switch t := v.Session().Turn(c.Turn); {
	case t == nil:
		return stream.NoTime
	case t.ClosedAt >= 0 || v.past != nil || v.Exchange(t.Exchange) == nil:
		return t.ClosedAt
	default:
		return v.Exchange(t.Exchange).LastRecordAt()
	}
}

// addPause adds a silence before delta n.
func (l *Latency) addPause(silent time.Duration, n int) {
	if silent > l.Gap {
		l.Gap, l.GapAt = silent, n
	}
	if silent >= StallAfter {
		l.Stalls++
		l.Stalled += silent
	}
}

// arrival determines how the bytes arrived. The parameter many is the number of bytes in bursts, and all is
// the number of all bytes.
func (l *Latency) arrival(c *stream.Call, many, all int) Arrival {
	switch {
	case l.Deltas == 0:
		return ArrivalUnknown
	case l.Deltas == 1 && !c.MayGrow():
		return AtOnce
	case l.Deltas == 1:
		return ArrivalUnknown
	case all >= valueBytes*l.Deltas && byValue(c):
		return ByValue
	case l.FirstByte < 0 || l.LastByte < 0:
		return ArrivalUnknown
	case 2*many >= all:
		return InBursts
	}
	return Eager
}

// byValue reports whether no delta of a call ends inside a key or a value.
func byValue(c *stream.Call) bool {
	toks := c.Lexer().Tokens()
	if c.Freeform() || toks.Len() == 0 {
		return false
	}
	for n := range c.Deltas() {
		_, end := c.DeltaSpan(n)
		i := sort.Search(toks.Len(), func(i int) bool { return int(toks.At(i).End) >= end })
		if end > 0 && (i == toks.Len() || int(toks.At(i).End) != end) {
			return false
		}
	}
	return true
}
