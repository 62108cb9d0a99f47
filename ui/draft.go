package ui

import (
	"bytes"
	"strings"

	"toolscope/providers/host"
	"toolscope/providers/replay"
	"toolscope/ui/display"
	"toolscope/ui/panes"
	"toolscope/ui/screen"

	tea "github.com/charmbracelet/bubbletea"
)

// draftKey is what a draft was made from.
type draftKey struct {
	host         *host.Host
	address      string
	trouble      string // why nothing can be sent there
	policy       int
	model        string
	raw          bool
	width, notes int
}

// draft is a request as it is shown before it is sent. It does not change once
// made.
type draft struct {
	key     draftKey
	url     string
	body    []byte
	trouble string // why it cannot be sent
	sheet   panes.Sheet
	added   int // bytes of arguments that the model did not write
	notes   []panes.Note
}

// composed is what a job brings.
type composed struct {
	view  *resendView
	draft *draft
}

// want notes which draft is to be shown.
func (r *resendView) want(m *Model) {
	p, plan := r.place(), r.plan(m)
	r.wanted = draftKey{
		host: p.Host, address: p.Address, trouble: p.Trouble, policy: max(r.policy, 0), model: r.models[p.Host], raw: r.raw,
		width: max(plan.bodyW-1, 1), notes: max(plan.listW-1, 1),
	}
	if r.isUnchanged() {
		r.wanted.policy = unchanged
	}
	if r.full {
		r.wanted.width = max(m.w-1, 1)
	}
}

// work has the draft made that is to be shown. A small one is there when it
// returns.
func (r *resendView) work(m *Model) tea.Cmd {
	r.want(m)
	if m.working || r.draft != nil && r.draft.key == r.wanted {
		return nil
	}
	k, c, draw := r.wanted, r.captured, m.draw
	if len(c.Body) < atOnce {
		r.draft = compose(k, c, draw)
		r.made++
		return nil
	}
	m.working = true
	return func() tea.Msg { return composed{r, compose(k, c, draw)} }
}

// written takes what a job brings, if its view is still there.
func (m *Model) written(c composed) {
	m.working = false
	if r := c.view; m.isOldOpen(r) {
		r.draft = c.draft
		r.made++
	}
}

// current is the draft to show or to send, nil while it is being made.
func (r *resendView) current() *draft {
	if r.draft == nil {
		return nil
	}
	k := r.draft.key
	k.width, k.notes, k.raw = r.wanted.width, r.wanted.notes, r.wanted.raw
	if k != r.wanted {
		return nil
	}
	return r.draft
}

// compose makes a request for a host and lays it out.
func compose(k draftKey, c host.Captured, draw display.Drawer) *draft {
	d := &draft{key: k}
	var marks []panes.Span
	if k.trouble != "" {
		d.note(screen.Bad, draw.Format("cannot be sent: %s", k.trouble))
	}
	if bytes.Contains(c.Body, []byte("[redacted:")) {
		d.note(screen.Caution, display.Lit("secrets were taken out of what was captured: [redacted:...] is sent in their place"))
	}
	if k.policy == unchanged {
		d.url, _ = k.host.RawRequest(c.Body, k.model, k.address)
		d.body = c.Body
		d.note(screen.Good, display.Lit("byte for byte as it was captured"))
	} else {
		marks = d.resend(c, draw)
	}
	if d.body != nil {
		d.sheet.Add(panes.NewBlock(display.Text{}, d.body, k.raw, marks, k.width, draw))
		if len(marks) > 0 {
			d.sheet.LookAt = marks[0].Start
		}
	}
	return d
}

// resend makes the request from the captured one, and says what that loses. The
// spans are those of arguments that the model did not write so.
func (d *draft) resend(c host.Captured, draw display.Drawer) (marks []panes.Span) {
	k := d.key
	out, err := k.host.Resend(c, k.model, &replay.Policies[k.policy])
	if err != nil {
		d.trouble = err.Error()
		d.note(screen.Bad, draw.Format("cannot be sent: %s", screen.Short(d.trouble)))
		return nil
	}
	d.url, d.body = k.host.Build(out.Request, k.address)
	if len(out.Left) > 0 {
		d.note(screen.Caution, draw.Format("tools that cannot be declared there: %s", screen.Short(strings.Join(out.Left, ", "))))
	}
	if out.Moved > 0 {
		d.note(screen.Caution, screen.Plural(out.Moved, "instruction").Between("", " from inside the conversation: before it now"))
	}
	d.notes = append(d.notes, panes.Notes(&out.Preview, replay.WholeConversation, k.notes, draw)...)
	found, added := panes.FindArgs([][]byte{d.body}, out.Preview.Calls)
	for _, args := range found {
		marks = append(marks, args.Marks...)
	}
	d.added = added
	return marks
}

// note adds a note of ours.
func (d *draft) note(r screen.Role, text display.Text) {
	for i, line := range display.Wrap(text, max(d.key.notes-4, 8)) {
		if i > 0 {
			line = line.Between("  ", "")
		}
		d.notes = append(d.notes, panes.Note{Role: r, Text: line})
	}
}
