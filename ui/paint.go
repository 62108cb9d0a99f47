package ui

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"toolscope/stream"
	"toolscope/themes"
	"toolscope/ui/display"
)

// role is what a piece of text is, which decides how it looks.
type role uint8

const (
	plain role = iota
	live
	good
	caution
	bad
	muted
	accent
	keyToken
	stringToken
	escapeToken
	numberToken
	literalToken
	punctToken
	junkToken
	tentative
	numRoles
)

// ground is what a piece of text lies on.
type ground uint8

const (
	bare     ground = iota
	selected        // the selection
	linked          // what the selection points at
	match           // a search hit
	growing         // the token that may still grow
	gone            // what the model wrote and is not sent
	added           // what is sent and the model did not write
	numGrounds
)

// paints are the escape sequences of a theme at a colour depth, made once:
// the only SGR the program writes.
type paints struct {
	on    [numRoles][numGrounds]string
	depth termenv.Profile
	theme themes.Theme
}

const paintOff = "\x1b[0m"

func newPaints(t themes.Theme, depth termenv.Profile) *paints {
	p := &paints{depth: depth, theme: t}
	inks := [numRoles]themes.Ink{
		live: t.Live, good: t.Good, caution: t.Caution, bad: t.Bad, muted: t.Muted, accent: t.Accent,
		keyToken: t.Key, stringToken: t.String, escapeToken: t.Escape, numberToken: t.Number,
		literalToken: t.Literal, punctToken: t.Punct, junkToken: t.Junk, tentative: t.Tentative,
	}
	grounds := [numGrounds]themes.Ink{
		selected: t.Selection, linked: t.Linked, match: {Reverse: true}, growing: t.Open,
		gone:  {FG: t.Bad.FG, Bold: t.Bad.Bold, Underline: true},
		added: {FG: t.Good.FG, Bold: t.Good.Bold, Underline: true},
	}
	if depth == termenv.Ascii { // without colours, attributes must carry the difference
		grounds[selected] = themes.Ink{Reverse: true}
		grounds[linked] = themes.Ink{Underline: true, Bold: true}
		grounds[gone] = themes.Ink{Reverse: true}
		grounds[added] = themes.Ink{Underline: true, Bold: true}
	}
	for r, ink := range inks {
		for g, under := range grounds {
			p.on[r][g] = p.sgr(ink.With(under))
		}
	}
	return p
}

// A paint is how text looks that has a colour of its own, such as that of code.
type paint struct{ on string }

// of is the paint of an ink.
func (p *paints) of(i themes.Ink) paint { return paint{p.sgr(i)} }

// sgr is the escape sequence that turns ink on, "" for plain. Without colours
// the attributes stay: they are what tells a selection then.
func (p *paints) sgr(i themes.Ink) string {
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(p.depth)
	if p.depth == termenv.Ascii {
		i.FG, i.BG = "", ""
		r.SetColorProfile(termenv.ANSI)
	}
	on, _, _ := strings.Cut(i.Style().Renderer(r).Render("x"), "x")
	return on
}

// tokenRoles is how each kind of token looks.
var tokenRoles = [...]role{
	stream.Space: plain, stream.ObjectOpen: punctToken, stream.ObjectClose: punctToken, stream.ArrayOpen: punctToken,
	stream.ArrayClose: punctToken, stream.Colon: punctToken, stream.Comma: punctToken, stream.Key: keyToken,
	stream.String: stringToken, stream.Number: numberToken, stream.True: literalToken, stream.False: literalToken,
	stream.Null: literalToken, stream.Junk: junkToken,
}

// statusRoles is the colour of each status; the glyph and the word say the same.
var statusRoles = [stream.NumStatus]role{
	stream.Waiting: muted, stream.Streaming: live, stream.LooksDone: caution, stream.Complete: good,
	stream.NoArguments: good, stream.CutShort: bad, stream.Malformed: bad, stream.NotObject: caution,
	stream.Aborted: bad, stream.Rejected: bad, stream.Unseen: caution,
}

// callRole is the colour of a call's status. That the client stopped it is not bad.
func callRole(c *stream.Call) role {
	if c.Stopped() {
		return muted
	}
	return statusRoles[c.Status()]
}

// turnLook is the status whose glyph a turn shares with calls, its colour and its
// word.
func turnLook(t *stream.Turn) (stream.Status, role, string) {
	st := turnStatus[t.Phase()]
	switch {
	case t.Closed() && t.Phase() == stream.TurnIsOpen:
		return stream.Unseen, statusRoles[stream.Unseen], stream.Unseen.String()
	case st == stream.Aborted && t.EndedBy == stream.Client:
		return st, muted, t.Phase().String()
	}
	return st, statusRoles[st], t.Phase().String()
}

var severityRoles = [...]role{stream.Info: muted, stream.Warn: caution, stream.Error: bad}

// glyphs are the signs of one alphabet; each is one cell wide.
type glyphs struct {
	status, severity, outcome []display.Text
	rule, sep, mark, dot      display.Text
	cursor, ghost, delta      display.Text
	line, none                display.Text
}

var unicodeGlyphs = newGlyphs("○◔◐●◌▲✗◇⊘⊖◍", "·▲✗", "●◌◉≈▣◑∅✗⊖◍", "│›▌·█┊╎─—")

var asciiGlyphs = newGlyphs(".~?=-!x#/%u", ".!x", "=-o*[+0x%u", "|>>-_:|--")

// newGlyphs makes an alphabet of its signs: of statuses, of severities, of
// outcomes, and the others.
func newGlyphs(status, severity, outcome, others string) *glyphs {
	s := signs(others)
	return &glyphs{
		status: signs(status), severity: signs(severity), outcome: signs(outcome),
		rule: s[0], sep: s[1], mark: s[2], dot: s[3], cursor: s[4], ghost: s[5], delta: s[6], line: s[7], none: s[8],
	}
}

func signs(of string) (all []display.Text) {
	for _, r := range of {
		all = append(all, display.Clean(string(r)))
	}
	return all
}

// turnStatus is the glyph a turn shares with calls.
var turnStatus = [...]stream.Status{
	stream.TurnIsOpen: stream.Streaming, stream.TurnComplete: stream.Complete, stream.TurnTruncated: stream.CutShort,
	stream.TurnAborted: stream.Aborted, stream.TurnRejected: stream.Rejected,
}
