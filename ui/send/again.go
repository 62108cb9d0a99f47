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

// resendMode sends a captured request again, to where it came from or elsewhere: a list of hosts, and
// what the chosen one would be sent.
type resendMode struct {
	screen.Window // of the hosts
	host          modes.Host
	deps          Dependencies
	turn          int // its number, as the list counts
	captured      host.CapturedRequest
	answered      int // results that go with it, which were typed here
	places        []Destination
	origin        *host.Host          // where it came from, nil if that is nobody known
	asItIs        map[*host.Host]bool // the captured body may go there unchanged
	models        map[*host.Host]string

	policy     int // in replay.Behaviours, or unchanged
	raw        bool
	full       bool // the body is shown alone
	typing     *screen.Input
	w          int // cells
	plan       bodyLayout
	bodyWindow screen.Window // of the body

	wanted draftKey
	draft  *draft
	making bool // beside the screen
}

// unchanged is the policy of sending the captured body as it is.
const unchanged = -1

// ResendEntry is the entry that offers to send the request of the chosen turn again.
func ResendEntry(m Dependencies) modes.Entry {
	key := screen.Binding{Keys: []string{"R"}, Does: display.Lit("send the request again")}
	return modes.Entry{Binding: key, New: func(h modes.Host) (modes.Mode, display.Text) {
		t, _ := h.View().Find(h.Chosen())
		return newResendMode(h, m, t, nil)
	}}
}

// newResendMode offers to send the request of a turn, with results of its calls if there are any; or
// says why not.
func newResendMode(h modes.Host, m Dependencies, t *stream.Turn, results []host.Result) (modes.Mode, display.Text) {
	switch {
	case t == nil:
		return nil, display.Lit("no request to send again")
	case m.Send == nil || len(m.Places) == 0:
		return nil, nowhere
	case len(results) > 0 && t.Retention != stream.InMemory:
		return nil, notKept
	}
	x := h.View().Exchange(t.Exchange)
	c, err := host.Capture(x)
	if err != nil {
		return nil, m.Draw.Clean(err.Error())
	}
	a := &resendMode{
		host: h, deps: m, turn: int(t.Number) + 1, answered: len(results), policy: unchanged,
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
		c.ContinueFrom(replay.Message(&answer, providers.TargetOf(t.Protocol)), results)
	}
	a.captured = c
	return a, display.Text{}
}

var (
	nowhere = display.Lit("nothing can be sent from here")
	notKept = display.Lit("the arguments of its calls are not kept")
)

// findOrigin puts the host that the request came from first.
func (a *resendMode) findOrigin(c host.CapturedRequest, x *providers.Exchange) {
	a.origin = host.Origin(c, x.Head.URL)
	if named, err := host.Find(x.Head.File); err == nil { // as those are that were asked from here
		a.origin = named
	}
	at := slices.IndexFunc(a.places, func(p Destination) bool { return p.Host == a.origin })
	if at < 0 {
		return
	}
	p := a.places[at]
	a.places = slices.Insert(slices.Delete(a.places, at, at+1), 0, p)
}

// Typing is the name of the model.
func (a *resendMode) Typing() *screen.Input { return a.typing }

// Keys are those that send it and change what is sent; while a name is typed, those that end that.
func (a *resendMode) Keys() []screen.Binding {
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
		{Keys: []string{"esc", "q"}, Hint: back, Does: display.Lit("close, or step back"), Do: a.stepBack},
		{Keys: []string{"enter"}, Hint: display.Lit("enter send"), Does: display.Lit("send it"), Do: a.sendDraft},
	}
	if a.full {
		keys = append(keys, a.bodyWindow.ScrollKeys(display.Lit("j k scroll"))...)
	}
	keys = append(keys,
		screen.Binding{Keys: []string{"p"}, Hint: display.Lit("p policy"), Does: display.Lit("next policy"), Do: func() { a.stepPolicy(1) }},
		screen.Binding{Keys: []string{"P"}, Does: display.Lit("policy before"), Do: func() { a.stepPolicy(-1) }},
		screen.Binding{Keys: []string{"m"}, Hint: model, Does: display.Lit("the model that is asked"), Do: a.editModel},
		screen.Binding{Keys: []string{"tab", "shift+tab"}, Hint: body, Does: display.Lit("the body alone, or the hosts"), Do: turn},
		screen.Binding{Keys: []string{"left", "h", "right", "l"}, Do: turn},
		screen.Binding{Keys: []string{"r"}, Hint: display.Lit("r raw"), Does: display.Lit("raw text"), Do: func() { a.raw = !a.raw }})
	keys = append(keys, a.deps.Outlet.Keys(a.host, a.deps.Draw, a.shownBody)...)
	if !a.full {
		keys = append(keys, a.CursorKeys(display.Text{}, a.selectHost)...)
	}
	return keys
}

// stepBack closes the body, or all of it.
func (a *resendMode) stepBack() {
	if a.full {
		a.full = false
		return
	}
	a.host.Close()
}

// selectHost goes to another host.
func (a *resendMode) selectHost(row int) {
	if row != a.At {
		a.MoveTo(row)
		a.bodyWindow = screen.Window{}
	}
}

// Click chooses the host that is there.
func (a *resendMode) Click(x, y int) (again bool) {
	row := a.RowAt(y)
	if a.full || row < 0 || a.plan.side && x >= a.plan.listW {
		return false
	}
	again = row == a.At
	a.selectHost(row)
	return again
}

// Roll moves the view of the body, where that is all there is, or else of the hosts.
func (a *resendMode) Roll(rows int) {
	if a.full {
		a.bodyWindow.Roll(rows)
		return
	}
	a.Window.Roll(rows)
}

// destination is where the request would go.
func (a *resendMode) destination() *Destination { return &a.places[a.At] }

// isUnchanged reports whether the captured body goes as it is.
func (a *resendMode) isUnchanged() bool { return a.policy == unchanged && a.canBeUnchanged() }

// canBeUnchanged reports whether the captured body may go there as it is, and asks for the model
// that is wanted.
func (a *resendMode) canBeUnchanged() bool {
	h := a.destination().Host
	return a.asItIs[h] && a.models[h] == a.captured.Model()
}

// stepPolicy goes on by so many policies, from the last to the first.
func (a *resendMode) stepPolicy(by int) {
	first := 0
	if a.canBeUnchanged() {
		first = unchanged
	}
	n := len(replay.Behaviours) - first
	a.policy = (max(a.policy, first)-first+by+n)%n + first
	a.bodyWindow = screen.Window{}
}

// maxModel is how many characters the name of a model may have that is typed.
const maxModel = 200

// editModel lets the user say which model is asked.
func (a *resendMode) editModel() {
	a.typing = screen.NewInput(display.Lit(" model "), a.models[a.destination().Host], maxModel)
}

// keepModel takes what is typed. An empty name is what is asked for without.
func (a *resendMode) keepModel() {
	h := a.destination().Host
	a.models[h] = h.ModelOf(a.captured, a.typing.Value())
	a.typing = nil
}

// sendDraft sends what is shown.
func (a *resendMode) sendDraft() {
	a.prepareDraft() // other keys may have come with this one
	p, d, draw := a.destination(), a.currentDraft(), a.deps.Draw
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
	if err := a.deps.Send(Request{Host: p.Host, Model: d.key.model, URL: d.url, Body: d.body}); err != nil {
		a.host.Say(draw.Format("not sent: %s", err))
		return
	}
	a.host.Say(draw.Format("sent to %s: waiting for the answer", p.Host.Name))
	a.host.Close()
}

// shownBody is the body that is shown, to be copied or saved.
func (a *resendMode) shownBody() modes.Body {
	a.prepareDraft() // other keys may have come with this one
	d, name := a.currentDraft(), a.destination().Host.Name
	switch {
	case d == nil:
		return modes.Body{What: display.Lit("not there yet")}
	case d.body == nil:
		return modes.Body{What: display.Lit("nothing would be sent")}
	}
	return modes.Body{
		Data: d.body, What: a.deps.Draw.Format("%s for %s,", screen.Bytes(len(d.body)), name), File: fmt.Sprintf("request-%d-%s.json", a.turn, name),
	}
}
