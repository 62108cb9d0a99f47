package ui

import (
	"fmt"

	"toolscope/ui/display"
	"toolscope/ui/screen"

	"toolscope/providers/replay"

	tea "github.com/charmbracelet/bubbletea"
)

// delivered says what became of a body that was copied or saved.
type delivered struct{ text string }

// outgoing is a mode that shows a body which would be sent.
type outgoing interface {
	ready(m *Model) (body []byte, what string)
	fileName() string
}

// copyBody puts the body that is shown into the clipboard.
func (m *Model) copyBody(of outgoing) tea.Cmd {
	put := m.opt.Copy
	return m.deliver(of, put != nil, "copied", " by ", put)
}

// saveBody writes it to a new file.
func (m *Model) saveBody(of outgoing) tea.Cmd {
	save, name := m.opt.Save, of.fileName()
	return m.deliver(of, save != nil, "saved", " as ", func(body []byte) (string, error) { return save(name, body) })
}

// deliver has the body that is shown taken somewhere, and says where it is then.
func (m *Model) deliver(of outgoing, can bool, done, where string, take func([]byte) (string, error)) tea.Cmd {
	job := m.prepare() // other keys may have come with this one
	body, what := of.ready(m)
	if body == nil || !can {
		return job
	}
	return tea.Batch(job, func() tea.Msg {
		place, err := take(body)
		if err != nil {
			return delivered{"not " + done + ": " + err.Error()}
		}
		return delivered{done + " " + what + where + place}
	})
}

// ready is the body of the cell that is asked for, nil if there is none, and what
// it is in words.
func (r *replayView) ready(m *Model) (body []byte, what string) {
	page := r.current()
	switch {
	case page == nil:
		m.say(display.Lit("not there yet"))
	case page.body == nil:
		m.say(display.Lit("nothing would be sent"))
	default:
		what = fmt.Sprintf("%s, %s for %s,", screen.Bytes(len(page.body)), screen.Plural(page.messages, "message"), r.targets[r.to].Name)
		return page.body, what
	}
	return nil, ""
}

// fileName is what a saved body is called.
func (r *replayView) fileName() string {
	which := r.scope.String()
	if r.scope == replay.OneCall {
		which = fmt.Sprint(r.of.Call.Number)
	}
	return fmt.Sprintf("replay-%d-%s-%s.json", r.of.Turn.Number+1, which, r.targets[r.to].Name)
}
