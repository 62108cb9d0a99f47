package report

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/display"
)

// junitSuites is the root of the JUnit XML that Jenkins, GitLab and others read. It has every element and attribute
// that the strictest JUnit schema requires. A suite is a file, and a case is a turn.
type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	Suites  []junitSuite
}

type junitSuite struct {
	XMLName    xml.Name `xml:"testsuite"`
	Package    string   `xml:"package,attr"`
	ID         int      `xml:"id,attr"`
	Name       string   `xml:"name,attr"`
	Time       string   `xml:"timestamp,attr"`
	Host       string   `xml:"hostname,attr"`
	Tests      int      `xml:"tests,attr"`
	Failures   int      `xml:"failures,attr"`
	Errors     int      `xml:"errors,attr"`
	Took       string   `xml:"time,attr"`
	Properties struct{} `xml:"properties"`
	Cases      []junitCase
	Out        string `xml:"system-out"`
	Err        string `xml:"system-err"`
}

type junitCase struct {
	XMLName xml.Name   `xml:"testcase"`
	Name    string     `xml:"name,attr"`
	Class   string     `xml:"classname,attr"`
	Took    string     `xml:"time,attr"`
	Skipped *junitSkip `xml:"skipped"`
	Error   *junitFail `xml:"error"`
	Failure *junitFail `xml:"failure"`
}

type junitSkip struct {
	Message string `xml:"message,attr"`
}

type junitFail struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// A TestSuite is a suite of a JUnit file.
type TestSuite struct {
	Name  string
	Cases []SuiteCase
	Out   string // output of the suite
}

// A SuiteCase is a test case in a suite. Failure, Error and Skipped are the reasons for these outcomes, or "". Text
// explains a failure.
type SuiteCase struct{ Name, Failure, Error, Skipped, Text string }

// JUnitSuite returns one suite as JUnit XML.
func JUnitSuite(name string, at time.Time, cases []SuiteCase) []byte {
	return JUnitSuites([]TestSuite{{Name: name, Cases: cases}}, at)
}

// JUnitSuites returns suites as JUnit XML. The parameter at is the time of the run.
func JUnitSuites(suites []TestSuite, at time.Time) []byte {
	var all []junitSuite
	for _, s := range suites {
		j := junitSuite{Name: cleanText(s.Name), Out: cleanText(s.Out)}
		for _, c := range s.Cases {
			test := junitCase{Name: cleanText(c.Name)}
			if c.Failure != "" {
				test.Failure = &junitFail{cleanText(c.Failure), "wrong", cleanText(cmp.Or(c.Text, c.Failure))}
			} else if c.Skipped != "" {
				test.Skipped = &junitSkip{cleanText(c.Skipped)}
			}
			if c.Error != "" {
				test.Error = &junitFail{cleanText(c.Error), "trouble", cleanText(c.Error)}
			}
			j.Cases = append(j.Cases, test)
		}
		all = append(all, j)
	}
	return encodeSuites(all, at.UTC().Format("2006-01-02T15:04:05"))
}

// JUnit returns the check as JUnit XML.
func (c *Check) JUnit() []byte {
	var all []junitSuite
	of := map[turnKey][]*Finding{}
	for i := range c.Findings {
		f := &c.Findings[i]
		at := turnKey{f.File, f.Turn}
		of[at] = append(of[at], f)
	}
	for i := range c.Files {
		all = append(all, c.Files[i].toSuite(of))
	}
	run := junitSuite{Name: "all files", Cases: []junitCase{{Name: "demands", Failure: failureOf(of[turnKey{}])}}}
	for _, k := range c.Absent {
		run.Out += fmt.Sprintf("gone: %s  %s\n", k.Code, cleanText(k.Message))
	}
	for _, words := range c.Trouble {
		run.Err += cleanText(words) + "\n"
	}
	return encodeSuites(append(all, run), c.Time)
}

// encodeSuites writes suites. All durations are 0, because the duration of a turn is not the duration of a test.
func encodeSuites(suites []junitSuite, at string) []byte {
	for i := range suites {
		s := &suites[i]
		s.ID, s.Package, s.Time, s.Host, s.Took = i, "toolscope", at, "localhost", "0"
		s.Tests = len(s.Cases)
		for i := range s.Cases {
			s.Cases[i].Class, s.Cases[i].Took = s.Name, "0"
			s.Failures += count.If(s.Cases[i].Failure != nil)
			s.Errors += count.If(s.Cases[i].Error != nil)
		}
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	e := xml.NewEncoder(&b)
	e.Indent("", " ")
	if err := e.Encode(junitSuites{Suites: suites}); err != nil {
		panic(err) // unreachable: these types have only strings and numbers
	}
	b.WriteByte('\n')
	return b.Bytes()
}

func cleanText(text string) string { return display.Clean(text).String() }

// turnKey identifies a turn in a file or, with turn 0, the file itself.
type turnKey struct {
	file string
	turn int
}

// toSuite returns the suite for a file. Its first case reports whether the file was read.
func (f *File) toSuite(of map[turnKey][]*Finding) junitSuite {
	s := junitSuite{Name: cleanText(f.Name)}
	add := func(name string, turn int) {
		found := of[turnKey{f.Name, turn}]
		s.Cases = append(s.Cases, junitCase{Name: name, Failure: failureOf(found)})
		for _, g := range found {
			if !g.Fails {
				s.Out += g.Text().String() + "\n"
			}
		}
	}
	add("read", 0)
	if f.Why != "" {
		s.Cases[0].Error, s.Cases[0].Failure = &junitFail{cleanText(f.Why), "trouble", cleanText(f.Why)}, nil
	}
	for _, t := range f.Turns {
		add(fmt.Sprintf("turn %d %s", t.Number, cleanText(t.Title)), t.Number)
	}
	return s
}

// failureOf returns one failure that lists the findings that make the run fail, or nil.
func failureOf(found []*Finding) (fail *junitFail) {
	for _, f := range found {
		if !f.Fails {
			continue
		}
		if fail == nil {
			fail = &junitFail{Message: f.Code + ": " + cleanText(f.Message), Type: f.Code}
		}
		fail.Text += f.Text().String() + "\n"
	}
	return fail
}

// sarifLog is the root of a SARIF file. This type and the types below are the part of SARIF 2.1.0 that toolscope
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
