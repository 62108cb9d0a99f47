package stream

// Who ended a response, and what it lacks, are two questions. A provider that ends a response
// before its terminator did wrong. A client that goes away, a lost connection and toolscope's own
// stop are not the provider's fault: it would have sent more.

// Findings about a response that somebody other than the provider ended.
var (
	ClientGone = &Diagnosis{
		Code: "CLIENT_GONE", Severity: Info, By: Client,
		Meaning: "The client went away, or closed its side, before the response was over: its user stopped it, or a limit of its own was reached.",
		Advice:  "Nothing: calls that were open are not to be run; if nobody stopped it, look at the client's time limit.",
	}
	ConnectionLost = &Diagnosis{
		Code: "CONNECTION_LOST", Severity: Error, By: Network,
		Meaning: "The connection to the provider was reset or closed in the middle of the response: what it would have sent is not known.",
		Advice:  "Ask again, and run no call of this response that was not sealed.",
	}
	StoppedHere = &Diagnosis{
		Code: "STOPPED_HERE", Severity: Warn, By: Toolscope,
		Meaning: "Toolscope ended the response, or its recording, before the provider did: by a limit, by a key, by its own end.",
		Advice:  "Raise the limit, or record again, if the rest matters; nothing is said of the provider.",
	}
	NoAnswer = &Diagnosis{
		Code: "NO_ANSWER", Severity: Error, By: Network,
		Meaning: "No answer of a provider came: toolscope gave one in its place, or none.",
		Advice:  "Read the reason in the message: an address, a name, a certificate or a limit; the provider has said nothing.",
	}
)

// cutBy says, by who ended a response before its terminator, what is found about the response and
// about its open calls, and why those stop, also in a few words.
var cutBy = map[Party]struct {
	found, cut *Diagnosis
	why, here  string
}{
	0:            {NoTerminator, ArgsCut, "the bytes ended without the protocol's terminator", "the bytes end here"},
	Provider:     {NoTerminator, ArgsCut, "the bytes ended without the protocol's terminator", "the bytes end here"},
	Client:       {ClientGone, ArgsCut.WithSeverity(Info).WithCause(Client), "the client went away", "the client went away"},
	Network:      {ConnectionLost, ArgsCut.WithCause(Network), "the connection was lost", "the connection was lost"},
	Toolscope:    {StoppedHere, ArgsCut.WithSeverity(Warn).WithCause(Toolscope), "toolscope did not see more of it", "no more was seen"},
	UnknownParty: {NoTerminator, ArgsCut.WithCause(UnknownParty), "who cut them is not known: the source has only what was kept", "no more was kept"},
}

// endingParty is by if that is somebody who can end a response, and otherwise 0, nobody.
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
	default:
		t.cut = true
		t.endedBy(by)
		if !t.failed && e.Text != "" {
			t.reportFinding(cutBy[by].found, n, "%s", e.Text)
		}
		t.endCalls(PhaseAborted, n)
	}
}

// endedBy notes who ended the turn, unless that is known.
func (t *Turn) endedBy(by Party) {
	if t.EndedBy == 0 {
		t.EndedBy = by
	}
}

// endCalls ends the calls that are open, as whoever closed the turn left them.
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
		default:
			c.stopped = t.closer == Client && phase == PhaseAborted
			c.settled = c.settled || others // its arguments are not final
			c.endUnsealed(phase, n, cut, why, here)
		}
		c.noteRuleRun(AtEnd, n)
		c.freeSpare()
		if t.blind || others {
			return // what is missing may only have been cut off
		}
		c.checkSeal("the call was sealed", n)
		if c.Name == "" && !c.Discarded {
			c.reportOnce(NameMissing, n, "no name ever came: nobody can say which tool this is")
		}
	})
}

// applyFailure takes the report of an error: the provider's, or where Failed.By names somebody else, that
// there is no answer of a provider.
func (t *Turn) applyFailure(e Event, n int) {
	t.keepBase()
	t.failed = true
	t.Failure = e.Text
	failed := PayloadOf[FailureInfo](e)
	by := endingParty(failed.By)
	if by == 0 || by == Provider {
		t.endedBy(Provider)
		t.reportFinding(ProviderError, n, "the provider reports%s", failureWords(failed.Code, e.Text))
	} else {
		t.endedBy(by)
		t.reportFinding(NoAnswer.WithCause(by), n, "%s", noAnswerWords(failed.Code, e.Text))
	}
	t.sendBroadcast(broadcastFailure, AllChoices, func(c *Call) {
		if c.phase <= PhaseOpen {
			c.endUnsealed(PhaseAborted, n, cutBy[by].cut, "an error ended the response", "an error ended it")
		}
	})
}

// failureWords are " CODE: MESSAGE", as much of it as there is.
func failureWords(code, message string) (words string) {
	if code != "" {
		words = " " + code
	}
	if message != "" || code == "" {
		words += ": " + message
	}
	return words
}

// noAnswerWords say that toolscope answered, if it did, and why.
func noAnswerWords(status, why string) string {
	if status == "" {
		return why
	}
	return "toolscope answered " + status + " in the provider's place: " + why
}
