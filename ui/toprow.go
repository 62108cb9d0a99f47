package ui

import (
	"slices"

	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/present"
	"toolscope/ui/screen"
)

// topPart is a part of the first row. Parts are drawn in their order; those of a lower rank are kept longer.
type topPart struct {
	texts []screen.StyledText
	gap   int // blanks before it
	rank  int
}

func (t topPart) width() int { return t.gap + screen.Width(t.texts) }

// drawTop draws the first row: the source, counts, the verdicts, the cost; on the right alarms, notes about the
// source, and whether data is arriving.
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
	for rank := 1; rank <= lastRank; rank++ {
		for i, part := range parts {
			if part.rank != rank {
				continue
			}
			if part.width() > room { // a smaller count is not drawn in place of a more important one
				break
			}
			kept[i], room = true, room-part.width()
		}
	}
	if extra := min(source.Width()-minSource, max(0, room)); extra >= 0 {
		source = p.Truncate(source, minSource+extra)
		room -= extra
	}
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
		case part.gap == dotGap && counted:
			p.Text(screen.Muted, p.Glyph.Dot.Between(" ", " "))
		default:
			p.Spaces(screen.Bare, part.gap)
		}
		counted = part.gap == dotGap
		p.Texts(part.texts)
	}
	if !alarms.Empty() {
		p.Spaces(screen.Bare, 2)
		p.Text(screen.Bad, alarms)
	}
	p.Spaces(screen.Bare, p.Left-screen.Width(right)-1)
	p.Texts(right)
}

// brand is the name of the program, for a wide first row.
var brand = display.Lit("toolscope")

// Ranks of the parts of the first row. The part that is dropped last has the lowest.
const (
	stayRank = 1 + iota
	badRank
	signRank
	pathRank
	callRank
	cautionRank
	turnRank
	moneyRank
	noteRank
	fileRank
	lastRank = fileRank
)

// dotGap is the gap before a count. Between two counts there is a dot.
const dotGap = 3

// alarmGap is the width of the blanks around alarms.
const alarmGap = 3

// minSource is the width that the name of the source keeps.
const minSource = 12

// wideTopRow is the width from which groups of the first row have wider gaps.
const wideTopRow = 120

// topParts returns the parts of the first row; the first is the source.
func (fd *frameDrawer) topParts(p *screen.Pen) []topPart {
	m := fd.m
	muted := func(t display.Text) []screen.StyledText { return []screen.StyledText{{Role: screen.Muted, Text: t}} }
	parts := []topPart{{texts: []screen.StyledText{{Role: screen.Accent, Text: fd.sourceText()}}}}
	s := m.view.Session()
	if m.setup.isWaitingForClients() || len(s.Turns) == 0 || m.tour.isTourShown() || m.tour.isSummaryOpen() {
		return parts
	}
	if path := m.doc.Path(); path != "" && m.focus == m.doc && m.selectedCall() != nil {
		parts = append(parts, topPart{[]screen.StyledText{{Role: screen.Accent, Text: placeEnd(p, p.Name(path), maxPlace)}}, 1, pathRank})
	}
	calls := 0
	for _, n := range s.Counts {
		calls += n
	}
	wide := 2
	if m.w >= wideTopRow {
		wide = 5
	}
	if n := m.list.Files(); n > 1 && m.opt.Static {
		parts = append(parts, topPart{muted(screen.Plural(n, "file")), dotGap, fileRank})
	}
	parts = append(parts, topPart{muted(screen.Plural(len(s.Turns)+s.TrimmedTurns(), "turn")), dotGap, turnRank},
		topPart{muted(screen.Plural(calls, "call")), dotGap, callRank})
	parts = append(parts, topPart{[]screen.StyledText{panes.BadText(&m.verdicts.Counts)}, wide, badRank})
	bad, caution := panes.HarmCounts(p, &m.verdicts.Counts)
	for i, list := range [][]screen.StyledText{bad, caution} {
		for n, of := range list {
			gap := 1
			if n == 0 {
				gap = 2 + i
			}
			parts = append(parts, topPart{[]screen.StyledText{of}, gap, []int{signRank, cautionRank}[i]})
		}
	}
	if cost := panes.TotalCost(p, m.bill.Total()); !cost.Empty() {
		parts = append(parts, topPart{muted(cost), wide, moneyRank})
	}
	return parts
}

// maxPlace is the maximum width of a path in the arguments.
const maxPlace = 32

// sourceText returns the name of the source: what the names of several files have in common, or the scene of the
// demo.
func (fd *frameDrawer) sourceText() display.Text {
	m := fd.m
	source := m.pen.Name(m.opt.Source)
	switch {
	case m.tour.isSummaryOpen():
		return display.Lit("DEMO what you saw")
	case m.tour.isTourShown():
		parts := []display.Text{source, m.tour.sceneProgress()}
		if c := m.selectedCall(); c != nil && !m.tour.isTourOpening() {
			parts = append(parts, m.pen.Name(c.Name))
		}
		return joinParts(parts, m.pen.Glyph.Sep.Between(" ", " "))
	case m.opt.Static:
		if of := m.list.FilePattern(); of != "" {
			return m.pen.Name(of)
		}
	}
	return source
}

// placeText names the selection: its call, or else its turn, and the path of the cursor.
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

// joinParts joins texts with a separator.
func joinParts(parts []display.Text, sep display.Text) (all display.Text) {
	for i, part := range parts {
		if i > 0 {
			all = display.Join(all, sep)
		}
		all = display.Join(all, part)
	}
	return all
}

// noteParts returns the alarms, and the other notes about the source.
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
			notes = append(notes, topPart{[]screen.StyledText{{Role: screen.Muted, Text: text}}, 2, rank})
		}
	}
	return alarms, notes
}

// turnMap is the second row: a cell for each turn, or for several.
type turnMap struct {
	cells []present.Harm
	per   int // turns per cell
	of    [3]int
}

// Sizes from which the map is drawn.
const (
	minMapRows  = 20
	minMapTurns = 8
)

// mapRows returns the height of the map of turns. Live, its row is free for the parties that calls wait on.
func (fd *frameDrawer) mapRows() int {
	m := fd.m
	if m.h < minMapRows || m.large || m.isLive() || m.tour.isTourShown() || m.tour.isSummaryOpen() || len(m.view.Session().Turns) < minMapTurns {
		return 0
	}
	return 1
}

// extendMap computes the cells of the map, if turns or their verdicts changed.
func (fd *frameDrawer) extendMap() {
	turns, v := fd.m.view.Session().Turns, &fd.m.verdicts
	width := max(1, fd.m.w-2)
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

// drawMap draws the worst sign of each turn. The cell of the cursor is reversed.
func (fd *frameDrawer) drawMap(p *screen.Pen) {
	fd.extendMap()
	here := -1
	if t := fd.m.selectedTurn(); t != nil {
		here = fd.turnIndex(t) / fd.runs.per
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

// turnIndex returns the place of a turn in its session.
func (fd *frameDrawer) turnIndex(t *stream.Turn) int {
	turns := fd.m.view.Session().Turns
	i, _ := slices.BinarySearchFunc(turns, t.OpenedBy, func(t *stream.Turn, by int32) int { return int(t.OpenedBy) - int(by) })
	return i
}

// goToMapCell selects the worst row of the turns of a cell.
func (fd *frameDrawer) goToMapCell(x int) {
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
