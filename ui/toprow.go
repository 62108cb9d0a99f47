package ui

import (
	"slices"
	"strings"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// topPart is a part of the first row. Parts are drawn in their order. Parts with a lower rank are kept
// longer.
type topPart struct {
	texts []screen.StyledText
	gap   int  // number of blanks before the part
	count bool // the part is a count; there is a dot between two counts
	rank  int
}

func (t topPart) width() int { return t.gap + screen.Width(t.texts) }

// dotGap is the width of the dot between two counts, including blanks.
const dotGap = 3

// drawTop draws the first row: the source, the counts, the verdicts, the cost and notes. On the right are
// alarms, and whether data is arriving.
func (fd *frameDrawer) drawTop(p *screen.Pen) {
	right := fd.sourceStatus()
	alarms, notes := fd.noteParts(p)
	room := p.Left - 3 - screen.Width(right)
	parts := append(fd.topParts(p), notes...)
	source := parts[0].texts[0].Text
	room -= min(minSource, source.Width())
	if !alarms.Empty() {
		alarms = p.Truncate(alarms, max(0, room-alarmGap))
		room -= alarms.Width() + alarmGap
	}
	kept := make([]bool, len(parts))
	cells := min(minSource, source.Width())
	for rank := 1; rank <= lastRank; rank++ {
		if rank == sourceRank {
			extra := min(source.Width()-cells, max(0, room))
			cells, room = cells+extra, room-extra
		}
		for i, part := range parts {
			if part.rank != rank {
				continue
			}
			if part.width() > room { // a shorter part is not drawn in place of a more important part
				break
			}
			kept[i], room = true, room-part.width()
		}
	}
	if brief := fd.briefSource(); cells < source.Width() && !brief.Empty() {
		source = brief
	}
	source = p.Truncate(source, cells)
	p.Spaces(screen.Bare, 1)
	if fd.m.w >= wideTopRow && room >= brand.Width()+2 && kept[len(parts)-1] {
		p.Text(screen.Accent, brand.Between("", "  "))
	}
	p.Text(screen.Accent, source)
	counted := false
	for i, part := range parts {
		switch {
		case !kept[i]:
			continue
		case part.count && counted:
			p.Text(screen.Muted, p.Glyph.Dot.Between(" ", " "))
		case part.count:
			p.Spaces(screen.Bare, dotGap-1)
		default:
			p.Spaces(screen.Bare, part.gap)
		}
		counted = part.count
		p.Texts(part.texts)
	}
	if !alarms.Empty() {
		p.Spaces(screen.Bare, 2)
		p.Text(screen.Bad, alarms)
	}
	p.Spaces(screen.Bare, p.Left-screen.Width(right)-1)
	p.Texts(right)
}

// brand is the name of the program, which a wide first row shows.
var brand = display.Lit("toolscope")

// Ranks of the parts of the first row. The part that is dropped last has the lowest rank.
const (
	stayRank = 1 + iota
	badRank
	signRank
	pathRank
	sourceRank
	cautionRank
	callRank
	turnRank
	moneyRank
	rateRank
	noteRank
	fileRank
	lastRank = fileRank
)

// alarmGap is the width of the blanks around alarms.
const alarmGap = 3

// minSource is the width that is kept for the name of the source.
const minSource = 12

// wideTopRow is the minimum screen width at which the first row has wider gaps and longer texts.
const wideTopRow = 120

// topParts returns the parts of the first row. The first part is the source.
func (fd *frameDrawer) topParts(p *screen.Pen) []topPart {
	m := fd.m
	muted := func(t display.Text) []screen.StyledText { return []screen.StyledText{{Role: screen.Muted, Text: t}} }
	parts := []topPart{{texts: []screen.StyledText{{Role: screen.Accent, Text: fd.sourceText()}}}}
	s := m.view.Session()
	if m.setup.isWaitingForClients() || len(s.Turns) == 0 || m.tour.isTourShown() || m.tour.isSummaryOpen() {
		return parts
	}
	if path := m.doc.Path(); path != "" && m.focus == m.doc && m.selectedCall() != nil {
		parts = append(parts, topPart{[]screen.StyledText{{Role: screen.Accent, Text: placeEnd(p, p.Name(path), maxPlace)}}, 1, false, pathRank})
	}
	calls, v := 0, &m.verdicts.Counts
	for _, n := range s.Counts {
		calls += n
	}
	addCount := func(text display.Text, rank int) {
		if !text.Empty() {
			parts = append(parts, topPart{muted(text), dotGap, true, rank})
		}
	}
	if n := m.list.Files(); n > 1 && m.opt.Static && m.w >= wideTopRow {
		addCount(screen.Plural(n, "file"), fileRank)
	}
	turns, rank := screen.Plural(len(s.Turns)+s.TrimmedTurns(), "turn"), turnRank
	if open := len(m.streams.open); open > 0 && m.isLive() && !m.moment.isPaused() {
		if text := screen.Count(open).Between("", " open"); m.w >= wideTopRow {
			turns = display.Join(text, turns.Between(" of ", ""))
		} else {
			turns = text
		}
		rank = callRank
	}
	addCount(turns, rank)
	addCount(screen.Plural(calls, "call"), callRank)
	wide := 2 // the gap between groups
	switch {
	case m.w >= wideTopRow:
		wide = 5
	case m.w >= twoColumns:
		wide = 4
	}
	cost, calm := panes.TotalCost(p, m.bill.Total()), v.Bad() == 0
	if calm {
		addCount(cost, moneyRank)
		wide = max(wide, 3)
	}
	parts = append(parts, topPart{[]screen.StyledText{panes.BadText(v)}, wide, false, badRank})
	bad, caution := panes.HarmCounts(p, v)
	for i, list := range [][]screen.StyledText{bad, caution} {
		for n, of := range list {
			gap := 1
			if n == 0 && m.w >= narrowTopRow {
				gap = 2 + i
			}
			parts = append(parts, topPart{[]screen.StyledText{of}, gap, false, []int{signRank, cautionRank}[i]})
		}
	}
	if !cost.Empty() && !calm {
		parts = append(parts, topPart{muted(cost), wide, false, moneyRank})
	}
	return parts
}

// narrowTopRow is the width below which the groups of the first row have narrow gaps.
const narrowTopRow = 80

// maxPlace is the maximum width of a path in the arguments.
const maxPlace = 32

// sourceText returns the name of the source: for several files, the pattern that their names share; for the
// demo, the scene.
func (fd *frameDrawer) sourceText() display.Text {
	m := fd.m
	source := m.pen.Name(m.opt.Source)
	switch {
	case m.tour.isSummaryOpen():
		return display.Lit("demo summary")
	case m.tour.isTourShown():
		sep := m.pen.Glyph.Sep.Between(" ", " ")
		text := display.Join(source, sep, m.tour.sceneProgress())
		if c := m.selectedCall(); c != nil && !m.tour.isTourOpening() {
			text = display.Join(text, sep, m.pen.Name(c.Name))
		}
		return text
	case m.opt.Static:
		if of := m.list.FilePattern(); of != "" {
			return m.pen.Name(of)
		}
	}
	return source
}

// briefSource returns the folder that several files share, or "".
func (fd *frameDrawer) briefSource() display.Text {
	if m := fd.m; m.opt.Static && !m.tour.isTourShown() && !m.tour.isSummaryOpen() {
		folder, _, _ := strings.Cut(m.list.FilePattern(), "/")
		return m.pen.Name(folder)
	}
	return display.Text{}
}

// placeText returns the name of the selected call or, if no call is selected, of the selected turn, and the path at
// the cursor.
func (m *Model) placeText() display.Text {
	t, c := m.selectedTurn(), m.selectedCall()
	switch {
	case t == nil:
		return m.pen.Name(m.opt.Source)
	case c == nil:
		return m.draw.Format("turn %d", t.Number+1)
	}
	name := m.pen.Name(c.Name)
	if name.Empty() {
		name = m.draw.Format("call %d", c.Number)
	}
	if path := m.doc.Path(); path != "" {
		name = display.Join(name, display.Lit(" "), m.pen.Name(path))
	}
	return name
}

// noteParts returns the alarms and the other notes about the source.
func (fd *frameDrawer) noteParts(p *screen.Pen) (alarms display.Text, notes []topPart) {
	for _, w := range fd.statusNotes() {
		text := p.Name(w.Text)
		switch {
		case w.Alarm && alarms.Empty():
			alarms = text
		case w.Alarm:
			alarms = display.Join(alarms, display.Lit("  "), text)
		default:
			rank := noteRank
			if w.Stays {
				rank = stayRank
			}
			if brief := p.Name(w.Brief); !brief.Empty() && fd.m.w < wideTopRow {
				text = brief
			}
			notes = append(notes, topPart{[]screen.StyledText{{Role: screen.Muted, Text: text}}, 2, false, rank})
		}
	}
	if fd.m.rate.last > 0 && fd.m.isLive() {
		rate := screen.Bytes(fd.m.rate.last).Between("", "/s")
		notes = append(notes, topPart{[]screen.StyledText{{Role: screen.Muted, Text: rate}}, 2, false, rateRank})
	}
	return alarms, notes
}

// turnMap is the second row, with a cell for each turn or for several turns.
type turnMap struct {
	cells []present.Harm
	per   int // turns per cell
	of    [3]int
}

// Minimum screen height, and minimum number of turns, for the map.
const (
	minMapRows  = 20
	minMapTurns = 8
)

// mapRows returns the height of the second row, which shows the map of turns, or the parties that a live
// source waits for.
func (fd *frameDrawer) mapRows() int {
	m := fd.m
	turns := len(m.view.Session().Turns)
	switch {
	case m.h < minMapRows, m.large, m.tour.isTourShown(), m.tour.isSummaryOpen(), turns == 0, m.setup.isWaitingForClients():
		return 0
	case fd.showsWaiting(), !m.isLive() && turns >= minMapTurns:
		return 1
	}
	return 0
}

// mapCaption is the width of the words after a map whose cells stand for several turns.
const mapCaption = 19

// extendMap computes the cells of the map again if the turns, their verdicts or the width have changed.
func (fd *frameDrawer) extendMap() {
	turns, v := fd.m.view.Session().Turns, &fd.m.verdicts
	width := fd.m.w - 2
	if len(turns) > width {
		width -= mapCaption
	}
	if of := [3]int{v.Version, len(turns), width}; of != fd.runs.of {
		fd.runs.of, fd.runs.per = of, (len(turns)+width-1)/width
		fd.runs.cells = slices.Grow(fd.runs.cells[:0], len(turns)/fd.runs.per+1)
		for i, worst := range v.Turns() {
			if i%fd.runs.per == 0 {
				fd.runs.cells = append(fd.runs.cells, present.Healthy)
			}
			cell := &fd.runs.cells[len(fd.runs.cells)-1]
			*cell = min(*cell, worst)
		}
	}
}

// drawMap draws the sign of the worst verdict in each cell, and highlights the cell of the selected turn.
// While a live source is waiting, it draws the parties that are being waited for.
func (fd *frameDrawer) drawMap(p *screen.Pen) {
	if fd.showsWaiting() {
		fd.drawWaiting(p)
		return
	}
	fd.extendMap()
	here := -1
	if t := fd.m.selectedTurn(); t != nil {
		i, _ := slices.BinarySearchFunc(fd.m.view.Session().Turns, t.OpenedBy, func(t *stream.Turn, by int32) int { return int(t.OpenedBy) - int(by) })
		here = i / fd.runs.per
	}
	p.Spaces(screen.Bare, 1)
	for i, h := range fd.runs.cells {
		role, sign, g := screen.Muted, p.Glyph.Calm, screen.Bare
		if h < present.HarmStopped {
			role, sign = panes.HarmSign(p, h)
			if sign.Width() > 1 {
				_, sign = panes.HarmSign(p, present.HarmWarn)
			}
		}
		if i == here {
			g = screen.Match
		}
		p.TextOn(role, g, sign)
	}
	caption := display.Lit("one cell per turn")
	if fd.runs.per > 1 {
		caption = p.Format("1 cell = %s", screen.Plural(fd.runs.per, "turn"))
	}
	if caption.Width()+3 <= p.Left && (fd.m.w >= twoColumns || fd.runs.per > 1) {
		p.Text(screen.Muted, caption.Between("  ", ""))
	}
}

// goToMapCell selects the worst row among the turns in a cell.
func (fd *frameDrawer) goToMapCell(x int) {
	if fd.showsWaiting() {
		return
	}
	fd.extendMap()
	turns := fd.m.view.Session().Turns
	from := (x - 1) * fd.runs.per
	if x < 1 || from >= len(turns) {
		return
	}
	worst := turns[from]
	for _, t := range turns[from:min(from+fd.runs.per, len(turns))] {
		if fd.m.verdicts.WorstOf(t) < fd.m.verdicts.WorstOf(worst) {
			worst = t
		}
	}
	of := worst.Ref()
	rows := fd.m.verdicts.RowsOf(worst)
	for i, h := range rows {
		if h == fd.m.verdicts.WorstOf(worst) && i < len(worst.Calls) {
			of = worst.Calls[i].Ref()
			break
		}
	}
	fd.m.setFollow(false)
	fd.m.selectRef(of)
}
