package stream

import (
	"fmt"
	"slices"
)

// Severity grades a finding.
type Severity uint8

const (
	Info  Severity = iota // a deviation worth knowing, harmless
	Warn                  // a client that is not careful goes wrong here
	Error                 // cut, lost, contradictory or refused
)

func (s Severity) String() string { return [...]string{"info", "warn", "error"}[s] }

// A Culprit is who did what a finding tells.
type Culprit uint8

const (
	Model     Culprit = iota + 1 // wrote it so
	Provider                     // runs the model and answers for it
	Gateway                      // speaks a protocol that is not its own: a router, a compatible host
	Client                       // sent it, left it out, or went away
	Network                      // lost it between the two
	Toolscope                    // this program, or how it got the bytes
)

// Culprits are all of them.
var Culprits = []Culprit{Model, Provider, Gateway, Client, Network, Toolscope}

func (c Culprit) String() string {
	return [...]string{"", "model", "provider", "gateway", "client", "network", "toolscope"}[c]
}

// A Diagnosis is one thing that can be found. Each is declared once, where it is made, and nobody
// changes it: a Finding points at it.
type Diagnosis struct {
	Code     string
	Severity Severity
	Also     []Severity // grades As may give instead
	By       Culprit
	Means    string // what it means, in a sentence
	Do       string // what to do about it, in a sentence

	declared *Diagnosis // of one that As or Blames made
}

// As is the diagnosis in another of its grades.
func (d *Diagnosis) As(s Severity) *Diagnosis {
	if s != d.Severity && !slices.Contains(d.Also, s) {
		panic(fmt.Sprintf("stream: %s is never %s", d.Code, s))
	}
	made := *d
	made.declared, made.Severity = d.Declared(), s
	return &made
}

// Blames is the diagnosis where it is known that somebody else did it.
func (d *Diagnosis) Blames(c Culprit) *Diagnosis {
	made := *d
	made.declared, made.By = d.Declared(), c
	return &made
}

// Declared is the diagnosis as it was declared.
func (d *Diagnosis) Declared() *Diagnosis {
	if d.declared != nil {
		return d.declared
	}
	return d
}

// Finding is the diagnosis made: the message says, in a sentence, what happened and what goes wrong
// because of it.
func (d *Diagnosis) Finding(format string, args ...any) Finding {
	return Finding{Diagnosis: d.Declared(), Severity: d.Severity, By: d.By, Message: fmt.Sprintf(format, args...), Offset: NoOffset}
}

// NoOffset is the Offset of a finding that points at no argument byte.
const NoOffset = -1

// A Finding is a diagnosis with its evidence; Diagnosis.Finding makes one. Its severity is one of
// the Diagnosis' grades; its culprit is the Diagnosis' unless it is known better.
type Finding struct {
	*Diagnosis // as declared; every finding of a Session has one
	Severity   Severity
	By         Culprit
	Message    string
	Event      int // number of the event that showed it
	Offset     int // byte of the call's arguments it points at, or NoOffset
}

// words are the finding in the line of its event.
func (f *Finding) words() string {
	if f.Diagnosis == nil {
		return ""
	}
	return fmt.Sprintf(" %s (%s)", f.Code, f.Severity)
}

// at is the finding, which points at an argument byte.
func (f Finding) at(event, offset int) Finding {
	f.Event, f.Offset = event, offset
	return f
}
