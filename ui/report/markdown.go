package report

import (
	"bytes"
	"fmt"
	"strings"

	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/display"
)

// A Subject is what a bug report is of: a turn, or one call of it.
type Subject struct {
	Version string // of toolscope
	File    string
	Turn    *stream.Turn
	Call    *stream.Call // nil for all of the turn
	Facts   [][2]string  // what else is known, each with what it is
	Frame   func(event int) []byte
}

// Most bytes of arguments and of a frame that a report shows.
const (
	maxArgumentBytes = 16 << 10
	maxFrameBytes    = 2 << 10
)

// Markdown is the case as a bug report. Nothing that came from outside is Markdown or HTML in it, or
// calls anybody by name.
func (c *Subject) Markdown() []byte {
	var b bytes.Buffer
	title := fmt.Sprintf("Turn %d", c.Turn.Number+1)
	if c.Call != nil {
		title += fmt.Sprintf(", call %d", c.Call.Number)
	}
	fmt.Fprintf(&b, "# %s of %s\n\n", title, escapeMarkdown(c.File))
	for _, f := range c.Facts {
		if f[1] != "" {
			fmt.Fprintf(&b, "- %s: %s\n", f[0], escapeMarkdown(f[1]))
		}
	}
	fmt.Fprintf(&b, "- seen with: toolscope %s\n", escapeMarkdown(c.Version))
	if c.Call == nil {
		c.writeFindings(&b, "Findings", c.Turn.Findings)
	}
	for _, call := range c.Turn.Calls {
		if c.Call == nil || c.Call == call {
			c.writeCall(&b, call)
		}
	}
	return b.Bytes()
}

func (c *Subject) writeCall(b *bytes.Buffer, call *stream.Call) {
	fmt.Fprintf(b, "\n## Call %d: %s\n\n", call.Number, escapeMarkdown(call.Name))
	fmt.Fprintf(b, "- id: %s\n- status: %s (%s, %s)\n- arguments: %s in %s\n", escapeMarkdown(call.ID), call.Status(), call.Phase(), call.Syntax(), count.Of(call.ArgsLen(), "byte"), count.Of(call.Deltas(), "delta"))
	if args := call.Args(); len(args) > 0 {
		fmt.Fprintf(b, "\n%s", fenceCode("json", args, maxArgumentBytes))
	}
	if r := call.LatestResult(); r != nil {
		failed := ""
		if r.ResultCode == stream.ResultFailed {
			failed = ", an error"
		}
		fmt.Fprintf(b, "\nWhat its tool gave (%s%s):\n\n%s", count.Of(r.Result.Bytes, "byte"), failed, fenceCode("", []byte(r.Result.Text), maxArgumentBytes))
	}
	c.writeFindings(b, "Findings of the call", call.Findings)
}

// writeFindings are told with the frames that show them.
func (c *Subject) writeFindings(b *bytes.Buffer, title string, found []stream.Finding) {
	if len(found) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### %s\n", title)
	for _, f := range found {
		fmt.Fprintf(b, "\n**%s** (%s, by %s): %s\n\n%s\n", f.Code, f.Severity, f.CausedBy(), escapeMarkdown(f.Message), escapeMarkdown(f.Meaning))
		if frame := bytes.TrimSpace(c.Frame(f.Event)); len(frame) > 0 {
			fmt.Fprintf(b, "\n%s", fenceCode("", frame, maxFrameBytes))
		}
	}
}

// escapeMarkdown is text in a line of Markdown.
func escapeMarkdown(text string) string {
	var b strings.Builder
	for _, c := range display.Clean(text).String() {
		switch {
		case strings.ContainsRune("<>&@", c):
			fmt.Fprintf(&b, "&#%d;", c)
		case strings.ContainsRune("\\`*_[]()#!|~$", c):
			b.WriteByte('\\')
			b.WriteRune(c)
		default:
			b.WriteRune(c)
		}
	}
	return strings.ReplaceAll(b.String(), "://", "&#58;//") // what is no link does not become one
}

// fenceCode is text in a block of code, as much of it as is shown. Its fence is longer than any in it.
func fenceCode(kind string, text []byte, most int) string {
	shown := text[:min(len(text), most)]
	var b strings.Builder
	longest, run := 0, 0
	for line := range bytes.Lines(shown) {
		b.WriteString(display.Clean(strings.TrimRight(string(line), "\r\n")).String())
		b.WriteByte('\n')
	}
	for _, c := range b.String() {
		if run++; c != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", max(3, longest+1))
	more := ""
	if len(shown) < len(text) {
		more = fmt.Sprintf("\n(%d of %d bytes)\n", len(shown), len(text))
	}
	return fence + kind + "\n" + b.String() + fence + "\n" + more
}
