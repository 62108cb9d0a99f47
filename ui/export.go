package ui

import (
	"cmp"
	"errors"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"toolscope/stream"
	"toolscope/themes"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/panes"
	"toolscope/ui/present"
	"toolscope/ui/screen"
	"toolscope/ui/send"
)

// EditorCommand returns a program that opens a string in an editor, and a function that removes the program's
// temporary files. The program controls the terminal while it runs.
type EditorCommand func(name string, data []byte) (program tea.ExecCommand, remove func(), err error)

// exports writes, copies and opens data of the selection.
type exports struct{ m *Model }

// newExport returns an exporter that uses the functions in the options.
func (x *exports) newExport() modes.Exporter {
	o := modes.Exporter{Copy: x.m.opt.Copy, Save: x.m.opt.Save, Pipe: x.m.opt.Pipe, Show: x.m.openOutput, Note: display.Lit("by OSC 52, up to 75 kB"), Prefix: x.exportPrefix()}
	if x.m.opt.Edit != nil {
		o.Edit = x.editText
	}
	return o
}

// maxPrefix is the maximum length of a tool's name in a file name, in bytes.
const maxPrefix = 60

// exportPrefix returns the prefix for default file names: the tool and the verdict, e.g. edit_file-malformed.
// It is "" if no call is selected.
func (x *exports) exportPrefix() string {
	c := x.m.selectedCall()
	if c == nil {
		return ""
	}
	keep := func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '-'
	}
	text := present.CallName(c.Name[:min(len(c.Name), maxPrefix)])
	if words := present.VerdictOfCall(c).Words; words != "" {
		text += "-" + words
	}
	return strings.Trim(strings.Map(keep, text), "-.")
}

// exportables returns the items that can be exported now, and the name of their source.
func (x *exports) exportables() ([]modes.ExportItem, display.Text) {
	var at []modes.ExportItem
	spot := x.m.focus.Spot()
	if spot.Value != nil {
		if path, value, raw := spot.Value(); path != "" {
			at = []modes.ExportItem{
				{Key: "s", What: display.Lit("value, decoded"), File: "value.txt", Data: value},
				{Key: "j", What: display.Lit("value, as JSON"), File: "value.json", Data: raw},
				{Key: "p", What: display.Lit("path of the value"), File: "path.txt", Data: []byte(path)},
			}
		}
	}
	if spot.Sentence != nil {
		at = append(at, modes.ExportItem{Key: "f", What: spot.What, File: "finding.txt", Data: spot.Sentence()})
	}
	if x.m.selectedCall() != nil {
		at = append(at, modes.ExportItem{Key: "v", What: display.Lit("verdict"), File: "verdict.txt", Make: x.verdictText})
	}
	return modes.ExportItems(x.m.view, x.m.selected, at, x.m.opt.Forms), x.m.placeText()
}

// verdictText returns the verdict on the selected call in up to three lines: the error, its cause, and the
// advice.
func (x *exports) verdictText() ([]byte, error) {
	t, c := x.m.view.Find(x.m.selected)
	if c == nil { // the moment changed while the menu was open
		return nil, errors.New("no call is selected at this moment")
	}
	v := present.VerdictOfCall(c)
	text := present.CallName(c.Name) + ": " + cmp.Or(v.Words, c.Status().String())
	f := v.Finding
	if f == nil && v.Harm != present.Healthy {
		f = explainingFinding(c, t)
	}
	if f != nil {
		text += ", " + f.Message + "\ncause: " + f.CausedBy() + "\ndo: " + f.Advice
	}
	return []byte(text), nil
}

// editText opens a string in the user's editor.
func (x *exports) editText(name string, data []byte, closed func(error)) {
	program, remove, err := x.m.opt.Edit(name, data)
	if err != nil {
		closed(err)
		return
	}
	x.m.modeStack.queueCmd(tea.Exec(program, func(err error) tea.Msg {
		remove()
		return workDone{0, func() { x.m.mouse.askMouse(); closed(err) }}
	}))
}

// openOutput shows the output of a command.
func (m *Model) openOutput(of panes.Literal) {
	m.modeStack.pushMode(modes.NewReader(modeHost{m}, of, func() *screen.Paints { return m.pen.Ink }, m.draw))
}

// themeActions returns the actions of the theme picker.
func (s *settings) themeActions() modes.ThemeActions {
	return modes.ThemeActions{
		Own: s.m.opt.Themes, Now: func() themes.Theme { return s.m.pen.Ink.Theme }, Apply: s.m.setTheme, Save: s.m.opt.Remember,
		Pen: s.m.penOf,
	}
}

// SendRequest sends a request. Its records must have the given exchange number. They arrive in the inbox
// Options.Answers, the last one with End set. SendRequest does not wait for the response. It returns an error
// if the request can't be sent.
type SendRequest func(r send.Request, exchange int) error

// outbox tracks the requests that toolscope sends. Their exchanges have the numbers -1, -2, …, which no
// source uses.
type outbox struct {
	m       *Model
	sent    int
	flying  map[int]bool // exchanges that have not ended
	awaited int          // the exchange whose turn is selected once it opens; 0 for none
}

// sendDependencies returns the dependencies for the modes in package send.
func (ob *outbox) sendDependencies() send.Dependencies {
	means := send.Dependencies{
		Places: ob.m.opt.Places, Results: ob.m.results, Outlet: ob.m.exports.newExport(), Draw: ob.m.draw,
	}
	if ob.m.opt.Send != nil {
		means.Send = ob.sendRequest
	}
	return means
}

// sendRequest sends a request. Its turn is selected when it opens, unless the user has gone elsewhere.
func (ob *outbox) sendRequest(r send.Request) error {
	p := &ob.m.outbox
	exchange := -(p.sent + 1)
	if err := ob.m.opt.Send(r, exchange); err != nil {
		return err
	}
	ob.m.moment.goNow()
	p.sent++
	p.flying[exchange] = true
	ob.m.setFollow(false)
	p.awaited = exchange
	return nil
}

// followSentTurn starts to follow new traffic once the awaited turn opens.
func (ob *outbox) followSentTurn() {
	if ob.awaited == 0 {
		return
	}
	if t := ob.m.view.TurnOf(ob.awaited); t != nil {
		ob.m.notice = display.Text{}
		ob.m.setFollow(true)
	}
}

// endSource records that the source has ended, and cuts off its open exchanges. Requests that toolscope sent
// continue.
func (m *Model) endSource(err error) {
	m.ended, m.failure = true, err
	if len(m.outbox.flying) == 0 {
		m.in.Close()
		return
	}
	for _, x := range m.in.Exchanges() {
		if !m.outbox.flying[x.Number] {
			m.in.End(x.Number)
		}
	}
}

// hasSourceEnded reports whether the source has ended.
func (m *Model) hasSourceEnded() bool { return m.ended || m.opt.Inbox == nil }

// isLive reports whether more data may arrive from the source or for requests that toolscope sent.
func (m *Model) isLive() bool { return !m.hasSourceEnded() || len(m.outbox.flying) > 0 }

// openJQ runs jq on the selected call, or on the calls of the selected turn. The user can switch to all shown turns.
// Without an expression, openJQ runs the path of the value at the cursor.
func (m *Model) openJQ(expr string) {
	if expr == "" { // the value at the cursor
		if expr = m.doc.Path(); !strings.HasPrefix(expr, ".") || m.selectedCall() == nil {
			expr = "." + expr
		}
	}
	all := modes.Scope{Name: display.Lit("all calls"), Calls: func() []modes.JQCall {
		return modes.JQCalls(m.view.Session().Turns, m.filtering.turns.Shows)
	}}
	if m.filtering.turns.Active() {
		all.Name = display.Lit("all calls in the shown turns")
	}
	chosen := m.selected
	one := modes.Scope{Name: display.Lit("this turn"), Calls: func() []modes.JQCall {
		t, c := m.view.Find(chosen)
		switch {
		case t == nil:
			return nil
		case c != nil:
			return []modes.JQCall{modes.NewJQCall(t, c)}
		}
		return modes.JQCalls([]*stream.Turn{t}, func(*stream.Turn) bool { return true })
	}}
	if chosen.Call != 0 {
		one.Name = display.Lit("this call")
	}
	mode, why := modes.NewJQ(modeHost{m}, expr, []modes.Scope{one, all}, m.draw)
	if mode == nil {
		m.showNotice(why)
		return
	}
	m.modeStack.pushMode(mode)
}
