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
	Warn                  // a careless client fails here
	Error                 // cut, lost, contradictory or refused
)

func (s Severity) String() string { return [...]string{"info", "warn", "error"}[s] }

// A Party is who caused a finding.
type Party uint8

const (
	Model        Party = iota + 1 // wrote it
	Provider                      // runs the model
	Gateway                       // speaks a protocol of others: a router, a compatible server
	Client                        // sent it, left it out, or went away
	Network                       // lost it on the way
	Toolscope                     // this program, or how it got the bytes
	UnknownParty                  // the source doesn't tell which party it was
	Server                        // an MCP server: runs tools for the client
)

// Parties lists all parties.
var Parties = []Party{Model, Provider, Gateway, Client, Network, Toolscope, UnknownParty, Server}

func (c Party) String() string {
	return [...]string{"", "model", "provider", "gateway", "client", "network", "toolscope", "unknown", "server"}[c]
}

// A Diagnosis is one kind of finding. Each is declared once, in the package that makes it, and never
// changes: a Finding points at it.
type Diagnosis struct {
	Code            string
	Severity        Severity
	OtherSeverities []Severity // severities that WithSeverity may set instead
	SeverityNote    string     // when a finding has one of OtherSeverities, e.g. "info if …"
	By              Party
	Short           string // what it is, in a few words, shown next to the arguments; "" if it is not about them
	Meaning         string // what it means, in one or two sentences
	Advice          string // what to do about it, in one or two sentences

	declared *Diagnosis // the declared one, if WithSeverity or WithCause made this one
}

// WithSeverity returns the diagnosis with another severity: its own, or one of OtherSeverities. It panics
// for any other.
func (d *Diagnosis) WithSeverity(s Severity) *Diagnosis {
	if s != d.Severity && !slices.Contains(d.OtherSeverities, s) {
		panic(fmt.Sprintf("stream: %s is never %s", d.Code, s))
	}
	made := *d
	made.declared, made.Severity = d.Base(), s
	return &made
}

// WithCause returns the diagnosis with another party at fault, if that is known.
func (d *Diagnosis) WithCause(c Party) *Diagnosis {
	made := *d
	made.declared, made.By = d.Base(), c
	return &made
}

// Base returns the diagnosis as it was declared, before WithSeverity and WithCause. Compare diagnoses by
// it.
func (d *Diagnosis) Base() *Diagnosis {
	if d.declared != nil {
		return d.declared
	}
	return d
}

// Finding makes a finding of the diagnosis. The message says what happened and what goes wrong because of
// it.
func (d *Diagnosis) Finding(format string, args ...any) Finding {
	f := Finding{Diagnosis: d.Base(), Severity: d.Severity, By: d.By, Offset: NoOffset}
	f.SetMessage(Messagef(format, args...))
	return f
}

// NoOffset is the Offset of a finding that points at no argument byte.
const NoOffset = -1

// A Finding is a diagnosis with its evidence; Diagnosis.Finding makes one. Its severity is the Diagnosis'
// own or one of OtherSeverities. Its party is the Diagnosis' own unless another is known.
type Finding struct {
	*Diagnosis // as declared; every finding of a Session has one
	Severity   Severity
	By         Party
	Message    string
	Quoted     Spans  // the ranges of Message that are captured text
	Facts      string // what tells it from others with its code and tool, as in Message
	Hint       string // what it is in this place, in a few words; "" if the Diagnosis' Short is enough
	Event      int    // number of the event that showed it
	Offset     int    // byte of the call's arguments it points at, or NoOffset
}

// Brief says what is wrong here, in a few words.
func (f *Finding) Brief() string {
	if f.Hint != "" {
		return f.Hint
	}
	return f.Diagnosis.Brief()
}

// CausedBy names the party at fault. EARLY_WRONG is about what a client would do: none was seen to do it.
func (f *Finding) CausedBy() string {
	if f.Base() == EarlyWrong {
		return "clients that run early"
	}
	return f.By.String()
}

// Brief says what the diagnosis is, in a few words.
func (d *Diagnosis) Brief() string {
	if d.Short != "" {
		return d.Short
	}
	return strings.ToLower(strings.ReplaceAll(d.Code, "_", " "))
}

// SetMessage replaces the message, its quoted ranges and its facts.
func (f *Finding) SetMessage(m Message) { f.Message, f.Quoted, f.Facts = m.Text, m.Quoted, m.Facts }

// AppendMessage appends to the message, formatted as Messagef does.
func (f *Finding) AppendMessage(format string, args ...any) {
	f.SetMessage(Messagef("%s%s", Message{f.Message, f.Quoted, f.Facts}, Messagef(format, args...)))
}

// withHint returns the finding with a hint: what it is in its place, in a few words.
func (f Finding) withHint(words string) Finding {
	f.Hint = words
	return f
}

// dumpText formats the finding for the end of its event's line.
func (f *Finding) dumpText() string {
	if f.Diagnosis == nil {
		return ""
	}
	return fmt.Sprintf(" %s (%s)", f.Code, f.Severity)
}

// withEvidence returns the finding with its evidence: the event that showed it, and an argument byte or
// NoOffset.
func (f Finding) withEvidence(event, offset int) Finding {
	f.Event, f.Offset = event, offset
	return f
}
