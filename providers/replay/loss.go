package replay

import "toolscope/stream"

// Severity says how bad a loss is.
type Severity uint8

const (
	Info Severity = iota
	Low
	Medium
	High
	Critical
)

// Severities are all severities, the mildest first.
var Severities = []Severity{Info, Low, Medium, High, Critical}

var severityWords = [...]string{"info", "low", "medium", "high", "critical"}

func (s Severity) String() string { return severityWords[s] }

// FindSeverity is the severity of that name.
func FindSeverity(name string) (Severity, bool) {
	for i, word := range severityWords {
		if word == name {
			return Severity(i), true
		}
	}
	return 0, false
}

// A Kind of loss is a finding once a later request has shown it. It has a
// severity of its own: that of a finding is coarser.
type Kind struct {
	*stream.Diagnosis
	Severity Severity
	Says     string // what is done
}

// A Loss is one thing that replay changes.
type Loss struct {
	*Kind
	Message string // one sentence
	Call    int    // in the Source, from 1; 0 when it is about no call
	Start   int    // the bytes of the call's arguments it is about: none when End is 0
	End     int
}
