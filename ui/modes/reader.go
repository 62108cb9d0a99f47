package modes

import (
	"toolscope/providers"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// Reader shows a text on a page of its own, with highlighting for its content type.
type Reader struct {
	panes.TextReader
	host  Host
	ink   func() *screen.Paints
	draw  display.Drawer
	title display.Text
}

// NewReader opens a text; ink returns the current paints.
func NewReader(h Host, of panes.Literal, ink func() *screen.Paints, draw display.Drawer) *Reader {
	return &Reader{panes.NewTextReader(of.Text, of.Hint), h, ink, draw, draw.Clean(of.Path)}
}

// Keys returns the keys that close and scroll it.
func (r *Reader) Keys() []screen.Binding {
	keys := []screen.Binding{{Keys: []string{"esc", "q"}, Hint: display.Lit("esc close"), Does: display.Lit("close"), Do: r.host.Close}}
	return append(keys, r.CursorKeys(display.Lit("j k scroll"), r.MoveTo)...)
}

// Extend lays out the text, and highlights it at first and when the theme changes.
func (r *Reader) Extend(_ *providers.View, w, h int) {
	r.Head = 1
	r.LayOut(w, max(1, h-1), r.draw)
	r.Colour(r.ink(), r.host.Do)
}

// Draw draws row y: the first is the title.
func (r *Reader) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	if y > 0 {
		r.TextReader.Draw(p, y-1, display.Text{}, screen.Plain)
		return
	}
	p.Text(screen.Muted, display.Lit(" OPENED  "))
	p.TextOn(screen.Accent, screen.Bare, r.title)
	p.Right(screen.Muted, screen.Bare, p.Format(" %s, %s ", r.Kind(), screen.Plural(r.Lines(), "line")))
}
