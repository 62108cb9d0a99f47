package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"toolscope/themes"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// Edit is a program that shows a text to the user, who may change it, and what removes what that
// needed. The program has the terminal while it runs.
type Edit func(name string, data []byte) (program tea.ExecCommand, remove func(), err error)

// outlet is where what is shown can be taken.
func (m *Model) outlet() modes.Exporter {
	o := modes.Exporter{Copy: m.opt.Copy, Save: m.opt.Save, Pipe: m.opt.Pipe, Show: m.openOutput, Note: display.Lit("OSC 52 takes 75 kB")}
	if m.opt.Edit != nil {
		o.Edit = m.edit
	}
	return o
}

// takes are the entries that take something of what is chosen.
func (m *Model) takes() (all []modes.Entry) {
	for verb := range modes.Pipe + 1 {
		all = append(all, modes.ExportMenu(verb, m.outlet(), m.pieces, m.draw))
	}
	return all
}

// pieces are what can be taken now, and of what.
func (m *Model) pieces() ([]modes.ExportItem, display.Text) {
	var at []modes.ExportItem
	if held, ok := m.focus.(panes.ValuePane); ok {
		path, value, raw := held.ValueAtCursor()
		if path != "" {
			at = []modes.ExportItem{
				{Key: "v", What: display.Lit("value, decoded"), File: "value.txt", Data: value},
				{Key: "j", What: display.Lit("value, as JSON"), File: "value.json", Data: raw},
				{Key: "p", What: display.Lit("path"), File: "path.txt", Data: []byte(path)},
			}
		}
	}
	if told, ok := m.focus.(panes.Quotable); ok {
		if what, sentence := told.Quote(); sentence != nil {
			at = append(at, modes.ExportItem{Key: "s", What: what, File: "report.txt", Data: sentence})
		}
	}
	return modes.ExportItems(m.view, m.chosen, at, m.opt.Forms), m.way().last()
}

// edit opens a text in the user's editor.
func (m *Model) edit(name string, data []byte, closed func(error)) {
	program, remove, err := m.opt.Edit(name, data)
	if err != nil {
		closed(err)
		return
	}
	m.do(tea.Exec(program, func(err error) tea.Msg {
		remove()
		return done{0, func() { m.askMouse(); closed(err) }}
	}))
}

// openOutput shows what a command printed.
func (m *Model) openOutput(of panes.Literal) {
	m.open(modes.NewReader(asHost{m}, of, func() *screen.Paints { return m.pen.Ink }, m.draw))
}

// themes are how the picker of themes changes how everything looks.
func (m *Model) themes() modes.ThemeActions {
	return modes.ThemeActions{
		Own: m.opt.Themes, Now: func() themes.Theme { return m.pen.Ink.Theme }, Apply: m.paint, Save: m.opt.Remember,
		Pen: m.penOf,
	}
}
