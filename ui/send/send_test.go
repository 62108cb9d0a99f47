package send

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/muesli/termenv"

	"toolscope/providers"
	"toolscope/providers/host"
	"toolscope/stream"
	"toolscope/themes"
	"toolscope/ui/display"
	"toolscope/ui/modes"
	"toolscope/ui/screen"
)

// desk is a host for the modes of this package. At most one mode is open.
type desk struct {
	in     providers.Inspector
	chosen stream.Ref
	top    modes.Mode
	said   string
	jobs   []func() func()
}

func (d *desk) View() *providers.View { return d.in.View() }
func (d *desk) Chosen() stream.Ref    { return d.chosen }
func (d *desk) Choose(r stream.Ref)   { d.chosen = r }
func (d *desk) Open(m modes.Mode)     { d.top = m }
func (d *desk) Close()                { d.top = nil }
func (d *desk) Say(t display.Text)    { d.said = t.String() }
func (d *desk) Do(work func() func()) { d.jobs = append(d.jobs, work) }

// extend calls Extend as the program does: once for each key, and once for each batch of records.
func (d *desk) extend() { d.top.Extend(d.View(), 100, 28) }

// press passes keys to the open mode.
func (d *desk) press(t *testing.T, keys ...string) {
	t.Helper()
	for _, key := range keys {
		b := screen.FindBinding(d.top.Keys(), key)
		if b == nil {
			t.Fatalf("%q is not bound in %T", key, d.top)
		}
		if b.Do(); d.top != nil {
			d.extend()
		}
	}
}

// text returns the text that the mode draws.
func (d *desk) text() string {
	p := screen.NewPen(themes.Default(true), termenv.Ascii, display.Drawer{}, false)
	for y := range 28 {
		p.Field(100)
		d.top.Draw(&p, y)
		p.Newline()
	}
	return p.Frame()
}

// newDesk returns a desk with one turn. The turn has a prompt and the given number of calls.
func newDesk(prompt string, calls int) (*desk, Dependencies) {
	d := &desk{}
	body := fmt.Sprintf(`{"model":"claude-x","max_tokens":9,"messages":[{"role":"user","content":%q}],"tools":[]}`, prompt)
	d.in.Write(stream.Record{Exchange: 1, Request: true, Data: []byte(body), Head: &stream.Head{Method: "POST", URL: "https://api.anthropic.com/v1/messages"}})
	wire := `{"type":"message","id":"msg_1","role":"assistant","model":"claude-x","stop_reason":"tool_use","content":[`
	for i := range calls {
		wire += strings.Repeat(",", min(i, 1)) + fmt.Sprintf(`{"type":"tool_use","id":"toolu_%d","name":"f","input":{"n":%d}}`, i+1, i)
	}
	d.in.Write(stream.Record{Exchange: 1, Data: []byte(wire + `]}`), Head: &stream.Head{Status: 200}, End: true})
	m := Dependencies{Results: Results{}, Send: func(Request) error { return nil }}
	for i := range host.All {
		m.Places = append(m.Places, Destination{Host: &host.All[i], Address: "http://h.test"})
	}
	d.chosen = stream.Ref{Turn: 0, Call: int32(min(calls, 1))}
	return d, m
}

// open opens the mode of an entry.
func (d *desk) open(t *testing.T, e modes.Entry) {
	t.Helper()
	mode, why := e.New(d)
	if mode == nil {
		t.Fatal(why)
	}
	d.top = mode
	d.extend()
}

// TestDraftIsMadeOnce checks that a draft is made again only when its input has changed.
func TestDraftIsMadeOnce(t *testing.T) {
	d, m := newDesk("Hi.", 1)
	d.open(t, ResendEntry(m))
	a := d.top.(*resendMode)
	for _, c := range []struct {
		keys string
		made bool
	}{{"", false}, {"r", true}, {"p", true}, {"tab", false}, {"tab", false}, {"G", true}, {"G", false}, {"k", true}, {"m esc", false}, {"m enter", false}} {
		before := a.draft
		if d.press(t, strings.Fields(c.keys)...); (a.draft != before) != c.made || a.currentDraft() == nil {
			t.Errorf("%q: made is %t", c.keys, !c.made)
		}
	}
	if len(d.jobs) != 0 {
		t.Error("a small one is made beside the screen")
	}
}

// TestBigDraft checks that large drafts are made in another goroutine, one at a time.
func TestBigDraft(t *testing.T) {
	d, m := newDesk(strings.Repeat("Hi. ", 10_000), 1)
	d.open(t, ResendEntry(m))
	a := d.top.(*resendMode)
	if d.press(t, "r", "p", "enter"); len(d.jobs) != 1 || d.said != "not ready yet" || !strings.Contains(d.text(), "...") {
		t.Fatalf("%d jobs, said %q", len(d.jobs), d.said)
	}
	for n := 1; n <= len(d.jobs); n++ {
		d.jobs[n-1]()()
		d.extend()
	}
	if len(d.jobs) != 2 || a.currentDraft() == nil || a.draft.key != a.wanted {
		t.Errorf("after %d jobs, %+v is there, wanted is %+v", len(d.jobs), a.draft.key, a.wanted)
	}
	if d.press(t, "enter"); d.top != nil || !strings.HasPrefix(d.said, "sent to anthropic") {
		t.Error(d.said)
	}
}

// TestResultIsLaidOutOnce checks that new records do not cause another layout of the typed text.
func TestResultIsLaidOutOnce(t *testing.T) {
	d, m := newDesk("Hi.", 2)
	d.open(t, TypeResult(m))
	r := d.top.(*resultMode)
	r.input.Insert(strings.Repeat("x\n", 5000))
	d.extend()
	rows := &r.rows[0]
	if d.extend(); &r.rows[0] != rows {
		t.Error("laid out anew")
	}
}

// TestLastResult checks that the calls without a result are selected one after another. Then the request is shown.
func TestLastResult(t *testing.T) {
	d, m := newDesk("Hi.", 2)
	d.open(t, TypeResult(m))
	d.press(t, "tab", "enter")
	if d.top != nil || d.chosen.Call != 2 || d.said != "1 of 2 results: press a for the next" {
		t.Fatalf("%+v, said %q", d.chosen, d.said)
	}
	d.open(t, TypeResult(m))
	if d.press(t, "ctrl+j", "enter"); d.top == nil {
		t.Fatal(d.said)
	}
	d.extend()
	if text, body := d.text(), d.top.(*resendMode).currentDraft().body; !strings.Contains(text, "Send turn 1 with 2 results") || !strings.Contains(string(body), `"is_error":true`) {
		t.Errorf("%s\n%s", text, body)
	}
	if want := (Results{{Turn: 0, Call: 1}: {Failed: true}, {Turn: 0, Call: 2}: {Text: "\n"}}); len(m.Results) != 2 || m.Results[d.chosen] != want[d.chosen] {
		t.Errorf("%+v", m.Results)
	}
	m.Send = nil
	if _, why := TypeResult(m).New(d); why != nowhere {
		t.Error(why)
	}
}

// TestKeys checks that no key has two meanings.
func TestKeys(t *testing.T) {
	d, m := newDesk("Hi.", 1)
	d.open(t, TypeResult(m))
	checkKeys(t, d.top)
	d.open(t, ResendEntry(m))
	for _, key := range []string{"tab", "tab", "m"} {
		checkKeys(t, d.top)
		d.press(t, key)
	}
	checkKeys(t, d.top)
}

func checkKeys(t *testing.T, m modes.Mode) {
	t.Helper()
	var seen []string
	for _, b := range m.Keys() {
		for _, key := range b.Keys {
			if slices.Contains(seen, key) {
				t.Errorf("%q is there twice", key)
			}
			seen = append(seen, key)
		}
	}
}
