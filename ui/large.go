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

// marginRows returns how many rows of the body are free above and below the panes in the large layout. The
// last free row shows the worst finding.
func (fd *frameDrawer) marginRows() (above, below int) {
	switch h := fd.m.bodyHeight(); {
	case !fd.m.large:
		return 0, 0
	case h >= 5:
		return 1, 2
	}
	return 0, 1
}

// drawBand draws the selection's state across the first row in the large layout, and reports whether it did
// so.
func (fd *frameDrawer) drawBand(p *screen.Pen) bool {
	t, c := fd.m.selectedTurn(), fd.m.selectedCall()
	if t == nil || fd.m.tour.isTourOpening() || fd.m.setup.isWaitingForClients() || fd.m.modeStack.isCovered() || fd.m.focus == fd.m.list {
		return false
	}
	st, role, word := screen.TurnLook(t)
	word = "response " + word
	name := fd.m.draw.Format("turn %d", t.Number+1)
	if c != nil {
		st, role, word, name = c.Status(), screen.CallRole(c), c.Status().String(), p.Name(c.Name)
	}
	if role == screen.Muted {
		role = screen.Plain
	}
	left := display.Join(display.Lit(" "), p.Glyph.Status[st], display.Lit(" "), p.Pad(p.Clean(word), bandState), name)
	why := display.Text{}
	if c != nil {
		why = fd.m.frame.whyOf(c)
	}
	if why.Empty() {
		why = fd.motionWord().Text
	}
	left = p.Truncate(left, p.Left)
	if room := p.Left - left.Width() - 1; why.Width()+2 <= room {
		left = display.Join(p.Pad(left, p.Left-why.Width()-1), why)
	}
	p.TextOn(role, screen.Match, p.Pad(left, p.Left))
	return true
}

// bandState is the width of the state in the first row.
const bandState = 13

// whyOf returns a short reason for a call's state. It is empty if the call is complete or has no finding of
// severity error.
func (fd *frameDrawer) whyOf(c *stream.Call) display.Text {
	f := worstFinding(c.Findings)
	if f == nil || f.Severity < stream.Error || c.Status() == stream.Complete {
		return display.Text{}
	}
	short := fd.m.draw.Clean(f.Brief()).String()
	if rest, ok := strings.CutPrefix(short, "cut "); ok && c.Status() == stream.CutShort {
		short = rest
	}
	return fd.m.draw.Clean(short)
}

// drawMargin draws a row of the body that is outside the panes. It reports whether row y is such a row.
func (fd *frameDrawer) drawMargin(p *screen.Pen, y int) bool {
	above, below := fd.marginRows()
	switch h := fd.m.bodyHeight(); {
	case y == h-1:
		fd.drawWorst(p)
		return true
	case y < above || y >= h-below:
		return true
	}
	return false
}

// drawWorst draws the worst fact about the selection that the first row doesn't show: how a client would have run the
// call, or a finding.
func (fd *frameDrawer) drawWorst(p *screen.Pen) {
	t, c := fd.m.selectedTurn(), fd.m.selectedCall()
	if t == nil {
		return
	}
	if text := fd.m.frame.runRuleText(c, p.Left-3); !text.Empty() {
		p.Text(screen.Bad, display.Join(p.Glyph.Severity[stream.Error], display.Lit(" "), text))
		return
	}
	f := worstFinding(t.Findings)
	if c != nil {
		if own := worstFinding(c.Findings); f == nil || own != nil && own.Severity >= f.Severity {
			f = own
		}
	}
	if f == nil || f.Severity == stream.Info {
		return
	}
	text := p.Clean(f.Message)
	if text.Width()+3 > p.Left && f.Short != "" {
		text = p.Clean(f.Brief())
	}
	p.Text(screen.SeverityRoles[f.Severity], display.Join(p.Glyph.Severity[f.Severity], display.Lit(" "), text))
}

// runRuleText names the rule by which code would have run an incomplete call, and the arguments, in at most the given
// width. It is empty if no rule would have run the call.
func (fd *frameDrawer) runRuleText(c *stream.Call, cells int) display.Text {
	if c == nil || c.Status() != stream.CutShort && c.Status() != stream.Malformed {
		return display.Text{}
	}
	for _, by := range []struct {
		rule stream.RunRule
		who  display.Text
	}{{stream.ParsableObject, display.Lit("client that runs parsable JSON")}, {stream.AnyArgs, display.Lit("client that runs any arguments")}} {
		r := c.RuleRun(by.rule)
		if r.Event == 0 || r.Bytes == 0 || r.Replaced || r.Outcome < stream.RunWrong || r.Outcome > stream.RunIncomplete || r.Bytes > len(c.Args()) {
			continue
		}
		at := fd.m.draw.Format(" at %s%d", fd.m.pen.Glyph.Change, c.DeltaAt(r.Bytes-1)+1)
		ran := by.who.Between("", " ran ")
		with := fd.m.draw.CleanBytes(c.Args()[:min(r.Bytes, screen.MaxNameBytes)])
		return display.Join(ran, fd.m.draw.Truncate(with, cells-ran.Width()-at.Width()), at)
	}
	return display.Text{}
}

// worstFinding returns the first finding with the worst severity, or nil.
func worstFinding(of []stream.Finding) (f *stream.Finding) {
	for i := range of {
		if f == nil || of[i].Severity > f.Severity {
			f = &of[i]
		}
	}
	return f
}

// goToNextCall selects the call after the selected one, or the one before it if step is -1. It continues in
// other turns.
func (m *Model) goToNextCall(step int) {
	t, c := m.selectedTurn(), m.selectedCall()
	if t == nil {
		return
	}
	at := 0
	if c != nil {
		at = c.Number
	}
	for t != nil {
		if n := at + step; n >= 1 && n <= len(t.Calls) {
			m.setFollow(false)
			m.selectRef(t.Calls[n-1].Ref())
			return
		}
		if t = m.view.Session().Turn(t.Number + int32(step)); t != nil && step < 0 {
			at = len(t.Calls) + 1
		} else {
			at = 0
		}
	}
	m.showNotice(display.Lit("no more calls"))
}
