package ui

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"
)

// delivered says what became of a body that was copied or saved.
type delivered struct{ text string }

// copy puts the body of the cell that is asked for into the clipboard.
func (r *replayView) copy(m *Model) tea.Cmd {
	put := m.opt.Copy
	return r.deliver(m, put != nil, "copied", " by ", put)
}

// save writes it to a new file.
func (r *replayView) save(m *Model) tea.Cmd {
	save, name := m.opt.Save, r.fileName()
	return r.deliver(m, save != nil, "saved", " as ", func(body []byte) (string, error) { return save(name, body) })
}

// deliver has the body of the cell that is asked for taken somewhere, and says
// where it is then.
func (r *replayView) deliver(m *Model, can bool, done, where string, take func([]byte) (string, error)) tea.Cmd {
	job := m.rehearse() // other keys may have come with this one
	body, what := r.ready(m)
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
		m.say("not there yet")
	case page.body == nil:
		m.say("nothing would be sent")
	default:
		what = fmt.Sprintf("%s, %s for %s,", bytesText(len(page.body)), plural(page.messages, "message"), r.targets[r.to].Name)
		return page.body, what
	}
	return nil, ""
}

// fileName is what a saved body is called.
func (r *replayView) fileName() string {
	which := "turn"
	switch {
	case r.scope == conversationScope:
		which = "conversation"
	case r.scope == callScope:
		which = fmt.Sprint(r.of.call.Number)
	}
	return fmt.Sprintf("replay-%d-%s-%s.json", r.of.turn.Number+1, which, r.targets[r.to].Name)
}
