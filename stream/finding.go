package stream

import (
	"encoding/binary"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"
)

// Severity grades a finding.
type Severity uint8

const (
	Info  Severity = iota // a harmless deviation that is worth knowing
	Warn                  // a careless client fails here
	Error                 // cut, lost, contradictory or refused
)

func (s Severity) String() string { return [...]string{"info", "warn", "error"}[s] }

// A Party takes part in an exchange, or records it, and can cause a finding.
type Party uint8

const (
	Model        Party = iota + 1 // writes the response
	Provider                      // runs the model
	Gateway                       // serves another provider's protocol, e.g. a router or a compatible server
	Client                        // sends the request and reads the response
	Network                       // carries the bytes
	Toolscope                     // this program, or the way in which it got the bytes
	UnknownParty                  // the source doesn't show which party it was
	Server                        // an MCP server, which runs tools for the client
)

// Parties lists all parties.
var Parties = []Party{Model, Provider, Gateway, Client, Network, Toolscope, UnknownParty, Server}

func (c Party) String() string {
	return [...]string{"", "model", "provider", "gateway", "client", "network", "toolscope", "unknown", "server"}[c]
}

// A Diagnosis is one kind of finding. Each is declared once and never changes. A Finding points at its
// Diagnosis.
type Diagnosis struct {
	Code            string
	Severity        Severity
	OtherSeverities []Severity // severities that WithSeverity may set instead
	SeverityNote    string     // the conditions for OtherSeverities, e.g. "info if …"
	By              Party
	Verdict         string // the verdict on a call or turn, in at most 13 cells; "" if the severity is always Info
	ExplainsState   bool   // the finding only explains the state of a call or turn; the verdict is that state
	Short           string // a short form, shown next to the arguments; "" if the diagnosis is not about arguments
	Meaning         string // the meaning, in a few sentences
	Advice          string // the remedy, in a few sentences

	declared *Diagnosis // the declared diagnosis, if WithSeverity or WithCause made this one
}

// WithSeverity returns the diagnosis with another severity: its own, or one of OtherSeverities. It panics for
// any other severity.
func (d *Diagnosis) WithSeverity(s Severity) *Diagnosis {
	if s != d.Severity && !slices.Contains(d.OtherSeverities, s) {
		panic(fmt.Sprintf("stream: %s is never %s", d.Code, s))
	}
	made := *d
	made.declared, made.Severity = d.Base(), s
	return &made
}

// WithCause returns the diagnosis with the party c at fault.
func (d *Diagnosis) WithCause(c Party) *Diagnosis {
	made := *d
	made.declared, made.By = d.Base(), c
	return &made
}

// Base returns the diagnosis as it was declared, before WithSeverity and WithCause. To compare two
// diagnoses, compare their bases.
func (d *Diagnosis) Base() *Diagnosis {
	if d.declared != nil {
		return d.declared
	}
	return d
}

// Finding makes a finding with the diagnosis. The message says what happened and what goes wrong as a result.
func (d *Diagnosis) Finding(format string, args ...any) Finding {
	f := Finding{Diagnosis: d.Base(), Severity: d.Severity, By: d.By, Offset: NoOffset}
	f.SetMessage(Messagef(format, args...))
	return f
}

// NoOffset is the Offset of a finding that points at no argument byte.
const NoOffset = -1

// A Finding is a diagnosis with its evidence. Diagnosis.Finding makes one. Its severity is that of the
// Diagnosis or one of OtherSeverities. Its party is that of the Diagnosis unless another party is known to be
// at fault.
type Finding struct {
	*Diagnosis // as declared; never nil in a Session
	Severity   Severity
	By         Party
	Message    string
	Quoted     Spans  // the ranges of Message that are captured text
	Facts      string // the facts in Message that distinguish it from findings with the same code and tool
	Hint       string // what is wrong at this place, in a few words; "" if the Diagnosis' Short is enough
	Event      int    // number of the event that showed it
	Replaces   bool   // in an event: it replaces the turn's finding with the same diagnosis and Event
	Offset     int    // offset of the argument byte that it points at, or NoOffset
	InText     *InText
	Detail     *Detail
}

// A Detail is a named object with the facts of a finding, for programs.
type Detail struct {
	Name   string
	Fields []DetailField
}

// A DetailField is a fact of a finding: a string, a number or a Boolean.
type DetailField struct {
	Key   string
	Value any // a string, an int, a float64 or a bool
}

// WithDetail returns the finding with facts for programs. The parameter fields alternates between keys and values.
func (f Finding) WithDetail(name string, fields ...any) Finding {
	d := &Detail{Name: name}
	for i := 0; i+1 < len(fields); i += 2 {
		d.Fields = append(d.Fields, DetailField{fields[i].(string), fields[i+1]})
	}
	f.Detail = d
	return f
}

// Value returns the value of a field, or nil if there is none.
func (d *Detail) Value(key string) any {
	for _, f := range d.Fields {
		if f.Key == key {
			return f.Value
		}
	}
	return nil
}

// InText is the place of a call that the model wrote in its text or reasoning. It is nil in a finding about
// anything else.
type InText struct {
	Form   string // the way in which the call is written
	Tool   string
	In     string // text or reasoning
	Offset int    // offset of the call's first byte in that text
}

// Brief returns the Hint or, if that is empty, the Brief of the Diagnosis.
func (f *Finding) Brief() string {
	if f.Hint != "" {
		return f.Hint
	}
	return f.Diagnosis.Brief()
}

// CausedBy names the party at fault. For EARLY_WRONG, it returns "clients that run early", because no particular
// client was seen to do so.
func (f *Finding) CausedBy() string {
	if f.Base() == EarlyWrong {
		return "clients that run early"
	}
	return f.By.String()
}

// Brief returns Short or, if that is empty, the code in lower case with spaces.
func (d *Diagnosis) Brief() string {
	if d.Short != "" {
		return d.Short
	}
	return strings.ToLower(strings.ReplaceAll(d.Code, "_", " "))
}

// SetMessage replaces the message, its quoted ranges and its facts.
func (f *Finding) SetMessage(m Message) { f.Message, f.Quoted, f.Facts = m.Text, m.Quoted, m.Facts }

// AppendMessage appends text to the message. It formats the text as Messagef does.
func (f *Finding) AppendMessage(format string, args ...any) {
	f.SetMessage(Messagef("%s%s", Message{f.Message, f.Quoted, f.Facts}, Messagef(format, args...)))
}

// withHint returns the finding with words as its Hint.
func (f Finding) withHint(words string) Finding {
	f.Hint = words
	return f
}

// dumpText formats the finding for the end of its event's line. It returns "" for an empty finding.
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

// A Span is a range of bytes in some text: From is the range's first byte, and To is the byte after its last.
type Span struct{ From, To int }

// Spans is a list of ranges in a comparable form: two uvarints for each range.
type Spans string

// appended returns the list with the range x at its end.
func (s Spans) appended(x Span) Spans {
	b := binary.AppendUvarint([]byte(s), uint64(x.From))
	return Spans(binary.AppendUvarint(b, uint64(x.To)))
}

// All iterates over the ranges in order.
func (s Spans) All() iter.Seq[Span] {
	return func(yield func(Span) bool) {
		for b := []byte(s); len(b) > 0; {
			from, n := binary.Uvarint(b)
			to, m := binary.Uvarint(b[n:])
			b = b[n+m:]
			if !yield(Span{int(from), int(to)}) {
				return
			}
		}
	}
}

// A Message is a sentence of the program that may quote captured text.
type Message struct {
	Text   string
	Quoted Spans  // the ranges of Text that are captured text, in order, without overlaps
	Facts  string // the facts in Text, each followed by a NUL
}

// String returns the text.
func (m Message) String() string { return m.Text }

// These are types for arguments of Messagef. Strings, slices and errors count as captured text, unless they have the
// type Own or OwnFact. So do structs, maps, pointers and arrays without a String method. Numbers don't count as
// captured text.
type (
	// Own is text of the program, not captured text.
	Own string
	// Fact is captured text that distinguishes a finding from others with the same code, such as a JSON pointer,
	// a field or a finish reason. Values that differ from run to run, such as ids, are not facts.
	Fact string
	// OwnFact is text of the program that distinguishes a finding from others with the same code, such as a
	// schema keyword.
	OwnFact string
)

// Messagef formats a message as fmt.Sprintf does, and records which of its bytes are captured text. An
// argument that is a Message keeps its ranges and facts. If an argument is missing, the complete text counts as
// captured. Argument indexes are not supported.
func Messagef(format string, args ...any) Message {
	var b messageBuilder
	rest, values := format, args
	for len(rest) > 0 {
		i := strings.IndexByte(rest, '%')
		if i < 0 || i+1 == len(rest) {
			b.text.WriteString(rest)
			break
		}
		b.text.WriteString(rest[:i])
		rest = rest[i:]
		end := len(rest) - len(strings.TrimLeft(rest[1:], "+-# .0123456789")) // the end of the flags, the width and the precision
		verb := rest[:min(end+1, len(rest))]
		rest = rest[len(verb):]
		if verb == "%%" {
			b.text.WriteByte('%')
			continue
		}
		if len(values) == 0 {
			text := fmt.Sprintf(format, args...)
			return Message{Text: text, Quoted: Spans("").appended(Span{0, len(text)})}
		}
		b.add(verb, values[0])
		values = values[1:]
	}
	return Message{b.text.String(), b.quoted, b.facts}
}

// messageBuilder collects the text, the quoted ranges and the facts of a Message.
type messageBuilder struct {
	text   strings.Builder
	quoted Spans
	facts  string
}

// add appends an argument, formatted by verb.
func (b *messageBuilder) add(verb string, arg any) {
	start := b.text.Len()
	switch a := arg.(type) {
	case Message:
		for s := range a.Quoted.All() {
			b.quoted = b.quoted.appended(Span{start + s.From, start + s.To})
		}
		b.facts += a.Facts
		b.text.WriteString(a.Text)
		return
	case Fact:
		b.facts += string(a) + "\x00"
	case OwnFact:
		b.facts += string(a) + "\x00"
	}
	fmt.Fprintf(&b.text, verb, arg)
	if !isCaptured(arg) {
		return
	}
	end := b.text.Len()
	if strings.HasSuffix(verb, "q") && end-start >= 2 {
		start, end = start+1, end-1
	}
	if start < end {
		b.quoted = b.quoted.appended(Span{start, end})
	}
}

// isCaptured reports whether an argument of Messagef counts as captured text.
func isCaptured(arg any) bool {
	switch arg.(type) {
	case Own, OwnFact:
		return false
	case error:
		return true
	}
	switch reflect.ValueOf(arg).Kind() {
	case reflect.String, reflect.Slice:
		return true
	case reflect.Struct, reflect.Map, reflect.Pointer, reflect.Array:
		_, ours := arg.(fmt.Stringer)
		return !ours
	}
	return false
}

// Clip returns a part of text that begins at the offset from. The parameter most is its maximum length in bytes. Clip
// doesn't split characters, and writes … for omitted text.
func Clip(text []byte, from, most int) string {
	from = charStart(text, from)
	end := charStart(text, min(from+most, len(text)))
	out := string(text[from:end])
	if from > 0 {
		out = "…" + out
	}
	if end < len(text) {
		out += "…"
	}
	return out
}

// charStart returns the start of the character at i, or i if no character contains it.
func charStart(text []byte, i int) int {
	for n := i; n > 0 && n > i-utf8.UTFMax && n < len(text); n-- {
		if utf8.RuneStart(text[n]) {
			return n
		}
	}
	return i
}
