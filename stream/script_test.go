package stream

import (
	"fmt"
	"strings"
	"time"
)

// Tests write conversations with these functions. Events are in turn 0 and slot 0 unless a test names others.

func opened(slot int32, id, name string) Event {
	return Event{Kind: CallOpen, Slot: slot, What: &CallInfo{ID: id, Name: name}}
}

func custom(slot int32, name string) Event {
	return Event{Kind: CallOpen, Slot: slot, What: &CallInfo{Name: name, Kind: "custom", Freeform: true}}
}

func named(slot int32, id, name string) Event {
	return Event{Kind: CallMeta, Slot: slot, What: &CallInfo{ID: id, Name: name}}
}

func args(slot int32, text string) Event { return Event{Kind: Args, Slot: slot, Text: text} }

func sealed(slot int32) Event { return Event{Kind: Seal, Slot: slot} }

func refused(slot int32) Event { return Event{Kind: Seal, Slot: slot, Code: SealRejected, Text: "no"} }

func finish(code Code, word string) Event {
	return Event{Kind: Finish, Slot: AllChoices, Code: code, Text: word}
}

func failure(id, message string) Event {
	return Event{Kind: Failure, Text: message, What: &FailureInfo{Code: id}}
}

func closed(code Code) Event { return Event{Kind: TurnClose, Code: code} }

func closedBy(by Party) Event {
	return Event{Kind: TurnClose, Code: CloseCut, Text: "so it ended", What: &Ending{By: by}}
}

func gap(missed int64) Event {
	return Event{Kind: Gap, Text: "bytes were not seen", What: &BytesMissed{Bytes: missed}}
}

func inTurn(turn int32, e Event) Event { e.Turn = turn; return e }

func inChoice(choice int32, e Event) Event {
	info := PayloadOf[CallInfo](e)
	info.Choice = choice
	e.What = &info
	return e
}

func found(slot int32, f Finding) Event { return Event{Kind: Found, Slot: slot, What: &f} }

// withIt marks e as an event of the same frame as the event before it.
func withIt(e Event) Event { e.Frame = -1; return e }

// stamped numbers the frames. Each frame arrives one millisecond after the previous one.
func stamped(events []Event) []Event {
	frame, out := int32(-1), make([]Event, len(events))
	for i, e := range events {
		if e.Frame >= 0 {
			frame++
		}
		e.Frame, e.At = frame, time.Duration(frame)*time.Millisecond
		out[i] = e
	}
	return out
}

func fold(events ...Event) *Session {
	s := new(Session)
	for _, e := range stamped(events) {
		s.Apply(e)
	}
	return s
}

// callLines describes the calls at the end of a session, one on each line.
func callLines(s *Session) string {
	var lines []string
	for _, t := range s.Turns {
		for _, c := range t.Calls {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %v %v: %v %s", c.Name, c.Phase(), c.Syntax(), c.Status(), c.Args())))
		}
	}
	return strings.Join(lines, "\n")
}

// findingLines returns all findings of a session: those about calls, about turns and about neither.
func findingLines(s *Session) (lines []string) {
	add := func(where string, findings []Finding) {
		for _, f := range findings {
			line := fmt.Sprintf("%s %s %v #%d", where, f.Code, f.Severity, f.Event)
			if f.Offset != NoOffset {
				line += fmt.Sprintf(" @%d", f.Offset)
			}
			lines = append(lines, line)
		}
	}
	for _, t := range s.Turns {
		for _, c := range t.Calls {
			add(fmt.Sprintf("call %d", c.Number), c.Findings)
		}
		add("turn", t.Findings)
	}
	add("session", s.Findings)
	return lines
}
