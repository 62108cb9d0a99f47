package stream

import (
	"fmt"
	"slices"
	"strings"
)

// Severity grades a finding.
type Severity uint8

const (
	Info  Severity = iota // a deviation worth knowing, harmless
	Warn                  // a client that is not careful goes wrong here
	Error                 // cut, lost, contradictory or refused
)

func (s Severity) String() string { return [...]string{"info", "warn", "error"}[s] }

// A Party is who caused what a finding tells.
type Party uint8

const (
	Model        Party = iota + 1 // wrote it so
	Provider                      // runs the model and answers for it
	Gateway                       // speaks a protocol that is not its own: a router, a compatible host
	Client                        // sent it, left it out, or went away
	Network                       // lost it between the two
	Toolscope                     // this program, or how it got the bytes
	UnknownParty                  // somebody: the source does not tell who
	Server                        // of MCP: runs tools for the client
)

// Parties are all of them.
var Parties = []Party{Model, Provider, Gateway, Client, Network, Toolscope, UnknownParty, Server}

func (c Party) String() string {
	return [...]string{"", "model", "provider", "gateway", "client", "network", "toolscope", "unknown", "server"}[c]
}

// A Diagnosis is one thing that can be found. Each is declared once, where it is made, and nobody
// changes it: a Finding points at it.
type Diagnosis struct {
	Code            string
	Severity        Severity
	OtherSeverities []Severity // grades As may give instead
	By              Party
	Short           string // what it is, in a few words, where the arguments are; "" where it is not of them
	Meaning         string // what it means, in a sentence
	Advice          string // what to do about it, in a sentence

	declared *Diagnosis // of one that As or Blames made
}

// WithSeverity is the diagnosis with another severity: its own, or one of Also.
func (d *Diagnosis) WithSeverity(s Severity) *Diagnosis {
	if s != d.Severity && !slices.Contains(d.OtherSeverities, s) {
		panic(fmt.Sprintf("stream: %s is never %s", d.Code, s))
	}
	made := *d
	made.declared, made.Severity = d.Base(), s
	return &made
}

// WithCause is the diagnosis with another culprit, where it is known who it was.
func (d *Diagnosis) WithCause(c Party) *Diagnosis {
	made := *d
	made.declared, made.By = d.Base(), c
	return &made
}

// Base is the diagnosis as it was declared, before As and Blames: the one to compare.
func (d *Diagnosis) Base() *Diagnosis {
	if d.declared != nil {
		return d.declared
	}
	return d
}

// Finding is the diagnosis made: the message says, in a sentence, what happened and what goes wrong
// because of it.
func (d *Diagnosis) Finding(format string, args ...any) Finding {
	return Finding{Diagnosis: d.Base(), Severity: d.Severity, By: d.By, Message: fmt.Sprintf(format, args...), Offset: NoOffset}
}

// NoOffset is the Offset of a finding that points at no argument byte.
const NoOffset = -1

// A Finding is a diagnosis with its evidence; Diagnosis.Finding makes one. Its severity is the
// Diagnosis' own or one of Also; its culprit is the Diagnosis' own unless another is known.
type Finding struct {
	*Diagnosis // as declared; every finding of a Session has one
	Severity   Severity
	By         Party
	Message    string
	Hint       string // what it is in this place, in a few words; "" where the Diagnosis' Short says it all
	Event      int    // number of the event that showed it
	Offset     int    // byte of the call's arguments it points at, or NoOffset
}

// Brief is what is wrong here, in a few words.
func (f *Finding) Brief() string {
	if f.Hint != "" {
		return f.Hint
	}
	return f.Diagnosis.Brief()
}

// CausedBy is who did it, in words. What code would do with the beginning of a call, nobody was seen to do.
func (f *Finding) CausedBy() string {
	if f.Base() == EarlyWrong {
		return "code that runs so"
	}
	return f.By.String()
}

// Brief is what it is, in a few words.
func (d *Diagnosis) Brief() string {
	if d.Short != "" {
		return d.Short
	}
	return strings.ToLower(strings.ReplaceAll(d.Code, "_", " "))
}

// withHint is the finding with what it is in its place, in a few words.
func (f Finding) withHint(words string) Finding {
	f.Hint = words
	return f
}

// dumpText are the finding at the end of its event's line.
func (f *Finding) dumpText() string {
	if f.Diagnosis == nil {
		return ""
	}
	return fmt.Sprintf(" %s (%s)", f.Code, f.Severity)
}

// withEvidence is the finding with its evidence: the event that showed it, and an argument byte or NoOffset.
func (f Finding) withEvidence(event, offset int) Finding {
	f.Event, f.Offset = event, offset
	return f
}
