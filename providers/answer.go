package providers

import (
	"fmt"
	"strings"

	"toolscope/stream"
)

// What is said of an exchange whose answer tells nothing itself: an HTTP error, no answer at all,
// or one that toolscope gave in a provider's place.

// checkStatus makes an HTTP error of a response that does not tell one itself: an empty body, a
// gateway's page.
func (x *Exchange) checkStatus() {
	if x.Head.Status < 400 || x.own {
		return
	}
	for _, number := range x.turns {
		if t := x.in.Session().Turn(number); t.Failure != "" {
			return
		}
	}
	if x.decoder == nil {
		x.use(&silent, "no body")
	}
	why := errorWords(x.Response.Bytes(0, x.Response.Size()))
	switch {
	case x.gap.missed > 0:
		why = fmt.Sprintf("HTTP status %d; what else it says was not seen", x.Head.Status)
	case why == "":
		why = fmt.Sprintf("HTTP status %d, and nothing that says why", x.Head.Status)
	}
	x.emit(stream.Event{Kind: stream.Failure, Turn: x.lastTurn(), Text: why, What: &stream.Failed{Code: fmt.Sprint(x.Head.Status)}})
}

// tellUnanswered makes a failure of an exchange that ended before there was anything to show, if it
// is known why.
func (x *Exchange) tellUnanswered() {
	if x.why == "" || len(x.turns) > 0 {
		return
	}
	if x.decoder == nil {
		x.use(&silent, "no answer")
	}
	turn := x.lastTurn()
	switch x.by {
	case stream.Client: // who goes away does not miss the answer
	case 0: // words of our own: no provider said them
		x.emit(stream.Event{Kind: stream.Failure, Turn: turn, Text: x.why, What: &stream.Failed{By: stream.Network}})
	default:
		x.emit(stream.Event{Kind: stream.Failure, Turn: turn, Text: x.why, What: &stream.Failed{By: x.by}})
	}
	if x.by != 0 {
		x.emit(stream.Event{Kind: stream.TurnClose, Turn: turn, Code: stream.CloseCut, Text: x.why})
	}
}

// tellOwn says that toolscope gave the answer, in the place of a provider that gave none, and why.
func (x *Exchange) tellOwn() {
	if !x.own {
		return
	}
	if x.decoder == nil {
		x.use(&silent, "no answer")
	}
	failed := &stream.Failed{Code: fmt.Sprint(x.Head.Status), By: x.by}
	if x.by == 0 {
		failed.By = stream.Toolscope
	}
	why := x.why
	if why == "" { // a recording of the first programs has it in the answer alone
		why = strings.TrimPrefix(strings.TrimSpace(string(x.Response.Bytes(0, x.Response.Size()))), "toolscope proxy: ")
	}
	turn := x.lastTurn()
	x.emit(stream.Event{Kind: stream.Failure, Turn: turn, Text: why, What: failed})
	x.emit(stream.Event{Kind: stream.TurnClose, Turn: turn, Code: stream.CloseCut})
}

// cutShort reports whether somebody other than who sent the response ended it.
func (x *Exchange) cutShort() bool { return x.by > stream.Provider }

// takeEnding takes what the decoder makes of the end. Where that was not the provider's, what is
// missing is no finding, and a protocol that did not show itself might have.
func (x *Exchange) takeEnding(e stream.Event) {
	if e.Kind == stream.Found && x.cutShort() {
		d := stream.PayloadOf[stream.Finding](e).Diagnosis
		if d != dialectSeen && (d != dialectUnknown || x.waiting < patience) {
			return
		}
	}
	x.takeEvent(e)
}

// closeOpen ends the turns that the decoder leaves open, if it is known how they ended, or why that
// is not.
func (x *Exchange) closeOpen() {
	if x.gap.missed == 0 && !x.cutShort() {
		return
	}
	for _, turn := range x.openTurns() {
		x.emit(stream.Event{Kind: stream.TurnClose, Turn: turn, Code: stream.CloseCut})
	}
}
