package diff

import (
	"strings"
	"testing"
	"time"

	"toolscope/providers"
	"toolscope/stream"
)

// TestSentence checks that a sentence names the sides that agree, and then the most serious difference of each
// other side.
func TestSentence(t *testing.T) {
	lima, oslo := `{"city":"Lima","days":5}`, `{"city":"Oslo","days":5}`
	for _, c := range []struct {
		sides []string // calls of each side, separated by blanks; "…" at the end of an unfinished call
		want  string
	}{
		{[]string{lima, lima}, "Both agree."},
		{[]string{lima, lima, lima}, "All 3 agree."},
		{[]string{lima, oslo, lima}, "one and three agree. two wrote .city as \"Oslo\". 1 field differs."},
		{[]string{lima, `{"city":"Lima","days":"5"}`}, "1 field differs: two wrote .days as a string."},
		{[]string{lima, `{"city":"Lima"}`}, "1 field differs: two left .days out."},
		{[]string{lima, `{"city":"Lima","days":5,"at":{}}`}, "1 field differs: two added .at."},
		{[]string{lima + " " + oslo, lima, `{"city":"Lima","days":"5"} ` + oslo}, "No two agree. two made one call of two; three wrote .days as a string. 1 field differs."},
		{[]string{lima, oslo, `{"city":"Rome","days":5}`}, "No two agree. two wrote .city as \"Oslo\"; three wrote .city as \"Rome\". 1 field differs."},
		{[]string{lima, oslo, oslo}, "two and three agree. two and three wrote .city as \"Oslo\". 1 field differs."},
		{[]string{lima, ""}, "two made no call."},
		{[]string{lima, `{"city":"Li…`}, "So far all agree."},
		{[]string{lima, `{"city":"Os…`}, "1 field differs: two began .city differently."},
		{[]string{`{"city":"Li`, lima}, "two's tool is complete, one's cut short. 2 fields differ."},
		{[]string{lima, `[1]`}, "two's tool is not an object, one's complete. 1 field differs."},
	} {
		s := newSource()
		for i, text := range c.sides {
			open := strings.HasSuffix(text, "…")
			for _, args := range strings.Fields(text) {
				s.call(i+1, "tool", args)
			}
			if text == "" {
				s.event(i+1, `{"type":"message_start","message":{"id":"m","type":"message","role":"assistant","model":"m","content":[]}}`)
			}
			if !open {
				s.end(i + 1)
			}
		}
		p := s.picture([]string{"one", "two", "three"}[:len(c.sides)]...)
		for i := range p.Sides {
			p.Sides[i].Took = stream.NoTime
		}
		if got := p.Sentence(time.Duration.String)[0]; got != c.want {
			t.Errorf("%q:\n%s\nwant\n%s", c.sides, got, c.want)
		}
	}
}

// TestShortNames checks that the part of a name after a hyphen is removed if it has no digit and the names still
// differ without it.
func TestShortNames(t *testing.T) {
	for _, c := range []struct{ names, want string }{
		{"sonnet-4-5 mistral-large", "sonnet-4-5 mistral"}, {"mistral-large mistral-small", "mistral-large mistral-small"}, {"gpt-5-mini gpt-5", "gpt-5-mini gpt-5"},
	} {
		p := &Comparison{}
		for _, name := range strings.Fields(c.names) {
			p.Sides = append(p.Sides, Side{Name: name})
		}
		short := p.shortNames()
		var got []string
		for i := range p.Sides {
			got = append(got, short(i))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s", c.names, got)
		}
	}
}

// TestBars checks that bars fit in the given width at every scale, and that arguments are always visible.
func TestBars(t *testing.T) {
	ms := time.Millisecond
	all := []Times{
		{First: 400 * ms, Arg: 700 * ms, End: 1900 * ms, Args: [][2]time.Duration{{700 * ms, 1800 * ms}}},
		{First: 2000 * ms, Arg: 3000 * ms, End: 5900 * ms, Args: [][2]time.Duration{{3000 * ms, 3100 * ms}, {5000 * ms, 5900 * ms}}},
		{First: 70 * ms, Arg: stream.NoTime, End: 90 * ms}, {First: stream.NoTime, Arg: stream.NoTime, End: stream.NoTime},
	}
	for cells := 4; cells < 60; cells++ {
		for _, byPhase := range []bool{false, true} {
			cell := Scale(all, cells, byPhase)
			phased := ByPhase(all, cell)
			for i := range all {
				bar := all[i].Bar(cell)
				if byPhase {
					bar = phased[i]
				}
				comes := false
				for _, piece := range bar {
					comes = comes || piece == Coming
				}
				if len(bar) > cells+1 || comes != (len(all[i].Args) > 0) || (len(bar) == 0) != (all[i].End < 0) {
					t.Fatalf("%d cells of %s, by phase %v, turn %d: %v", cells, cell, byPhase, i, bar)
				}
			}
		}
	}
}

// TestPasses checks that the same request to another host is recognised. Only the facts that do not depend on the
// host count.
func TestPasses(t *testing.T) {
	ask := func(host, model, more string) (r Request) {
		var in providers.Inspector
		body := `{"model":"` + model + `","messages":[{"role":"user","content":"Oslo?"}]` + more + `}`
		in.Write(stream.Record{Exchange: 1, Request: true, Data: []byte(body), Head: &stream.Head{Method: "POST", URL: "https://" + host + "/v1/chat/completions"}})
		in.Write(stream.Record{Exchange: 1, Data: []byte("data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"x\"}}]}\n\ndata: [DONE]\n\n"), End: true})
		return RequestOf(in.View(), in.Exchanges()[0])
	}
	direct := ask("api.openai.com", "gpt-5.2", `,"user":"a"`)
	for _, c := range []struct {
		of        Request
		ok, exact bool
	}{
		{ask("openrouter.ai", "openai/gpt-5.2", `,"user":"b"`), true, true},
		{ask("openrouter.ai", "openai/gpt-5.2:floor", `,"user":"b"`), true, true},
		{ask("openrouter.ai", "openai/gpt-5.2", `,"temperature":1`), true, false},
		{ask("openrouter.ai", "openai/gpt-5", ""), false, false},
		{ask("api.openai.com", "gpt-5.2", ""), false, false},
	} {
		if way, ok := c.of.SameElsewhere(&direct); ok != c.ok || way.Exact != c.exact {
			t.Errorf("%s %s: %v, %v", c.of.Host, c.of.Body, ok, way)
		}
	}
}
