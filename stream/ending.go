package stream

import (
	"slices"

	"toolscope/stream/count"
	"toolscope/stream/json"
)

// Two questions are kept separate: which party ended a response, and what is missing from the response. A provider
// that ends a response before its terminator is at fault. A client that disconnects, a lost connection and
// toolscope's own stop are not the provider's fault, because the provider would have sent more.

// These are the diagnoses of responses that a party other than the provider ended, or that never began.
var (
	ClientGone = &Diagnosis{
		Code: "CLIENT_GONE", Severity: Info, By: Client,
		ExplainsState: true,
		Meaning:       "The client disconnected, or closed its side of the connection, before the response ended. The user may have stopped the client, or the client may have reached its own time limit.",
		Advice:        "Nothing, if the user stopped the client. Otherwise, check the client's timeout. Don't run calls that were not final when the client disconnected.",
	}
	ConnectionLost = &Diagnosis{
		Code: "CONNECTION_LOST", Severity: Error, By: Network,
		ExplainsState: true,
		Verdict:       "lost",
		Meaning:       "The connection to the provider was reset or closed in the middle of the response. The rest of the response is unknown.",
		Advice:        "Retry the request. Don't run calls from this response whose arguments were not final.",
	}
	StoppedHere = &Diagnosis{
		Code: "STOPPED_HERE", Severity: Warn, By: Toolscope,
		ExplainsState: true,
		Verdict:       "stopped here",
		Meaning:       "toolscope ended the response, or stopped recording it, before the provider ended it: a limit was reached, a key was pressed, or toolscope quit.",
		Advice:        "Raise the limit or record again if you need the rest of the response. This finding doesn't mean that the provider is at fault.",
	}
	NoAnswer = &Diagnosis{
		Code: "NO_ANSWER", Severity: Error, By: Network,
		ExplainsState: true,
		Verdict:       "no answer",
		Meaning:       "No provider responded: toolscope answered instead, or the client got no response.",
		Advice:        "Check the cause named in the message, such as an address, a certificate or a limit. The provider sent nothing.",
	}
)

// cutBy is for responses that end before their terminator. It maps the party that ended a response to the findings
// about the response and its open calls. Each entry also contains the reason why the calls stop, as a sentence and as
// a hint.
var cutBy = map[Party]struct {
	found, cut *Diagnosis
	why, here  string
}{
	0:            {NoTerminator, ArgsCut, "the bytes ended without the protocol's terminator", "the bytes end here"},
	Provider:     {NoTerminator, ArgsCut, "the bytes ended without the protocol's terminator", "the bytes end here"},
	Client:       {ClientGone, ArgsCut.WithSeverity(Info).WithCause(Client), "the client disconnected", "the client disconnected"},
	Network:      {ConnectionLost, ArgsCut.WithCause(Network), "the connection was lost", "the connection was lost"},
	Toolscope:    {StoppedHere, ArgsCut.WithSeverity(Warn).WithCause(Toolscope), "toolscope saw no more of the response", "nothing more seen"},
	UnknownParty: {NoTerminator.WithCause(UnknownParty), ArgsCut.WithCause(UnknownParty), "the source contains no more of the response, so it is unknown why the response ended", "the source ends here"},
}

// endingParty returns the given party if it can end a response, and otherwise 0.
func endingParty(by Party) Party {
	if _, ok := cutBy[by]; !ok {
		return 0
	}
	return by
}

func (t *Turn) applyClose(e Event, n int) {
	by := Provider
	if who := PayloadOf[Ending](e).By; e.Code == CloseCut || who == UnknownParty {
		by = endingParty(who)
	}
	if !t.closed {
		t.closer = by
		t.cutUnfinished = e.Code == CloseCut && !t.finished
		if t.unopened >= 2 { // the finding about the first event also gives the number of the others
			t.keepBase()
			t.Findings = slices.Clone(t.Findings) // past sessions keep using the old list
			i := slices.IndexFunc(t.Findings, func(f Finding) bool {
				return f.Diagnosis == ProtocolViolation && f.Event == int(t.firstUnopened)
			})
			t.Findings[i].AppendMessage(", and %s for indexes without a call", Own(count.Of(t.unopened-1, "more event")))
		}
	}
	t.closed, t.ClosedAt = true, e.At
	t.text.freeSpare()
	t.thinking.freeSpare()
	t.Text, t.Thinking = t.text.text.s, t.thinking.text.s
	switch e.Code {
	case CloseEnd:
		t.endedBy(by)
		t.endCalls(PhaseEnded, n)
	case CloseUnseen:
		t.blind = true
		t.endCalls(PhaseUnseen, n)
	case CloseUnknown:
		t.blind = true
		t.endedBy(by)
		t.endCalls(PhaseEnded, n)
	default:
		t.cut = true
		t.endedBy(by)
		if !t.failed && e.Text != "" {
			t.reportFinding(cutBy[by].found, n, "%s", e.Text)
		}
		t.endCalls(PhaseAborted, n)
	}
}

// endedBy records the party that ended the turn, unless a party is recorded already.
func (t *Turn) endedBy(by Party) {
	if t.EndedBy == 0 {
		t.EndedBy = by
	}
}

// endCalls ends the turn's open calls. Their findings depend on the party that closed the turn.
func (t *Turn) endCalls(phase Phase, n int) {
	others := t.closer > Provider && t.closer != UnknownParty
	cut, why, here := cutBy[t.closer].cut, cutBy[t.closer].why, cutBy[t.closer].here
	if phase == PhaseEnded && t.closer != UnknownParty {
		why, here = "the response ended", "the response ended"
	}
	t.sendBroadcast(broadcastClose, AllChoices, func(c *Call) {
		switch {
		case c.phase > PhaseOpen:
		case phase == PhaseUnseen:
			c.markUnseen(n, t.Missed)
		case phase == PhaseEnded && t.blind && c.Syntax() == json.SyntaxEmpty: // it is unknown whether arguments followed
			c.phase, c.settled = PhaseUnseen, true
		default:
			c.stopped = t.closer == Client && phase == PhaseAborted
			c.settled = c.settled || others // arguments that a party other than the provider cut get no findings about their syntax
			c.endUnsealed(phase, n, cut, Message{Text: why}, here)
		}
		c.noteRuleRun(AtEnd, n)
		c.args.freeSpare() // no more arguments are expected
		c.deltas.FreeSpare()
		c.lex.FreeSpare()
		if t.blind || others || t.cutUnfinished || c.lateStart {
			return // the call may look unfinished only because its remaining bytes were missed or cut off
		}
		c.checkSeal(Message{Text: "the call was reported complete"}, n)
		if c.Name == "" && !c.Discarded {
			c.reportOnce(NameMissing, n, "%s", t.describeNameless(c))
		}
	})
}

// describeNameless describes a call without a name. If the call before it has a name but no arguments, the two may be
// one call whose parts arrived with different indexes.
func (t *Turn) describeNameless(c *Call) Message {
	i := slices.Index(t.Calls, c) - 1
	if i >= 0 && c.ID == "" && c.ArgsLen() > 0 && t.Calls[i].Choice == c.Choice && t.Calls[i].Name != "" && t.Calls[i].ArgsLen() == 0 {
		return Messagef("the call has no name: its arguments may belong to call %d (%s), which has none", i+1, Fact(t.Calls[i].Name))
	}
	return Messagef("the call has no name, so its tool is unknown")
}

// applyFailure applies an error. If FailureInfo.By names a party other than the provider, no provider
// responded. Otherwise the provider reported the error.
func (t *Turn) applyFailure(e Event, n int) {
	t.keepBase()
	t.failed = true
	t.Failure = e.Text
	failed := PayloadOf[FailureInfo](e)
	by := endingParty(failed.By)
	if r := failed.Refusal; r != nil {
		t.Refusal = r
		t.endedBy(Provider)
		t.reportFinding(refusalDiagnosis(failed), n, "%s", refusalMessage(r, e.Text))
	} else if by == 0 || by == Provider {
		t.endedBy(Provider)
		found, reporter := ProviderError, "the provider"
		if failed.Cause != 0 {
			found = found.WithCause(failed.Cause)
		}
		if failed.Cause == Gateway {
			reporter = "a gateway"
			if failed.Gateway != "" {
				reporter = "the gateway " + failed.Gateway
			}
		}
		t.reportFinding(found, n, "%s reports%s", Own(reporter), failureMessage(failed.Code, e.Text))
	} else {
		t.endedBy(by)
		m, found := Messagef("%s", e.Text), NoAnswer.WithCause(by)
		switch {
		case by == Client && failed.Code == "":
			found = ClientGone
		case failed.Code != "":
			m = Messagef("toolscope answered %s instead of the provider: %s", Own(failed.Code), e.Text)
		}
		t.reportFinding(found, n, "%s", m)
	}
	t.sendBroadcast(broadcastFailure, AllChoices, func(c *Call) {
		if c.phase <= PhaseOpen {
			c.endUnsealed(PhaseAborted, n, cutBy[by].cut, Message{Text: "an error ended the response"}, "an error ended it")
		}
	})
}

// refusalDiagnosis returns the diagnosis of a refused request. Its severity is Info if another finding names
// the cause.
func refusalDiagnosis(failed FailureInfo) *Diagnosis {
	d := RequestRefused
	if failed.Cause != 0 {
		d = d.WithCause(failed.Cause)
	}
	if failed.Refusal.Fits != "" {
		d = d.WithSeverity(Info).WithCause(d.By)
	}
	return d
}

// refusalMessage returns the message about a refused request: the status, the reason, the place and the
// provider's words, as far as they are known.
func refusalMessage(r *Refusal, words string) Message {
	m := Messagef("refused")
	if r.Status > 0 {
		m = Messagef("refused (HTTP %d)", r.Status)
	}
	if r.Reason != "" {
		m = Messagef("%s: %s", m, Own(r.Reason))
	}
	if r.Place.Text != "" {
		m = Messagef("%s: %s", m, r.Place)
	}
	return Messagef("%s; the provider reports%s", m, failureMessage(r.Type, words))
}

// failureMessage returns " CODE: MESSAGE". It omits the code or the message if that is empty.
func failureMessage(code, message string) Message {
	switch {
	case code == "":
		return Messagef(": %s", message)
	case message == "":
		return Messagef(" %s", Fact(code))
	}
	return Messagef(" %s: %s", Fact(code), message)
}

// RecordGap is the diagnosis for a turn with missed bytes, and for each of its calls that may lack bytes.
// It is a warning, not an error: the response itself may be correct.
var RecordGap = &Diagnosis{
	Code: "RECORD_GAP", Severity: Warn, By: Toolscope,
	ExplainsState: true,
	Verdict:       "bytes missing",
	Meaning:       "Bytes are missing: toolscope was too slow, the capture has a gap, or a log begins in the middle of a response. The state of calls that were not final before the gap is unknown.",
	Advice:        "Record again if you need this call, or open the log from an earlier line. Find out what slowed toolscope down. This finding doesn't mean that the model or the provider is at fault.",
}

// applyGap applies a gap: missed bytes of the turn. Calls whose arguments were final before the gap stay as
// they are. The state of all other calls is unknown from then on.
func (t *Turn) applyGap(e Event, n int) {
	t.keepBase()
	missed := PayloadOf[BytesMissed](e).Bytes
	t.Missed += max(0, missed)
	t.blind = t.blind || !t.closed
	if t.gaps++; t.gaps == 1 {
		t.reportFinding(RecordGap, n, "%s", e.Text)
	} else { // one finding for all gaps
		t.Findings = slices.Clone(t.Findings) // past sessions keep using the old list
		i := slices.IndexFunc(t.Findings, func(f Finding) bool { return f.Diagnosis == RecordGap })
		t.Findings[i].SetMessage(Messagef("%s in %s were not recorded: the state of calls that were not final before the gap is unknown",
			Own(count.Of(t.Missed, "byte")), Own(count.Of(t.gaps, "place"))))
	}
	t.sendBroadcast(broadcastGap, AllChoices, func(c *Call) {
		if c.phase <= PhaseOpen {
			c.markUnseen(n, missed)
		}
		c.frozen = true
	})
}

// HasGap reports whether bytes of the turn were missed.
func (t *Turn) HasGap() bool { return t.gaps > 0 }

// Gaps returns the number of places at which bytes of the turn were missed.
func (t *Turn) Gaps() int { return int(t.gaps) }

// markUnseen makes the call Unseen: it may lack bytes, so its state is unknown.
func (c *Call) markUnseen(event int, bytes int64) {
	c.phase, c.settled, c.frozen = PhaseUnseen, true, true
	c.lex.Close()
	where := "before the first byte of its arguments"
	if len(c.args.s) > 0 {
		where = "after " + count.Of(len(c.args.s), "byte") + " of its arguments"
	}
	c.reportOnce(RecordGap, event, "toolscope missed %s %s: the call may be incomplete", Own(unseenBytes(bytes)), Own(where))
}

// applyToLateCall applies an event about a call whose beginning is missing. The bytes are kept, but no finding is
// based on them. Complete arguments that arrive later replace them, and the call's state is then known.
func (t *Turn) applyToLateCall(c *Call, e *Event, n int) {
	c = t.editCall(c)
	c.ensureContent()
	t.markChanged(c)
	switch e.Kind {
	case CallMeta:
		info := PayloadOf[CallInfo](*e)
		c.updateInfo(info, n)
		t.updateLookups(c, info)
	case Args:
		c.appendDelta(e.Text, int32(n))
	case Rewrite:
		c.keepBase()
		c.Findings = slices.DeleteFunc(slices.Clone(c.Findings), func(f Finding) bool { return f.Diagnosis == RecordGap })
		c.phase, c.settled, c.lateStart = PhaseOpen, false, false
		c.replaceArgs(*e, n)
	}
}

// unseenBytes formats a number of missed bytes. It returns "some bytes" for 1 or less, because the size of
// such a gap is unknown.
func unseenBytes(n int64) string {
	if n <= 1 {
		return "some bytes"
	}
	return count.Of(n, "byte")
}

// applyBehindGap applies an event about a call in a turn with missed bytes. The event's slot may belong to
// another call by now, so events apply only to calls that began after the gap. The bytes of such a call are
// kept, but no finding is based on them.
func (s *Session) applyBehindGap(t *Turn, e Event, n int) {
	c, info := t.InSlot(e.Slot), PayloadOf[CallInfo](e)
	switch {
	case e.Kind == CallOpen, c == nil && e.Kind == Args && e.Text != "", c == nil && e.Kind == CallMeta && info.Name != "":
		c = newCall(len(t.Calls)+1, t.Number, e.Slot, info)
		c.OpenedAt, c.OpenedBy = e.At, int32(n)
		c.phase, c.settled = PhaseUnseen, true // its first known bytes may be from its middle
		c.reportOnce(RecordGap, n, "toolscope missed %s before this call: the call may have begun in the gap", Own(unseenBytes(t.Missed)))
		t.placeCall(c)
	case c == nil || c.frozen:
		return
	default:
		c = t.editCall(c)
	}
	t.markChanged(c)
	switch e.Kind {
	case CallOpen, CallMeta:
		c.updateInfo(info, n)
		t.updateLookups(c, info)
	case Args:
		c.appendDelta(e.Text, int32(n))
	}
}
