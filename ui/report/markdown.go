package report

import (
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"strings"
	"time"

	"toolscope/stream"
	"toolscope/stream/count"
	"toolscope/ui/display"
)

// A Subject is the subject of a bug report: a turn, or one of its calls.
type Subject struct {
	Version string // version of toolscope
	File    string
	Number  int // number of the turn in the file; 0 for the number in the session
	Turn    *stream.Turn
	Call    *stream.Call                                           // nil for the complete turn
	Title   string                                                 // names the problem; if "", the subject's place is the title
	Facts   [][2]string                                            // further facts, as labels and values
	Verdict func(*stream.Call) (sentence string, rows [][2]string) // describes a call's problem; may be nil
	Frame   func(event int) []byte
}

// These constants limit the arguments, and each frame, in a report.
const (
	maxArgumentBytes = 16 << 10
	maxFrameBytes    = 2 << 10
)

// Markdown returns a bug report in Markdown. Text from outside is escaped, so that it can't act as Markdown
// or HTML, or mention a user.
func (c *Subject) Markdown() []byte {
	var b bytes.Buffer
	place := fmt.Sprintf("turn %d", cmp.Or(c.Number, int(c.Turn.Number)+1))
	if c.Call != nil {
		place += fmt.Sprintf(", call %d", c.Call.Number)
	}
	place += " of " + escapeMarkdown(c.File)
	if c.Title == "" {
		fmt.Fprintf(&b, "# %s\n\n", strings.ToUpper(place[:1])+place[1:])
	} else {
		fmt.Fprintf(&b, "# %s\n\n- place: %s\n", escapeMarkdown(c.Title), place)
	}
	writeRows(&b, c.Facts)
	fmt.Fprintf(&b, "- reported by: toolscope %s\n", escapeMarkdown(c.Version))
	if c.Call == nil {
		c.writeFindings(&b, "Findings", c.Turn.Findings)
	}
	for _, call := range c.Turn.Calls {
		if c.Call == nil || c.Call == call {
			c.writeCall(&b, call)
		}
	}
	if c.Call != nil {
		c.writeFindings(&b, "Findings in the turn", c.Turn.Findings)
	}
	return b.Bytes()
}

// writeRows writes labels and values as a list.
func writeRows(b *bytes.Buffer, rows [][2]string) {
	for _, r := range rows {
		fmt.Fprintf(b, "- %s: %s\n", r[0], escapeMarkdown(r[1]))
	}
}

func (c *Subject) writeCall(b *bytes.Buffer, call *stream.Call) {
	fmt.Fprintf(b, "\n## Call %d: %s\n\n", call.Number, escapeMarkdown(call.Name))
	if c.Verdict != nil {
		sentence, rows := c.Verdict(call)
		fmt.Fprintf(b, "**%s**\n\n", escapeMarkdown(sentence))
		writeRows(b, rows)
	}
	fmt.Fprintf(b, "- id: %s\n- status: %s (%s, %s)\n- arguments: %s in %s\n", escapeMarkdown(call.ID), call.Status(), call.Phase(), call.Syntax(), count.Of(call.ArgsLen(), "byte"), count.Of(call.Deltas(), "delta"))
	if args := call.Args(); len(args) > 0 {
		block := fenceCode("json", args, maxArgumentBytes)
		for i := range call.Findings { // a row under the first wrong byte shows the finding
			if f := &call.Findings[i]; f.ExplainsState && f.Severity == stream.Error && f.Offset >= 0 && f.Offset < len(args) {
				block = fenceMarked("json", args, maxArgumentBytes, f.Offset, fmt.Sprintf("^ %s  byte %d, delta %d", f.Brief(), f.Offset, call.DeltaAt(f.Offset)+1))
				break
			}
		}
		fmt.Fprintf(b, "\n%s", block)
	}
	if r := call.LatestResult(); r != nil {
		failed := ""
		if r.ResultCode == stream.ResultFailed {
			failed = ", an error"
		}
		fmt.Fprintf(b, "\nTool result (%s%s):\n\n%s", count.Of(r.Result.Bytes, "byte"), failed, fenceCode("", []byte(r.Result.Text), maxArgumentBytes))
	}
	c.writeFindings(b, "Findings in the call", call.Findings)
}

// writeFindings writes findings, each with its frame.
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

// escapeMarkdown sanitises text from outside and escapes it for a line of Markdown.
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

// fenceCode returns the beginning of text, at most the given number of bytes, as a code block. Its fence is
// longer than any run of backquotes in the text.
func fenceCode(kind string, text []byte, most int) string {
	return fenceMarked(kind, text, most, -1, "")
}

// fenceMarked is like fenceCode, but adds a row with the text mark under the byte at the offset at. If at is
// -1, it adds no row.
func fenceMarked(kind string, text []byte, most, at int, mark string) string {
	shown := text[:min(len(text), most)]
	var b strings.Builder
	longest, run, start := 0, 0, 0
	for line := range bytes.Lines(shown) {
		b.WriteString(display.Clean(strings.TrimRight(string(line), "\r\n")).String())
		b.WriteByte('\n')
		if at >= start && at < start+len(line) {
			b.WriteString(strings.Repeat(" ", display.Clean(string(line[:at-start])).Width()) + display.Clean(mark).String() + "\n")
		}
		start += len(line)
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

// These constants are sizes in the picture, in pixels.
const (
	svgWidth, svgRow = 960, 34
	svgLeft, svgTop  = 250, 76
	svgRight         = 190
)

// svgStyle has colours for light and dark pages. States never differ in colour alone.
const svgStyle = `<style>
text{font:14px ui-monospace,Menlo,Consolas,monospace;fill:#1f2328}.bg{fill:#fff}.dim{fill:#59636e}
.bar{fill:#0969da}.good{fill:#1a7f37}.bad{fill:#cf222e}.tick{stroke:#fff}.axis{stroke:#818b98}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.bg{fill:#0d1117}.dim{fill:#9198a1}.bar{fill:#4493f8}
.good{fill:#3fb950}.bad{fill:#f85149}.tick{stroke:#0d1117}.axis{stroke:#656c76}}
</style>
`

// SVG returns the timeline of the subject as a picture, with a description for screen readers. Each call is a bar,
// from its start to its last delta, with a tick for each delta. If times are unknown, the axis counts events.
func (c *Subject) SVG(at func(event int) time.Duration) []byte {
	var b bytes.Buffer
	calls := c.Turn.Calls
	if c.Call != nil {
		calls = []*stream.Call{c.Call}
	}
	height := svgTop + len(calls)*svgRow + 40
	title := fmt.Sprintf("Turn %d in %s", c.Turn.Number+1, c.File)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="t d" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d">`+"\n", svgWidth, height)
	fmt.Fprintf(&b, "<title id=\"t\">%s</title>\n<desc id=\"d\">%s</desc>\n%s", inXML(title), inXML(c.describe(calls)), svgStyle)
	fmt.Fprintf(&b, `<rect class="bg" width="100%%" height="100%%" rx="8"/>`+"\n"+`<text x="16" y="28">%s</text>`+"\n", inXML(title))
	fmt.Fprintf(&b, `<text x="16" y="50" class="dim">%s</text>`+"\n", inXML(fmt.Sprintf("%s %s, %s %s", c.Turn.Protocol, c.Turn.Model, c.Turn.Phase(), c.Turn.Finish)))
	axis := &axis{at: at, timed: true}
	var events []int
	for _, call := range calls {
		events = append(events, int(call.OpenedBy))
		for n := range call.Deltas() {
			events = append(events, int(call.DeltaEvent(n)))
		}
	}
	if c.Call == nil {
		events = append(events, int(c.Turn.OpenedBy))
	}
	for _, e := range events {
		axis.timed = axis.timed && at(e) >= 0
	}
	for i, e := range events {
		v := axis.valueAt(e)
		if i == 0 {
			axis.first, axis.last = v, v
		}
		axis.first, axis.last = min(axis.first, v), max(axis.last, v)
	}
	for i, call := range calls {
		axis.drawBar(&b, call, svgTop+i*svgRow)
	}
	y := svgTop + len(calls)*svgRow + 8
	fmt.Fprintf(&b, `<line class="axis" x1="%d" y1="%d" x2="%d" y2="%[2]d"/>`+"\n", svgLeft, y, svgWidth-svgRight)
	span := fmt.Sprintf("%.0f events; times are unknown", axis.last-axis.first)
	if axis.timed {
		span = fmt.Sprintf("%.2f s", axis.last-axis.first)
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" class="dim">0</text><text x="%d" y="%d" class="dim" text-anchor="end">%s</text>`+"\n</svg>\n", svgLeft, y+20, svgWidth-svgRight, y+20, span)
	return b.Bytes()
}

// describe returns a description of the picture.
func (c *Subject) describe(calls []*stream.Call) string {
	words := fmt.Sprintf("The response is %s; calls: %d.", c.Turn.Phase(), len(c.Turn.Calls))
	for _, call := range calls {
		words += fmt.Sprintf(" Call %d, %s, is %s: %s in %s.", call.Number, call.Name, call.Status(), count.Of(call.ArgsLen(), "byte"), count.Of(call.Deltas(), "delta"))
		for _, f := range call.Findings {
			words += fmt.Sprintf(" %s: %s.", f.Code, f.Message)
		}
	}
	return words
}

// inXML sanitises text from outside and escapes it for an XML element.
func inXML(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(display.Clean(text).String()))
	return b.String()
}

// An axis maps events to positions in the picture. It uses their times or, if times are unknown, their numbers.
type axis struct {
	at          func(event int) time.Duration
	timed       bool
	first, last float64
}

func (a *axis) valueAt(event int) float64 {
	if a.timed {
		return a.at(event).Seconds()
	}
	return float64(event)
}

func (a *axis) xAt(event int) float64 {
	width := float64(svgWidth - svgRight - svgLeft)
	if a.last == a.first {
		return svgLeft
	}
	return svgLeft + width*(a.valueAt(event)-a.first)/(a.last-a.first)
}

// drawBar draws the row of a call.
func (a *axis) drawBar(b *bytes.Buffer, call *stream.Call, y int) {
	start, end := a.xAt(int(call.OpenedBy)), a.xAt(int(call.OpenedBy))
	if n := call.Deltas(); n > 0 {
		end = max(end, a.xAt(int(call.DeltaEvent(n-1))))
	}
	fmt.Fprintf(b, `<text x="16" y="%d">%d %s</text>`+"\n", y+16, call.Number, inXML(display.Drawer{}.Truncate(display.Clean(call.Name), 26).String()))
	fmt.Fprintf(b, `<rect class="bar" x="%.1f" y="%d" width="%.1f" height="16" rx="3"/>`+"\n", start, y+4, max(4, end-start))
	for n := range min(call.Deltas(), maxTicks) {
		x := a.xAt(int(call.DeltaEvent(n)))
		fmt.Fprintf(b, `<line class="tick" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/>`+"\n", x, y+7, x, y+17)
	}
	kind, mark := "bad", "✗"
	if s := call.Status(); s == stream.Complete || s == stream.NoArguments {
		kind, mark = "good", "✓"
	}
	fmt.Fprintf(b, `<text x="%d" y="%d" class="%s">%s %s</text>`+"\n", svgWidth-svgRight+14, y+16, kind, mark, call.Status())
}

// maxTicks is the maximum number of ticks for a call. More ticks would look like a solid bar.
const maxTicks = 400
