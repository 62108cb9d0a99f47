// Package suite tests libraries that turn a stream into tool calls. A [Case] is a stream with the outcomes that a
// library must, may and must not produce. [Case.JudgeAnswer] compares a library's [Answer] with them. The package does
// no I/O: package cli runs the libraries.
//
// A call is usable if a program would run it without a further check: its arguments are one JSON text, and
// neither the call nor the response is marked as failed. Only usable calls count, so a library may pass on
// broken arguments as text, but not as a repaired value.
package suite

import (
	"bytes"
	"embed"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	scan "toolscope/stream/json"
)

//go:embed suite.json cases
var files embed.FS

// Files returns the files of the suite: suite.json, and for each case a JSON file and its stream.
func Files() fs.FS { return files }

// A Case is a stream and the outcomes that are required, allowed or forbidden for it.
type Case struct {
	ID       string    `json:"id"` // PROTOCOL/NAME; it never changes
	Protocol string    `json:"protocol"`
	Stream   string    `json:"stream"` // name of the file with the response's body
	End      string    `json:"end"`    // how the body ends: "close" or, for a lost connection, "reset"
	Must     []Outcome `json:"must"`
	May      []Outcome `json:"may"`
	MustNot  []Outcome `json:"must_not"`
	Reason   string    `json:"reason"`
	Source   string    `json:"source"` // URL that supports the outcomes, or "practice"
	Tags     []string  `json:"tags"`
	Body     []byte    `json:"-"`
}

// These are the names of tags. The stream of a case with OffSpec breaks the rules of its protocol.
const (
	OffSpec = "off-spec"
	Cut     = "cut"
	Rare    = "rare"
)

// Practice is the source of a case that no document supports.
const Practice = "practice"

// Info is the content of suite.json.
type Info struct {
	Suite   int             `json:"suite"` // version of the file format
	Version string          `json:"version"`
	Tools   json.RawMessage `json:"tools"` // the tools that are called in the streams
}

// LoadCases returns all cases, sorted by ID.
func LoadCases() (info Info, all []*Case, err error) {
	text, err := files.ReadFile("suite.json")
	if err == nil {
		err = json.Unmarshal(text, &info)
	}
	if err != nil {
		return info, nil, err
	}
	names, err := fs.Glob(files, "cases/*/*.json")
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return info, nil, err
		}
		c := new(Case)
		d := json.NewDecoder(bytes.NewReader(text))
		d.DisallowUnknownFields()
		if err := d.Decode(c); err != nil {
			return info, nil, fmt.Errorf("%s: %w", name, err)
		}
		if c.Body, err = files.ReadFile(path.Join(path.Dir(name), c.Stream)); err != nil {
			return info, nil, err
		}
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *Case) int { return strings.Compare(a.ID, b.ID) })
	return info, all, err
}

// HasTag reports whether the case has a given tag.
func (c *Case) HasTag(tag string) bool { return slices.Contains(c.Tags, tag) }

// SelectCases returns the cases that match a pattern in the list only and none in the list not. A pattern is a
// protocol, a tag, or an ID in which * stands for any text without a slash. If only is empty, all cases match it. A
// pattern that matches no case is an error.
func SelectCases(all []*Case, only, not []string) (chosen []*Case, err error) {
	for _, pattern := range slices.Concat(only, not) {
		if !slices.ContainsFunc(all, func(c *Case) bool { return c.matchesPattern(pattern) }) {
			return nil, fmt.Errorf("%s: no case matches\nuse a protocol, a tag (%s, %s, %s) or an ID, e.g. 'anthropic/*'", pattern, OffSpec, Cut, Rare)
		}
	}
	for _, c := range all {
		matches := func(pattern string) bool { return c.matchesPattern(pattern) }
		if (len(only) == 0 || slices.ContainsFunc(only, matches)) && !slices.ContainsFunc(not, matches) {
			chosen = append(chosen, c)
		}
	}
	return chosen, nil
}

func (c *Case) matchesPattern(pattern string) bool {
	is, err := path.Match(pattern, c.ID)
	return err == nil && is || pattern == c.Protocol || c.HasTag(pattern)
}

// maxByteStream is the maximum size of a stream that is sent byte by byte.
const maxByteStream = 16 << 10

// Chunkings returns the ways to divide the stream into chunks: the whole stream at once, one event in each chunk, a
// chunk boundary in the middle of each event, and one byte in each chunk. A stream larger than maxByteStream is not
// divided into single bytes.
func (c *Case) Chunkings() []string {
	all := []string{"whole", "events", "half", "byte"}
	if len(c.Body) > maxByteStream {
		all = all[:3]
	}
	return all
}

// Chunks divides the stream in one of the ways that Chunkings returns.
func (c *Case) Chunks(chunking string) (chunks [][]byte) {
	if chunking == "whole" {
		return [][]byte{c.Body}
	}
	if chunking == "byte" {
		for i := range c.Body {
			chunks = append(chunks, c.Body[i:i+1])
		}
		return chunks
	}
	var carried []byte
	for rest := c.Body; len(rest) > 0; {
		n := c.eventLen(rest)
		event := rest[:n:n]
		rest = rest[n:]
		if chunking == "half" {
			half := len(event) / 2
			event, carried = slices.Concat(carried, event[:half]), event[half:]
		}
		if len(event) > 0 {
			chunks = append(chunks, event)
		}
	}
	if len(carried) > 0 {
		chunks = append(chunks, carried)
	}
	return chunks
}

// eventLen returns the length of the first event in p, including its end.
func (c *Case) eventLen(p []byte) int {
	ends := []string{"\n\n", "\r\n\r\n", "\r\r"}
	switch path.Ext(c.Stream) {
	case ".eventstream":
		if len(p) > 4 {
			return min(len(p), max(1, int(binary.BigEndian.Uint32(p))))
		}
		return len(p)
	case ".ndjson":
		ends = []string{"\n"}
	}
	first := len(p)
	for _, end := range ends {
		if i := bytes.Index(p, []byte(end)); i >= 0 {
			first = min(first, i+len(end))
		}
	}
	return first
}

// ContentType returns the media type of the stream.
func (c *Case) ContentType() string {
	return map[string]string{".sse": "text/event-stream", ".ndjson": "application/x-ndjson", ".eventstream": "application/vnd.amazon.eventstream"}[path.Ext(c.Stream)]
}

// An Outcome is a library's result for a stream: an error, a list of usable calls, or any result that has a named
// harm.
type Outcome struct {
	Error bool
	Harm  string
	Calls []Call
}

// A Call is a usable call. Value is JSON text.
type Call struct {
	Name  string
	Value []byte
}

// UnmarshalJSON reads an outcome in the form that case files use: {"error":true}, {"calls":[[NAME,VALUE],…]} or
// {"calls":HARM}.
func (o *Outcome) UnmarshalJSON(text []byte) error {
	var form struct {
		Error bool
		Calls json.RawMessage
	}
	if err := json.Unmarshal(text, &form); err != nil {
		return err
	}
	*o = Outcome{Error: form.Error}
	if len(form.Calls) == 0 || json.Unmarshal(form.Calls, &o.Harm) == nil {
		if o.Error == (o.Harm != "") || o.Harm != "" && findHarm(o.Harm) == nil {
			return fmt.Errorf("%s: not an outcome", text)
		}
		return nil
	}
	var pairs [][]json.RawMessage
	if err := json.Unmarshal(form.Calls, &pairs); err != nil {
		return err
	}
	for _, pair := range pairs {
		var c Call
		if len(pair) != 2 || json.Unmarshal(pair[0], &c.Name) != nil {
			return fmt.Errorf("%s: a call must be a list with a name and a value", text)
		}
		c.Value = pair[1]
		o.Calls = append(o.Calls, c)
	}
	return nil
}

// String returns the outcome in the form that case files use.
func (o *Outcome) String() string {
	switch {
	case o.Error:
		return `{"error":true}`
	case o.Harm != "":
		return `{"calls":"` + o.Harm + `"}`
	}
	var calls []string
	for _, c := range o.Calls {
		name := scan.AppendQuoted(nil, []byte(c.Name))
		calls = append(calls, fmt.Sprintf("[%s,%s]", name, c.Value))
	}
	return `{"calls":[` + strings.Join(calls, ",") + `]}`
}

// isSame reports whether two outcomes are the same to a reader that uses the last of several equal keys.
func (o *Outcome) isSame(other *Outcome) bool {
	return o.Error == other.Error && slices.EqualFunc(o.Calls, other.Calls, func(a, b Call) bool {
		return a.Name == b.Name && scan.SameIn(scan.Parsed, a.Value, b.Value)
	})
}

// An Answer is a library's result for a stream, as the library's adapter reports it.
type Answer struct {
	Calls  []AnswerCall `json:"calls"`
	Finish string       `json:"finish"`
	Error  *string      `json:"error"`
}

// failedFinish is the finish reason that marks the response as failed.
const failedFinish = "failed"

// An AnswerCall is a call in an answer. Arguments is the text that the library kept, or a JSON value. Input is the
// parsed value, if the library has one. OK is false if the library itself marks the call as invalid.
type AnswerCall struct {
	Name      string          `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
	Input     json.RawMessage `json:"input"`
	OK        *bool           `json:"ok"`
}

// ReadAnswer reads a line that an adapter printed. It returns the answer and the id of the question that it answers.
func ReadAnswer(line []byte) (id string, a *Answer, err error) {
	var form struct {
		ID *string `json:"id"`
		Answer
	}
	switch err := json.Unmarshal(line, &form); {
	case err != nil:
		return "", nil, err
	case form.ID == nil:
		return "", nil, errors.New(`the field "id" is missing`)
	case form.Calls == nil && form.Error == nil:
		return "", nil, errors.New(`the fields "calls" and "error" are both missing`)
	}
	return *form.ID, &form.Answer, nil
}

// argsText returns the arguments as text. If the library kept no text, or also has a parsed value, ok is false.
func (c *AnswerCall) argsText() (text []byte, ok bool) {
	var s string
	if len(c.Input) > 0 || json.Unmarshal(c.Arguments, &s) != nil || scan.IsNull(c.Arguments) {
		return nil, false
	}
	return []byte(s), true
}

// usableValue returns the value that a program would use. If there is none, ok is false.
func (c *AnswerCall) usableValue() (value []byte, ok bool) {
	value = c.Input
	if text, isText := c.argsText(); isText {
		value = bytes.TrimSpace(text)
	} else if len(value) == 0 {
		value = c.Arguments
	}
	return value, scan.Valid(value) && (c.OK == nil || *c.OK)
}

// Outcome returns the outcome of the answer, which contains only the usable calls.
func (a *Answer) Outcome() *Outcome {
	o := &Outcome{Error: a.Error != nil}
	if o.Error || a.Finish == failedFinish {
		return o
	}
	for i := range a.Calls {
		if value, ok := a.Calls[i].usableValue(); ok {
			o.Calls = append(o.Calls, Call{a.Calls[i].Name, value})
		}
	}
	return o
}

// String describes the answer: its error, or else all calls, including those that are not usable.
func (a *Answer) String() string {
	if a.Error != nil {
		return "error: " + *a.Error
	}
	var calls []string
	for i := range a.Calls {
		c := &a.Calls[i]
		value, usable := c.usableValue()
		if text, ok := c.argsText(); ok {
			value = text
		}
		words := strings.TrimSpace(c.Name + " " + string(value))
		if !usable {
			words += " (not usable)"
		}
		calls = append(calls, words)
	}
	if calls == nil {
		calls = []string{"no calls"}
	}
	if a.Finish == failedFinish {
		calls = append(calls, "the response failed")
	}
	return strings.Join(calls, ", ")
}

// A Verdict says which of a case's sets of outcomes contains an answer.
type Verdict int

// These are the verdicts, from best to worst. None means that the answer is in none of the sets, so a person must
// judge it.
const (
	Must Verdict = iota
	May
	None
	Wrong
)

func (v Verdict) String() string { return [...]string{"must", "may", "none", "wrong"}[v] }

// harm is a result that is wrong in the same way in many cases.
type harm struct {
	name string
	is   func(c *Case, a *Answer, got *Outcome) bool
}

func findHarm(name string) func(*Case, *Answer, *Outcome) bool {
	all := []harm{
		{"any", func(_ *Case, _ *Answer, got *Outcome) bool { return len(got.Calls) > 0 }},
		{"any-other", func(c *Case, a *Answer, got *Outcome) bool {
			return len(got.Calls) > 0 && !c.inSet(c.Must, a, got) && !c.inSet(c.May, a, got)
		}},
		{"lost", func(_ *Case, a *Answer, _ *Outcome) bool { return len(a.Calls) == 0 }},
		{"joined", anyText(func(text string) bool { return valueCount(text) > 1 })},
		{"null-word", anyText(func(text string) bool {
			return valueCount(text) != 1 && (strings.HasPrefix(text, "null") || strings.HasSuffix(text, "null"))
		})},
		{"object-word", anyText(func(text string) bool { return strings.Contains(text, "[object Object]") })},
		{"empty-slot", anyName(func(name string) bool { return name == "" })},
		{"name-doubled", anyName(func(name string) bool { half := len(name) / 2; return half > 0 && name[:half] == name[half:] })},
	}
	if i := slices.IndexFunc(all, func(h harm) bool { return h.name == name }); i >= 0 {
		return all[i].is
	}
	return nil
}

// anyText returns a test for a harm. A result has the harm if is(text) is true for the arguments of any call.
func anyText(is func(text string) bool) func(*Case, *Answer, *Outcome) bool {
	return func(_ *Case, a *Answer, _ *Outcome) bool {
		return slices.ContainsFunc(a.Calls, func(c AnswerCall) bool { text, ok := c.argsText(); return ok && is(string(text)) })
	}
}

// anyName returns a test for a harm. A result has the harm if is(name) is true for the name of any call.
func anyName(is func(name string) bool) func(*Case, *Answer, *Outcome) bool {
	return func(_ *Case, a *Answer, _ *Outcome) bool {
		return slices.ContainsFunc(a.Calls, func(c AnswerCall) bool { return is(c.Name) })
	}
}

// valueCount returns the number of JSON values in a text, or 0 if the text contains anything else.
func valueCount(text string) (n int) {
	for rest := bytes.TrimSpace([]byte(text)); len(rest) > 0; n++ {
		size := scan.ValueEnd(rest)
		if strings.HasPrefix(string(rest), "null") {
			size = len("null")
		}
		if size == 0 || !scan.Valid(rest[:size]) {
			return 0
		}
		rest = bytes.TrimSpace(rest[size:])
	}
	return n
}

func (c *Case) inSet(set []Outcome, a *Answer, got *Outcome) bool {
	return c.matchIn(set, a, got) != nil
}

// matchIn returns the first outcome in the set that matches the answer, or nil.
func (c *Case) matchIn(set []Outcome, a *Answer, got *Outcome) *Outcome {
	for i := range set {
		o := &set[i]
		if o.Harm != "" && a.Error == nil && findHarm(o.Harm)(c, a, got) || o.Harm == "" && o.isSame(got) {
			return o
		}
	}
	return nil
}

// JudgeAnswer returns the verdict on an answer, and the answer's outcome. If the verdict is Wrong, why is the
// forbidden outcome that the answer matches.
func (c *Case) JudgeAnswer(a *Answer) (v Verdict, got *Outcome, why string) {
	got = a.Outcome()
	if o := c.matchIn(c.MustNot, a, got); o != nil {
		return Wrong, got, o.String()
	}
	switch {
	case c.inSet(c.Must, a, got):
		return Must, got, ""
	case c.inSet(c.May, a, got):
		return May, got, ""
	}
	return None, got, ""
}

// A Result is the verdict on all answers to one case.
type Result struct {
	Case    *Case
	Verdict Verdict
	Why     string // the forbidden outcome that an answer matches, or another reason for Wrong
	Answers []ChunkedAnswer
}

// A ChunkedAnswer is the answer to a case with one of the Chunkings. Answer is nil if the library gave no answer.
type ChunkedAnswer struct {
	Chunking string
	Answer   *Answer
}

// SetVerdict sets the verdict of the result. It is the worst verdict on an answer, or Wrong if the outcome depends on
// the chunking or an answer is missing.
func (r *Result) SetVerdict() {
	var first *Outcome
	for _, x := range r.Answers {
		if x.Answer == nil {
			r.Verdict, r.Why = Wrong, "no answer with the chunking "+x.Chunking
			return
		}
		v, got, why := r.Case.JudgeAnswer(x.Answer)
		if v > r.Verdict {
			r.Verdict, r.Why = v, why
		}
		if first == nil {
			first = got
		} else if !first.isSame(got) {
			r.Verdict, r.Why = Wrong, "a different outcome with the chunking "+x.Chunking
			return
		}
	}
}
