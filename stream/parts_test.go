package stream

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func text(s string) Event    { return Event{Kind: TextDelta, Text: s} }
func thought(s string) Event { return Event{Kind: ThinkDelta, Text: s} }

// TestParts checks that deltas of one kind form one part, until another kind, a call or a signature ends the part.
func TestParts(t *testing.T) {
	signed := Event{Kind: Signed, Text: "sig", What: &Signature{Item: "rs_1"}}
	hidden := Event{Kind: Signed, Text: "enc", Code: SignedHidden}
	for _, c := range []struct {
		name   string
		events []Event
		want   []Part
	}{
		{"one run", []Event{text("a"), text("bc")}, []Part{{Kind: PartText, End: 3}}},
		{"thought, then said", []Event{thought("a"), thought("b"), text("c")}, []Part{{Kind: PartThinking, End: 2}, {Kind: PartText, End: 1}}},
		{"a call between", []Event{text("a"), opened(0, "1", "f"), text("b")}, []Part{{Kind: PartText, End: 1}, {Kind: PartCall, End: 1}, {Kind: PartText, End: 2}}},
		{"signed", []Event{thought("a"), signed, thought("b")}, []Part{{Kind: PartThinking, End: 1, ID: "rs_1", Signature: "sig"}, {Kind: PartThinking, End: 2}}},
		{"signed twice", []Event{thought("a"), signed, signed}, []Part{{Kind: PartThinking, End: 1, ID: "rs_1", Signature: "sig"}, {Kind: PartThinking, End: 1, ID: "rs_1", Signature: "sig"}}},
		{"signed behind a call", []Event{opened(0, "1", "f"), signed}, []Part{{Kind: PartCall, End: 1}, {Kind: PartThinking, ID: "rs_1", Signature: "sig"}}},
		{"hidden", []Event{thought("a"), hidden}, []Part{{Kind: PartThinking, End: 1}, {Kind: PartThinking, End: 1, Signature: "enc", SignatureOnly: true}}},
	} {
		if diff := cmp.Diff(c.want, fold(c.events...).Turns[0].Parts); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestSentBack checks that the entries of later requests about a call are kept in their order, and that a
// result among them becomes the call's result.
func TestSentBack(t *testing.T) {
	lost := &Diagnosis{Code: "LOST", By: Client}
	back := func(slot int32, exchange int, code Code, found Finding) Event {
		return Event{Kind: SentBack, Slot: slot, Text: "emptied", Code: code,
			What: &SentBackReport{Exchange: exchange, ID: "x", Policies: "empty", Finding: found}}
	}
	s := fold(opened(0, "a", "f"), opened(1, "b", "g"), sealed(0), sealed(1),
		back(2, 7, 0, Finding{}), back(2, 8, ResultFailed, lost.Finding("gone")), back(1, 9, 0, Finding{}),
		back(0, 9, ResultOK, Finding{}), back(3, 9, ResultOK, Finding{}))
	turn := s.Turns[0]
	if turn.SentBackIn != 7 || !turn.SentBack {
		t.Errorf("first brought back by %d, %v", turn.SentBackIn, turn.SentBack)
	}
	first, second := turn.Calls[0], turn.Calls[1]
	want := []SentBackCall{{Exchange: 7, ID: "x", Outcome: "emptied", Policies: "empty", Event: 4}, {Exchange: 8, ID: "x", Outcome: "emptied", Policies: "empty", ResultCode: ResultFailed, Event: 5}}
	if !slices.Equal(second.SentBack, want) || second.ResultCode != ResultFailed || len(second.Findings) != 1 || second.Findings[0].Event != 5 {
		t.Errorf("%+v, answered %d, %v", second.SentBack, second.ResultCode, second.Findings)
	}
	if len(first.SentBack) != 1 || first.ResultCode != 0 || len(first.Findings) != 0 {
		t.Errorf("%+v, answered %d, %v", first.SentBack, first.ResultCode, first.Findings)
	}
}

// TestKindLate checks that a later event may change the kind of a call, and that an event without a kind doesn't
// change it.
func TestKindLate(t *testing.T) {
	open := opened(0, "1", "f")
	open.What = &CallInfo{ID: "1", Name: "f", Kind: "function"}
	for news, want := range map[string]string{"": "function", "mcp": "mcp"} {
		c := fold(open, Event{Kind: CallMeta, What: &CallInfo{Kind: news}}).Turns[0].Calls[0]
		if c.Kind != want {
			t.Errorf("%q makes it %q, want %q", news, c.Kind, want)
		}
	}
}
