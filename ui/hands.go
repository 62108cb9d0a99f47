package ui

import (
	tea "github.com/charmbracelet/bubbletea"

	"toolscope/themes"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/screen"
)

// EditorCommand returns a program that opens a text in an editor, and a function that removes its files.
// The program controls the terminal while it runs.
type EditorCommand func(name string, data []byte) (program tea.ExecCommand, remove func(), err error)

// newExport returns the exporter with the functions of the options.
func (m *Model) newExport() modes.Exporter {
	o := modes.Exporter{Copy: m.opt.Copy, Save: m.opt.Save, Pipe: m.opt.Pipe, Show: m.openOutput, Note: display.Lit("OSC 52 takes 75 kB")}
	if m.opt.Edit != nil {
		o.Edit = m.editText
	}
	return o
}

// exportEntries returns the entries that export from the selection.
func (m *Model) exportEntries() (all []modes.Entry) {
	for verb := range modes.Pipe + 1 {
		all = append(all, modes.ExportMenu(verb, m.newExport(), m.exportables, m.draw))
	}
	return all
}

// exportables returns the current export items, and the name of their source.
func (m *Model) exportables() ([]modes.ExportItem, display.Text) {
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
	return modes.ExportItems(m.view, m.selected, at, m.opt.Forms), m.breadcrumb().lastWithPlace()
}

// editText opens a text in the user's editor.
func (m *Model) editText(name string, data []byte, closed func(error)) {
	program, remove, err := m.opt.Edit(name, data)
	if err != nil {
		closed(err)
		return
	}
	m.queueCmd(tea.Exec(program, func(err error) tea.Msg {
		remove()
		return workDone{0, func() { m.askMouse(); closed(err) }}
	}))
}

// openOutput shows the output of a command.
func (m *Model) openOutput(of panes.Literal) {
	m.pushMode(modes.NewReader(modeHost{m}, of, func() *screen.Paints { return m.pen.Ink }, m.draw))
}

// themeActions returns the actions of the theme picker.
func (m *Model) themeActions() modes.ThemeActions {
	return modes.ThemeActions{
		Own: m.opt.Themes, Now: func() themes.Theme { return m.pen.Ink.Theme }, Apply: m.setTheme, Save: m.opt.Remember,
		Pen: m.penOf,
	}
}
