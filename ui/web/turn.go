package web

import (
	"strconv"
	"time"

	"toolscope/stream"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

func turnID(t *stream.Turn) string { return "t" + strconv.Itoa(int(t.Number)+1) }

func callID(c *stream.Call) string {
	return "t" + strconv.Itoa(int(c.Turn)+1) + "c" + strconv.Itoa(c.Number)
}

// roles maps the roles that have a colour to CSS classes. Other roles have no class.
var roles = map[screen.Role]markup{screen.Good: "good", screen.Caution: "caution", screen.Bad: "bad", screen.Muted: "muted"}

// writeState writes a sign and a word. Screen readers read only the word.
func (h *writer) writeState(status stream.Status, role screen.Role, word string) {
	h.raw(`<span class="state `).raw(roles[role]).raw(`"><span aria-hidden="true">`).text(screen.UnicodeGlyphs.Status[status].String()).raw("</span> ").text(word).raw("</span>")
}

func (h *writer) writeStatus(c *stream.Call) {
	h.writeState(c.Status(), screen.CallRole(c), c.Status().String())
}

// writeTurn writes a turn as a section.
func (h *writer) writeTurn(p *Page, t *Turn) {
	id := turnID(t.Turn)
	h.raw(`<section id="`).text(id).raw(`" aria-labelledby="`).text(id).raw(`h"><h2 id="`).text(id).raw(`h">Turn `).writeInt(int(t.Number) + 1).raw(" ").text(turnTitle(p, t.Turn)).raw(" ")
	h.writeState(screen.TurnLook(t.Turn))
	h.raw("</h2>\n")
	h.writeTurnFacts(p, t.Turn)
	h.writeTimeline(t)
	h.writeFindings(t.Findings)
	h.writeFolded("Reasoning", t.Thinking)
	h.writeFolded("Text", t.Text)
	for _, c := range t.Calls {
		h.writeCall(p, t, c)
	}
	h.raw("</section>\n")
}

func (h *writer) writeTurnFacts(p *Page, t *stream.Turn) {
	h.raw(`<dl class="facts">`)
	h.writeFact("protocol", t.Protocol)
	h.writeFact("ended", panes.FinishText(t))
	h.writeFact("error", t.Failure)
	cost := "unknown"
	if f := p.costOf(t); f.Known() {
		if cost = f.String(); f.AsOf != "" {
			cost += ", prices of " + f.AsOf
		}
	}
	h.writeFact("cost", cost)
	h.writeFact("usage", t.Usage.String())
	if a := t.Request; a != nil {
		h.writeFact("agent", joinWords(a.Client, a.Agent))
		h.writeFact("purpose", a.Purpose)
		h.writeFact("session", a.Session)
	}
	if x := p.exchangeOf(t); x != nil {
		if x.Head.Status != 0 {
			h.writeFact("HTTP status", strconv.Itoa(x.Head.Status))
		}
		h.writeFact("found in", x.Head.Wrappers)
		for _, lack := range x.Head.Lacks {
			h.writeFact("cannot tell", lack)
		}
	}
	h.raw("</dl>\n")
}

// writeFolded writes a text that is folded until the reader opens it.
func (h *writer) writeFolded(what markup, text []byte) {
	if len(text) > 0 {
		h.raw("<details><summary>").raw(what).raw(", ").text(screen.Bytes(len(text)).String()).raw("</summary><pre>").lines(text).raw("</pre></details>\n")
	}
}

// timelineWidth is the width of a timeline, in units of its viewBox.
const timelineWidth = 1000

// writeTimeline writes a row for each call on the turn's time axis. Each row also has its times in words.
func (h *writer) writeTimeline(t *Turn) {
	if len(t.Calls) == 0 {
		return
	}
	begin, end := t.OpenedAt, t.ClosedAt
	for _, c := range t.Calls {
		end = max(end, c.OpenedAt, c.LastArgAt, c.SealedAt)
	}
	if begin < 0 || end <= begin {
		h.raw("<p class=\"muted\">The source has no times for the parts of this turn.</p>\n")
		return
	}
	h.raw(`<h3 class="muted">Time</h3><ol class="time">`)
	for _, c := range t.Calls {
		h.raw(`<li><a href="#`).text(callID(c)).raw(`">`).text(nameOf(c)).raw("</a>")
		h.writeCallBar(c, begin, end)
		h.raw(`<span class="when">`).text(momentsOf(c, begin)).raw("</span></li>\n")
	}
	h.raw(`</ol><p class="axis" aria-hidden="true"><span>0 s</span><span>`).text(screen.Time(end - begin).String()).raw("</span></p>\n")
}

// writeCallBar draws a call: from its announcement, while bytes arrived, and until its arguments were final.
func (h *writer) writeCallBar(c *stream.Call, begin, end time.Duration) {
	at := func(d time.Duration) int { return int(timelineWidth * (d - begin) / (end - begin)) }
	h.raw(`<svg aria-hidden="true" viewBox="0 0 1000 20" preserveAspectRatio="none">`)
	bar := func(class markup, y, high int, from, to time.Duration) {
		if from >= begin && to >= from {
			x := min(at(from), timelineWidth-3)
			h.raw(`<rect class="`).raw(class).raw(`" x="`).writeInt(x).raw(`" y="`).writeInt(y).raw(`" width="`).writeInt(max(3, at(to)-x)).raw(`" height="`).writeInt(high).raw(`"/>`)
		}
	}
	first := c.FirstArgAt
	if first < 0 {
		first = max(c.SealedAt, c.OpenedAt)
	}
	bar("wait", 8, 4, c.OpenedAt, first)
	bar("busy", 3, 14, c.FirstArgAt, c.LastArgAt)
	bar("still", 8, 4, c.LastArgAt, c.SealedAt)
	bar("seal", 0, 20, c.SealedAt, c.SealedAt)
	h.raw("</svg>")
}

// momentsOf returns the times of a call's bar in words.
func momentsOf(c *stream.Call, begin time.Duration) string {
	moment := func(word string, d time.Duration) string {
		if d < begin {
			return ""
		}
		return word + " +" + screen.Time(d-begin).String()
	}
	sealed := moment("final", c.SealedAt)
	if sealed == "" {
		sealed = "never final"
	}
	return joinWords(moment("opened", c.OpenedAt), moment("first byte", c.FirstArgAt), moment("last byte", c.LastArgAt), sealed)
}

// writeFindings writes findings, with their severities in bold.
func (h *writer) writeFindings(list []stream.Finding) {
	if len(list) == 0 {
		return
	}
	h.raw(`<ul class="findings">`)
	for _, f := range list {
		h.raw(`<li class="`).raw(severities[f.Severity]).raw(`"><strong>`).raw(severities[f.Severity]).raw("</strong> <code>").text(f.Code).raw("</code> ").text(f.Message)
		if f.Offset != stream.NoOffset {
			h.raw(" (byte ").writeInt(f.Offset).raw(")")
		}
		h.raw(`<br><span class="muted">`).text(f.Meaning).raw(" ").text(f.Advice).raw("</span></li>\n")
	}
	h.raw("</ul>\n")
}

var severities = map[stream.Severity]markup{stream.Info: "info", stream.Warn: "warn", stream.Error: "error"}
