package report

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"toolscope/stream"
	"toolscope/ui/display"
)

// writes and reads:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool struct {
		Driver sarifDriver `json:"driver"`
	} `json:"tool"`
	Invocations []sarifInvocation `json:"invocations"`
	Columns     string            `json:"columnKind"`
	Results     []sarifResult     `json:"results"`
}

type sarifDriver struct {
	Name    string      `json:"name"`
	Version string      `json:"version,omitempty"`
	Rules   []sarifRule `json:"rules"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifRule struct {
	ID      string    `json:"id"`
	Means   sarifText `json:"shortDescription"`
	Help    sarifText `json:"help"`
	Default struct {
		Level string `json:"level"`
	} `json:"defaultConfiguration"`
}

type sarifInvocation struct {
	Successful bool                `json:"executionSuccessful"`
	Notices    []sarifNotification `json:"toolExecutionNotifications,omitempty"`
}

type sarifNotification struct {
	Level   string    `json:"level"`
	Message sarifText `json:"message"`
}

type sarifResult struct {
	RuleID     string            `json:"ruleId"`
	RuleIndex  int               `json:"ruleIndex"`
	Level      string            `json:"level"`
	Message    sarifText         `json:"message"`
	Locations  []sarifLocation   `json:"locations,omitempty"`
	Prints     map[string]string `json:"partialFingerprints"`
	State      string            `json:"baselineState,omitempty"`
	Properties sarifProperties   `json:"properties"`
}

type sarifLocation struct {
	Physical *sarifPhysical `json:"physicalLocation,omitempty"`
	Logical  []sarifLogical `json:"logicalLocations,omitempty"`
}

type sarifPhysical struct {
	Artifact struct {
		URI string `json:"uri"`
	} `json:"artifactLocation"`
	Region *sarifRegion `json:"region,omitempty"`
}

type sarifRegion struct {
	StartLine  int    `json:"startLine,omitempty"`
	EndLine    int    `json:"endLine,omitempty"`
	ByteOffset *int64 `json:"byteOffset,omitempty"`
	ByteLength int64  `json:"byteLength,omitempty"`
}

type sarifLogical struct {
	Name string `json:"name"`
}

type sarifProperties struct {
	By    string `json:"by,omitempty"`
	File  string `json:"file,omitempty"`
	Turn  int    `json:"turn,omitempty"`
	Call  int    `json:"call,omitempty"`
	Tool  string `json:"tool,omitempty"`
	Fails bool   `json:"fails"`
}

// printName is the key of the fingerprint in SARIF. The number in it increases when fingerprints are computed
// differently.
const printName = "toolscope/v2"

// levels maps severities to SARIF levels.
var levels = map[stream.Severity]string{stream.Info: "note", stream.Warn: "warning", stream.Error: "error"}

// SARIF returns the check as SARIF 2.1.0. The parameter all has every finding code that toolscope knows. The
// codes that occur in the check or its baseline become rules.
func (c *Check) SARIF(all []*stream.Diagnosis) []byte {
	var run sarifRun
	run.Columns = "unicodeCodePoints"
	run.Results = []sarifResult{}
	run.Tool.Driver = sarifDriver{Name: "toolscope", Version: c.Version, Rules: c.sarifRules(all)}
	var notices []sarifNotification
	for _, words := range c.Trouble {
		notices = append(notices, sarifNotification{"error", sarifText{display.Clean(words).String()}})
	}
	run.Invocations = []sarifInvocation{{Successful: len(c.Trouble) == 0, Notices: notices}}
	index := func(code string) int {
		return slices.IndexFunc(run.Tool.Driver.Rules, func(r sarifRule) bool { return r.ID == code })
	}
	for i := range c.Findings {
		f := &c.Findings[i]
		r := sarifResult{
			RuleID: f.Code, RuleIndex: index(f.Code), Level: levels[f.Severity], Message: sarifText{display.Clean(f.Message).String()},
			Locations: f.sarifLocations(), Prints: map[string]string{printName: f.Fingerprint()},
			Properties: sarifProperties{f.By.String(), f.File, f.Turn, f.Call, f.Tool, f.Fails},
		}
		if c.Absent != nil || f.Known {
			r.State = "new"
		}
		if f.Known {
			r.State = "unchanged"
		}
		run.Results = append(run.Results, r)
	}
	for _, k := range c.Absent {
		run.Results = append(run.Results, sarifResult{
			RuleID: k.Code, RuleIndex: index(k.Code), Level: "none", Message: sarifText{display.Clean(k.Message).String()},
			Prints: map[string]string{printName: k.Fingerprint}, State: "absent", Properties: sarifProperties{File: k.File, Tool: k.Tool},
		})
	}
	return encodeJSON(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

// sarifRules returns a rule for each code that occurs.
func (c *Check) sarifRules(all []*stream.Diagnosis) []sarifRule {
	occurs := map[string]bool{}
	for i := range c.Findings {
		occurs[c.Findings[i].Code] = true
	}
	for _, k := range c.Absent {
		occurs[k.Code] = true
	}
	list := []sarifRule{}
	for _, d := range all {
		if occurs[d.Code] {
			r := sarifRule{ID: d.Code, Means: sarifText{d.Meaning}, Help: sarifText{d.Advice}}
			r.Default.Level = levels[d.Severity]
			list = append(list, r)
		}
	}
	return list
}

// sarifLocations returns the location of the finding: the file, the bytes if known, and the call.
func (f *Finding) sarifLocations() []sarifLocation {
	var l sarifLocation
	if f.File != "" && f.File != "stdin" {
		l.Physical = new(sarifPhysical)
		slashed := strings.ReplaceAll(filepath.ToSlash(f.File), `\`, "/") // the URI of a relative path is relative
		u := url.URL{Path: slashed}
		switch {
		case strings.HasPrefix(slashed, "/"):
			u.Scheme = "file"
		case len(slashed) > 2 && slashed[1] == ':':
			u.Scheme, u.Path = "file", "/"+slashed
		}
		l.Physical.Artifact.URI = u.String()
		if f.Place.End > f.Place.Start {
			l.Physical.Region = &sarifRegion{StartLine: f.Place.Line, EndLine: f.Place.Last, ByteOffset: &f.Place.Start, ByteLength: f.Place.End - f.Place.Start}
		}
	}
	if where := f.subjectText(); where != "" {
		l.Logical = []sarifLogical{{where}}
	}
	if l.Physical == nil && l.Logical == nil {
		return nil
	}
	return []sarifLocation{l}
}
