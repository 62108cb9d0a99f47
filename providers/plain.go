package providers

import (
	"slices"
	"strconv"

	"toolscope/providers/protocol"
	"toolscope/stream"
)

// plainHTTP shows an exchange in which no model answers: what its client asks beside its work. Its
// bodies are there to be looked at; nothing is said of them.
var plainHTTP = protocol.Protocol{
	Name:  "http",
	Title: "plain HTTP",
	New:   func(o *protocol.Out) protocol.Decoder { return plainDecoder{o.OpenSilently()} },
}

type plainDecoder struct{ turn *protocol.Turn }

func (d plainDecoder) Frame(stream.Frame) error {
	d.turn.Unknown("")
	return nil
}

// Close leaves the turn open: the exchange ends it as HTTP does.
func (plainDecoder) Close() {}

// isPlain reports whether no model answers the request: its path says so, or no WebSocket is to be
// had where one was asked for.
func (x *Exchange) isPlain() bool {
	if x.in.forcedFor(x.Number) != nil {
		return false
	}
	return x.requests.path != "" || x.requests.upgrades && slices.Contains(noWebSocket, x.Head.Status)
}

// noWebSocket are how servers say that they have none.
var noWebSocket = []int{404, 405, 426, 501}

// AsksNothing reports whether the request brings nothing that a model could answer.
func (x *Exchange) AsksNothing() bool {
	return (x.Head.Method == "GET" || x.Head.Method == "DELETE") && !x.requests.upgrades && x.in.forcedFor(x.Number) == nil
}

// endPlain ends the turn of an exchange in which no model answers.
func (x *Exchange) endPlain() {
	if x.decoder == nil && x.why == "" && x.Head.Status != 0 && !x.own && (x.isPlain() || x.AsksNothing() && x.Head.Status < 400) {
		x.setProtocol(&plainHTTP, "its method and path")
	}
	if x.Protocol != &plainHTTP {
		return
	}
	turn, code := x.lastTurn(), stream.FinishDone
	if x.Head.Status >= 400 {
		code = stream.FinishRefused
	}
	if x.Head.Status != 0 {
		x.emit(stream.Event{Kind: stream.Finish, Turn: turn, Slot: stream.AllChoices, Text: strconv.Itoa(x.Head.Status), Code: code})
	}
	end := stream.Event{Kind: stream.TurnClose, Turn: turn}
	if x.why != "" || x.cutShort() {
		end.Code, end.Text = stream.CloseCut, x.why
	}
	x.emit(end)
}
