package ui

import (
	"math/bits"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// largePage shows the selected call to an audience in a room: the verdict and the byte in block letters, a
// sentence, the cause, and a bar for the bytes.
type largePage struct {
	lines []largeLine
	left  int // blank cells before each line
	width int
	top   int // blank rows above the first line
}

// largeLine is a row of the page.
type largeLine struct {
	role        screen.Role
	text, right display.Text
	block       string // drawn in block letters instead of text
	scale, row  int    // for the block letters: their scale, and the row of the letters
	bar         []barPart
}

// barPart is a part of the bar, in cells.
type barPart struct {
	role  screen.Role
	cells int
}

// isLargePageShown reports whether block letters are drawn instead of the panes. They are drawn in the large layout
// if a call is selected, until the user opens the call's document, a tab or the list.
func (fd *frameDrawer) isLargePageShown() bool {
	return fd.m.large && !fd.m.zoom && fd.m.focus == fd.m.doc && len(fd.m.modeStack.all) == 0 && fd.m.selectedCall() != nil &&
		!fd.m.tour.isTourOpening() && !fd.m.setup.isWaitingForClients() && fd.m.search.query == ""
}

// largePage returns the page, or nil if the panes are shown.
func (fd *frameDrawer) largePage() *largePage {
	m := fd.m
	if !m.frame.isLargePageShown() {
		return nil
	}
	of := m.frame.newLargeCall()
	rows := 1 + m.bodyHeight()
	scale := 0
	for s := 3; s > 0; s-- {
		if m.w >= minBlockWidth && m.h >= minBlockHeight && (s == 1 || screen.BlockRows(s) <= m.h/4) && of.fitsInto(s, m.w) {
			scale = s
			break
		}
	}
	pg := &largePage{}
	for _, line := range of.verdictLines(scale, m.w) {
		pg.width = max(pg.width, screen.BlockWidth(line, scale))
	}
	pg.width = max(pg.width, min(m.w-2*largeMargin, largeTextWidth))
	pg.left = (m.w - pg.width) / 2
	for _, less := range []largeDetail{{3, scale, max(1, scale-1), true}, {1, scale, max(1, scale-1), true}, {1, scale, max(1, scale-1), false}, {1, scale, 0, false}, {1, 0, 0, false}, {0, 0, 0, false}} {
		if scale == 0 {
			less.verdict, less.place = 0, 0
		}
		pg.lines = of.pageLines(&m.pen, less, pg.width, m.w, m.h >= minThirdBlock)
		if len(pg.lines) <= rows {
			break
		}
	}
	pg.lines = pg.lines[:min(len(pg.lines), rows)]
	pg.top = max(0, (rows-1-len(pg.lines))/2)
	return pg
}

// largeDetail says how much the page shows: the number of rows in the bar, the scales for the verdict and the
// byte (0 for plain text), and whether blank rows separate the parts.
type largeDetail struct {
	bar, verdict, place int
	blanks              bool
}

// Sizes of the large page: the smallest screen with block letters, the minimum height at which the cause is
// in block letters, the margin on each side, and the width of the text below short words.
const (
	minBlockWidth  = 60
	minBlockHeight = 18
	minThirdBlock  = 45
	largeMargin    = 3
	largeTextWidth = 68
)

// draw draws row y of the screen.
func (pg *largePage) draw(p *screen.Pen, y int) {
	if y -= pg.top; y < 0 || y >= len(pg.lines) {
		return
	}
	line := pg.lines[y]
	p.Spaces(screen.Bare, pg.left)
	if line.block != "" {
		p.Blocks(line.role, line.block, line.scale, line.row)
		return
	}
	for _, part := range line.bar {
		p.Block(part.role, true, true, part.cells)
	}
	if line.text.Empty() {
		return
	}
	p.Left -= pg.left
	g := screen.Bare
	p.TextOn(line.role, g, p.Truncate(line.text, p.Left))
	if !line.right.Empty() && line.right.Width()+2 <= p.Left {
		p.Right(screen.Muted, g, line.right)
	}
	p.Left += pg.left
}

// largeCall has the facts that the page shows about a call.
type largeCall struct {
	name, model     display.Text
	verdict, place  string
	role            screen.Role
	sentence, cause display.Text
	party           string // the party at fault, for the third line of block letters; "" if there is none or it is unknown
	valid, all, end int    // number of valid bytes, of bytes that arrived, and of bytes that fit in the bar
	unusable        display.Text
}

// newLargeCall returns the facts about the selected call.
func (fd *frameDrawer) newLargeCall() (of largeCall) {
	t, c := fd.m.selectedTurn(), fd.m.selectedCall()
	v := present.VerdictOfCall(c)
	of = largeCall{
		name: fd.m.pen.Name(present.CallName(c.Name)), model: fd.m.pen.Name(present.ShortModel(t.Model)), verdict: v.Words, role: v.Role,
		place: screen.Bytes(c.ArgsLen()).String(), valid: c.ArgsLen(), all: c.ArgsLen(), end: c.ArgsLen(),
	}
	switch {
	case v.Harm == present.Healthy:
		of.verdict, of.role = c.Status().String(), screen.Good
		return of
	case v.Harm == present.HarmOpen && v.Finding == nil:
		of.end = max(minBarBytes, 1<<bits.Len(uint(c.ArgsLen())))
		tail := fd.m.draw.CleanBytes(c.Args()[max(0, len(c.Args())-4*maxLargeSentence):])
		of.sentence = display.Skip(tail, tail.Width()-maxLargeSentence)
		return of
	}
	f := v.Finding
	if f == nil {
		f = explainingFinding(c, t)
	}
	if f == nil {
		return of
	}
	if f.Offset >= 0 {
		of.place = "byte " + screen.Count(f.Offset).String()
	}
	of.sentence = fd.largeSentence(f)
	of.party = f.CausedBy()
	of.cause = fd.m.draw.Clean(of.party).Between("caused by the ", "")
	if f.By == stream.UnknownParty {
		of.party, of.cause = "", display.Lit("cause unknown")
	}
	if advice := fd.largeAdvice(f.Advice, largeTextWidth-of.cause.Width()-3); !advice.Empty() {
		of.cause = display.Join(of.cause, fd.m.pen.Glyph.Dot.Between(" ", " "), advice)
	}
	switch c.Status() {
	case stream.Malformed:
		of.valid = min(max(f.Offset, 0), c.ArgsLen())
		of.unusable = fd.m.draw.Format("%s unusable", screen.Plural(of.all-of.valid, "byte"))
	case stream.CutShort, stream.Aborted:
		of.end = of.all + max(1, of.all/missingPart)
		of.unusable = display.Lit("never arrived")
	}
	return of
}

// minBarBytes is the minimum number of bytes that fit in the bar of an open call. The bar has room for
// 1/missingPart more bytes if some never arrived.
const (
	minBarBytes = 256
	missingPart = 7
)

// explainingFinding returns the worst of the call's findings that explain a state. If there is none, it returns the
// worst of the turn's.
func explainingFinding(c *stream.Call, t *stream.Turn) (worst *stream.Finding) {
	for _, list := range [][]stream.Finding{c.Findings, t.Findings} {
		for i := range list {
			if f := &list[i]; f.ExplainsState && (worst == nil || f.Severity > worst.Severity) {
				worst = f
			}
		}
		if worst != nil {
			break
		}
	}
	return worst
}

// maxLargeSentence is the maximum width of the sentence.
const maxLargeSentence = 60

// largeSentence returns a finding's message if it is short, or else the beginning of the message up to a
// comma, semicolon or colon, or else the finding's brief.
func (fd *frameDrawer) largeSentence(f *stream.Finding) display.Text {
	all, most := f.Message, min(maxLargeSentence, fd.m.w-2*largeMargin+1)
	for _, end := range []int{len(all), strings.LastIndex(all, "; "), strings.LastIndex(all, ": "), strings.Index(all, ": "), strings.Index(all, ", ")} {
		if end <= 0 {
			continue
		}
		text := fd.m.draw.Clean(all[:end])
		if text.Width() >= most {
			continue
		}
		for quoted := range f.Quoted.All() {
			if quoted.From > 0 {
				break
			}
			return text // captured text at the beginning is not capitalised
		}
		first, n := utf8.DecodeRuneInString(all)
		return fd.m.draw.Clean(string(unicode.ToUpper(first)) + all[n:end] + ".")
	}
	return fd.m.draw.Truncate(fd.m.draw.Clean(f.Brief()), maxLargeSentence)
}

// largeAdvice returns the first sentence of the advice, or the part of that sentence that fits in the given
// width.
func (fd *frameDrawer) largeAdvice(advice string, cells int) display.Text {
	advice, _, _ = strings.Cut(strings.TrimSuffix(advice, "."), ". ")
	first, n := utf8.DecodeRuneInString(advice)
	advice = string(unicode.ToLower(first)) + advice[n:]
	for _, end := range []string{"", "; ", ": ", ", ", " and "} {
		part := advice
		if end != "" {
			part, _, _ = strings.Cut(advice, end)
		}
		if text := fd.m.draw.Clean(part); text.Width() <= cells {
			return text
		}
	}
	return display.Text{}
}

// fitsInto reports whether the verdict fits on a screen of w columns, in one line or broken at a blank.
func (of *largeCall) fitsInto(scale, w int) bool {
	return !slices.ContainsFunc(of.verdictLines(scale, w), func(line string) bool {
		return screen.BlockWidth(line, scale) > w-2*largeMargin
	})
}

// verdictLines returns the lines in which the verdict is drawn. Only a verdict in the smallest letters is
// broken at a blank.
func (of *largeCall) verdictLines(scale, w int) []string {
	if scale == 1 && screen.BlockWidth(of.verdict, 1) > w-2*largeMargin {
		if at := strings.LastIndexByte(of.verdict, ' '); at > 0 {
			return []string{of.verdict[:at], of.verdict[at+1:]}
		}
	}
	return []string{of.verdict}
}

// pageLines returns the rows of the page.
func (of *largeCall) pageLines(p *screen.Pen, d largeDetail, width, w int, third bool) (all []largeLine) {
	blank := func() {
		if d.blanks {
			all = append(all, largeLine{})
		}
	}
	write := func(r screen.Role, text string, scale int) {
		if scale == 0 {
			all = append(all, largeLine{role: r, text: p.Clean(strings.ToUpper(text))})
			return
		}
		for row := range screen.BlockRows(scale) {
			all = append(all, largeLine{role: r, block: text, scale: scale, row: row})
		}
	}
	all = append(all, largeLine{role: screen.Accent, text: of.name, right: of.model})
	blank()
	for i, line := range of.verdictLines(d.verdict, w) {
		if i > 0 && d.verdict > 0 {
			all = append(all, largeLine{})
		}
		write(of.role, line, d.verdict)
	}
	blank()
	write(screen.Plain, of.place, d.place)
	if cause := "caused by the " + of.party; third && d.place > 0 && of.party != "" && screen.BlockWidth(cause, 1) <= width {
		blank()
		write(screen.Muted, cause, 1)
	}
	blank()
	for _, text := range []largeLine{{role: screen.Plain, text: of.sentence}, {role: screen.Muted, text: of.cause}} {
		if !text.text.Empty() {
			all = append(all, text)
		}
	}
	if d.bar == 0 {
		return all
	}
	if d.blanks && (!of.sentence.Empty() || !of.cause.Empty()) {
		blank()
	}
	if !of.unusable.Empty() {
		all = append(all, largeLine{role: screen.Muted, text: display.Lit("valid so far"), right: of.unusable})
	}
	for range d.bar {
		all = append(all, largeLine{bar: of.barParts(width)})
	}
	return all
}

// barParts divides the bar of the given width into parts for the valid bytes, the unusable bytes, and the
// bytes to come.
func (of *largeCall) barParts(width int) []barPart {
	part := func(n int) int {
		if of.end == 0 {
			return 0
		}
		return n * width / of.end
	}
	valid, all := part(of.valid), part(of.all)
	if of.all > of.valid {
		all = max(all, valid+1)
	}
	return []barPart{{screen.Live, valid}, {screen.Bad, all - valid}, {screen.Muted, width - all}}
}
