package report

import (
	"bytes"
	"encoding/xml"
	"fmt"

	"toolscope/ui/display"
)

// junitSuites is the root of the JUnit XML that Jenkins, GitLab and others read. It has all that the
// strictest of its schemas require. A suite is a file, and a case is a turn.
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
	Error   *junitFail `xml:"error"`
	Failure *junitFail `xml:"failure"`
}

type junitFail struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// JUnit returns the check as JUnit XML. The duration of a turn is not the duration of a test, so all
// durations are 0.
func (c *Check) JUnit() []byte {
	var all junitSuites
	of := c.findingsByTurn()
	add := func(s junitSuite) {
		s.ID, s.Package, s.Time, s.Host, s.Took = len(all.Suites), "toolscope", c.Time, "localhost", "0"
		s.Tests = len(s.Cases)
		for i := range s.Cases {
			s.Cases[i].Class, s.Cases[i].Took = s.Name, "0"
			s.Failures += countIf(s.Cases[i].Failure != nil)
			s.Errors += countIf(s.Cases[i].Error != nil)
		}
		all.Suites = append(all.Suites, s)
	}
	for i := range c.Files {
		add(c.Files[i].toSuite(of))
	}
	run := junitSuite{Name: "all files", Cases: []junitCase{{Name: "demands", Failure: failureOf(of[turnKey{}])}}}
	for _, k := range c.Absent {
		run.Out += fmt.Sprintf("gone: %s  %s\n", k.Code, cleanText(k.Message))
	}
	for _, words := range c.Trouble {
		run.Err += cleanText(words) + "\n"
	}
	add(run)
	var b bytes.Buffer
	b.WriteString(xml.Header)
	e := xml.NewEncoder(&b)
	e.Indent("", " ")
	if err := e.Encode(all); err != nil {
		panic(err) // can't happen: our types have only strings and numbers
	}
	b.WriteByte('\n')
	return b.Bytes()
}

func countIf(holds bool) int {
	if holds {
		return 1
	}
	return 0
}

func cleanText(text string) string { return display.Clean(text).String() }

// turnKey identifies a turn of a file or, with turn 0, the file itself.
type turnKey struct {
	file string
	turn int
}

func (c *Check) findingsByTurn() map[turnKey][]*Finding {
	of := map[turnKey][]*Finding{}
	for i := range c.Findings {
		f := &c.Findings[i]
		at := turnKey{f.File, f.Turn}
		of[at] = append(of[at], f)
	}
	return of
}

// toSuite returns the suite of a file. Its first case is about reading the file.
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

// failureOf returns a failure of the findings that make the run fail, or nil.
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
