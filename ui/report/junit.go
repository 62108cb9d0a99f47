package report

import (
	"bytes"
	"encoding/xml"
	"fmt"

	"toolscope/ui/display"
)

// The JUnit form that Jenkins, GitLab and the others read, with what the strictest of its schemas
// want: a suite is a file, a case a turn.
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

// JUnit is the check as JUnit's XML. How long a turn took is no time of a test, so all times are 0.
func (c *Check) JUnit() []byte {
	var all junitSuites
	of := c.byTurn()
	add := func(s junitSuite) {
		s.ID, s.Package, s.Time, s.Host, s.Took = len(all.Suites), "toolscope", c.Time, "localhost", "0"
		s.Tests = len(s.Cases)
		for i := range s.Cases {
			s.Cases[i].Class, s.Cases[i].Took = s.Name, "0"
			s.Failures += one(s.Cases[i].Failure != nil)
			s.Errors += one(s.Cases[i].Error != nil)
		}
		all.Suites = append(all.Suites, s)
	}
	for i := range c.Files {
		add(c.Files[i].suite(of))
	}
	run := junitSuite{Name: "all files", Cases: []junitCase{{Name: "demands", Failure: failure(of[turnOf{}])}}}
	for _, k := range c.Gone {
		run.Out += fmt.Sprintf("gone: %s  %s\n", k.Code, clean(k.Message))
	}
	for _, words := range c.Trouble {
		run.Err += clean(words) + "\n"
	}
	add(run)
	var b bytes.Buffer
	b.WriteString(xml.Header)
	e := xml.NewEncoder(&b)
	e.Indent("", " ")
	if err := e.Encode(all); err != nil {
		panic(err) // only strings of our own types are encoded
	}
	b.WriteByte('\n')
	return b.Bytes()
}

func one(holds bool) int {
	if holds {
		return 1
	}
	return 0
}

func clean(text string) string { return display.Clean(text).String() }

// turnOf is a turn of a file, or with 0 the file itself.
type turnOf struct {
	file string
	turn int
}

func (c *Check) byTurn() map[turnOf][]*Finding {
	of := map[turnOf][]*Finding{}
	for i := range c.Findings {
		f := &c.Findings[i]
		at := turnOf{f.File, f.Turn}
		of[at] = append(of[at], f)
	}
	return of
}

// suite is a file. Its first case is that it can be read.
func (f *File) suite(of map[turnOf][]*Finding) junitSuite {
	s := junitSuite{Name: clean(f.Name)}
	add := func(name string, turn int) {
		found := of[turnOf{f.Name, turn}]
		s.Cases = append(s.Cases, junitCase{Name: name, Failure: failure(found)})
		for _, g := range found {
			if !g.Fails {
				s.Out += g.Text().String() + "\n"
			}
		}
	}
	add("read", 0)
	if f.Why != "" {
		s.Cases[0].Error, s.Cases[0].Failure = &junitFail{clean(f.Why), "trouble", clean(f.Why)}, nil
	}
	for _, t := range f.Turns {
		add(fmt.Sprintf("turn %d %s", t.Number, clean(t.Title)), t.Number)
	}
	return s
}

// failure are those findings that the run fails for, nil without any.
func failure(found []*Finding) (fail *junitFail) {
	for _, f := range found {
		if !f.Fails {
			continue
		}
		if fail == nil {
			fail = &junitFail{Message: f.Code + ": " + clean(f.Message), Type: f.Code}
		}
		fail.Text += f.Text().String() + "\n"
	}
	return fail
}
