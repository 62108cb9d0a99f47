package stream

import (
	"testing"
	"time"
	"unicode"

	"toolscope/stream/json"
)

// maxFuzz is the maximum size of fuzz inputs: longer inputs cost time and show nothing new.
const maxFuzz = 256

func FuzzSSE(f *testing.F) {
	for _, c := range sseCases {
		if len(c.wire) < maxFuzz {
			f.Add([]byte(c.wire))
		}
	}
	for _, c := range sseFrameCases {
		f.Add([]byte(c.wire))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		checkFramer(t, newSSE, wire[:min(len(wire), maxFuzz)], lineEnd)
	})
}

func FuzzArray(f *testing.F) {
	for _, c := range arrayCases {
		f.Add([]byte(c.wire))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		checkFramer(t, func() Framer { return new(Array) }, wire[:min(len(wire), maxFuzz)], betweenElements)
	})
}

func FuzzLines(f *testing.F) {
	for _, c := range lineCases {
		f.Add([]byte(c.wire))
	}
	f.Fuzz(func(t *testing.T, wire []byte) {
		checkFramer(t, func() Framer { return new(Lines) }, wire[:min(len(wire), maxFuzz)], unicode.IsSpace)
	})
}

func FuzzApply(f *testing.F) {
	for kind := range byte(Heartbeat + 2) {
		f.Add([]byte{byte(CallOpen), 0, 1, byte(Args), 0, 2, kind, 0, 3, byte(TurnClose), 0, 0})
	}
	for i := range fuzzTexts {
		f.Add([]byte{byte(CallOpen), 0, 1, byte(Args), 0, byte(i), byte(Args), 0, byte(i), byte(Seal), 0, 0, byte(Finish), 0, 1})
	}
	f.Fuzz(func(t *testing.T, script []byte) {
		events := fuzzEvents(script[:min(len(script), 90)])
		checkTimeline(t, events)
		checkSweeps(t, events)
		checkNoSilence(t, events)
	})
}

var fuzzTexts = []string{
	"", "{", "}", `{"a":`, `1`, `{"a":1}`, `{}`, `"`, `"{\"a\":1}"`, `[`, `]`, ` `, `,`, `x`, `\`, `\u12`, `{"":{}}`,
	"\xed\xa0\xbd", "\xed\xb8\x80", "\xff", "id", "f", "\x1b[0m", "length",
}

// fuzzEvents reads three bytes for each event: its kind, its place and its text.
func fuzzEvents(script []byte) (events []Event) {
	for i := 0; i+3 <= len(script); i += 3 {
		kind, place, what := script[i], script[i+1], script[i+2]
		text := fuzzTexts[int(what)%len(fuzzTexts)]
		e := Event{
			At: time.Duration(i), Frame: int32(i / 6), Kind: EventKind(kind % byte(Heartbeat+2)),
			Slot: int32(place%4) - 1, Turn: int32(place>>2%4) - 1, Code: Code(place >> 4 % 5), Text: text,
		}
		if what&0x80 == 0 {
			e.What = fuzzPayload(place>>5, text, what)
		}
		events = append(events, e)
	}
	return events
}

// fuzzPayload returns a payload, whose type may be wrong for the event's kind.
func fuzzPayload(which byte, text string, what byte) Payload {
	switch {
	case which == 1 && what&0x40 != 0:
		return &Usage{Input: Tokens(int64(what)), Tier: text}
	case which == 2 && what&0x40 != 0:
		return &FinishMeaning{text}
	case which == 3 && what&0x40 != 0:
		return &Ending{Party(what % 7)}
	case which == 4 && what&0x40 != 0:
		return &CallInfo{Copies: int(what % 8)}
	case which == 1 && what&0x20 != 0:
		return &WireForm{[...]string{"", text, "$.a " + text + "…", "$.a \"{" + text, "$.b" + text[:len(text)/2], "$.a[0] 1"}[what%6]}
	}
	f := Finding{Offset: NoOffset}
	if what&0x20 != 0 {
		f.Diagnosis = &Diagnosis{Code: text}
	}
	return [...]Payload{
		&CallInfo{ID: text, Name: text, Choice: int32(what % 3), Freeform: what&0x40 != 0},
		&CallInfo{}, &Opening{ID: text, Protocol: text}, &ResultFor{ID: text, Name: text}, &f, &SentBackReport{ID: text, Finding: f},
		&BytesMissed{int64(what)}, (*FailureInfo)(nil),
	}[which]
}

// checkNoSilence checks that a call that is cut off or wrong has a finding with the reason once its turn has ended.
func checkNoSilence(t *testing.T, events []Event) {
	s := new(Session)
	for _, e := range events {
		s.Apply(e)
	}
	for _, turn := range s.Turns {
		s.Apply(Event{Kind: TurnClose, Turn: turn.Number})
		for _, c := range turn.Calls {
			// Only the finish reason shows whether free text or a complete object was cut.
			if c.Syntax() == json.SyntaxFreeform || c.Phase() == PhaseTruncated && c.Syntax() == json.SyntaxObject {
				continue
			}
			if st := c.Status(); (st == CutShort || st == Malformed || st == NotObject) && len(c.Findings) == 0 {
				t.Fatalf("call %d is %v without a finding: %q", c.Number, st, events)
			}
		}
	}
	if s.Events() != len(events)+len(s.Turns) {
		t.Fatalf("%d events of %d", s.Events(), len(events))
	}
}
