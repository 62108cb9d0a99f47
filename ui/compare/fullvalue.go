package compare

import (
	"toolscope/providers"
	"toolscope/stream"
	"toolscope/ui/diff"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// valueView shows a value in full: the base's value, with the other column's value next to it or below it.
// Differences are marked. Both values scroll together.
type valueView struct {
	screen.Window
	title     display.Text
	of        [2]stream.Ref // calls
	fieldPath string        // JSON pointer of the field; "" for all arguments
	sheets    [2]*panes.TextSheet
	sizes     [2]int
	names     [2]display.Text
	group     int  // index of the group, for a view below the table
	stacked   bool // one value is below the other at any width
	made      valueViewState
	busy      bool
}

// valueViewState is the state of the data that the sheets were made from.
type valueViewState struct {
	w     int
	sizes [2]int
}

// besideFrom is the minimum width at which the two values are side by side.
const besideFrom = 72

// openFull shows the value at the cursor in full. On the line above the equal rows, it shows or hides those rows. On a
// row that belongs to no call, it goes to the selected turn.
func (c *comparison) openFull() {
	if c.At < len(c.rows) && c.rows[c.At].kind == edgeLine {
		if c.fold = hidden; c.folded {
			c.fold = shown
		}
		return
	}
	g := c.groupAt(c.At)
	if g == nil {
		c.goToSelected()
		return
	}
	other := c.otherColumn()
	f := &valueView{of: [2]stream.Ref{g.calls[c.base], g.calls[other]}}
	f.names = [2]display.Text{c.draw.Clean(c.columns[c.base].name), c.draw.Clean(c.columns[other].name)}
	f.title = c.draw.Clean(screen.ShortName(g.callName(c.host.View())))
	if l := c.rows[c.At]; l.kind == fieldLine {
		f.fieldPath = g.rows[l.row].Path
		f.title = display.Join(f.title, display.Lit(" "), c.draw.Clean(screen.ElideMiddle(f.fieldPath)))
	}
	c.full = f
}

// argsPart is the visible part of a call's arguments, with the spans that differ.
type argsPart struct {
	text  []byte
	marks []panes.Span
}

// extend lays out the values. If they are large, it does so in another goroutine.
func (f *valueView) extend(c *comparison, v *providers.View, w, h int) {
	now := valueViewState{w: w}
	args := [2]*diff.Args{}
	for i, r := range f.of {
		if _, call := v.Find(r); call != nil {
			args[i] = diff.ArgsOf(call).Snapshot()
			now.sizes[i] = len(args[i].Text)
		}
	}
	if now != f.made && !f.busy {
		width, draw := max(1, w-1), c.draw
		if f.isSideBySide(w) {
			width = max(1, (w-1)/2-1)
		}
		lay := func() (sheets [2]*panes.TextSheet, sizes [2]int) {
			for i, one := range argsParts(args, f.fieldPath) {
				sheets[i], sizes[i] = new(panes.TextSheet), len(one.text)
				sheets[i].Add(panes.NewBlock(display.Text{}, one.text, false, one.marks, width, draw))
			}
			return sheets, sizes
		}
		f.made = now
		if now.sizes[0]+now.sizes[1] < modes.MaxSyncBytes {
			f.sheets, f.sizes = lay()
		} else {
			f.busy = true
			c.host.Do(func() func() {
				sheets, sizes := lay()
				return func() { f.sheets, f.sizes, f.busy = sheets, sizes, false }
			})
		}
	}
	f.Rows, f.Height = f.rowsOf(w), max(1, h-2)
	if !f.isSideBySide(w) {
		f.Height = max(1, h-1)
	}
	f.Scroll(f.Top)
}

// argsParts returns a field in two calls, with the spans that differ.
func argsParts(args [2]*diff.Args, member string) (both [2]argsPart) {
	spans, marks := diff.DifferingSpans(args, member)
	for i := range both {
		if args[i] == nil {
			continue
		}
		from, to := spans[i][0], spans[i][1]
		both[i].text = args[i].Text[from:to]
		for _, m := range marks[i] {
			both[i].marks = append(both[i].marks, panes.Span{Start: m[0] - from, End: m[1] - from})
		}
	}
	return both
}

func (f *valueView) isSideBySide(w int) bool { return w >= besideFrom && !f.stacked }

func (f *valueView) rowsOf(w int) int {
	if f.sheets[0] == nil {
		return 0
	}
	if f.isSideBySide(w) {
		return max(f.sheets[0].Rows, f.sheets[1].Rows)
	}
	return f.sheets[0].Rows + f.sheets[1].Rows + 2
}

func (f *valueView) draw(c *comparison, p *screen.Pen, y int) {
	if y == 0 {
		p.Text(screen.Accent, f.title.Between(" ", ""))
		if f.Rows > f.Height {
			p.Right(screen.Muted, screen.Bare, p.Format("%d%s%d of %d ", f.Top+1, p.Glyph.Dash, min(f.Rows, f.Top+f.Height), f.Rows))
		}
		return
	}
	if y > 1 || !f.isSideBySide(c.w) {
		y += f.Top
	}
	f.drawText(c, p, y-1)
}

// drawText draws row n of the captions and the values.
func (f *valueView) drawText(c *comparison, p *screen.Pen, n int) {
	if !f.isSideBySide(c.w) {
		first := 1
		if f.sheets[0] != nil {
			first += f.sheets[0].Rows
		}
		switch {
		case n == 0:
			f.drawCaption(p, 0)
		case n < first:
			f.drawRow(p, 0, n-1)
		case n == first:
			f.drawCaption(p, 1)
		default:
			f.drawRow(p, 1, n-first-1)
		}
		return
	}
	half := (c.w - 1) / 2
	for i, width := range []int{half, c.w - 1 - half} {
		if i > 0 {
			p.Field(1)
			rule := p.Glyph.Rule
			if n == 0 {
				rule = p.Glyph.Tee
			}
			p.Text(screen.Muted, rule)
		}
		p.Field(width)
		if n == 0 {
			f.drawCaption(p, i)
			continue
		}
		f.drawRow(p, i, n-1)
		p.Fill(screen.Bare)
	}
}

func (f *valueView) drawCaption(p *screen.Pen, i int) {
	size := display.Lit("no such call")
	if f.of[i].Call != 0 {
		size = screen.Bytes(f.sizes[i])
	}
	p.Caption(screen.Accent, f.names[i], size)
}

func (f *valueView) drawRow(p *screen.Pen, i, n int) {
	ground := screen.Removed
	if i == 1 {
		ground = screen.Added
	}
	if s := f.sheets[i]; s != nil && n < s.Rows {
		p.Spaces(screen.Bare, 1)
		s.Draw(p, n, ground)
	}
}
