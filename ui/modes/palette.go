package modes

import (
	"cmp"
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

// Command is a verb after ":". An action that has a key can also be a verb.
type Command struct {
	Word    string       // the verb, without blanks
	Aliases string       // other names, separated by blanks
	Arg     display.Text // the placeholder for the argument; empty if there is no argument
	Alone   bool         // the command can also run without its argument
	Does    display.Text // the description in the palette
	Run     func(arg string)

	Choices func(typed string) []Choice // the possible arguments; nil if any argument is possible
	Spread  bool                        // the palette also finds each choice by its own name
	Show    func(arg string)            // shows the effect of an argument before it is chosen; nil if there is none
	Undo    func()                      // undoes the effect of Show
}

// Choice is a possible argument of a command.
type Choice struct {
	Arg   string
	Alias string // a name for the command with this argument; "" if there is none
	Does  display.Text
}

// paletteRow is a row in the palette: a command, with or without an argument; a key; or a bookmark.
type paletteRow struct {
	name, does display.Text
	isKey      bool     // does is the name of a key
	words      []string // the words that a query is matched against, in lower case
	cmd        *Command // nil for keys and bookmarks
	verb       string   // the typed command; "" for keys and bookmarks
	arg        string
	aliases    []string
	do         func()
}

func newArgRow(c *Command, arg string, does display.Text) paletteRow {
	line := strings.TrimRight(c.Word+" "+arg, " ")
	return paletteRow{name: display.Clean(line), does: does, words: wordsOf(line, does.String()), cmd: c, verb: c.Word, arg: arg, do: func() { c.Run(arg) }}
}

// lineText returns the line that the user would type to run the row, or "".
func (r *paletteRow) lineText() string { return strings.TrimRight(r.verb+" "+r.arg, " ") }

func (r *paletteRow) takesArg() bool { return r.cmd != nil && r.arg == "" && !r.cmd.Arg.Empty() }

// nameCells is the width for the cursor and the names in the palette.
const nameCells = 21

// drawRow draws the row: a command and its description, or an action and its key.
func (r *paletteRow) drawRow(p *screen.Pen, chosen bool) {
	g, mark := screen.Bare, display.Lit("  ")
	if chosen {
		g, mark = screen.Selected, p.Glyph.Mark.Between("", " ")
	}
	p.TextOn(screen.Accent, g, mark)
	if r.isKey {
		key := p.Truncate(r.does, p.Left/2)
		p.TextOn(screen.Plain, g, p.Pad(p.Truncate(r.name, p.Left-key.Width()-2), p.Left-key.Width()-1))
		p.TextOn(screen.Accent, g, key)
	} else {
		p.TextOn(screen.Plain, g, p.Pad(p.Truncate(r.name, nameCells-3), nameCells-2))
		p.TextOn(screen.Muted, g, r.does)
	}
	p.Fill(g)
}

func wordsOf(texts ...string) []string {
	return strings.Fields(strings.ToLower(strings.Join(texts, " ")))
}

// Ranks of a match, the best first. Letters are never matched across word boundaries.
const (
	rankExact    = 1 + iota // the verb, or one of its aliases
	rankBegins              // the verb begins with the text
	rankInitials            // the first letters of the verb and its argument
	rankWord                // every typed word begins a word of the row
	rankLetters             // like rankWord, but letters may be missing in between
	noMatch
)

// rankOf returns how well a lower-case query matches the row.
func (r *paletteRow) rankOf(query string) int {
	line := strings.ToLower(r.lineText())
	initials := ""
	for _, word := range strings.Fields(line) {
		initials += word[:1]
	}
	switch {
	case query == line && line != "" || slices.Contains(r.aliases, query):
		return rankExact
	case line != "" && strings.HasPrefix(line, query):
		return rankBegins
	case len(initials) > 1 && strings.HasPrefix(initials, query):
		return rankInitials
	}
	worst := rankWord
	for typed := range strings.FieldsSeq(query) {
		best := noMatch
		for _, word := range r.words {
			switch {
			case strings.HasPrefix(word, typed):
				best = rankWord
			case hasLetters(word, typed):
				best = min(best, rankLetters)
			}
		}
		worst = max(worst, best)
	}
	return worst
}

// hasLetters reports whether a word contains the given letters in order, and begins with the first of them.
func hasLetters(word, letters string) bool {
	if letters == "" || !strings.HasPrefix(word, letters[:1]) {
		return false
	}
	for _, letter := range letters {
		at := strings.IndexRune(word, letter)
		if at < 0 {
			return false
		}
		word = word[at+len(string(letter)):]
	}
	return true
}

// rankRows returns the rows that match a lower-case query. Among rows of equal rank, the most recently run row comes
// first. Without a query, it returns all rows except choices, at equal rank.
func (p *Palette) rankRows(query string) (shown []paletteRow) {
	type ranked struct {
		paletteRow
		rank, used int
	}
	var found []ranked
	for _, row := range p.all {
		if query == "" && row.arg != "" { // only the row of the verb itself is listed
			continue
		}
		r := ranked{row, rankExact, -1}
		if query != "" {
			r.rank = row.rankOf(query)
		}
		if row.verb != "" {
			r.used = p.does.History.lastUse(row.lineText(), !row.cmd.Spread)
		}
		if r.rank < noMatch {
			found = append(found, r)
		}
	}
	slices.SortStableFunc(found, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(b.used, a.used))
	})
	for _, r := range found {
		shown = append(shown, r.paletteRow)
	}
	return shown
}

// argumentRows returns the rows for a line that has a verb and an argument: first the choices that begin with
// the argument, and then those that contain it. If there are no such choices, it returns a row with the
// argument itself.
func (p *Palette) argumentRows(typed string) (rows []paletteRow) {
	verb, arg, more := strings.Cut(typed, " ")
	c := p.commandOf(strings.ToLower(verb))
	if arg = strings.TrimSpace(arg); !more || c == nil || c.Arg.Empty() {
		return nil
	}
	if c.Choices == nil {
		return []paletteRow{newArgRow(c, arg, c.Does)}
	}
	var others []paletteRow
	for _, choice := range c.Choices(arg) {
		at := strings.Index(strings.ToLower(choice.Arg), strings.ToLower(arg))
		switch {
		case at == 0:
			rows = append(rows, newArgRow(c, choice.Arg, choice.Does))
		case at > 0:
			others = append(others, newArgRow(c, choice.Arg, p.draw.Clean(arg).Between("contains ", "")))
		}
	}
	if rows = append(rows, others...); len(rows) == 0 {
		rows = []paletteRow{newArgRow(c, arg, c.Does)}
	}
	return rows
}

// commandOf returns the command for a typed verb: its name, an alias, or a prefix that only one command has. It
// returns nil if there is none.
func (p *Palette) commandOf(verb string) (found *Command) {
	begun := 0
	for i := range p.does.Commands {
		c := &p.does.Commands[i]
		if c.Word == verb || slices.Contains(strings.Fields(c.Aliases), verb) {
			return c
		}
		if verb != "" && strings.HasPrefix(c.Word, verb) {
			found = c
			begun++
		}
	}
	if begun != 1 {
		return nil
	}
	return found
}
