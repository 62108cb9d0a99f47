package cli

import (
	"fmt"
	"slices"

	"toolscope/providers"
	"toolscope/stream/count"
	"toolscope/ui/report"
)

// countFindings counts the findings for which of returns true.
func (c *checker) countFindings(of func(*report.Finding) bool) (n int) {
	for i := range c.Findings {
		if of(&c.Findings[i]) {
			n++
		}
	}
	return n
}

// failCount counts the findings that fail.
func (c *checker) failCount() int {
	return c.countFindings(func(f *report.Finding) bool { return f.Fails })
}

// write writes the findings in the format of the flag.
func (c *checker) write(to lineWriter) {
	switch c.format {
	case "text":
		c.writeText(to)
	case "jsonl":
		c.writeJSONL(to)
	case "junit":
		_, _ = to.to.Write(c.JUnit())
	case "sarif":
		_, _ = to.to.Write(c.SARIF(byCode(providers.Findings())))
	}
}

// writeText writes a line for each finding that fails and each that is gone, then the problems and the
// totals.
func (c *checker) writeText(to lineWriter) {
	var codes []string
	for i := range c.Findings {
		f := &c.Findings[i]
		if f.Fails {
			to.writeLine(f.Text())
			if !slices.Contains(codes, f.Code) {
				codes = append(codes, f.Code)
			}
		}
	}
	for i := range c.Absent {
		to.writeLine(c.Absent[i].Text())
	}
	for _, words := range c.Trouble {
		to.printLine("trouble: %s", words)
	}
	known := c.countFindings(func(f *report.Finding) bool { return f.Known })
	below := len(c.Findings) - c.failCount() - known
	turns := 0
	for i := range c.Files {
		turns += len(c.Files[i].Turns)
	}
	to.printLine("%s in %s, %s of %s%s%s", ifElse(c.failCount() > 0, count.Of(c.failCount(), "finding"), "nothing found"), count.Of(c.calls, "call"), count.Of(turns, "turn"),
		count.Of(len(c.Files), "file"), textIf(known > 0, fmt.Sprintf("; %d in the baseline", known)), textIf(below > 0, fmt.Sprintf("; %d ignored by --fail-on %s", below, c.failOn)))
	if len(codes) > 0 {
		to.writeWrappedWords("toolscope explain ", codes)
	}
}

// writeJSONL writes an object for each finding and for each that is gone, and one with the totals.
func (c *checker) writeJSONL(to lineWriter) {
	for i := range c.Findings {
		to.writeObject(findingLine(&c.Findings[i]))
	}
	for _, k := range c.Absent {
		o := new(jsonObject)
		o.text("type", "gone")
		o.text("code", k.Code)
		o.optionalText("file", k.File)
		o.optionalText("name", k.Tool)
		o.text("message", k.Message)
		o.text("fingerprint", k.Fingerprint)
		to.writeObject(o)
	}
	o := new(jsonObject)
	o.text("type", "check")
	turns := 0
	for i := range c.Files {
		turns += len(c.Files[i].Turns)
	}
	o.int("files", len(c.Files))
	o.int("turns", turns)
	o.int("calls", c.calls)
	o.int("findings", len(c.Findings))
	o.int("failing", c.failCount())
	o.int("known", c.countFindings(func(f *report.Finding) bool { return f.Known }))
	o.int("gone", len(c.Absent))
	o.texts("trouble", c.Trouble)
	to.writeObject(o)
}

// findingLine returns a finding as an object of its own.
func findingLine(f *report.Finding) *jsonObject {
	o := new(jsonObject)
	o.text("type", "finding")
	o.optionalText("file", f.File)
	o.optionalText("machine", f.Machine)
	if f.Turn > 0 {
		o.int("turn", f.Turn)
	}
	if f.Call > 0 {
		o.int("call", f.Call)
		o.text("id", f.ID)
	}
	o.optionalText("name", f.Tool)
	o.addFinding(f.Finding)
	if f.Place.End > f.Place.Start {
		o.int("start", int(f.Place.Start))
		o.int("end", int(f.Place.End))
		o.int("line", f.Place.Line)
	}
	o.flag("fails", f.Fails)
	o.flagIf("known", f.Known)
	o.text("fingerprint", f.Fingerprint())
	return o
}
