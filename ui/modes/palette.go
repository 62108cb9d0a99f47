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

// Palette is every command and every key of the place that one is in, found by what they do.
type Palette struct {
	screen.Window
	host     Host
	does     Doing
	line     *screen.Input
	all      []offer
	shown    []offer
	looked   string // what shown was found with
	draw     display.Drawer
	unlooked bool
}

// Doing is what can be done, and how.
type Doing struct {
	Keys     []screen.Binding
	Press    func(key string) // as if it was typed
	Commands []Command
	Marks    []Mark
	Turn     func(number int) // a number is that turn
}

// Mark is a place with a name, to go to.
type Mark struct {
	Name, Where display.Text
	Go          func()
}

// offer is a row of the palette.
type offer struct {
	what, how display.Text
	find      string // that it is found by
	word      string // of a command, else ""
	wants     bool   // something behind the word
	do        func(arg string)
}

// NewPalette offers what can be done, most often used first.
func NewPalette(h Host, does Doing, draw display.Drawer) *Palette {
	p := &Palette{host: h, does: does, draw: draw, line: screen.NewInput(display.Text{}, "", 400), unlooked: true}
	for _, b := range does.Keys {
		if b.Do == nil || b.Does.Empty() {
			continue
		}
		key := b.Keys[0]
		p.all = append(p.all, offer{what: b.Does, how: b.Name(draw), find: b.Does.String(), do: func(string) { does.Press(key) }})
	}
	for _, m := range does.Marks {
		p.all = append(p.all, offer{what: m.Name, how: m.Where, find: m.Name.String() + " " + m.Where.String(), do: func(string) { m.Go() }})
	}
	for _, c := range does.Commands {
		how := display.Join(draw.Clean(":"+c.Word), c.Arg.Between(" ", ""))
		p.all = append(p.all, offer{what: c.Does, how: how, find: c.Word + " " + c.Does.String(), word: c.Word, wants: !c.Arg.Empty(), do: c.Run})
	}
	return p
}

// Typing is what is looked for, or a command.
func (p *Palette) Typing() *screen.Input { return p.line }

// Keys are those that choose.
func (p *Palette) Keys() []screen.Binding {
	return []screen.Binding{
		{Keys: []string{"enter"}, Hint: display.Lit("enter do it"), Does: display.Lit("do it"), Do: p.do},
		{Keys: []string{"up", "ctrl+p"}, Hint: upDown(p.draw), Does: display.Lit("up"), Do: func() { p.MoveTo(p.At - 1) }},
		{Keys: []string{"down", "ctrl+n"}, Does: display.Lit("down"), Do: func() { p.MoveTo(p.At + 1) }},
		{Keys: []string{"tab"}, Does: display.Lit("complete the command"), Do: p.complete},
		{Keys: []string{"esc"}, Hint: display.Lit("esc close"), Does: display.Lit("close"), Do: p.host.Close},
	}
}

// upDown is the hint at the keys that choose.
func upDown(draw display.Drawer) display.Text {
	return display.Join(screen.Binding{Keys: []string{"up"}}.Name(draw), display.Lit(" "), screen.Binding{Keys: []string{"down"}}.Name(draw))
}

// do closes the palette and does what is chosen. A command that wants something is written first.
func (p *Palette) do() {
	p.look()
	if p.At >= len(p.shown) {
		p.host.Say(display.Lit("no such command or key"))
		return
	}
	of := p.shown[p.At]
	_, arg, _ := strings.Cut(strings.TrimSpace(p.line.Value()), " ")
	if of.wants && !p.isWord(of) {
		p.complete()
		return
	}
	p.host.Close()
	of.do(strings.TrimSpace(arg))
}

// complete writes the chosen command's word.
func (p *Palette) complete() {
	if p.At < len(p.shown) && p.shown[p.At].word != "" && !p.isWord(p.shown[p.At]) {
		p.line = screen.NewInput(display.Text{}, p.shown[p.At].word+" ", 400)
	}
}

// isWord reports whether what is typed begins with the word of a command.
func (p *Palette) isWord(of offer) bool {
	word, _, more := strings.Cut(strings.TrimLeft(p.line.Value(), " "), " ")
	return of.word == word && (more || !of.wants)
}

// Extend looks for what is typed.
func (p *Palette) Extend(_ *providers.View, _, h int) {
	p.look()
	p.Fit(len(p.shown), 1, p.Takes(h))
}

func (p *Palette) look() {
	typed := strings.TrimSpace(p.line.Value())
	if typed == p.looked && !p.unlooked {
		return
	}
	p.looked, p.unlooked = typed, false
	p.shown = p.found(typed)
	p.MoveTo(0)
}

// found are the offers that fit what is typed, the best first: a command by its word alone, and a
// number as that turn.
func (p *Palette) found(typed string) (shown []offer) {
	if n, err := strconv.Atoi(typed); err == nil && n > 0 {
		return []offer{{what: p.draw.Format("go to turn %s", screen.Count(n)), how: p.draw.Format(":%d", n), do: func(string) { p.does.Turn(n) }}}
	}
	if typed == "" {
		return p.all
	}
	word, _, more := strings.Cut(typed, " ")
	if i := slices.IndexFunc(p.all, func(o offer) bool { return o.word == word }); i >= 0 && (more || word == typed) {
		shown = append(shown, p.all[i])
		if more { // it is what the command takes, unless it is what something else does
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

// mostOffers is how many are seen at once.
const mostOffers = 12

// Takes is as many rows as there are to see, up to half of the body.
func (p *Palette) Takes(h int) int {
	return min(1+len(p.all), 1+mostOffers, max(h/2, 5))
}

// Draw writes row y of it.
func (p *Palette) Draw(pen *screen.Pen, y int) {
	if y == 0 {
		AskRow(pen, display.Lit(":"), p.line, pen.Format("%s of %s", screen.Count(len(p.shown)), screen.Count(len(p.all))))
		return
	}
	if row := p.Top + y - 1; row < len(p.shown) {
		ChoiceRow(pen, row == p.At, p.shown[row].what, p.shown[row].how)
	}
	pen.Fill(screen.Bare)
}
