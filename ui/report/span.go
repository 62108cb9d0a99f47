package report

import (
	"time"

	"toolscope/stream"
)

// A Span is a turn, or a call of one, as a trace has it.
type Span struct {
	Trace      [16]byte
	ID, Parent [8]byte // Parent is zero where there is none
	State      string  // tracestate
	Flags      uint32  // as in OTLP; 0 where nothing is known
	Name       string
	Client     bool      // of a request that went out; otherwise of what happened within it
	Began      time.Time // zero where nobody knows
	Ended      time.Time
	Attributes []Attribute
	Events     []SpanEvent
	Failed     bool
	Failure    string         // why, in words
	Machine    stream.Machine // that it was seen on
}

// An Attribute is a name with a value: a string, an int64, a bool or a []string.
type Attribute struct {
	Key   string
	Value any
}

// A SpanEvent is something that happened within a span.
type SpanEvent struct {
	At         time.Time
	Name       string
	Attributes []Attribute
}

// Resource is what the spans of a machine have in common, as attributes. version is the program's own.
func Resource(of stream.Machine, version string) []Attribute {
	var a attributes
	a.addText(semService, "toolscope")
	a.addText(semVersion, version)
	a.addText(semMachine, of.Host)
	a.addText(ownAgent, of.Agent)
	return a
}

// ByMachine are spans in groups, each of those of one machine.
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

// attributes are those of a span; what is not known is left out.
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
