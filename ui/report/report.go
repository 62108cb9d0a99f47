// Package report writes what was found in the forms that other programs read: pure functions from
// facts to bytes. What is written is clean: a terminal that is shown it obeys nothing.
//
// A Body is a response that a repro is made of: what it says goes, how it says it stays.
//
// A Check is the findings of a run of check. Its findings are told apart by a fingerprint that does
// not change when lines move, ids are drawn anew, or a file is named by another date.
package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"path"
	"regexp"
	"strings"

	"toolscope/stream"
	"toolscope/ui/display"
)

// A Check is what a run of check found, and in what.
type Check struct {
	Version  string // of toolscope
	Files    []File
	Findings []Finding      // those of each file in the order in which they were found
	Absent   []KnownFinding // of the baseline, what was not found again
	Trouble  []string       // why the run cannot tell everything
	Time     string         // when it was made, as in 2026-11-22T10:00:00, without a zone
}

// A File is one that was checked.
type File struct {
	Name  string
	Turns []Turn
	Why   string // why it could not be read, or nothing was recognised; "" where it was
}

// A Turn of a file.
type Turn struct {
	Number int // from 1
	Title  string
}

// A Finding is one that was made, and where.
type Finding struct {
	stream.Finding
	File       string // "" where it is of all files
	Machine    string // another one that it is of, with what ran there; "" where it is of this one
	Turn, Call int    // from 1; 0 where it is of the file, of the turn
	Tool       string // the name of the call
	ID         string // of the call
	Place      Location
	Known      bool // the baseline has it
	Fails      bool // the run fails because of it
}

// A Location is bytes of a file; the zero Place is not known.
type Location struct {
	Start, End int64
	Line, Last int // lines of the first and the last byte, from 1
}

// Fingerprint is the finding's fingerprint.
func (f *Finding) Fingerprint() string { return fingerprintOf(f.Code, f.File, f.Tool, f.Facts) }

// fingerprintOf returns the fingerprint of a finding: its version, and a hash of the code, the file's
// name, the tool and the facts. The message is not part of it, so that its wording may change.
func fingerprintOf(code, file, tool, facts string) string {
	sum := sha256.New()
	for _, part := range []string{code, stableText(path.Base(strings.ReplaceAll(file, `\`, "/"))), stableText(tool)} {
		sum.Write([]byte(part))
		sum.Write([]byte{0})
	}
	for fact := range strings.SplitSeq(strings.TrimSuffix(facts, "\x00"), "\x00") {
		sum.Write([]byte(stableText(fact)))
		sum.Write([]byte{0})
	}
	return fingerprintVersion + hex.EncodeToString(sum.Sum(nil)[:12])
}

// fingerprintVersion begins every fingerprint. It goes up when fingerprints are made in another way.
const fingerprintVersion = "v2:"

// stableText is a text without what is another in each run: arguments, what is quoted of the wire, and
// words with a digit in them, which are numbers, dates and ids.
func stableText(text string) string {
	for _, r := range unstableParts {
		text = r.is.ReplaceAllString(text, r.as)
	}
	return text
}

var unstableParts = []struct {
	is *regexp.Regexp
	as string
}{
	{regexp.MustCompile(`(?s)\{.*\}`), "{}"},
	{regexp.MustCompile(`(?s)"[^"]*"`), `""`},
	{regexp.MustCompile(`'[^' ]{1,6}'`), "''"},
	{regexp.MustCompile(`[\pL\pN_-]*\pN[\pL\pN_-]*`), "#"},
}

// subjectText is what a finding is of, in words.
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

// encodeJSON is v as JSON that is safe to print, indented, with a line break at its end.
func encodeJSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		panic(err) // only facts of our own types are encoded
	}
	return display.AppendJSONText(nil, b.Bytes())
}
