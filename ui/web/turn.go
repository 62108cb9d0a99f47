package web

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/ui/present"
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
	h.writeTurnState(p, t.Turn)
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

// writeTurnState writes how the response ended, and how many calls have a problem. It uses the role of the worst
// state.
func (h *writer) writeTurnState(p *Page, t *stream.Turn) {
	status, role, word := screen.TurnLook(t)
	words, worst := present.TroubledCalls(t)
	if worst.Harm < present.VerdictOfTurn(p.In.Exchange(t.Exchange), t).Harm {
		role = worst.Role
	}
	h.writeState(status, role, strings.Join(append([]string{"response " + word}, words...), " · "))
}

// writeCallout writes a call's problem, the party that caused it, and advice.
func (h *writer) writeCallout(p *Page, t *stream.Turn, c *stream.Call) {
	o := present.CalloutOfCall(p.In.View(), t, c, nil)
	h.raw(`<p class="`).raw(roles[o.Verdict.Role]).raw(`">`)
	if len(o.Rows) == 0 {
		h.text(o.Sentence).raw("</p>\n")
		return
	}
	h.raw("<strong>").text(o.Sentence).raw("</strong></p>\n")
	h.raw(`<dl class="facts">`)
	for _, r := range o.Rows {
		h.writeFact(r.Label, r.Text)
	}
	h.raw("</dl>\n")
}

func (h *writer) writeTurnFacts(p *Page, t *stream.Turn) {
	h.raw(`<dl class="facts">`)
	facts := present.OfTurn(p.In.View(), p.Prices, t)
	for _, f := range facts.Labelled("protocol", "finish", "error", "cost", "usage", "agent", "purpose", "session", "HTTP status", "found in") {
		if f.Word == "finish" {
			f.Word = "ended"
		}
		h.writeFact(f.Word, f.Text)
	}
	if x := p.exchangeOf(t); x != nil {
		for _, unknown := range present.UnknownFacts(x) {
			h.writeFact("unknown", unknown)
		}
	}
	h.raw("</dl>\n")
}

// writeFolded writes a text that stays folded until the reader opens it.
func (h *writer) writeFolded(what markup, text []byte) {
	if len(text) > 0 {
		h.raw("<details><summary>").raw(what).raw(", ").text(screen.Bytes(len(text)).String()).raw("</summary><pre>").lines(text).raw("</pre></details>\n")
	}
}

// timelineWidth is the width of a timeline, in units of its viewBox.
const timelineWidth = 1000

// writeTimeline writes a row for each call on the turn's time axis. Each row also has the call's times in
// words.
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
	at := func(d time.Duration) int { return int(timelineWidth * (d - begin) / (end - begin)) }
	bar := func(class markup, y, high int, from, to time.Duration) {
		if from >= begin && to >= from {
			x := min(at(from), timelineWidth-3)
			h.raw(`<rect class="`).raw(class).raw(`" x="`).writeInt(x).raw(`" y="`).writeInt(y).raw(`" width="`).writeInt(max(3, at(to)-x)).raw(`" height="`).writeInt(high).raw(`"/>`)
		}
	}
	for _, c := range t.Calls {
		h.raw(`<li><a href="#`).text(callID(c)).raw(`">`).text(present.CallName(c.Name)).raw("</a>")
		// A call is a bar with three parts: the time from its announcement to the first byte, the time in which bytes
		// arrived, and the time until its arguments were final.
		h.raw(`<svg aria-hidden="true" viewBox="0 0 1000 20" preserveAspectRatio="none">`)
		first := c.FirstArgAt
		if first < 0 {
			first = max(c.SealedAt, c.OpenedAt)
		}
		bar("wait", 8, 4, c.OpenedAt, first)
		bar("busy", 3, 14, c.FirstArgAt, c.LastArgAt)
		bar("still", 8, 4, c.LastArgAt, c.SealedAt)
		bar("seal", 0, 20, c.SealedAt, c.SealedAt)
		h.raw("</svg>")
		h.raw(`<span class="when">`).text(momentsOf(c, begin)).raw("</span></li>\n")
	}
	h.raw(`</ol><p class="axis" aria-hidden="true"><span>0 s</span><span>`).text(screen.Time(end - begin).String()).raw("</span></p>\n")
}

// momentsOf describes the times in a call's bar.
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
	return present.JoinWords(moment("opened", c.OpenedAt), moment("first byte", c.FirstArgAt), moment("last byte", c.LastArgAt), sealed)
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

// writeCall writes a call as an article.
func (h *writer) writeCall(p *Page, t *Turn, c *stream.Call) {
	id := callID(c)
	h.raw(`<article id="`).text(id).raw(`" aria-labelledby="`).text(id).raw(`h"><h3 id="`).text(id).raw(`h">`).text(present.CallName(c.Name)).raw(" ")
	h.writeStatus(c)
	h.raw("</h3>\n")
	h.writeCallout(p, t.Turn, c)
	h.raw("<dl class=\"facts\">")
	for _, f := range present.OfCall(p.In.View(), p.Prices, t.Turn, c).Labelled("id", "provider", "bytes", "deltas", "also") {
		h.writeFact(f.Word, f.Text)
	}
	h.raw("</dl>\n")
	h.writeArguments(c)
	h.writeFindings(c.Findings)
	h.writeRuns(t.Turn, c)
	if r := c.LatestResult(); r != nil {
		h.raw("<details><summary>Result")
		if r.ResultCode == stream.ResultFailed {
			h.raw(`: <span class="bad">error</span>`)
		}
		h.raw(", ").text(screen.Bytes(r.Result.Bytes).String()).raw("</summary><pre>").lines([]byte(r.Result.Text))
		if len(r.Result.Text) < r.Result.Bytes {
			h.raw(`<span class="muted">… the rest is not kept</span>`)
		}
		h.raw("</pre></details>\n")
	}
	if !c.Discarded {
		h.writePreviews(p, t, c)
	}
	h.raw("</article>\n")
}

// writeRuns lists the programs that run the call, and when they do so.
func (h *writer) writeRuns(t *stream.Turn, c *stream.Call) {
	var say []string
	for _, x := range []stream.RunRule{stream.AtSeal, stream.AtEnd} {
		say = append(say, present.RunBy(t, c, x)...)
	}
	if len(say) == 0 {
		return
	}
	h.raw("<details><summary>Clients that run this call, and when they run it</summary><ul>")
	for _, who := range say {
		h.raw("<li>").text(who).raw("</li>\n")
	}
	h.raw("</ul></details>\n")
}

// maxColouredBytes is the maximum size of arguments with coloured tokens. The markup for a colour is often
// longer than the token.
const maxColouredBytes = 256 << 10

// writeArguments writes the arguments in rows, token by token. Bytes that are not JSON are marked and written as
// received.
func (h *writer) writeArguments(c *stream.Call) {
	args, tokens := c.Args(), c.Lexer().Tokens()
	if len(args) == 0 {
		return
	}
	h.raw("<pre>")
	if c.Freeform() || len(args) > maxColouredBytes || tokens.Len() == 0 {
		h.lines(args)
	} else {
		r := rows{writer: h}
		for i, tok := range tokens.All() {
			r.writeToken(tok.Kind, args[tokens.Start(i):tok.End])
		}
	}
	if role := screen.CallRole(c); role == screen.Bad || c.MayGrow() {
		h.raw(`<span class="`).raw(roles[role]).raw(`"> `).text(screen.UnicodeGlyphs.Status[c.Status()].String()).raw("</span>")
	}
	h.raw("</pre>\n")
}

// rows writes JSON with one field per row.
type rows struct {
	*writer
	depth int
	fresh bool // the last token opened an object or array, which is still empty
	ended bool // the last token closed an object or array
}

// classes maps kinds of tokens to CSS classes.
var classes = map[json.TokenKind]markup{
	json.Key: "k", json.String: "s", json.Number: "n", json.True: "w", json.False: "w", json.Null: "w",
}

// maxIndent is the maximum number of levels of indentation.
const maxIndent = 24

func (r *rows) startRow() { r.write("\n" + strings.Repeat("  ", min(r.depth, maxIndent))) }

func (r *rows) writeToken(kind json.TokenKind, piece []byte) {
	closes := kind == json.ObjectClose || kind == json.ArrayClose
	switch {
	case kind == json.Space:
		return
	case kind == json.Junk:
		r.raw("<mark>").lines(piece).raw("</mark>")
		return
	case closes:
		if r.depth--; !r.fresh {
			r.startRow()
		}
	case r.fresh || r.ended && r.depth == 0:
		r.startRow()
	}
	r.fresh, r.ended = false, closes
	switch kind {
	case json.ObjectOpen, json.ArrayOpen:
		r.writePunct(piece)
		r.depth++
		r.fresh = true
	case json.Comma:
		r.writePunct(piece)
		r.startRow()
	case json.Colon:
		r.writePunct(append(piece[:len(piece):len(piece)], ' '))
	case json.ObjectClose, json.ArrayClose:
		r.writePunct(piece)
	default:
		r.raw(`<span class="`).raw(classes[kind]).raw(`">`).text(string(piece)).raw("</span>")
	}
}

func (r *rows) writePunct(piece []byte) {
	r.raw(`<span class="p">`).text(string(piece)).raw("</span>")
}

// writePreviews writes previews of the call in a later request. It previews each behaviour with each target, and
// each known client with the call's own protocol.
func (h *writer) writePreviews(p *Page, t *Turn, c *stream.Call) {
	from := providers.TargetOf(t.Protocol)
	if from == nil {
		return
	}
	x := p.exchangeOf(t.Turn)
	src := replay.SourceOfCalls(t.Turn, from, c).InHistory(x.CarriedCalls(), t.Turn, c).WithEvidence(p.In.View().Witnesses(c))
	if replay.NumCalls(src.Messages) == 0 {
		return
	}
	h.raw("<details><summary>Sent back: preview of a later request</summary>\n")
	for _, r := range c.SentBack {
		h.raw("<p>Seen in request ").writeInt(r.Exchange).raw(": <strong>").text(r.Outcome).raw("</strong>")
		if r.Policies != "" {
			h.raw(", as with ").text(strings.ReplaceAll(r.Policies, ",", ", "))
		}
		h.raw("</p>\n")
	}
	h.writeMatrix(src, providers.Targets())
	h.raw(`<div class="wide" tabindex="0" role="group" aria-label="Clients"><table><caption>What each client sends back to `).text(from.Name)
	h.raw(`</caption><thead><tr><th scope="col">client</th><th scope="col">how known</th><th scope="col">outcome</th><th scope="col">provider</th></tr></thead><tbody>` + "\n")
	for i := range replay.Clients {
		as := &replay.Clients[i]
		if !as.Knows(src.From, from) {
			continue
		}
		v := src.Preview(from, as)
		h.raw(`<tr><th scope="row">`).text(strings.TrimSpace(as.Client.Title + " " + as.Client.Version)).raw("</th><td>").text(as.KnownFor(src.From, from).String()).raw("</td><td>")
		h.writeOutcome(&v)
		h.raw("</td><td>").text(v.Acceptance.String()).raw("</td></tr>\n")
	}
	h.raw("</tbody></table></div>\n")
	h.raw("</details>\n")
}

// writeMatrix writes a table of targets and behaviours, with the losses below it.
func (h *writer) writeMatrix(src *replay.Source, targets []*protocol.Target) {
	h.raw(`<div class="wide" tabindex="0" role="group" aria-label="Targets and behaviours"><table><caption>What each behaviour sends to each target</caption><thead><tr><th scope="col">target</th>`)
	for i := range replay.Behaviours {
		h.raw(`<th scope="col">`).text(replay.Behaviours[i].Name).raw("</th>")
	}
	h.raw("</tr></thead><tbody>\n")
	var lost []replay.Loss // each code once, without losses of severity info
	for _, to := range targets {
		h.raw(`<tr><th scope="row">`).text(to.Name).raw("</th>")
		for i := range replay.Behaviours {
			v := src.Preview(to, &replay.Behaviours[i])
			h.raw("<td>")
			h.writeOutcome(&v)
			h.raw("</td>")
			for _, loss := range v.Losses {
				if loss.Severity != replay.Info && !slices.ContainsFunc(lost, func(l replay.Loss) bool { return l.Code == loss.Code }) {
					lost = append(lost, loss)
				}
			}
		}
		h.raw("</tr>\n")
	}
	h.raw("</tbody></table></div>\n")
	if len(lost) == 0 {
		return
	}
	h.raw("<p>Losses in these previews:</p>\n<ul>")
	for _, loss := range lost {
		h.raw("<li><code>").text(loss.Code).raw("</code> ").text(loss.Meaning).raw("</li>\n")
	}
	h.raw("</ul>\n")
}

// writeOutcome writes the outcome. It also marks an outcome that the provider is known to refuse.
func (h *writer) writeOutcome(v *replay.Preview) {
	side := screen.OutcomeSides[v.Outcome]
	h.raw(`<span class="`).raw(roles[screen.SideRoles[side]]).raw(`">`).text(v.Outcome.String()).raw("</span>")
	if v.Acceptance.Verdict == replay.Refused {
		h.raw(`, <span class="bad">refused</span>`)
	}
}
