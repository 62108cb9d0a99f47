package providers

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"toolscope/providers/protocol"
	"toolscope/providers/torture"
	"toolscope/stream"
	"toolscope/stream/json"
)

// spokenProtocols returns the protocols in which toolscope writes responses.
func spokenProtocols() (list []*protocol.Protocol) {
	for i := range All {
		if All[i].Speaker != nil {
			list = append(list, &All[i])
		}
	}
	return list
}

var speakerTools = map[string]protocol.Tool{"note": {Name: "mcp__torture__note"}, "tick": {Name: "mcp__torture__tick"}}

// unfitScenes lists, for each protocol, the scenes that it can't express.
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
	for _, p := range spokenProtocols() {
		var unfit []string
		for i := range torture.Scenes() {
			s := &torture.Scenes()[i]
			script := s.NewScript(torture.Hard, speakerTools, "m", 1, 0)
			frames, err := p.Speaker.WriteFrames(script)
			if err != nil {
				unfit = append(unfit, s.Name)
				continue
			}
			form := s.Form
			form.Split = false
			t.Run(p.Name+"/"+s.Name, func(t *testing.T) { compareSpoken(t, p, script, torture.WriteForm(frames, form, p.Speaker.Lines)) })
		}
		slices.Sort(unfit)
		if got := strings.Join(unfit, " "); got != unfitScenes[p.Name] {
			t.Errorf("%s can't express %s\nwant %s", p.Name, got, unfitScenes[p.Name])
		}
	}
}

// TestSpokenEvents checks the events of a text and a call in protocols that name their events. Decoders need only some
// of the events, but clients may wait for any of them.
func TestSpokenEvents(t *testing.T) {
	want := map[string]string{
		"anthropic": "message_start content_block_start content_block_delta content_block_stop content_block_start content_block_delta " +
			"content_block_stop message_delta message_stop",
		"openai-responses": "response.created response.output_item.added response.content_part.added response.output_text.delta " +
			"response.output_text.done response.content_part.done response.output_item.done response.output_item.added " +
			"response.function_call_arguments.delta response.function_call_arguments.done response.output_item.done response.completed",
	}
	plain := torture.Scenes()[slices.IndexFunc(torture.Scenes(), func(s torture.Scene) bool { return s.Name == "plain" })]
	for _, p := range spokenProtocols() {
		frames, err := p.Speaker.WriteFrames(plain.NewScript(torture.Hard, speakerTools, "m", 1, 0))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range frames {
			if f.Event != "" && (len(got) == 0 || f.Event != got[len(got)-1] || !strings.HasSuffix(f.Event, "delta")) {
				got = append(got, f.Event)
			}
		}
		if strings.Join(got, " ") != want[p.Name] {
			t.Errorf("%s: %s", p.Name, strings.Join(got, " "))
		}
	}
}

// compareSpoken decodes a response and compares its calls with those of the script.
func compareSpoken(t *testing.T, p *protocol.Protocol, script *protocol.Script, writes []torture.Write) {
	var body bytes.Buffer
	for _, w := range writes {
		body.Write(w.Data)
	}
	last := script.Steps[len(script.Steps)-1]
	in := new(Inspector)
	in.Write(stream.Record{Data: body.Bytes()})
	why := ""
	if last.Kind == protocol.CutStep {
		why = "the connection broke"
	}
	in.Write(stream.Record{End: true, Why: why})
	var got []string
	named := ""
	for _, turn := range in.Session().Turns {
		named = turn.Protocol
		for _, c := range turn.Calls {
			got = append(got, fmt.Sprintf("%s %s %s", c.Name, c.Args(), c.Status()))
		}
	}
	if named != p.Name {
		t.Errorf("read as %s", named)
	}
	want := spokenCalls(p, script)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s\n%s", diff, body.Bytes())
	}
}

// spokenCalls returns the calls of a script, with the states that result from its steps and its end.
func spokenCalls(p *protocol.Protocol, script *protocol.Script) (want []string) {
	var names, args []string
	var sealed []bool
	for _, step := range script.Steps {
		switch step.Kind {
		case protocol.CallStep:
			names, args, sealed = append(names, step.Tool.Name), append(args, ""), append(sealed, false)
		case protocol.ArgsStep:
			args[step.Call] += step.Text
		case protocol.SealStep:
			sealed[step.Call] = p.Speaker.Seals || p.Speaker.Whole
		}
	}
	last := script.Steps[len(script.Steps)-1]
	for i, name := range names {
		_, isValue := json.Canonical([]byte(args[i]), json.Exact)
		state := stream.Complete
		switch {
		case args[i] == "" && p.Speaker.Lines: // Ollama always sends an object
			args[i] = "{}"
		case last.Kind != protocol.EndStep && !sealed[i]:
			state = stream.Aborted
		case args[i] == "" && last.Text != protocol.EndLength:
			state = stream.NoArguments
		case args[i] == "" || !isValue && last.Text == protocol.EndLength:
			state = stream.CutShort
		case !isValue:
			state = stream.Malformed
		case args[i][0] != '{':
			state = stream.NotObject
		}
		want = append(want, fmt.Sprintf("%s %s %s", name, args[i], state))
	}
	return want
}
