// Package report writes findings, turns and exchanges in the formats of other programs. Its functions do no I/O:
// they turn facts into bytes. The output is safe to print on a terminal.
//
// A [Body] is a response from which a repro is made. The repro has different contents but the same form.
//
// A [Check] has the findings from a run of check. Each finding has a fingerprint. The fingerprint does not
// change when lines move, when ids change, or when the date in a file's name changes.
package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"

	"toolscope/stream"
	"toolscope/stream/lazyregexp"
	"toolscope/ui/display"
)

// A Check is the result of a run of `check`: the files and the findings in them.
type Check struct {
	Version  string // version of toolscope
	Files    []File
	Findings []Finding      // within a file, in the order of discovery
	Absent   []KnownFinding // findings in the baseline that this run did not find
	Trouble  []string       // reasons why the result is incomplete
	Time     string         // time of the run, e.g. 2026-11-22T10:00:00, without a zone
}

// A File is a checked file.
type File struct {
	Name  string
	Turns []Turn
	Why   string // why the file was not read or not recognised; "" if it was
}

// A Turn is a turn in a checked file.
type Turn struct {
	Number int // from 1
	Title  string
}

// A Finding is a finding and its place.
type Finding struct {
	stream.Finding
	File       string // "" for a finding about all files
	Machine    string // machine that captured the finding, as HOST/AGENT; "" for this machine
	Turn, Call int    // from 1; 0 if the finding is not about a turn or a call
	Tool       string // name of the call's tool
	ID         string // id of the call
	Place      Location
	Known      bool // the finding is in the baseline
	Fails      bool // the finding makes the run fail
}

// A Location is a range of bytes in a file. The zero Location is unknown.
type Location struct {
	Start, End int64
	Line, Last int // numbers of the lines with the first and the last byte, from 1
}

// Fingerprint returns the fingerprint of a finding: the version, and a hash of the code, the file's name, the tool and
// the facts. It does not depend on the message, so the message's text may change.
func (f *Finding) Fingerprint() string {
	sum := sha256.New()
	for _, part := range []string{f.Code, stableText(path.Base(strings.ReplaceAll(f.File, `\`, "/"))), stableText(f.Tool)} {
		sum.Write([]byte(part))
		sum.Write([]byte{0})
	}
	for fact := range strings.SplitSeq(strings.TrimSuffix(f.Facts, "\x00"), "\x00") {
		sum.Write([]byte(stableText(fact)))
		sum.Write([]byte{0})
	}
	return fingerprintVersion + hex.EncodeToString(sum.Sum(nil)[:12])
}

// fingerprintVersion is the start of every fingerprint. It changes when fingerprints are computed
// differently.
const fingerprintVersion = "v2:"

// stableText returns a text without the parts that change from run to run: arguments, quotations from the
// wire, and words with a digit, such as numbers, dates and ids.
func stableText(text string) string {
	for _, r := range unstableParts {
		text = r.is().ReplaceAllString(text, r.as)
	}
	return text
}

var unstableParts = []struct {
	is func() *regexp.Regexp
	as string
}{
	{lazyregexp.New(`(?s)\{.*\}`), "{}"},
	{lazyregexp.New(`(?s)"[^"]*"`), `""`},
	{lazyregexp.New(`'[^' ]{1,6}'`), "''"},
	{lazyregexp.New(`[\pL\pN_-]*\pN[\pL\pN_-]*`), "#"},
}

// subjectText names the turn and the call of a finding.
func (f *Finding) subjectText() string {
	words := ""
	if f.Turn > 0 {
		words = display.Format("turn %d", f.Turn).String()
	}
	if f.Turn > 0 && f.Machine != "" {
		words += display.Format(" of %s", f.Machine).String()
	}
	if f.Call > 0 {
		words += display.Format(", call %d", f.Call).String()
		if f.Tool != "" {
			words += " " + display.Clean(f.Tool).String()
		}
	}
	return words
}

// encodeJSON returns v as indented JSON that is safe to print, with a line break at the end.
func encodeJSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		panic(err) // unreachable: toolscope's types can always be encoded
	}
	return display.AppendJSONText(nil, b.Bytes())
}

// A KnownFinding is a finding from an earlier run.
type KnownFinding struct{ Code, File, Tool, Message, Fingerprint string }

// A Baseline has the findings from an earlier run. The zero Baseline has none.
type Baseline struct {
	known []KnownFinding
	left  map[string]int // number of findings that have not been found again, by fingerprint
}

// ReadBaseline reads the jsonl or SARIF output of `check`.
func ReadBaseline(text []byte) (*Baseline, error) {
	var log struct{ Runs []sarifRun }
	known, err := []KnownFinding(nil), error(nil)
	if json.Unmarshal(text, &log) == nil && log.Runs != nil {
		known, err = knownOfSARIF(log.Runs)
	} else {
		known, err = knownOfLines(text)
	}
	if err != nil {
		return nil, err
	}
	b := &Baseline{known, map[string]int{}}
	for _, k := range known {
		b.left[k.Fingerprint]++
	}
	return b, nil
}

// errOldBaseline is the error for a baseline whose fingerprints depend on the wording of messages.
var errOldBaseline = errors.New("the file is from an older version of toolscope, which used other fingerprints\nto write a new file, run check with --format jsonl or sarif and without --baseline")

var errNoBaseline = errors.New("not the output of check --format jsonl or sarif")

func knownOfSARIF(runs []sarifRun) (known []KnownFinding, err error) {
	for _, run := range runs {
		for _, r := range run.Results {
			k := KnownFinding{Code: r.RuleID, Message: r.Message.Text, Tool: r.Properties.Tool, File: r.Properties.File, Fingerprint: r.Prints[printName]}
			switch {
			case r.State == "absent":
			case k.Fingerprint == "" && r.Prints["toolscope/v1"] != "":
				return nil, errOldBaseline
			case k.Fingerprint == "":
				return nil, fmt.Errorf("a result has no fingerprint %s: %w", printName, errNoBaseline)
			default:
				known = append(known, k)
			}
		}
	}
	return known, nil
}

// knownOfLines reads JSON lines. The last line must be the summary of a complete check.
func knownOfLines(text []byte) (known []KnownFinding, err error) {
	ended := false
	for line := range bytes.Lines(text) {
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var l struct{ Type, Code, File, Name, Message, Fingerprint string }
		if err := json.Unmarshal(line, &l); err != nil {
			return nil, errNoBaseline
		}
		switch l.Type {
		case "finding":
			if !strings.HasPrefix(l.Fingerprint, fingerprintVersion) {
				return nil, errOldBaseline
			}
			known = append(known, KnownFinding{l.Code, l.File, l.Name, l.Message, l.Fingerprint})
		case "gone":
		case "check":
			ended = true
		default:
			return nil, errNoBaseline
		}
	}
	if !ended {
		return nil, fmt.Errorf("the end of the file is missing: %w", errNoBaseline)
	}
	return known, nil
}

// Knows reports whether the finding is in the baseline. Each finding in the baseline matches only one
// finding.
func (b *Baseline) Knows(f *Finding) bool {
	if b == nil || b.left[f.Fingerprint()] == 0 {
		return false
	}
	b.left[f.Fingerprint()]--
	return true
}

// Absent returns the findings in the baseline that this run did not find, in the baseline's order. It returns
// each finding only once, so a second call returns none.
func (b *Baseline) Absent() (gone []KnownFinding) {
	if b == nil {
		return nil
	}
	for i := len(b.known) - 1; i >= 0; i-- { // if only some of several equal findings are absent, the last of them are returned
		if k := b.known[i]; b.left[k.Fingerprint] > 0 {
			b.left[k.Fingerprint]--
			gone = append([]KnownFinding{k}, gone...)
		}
	}
	return gone
}

// Text returns the finding in one line: its place, its severity, code and message, and the party that caused it.
func (f *Finding) Text() display.Text {
	return display.Format("%s%s %s: %s (by %s)", f.Where(), f.Severity, f.Code, f.Message, f.CausedBy())
}

// Where returns the finding's place in the form that editors and CI systems read. The line that Text returns starts
// with this place.
func (f *Finding) Where() display.Text {
	where := display.Clean(f.subjectText())
	if f.File != "" {
		file := display.Clean(f.File)
		if f.Place.Line > 0 {
			file = display.Format("%s:%d", file, f.Place.Line)
		}
		if where = display.Join(file, display.Lit(": "), where); f.Turn == 0 {
			where = file
		}
	}
	if !where.Empty() {
		where = display.Join(where, display.Lit(": "))
	}
	return where
}

// Text returns a line that says that the finding is gone.
func (k *KnownFinding) Text() display.Text {
	where := display.Clean(k.File)
	if k.Tool != "" {
		where = display.Join(where, display.Lit(": "), display.Clean(k.Tool))
	}
	if !where.Empty() {
		where = display.Join(where, display.Lit(": "))
	}
	return display.Format("gone: %s%s: %s", where, k.Code, k.Message)
}
