package ui

import (
	"fmt"
	"slices"

	"toolscope/ui/screen"

	"github.com/charmbracelet/bubbles/textinput"

	"toolscope/providers"
	"toolscope/providers/host"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/ui/display"

	tea "github.com/charmbracelet/bubbletea"
)

// resendView is the mode that sends a captured request again, to where it came
// from or elsewhere: a list of hosts, and what the chosen one would be sent.
type resendView struct {
	screen.Window // of the hosts
	turn          *stream.Turn
	captured      host.Captured
	answered      int // results that go with it, which were typed here
	places        []Place
	origin        *host.Host          // where it came from, nil if that is nobody known
	asItIs        map[*host.Host]bool // the captured body may go there unchanged
	models        map[*host.Host]string
	follow        bool // what the program does when it comes back

	policy int // in replay.Policies, or unchanged
	raw    bool
	full   bool // the body is shown alone
	typing *textinput.Model
	face   screen.Window // of the body

	wanted draftKey
	draft  *draft
	made   int // how often a draft was made
}

// unchanged is the policy of sending the captured body as it is.
const unchanged = -1

// openResend offers to send the request of the chosen turn again.
func (m *Model) openResend() {
	t := m.turn()
	if t == nil {
		m.say(display.Lit("no request to send again"))
		return
	}
	m.openSending(t, nil)
}

// openSending offers to send the request of a turn, with results of its calls if
// there are any.
func (m *Model) openSending(t *stream.Turn, results []host.Result) {
	if m.opt.Send == nil || len(m.opt.Places) == 0 {
		m.say(display.Lit("nothing can be sent from here"))
		return
	}
	x := m.in.Exchange(t.Exchange)
	c, err := host.Capture(x)
	if err != nil {
		m.say(m.draw.Clean(err.Error()))
		return
	}
	r := &resendView{turn: t, answered: len(results), follow: m.follow, policy: unchanged, models: map[*host.Host]string{}, asItIs: map[*host.Host]bool{}}
	r.places, r.Rows = slices.Clone(m.opt.Places), len(m.opt.Places)
	r.findOrigin(c, x)
	for _, p := range r.places {
		r.models[p.Host] = p.Host.ModelOf(c, "")
		r.asItIs[p.Host] = len(results) == 0 && p.Host.AsItIs(c)
	}
	if len(results) > 0 {
		answer := *t // what comes later does not change what is sent
		answer.Calls = slices.Clone(t.Calls)
		c.Answer(replay.Message(&answer, providers.TargetOf(t.Dialect)), results)
	}
	r.captured = c
	m.setFollow(false)
	m.openOld(r)
}

// findOrigin puts the host that the request came from first.
func (r *resendView) findOrigin(c host.Captured, x *providers.Exchange) {
	r.origin = host.Origin(c, x.Head.URL)
	if named, err := host.Find(x.Head.File); err == nil { // as those are that were asked from here
		r.origin = named
	}
	at := slices.IndexFunc(r.places, func(p Place) bool { return p.Host == r.origin })
	if at < 0 {
		return
	}
	p := r.places[at]
	r.places = slices.Insert(slices.Delete(r.places, at, at+1), 0, p)
}

// place is where the request would go.
func (r *resendView) place() *Place { return &r.places[r.At] }

// isUnchanged reports whether the captured body goes as it is.
func (r *resendView) isUnchanged() bool {
	return r.policy == unchanged && r.mayBeUnchanged()
}

// mayBeUnchanged reports whether the captured body may go there as it is, and asks
// for the model that is wanted.
func (r *resendView) mayBeUnchanged() bool {
	h := r.place().Host
	return r.asItIs[h] && r.models[h] == r.captured.Asks()
}

// step goes on by so many policies, from the last to the first.
func (r *resendView) step(by int) {
	first := 0
	if r.mayBeUnchanged() {
		first = unchanged
	}
	n := len(replay.Policies) - first
	r.policy = (max(r.policy, first)-first+by+n)%n + first
	r.face = screen.Window{}
}

func (r *resendView) update(m *Model, k tea.KeyMsg) tea.Cmd {
	km := m.keys
	if r.typing != nil {
		r.typeModel(k)
		return nil
	}
	switch {
	case km.is(k, km.Escape, km.Quit):
		if r.full {
			r.full = false
		} else {
			r.close(m)
		}
	case km.is(k, km.Help):
		m.openHelp()
	case km.is(k, km.Enter):
		return r.send(m)
	case km.is(k, km.Replay) && k.String() == "P":
		r.step(-1)
	case km.is(k, km.Replay):
		r.step(1)
	case km.is(k, km.Mark):
		r.editModel()
	case km.is(k, km.Next, km.Back, km.Left, km.Right):
		r.full = !r.full
	case km.is(k, km.Raw):
		r.raw = !r.raw
	case km.is(k, km.Copy):
		return m.copyBody(r)
	case km.is(k, km.Save):
		return m.saveBody(r)
	case km.is(k, km.Pause, km.Speed, km.Theme):
		m.elsewhere(k)
	case r.full:
		if row, ok := km.move(k, r.face.Pages()); ok {
			r.face.Scroll(row)
		}
	default:
		if row, ok := km.move(k, r.Window); ok && row != r.At {
			r.MoveTo(row)
			r.face = screen.Window{}
		}
	}
	return nil
}

// close goes back to where the view was opened from.
func (r *resendView) close(m *Model) {
	m.closeTop()
	if r.follow {
		m.setFollow(true)
	}
}

// editModel lets the user say which model is asked.
func (r *resendView) editModel() {
	in := textinput.New()
	in.CharLimit = 200
	in.SetValue(r.models[r.place().Host])
	in.CursorEnd()
	in.Focus()
	r.typing = &in
}

// typeModel gives a key to the name of the model. An empty one is what is asked
// for without.
func (r *resendView) typeModel(k tea.KeyMsg) {
	switch k.Type {
	case tea.KeyEnter:
		h := r.place().Host
		r.models[h] = h.ModelOf(r.captured, r.typing.Value())
		r.typing = nil
	case tea.KeyEsc:
		r.typing = nil
	default:
		*r.typing, _ = r.typing.Update(k)
	}
}

// send sends what is shown.
func (r *resendView) send(m *Model) tea.Cmd {
	job := m.prepare() // other keys may have come with this one
	p, d := r.place(), r.current()
	switch {
	case d == nil:
		m.say(display.Lit("not there yet"))
	case p.Trouble != "":
		m.say(m.draw.Clean(p.Trouble))
	case d.trouble != "":
		m.say(m.draw.Clean(d.trouble))
	case m.send(SendRequest{Host: p.Host, Model: d.key.model, URL: d.url, Body: d.body}):
		m.closeTop()
	}
	return job
}

// ready is the body that is shown, nil if there is none, and what it is in words.
func (r *resendView) ready(m *Model) (body []byte, what string) {
	switch d := r.current(); {
	case d == nil:
		m.say(display.Lit("not there yet"))
	case d.body == nil:
		m.say(display.Lit("nothing would be sent"))
	default:
		return d.body, fmt.Sprintf("%s for %s,", screen.Bytes(len(d.body)), r.place().Host.Name)
	}
	return nil, ""
}

// fileName is what a saved body is called.
func (r *resendView) fileName() string {
	return fmt.Sprintf("request-%d-%s.json", r.turn.Number+1, r.place().Host.Name)
}

// footer shows the keys worth knowing, as many as fit, or the model that is typed.
func (r *resendView) footer(m *Model, p *screen.Pen) {
	if r.typing != nil {
		p.Say(screen.Accent, display.Lit(" model "))
		drawTyped(p, r.typing, display.Lit("   enter keep   esc cancel "))
		return
	}
	if !m.notice.Empty() {
		p.Put(screen.Caution, screen.Bare, m.draw.Truncate(m.notice.Between(" ", ""), p.Left))
		return
	}
	keys := []string{"esc close", "enter send", "p policy", "m model", "tab body", "r raw", "y copy", "w save", "? help"}
	if r.full {
		keys = []string{"esc back", "enter send", "j k scroll", "p policy", "r raw", "y copy", "w save", "? help"}
	}
	oldHints(p, keys)
}

// drawTyped writes what is being typed, its cursor, and a hint.
func drawTyped(p *screen.Pen, in *textinput.Model, hint display.Text) {
	typed, at := []rune(in.Value()), in.Position()
	p.Outside(screen.Plain, screen.Bare, string(typed[:at]))
	p.Say(screen.Live, p.Glyph.Cursor)
	p.Outside(screen.Plain, screen.Bare, string(typed[at:]))
	p.Tail(screen.Muted, screen.Bare, hint)
}
