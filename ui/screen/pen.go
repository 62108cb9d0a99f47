// Package screen provides the tools to draw the screen: the pen and its paints, the glyphs, the window over a list of
// rows, and the formats of numbers and times.
//
// Only the pen writes a frame. It writes a display.Text, or bytes that it sanitises.
package screen

import (
	"io"
	"strings"

	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"

	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/json"
	"toolscope/themes"
	"toolscope/ui/display"
)

// Pen writes one frame, field by field. A field has a fixed width. Text that doesn't fit is cut off. Fill fills the
// remaining cells.
type Pen struct {
	display.Drawer
	b     []byte
	Left  int // cells still free in the field
	Ink   *Paints
	Glyph *Glyphs
}

// NewPen returns a pen with the colours of a theme at a colour depth. The background is the terminal's or, if
// painted is set, the theme's.
func NewPen(t themes.Theme, depth termenv.Profile, draw display.Drawer, painted bool) Pen {
	p := Pen{Drawer: draw, Ink: NewPaints(t, depth, painted), Glyph: UnicodeGlyphs}
	if draw.ASCII {
		p.Glyph = ASCIIGlyphs
	}
	return p
}

// Field begins a field with the given number of cells.
func (p *Pen) Field(cells int) { p.Left = max(cells, 0) }

// TextOn writes text in the given role on the given surface.
func (p *Pen) TextOn(r Role, g Surface, t display.Text) {
	p.Paint(Paint{p.Ink.on[r][g]}, t)
}

// Paint writes text in the given paint.
func (p *Pen) Paint(as Paint, t display.Text) {
	t = p.Truncate(t, p.Left)
	if t.Empty() {
		return
	}
	p.b = append(p.b, as.on...)
	p.b = append(p.b, t.String()...)
	p.endPaint(as.on)
	p.Left -= t.Width()
}

// Text writes text on the surface Bare.
func (p *Pen) Text(r Role, t display.Text) { p.TextOn(r, Bare, t) }

func (p *Pen) endPaint(on string) {
	if on != "" {
		p.b = append(p.b, paintOff...)
	}
}

// MaxNameBytes is the maximum number of bytes of a name that are read for a row. A name can be as long as a
// response, but no window is that wide.
const MaxNameBytes = 1 << 10

// ShortName cuts a name at MaxNameBytes.
func ShortName(name string) string { return name[:min(len(name), MaxNameBytes)] }

// Name cuts and sanitises a name for a row.
func (p *Pen) Name(name string) display.Text { return p.Clean(ShortName(name)) }

// Untrusted sanitises captured text and writes it.
func (p *Pen) Untrusted(r Role, g Surface, s string) {
	if s != "" {
		p.TextOn(r, g, p.Name(s))
	}
}

// Bytes sanitises captured bytes and writes them. It cuts them off at the end of the field.
func (p *Pen) Bytes(r Role, g Surface, b []byte) {
	on := p.Ink.on[r][g]
	p.b = append(p.b, on...)
	for len(b) > 0 && p.Left > 0 {
		if n := min(display.PlainLen(b), p.Left); n > 0 {
			p.b = append(p.b, b[:n]...)
			p.Left -= n
			b = b[n:]
			continue
		}
		n, cells := p.Measure(b)
		if cells > p.Left {
			break
		}
		p.b = p.AppendClean(p.b, b[:n])
		p.Left -= cells
		b = b[n:]
	}
	p.endPaint(on)
}

// CutBytes writes captured bytes like Bytes. If it cuts them off, it ends them with an ellipsis. The bytes from
// offset wrong on have the role Bad.
func (p *Pen) CutBytes(r Role, g Surface, b []byte, wrong int) {
	n, short, cells := 0, 0, 0 // short is the end of the bytes that leave room for the ellipsis
	end := p.Truncate(display.Lit("...."), min(3, p.Left))
	if !p.ASCII {
		end = p.Truncate(display.Lit("...."), min(1, p.Left))
	}
	for n < len(b) {
		k := min(display.PlainLen(b[n:]), max(p.Left-end.Width()-cells, 0))
		w := k
		if k == 0 {
			k, w = p.Measure(b[n:])
		}
		if cells+w > p.Left {
			break
		}
		if n, cells = n+k, cells+w; cells <= p.Left-end.Width() {
			short = n
		}
	}
	if n == len(b) {
		short, end = n, display.Text{}
	}
	ground, at := g, max(0, min(wrong, short))
	if g == Bare && wrong < len(b) {
		ground = Growing
	}
	p.Bytes(r, g, b[:at])
	p.Bytes(Bad, ground, b[at:short])
	if wrong > short {
		p.TextOn(r, g, end)
		return
	}
	p.TextOn(Bad, g, end)
}

// Spaces writes up to n blank cells.
func (p *Pen) Spaces(g Surface, n int) {
	n = min(n, p.Left)
	if n <= 0 {
		return
	}
	if g == Growing {
		g = Bare
	}
	on := p.Ink.on[Plain][g]
	p.Left -= n
	p.b = append(p.b, on...)
	for ; n > len(blanks); n -= len(blanks) {
		p.b = append(p.b, blanks...)
	}
	p.b = append(p.b, blanks[:n]...)
	p.endPaint(on)
}

const blanks = "                                                                "

// Overlay draws a field in two layers: over draws its first cells, and under draws the other cells.
func (p *Pen) Overlay(cells int, over, under func()) {
	width, from := p.Left, len(p.b)
	rest := ""
	if cells < width {
		under()
		p.Fill(Bare)
		row := string(p.b[from:])
		for cut := cells; cut == cells || ansi.StringWidth(rest) > width-cells; cut++ {
			rest = ansi.TruncateLeft(row, cut, "")
		}
		p.b = p.b[:from]
	}
	p.Field(min(cells, width))
	over()
	p.Field(p.Left + max(0, width-cells-ansi.StringWidth(rest))) // half of a wide character may be dropped
	p.Fill(Bare)
	p.b = append(p.b, rest...)
	p.Field(0)
}

// Fill ends the field.
func (p *Pen) Fill(g Surface) { p.Spaces(g, p.Left) }

// Right writes t at the right end of the field, after spaces. It writes nothing if t doesn't fit.
func (p *Pen) Right(r Role, g Surface, t display.Text) {
	if w := t.Width(); w <= p.Left {
		p.Spaces(g, p.Left-w)
		p.TextOn(r, g, t)
	}
}

// Newline begins the next row in the frame.
func (p *Pen) Newline() { p.b = append(p.b, '\n') }

// Reset begins a new frame.
func (p *Pen) Reset() { p.b = p.b[:0] }

// Frame returns the frame written since Reset.
func (p *Pen) Frame() string { return string(p.b) }

// Caption draws a horizontal line with a title, and with the first note that fits.
func (p *Pen) Caption(r Role, title display.Text, notes ...display.Text) {
	p.Text(Frame, display.Join(p.Glyph.Line, p.Glyph.Line, display.Lit(" ")))
	p.TextOn(r, Bare, p.Truncate(title, p.Left-1))
	for _, note := range notes {
		if note.Width()+3 <= p.Left {
			p.TextOn(Muted, Bare, note.Between("  ", ""))
			break
		}
	}
	p.Spaces(Bare, 1)
	p.Text(Frame, display.Repeat(p.Glyph.Line, max(p.Left, 0)))
}

// HeavyTitle draws the first row of a drawer: a heavy line with a title and its subject. The note is on the
// right, if it fits.
func (p *Pen) HeavyTitle(title, about, note display.Text) {
	heavy := p.Glyph.Heavy
	p.Text(Accent, display.Join(heavy, heavy, title.Between(" ", "")))
	if !about.Empty() {
		p.Text(Plain, p.Truncate(about, max(0, p.Left-4)).Between("  ", ""))
	}
	p.Spaces(Bare, 1)
	if room := p.Left - note.Width() - 4; !note.Empty() && room >= 1 {
		p.Text(Accent, display.Repeat(heavy, room))
		p.Text(Muted, note.Between(" ", " "))
	}
	p.Text(Accent, display.Repeat(heavy, p.Left))
}

// Title draws the first row of a pane.
func (p *Pen) Title(title, note display.Text, focused bool) {
	r := Muted
	if focused {
		r = Accent
	}
	p.Text(r, title.Between(" ", ""))
	if !note.Empty() {
		p.Text(Muted, note.Between("  ", ""))
	}
	p.Fill(Bare)
}

// ElideMiddle removes the middle of text that is longer than MaxNameBytes.
func ElideMiddle(s string) string {
	if len(s) <= MaxNameBytes {
		return s
	}
	return s[:MaxNameBytes/2] + s[len(s)-MaxNameBytes/2:]
}

// ShortID shortens an id to the given number of cells. It keeps both ends of an ASCII id, because they matter most.
// For fewer than 8 cells, it returns an empty text.
func ShortID(id display.Text, cells int) display.Text {
	s, w := id.String(), id.Width()
	switch {
	case cells < 8 || w == 0:
		return display.Text{}
	case w <= cells:
		return id
	case w != len(s): // the id is not plain ASCII, so it is cut at the end
		return display.Drawer{}.Truncate(id, cells)
	}
	return display.Clean(s[:cells-6] + ".." + s[w-4:])
}

// Hints writes the hints that fit into the field: first the keys, then the word.
func (p *Pen) Hints(of []Binding) {
	cells := p.Left
	for at, b := range fittingHints(of, p.Drawer, cells) {
		keys, does := b.hintParts(p.Drawer)
		p.Spaces(Bare, at-(cells-p.Left))
		p.Text(Accent, keys)
		p.Text(Plain, does)
	}
}

// TrimEnd removes the line break at the end of a line, because the next row of the screen begins a new line
// anyway.
func TrimEnd(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		return line[:n-1]
	}
	return line
}

// Role is the meaning of a text. It determines the style.
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
	Frame // for thin lines, not for text
	NumRoles
)

// Surface is the background of a text.
type Surface uint8

const (
	Bare     Surface = iota
	Selected         // the selected row or token
	Linked           // what the selection refers to
	Match            // a search match
	Growing          // the token that may still grow
	Removed          // written by the model, but not sent
	Added            // sent, but not written by the model
	NumGrounds
)

// Paints are the escape sequences of a theme at a colour depth. They are made once. The program uses no other
// colours or attributes.
type Paints struct {
	on    [NumRoles][NumGrounds]string
	solid [NumRoles]Paint // full blocks: text colour and background are the same
	depth termenv.Profile
	page  themes.TextStyle // the page's style, below all other styles, if the background is painted
	Theme themes.Theme

	Paints bool // every cell has the theme's background
	TooFew bool // the background was requested, but the terminal has too few colours
}

const paintOff = "\x1b[0m"

// NewPaints returns the paints of a theme. If painted is true and the terminal has enough colours, every cell has the
// theme's background.
func NewPaints(t themes.Theme, depth termenv.Profile, painted bool) *Paints {
	p := &Paints{depth: depth, Theme: t}
	if p.Paints, p.TooFew = painted && CanPaint(depth), painted && !CanPaint(depth); p.Paints {
		p.page = t.Page
	}
	inks := [NumRoles]themes.TextStyle{
		Live: t.Live, Good: t.Good, Caution: t.Caution, Bad: t.Bad, Muted: t.Muted, Accent: t.Accent,
		KeyToken: t.Key, StringToken: t.String, EscapeToken: t.Escape, NumberToken: t.Number,
		LiteralToken: t.Literal, PunctToken: t.Punct, JunkToken: t.Junk, Tentative: t.Tentative, Frame: t.Frame,
	}
	grounds := [NumGrounds]themes.TextStyle{
		Selected: t.Selection, Linked: t.Linked, Match: {Reverse: true}, Growing: t.Open,
		Removed: {FG: t.Bad.FG, Bold: t.Bad.Bold, Underline: true},
		Added:   {FG: t.Good.FG, Bold: t.Good.Bold, Underline: true},
	}
	if depth == termenv.Ascii { // without colours, only attributes can show the difference
		bold, underline, reverse := themes.TextStyle{Bold: true}, themes.TextStyle{Underline: true}, themes.TextStyle{Reverse: true}
		inks = [NumRoles]themes.TextStyle{Bad: bold, Accent: bold, JunkToken: underline}
		grounds = [NumGrounds]themes.TextStyle{
			Selected: reverse, Linked: underline, Match: reverse, Growing: underline, Removed: reverse, Added: {Underline: true, Bold: true},
		}
	}
	for r, ink := range inks {
		for g, under := range grounds {
			p.on[r][g] = p.inkEscape(ink.With(under))
			if under.BG != "" && r != int(Frame) { // the theme's colours are only known to be legible on the page
				p.on[r][g] = p.inkEscape(p.page.With(ink.With(under)).Legible())
			}
		}
		p.solid[r] = Paint{p.inkEscape(themes.TextStyle{FG: ink.FG, BG: ink.FG})}
	}
	return p
}

// Escape returns the escape sequence of a style, or "" for plain text.
func (p *Paints) Escape(r Role, g Surface) string { return p.on[r][g] }

// A Paint is the escape sequence of one style, such as the style for highlighted code.
type Paint struct{ on string }

// Of returns the paint of a text style.
func (p *Paints) Of(i themes.TextStyle) Paint { return Paint{p.inkEscape(i)} }

// CanPaint reports whether the terminal has enough colours to paint the background.
func CanPaint(depth termenv.Profile) bool { return depth <= termenv.ANSI256 }

// inkEscape returns the escape sequence of a text style, or "" for plain text. If there are no colours, it
// keeps the attributes, because only these can show a selection.
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

// TokenRoles maps each kind of token to its role.
var TokenRoles = [...]Role{
	json.Space: Plain, json.ObjectOpen: PunctToken, json.ObjectClose: PunctToken, json.ArrayOpen: PunctToken,
	json.ArrayClose: PunctToken, json.Colon: PunctToken, json.Comma: PunctToken, json.Key: KeyToken,
	json.String: StringToken, json.Number: NumberToken, json.True: LiteralToken, json.False: LiteralToken,
	json.Null: LiteralToken, json.Junk: JunkToken,
}

// StatusRoles maps each status to its role. The glyph and the word have the same meaning as the role.
var StatusRoles = [stream.NumStatus]Role{
	stream.Waiting: Muted, stream.Streaming: Live, stream.LooksDone: Caution, stream.Complete: Good,
	stream.NoArguments: Good, stream.CutShort: Bad, stream.Malformed: Bad, stream.NotObject: Caution,
	stream.Aborted: Bad, stream.Rejected: Bad, stream.Unseen: Caution,
}

// CallRole returns the role of a call's status. A call that the client stopped is not shown as bad.
func CallRole(c *stream.Call) Role {
	if c.StoppedByClient() {
		return Muted
	}
	return StatusRoles[c.Status()]
}

// TurnLook returns the status whose glyph is used for a turn, and the turn's role and word.
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

// SeverityRoles maps each severity of a finding to its role.
var SeverityRoles = [...]Role{stream.Info: Muted, stream.Warn: Caution, stream.Error: Bad}

// turnStatus maps the phase of a turn to the status whose glyph is used.
var turnStatus = [...]stream.Status{
	stream.TurnIsOpen: stream.Streaming, stream.TurnComplete: stream.Complete, stream.TurnTruncated: stream.CutShort,
	stream.TurnAborted: stream.Aborted, stream.TurnRejected: stream.Rejected, stream.TurnRefused: stream.Rejected,
}

// SideRoles maps each side to its role. The glyph has the same meaning as the role. Same is not Good, because an
// unchanged call proves nothing.
var SideRoles = [NumSides]Role{Same: Muted, Alike: Plain, Differs: Caution, Absent: Caution, Nothing: Bad}

// VerdictRoles maps each provider verdict to its role. Only proven acceptance is Good.
var VerdictRoles = [replay.NumVerdicts]Role{replay.Unproven: Muted, replay.Accepted: Good, replay.Refused: Bad}

// LossRoles maps each severity of a loss to its role. The word has the same meaning as the role.
var LossRoles = [...]Role{replay.Info: Muted, replay.Low: Muted, replay.Medium: Caution, replay.High: Bad, replay.Critical: Bad}
