package providers

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
)

// A recorded is the history in a real client's request.
type recorded struct {
	file     string
	to       *protocol.Target
	messages []protocol.Message
}

func recordedHistories(t *testing.T) (all []recorded) {
	root := corpus(t)
	list, err := os.ReadFile(filepath.Join(root, "requests", "SOURCES.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(list)) {
		file, rest, _ := strings.Cut(line, "\t")
		name, _, _ := strings.Cut(rest, "\t")
		to, err := FindTarget(strings.TrimPrefix(name, "bedrock-"))
		if err != nil {
			continue // the header line of the list, or a protocol without a history of its own
		}
		request, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		messages, err := to.Decode(request)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, recorded{filepath.Base(file), to, messages})
	}
	if len(all) == 0 {
		t.Fatal("no requests")
	}
	return all
}

// turnsOf returns the turns that the history shows: each message of the model, as the response to the
// messages before it.
func (r recorded) turnsOf(asked bool) (turns []replay.Candidate) {
	s := new(stream.Session)
	for i, m := range r.messages {
		if m.Role != protocol.Assistant {
			continue
		}
		n := int32(i)
		s.Apply(stream.Event{Kind: stream.TurnOpen, Turn: n, What: &stream.Opening{Protocol: r.to.Protocol}})
		for slot, p := range m.Parts {
			switch p.Kind {
			case protocol.TextPart:
				s.Apply(stream.Event{Kind: stream.TextDelta, Turn: n, Text: string(p.Text)})
			case protocol.CallPart:
				d := &stream.CallInfo{ID: p.ID, Item: p.Item, Name: p.Name, Kind: p.ToolKind, RunByProvider: p.RunByProvider, Signature: p.Signature, Freeform: p.ToolKind == "custom"}
				s.Apply(stream.Event{Kind: stream.CallOpen, Turn: n, Slot: int32(slot), What: d})
				s.Apply(stream.Event{Kind: stream.Args, Turn: n, Slot: int32(slot), Text: string(p.Args)})
				s.Apply(stream.Event{Kind: stream.Seal, Turn: n, Slot: int32(slot)})
			}
		}
		s.Apply(stream.Event{Kind: stream.Finish, Turn: n, Slot: stream.AllChoices})
		s.Apply(stream.Event{Kind: stream.TurnClose, Turn: n})
		c := replay.Candidate{Turn: s.Turn(n), Target: r.to}
		if asked {
			for _, c.Position = range replay.Along(r.messages[:i]) {
			}
		}
		turns = append(turns, c)
	}
	return turns
}

// respelled returns the history in the form of a client that parses arguments, and writes them again as a map
// with sorted keys.
func (r recorded) respelled(t *testing.T) []protocol.Message {
	out := slices.Clone(r.messages)
	for i := range out {
		out[i].Parts = slices.Clone(out[i].Parts)
		for j := range out[i].Parts {
			p := &out[i].Parts[j]
			var value map[string]json.RawMessage
			if p.Kind != protocol.CallPart || p.RunByProvider || p.ToolKind != "function" || json.Unmarshal(p.Args, &value) != nil {
				continue
			}
			text, err := json.MarshalIndent(value, "", " ")
			if err != nil {
				t.Fatal(err)
			}
			p.Args = text
		}
	}
	return out
}

// TestCorpusObserved checks that the calls in real clients' requests are intact, even if the requests of their turns
// are unknown or the arguments are written again. Turns of other conversations must not be reported as missing.
func TestCorpusObserved(t *testing.T) {
	all := recordedHistories(t)
	for _, r := range all {
		calls := 0
		for _, m := range r.messages {
			for _, p := range m.Parts {
				if p.Kind == protocol.CallPart && !p.RunByProvider {
					calls++
				}
			}
		}
		for _, asked := range []bool{true, false} {
			r.check(t, r.messages, asked, calls)
			r.check(t, r.respelled(t), asked, calls)
		}
		for _, other := range all {
			if other.file == r.file {
				continue
			}
			for _, o := range new(replay.Observer).Observe(replay.ReadPast(r.messages, r.to), other.turnsOf(true)) {
				if f, told := o.Finding(); told || o.Treatment == replay.WasDropped {
					t.Errorf("%s of %s in %s: %s %s", o.Call.Name, other.file, r.file, o.Treatment, f.Message)
				}
			}
		}
	}
}

func (r recorded) check(t *testing.T, messages []protocol.Message, asked bool, calls int) {
	t.Helper()
	found := new(replay.Observer).Observe(replay.ReadPast(messages, r.to), r.turnsOf(asked))
	if len(found) != calls {
		t.Errorf("%s: %d of %d calls found", r.file, len(found), calls)
	}
	for _, o := range found {
		if f, told := o.Finding(); told || o.Treatment != replay.Intact && o.Treatment != replay.WasReformatted || o.Result == 0 {
			t.Errorf("%s: %s %s is %s, result %d: %s", r.file, o.Call.ID, o.Call.Name, o.Treatment, o.Result, f.Message)
		}
	}
}
