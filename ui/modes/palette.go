package modes

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sahilm/fuzzy"

	"toolscope/providers"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Palette lists all commands and all keys of the current view. A query finds them by their descriptions.
type Palette struct {
	screen.Window
	host  Host
	does  PaletteActions
	line  *screen.Input
	all   []paletteRow
	shown []paletteRow
	query string // the query of shown
	draw  display.Drawer
	stale bool
}

// PaletteActions are the actions of the palette.
type PaletteActions struct {
	Keys      []screen.Binding
	Press     func(key string) // acts as if the key was pressed
	Commands  []Command
	Bookmarks []Bookmark
	Turn      func(number int) // goes to the turn of that number
}

// Bookmark is a named place to go to.
type Bookmark struct {
	Name, Where display.Text
	Go          func()
}

// paletteRow is a row of the palette.
type paletteRow struct {
	what, how display.Text
	find      string // the text that a query matches
	word      string // the command, or ""
	needsArg  bool   // the command takes an argument
	do        func(arg string)
}

// NewPalette returns a palette of actions, the most frequently used first.
func NewPalette(h Host, does PaletteActions, draw display.Drawer) *Palette {
	p := &Palette{host: h, does: does, draw: draw, line: screen.NewInput(display.Text{}, "", 400), stale: true}
	for _, b := range does.Keys {
		if b.Do == nil || b.Does.Empty() {
			continue
		}
		key := b.Keys[0]
		p.all = append(p.all, paletteRow{what: b.Does, how: b.Name(draw), find: b.Does.String(), do: func(string) { does.Press(key) }})
	}
	for _, m := range does.Bookmarks {
		p.all = append(p.all, paletteRow{what: m.Name, how: m.Where, find: m.Name.String() + " " + m.Where.String(), do: func(string) { m.Go() }})
	}
	for _, c := range does.Commands {
		how := display.Join(draw.Clean(":"+c.Word), c.Arg.Between(" ", ""))
		p.all = append(p.all, paletteRow{what: c.Does, how: how, find: c.Word + " " + c.Does.String(), word: c.Word, needsArg: !c.Arg.Empty(), do: c.Run})
	}
	return p
}

// Typing returns the input: a query or a command.
func (p *Palette) Typing() *screen.Input { return p.line }

// Keys returns the keys that select and run a row.
func (p *Palette) Keys() []screen.Binding {
	return []screen.Binding{
		screen.Key("enter", "run", "run the selection", p.runSelected),
		upDownHint(screen.Key("up ctrl+p", "", "up", func() { p.MoveTo(p.At - 1) }), "", p.draw),
		screen.Key("down ctrl+n", "", "down", func() { p.MoveTo(p.At + 1) }),
		screen.Key("tab", "", "complete the command", p.completeCommand),
		screen.Key("esc", "close", "close", p.host.Close),
	}
}

// upDownHint adds the hint for the up and down keys to the binding of up.
func upDownHint(up screen.Binding, word string, draw display.Drawer) screen.Binding {
	if word != "" {
		return up.Hinted(word).Show("up down")
	}
	return up.Hinted(screen.NameKeys([]string{"down"}, draw).String())
}

// runSelected closes the palette and runs the selected row. If a command needs an argument, it first
// completes the command in the input.
func (p *Palette) runSelected() {
	p.updateRows()
	if p.At >= len(p.shown) {
		p.host.Say(display.Lit("no matching command or key"))
		return
	}
	of := p.shown[p.At]
	_, arg, _ := strings.Cut(strings.TrimSpace(p.line.Value()), " ")
	if of.needsArg && !p.isWord(of) {
		p.completeCommand()
		return
	}
	p.host.Close()
	of.do(strings.TrimSpace(arg))
}

// completeCommand completes the selected command in the input.
func (p *Palette) completeCommand() {
	if p.At < len(p.shown) && p.shown[p.At].word != "" && !p.isWord(p.shown[p.At]) {
		p.line = screen.NewInput(display.Text{}, p.shown[p.At].word+" ", 400)
	}
}

// isWord reports whether the input begins with the command.
func (p *Palette) isWord(of paletteRow) bool {
	word, _, more := strings.Cut(strings.TrimLeft(p.line.Value(), " "), " ")
	return of.word == word && (more || !of.needsArg)
}

// Extend updates the matches.
func (p *Palette) Extend(_ *providers.View, _, h int) {
	p.updateRows()
	p.Fit(len(p.shown), 1, p.WantedRows(h))
}

func (p *Palette) updateRows() {
	typed := strings.TrimSpace(p.line.Value())
	if typed == p.query && !p.stale {
		return
	}
	p.query, p.stale = typed, false
	p.shown = p.matchRows(typed)
	p.MoveTo(0)
}

// matchRows returns the rows that match the input, the best first. A command also matches by its word, and
// a number matches the turn with that number.
func (p *Palette) matchRows(typed string) (shown []paletteRow) {
	if n, err := strconv.Atoi(typed); err == nil && n > 0 {
		return []paletteRow{{what: p.draw.Format("go to turn %s", screen.Count(n)), how: p.draw.Format(":%d", n), do: func(string) { p.does.Turn(n) }}}
	}
	if typed == "" {
		return p.all
	}
	word, _, more := strings.Cut(typed, " ")
	if i := slices.IndexFunc(p.all, func(o paletteRow) bool { return o.word == word }); i >= 0 && (more || word == typed) {
		shown = append(shown, p.all[i])
		if more { // it is the command's argument, unless it matches another description
			for _, o := range p.all {
				if strings.Contains(o.find, typed) && o.word != word {
					shown = append(shown, o)
				}
			}
			return shown
		}
	}
	finds := make([]string, len(p.all))
	for i, o := range p.all {
		finds[i] = o.find
	}
	for _, m := range fuzzy.Find(typed, finds) {
		if o := p.all[m.Index]; len(shown) == 0 || o.word == "" || o.word != shown[0].word {
			shown = append(shown, o)
		}
	}
	return shown
}

// maxOffers is the maximum number of visible rows.
const maxOffers = 12

// WantedRows returns the number of visible rows, at most half of the body.
func (p *Palette) WantedRows(h int) int {
	return min(1+len(p.all), 1+maxOffers, max(h/2, 5))
}

// Draw draws row y.
func (p *Palette) Draw(pen *screen.Pen, y int) {
	if y == 0 {
		DrawInputRow(pen, display.Lit(":"), p.line, pen.Format("%s of %s", screen.Count(len(p.shown)), screen.Count(len(p.all))))
		return
	}
	if row := p.Top + y - 1; row < len(p.shown) {
		DrawChoiceRow(pen, row == p.At, p.shown[row].what, p.shown[row].how)
	}
	pen.Fill(screen.Bare)
}
