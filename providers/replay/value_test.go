package replay

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"toolscope/providers/protocol"
	"toolscope/stream"
	"toolscope/stream/json"
)

// spelledTexts returns arguments, many of which have the same value in different spellings.
func spelledTexts() (all []string) {
	all = []string{
		``, ` `, `null`, `{}`, ` { } `, `{"a":1}`, `{"a": 1.0}`, `{"a":1e0}`, `{"a":2}`, `{"b":null,"a":[{},[],-0,"é"]}`, `{"a":[{},[],0,"\u00e9"],"b":null}`,
		`{"a":1,"a":2}`, `{"n":9007199254740993}`, `{"n":9007199254740992}`, `{"n":0.1000000000000000055511151231257827}`, `{"n":0.1}`, `{"n":1e400}`, `{"n":null}`,
		"{\"a\":\"\xff\"}", "{\"a\":\"\uFFFD\"}", `{"a":"\ud800"}`, `{"a":"\ufffd"}`, "{\"\xff\":[1]}", "{\"\uFFFD\":[1]}", "\xff", "\uFFFD",
		`{"a":1`, `{"a":1}{"b":2}`, ` {"a":1`, `[1,2]`, `[2,1]`, `[[1],2]`, `[1,[2]]`, `"x"`, `x`, `true`, `12`, `1.2e1`, "\u00a0{\"a\":1}", `*** patch`, `{"a":{"a":1}}`,
	}
	for _, text := range slices.Clone(all) {
		once := json.AppendQuoted(nil, []byte(text))
		all = append(all, string(once), string(json.AppendQuoted(nil, once)), `{"input":`+string(once)+`}`)
		if json.IsObject([]byte(text)) {
			all = append(all, `{"input": `+text+`}`)
		}
	}
	return all
}

// TestValueTells checks that arguments share a hash with the original if judgeText considers them the same,
// double-encoded or wrapped. Most other arguments must not share a hash with it.
func TestValueTells(t *testing.T) {
	all := spelledTexts()
	s := new(stream.Session)
	s.Apply(stream.Event{Kind: stream.TurnOpen})
	for i, text := range all {
		for n, freeform := range []bool{false, true} {
			slot := int32(2*i + n)
			s.Apply(stream.Event{Kind: stream.CallOpen, Slot: slot, What: &stream.CallInfo{Name: "f", Freeform: freeform}})
			s.Apply(stream.Event{Kind: stream.Args, Slot: slot, Text: text})
			s.Apply(stream.Event{Kind: stream.Seal, Slot: slot})
		}
	}
	var by Observer
	same, others, shared := 0, 0, 0
	for _, to := range []*protocol.Target{{Form: protocol.ObjectForm}, {Form: protocol.TextForm}} {
		for _, form := range []protocol.ArgsForm{protocol.ObjectForm, protocol.TextForm} {
			for _, sent := range all {
				p := &protocol.Part{Kind: protocol.CallPart, Args: []byte(sent), Form: form}
				values := hashesIn(p, to)
				for _, c := range s.Turn(0).Calls {
					shares := slices.Contains(values, valueOf(c.Args()))
					switch by.judgeCall(&earlierCall{callIdentity: calledOf(c), call: c}, p, to).treatment {
					case Intact, WasReformatted, WasEncoded, WasWrapped:
						if same++; !shares {
							t.Errorf("%q sent as %q, form %d to %d: no value is the same", c.Args(), sent, form, to.Form)
						}
					default:
						if others++; shares {
							shared++
						}
					}
				}
			}
		}
	}
	if same < 1000 || others < 1000 || shared*20 > others {
		t.Errorf("%d are the same, %d others, of which %d share a value", same, others, shared)
	}
}

// TestValueOfMembers checks that the order of fields doesn't matter, and that the last value of a duplicate
// key is used.
func TestValueOfMembers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var members []string
		for i := range r.IntN(8) {
			members = append(members, fmt.Sprintf(`"k%d": [%d, {"x": %d}]`, i, r.IntN(3), r.IntN(3)))
		}
		a := "{" + strings.Join(members, ",") + "}"
		r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		b := "{" + strings.Join(members, " , ") + "}"
		if len(members) > 0 {
			b = `{"k0":"hidden by the later one",` + b[1:]
			a = strings.Replace(a, "{", `{"k0":5,`, 1)
		}
		if valueOf([]byte(a)) != valueOf([]byte(b)) {
			t.Fatalf("%s and %s differ", a, b)
		}
		if c := strings.Replace(a, "[0,", "[7,", 1); c != a && valueOf([]byte(a)) == valueOf([]byte(c)) {
			t.Fatalf("%s and %s do not", a, c)
		}
	}
}

// TestJudgementsAreBounded checks that verdicts that have not been used for a long time are dropped, and that recent
// verdicts stay.
func TestJudgementsAreBounded(t *testing.T) {
	var by Observer
	s := new(stream.Session)
	s.Apply(stream.Event{Kind: stream.TurnOpen})
	s.Apply(stream.Event{Kind: stream.CallOpen, What: &stream.CallInfo{Name: "f"}})
	s.Apply(stream.Event{Kind: stream.Args, Text: `{"a":1}`})
	c := &earlierCall{callIdentity: calledOf(s.Turn(0).Calls[0]), call: s.Turn(0).Calls[0]}
	p, to := &protocol.Part{Args: []byte(`{"a": 1}`)}, &protocol.Target{}
	for n := range int32(5 * maxJudged) {
		if c.ref = (stream.Ref{Turn: n, Call: 1}); by.judgeCall(c, p, to).treatment != WasReformatted {
			t.Fatal("it is not judged")
		}
		if n%1000 == 0 {
			c.ref.Turn = 0
			by.judgeCall(c, p, to)
		}
	}
	_, often := by.lastVerdict(stream.Ref{Turn: 0, Call: 1})
	_, once := by.lastVerdict(stream.Ref{Turn: 1, Call: 1})
	if n := len(by.judged) + len(by.before); n > 2*maxJudged || n < maxJudged || !often || once {
		t.Errorf("%d are remembered; the one often asked for: %t, the one asked for once: %t", n, often, once)
	}
}

// TestAlong checks that the position of a request is among the positions in a history that continues the
// request.
func TestAlong(t *testing.T) {
	say := func(text string) protocol.Message {
		return protocol.Message{Role: protocol.User, Parts: []protocol.Part{{Kind: protocol.TextPart, Text: []byte(text)}}}
	}
	call := func(names ...string) (m protocol.Message) {
		m.Role = protocol.Assistant
		for _, name := range names {
			m.Parts = append(m.Parts, protocol.Part{Kind: protocol.CallPart, Name: name})
		}
		return m
	}
	history := []protocol.Message{say("go"), call("a", "b"), say("on"), call("c"), say("and on")}
	passes := map[Position]int{}
	for n, a := range Along(history) {
		passes[a] = n
	}
	for end, calls := range []int{1: 0, 2: 2, 3: 2, 4: 3, 5: 3} {
		if end == 0 {
			continue
		}
		if n, ok := passes[PositionOf(history[:end])]; !ok || n != calls {
			t.Errorf("with %d messages it stands behind %d calls (%t), want %d", end, n, ok, calls)
		}
	}
	for _, other := range [][]protocol.Message{{say("stop")}, {say("go"), call("b")}, {say("go"), call("a", "b", "c", "d")}} {
		if n, ok := passes[PositionOf(other)]; ok {
			t.Errorf("another conversation stands behind %d calls of it", n)
		}
	}
	if PositionOf(nil) != (Position{}) {
		t.Error("no history stands somewhere")
	}
}

// TestHasCallOfSummary checks that the comparison of arguments has the same result before and after the turn's
// content is evicted.
func TestHasCallOfSummary(t *testing.T) {
	for _, test := range []struct {
		wrote, sent string
		same        bool
	}{
		{`{"a":1,"b":2}`, `{"b":2.0,"a":1}`, true},
		{`{"a":9007199254740993}`, `{"a":9007199254740992}`, false},
		{`{"a":1,"a":2}`, `{"a":2}`, false},
		{`{"a`, `{"a`, true},
		{`{"a`, `{"b`, false},
	} {
		var s stream.Session
		s.Apply(stream.Event{Kind: stream.CallOpen, What: &stream.CallInfo{ID: "c1", Name: "f"}})
		s.Apply(stream.Event{Kind: stream.Args, Text: test.wrote})
		s.Apply(stream.Event{Kind: stream.Seal})
		var by Observer
		p := &protocol.Part{Kind: protocol.CallPart, ID: "c1", Name: "f", Args: []byte(test.sent)}
		for what, c := range map[string]Candidate{"in memory": {Turn: s.Turn(0)}, "evicted": {Turn: s.Turn(0), Summary: by.Summarise(s.Turn(0))}} {
			if same, has := c.HasCall(p); !has || same != test.same {
				t.Errorf("%s and %s, %s: same %v, has %v", test.wrote, test.sent, what, same, has)
			}
		}
	}
}

// PositionOf returns the position of the request with the given history.
func PositionOf(history []protocol.Message) (a Position) {
	if len(history) == 0 {
		return a
	}
	for _, a = range Along(history) {
	}
	return a
}
