package providers

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/providers/torture"
	"toolscope/stream"
)

// speakers returns the protocols in which toolscope writes responses.
func speakers() (list []*protocol.Protocol) {
	for i := range All {
		if All[i].Speaker != nil {
			list = append(list, &All[i])
		}
	}
	return list
}

var speakerTools = map[string]protocol.Tool{"note": {Name: "mcp__torture__note"}, "tick": {Name: "mcp__torture__tick"}}

// unfitScenes are the scenes that each protocol can't express.
var unfitScenes = map[string]string{
	"anthropic":        "id-again index-zero null-arguments",
	"openai-chat":      "seal-twice",
	"openai-responses": "id-again index-zero null-arguments",
	"gemini": "broken cut-before-arguments cut-in-string id-again index-zero interleaved length-before-arguments " +
		"length-in-string length-second-call null-arguments pings seal-twice",
	"ollama": "broken cut-before-arguments cut-in-string id-again index-zero interleaved length-before-arguments " +
		"length-in-string length-second-call null-arguments pings seal-twice",
}

// TestSpeakers reads each scene in each protocol with the protocol's own decoder, and compares the calls.
func TestSpeakers(t *testing.T) {
	for _, p := range speakers() {
		var unfit []string
		for i := range torture.Scenes {
			s := &torture.Scenes[i]
			script := s.NewScript(torture.Hard, speakerTools, "m", 1, 0)
			frames, err := p.Speaker.WriteFrames(script)
			if err != nil {
				unfit = append(unfit, s.Name)
				continue
			}
			form := s.Form
			form.Split = false
			t.Run(p.Name+"/"+s.Name, func(t *testing.T) { compareSpoken(t, p, s, script, torture.WriteForm(frames, form, p.Speaker.Lines)) })
		}
		slices.Sort(unfit)
		if got := strings.Join(unfit, " "); got != unfitScenes[p.Name] {
			t.Errorf("%s can't express %s\nwant %s", p.Name, got, unfitScenes[p.Name])
		}
	}
}

// compareSpoken decodes a response and compares its calls with those of the script.
func compareSpoken(t *testing.T, p *protocol.Protocol, s *torture.Scene, script *protocol.Script, writes []torture.Write) {
	var body bytes.Buffer
	for _, w := range writes {
		body.Write(w.Data)
	}
	last := script.Steps[len(script.Steps)-1]
	in := new(Inspector)
	in.Write(stream.Record{Exchange: 1, Head: &stream.Head{Status: 200, Header: map[string][]string{"Content-Type": {"text/event-stream"}}}})
	in.Write(stream.Record{Exchange: 1, Data: body.Bytes()})
	why := ""
	if last.Kind == protocol.CutStep {
		why = "the connection broke"
	}
	in.Write(stream.Record{Exchange: 1, End: true, Why: why})
	var got []string
	named := ""
	for _, turn := range in.View().Turns() {
		named = turn.Dialect
		for _, c := range turn.Calls {
			got = append(got, fmt.Sprintf("%s %s %s", c.Name, c.Args(), c.Status()))
		}
	}
	if named != p.Name {
		t.Errorf("read as %s", named)
	}
	var want []string
	for _, step := range script.Steps {
		if step.Kind == protocol.CallStep {
			want = append(want, step.Tool.Name)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d calls: %s\nwant %s\n%s", len(got), got, want, body.Bytes())
	}
	t.Logf("%s", got)
}
