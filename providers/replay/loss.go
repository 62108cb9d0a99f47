package replay

import (
	"slices"

	"toolscope/stream"
)

// Severity grades a loss.
type Severity uint8

// Severities, the mildest first.
const (
	Info Severity = iota
	Low
	Medium
	High
	Critical
)

// Severities lists all severities, the mildest first.
var Severities = []Severity{Info, Low, Medium, High, Critical}

var severityWords = [...]string{"info", "low", "medium", "high", "critical"}

// String returns the name of the severity.
func (s Severity) String() string { return severityWords[s] }

// FindSeverity returns the severity of a name.
func FindSeverity(name string) (Severity, bool) {
	i := slices.Index(severityWords[:], name)
	return Severity(max(i, 0)), i >= 0
}

// A Kind of loss has the diagnosis of the finding that reports it when a later request shows it. Its own
// severity is finer than a finding's.
type Kind struct {
	*stream.Diagnosis
	Severity    Severity
	Description string // the change, in a few words
}

// newLoss returns a loss. Its arguments are those of stream.Messagef.
func (k *Kind) newLoss(format string, args ...any) Loss {
	m := stream.Messagef(format, args...)
	return Loss{Kind: k, Message: m.Text, Quoted: m.Quoted, facts: m.Facts}
}

// A Loss is one thing that replay changes.
type Loss struct {
	*Kind
	Message string       // one sentence
	Quoted  stream.Spans // the ranges of Message that are captured text
	Call    int          // number in the Source, from 1; 0 if it is not about a call
	Other   string       // another call that it is about and that is not sent: "call 2"
	Start   int          // its range of the call's arguments; none if End is 0
	End     int
	facts   string // as in stream.Message
}

// message returns the message with its quoted ranges and facts.
func (l *Loss) message() stream.Message {
	return stream.Message{Text: l.Message, Quoted: l.Quoted, Facts: l.facts}
}
