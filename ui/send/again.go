package send

import (
	"fmt"
	"slices"

	"toolscope/providers"
	"toolscope/providers/host"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/screen"
)

// again sends a captured request again, to where it came from or elsewhere: a list of hosts, and
// what the chosen one would be sent.
type again struct {
	screen.Window // of the hosts
	host          modes.Host
	means         Means
	turn          int // its number, as the list counts
	captured      host.CapturedRequest
	answered      int // results that go with it, which were typed here
	places        []Place
	origin        *host.Host          // where it came from, nil if that is nobody known
	asItIs        map[*host.Host]bool // the captured body may go there unchanged
	models        map[*host.Host]string

	policy int // in replay.Behaviours, or unchanged
	raw    bool
	full   bool // the body is shown alone
	typing *screen.Input
	w      int // cells
	plan   plan
	face   screen.Window // of the body

	wanted draftKey
	draft  *draft
	making bool // beside the screen
}

// unchanged is the policy of sending the captured body as it is.
const unchanged = -1

// Again is the entry that offers to send the request of the chosen turn again.
func Again(m Means) modes.Entry {
	key := screen.Binding{Keys: []string{"R"}, Does: display.Lit("send the request again")}
	return modes.Entry{Binding: key, New: func(h modes.Host) (modes.Mode, display.Text) {
		t, _ := h.View().Find(h.Chosen())
		return newAgain(h, m, t, nil)
	}}
}

// newAgain offers to send the request of a turn, with results of its calls if there are any; or
// says why not.
func newAgain(h modes.Host, m Means, t *stream.Turn, results []host.Result) (modes.Mode, display.Text) {
	switch {
	case t == nil:
		return nil, display.Lit("no request to send again")
	case m.Send == nil || len(m.Places) == 0:
		return nil, nowhere
	case len(results) > 0 && t.Kept != stream.Whole:
		return nil, notKept
	}
	x := h.View().Exchange(t.Exchange)
	c, err := host.Capture(x)
	if err != nil {
		return nil, m.Draw.Clean(err.Error())
	}
	a := &again{
		host: h, means: m, turn: int(t.Number) + 1, answered: len(results), policy: unchanged,
		places: slices.Clone(m.Places), models: map[*host.Host]string{}, asItIs: map[*host.Host]bool{},
	}
	a.Rows = len(a.places)
	a.findOrigin(c, x)
	for _, p := range a.places {
		a.models[p.Host] = p.Host.ModelOf(c, "")
		a.asItIs[p.Host] = len(results) == 0 && p.Host.AsItIs(c)
	}
	if len(results) > 0 {
		answer := *t // what comes later does not change what is sent
		answer.Calls = slices.Clone(t.Calls)
		c.ContinueFrom(replay.Message(&answer, providers.TargetOf(t.Dialect)), results)
	}
	a.captured = c
	return a, display.Text{}
}

var (
	nowhere = display.Lit("nothing can be sent from here")
	notKept = display.Lit("the arguments of its calls are not kept")
)

// findOrigin puts the host that the request came from first.
func (a *again) findOrigin(c host.CapturedRequest, x *providers.Exchange) {
	a.origin = host.Origin(c, x.Head.URL)
	if named, err := host.Find(x.Head.File); err == nil { // as those are that were asked from here
		a.origin = named
	}
	at := slices.IndexFunc(a.places, func(p Place) bool { return p.Host == a.origin })
	if at < 0 {
		return
	}
	p := a.places[at]
	a.places = slices.Insert(slices.Delete(a.places, at, at+1), 0, p)
}

// Typing is the name of the model.
func (a *again) Typing() *screen.Input { return a.typing }

// Keys are those that send it and change what is sent; while a name is typed, those that end that.
func (a *again) Keys() []screen.Binding {
	if a.typing != nil {
		return []screen.Binding{
			{Keys: []string{"enter"}, Hint: display.Lit("enter keep"), Does: display.Lit("ask this model"), Do: a.keepModel},
			{Keys: []string{"esc"}, Hint: display.Lit("esc cancel"), Does: display.Lit("the model as before"), Do: func() { a.typing = nil }},
		}
	}
	turn := func() { a.full = !a.full }
	back, model, body := display.Lit("esc close"), display.Lit("m model"), display.Lit("tab body")
	if a.full {
		back, model, body = display.Lit("esc back"), display.Text{}, display.Text{}
	}
	keys := []screen.Binding{
		{Keys: []string{"esc", "q"}, Hint: back, Does: display.Lit("close, or step back"), Do: a.back},
		{Keys: []string{"enter"}, Hint: display.Lit("enter send"), Does: display.Lit("send it"), Do: a.send},
	}
	if a.full {
		keys = append(keys, a.face.ScrollKeys(display.Lit("j k scroll"))...)
	}
	keys = append(keys,
		screen.Binding{Keys: []string{"p"}, Hint: display.Lit("p policy"), Does: display.Lit("next policy"), Do: func() { a.step(1) }},
		screen.Binding{Keys: []string{"P"}, Does: display.Lit("policy before"), Do: func() { a.step(-1) }},
		screen.Binding{Keys: []string{"m"}, Hint: model, Does: display.Lit("the model that is asked"), Do: a.editModel},
		screen.Binding{Keys: []string{"tab", "shift+tab"}, Hint: body, Does: display.Lit("the body alone, or the hosts"), Do: turn},
		screen.Binding{Keys: []string{"left", "h", "right", "l"}, Do: turn},
		screen.Binding{Keys: []string{"r"}, Hint: display.Lit("r raw"), Does: display.Lit("raw text"), Do: func() { a.raw = !a.raw }})
	keys = append(keys, a.means.Outlet.Keys(a.host, a.means.Draw, a.shown)...)
	if !a.full {
		keys = append(keys, a.CursorKeys(display.Text{}, a.choose)...)
	}
	return keys
}

// back closes the body, or all of it.
func (a *again) back() {
	if a.full {
		a.full = false
		return
	}
	a.host.Close()
}

// choose goes to another host.
func (a *again) choose(row int) {
	if row != a.At {
		a.MoveTo(row)
		a.face = screen.Window{}
	}
}

// Click chooses the host that is there.
func (a *again) Click(x, y int) (again bool) {
	row := a.RowAt(y)
	if a.full || row < 0 || a.plan.side && x >= a.plan.listW {
		return false
	}
	again = row == a.At
	a.choose(row)
	return again
}

// Roll moves the view of the body, where that is all there is, or else of the hosts.
func (a *again) Roll(rows int) {
	if a.full {
		a.face.Roll(rows)
		return
	}
	a.Window.Roll(rows)
}

// place is where the request would go.
func (a *again) place() *Place { return &a.places[a.At] }

// isUnchanged reports whether the captured body goes as it is.
func (a *again) isUnchanged() bool { return a.policy == unchanged && a.mayBeUnchanged() }

// mayBeUnchanged reports whether the captured body may go there as it is, and asks for the model
// that is wanted.
func (a *again) mayBeUnchanged() bool {
	h := a.place().Host
	return a.asItIs[h] && a.models[h] == a.captured.Model()
}

// step goes on by so many policies, from the last to the first.
func (a *again) step(by int) {
	first := 0
	if a.mayBeUnchanged() {
		first = unchanged
	}
	n := len(replay.Behaviours) - first
	a.policy = (max(a.policy, first)-first+by+n)%n + first
	a.face = screen.Window{}
}

// mostModel is how many characters the name of a model may have that is typed.
const mostModel = 200

// editModel lets the user say which model is asked.
func (a *again) editModel() {
	a.typing = screen.NewInput(display.Lit(" model "), a.models[a.place().Host], mostModel)
}

// keepModel takes what is typed. An empty name is what is asked for without.
func (a *again) keepModel() {
	h := a.place().Host
	a.models[h] = h.ModelOf(a.captured, a.typing.Value())
	a.typing = nil
}

// send sends what is shown.
func (a *again) send() {
	a.prepare() // other keys may have come with this one
	p, d, draw := a.place(), a.current(), a.means.Draw
	switch {
	case d == nil:
		a.host.Say(display.Lit("not there yet"))
		return
	case p.Trouble != "":
		a.host.Say(draw.Clean(p.Trouble))
		return
	case d.trouble != "":
		a.host.Say(draw.Clean(d.trouble))
		return
	}
	if err := a.means.Send(Request{Host: p.Host, Model: d.key.model, URL: d.url, Body: d.body}); err != nil {
		a.host.Say(draw.Format("not sent: %s", err))
		return
	}
	a.host.Say(draw.Format("sent to %s: waiting for the answer", p.Host.Name))
	a.host.Close()
}

// shown is the body that is shown, to be copied or saved.
func (a *again) shown() modes.Body {
	a.prepare() // other keys may have come with this one
	d, name := a.current(), a.place().Host.Name
	switch {
	case d == nil:
		return modes.Body{What: display.Lit("not there yet")}
	case d.body == nil:
		return modes.Body{What: display.Lit("nothing would be sent")}
	}
	return modes.Body{
		Data: d.body, What: a.means.Draw.Format("%s for %s,", screen.Bytes(len(d.body)), name), File: fmt.Sprintf("request-%d-%s.json", a.turn, name),
	}
}
