package replay_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"toolscope/providers"
	"toolscope/providers/protocol"
	"toolscope/providers/replay"
	"toolscope/stream"
	"toolscope/stream/json"
)

// anyOf returns one of only a few values, so that equal values occur by chance.
func anyOf[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

func anyHistory(r *rand.Rand) (history []protocol.Message) {
	for range r.IntN(9) {
		m := protocol.Message{Role: anyOf(r, protocol.System, protocol.User, protocol.Assistant)}
		for range r.IntN(4) {
			m.Parts = append(m.Parts, protocol.Part{
				Kind: anyOf(r, protocol.TextPart, protocol.CallPart, protocol.CallPart, protocol.ResultPart, protocol.OtherPart),
				ID:   anyOf(r, "", "call_0", "toolu_01T1x1fJ34q", "toolu_01Hxq7kYp3W"), Name: anyOf(r, "", "f", "g"),
				Args: []byte(anyOf(r, "", "{}", `{"a":1}`, `{"a": 1}`, `{"a":`, `"{}"`)), Form: anyOf(r, protocol.TextForm, protocol.ObjectForm),
				Text: []byte(anyOf(r, "", "go", "I look that up for you right away.")), RunByProvider: r.IntN(9) == 0,
				Signature: anyOf(r, "", "s1"), Raw: json.Value(anyOf(r, "", `{"id":"fc_1"}`)),
			})
		}
		history = append(history, m)
	}
	return history
}

func anyTurns(r *rand.Rand) (turns []replay.Candidate) {
	s := new(stream.Session)
	for n := range int32(r.IntN(5)) {
		s.Apply(stream.Event{Kind: stream.TurnOpen, Turn: n, What: &stream.Opening{Protocol: "openai-chat"}})
		s.Apply(stream.Event{Kind: stream.TextDelta, Turn: n, Text: anyOf(r, "", "I look that up for you right away.")})
		for slot := range int32(r.IntN(4)) {
			s.Apply(stream.Event{Kind: stream.CallOpen, Turn: n, Slot: slot, What: &stream.CallInfo{
				ID: anyOf(r, "", "call_0", "toolu_01T1x1fJ34q", "toolu_01Hxq7kYp3W"), Name: anyOf(r, "f", "g"), Item: anyOf(r, "", "fc_1"),
				Signature: anyOf(r, "", "s1"), Choice: int32(r.IntN(2)),
			}})
			s.Apply(stream.Event{Kind: stream.Args, Turn: n, Slot: slot, Text: anyOf(r, "", "{}", `{"a":1}`, `{"a":`, `{"a":1}{}`)})
		}
		s.Apply(stream.Event{Kind: stream.TurnClose, Turn: n, Code: anyOf(r, stream.CloseCut, stream.Code(0))})
		turns = append(turns, replay.Candidate{Turn: s.Turn(n), Target: providers.TargetOf("openai-chat"), Position: replay.PositionOf(anyHistory(r))})
	}
	return turns
}

// TestObserveAnything checks that each call has at most one observation for any request, and that no two
// observations share a call in the history. Cached verdicts must not change the result.
func TestObserveAnything(t *testing.T) {
	targets := providers.Targets()
	told := map[replay.Treatment]int{}
	for seed := range uint64(5000) {
		r := rand.New(rand.NewPCG(seed, 1))
		history, to, turns := anyHistory(r), targets[r.IntN(len(targets))], anyTurns(r)
		for i := range turns {
			if r.IntN(2) == 0 {
				turns[i].Position = replay.PositionOf(history[:r.IntN(len(history)+1)])
			}
		}
		calls, seen := 0, map[*stream.Call]bool{}
		for _, m := range history {
			for _, p := range m.Parts {
				if p.Kind == protocol.CallPart && m.Role == protocol.Assistant {
					calls++
				}
			}
		}
		var remembers replay.Observer
		first := remembers.Observe(replay.ReadPast(history, to), turns)
		for i, again := range remembers.Observe(replay.ReadPast(history, to), turns) {
			o := &first[i]
			told[o.Treatment]++
			if fmt.Sprint(o.Treatment, o.ID, o.Result, o.Losses) != fmt.Sprint(again.Treatment, again.ID, again.Result, again.Losses) || seen[o.Call] {
				t.Fatalf("seed %d: %+v, then %+v", seed, o, again)
			}
			seen[o.Call] = true
			if o.Treatment != replay.WasDropped && o.Call.Item == "" {
				calls--
			}
			_, _ = o.Finding()
		}
		if calls < 0 {
			t.Fatalf("seed %d: more calls are told than the history has", seed)
		}
	}
	for _, f := range []replay.Treatment{
		replay.Intact, replay.WasReformatted, replay.WasEmptied, replay.WasRepaired, replay.WasEncoded,
		replay.WasAltered, replay.WasDropped, replay.WasOrphaned, replay.WasMoved,
	} {
		if told[f] == 0 {
			t.Errorf("none was %s", f)
		}
	}
}
