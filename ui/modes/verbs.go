package modes

import (
	"cmp"
	"slices"
	"strings"

	"toolscope/ui/display"
	"toolscope/ui/screen"
)

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
