package cli

import (
	"fmt"
	"slices"

	"toolscope/providers"
	"toolscope/stream/count"
	"toolscope/ui/report"
)

func (c *checker) count(of func(*report.Finding) bool) (n int) {
	for i := range c.Findings {
		if of(&c.Findings[i]) {
			n++
		}
	}
	return n
}

func (c *checker) fails() int { return c.count(func(f *report.Finding) bool { return f.Fails }) }

// write writes what was found, in the form that was asked for.
func (c *checker) write(to lines) {
	switch c.format {
	case "text":
		c.text(to)
	case "jsonl":
		c.jsonl(to)
	case "junit":
		_, _ = to.to.Write(c.JUnit())
	case "sarif":
		_, _ = to.to.Write(c.SARIF(byCode(providers.Findings())))
	}
}

// text writes what fails, a line each, and what there is besides.
func (c *checker) text(to lines) {
	var codes []string
	for i := range c.Findings {
		f := &c.Findings[i]
		if f.Fails {
			to.line(f.Text())
			if !slices.Contains(codes, f.Code) {
				codes = append(codes, f.Code)
			}
		}
	}
	for i := range c.Absent {
		to.line(c.Absent[i].Text())
	}
	for _, words := range c.Trouble {
		to.linef("trouble: %s", words)
	}
	known := c.count(func(f *report.Finding) bool { return f.Known })
	below := len(c.Findings) - c.fails() - known
	turns := 0
	for i := range c.Files {
		turns += len(c.Files[i].Turns)
	}
	to.linef("%s in %s, %s of %s%s%s", either(c.fails() > 0, count.Of(c.fails(), "finding"), "nothing found"), count.Of(c.calls, "call"), count.Of(turns, "turn"),
		count.Of(len(c.Files), "file"), when(known > 0, fmt.Sprintf("; %d known before", known)), when(below > 0, fmt.Sprintf("; %d that --fail-on %s passes", below, c.failOn)))
	if len(codes) > 0 {
		to.wrapped("toolscope explain ", codes)
	}
}

// jsonl writes an object for each finding, those that are gone, and one for the whole.
func (c *checker) jsonl(to lines) {
	for i := range c.Findings {
		to.object(findingLine(&c.Findings[i]))
	}
	for _, k := range c.Absent {
		o := new(object)
		o.text("type", "gone")
		o.text("code", k.Code)
		o.some("file", k.File)
		o.some("name", k.Tool)
		o.text("message", k.Message)
		o.text("fingerprint", k.Fingerprint)
		to.object(o)
	}
	o := new(object)
	o.text("type", "check")
	turns := 0
	for i := range c.Files {
		turns += len(c.Files[i].Turns)
	}
	o.int("files", len(c.Files))
	o.int("turns", turns)
	o.int("calls", c.calls)
	o.int("findings", len(c.Findings))
	o.int("failing", c.fails())
	o.int("known", c.count(func(f *report.Finding) bool { return f.Known }))
	o.int("gone", len(c.Absent))
	o.texts("trouble", c.Trouble)
	to.object(o)
}

// findingLine is a finding as an object of its own.
func findingLine(f *report.Finding) *object {
	o := new(object)
	o.text("type", "finding")
	o.some("file", f.File)
	o.some("machine", f.Machine)
	if f.Turn > 0 {
		o.int("turn", f.Turn)
	}
	if f.Call > 0 {
		o.int("call", f.Call)
		o.text("id", f.ID)
	}
	o.some("name", f.Tool)
	o.finding(f.Finding)
	if f.Place.End > f.Place.Start {
		o.int("start", int(f.Place.Start))
		o.int("end", int(f.Place.End))
		o.int("line", f.Place.Line)
	}
	o.flag("fails", f.Fails)
	o.yes("known", f.Known)
	o.text("fingerprint", f.Fingerprint())
	return o
}
