package screen

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"

	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/themes"
)

// Role is what a piece of text is, which decides how it looks.
type Role uint8

const (
	Plain Role = iota
	Live
	Good
	Caution
	Bad
	Muted
	Accent
	KeyToken
	StringToken
	EscapeToken
	NumberToken
	LiteralToken
	PunctToken
	JunkToken
	Tentative
	NumRoles
)

// Surface is what a piece of text lies on.
type Surface uint8

const (
	Bare     Surface = iota
	Selected         // the selection
	Linked           // what the selection points at
	Match            // a search hit
	Growing          // the token that may still grow
	Removed          // what the model wrote and is not sent
	Added            // what is sent and the model did not write
	NumGrounds
)

// Paints are the escape sequences of a theme at a colour depth, made once: the only SGR the program
// writes.
type Paints struct {
	on    [NumRoles][NumGrounds]string
	depth termenv.Profile
	page  themes.TextStyle // below all others, where the background is painted
	Theme themes.Theme

	Paints bool // every cell has the theme's background
	TooFew bool // it would, but there are not colours enough
}

const paintOff = "\x1b[0m"

// NewPaints makes the paints of a theme; painted says whether every cell has its background, too,
// which takes colours enough.
func NewPaints(t themes.Theme, depth termenv.Profile, painted bool) *Paints {
	p := &Paints{depth: depth, Theme: t}
	if p.Paints, p.TooFew = painted && CanPaint(depth), painted && !CanPaint(depth); p.Paints {
		p.page = t.Page
	}
	inks := [NumRoles]themes.TextStyle{
		Live: t.Live, Good: t.Good, Caution: t.Caution, Bad: t.Bad, Muted: t.Muted, Accent: t.Accent,
		KeyToken: t.Key, StringToken: t.String, EscapeToken: t.Escape, NumberToken: t.Number,
		LiteralToken: t.Literal, PunctToken: t.Punct, JunkToken: t.Junk, Tentative: t.Tentative,
	}
	grounds := [NumGrounds]themes.TextStyle{
		Selected: t.Selection, Linked: t.Linked, Match: {Reverse: true}, Growing: t.Open,
		Removed: {FG: t.Bad.FG, Bold: t.Bad.Bold, Underline: true},
		Added:   {FG: t.Good.FG, Bold: t.Good.Bold, Underline: true},
	}
	if depth == termenv.Ascii { // without colours, attributes must carry the difference
		bold, underline, reverse := themes.TextStyle{Bold: true}, themes.TextStyle{Underline: true}, themes.TextStyle{Reverse: true}
		inks = [NumRoles]themes.TextStyle{Bad: bold, Accent: bold}
		grounds = [NumGrounds]themes.TextStyle{
			Selected: reverse, Linked: underline, Match: reverse, Growing: underline, Removed: reverse, Added: {Underline: true, Bold: true},
		}
	}
	for r, ink := range inks {
		for g, under := range grounds {
			p.on[r][g] = p.inkEscape(ink.With(under))
		}
	}
	return p
}

// Escape is what turns a look on, "" for plain.
func (p *Paints) Escape(r Role, g Surface) string { return p.on[r][g] }

// A Paint is how text looks that has a colour of its own, such as that of code.
type Paint struct{ on string }

// Of is the paint of an ink.
func (p *Paints) Of(i themes.TextStyle) Paint { return Paint{p.inkEscape(i)} }

// CanPaint reports whether there are colours enough to paint the background.
func CanPaint(depth termenv.Profile) bool { return depth <= termenv.ANSI256 }

// inkEscape is the escape sequence that turns ink on, "" for plain. Without colours the attributes stay:
// they are what tells a selection then.
func (p *Paints) inkEscape(i themes.TextStyle) string {
	i = p.page.With(i)
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(p.depth)
	if p.depth == termenv.Ascii {
		i.FG, i.BG = "", ""
		r.SetColorProfile(termenv.ANSI)
	}
	on, _, _ := strings.Cut(i.ToLipgloss().Renderer(r).Render("x"), "x")
	return on
}

// TokenRoles is how each kind of token looks.
var TokenRoles = [...]Role{
	stream.Space: Plain, stream.ObjectOpen: PunctToken, stream.ObjectClose: PunctToken, stream.ArrayOpen: PunctToken,
	stream.ArrayClose: PunctToken, stream.Colon: PunctToken, stream.Comma: PunctToken, stream.Key: KeyToken,
	stream.String: StringToken, stream.Number: NumberToken, stream.True: LiteralToken, stream.False: LiteralToken,
	stream.Null: LiteralToken, stream.Junk: JunkToken,
}

// StatusRoles is the colour of each status; the glyph and the word say the same.
var StatusRoles = [stream.NumStatus]Role{
	stream.Waiting: Muted, stream.Streaming: Live, stream.LooksDone: Caution, stream.Complete: Good,
	stream.NoArguments: Good, stream.CutShort: Bad, stream.Malformed: Bad, stream.NotObject: Caution,
	stream.Aborted: Bad, stream.Rejected: Bad, stream.Unseen: Caution,
}

// CallRole is the colour of a call's status. That the client stopped it is not bad.
func CallRole(c *stream.Call) Role {
	if c.StoppedByClient() {
		return Muted
	}
	return StatusRoles[c.Status()]
}

// TurnLook is the status whose glyph a turn shares with calls, its colour and its word.
func TurnLook(t *stream.Turn) (stream.Status, Role, string) {
	st := turnStatus[t.Phase()]
	switch {
	case t.Closed() && t.Phase() == stream.TurnIsOpen:
		return stream.Unseen, StatusRoles[stream.Unseen], stream.Unseen.String()
	case st == stream.Aborted && t.EndedBy == stream.Client:
		return st, Muted, t.Phase().String()
	}
	return st, StatusRoles[st], t.Phase().String()
}

var SeverityRoles = [...]Role{stream.Info: Muted, stream.Warn: Caution, stream.Error: Bad}

// turnStatus is the glyph a turn shares with calls.
var turnStatus = [...]stream.Status{
	stream.TurnIsOpen: stream.Streaming, stream.TurnComplete: stream.Complete, stream.TurnTruncated: stream.CutShort,
	stream.TurnAborted: stream.Aborted, stream.TurnRejected: stream.Rejected,
}

// SideRoles is the colour of what the other side has; the sign says the same. That nothing changed
// proves nothing: it is never good.
var SideRoles = [NumSides]Role{Same: Muted, Alike: Plain, Differs: Caution, Absent: Caution, Nothing: Bad}

// VerdictRoles is the colour of whether a provider takes what is sent: only what is proven is good.
var VerdictRoles = [replay.NumVerdicts]Role{replay.Unproven: Muted, replay.Accepted: Good, replay.Refused: Bad}

// LossFindings is the severity of findings whose sign a loss has.
var LossFindings = [...]stream.Severity{
	replay.Info: stream.Info, replay.Low: stream.Info, replay.Medium: stream.Warn, replay.High: stream.Error, replay.Critical: stream.Error,
}

// LossRoles is the colour of each severity; its word says the same.
var LossRoles = [...]Role{replay.Info: Muted, replay.Low: Muted, replay.Medium: Caution, replay.High: Bad, replay.Critical: Bad}
