package replay

import (
	"bytes"
	"slices"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// page is the laid-out preview for one cell: the body that would be sent, the arguments that the model wrote,
// and the losses. A page never changes.
type page struct {
	key      pageKey
	sent     panes.TextSheet
	wrote    panes.TextSheet
	notes    []panes.LossNote
	body     []byte // body that would be sent, as JSON
	messages int
	size     int  // number of bytes that the model wrote
	unsent   int  // number of bytes that the model wrote and that would not be sent
	added    int  // number of bytes in the body that the model did not write
	unknown  bool // the body that would be sent is unknown
	mute     bool // the client does not speak the target's protocol
	apart    bool // the arguments are shown without a comparison with the body
}

// noBodyText returns the text that is shown instead of a body.
func (p *page) noBodyText() display.Text {
	switch {
	case p.unknown:
		return display.Lit("unknown")
	case p.mute:
		return display.Lit("the client doesn't use this provider")
	}
	return display.Lit("nothing")
}

// makePage makes the page for a source, one target and one policy.
func makePage(k pageKey, src source, to *protocol.Target, draw display.Drawer) *page {
	policy := &replay.Policies[k.policy]
	if !policy.Speaks(to) {
		p := &page{key: k, mute: true, notes: []panes.LossNote{{Role: screen.Muted, Text: draw.Format("   not known to send to %s", to.Name)}}}
		p.showOnlyWrote(src, to, draw)
		return p
	}
	preview := src.Preview(to, policy)
	raw := k.raw != (to.Form == protocol.PositionalForm) // nested arrays are easier to read on one line
	p := &page{key: k, body: joinMessages(preview.Body), messages: len(preview.Body), unknown: preview.Outcome == replay.Unknown}
	p.notes = panes.LossNotes(&preview, k.version.scope, k.notes, k.codes, draw)
	p.showSent(&preview, src.own, raw, draw)
	if p.unknown && len(preview.Calls) == 0 {
		p.showOnlyWrote(src, to, draw)
		return p
	}
	p.showWrote(&preview, src.own, draw)
	return p
}

// showOnlyWrote lays out the arguments without marks, for a page without a body. The arguments are the same for every
// policy.
func (p *page) showOnlyWrote(src source, to *protocol.Target, draw display.Drawer) {
	preview := src.Preview(to, &replay.Policies[0])
	p.apart = true
	p.showWrote(&preview, src.own, draw)
}

// joinMessages joins messages into one JSON text. The text is an array or, for a single message, the message itself.
func joinMessages(messages [][]byte) []byte {
	if len(messages) == 1 {
		return messages[0]
	}
	if len(messages) == 0 {
		return nil
	}
	return slices.Concat([]byte("["), bytes.Join(messages, []byte(",\n")), []byte("]"))
}

// showSent lays out the body and marks the bytes that the model did not write.
func (p *page) showSent(preview *replay.Preview, own int, raw bool, draw display.Drawer) {
	marks := make([][]panes.Span, len(preview.Body))
	found, added := panes.FindArgs(preview.Body, preview.Calls)
	p.added = added
	for _, args := range found {
		marks[args.Message] = append(marks[args.Message], args.Marks...)
		if args.Call == own {
			p.sent.Look, p.sent.LookAt = args.Message, args.Offset
			if len(args.Marks) > 0 {
				p.sent.LookAt = args.Marks[0].Start
			}
		}
	}
	for i, m := range preview.Body {
		p.sent.Add(panes.NewBlock(display.Text{}, m, raw, marks[i], p.key.sent, draw))
	}
	for i, m := range preview.Results {
		caption := display.Text{}
		if i == 0 {
			caption = display.Lit("then the results")
		}
		p.sent.Add(panes.NewBlock(caption, m, raw, nil, p.key.sent, draw))
	}
}

// showWrote lays out the arguments as the model wrote them and marks the bytes that would not be sent.
func (p *page) showWrote(preview *replay.Preview, own int, draw display.Drawer) {
	for i := range preview.Calls {
		c := &preview.Calls[i]
		var gone []panes.Span
		caption := display.Text{}
		if !p.apart {
			gone = panes.RemovedSpans(c)
		}
		for _, s := range gone {
			p.unsent += s.End - s.Start
		}
		p.size += len(c.Original)
		switch {
		case p.key.version.scope == replay.OneCall:
		case p.apart:
			caption = draw.Format("call %d %s", c.Call, screen.ShortName(c.Name))
		default:
			caption = draw.Format("call %d %s: %s", c.Call, screen.ShortName(c.Name), c.Outcome)
		}
		if c.Call == own && own > 0 {
			p.wrote.Look = i
			if len(gone) > 0 {
				p.wrote.LookAt = gone[0].Start
			}
		}
		p.wrote.Add(panes.NewBlock(caption, c.Original, true, gone, p.key.wrote, draw))
	}
}

// pageSection identifies one text of a page.
type pageSection uint8

const (
	sentSection pageSection = iota
	wroteSection
	lossSection
	numSections
)

func (f pageSection) String() string {
	return [numSections]string{"would be sent", "the model wrote", "losses"}[f]
}

// drawPanes writes row y of the two panes: the body that would be sent, and the arguments that the model
// wrote.
func (m *replayMode) drawPanes(p *screen.Pen, plan bodyLayout, y int) {
	for i, f := range []pageSection{sentSection, wroteSection} {
		if i > 0 {
			p.Field(1)
			rule := p.Glyph.Rule
			if y == 0 {
				rule = p.Glyph.Tee
			}
			p.Text(screen.Muted, rule)
		}
		width := [...]int{plan.sentW, plan.wroteW}[i]
		p.Field(width)
		if y == 0 {
			title := display.Clean(f.String())
			if f == sentSection {
				title = m.draw.Format("sent to %s", m.targets[m.to].Name)
			}
			p.Caption(screen.Accent, title, m.sectionSizes(f)...)
			continue
		}
		m.drawSheet(p, f, y-1, plan.panes-1)
		p.Fill(screen.Bare)
	}
}

// sectionSizes describes the size of a section. It returns the longest form first.
func (m *replayMode) sectionSizes(f pageSection) []display.Text {
	page := m.currentPage()
	if page == nil || f == lossSection {
		return nil
	}
	if f == sentSection && page.body == nil {
		return []display.Text{page.noBodyText()}
	}
	if f == wroteSection {
		all := screen.Bytes(page.size)
		switch {
		case page.unsent == 0:
			return []display.Text{all}
		case page.unsent == page.size:
			return []display.Text{all.Between("", ", none sent"), all}
		}
		gone := screen.Bytes(page.unsent)
		return []display.Text{display.Format("%s, %s changed or not sent", all, gone), display.Format("%s, %s changed", all, gone), all}
	}
	all, added := screen.Bytes(len(page.body)), screen.Bytes(page.added)
	long := display.Join(all, display.Lit(" in "), screen.Plural(page.messages, "message"))
	if page.added == 0 {
		return []display.Text{long, all}
	}
	return []display.Text{display.Format("%s, %s new or moved", long, added), display.Format("%s, %s new", all, added), all}
}

// resizeSections sets the sizes of the visible sections. It scrolls a newly shown section to its first difference.
func (m *replayMode) resizeSections() {
	page := m.currentPage()
	if page != nil {
		m.noteRows = max(m.noteRows, len(page.notes))
	}
	plan := m.layoutBody()
	m.Fit(m.Rows, plan.head+plan.heads, plan.head+plan.heads+plan.table)
	if page == nil {
		return
	}
	shown, h := []pageSection{sentSection, wroteSection}, plan.panes-1
	switch {
	case m.full:
		shown, h = []pageSection{m.section}, m.h-sectionHeadRows
	case plan.panes == 0:
		return
	}
	for _, f := range shown {
		w, rows, look := &m.sections[f], len(page.notes), 0
		if s := page.sectionSheet(f); s != nil {
			rows, look = s.Rows, s.LookRow()
		}
		if w.Height == 0 && look >= h-1 {
			w.Top = look - h/3
		}
		w.Rows, w.Height = rows, h
		w.Scroll(w.Top)
	}
}

// sectionSheet returns the text of a section, or nil for the losses.
func (p *page) sectionSheet(f pageSection) *panes.TextSheet {
	return [numSections]*panes.TextSheet{sentSection: &p.sent, wroteSection: &p.wrote}[f]
}

// drawSheet writes row y of the h rows of the body or the arguments. The first and the last row show the
// number of lines that are out of view.
func (m *replayMode) drawSheet(p *screen.Pen, f pageSection, y, h int) {
	page := m.currentPage()
	p.Spaces(screen.Bare, 1)
	if page == nil {
		if y == 0 {
			p.Text(screen.Muted, display.Lit("..."))
		}
		return
	}
	s, marked := page.sectionSheet(f), [...]screen.Surface{sentSection: screen.Added, wroteSection: screen.Removed}[f]
	if s.Rows == 0 && y == 0 {
		p.TextOn(screen.Muted, screen.Bare, [...]display.Text{sentSection: page.noBodyText(), wroteSection: display.Lit("no argument bytes")}[f])
	}
	above := m.sections[f].Top
	below := s.Rows - above - h
	switch {
	case m.full, y > 0 && y < h-1, y == 0 && above == 0, y == h-1 && below <= 0:
		s.Draw(p, above+y, marked)
	case y == 0:
		p.Text(screen.Muted, p.Format("(%s above)", screen.Plural(above+1, "line")))
	default:
		p.Text(screen.Muted, p.Format("(%s below)", screen.Plural(below+1, "line")))
	}
}

// sectionHeadRows is the number of rows above a section that fills the screen.
const sectionHeadRows = 2

// drawFull writes row y of the section that fills the screen.
func (m *replayMode) drawFull(p *screen.Pen, y int) {
	switch {
	case y == 0:
		m.drawSectionTitles(p)
	case y == 1:
		p.TextOn(screen.Plain, screen.Bare, p.Truncate(p.Format("  to %s, as %s", m.targets[m.to].Name, m.policyName()), p.Left))
		for _, size := range m.sectionSizes(m.section) {
			if size.Width()+3 < p.Left {
				p.TextOn(screen.Muted, screen.Bare, size.Between("   ", ""))
				break
			}
		}
	case m.section == lossSection:
		if page, n := m.currentPage(), m.sections[lossSection].Top+y-sectionHeadRows; page != nil && n < len(page.notes) {
			p.Spaces(screen.Bare, 1)
			p.TextOn(page.notes[n].Role, screen.Bare, page.notes[n].Text)
		}
	default:
		m.drawSheet(p, m.section, y-sectionHeadRows, m.h-sectionHeadRows)
	}
}

// drawSectionTitles writes the titles of all sections. If they don't fit, it writes only the title of the shown
// section.
func (m *replayMode) drawSectionTitles(p *screen.Pen) {
	w := m.sections[m.section]
	right := p.Format(" %s to %s of %s ", screen.Count(min(w.Top+1, w.Rows)), screen.Count(min(w.Rows, w.Top+w.Height)), screen.Count(w.Rows))
	all := p.Left > 64+right.Width()
	for f := range numSections {
		if f == m.section {
			p.Text(screen.Accent, display.Join(display.Lit(" "), p.Glyph.Mark, p.Clean(f.String()), display.Lit("  ")))
		} else if all {
			p.Text(screen.Muted, p.Clean(f.String()).Between("  ", "  "))
		}
	}
	if w.Rows > w.Height {
		p.Right(screen.Muted, screen.Bare, right)
	}
}
