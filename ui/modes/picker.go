package modes

import (
	"slices"
	"strings"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/themes"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// ThemeActions are the actions of the theme picker.
type ThemeActions struct {
	Own   []themes.Theme // the user's own themes, which replace other themes with the same name
	Now   func() themes.Theme
	Apply func(themes.Theme)
	Pen   func(themes.Theme) screen.Pen               // the pen that draws a sample
	Save  func(name string) (where string, err error) // saves the theme for the next run; nil if themes can't be saved
}

// themePicker is the overlay that selects a theme. The selected theme is applied to the whole screen at once.
type themePicker struct {
	screen.Window
	host   Host
	looks  ThemeActions
	before themes.Theme
	names  []string // names that match the search text
	known  map[string]themeSample
	typed  *screen.Input // the search input
	looked string        // the search text that names match
	draw   display.Drawer
}

// Names returns the names of all themes, without duplicates.
func (l ThemeActions) Names() (names []string) {
	for _, t := range l.Own {
		names = append(names, t.Name)
	}
	for _, name := range themes.Names() {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// Named returns the theme with that name.
func (l ThemeActions) Named(name string, dark bool) themes.Theme {
	for _, t := range l.Own {
		if t.Name == name {
			return t
		}
	}
	t, _ := themes.Lookup(name, dark)
	return t
}

// themeSample is a theme and the pen that draws its sample.
type themeSample struct {
	theme themes.Theme
	pen   screen.Pen
}

// Themes returns the entry for the theme picker.
func Themes(looks ThemeActions, draw display.Drawer) Entry {
	return Entry{Binding: screen.Do("theme", nil), New: func(h Host) (Mode, display.Text) {
		t := &themePicker{host: h, looks: looks, before: looks.Now(), names: looks.Names(), known: map[string]themeSample{}, draw: draw}
		t.typed = screen.NewInput(display.Text{}, "", 60)
		t.Resize(len(t.names), len(t.names))
		t.MoveTo(max(0, slices.Index(t.names, t.before.Name)))
		return t, display.Text{}
	}}
}

// Typing returns the search input. Typed letters search for a theme by its name.
func (t *themePicker) Typing() *screen.Input { return t.typed }

// Keys returns the keys that try, keep and save a theme, and the key that restores the previous one.
func (t *themePicker) Keys() []screen.Binding {
	step := func(n int) func() { return func() { t.tryTheme(t.At + n) } }
	return []screen.Binding{
		screen.Key("up ctrl+p", "", "previous theme", step(-1)).Hinted("try").Show("up down"),
		screen.Key("down ctrl+n", "", "next theme", step(1)),
		screen.Key("pgup", "", "a page up", step(-max(1, t.Height-1))),
		screen.Key("pgdown", "", "a page down", step(max(1, t.Height-1))),
		screen.Key("enter", "keep", "keep it", t.host.Close),
		screen.Key("tab", "save", "save it as the default", t.save),
		screen.Key("esc", "cancel", "restore the previous theme", func() {
			t.looks.Apply(t.before)
			t.host.Close()
		}),
	}
}

// tryTheme applies the theme in a row.
func (t *themePicker) tryTheme(row int) {
	if len(t.names) == 0 {
		t.looks.Apply(t.before)
		return
	}
	t.MoveTo(row)
	t.looks.Apply(t.sampleOf(t.names[t.At]).theme)
}

// Click tries the theme at row y, and reports whether the cursor was already there.
func (t *themePicker) Click(_, y int) (again bool) {
	row := t.RowAt(y)
	if again = row == t.At; row >= 0 && !again {
		t.tryTheme(row)
	}
	return again
}

// save saves the theme for the next run.
func (t *themePicker) save() {
	switch {
	case t.At >= len(t.names):
		t.host.Say(display.Lit("no theme is selected"))
		return
	case t.looks.Save == nil:
		t.host.Say(display.Lit("this screen can't save themes"))
		return
	}
	name := t.names[t.At]
	t.host.Close()
	t.host.Do(func() func() {
		where, err := t.looks.Save(name)
		said := t.draw.Format("theme %s is saved: %s", name, where)
		if err != nil {
			said = t.draw.Format("not saved: %s", err)
		}
		return func() { t.host.Say(said) }
	})
}

// sampleOf returns the sample for the theme with that name. The theme is loaded when it is first visible.
func (t *themePicker) sampleOf(name string) themeSample {
	s, ok := t.known[name]
	if !ok {
		s.theme = t.looks.Named(name, t.before.Dark)
		s.pen = t.looks.Pen(s.theme)
		t.known[name] = s
	}
	return s
}

// Extend updates the matches. If the typed text has changed, it tries the first match.
func (t *themePicker) Extend(_ *providers.View, _, h int) {
	if t.typed.Value() != t.looked {
		t.looked = t.typed.Value()
		t.names = t.names[:0:0]
		for _, name := range t.looks.Names() {
			if strings.Contains(name, strings.ToLower(t.looked)) {
				t.names = append(t.names, name)
			}
		}
		t.tryTheme(0)
	}
	t.Fit(len(t.names), 1, t.WantedRows(h))
}

// maxThemes is the maximum number of visible themes.
const maxThemes = 8

// WantedRows returns the height of the overlay.
func (t *themePicker) WantedRows(h int) int { return min(1+maxThemes, max(h/2, 4)) }

// Draw draws row y.
func (t *themePicker) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	if y == 0 {
		at := p.Format("%d of %d", min(t.At+1, len(t.names)), len(t.names))
		if t.At < len(t.names) {
			at = display.Join(t.themeNotes(p, t.names[t.At]), display.Lit("  "), at)
		}
		DrawInputRow(p, display.Lit("Theme"), t.typed, at)
		return
	}
	if row := t.Top + y - 1; row < len(t.names) {
		t.drawTheme(p, t.names[row], row == t.At)
	}
}

// nameColumn is the width of a theme's name in cells. narrowNames is that width on a narrow screen.
const (
	nameColumn  = 20
	narrowNames = 15
)

// themeNotes returns notes about a theme that its row doesn't show.
func (t *themePicker) themeNotes(p *screen.Pen, name string) (about display.Text) {
	s := t.sampleOf(name)
	switch ink := s.pen.Ink; {
	case ink.Paints:
		about = display.Lit("own background")
	case ink.TooFew:
		about = display.Lit("background needs more colours")
	}
	gap := display.Text{}
	if !about.Empty() {
		gap = display.Lit("  ")
	}
	if n := s.theme.Replaced; n > 0 {
		about = display.Join(about, p.Format("%s%s replaced", gap, screen.Plural(n, "colour")))
	}
	return about
}

// drawTheme draws a theme's name, a sample in its colours, and its contrast.
func (t *themePicker) drawTheme(p *screen.Pen, name string, chosen bool) {
	s := t.sampleOf(name)
	g, mark := screen.Bare, display.Lit(" ")
	if chosen {
		g, mark = screen.Selected, p.Glyph.Mark
	}
	p.TextOn(screen.Accent, g, mark)
	column, ok, cut := nameColumn, display.Join(p.Glyph.Status[stream.Complete], display.Lit(" ok ")), display.Join(p.Glyph.Status[stream.CutShort], display.Lit(" cut "))
	if p.Left < 2*nameColumn+8 {
		column, ok, cut = narrowNames, display.Lit("ok "), display.Lit("cut ")
	}
	p.TextOn(screen.Plain, g, p.Pad(p.Truncate(p.Clean(name), column-1), column))
	ink := s.pen.Ink
	for _, of := range []struct {
		ink  themes.TextStyle
		text display.Text
	}{
		{s.theme.Good, ok}, {s.theme.Bad, cut}, {s.theme.String, display.Lit(`"str" `)},
		{s.theme.Number, display.Lit("42 ")}, {s.theme.Literal, display.Lit("true ")},
	} {
		p.Paint(ink.Of(of.ink), of.text)
	}
	p.TextOn(screen.Muted, screen.Bare, p.Format(" contrast %.1f", s.theme.Contrast()))
}

// protocolPicker is the overlay that selects the protocol for reading the selected turn's response. With the first
// row, toolscope detects the protocol from the bytes.
type protocolPicker struct {
	screen.Window
	host     Host
	exchange *providers.Exchange
	reread   func(exchange int, as *protocol.Protocol)
}

// Protocols returns the entry for the protocol picker. The function reread reads an exchange again as the
// given protocol. If as is nil, it detects the protocol.
func Protocols(reread func(exchange int, as *protocol.Protocol)) Entry {
	return Entry{screen.Do("dialect", nil), func(h Host) (Mode, display.Text) {
		t, _ := h.View().Find(h.Chosen())
		if t == nil {
			return nil, display.Lit("no response to choose a protocol for")
		}
		d := &protocolPicker{host: h, exchange: h.View().Exchange(t.Exchange), reread: reread}
		d.Resize(1+len(providers.All), 1+len(providers.All))
		for i := range providers.All {
			if d.exchange.Protocol != nil && providers.All[i].Name == d.exchange.Protocol.Name {
				d.MoveTo(i + 1)
			}
		}
		return d, display.Text{}
	}}
}

func (d *protocolPicker) Keys() []screen.Binding {
	return append([]screen.Binding{
		screen.Key("enter", "use it", "read it as this protocol", func() {
			var as *protocol.Protocol
			if d.At > 0 {
				as = &providers.All[d.At-1]
			}
			d.host.Close()
			d.reread(d.exchange.Number, as)
		}),
		screen.Key("esc q D", "close", "close", d.host.Close),
	}, d.CursorKeys("", d.MoveTo)...)
}

func (d *protocolPicker) Extend(_ *providers.View, _, h int) { d.Fit(d.Rows, 1, h) }

const protocolColumn = 22 // cells before a protocol's title

func (d *protocolPicker) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	if y == 0 {
		p.Text(screen.Accent, display.Lit(" Read the response as"))
		return
	}
	row := d.Top + y - 1
	if row >= d.Rows {
		return
	}
	g, mark := screen.Bare, display.Lit("  ")
	if row == d.At {
		g, mark = screen.Selected, p.Glyph.Mark.Between("", " ")
	}
	name, title := "auto", "detect it"
	if row > 0 {
		name, title = providers.All[row-1].Name, providers.All[row-1].Title
	}
	p.TextOn(screen.Accent, g, mark)
	p.TextOn(screen.Plain, g, p.Format("%-*s", protocolColumn, name))
	p.TextOn(screen.Muted, g, p.Clean(title))
	if d.exchange.Protocol != nil && name == d.exchange.Protocol.Name {
		p.TextOn(screen.Live, g, display.Lit("  now: "))
		p.Untrusted(screen.Live, g, d.exchange.Why)
	}
	p.Fill(g)
}
