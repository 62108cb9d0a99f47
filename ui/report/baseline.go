package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// A KnownFinding finding is one of an earlier run.
type KnownFinding struct{ Code, File, Tool, Message, Fingerprint string }

// A Baseline is the findings of an earlier run. The zero Baseline has none.
type Baseline struct {
	known []KnownFinding
	left  map[string]int // by fingerprint: how many were not found again
}

// ReadBaseline reads what check wrote: its jsonl or its SARIF.
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
var errOldBaseline = errors.New("an older version of toolscope wrote it, with other fingerprints\nrun check without --baseline and --format jsonl or sarif to write it again")

var errNoBaseline = errors.New("not what check --format jsonl or sarif wrote")

func knownOfSARIF(runs []sarifRun) (known []KnownFinding, err error) {
	for _, run := range runs {
		for _, r := range run.Results {
			k := KnownFinding{Code: r.RuleID, Message: r.Message.Text, Tool: r.Properties.Tool, File: r.Properties.File, Fingerprint: r.Prints[printName]}
			switch {
			case r.State == "absent":
			case k.Fingerprint == "" && r.Prints["toolscope/v1"] != "":
				return nil, errOldBaseline
			case k.Fingerprint == "":
				return nil, fmt.Errorf("a result has no %s: %w", printName, errNoBaseline)
			default:
				known = append(known, k)
			}
		}
	}
	return known, nil
}

// knownOfLines reads JSON lines, of which the last one is that of a whole check.
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
		return nil, fmt.Errorf("its end is missing: %w", errNoBaseline)
	}
	return known, nil
}

// Knows reports whether the baseline has a finding. Each of its findings stands for one.
func (b *Baseline) Knows(f *Finding) bool {
	if b == nil || b.left[f.Fingerprint()] == 0 {
		return false
	}
	b.left[f.Fingerprint()]--
	return true
}

// Absent are those that were not found again.
func (b *Baseline) Absent() (gone []KnownFinding) {
	if b == nil {
		return nil
	}
	for i := len(b.known) - 1; i >= 0; i-- { // the first ones were found
		if k := b.known[i]; b.left[k.Fingerprint] > 0 {
			b.left[k.Fingerprint]--
			gone = append([]KnownFinding{k}, gone...)
		}
	}
	return gone
}
