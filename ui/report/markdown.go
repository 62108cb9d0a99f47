package report

import (
	"bytes"
	"fmt"
	"strings"

	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/display"
)

// A Subject is the subject of a bug report: a turn, or one of its calls.
type Subject struct {
	Version string // of toolscope
	File    string
	Turn    *stream.Turn
	Call    *stream.Call // nil for the complete turn
	Facts   [][2]string  // other facts, as labels and values
	Frame   func(event int) []byte
}

// Limits of the arguments, and of each frame, in a report.
const (
	maxArgumentBytes = 16 << 10
	maxFrameBytes    = 2 << 10
)

// Markdown returns a bug report. Text from outside is escaped: it can't be Markdown or HTML, and it can't
// mention a user.
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
	fmt.Fprintf(&b, "- reported by: toolscope %s\n", escapeMarkdown(c.Version))
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
		fmt.Fprintf(b, "\nResult of the tool (%s%s):\n\n%s", count.Of(r.Result.Bytes, "byte"), failed, fenceCode("", []byte(r.Result.Text), maxArgumentBytes))
	}
	c.writeFindings(b, "Findings of the call", call.Findings)
}

// writeFindings writes findings with the frames that show them.
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

// escapeMarkdown escapes text for a line of Markdown.
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
	return strings.ReplaceAll(b.String(), "://", "&#58;//") // prevents automatic links
}

// fenceCode returns the first bytes of text, up to most, as a code block. Its fence is longer than any run
// of backquotes in the text.
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
