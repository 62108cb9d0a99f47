package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A KnownFinding is a finding of an earlier run.
type KnownFinding struct{ Code, File, Tool, Message, Fingerprint string }

// A Baseline holds the findings of an earlier run. The zero Baseline has none.
type Baseline struct {
	known []KnownFinding
	left  map[string]int // by fingerprint: the number of findings that were not found again
}

// ReadBaseline reads the output of check, as jsonl or SARIF.
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
var errOldBaseline = errors.New("the file is from an older version of toolscope, with other fingerprints\nto write a new one, run check with --format jsonl or sarif and without --baseline")

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

// Knows reports whether the baseline has the finding. Each finding of the baseline matches only once.
func (b *Baseline) Knows(f *Finding) bool {
	if b == nil || b.left[f.Fingerprint()] == 0 {
		return false
	}
	b.left[f.Fingerprint()]--
	return true
}

// Absent returns the findings of the baseline that were not found again, in their order. It returns each
// finding only once, so a second call returns none.
func (b *Baseline) Absent() (gone []KnownFinding) {
	if b == nil {
		return nil
	}
	for i := len(b.known) - 1; i >= 0; i-- { // of equal findings, the first ones were found
		if k := b.known[i]; b.left[k.Fingerprint] > 0 {
			b.left[k.Fingerprint]--
			gone = append([]KnownFinding{k}, gone...)
		}
	}
	return gone
}
