package ui

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"toolscope/providers"
	"toolscope/providers/dialect"
	"toolscope/providers/replay"
	"toolscope/ui/display"
	"toolscope/ui/screen"
)

// argumentTexts are arguments of each kind that replay treats in its own way.
var argumentTexts = []string{
	"", "{}", "null", `{"a":1}`, " {\n \"a\" : 1.0 , \"b\":[ ] }\n", `{"b":1,"a":"\u00e9\/","b":9007199254740993}`, `{"a":{"b":[1,2,{"c":"d"}]}}`,
	broken, `{"cut":"in the mid`, `{"cut":`, `[1,2]`, `"{\"in\":\"a string\"}"`, "12", `{"a":1}{"b":2}`, "no JSON at all", "{\"bad\":\"\xff\"}", "日本\"語", `{"日本":"\ud83d"}`,
}

// without is text without some spans, which must be in order.
func without(t *testing.T, text []byte, spans []span) string {
	t.Helper()
	var rest []byte
	at := 0
	for _, s := range spans {
		if s.start < at || s.end < s.start || s.end > len(text) {
			t.Fatalf("spans %v of %d bytes", spans, len(text))
		}
		rest = append(rest, text[at:s.start]...)
		at = s.end
	}
	return string(append(rest, text[at:]...))
}

// TestMarks: whatever is sent, to whomever: without what is marked, both sides
// are the same, and what is marked in the body is what is marked in the
// arguments.
func TestMarks(t *testing.T) {
	for _, args := range argumentTexts {
		for _, to := range providers.Targets() {
			for i := range replay.Policies {
				part := dialect.Part{Kind: dialect.CallPart, ID: "call_1", Name: "tool", Tool: "function", Args: []byte(args)}
				src := replay.Conversation([]dialect.Message{{Role: dialect.Assistant, Parts: []dialect.Part{part}}}, nil)
				preview := src.Preview(to, &replay.Policies[i])
				checkMarks(t, fmt.Sprintf("%q to %s, %s", args, to.Name, replay.Policies[i].Name), &preview)
			}
		}
	}
}

func checkMarks(t *testing.T, what string, p *replay.Preview) {
	t.Helper()
	c := &p.Calls[0]
	gone, added := goneFrom(c), addedTo(c)
	_, held := wrapping(c)
	kept, sent := without(t, c.Original, gone), without(t, c.Args, added)
	switch {
	case c.Args == nil || emptied(c):
		if kept != "" || sent != "" {
			t.Errorf("%s: %q and %q are not marked", what, kept, sent)
		}
	case held:
		text := string(dialect.AppendString(nil, c.Original))
		if kept != string(c.Original) || sent != text[1:len(text)-1] {
			t.Errorf("%s: %q is kept, and sent as %q", what, kept, sent)
		}
	case kept != sent:
		t.Errorf("%s: without marks %q is sent as %q", what, kept, sent)
	}
	if p.Body == nil || c.Args == nil {
		return
	}
	at, ok := argsPlace{}.next(p.Body, c)
	if !ok {
		if c.Form != dialect.PositionalForm {
			t.Errorf("%s: not found in %s", what, bytes.Join(p.Body, nil))
		}
		return
	}
	body := p.Body[at.message][at.offset : at.offset+at.length]
	inBody, want := without(t, body, written(c, added)), sent
	if c.Form == dialect.TextForm {
		want = string(dialect.AppendString(nil, []byte(sent)))
	}
	if inBody != want {
		t.Errorf("%s: in the body %q is not marked, want %q", what, inBody, want)
	}
}

// TestNextArgs: each call's arguments are its own, among equal ones and others
// that look like them.
func TestNextArgs(t *testing.T) {
	body := [][]byte{
		[]byte(`{"meta":{},"calls":[{"name":"a","input":{}},{"name":"b","input":{}}]}`),
		[]byte(`{"calls":[{"name":"a","input":{"x":1}},{"name":"a","input":{}}]}`),
	}
	at := argsPlace{}
	for i, c := range []struct{ name, args, rest string }{
		{"a", "{}", `{}},{"name":"b"`}, {"b", "{}", `{}}]}`}, {"a", `{"x":1}`, `{"x":1}},`}, {"a", "{}", `{}}]}`},
	} {
		next, ok := at.next(body, &replay.Sent{Name: c.name, Args: []byte(c.args), Form: dialect.ObjectForm})
		if !ok || !strings.HasPrefix(string(body[next.message][next.offset:]), c.rest) {
			t.Fatalf("%d: %+v, %t", i, next, ok)
		}
		at = next
	}
	if _, ok := at.next(body, &replay.Sent{Name: "a", Args: []byte("{}"), Form: dialect.ObjectForm}); ok {
		t.Error("one more")
	}
}

// TestSheet: all bytes but white space are drawn, each once, whatever is marked.
func TestSheet(t *testing.T) {
	texts := append([]string{`{"a":[1,{"b":"c\nd\u00e9"}],"e":{}}` + "\n", strings.Repeat(`{"long":"`+strings.Repeat("text ", 50)+`"}`, 3)}, argumentTexts...)
	for _, text := range texts {
		for _, raw := range []bool{false, true} {
			for _, width := range []int{13, 40, 200} {
				var s sheet
				marks := []span{{1, 3}, {5, 6}, {8, 30}, {40, 41}}
				for i := range marks {
					marks[i] = span{min(marks[i].start, len(text)), min(marks[i].end, len(text))}
				}
				s.add(newBlock(display.Lit("one"), []byte(text), raw, marks, width, display.Drawer{}))
				s.add(newBlock(display.Text{}, []byte(text), raw, nil, width, display.Drawer{}))
				p := newScreen(t, 210, 24).pen
				var drawn strings.Builder
				for row := range s.rows {
					p.Reset()
					p.Field(200)
					s.draw(&p, row, screen.Gone)
					if 200-p.Left > max(width, 12+display.MaxCells) && row > 0 {
						t.Errorf("%q, %d: row %d has %d cells", text, width, row, 200-p.Left)
					}
					if row > 0 {
						drawn.WriteString(stripped(p.Frame()))
					}
				}
				want := display.Clean(strings.Join(strings.Fields(text), ""))
				if got := strings.NewReplacer(" ", "", "␊", "").Replace(drawn.String()); got != display.Join(want, want).String() {
					t.Errorf("%q raw %t, %d: drawn\n%s, want\n%s", text, raw, width, got, display.Join(want, want))
				}
			}
		}
	}
}

// TestLookRow: the row with the byte worth seeing is found under captions.
func TestLookRow(t *testing.T) {
	var s sheet
	if s.lookRow() != 0 {
		t.Error("of nothing")
	}
	for _, text := range []string{"{}", `{"a":1,"b":2}`, ""} {
		s.add(newBlock(display.Lit("caption"), []byte(text), false, nil, 40, display.Drawer{}))
	}
	for _, c := range []struct{ look, at, want int }{{0, 0, 1}, {1, 0, 3}, {1, 8, 5}, {1, 12, 6}, {1, 99, 6}, {2, 0, 8}} {
		if s.look, s.lookAt = c.look, c.at; s.lookRow() != c.want {
			t.Errorf("byte %d of block %d is on row %d, want %d", c.at, c.look, s.lookRow(), c.want)
		}
	}
}

// TestNotes: what would be refused comes first, then losses, the worst first.
func TestNotes(t *testing.T) {
	p := &replay.Preview{Refused: "no \x1b such id", Body: [][]byte{nil}, Losses: []replay.Loss{
		{Kind: lossKind("A", replay.Low), Message: "low"}, {Kind: lossKind("B", replay.Critical), Message: "worst\u202e", Call: 2}, {Kind: lossKind("C", replay.Low), Message: "low too"},
	}}
	for _, c := range []struct {
		scope replay.Scope
		width int
		want  string
	}{
		{replay.OneCall, 60, "refused: no ␛ such id/critical B: worst⟨U+202E⟩/low A: low/low C: low too"},
		{replay.WholeTurn, 60, "refused: no ␛ such id/critical B, call 2: worst⟨U+202E⟩/low A: low/low C: low too"},
		{replay.OneCall, 20, "refused: no ␛/  such id/critical B:/  worst⟨U+202E⟩/low A: low/low C: low too"},
	} {
		var got []string
		for _, n := range notesOf(p, c.scope, c.width, display.Drawer{}) {
			got = append(got, n.text.String())
		}
		if strings.Join(got, "/") != c.want {
			t.Errorf("%s", strings.Join(got, "/"))
		}
	}
	for range 2 * mostNotes {
		p.Losses = append(p.Losses, replay.Loss{Kind: lossKind("D", replay.Info)})
	}
	notes := notesOf(p, replay.OneCall, 60, display.Drawer{})
	if last := notes[len(notes)-1].text; len(notes) != mostNotes+2 || last != display.Lit("and 203 more") {
		t.Errorf("%d notes, the last is %s", len(notes), last)
	}
	if notes = notesOf(&replay.Preview{Body: [][]byte{nil}}, replay.OneCall, 60, display.Drawer{}); len(notes) != 1 || notes[0].text != display.Lit("nothing is lost") {
		t.Errorf("%v", notes)
	}
}

func TestJoined(t *testing.T) {
	for want, messages := range map[string][]string{"": nil, `{"a":1}`: {`{"a":1}`}, "[1,\n2]": {"1", "2"}} {
		var all [][]byte
		for _, m := range messages {
			all = append(all, []byte(m))
		}
		if got := string(joined(all)); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestEdits: of tokens that differ only what differs is marked, and no
// character or escape is split.
func TestEdits(t *testing.T) {
	for _, c := range []struct{ old, sent, want string }{
		{`{"a":"in the mid`, `{"a":"in the mid"}`, `16-16 "}`},
		{`{"a":"half\u00`, `{"a":"half"}`, `10-14 "}`},
		{`{"n":9007199254740993}`, `{"n":9007199254740992}`, `20-21 2`},
		{`{"n":1.0}`, `{"n":1}`, `6-8 `},
		{`{"s":"\u00e9t"}`, `{"s":"ét"}`, `6-12 é`},
		{`{"s":"x日y"}`, `{"s":"x本y"}`, `7-10 本`},
		{`{"s":"a\n"}`, `{"s":"a\t"}`, `7-9 \t`},
		{`{"s":"a\\"}`, `{"s":"b\\"}`, `6-7 b`},
		{`{"a":1}`, `{"a":1}`, ``},
		{`{ "a":1}`, `{"a":1}`, `1-2 `},
	} {
		var got []string
		for _, e := range editsOf(&replay.Sent{Original: []byte(c.old), Args: []byte(c.sent)}) {
			got = append(got, fmt.Sprintf("%d-%d %s", e.Start, e.End, e.To))
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s to %s: %s, want %s", c.old, c.sent, strings.Join(got, "|"), c.want)
		}
	}
}
