package ui

import (
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/providers"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// A RecentCapture is a capture to choose from if there is no source.
type RecentCapture struct {
	Name    string
	Bytes   int64
	Written time.Time // the time of its last byte
	Open    bool      // it is still being recorded
	Read    func() Inbox
}

// recentCaptures is the mode that lists recent captures, and offers the demo.
type recentCaptures struct {
	screen.Window
	m *Model
}

// Keys returns the keys of the list. Nothing else is open with it.
func (r *recentCaptures) Keys() []screen.Binding {
	return append([]screen.Binding{
		{Keys: []string{"enter"}, Hint: display.Lit("enter open"), Does: display.Lit("open the capture"), Do: r.openSelected},
		{Keys: []string{"d"}, Hint: display.Lit("d demo"), Does: display.Lit("play the demo"), Do: func() {
			r.m.closeTop()
			r.m.playDemo()
		}},
		{Keys: []string{"q", "esc"}, Hint: display.Lit("q quit"), Does: display.Lit("quit"), Do: func() { r.m.queueCmd(tea.Quit) }},
	}, r.CursorKeys(display.Text{}, r.MoveTo)...)
}

// openSelected opens the selected capture, and follows one that is still being recorded.
func (r *recentCaptures) openSelected() {
	m, chosen := r.m, r.m.opt.Recent[r.At]
	m.opt.Inbox, m.opt.Source, m.opt.Demo = chosen.Read(), chosen.Name, nil
	m.closeTop()
	m.queueCmd(waitForInbox(m.opt.Inbox, 0))
	m.setFollow(true)
}

func (r *recentCaptures) Extend(_ *providers.View, _, h int) {
	r.Fit(len(r.m.opt.Recent), 1, h-1)
}

func (r *recentCaptures) Draw(p *screen.Pen, y int) {
	defer p.Fill(screen.Bare)
	if y == 0 {
		p.Text(screen.Accent, display.Lit(" CAPTURES "))
		p.Text(screen.Muted, screen.Count(r.Rows))
		return
	}
	row := r.Top + y - 1
	if row >= r.Rows || y > r.Height {
		return
	}
	g, mark := screen.Bare, display.Lit("  ")
	if row == r.At {
		g, mark = screen.Selected, p.Glyph.Mark.Between("", " ")
	}
	one := r.m.opt.Recent[row]
	p.TextOn(screen.Accent, g, mark)
	p.TextOn(screen.Plain, g, p.Format("%s  ", p.Clean(one.Written.Local().Format("2006-01-02 15:04"))))
	p.TextOn(screen.Muted, g, padLeft(p, screen.Bytes(int(one.Bytes)), 11).Between("", "  "))
	if one.Open {
		p.TextOn(screen.Live, g, display.Lit("recording  "))
	}
	p.TextOn(screen.Muted, g, p.Truncate(p.Name(one.Name), p.Left))
	p.Fill(g)
}
