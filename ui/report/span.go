package report

import (
	"time"

	"toolscope/stream"
)

// A Span is a turn, or a call of a turn, in a trace.
type Span struct {
	Trace      [16]byte
	ID, Parent [8]byte // Parent is zero for a root span
	State      string  // tracestate
	Flags      uint32  // as in OTLP; 0 if unknown
	Name       string
	Client     bool      // the span is a request to a provider; otherwise it is a part of one
	Began      time.Time // zero if unknown
	Ended      time.Time
	Attributes []Attribute
	Events     []SpanEvent
	Failed     bool
	Failure    string         // why it failed
	Machine    stream.Machine // machine that captured it
}

// An Attribute is a name and a value. The value is a string, an int64, a bool or a []string.
type Attribute struct {
	Key   string
	Value any
}

// A SpanEvent is an event within a span.
type SpanEvent struct {
	At         time.Time
	Name       string
	Attributes []Attribute
}

// Resource returns the attributes that all spans of a machine share. version is toolscope's version.
func Resource(of stream.Machine, version string) []Attribute {
	var a attributes
	a.addText(semService, "toolscope")
	a.addText(semVersion, version)
	a.addText(semMachine, of.Host)
	a.addText(ownAgent, of.Agent)
	return a
}

// ByMachine groups spans by machine.
func ByMachine(spans []Span) (groups [][]Span) {
	at := map[stream.Machine]int{}
	for _, s := range spans {
		i, ok := at[s.Machine]
		if !ok {
			i = len(groups)
			at[s.Machine] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], s)
	}
	return groups
}

// attributes collects the attributes of a span. Its methods leave out unknown values.
type attributes []Attribute

func (a *attributes) addText(key, value string) {
	if value != "" {
		*a = append(*a, Attribute{key, value})
	}
}

func (a *attributes) addNumber(key string, n int64) { *a = append(*a, Attribute{key, n}) }

func (a *attributes) addFlag(key string, is bool) {
	if is {
		*a = append(*a, Attribute{key, true})
	}
}

func (a *attributes) addCount(key string, c stream.Count) {
	if c.Reported {
		a.addNumber(key, c.N)
	}
}

func (a *attributes) addList(key, value string) {
	if value != "" {
		*a = append(*a, Attribute{key, []string{value}})
	}
}
