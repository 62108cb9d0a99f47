package modes

import (
	"slices"
	"strconv"
	"strings"

	"toolscope/providers"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// Palette is the prompt after ":". It lists verbs with their arguments, bookmarks, and all keys of the current
// view. For some arguments, the effect is shown while the argument is being typed.
type Palette struct {
	screen.Window
	host   Host
	does   PaletteActions
	line   *screen.Input
	all    []paletteRow
	shown  []paletteRow
	query  string // the query that the shown rows match
	past   int    // position in the history, counted from the latest line; 0 for the typed line
	draw   display.Drawer
	stale  bool
	body   int         // number of rows in the body
	effect *paletteRow // the row whose effect is shown, or nil
}

// PaletteActions are the actions of the palette.
type PaletteActions struct {
	Keys      []screen.Binding
	Press     func(key string) // does what pressing the key does
	Commands  []Command
	Bookmarks []Bookmark
	Turn      func(number int) // goes to the turn with that number
	History   *PromptHistory
}

// PromptHistory has the lines that were run in the palette, the latest last.
type PromptHistory struct{ lines []string }

// maxPromptLines is the maximum number of lines in the history.
const maxPromptLines = 100

func (h *PromptHistory) addLine(line string) {
	if n := len(h.lines); n > 0 && h.lines[n-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	h.lines = h.lines[max(0, len(h.lines)-maxPromptLines):]
}

// lastUse returns how recently a line was run: the greater the number, the more recent. It returns -1 if the
// line was never run. If withArg is set, the same line followed by an argument counts too.
func (h *PromptHistory) lastUse(line string, withArg bool) int {
	for i := len(h.lines) - 1; i >= 0; i-- {
		if h.lines[i] == line || withArg && strings.HasPrefix(h.lines[i], line+" ") {
			return i
		}
	}
	return -1
}

// Bookmark is a named position that the user can go to.
type Bookmark struct {
	Name, Where display.Text
	Go          func()
}

// NewPalette returns a palette of actions.
func NewPalette(h Host, does PaletteActions, draw display.Drawer) *Palette {
	if does.History == nil { // a list of bookmarks does not store lines
		does.History = new(PromptHistory)
	}
	p := &Palette{host: h, does: does, draw: draw, line: screen.NewInput(display.Text{}, "", 400), stale: true}
	for i := range does.Commands {
		c := &does.Commands[i]
		p.all = append(p.all, paletteRow{
			name: display.Join(display.Clean(c.Word).Between("", " "), c.Arg), does: c.Does, words: wordsOf(c.Word, c.Does.String()),
			cmd: c, verb: c.Word, aliases: strings.Fields(c.Aliases), do: func() { c.Run("") },
		})
	}
	for i := range does.Commands {
		if c := &does.Commands[i]; c.Spread {
			for _, choice := range c.Choices("") {
				row := newArgRow(c, choice.Arg, choice.Does)
				row.aliases = strings.Fields(choice.Alias)
				p.all = append(p.all, row)
			}
		}
	}
	for _, m := range does.Bookmarks {
		p.all = append(p.all, paletteRow{name: m.Name, does: m.Where, words: wordsOf(m.Name.String(), m.Where.String()), do: m.Go})
	}
	for _, b := range does.Keys {
		if b.Do == nil || b.Does.Empty() {
			continue
		}
		key := b.Keys[0]
		p.all = append(p.all, paletteRow{name: b.Does, does: b.Name(draw), isKey: true, words: wordsOf(b.Does.String()), do: func() { does.Press(key) }})
	}
	return p
}

// Typing returns the input.
func (p *Palette) Typing() *screen.Input { return p.line }

// Keys returns the keys that select, complete and run a row, and the key that closes the palette.
func (p *Palette) Keys() []screen.Binding {
	return []screen.Binding{
		screen.Key("enter", "run", "run the selection", p.runSelected),
		screen.Key("tab", "complete", "complete the line", p.completeLine),
		screen.Key("up ctrl+p", "history", "up; previous line", func() { p.moveOrRecall(-1) }).Show("up"),
		screen.Key("down ctrl+n", "", "down; next line", func() { p.moveOrRecall(1) }),
		screen.Key("esc", "close", "close", func() { p.undoEffect(); p.host.Close() }),
	}
}

// moveOrRecall moves the cursor. On the first row, the up key recalls the previous line, and the down key then goes
// back to later lines.
func (p *Palette) moveOrRecall(by int) {
	lines := p.does.History.lines
	back := p.past - by
	if p.At > 0 || p.past == 0 && by > 0 || back > len(lines) {
		p.MoveTo(p.At + by)
		return
	}
	text := ""
	if p.past = back; back > 0 {
		text = lines[len(lines)-back]
	}
	p.line = screen.NewInput(display.Text{}, text, 400)
}

// runSelected closes the palette and runs the selected row. If a command still needs an argument, it only
// completes the command in the input.
func (p *Palette) runSelected() {
	p.updateRows()
	if p.At >= len(p.shown) {
		p.host.Say(display.Lit("no matching command or key"))
		return
	}
	row := p.shown[p.At]
	if row.takesArg() && !row.cmd.Alone && !strings.HasPrefix(p.line.Value(), row.verb+" ") {
		p.completeLine()
		return
	}
	if p.effect != nil && p.effect.lineText() != row.lineText() {
		p.undoEffect()
	}
	if line := row.lineText(); line != "" {
		p.does.History.addLine(line)
	}
	p.host.Close()
	row.do()
}

// completeLine completes the selected command in the input.
func (p *Palette) completeLine() {
	if p.At >= len(p.shown) || p.shown[p.At].verb == "" {
		return
	}
	text := p.shown[p.At].lineText()
	if p.shown[p.At].takesArg() {
		text += " "
	}
	p.line = screen.NewInput(display.Text{}, text, 400)
}

// Extend updates the matches, and shows the effect of the selected row.
func (p *Palette) Extend(_ *providers.View, _, h int) {
	p.body = h
	p.updateRows()
	p.Fit(len(p.shown), 1, max(2, p.WantedRows(h)-p.footRows(h)))
	var row *paletteRow
	if p.At < len(p.shown) {
		row = &p.shown[p.At]
	}
	_, typed, _ := strings.Cut(p.query, " ")
	shows := row != nil && row.cmd != nil && row.cmd.Show != nil && row.arg != "" && (typed != "" || p.At > 0)
	switch {
	case p.effect != nil && (!shows || p.effect.cmd != row.cmd):
		p.undoEffect()
	case p.effect != nil && p.effect.arg == row.arg:
		return
	}
	if shows {
		effect := *row
		p.effect = &effect
		row.cmd.Show(row.arg)
	}
}

// undoEffect undoes the effect that is shown.
func (p *Palette) undoEffect() {
	if p.effect != nil {
		p.effect.cmd.Undo()
		p.effect = nil
	}
}

func (p *Palette) updateRows() {
	typed := strings.TrimLeft(p.line.Value(), " ")
	if typed == p.query && !p.stale {
		return
	}
	p.query, p.stale = typed, false
	if n, err := strconv.Atoi(strings.TrimSpace(typed)); err == nil && n > 0 {
		p.shown = []paletteRow{{name: p.draw.Format("go to turn %s", screen.Count(n)), does: p.draw.Format(":%d", n), do: func() { p.does.Turn(n) }}}
	} else {
		p.shown = p.argumentRows(typed)
		for _, row := range p.rankRows(strings.ToLower(strings.TrimSpace(typed))) { // the best match first
			isListed := func(other paletteRow) bool { return other.verb != "" && other.lineText() == row.lineText() }
			if !slices.ContainsFunc(p.shown, isListed) {
				p.shown = append(p.shown, row)
			}
		}
	}
	p.MoveTo(0)
}

// maxOffers is the maximum number of visible rows.
const maxOffers = 12

// WantedRows returns the number of rows, which is at most half of the body, or 5 if that is more.
func (p *Palette) WantedRows(h int) int {
	return min(1+len(p.all)+p.footRows(h), 1+maxOffers, max(h/2, 5))
}

// footRows returns the number of rows below the list, which show other verbs and the rules for matching.
func (p *Palette) footRows(h int) int {
	switch rows := max(h/2, 5); {
	case rows < 7:
		return 0
	case rows < 10:
		return 1
	}
	return 3
}

// Draw draws row y.
func (p *Palette) Draw(pen *screen.Pen, y int) {
	defer pen.Fill(screen.Bare)
	foot := p.WantedRows(p.body) - p.footRows(p.body)
	switch {
	case y == 0:
		DrawInputRow(pen, display.Lit(":"), p.line, pen.Format("%s of %s", screen.Count(len(p.shown)), screen.Count(len(p.all))))
	case y == foot:
		p.drawOtherVerbs(pen)
	case y == foot+2:
		pen.Text(screen.Muted, pen.Truncate(display.Lit("  finds commands by first letters, initials or words"), pen.Left))
	case y < foot:
		if row := p.Top + y - 1; row < len(p.shown) {
			p.shown[row].drawRow(pen, row == p.At)
		}
	}
}

// drawOtherVerbs draws the names of verbs that are not listed, as many as fit.
func (p *Palette) drawOtherVerbs(pen *screen.Pen) {
	text := display.Lit("  also: ")
	for i := range p.does.Commands {
		c := &p.does.Commands[i]
		listed := false
		for _, row := range p.shown[:min(len(p.shown), maxOffers)] {
			listed = listed || row.cmd == c
		}
		if more := display.Join(text, pen.Clean(c.Word).Between(" :", " ")); !listed && more.Width() <= pen.Left {
			text = more
		}
	}
	pen.Text(screen.Muted, text)
}
