package report

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"time"

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
