package replay

import (
	"fmt"
	"slices"

	"toolscope/stream"
)

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
	i := slices.Index(severityWords[:], name)
	return Severity(max(i, 0)), i >= 0
}

// A Kind of loss has the diagnosis of the finding that it becomes when a later request shows it.
// Its severity is its own, and finer than a finding's.
type Kind struct {
	*stream.Diagnosis
	Severity    Severity
	Description string // what is done
}

func (k *Kind) newLoss(format string, args ...any) Loss {
	return Loss{Kind: k, Message: fmt.Sprintf(format, args...)}
}

// A Loss is one thing that replay changes.
type Loss struct {
	*Kind
	Message string // one sentence
	Call    int    // in the Source, from 1; 0 when it is about no call
	Other   string // the call that it is about too, where that is not sent: "call 2"
	Start   int    // the bytes of the call's arguments it is about: none when End is 0
	End     int
}
