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

// Role is the kind of a text, which decides its style.
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

// Surface is the background of a text.
type Surface uint8

const (
	Bare     Surface = iota
	Selected         // the selection
	Linked           // the target of the selection
	Match            // a search match
	Growing          // the token that may still grow
	Removed          // written by the model, but not sent
	Added            // sent, but not written by the model
	NumGrounds
)

// Paints are the escape sequences of a theme at a colour depth. They are made once. The program sets colours
// and attributes only with them.
type Paints struct {
	on    [NumRoles][NumGrounds]string
	depth termenv.Profile
	page  themes.TextStyle // under all others, if the background is painted
	Theme themes.Theme

	Paints bool // every cell has the theme's background
	TooFew bool // the background should be painted, but the terminal has too few colours
}

const paintOff = "\x1b[0m"

// NewPaints returns the paints of a theme. With painted, every cell has the theme's background if the terminal
// has enough colours.
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
	if depth == termenv.Ascii { // without colours, attributes show the difference
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

// Escape returns the escape sequence of a style, "" for plain.
func (p *Paints) Escape(r Role, g Surface) string { return p.on[r][g] }

// A Paint is the escape sequence of one style, e.g. of highlighted code.
type Paint struct{ on string }

// Of returns the paint of a text style.
func (p *Paints) Of(i themes.TextStyle) Paint { return Paint{p.inkEscape(i)} }

// CanPaint reports whether there are enough colours to paint the background.
func CanPaint(depth termenv.Profile) bool { return depth <= termenv.ANSI256 }

// inkEscape returns the escape sequence of a text style, "" for plain. Without colours it keeps the
// attributes, because only they show a selection.
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

// TokenRoles is the role of each kind of token.
var TokenRoles = [...]Role{
	stream.Space: Plain, stream.ObjectOpen: PunctToken, stream.ObjectClose: PunctToken, stream.ArrayOpen: PunctToken,
	stream.ArrayClose: PunctToken, stream.Colon: PunctToken, stream.Comma: PunctToken, stream.Key: KeyToken,
	stream.String: StringToken, stream.Number: NumberToken, stream.True: LiteralToken, stream.False: LiteralToken,
	stream.Null: LiteralToken, stream.Junk: JunkToken,
}

// StatusRoles is the role of each status; the glyph and the word have the same meaning.
var StatusRoles = [stream.NumStatus]Role{
	stream.Waiting: Muted, stream.Streaming: Live, stream.LooksDone: Caution, stream.Complete: Good,
	stream.NoArguments: Good, stream.CutShort: Bad, stream.Malformed: Bad, stream.NotObject: Caution,
	stream.Aborted: Bad, stream.Rejected: Bad, stream.Unseen: Caution,
}

// CallRole returns the role of a call's status. A call that the client stopped is not bad.
func CallRole(c *stream.Call) Role {
	if c.StoppedByClient() {
		return Muted
	}
	return StatusRoles[c.Status()]
}

// TurnLook returns the status whose glyph a turn shares, its role and its word.
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

// SeverityRoles is the role of each finding severity.
var SeverityRoles = [...]Role{stream.Info: Muted, stream.Warn: Caution, stream.Error: Bad}

// turnStatus is the status whose glyph a turn phase shares.
var turnStatus = [...]stream.Status{
	stream.TurnIsOpen: stream.Streaming, stream.TurnComplete: stream.Complete, stream.TurnTruncated: stream.CutShort,
	stream.TurnAborted: stream.Aborted, stream.TurnRejected: stream.Rejected,
}

// SideRoles is the role of each side; the sign has the same meaning. Same is not Good, because a missing
// change proves nothing.
var SideRoles = [NumSides]Role{Same: Muted, Alike: Plain, Differs: Caution, Absent: Caution, Nothing: Bad}

// VerdictRoles is the role of each provider verdict: only proven acceptance is Good.
var VerdictRoles = [replay.NumVerdicts]Role{replay.Unproven: Muted, replay.Accepted: Good, replay.Refused: Bad}

// LossFindings maps loss severities to the finding severities whose sign they share.
var LossFindings = [...]stream.Severity{
	replay.Info: stream.Info, replay.Low: stream.Info, replay.Medium: stream.Warn, replay.High: stream.Error, replay.Critical: stream.Error,
}

// LossRoles is the role of each loss severity; the word has the same meaning.
var LossRoles = [...]Role{replay.Info: Muted, replay.Low: Muted, replay.Medium: Caution, replay.High: Bad, replay.Critical: Bad}
